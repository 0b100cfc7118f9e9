/*
 * words.c -- names and meanings of numbers, for readers of the file alone.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <stdlib.h>
#include <string.h>

#include "sim/core/record/event.h"
#include "sim/core/record/site.h"
#include "sim/search/cover/element.h"
#include "sim/store/internal.h"

/* ---- Words. ---------------------------------------------------------------------------------- */

struct word {
    uint32_t number;
    const char *name;
    const char *meaning;
};

static const struct sim__column word_columns[] = {
        SIM__COLUMN(struct word, number),
        SIM__COLUMN(struct word, name),
        SIM__COLUMN(struct word, meaning),
};

#define WORDS_MAX 256

/* A list of numbered words: one for each number from `first` to below `end`. */
struct words {
    struct sim__table table;
    uint32_t first;
    uint32_t end;
    const char *(*name)(uint32_t number);
    const char *(*meaning)(uint32_t number); /* NULL: names alone. */
};

/* INSERT OR REPLACE: a newer build may know more words, or explain one better. */
#define INTO(table, columns) \
    { \
        .sql = "INSERT OR REPLACE INTO " table " SELECT " columns " FROM given", \
        SIM__TABLE(struct word, word_columns), .name = (table), \
    }

static const struct words lists[] = {
        {INTO("verdicts", "c0, c1, c2"), 0, SIM_VERDICTS, sim_verdict_name, sim_verdict_meaning},
        {INTO("oracles", "c0, c1, c2"), 0, SIM_ORACLES, sim_oracle_name, sim_oracle_meaning},
        {INTO("event_kinds", "c0, c1, c2"), 0, RT_PROBE_KINDS, sim_event_name, sim_event_meaning},
        {INTO("event_kinds", "c0, c1, c2"), SIM_EVENT_FIRST, SIM_EVENT_END_OF_KINDS, sim_event_name,
                sim_event_meaning},
        {INTO("object_kinds", "c0, c1"), 0, RT_OBJECT_KINDS, sim_object_kind_name, NULL},
        {INTO("element_kinds", "c0, c1, c2"), SIM_ELEMENT_NONE + 1, SIM_ELEMENT_KINDS,
                sim_element_name, sim_element_meaning},
};

static enum sim_store_err
write_words(struct sim_store *store, const struct words *words)
{
    struct word rows[WORDS_MAX];
    rt_assert(words->first < words->end && words->end - words->first <= WORDS_MAX);
    for (uint32_t i = words->first; i < words->end; i++) {
        const char *meaning = words->meaning != NULL ? words->meaning(i) : NULL;
        rows[i - words->first] = (struct word){i, words->name(i), meaning};
    }
    return sim__store_insert(store, &words->table, rows, words->end - words->first, 0);
}

/* How many words this build has, and how many the file has. */
static enum sim_store_err
words_missing(struct sim_store *store, bool *ret_missing)
{
    int64_t known = 0;
    int64_t there = 0;
    for (size_t i = 0; i < sizeof(lists) / sizeof(lists[0]); i++) {
        known += lists[i].end - lists[i].first;
    }
    struct sim__statement statement = sim__store_prepare(store,
            "SELECT (SELECT count(*) FROM verdicts) + (SELECT count(*) FROM oracles)"
            " + (SELECT count(*) FROM event_kinds) + (SELECT count(*) FROM object_kinds)"
            " + (SELECT count(*) FROM element_kinds)");
    enum sim_store_err err = sim__store_answer(&statement, 0, &there);
    *ret_missing = there < known;
    return err;
}

enum sim_store_err
sim__store_words(struct sim_store *store)
{
    rt_check(store, SIM__STORE_MAGIC);
    bool missing = false;
    enum sim_store_err err = words_missing(store, &missing);
    for (size_t i = 0; missing && err == SIM_STORE_OK && i < sizeof(lists) / sizeof(lists[0]);
            i++) {
        err = write_words(store, &lists[i]);
    }
    return err;
}

/* ---- Sites. ---------------------------------------------------------------------------------- */

static const struct sim__column site_columns[] = {
        SIM__NAMED("site", struct rt_site, id),
        SIM__COLUMN(struct rt_site, file),
        SIM__COLUMN(struct rt_site, function),
        SIM__COLUMN(struct rt_site, line),
        SIM__COLUMN(struct rt_site, counter),
};
#define SITE_COLUMNS (sizeof(site_columns) / sizeof(site_columns[0]))

static const struct sim__table sites_table = {
        .sql = "INSERT OR REPLACE INTO sites (%s) SELECT %s FROM given",
        SIM__TABLE(struct rt_site, site_columns),
};

/* Those of this build that the file has not. */
struct missing {
    struct rt_site *sites;
    size_t count;
    size_t capacity;
    struct sim__statement there; /* In order of the number, as the build's own. */
    struct rt_site row;
    bool more;
};

static void
next_there(struct missing *missing)
{
    missing->more = sim__store_row(&missing->there);
    if (missing->more) {
        sim__row_read(missing->there.stmt, site_columns, SITE_COLUMNS, &missing->row);
    }
}

static bool
is_same(const struct rt_site *a, const struct rt_site *b)
{
    return a->id == b->id && a->line == b->line && a->counter == b->counter &&
           strcmp(a->function, b->function) == 0 && strcmp(a->file, b->file) == 0;
}

static void
note_missing(const struct rt_site *site, void *argument)
{
    struct missing *missing = argument;
    rt_assert(site->id != 0);
    while (missing->more && missing->row.id < site->id) {
        next_there(missing);
    }
    if (missing->more && is_same(&missing->row, site)) {
        return;
    }
    if (missing->count == missing->capacity) {
        missing->capacity = 2 * missing->capacity + 64;
        missing->sites = realloc(missing->sites, missing->capacity * sizeof(*missing->sites));
        rt_assert(missing->sites != NULL);
    }
    missing->sites[missing->count++] = *site;
}

enum sim_store_err
sim__store_sites(struct sim_store *store)
{
    rt_check(store, SIM__STORE_MAGIC);
    struct missing missing = {.there = sim__store_prepare(store,
                                      "SELECT site, file, function, line, counter FROM sites"
                                      " ORDER BY site")};
    next_there(&missing);
    sim_sites_each(note_missing, &missing);
    enum sim_store_err err = sim__store_done(&missing.there);
    if (err == SIM_STORE_OK) {
        err = sim__store_insert(store, &sites_table, missing.sites, missing.count, 0);
    }
    free(missing.sites);
    return err;
}
