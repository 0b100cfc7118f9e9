/*
 * words.c -- names and meanings of numbers, for readers of the file alone.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <stdlib.h>
#include <string.h>

#include "sim/base/heap.h"
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

#define WORDS_MAX 64

/* A list of numbered words: one for each number from `first` to below `end`. */
struct words {
    struct sim__table table;
    uint32_t first;
    uint32_t end;
    const char *(*name)(uint32_t number);
    const char *(*meaning)(uint32_t number); /* NULL: names alone. */
};

/* INSERT OR REPLACE: a newer build may know more words, or explain one better. */
#define INTO(table, values) \
    { \
        .sql = "INSERT OR REPLACE INTO " table " SELECT " values " FROM given", \
        .row_size = sizeof(struct word), \
        .columns = {SIM__EACH(struct word, number, name, meaning)}, \
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

#define LISTS (sizeof(lists) / sizeof(lists[0]))

/* Names are unique in a table: of two equal ones the later number has it. */
static bool
is_replaced(const struct words *words, const char *name)
{
    for (const struct words *next = words + 1; next < lists + LISTS; next++) {
        for (uint32_t i = next->first; next->name == words->name && i < next->end; i++) {
            if (strcmp(next->name(i), name) == 0) {
                return true;
            }
        }
    }
    return false;
}

/* The words of a list; their number. */
static uint32_t
list_words(const struct words *words, struct word *ret_rows)
{
    uint32_t count = 0;
    rt_assert(words->first < words->end && words->end - words->first <= WORDS_MAX);
    for (uint32_t i = words->first; i < words->end; i++) {
        const char *meaning = words->meaning != NULL ? words->meaning(i) : NULL;
        if (!is_replaced(words, words->name(i))) {
            ret_rows[count++] = (struct word){i, words->name(i), meaning};
        }
    }
    return count;
}

void
sim__store_words(struct sim_store *store)
{
    rt_check(store, SIM__STORE_MAGIC);
    struct word rows[LISTS][WORDS_MAX];
    uint32_t counts[LISTS];
    int64_t known = 0;
    for (size_t i = 0; i < LISTS; i++) {
        counts[i] = list_words(&lists[i], rows[i]);
        known += counts[i];
    }
    int64_t there = sim__store_ask_int(store,
            "SELECT (SELECT count(*) FROM verdicts) + (SELECT count(*) FROM oracles)"
            " + (SELECT count(*) FROM event_kinds) + (SELECT count(*) FROM object_kinds)"
            " + (SELECT count(*) FROM element_kinds)",
            0);
    for (size_t i = 0; there < known && i < LISTS; i++) {
        sim__store_insert(store, &lists[i].table, rows[i], counts[i], 0);
    }
}

/* ---- Sites. ---------------------------------------------------------------------------------- */

static const struct sim__table sites_table = {
        .name = "sites",
        .row_size = sizeof(struct rt_site),
        .columns = {SIM__NAMED("site", struct rt_site, id),
                SIM__EACH(struct rt_site, file, function, line, counter)},
};

/* Those of this build that the file has not. */
struct missing {
    struct rt_site *sites;
    uint32_t count;
    uint32_t capacity;
    struct sim__statement there; /* In order of the number, as the build's own. */
    struct rt_site row;
    bool more;
};

static void
next_there(struct missing *missing)
{
    missing->more = sim__store_row(&missing->there);
    if (missing->more) {
        sim__row_read(missing->there.stmt, &sites_table, &missing->row);
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
    sim_heap_grow(&missing->sites, missing->count, &missing->capacity, sizeof(*missing->sites));
    missing->sites[missing->count++] = *site;
}

void
sim__store_sites(struct sim_store *store)
{
    rt_check(store, SIM__STORE_MAGIC);
    struct missing missing = {.there = sim__store_prepare(store,
                                      "SELECT site, file, function, line, counter FROM sites"
                                      " ORDER BY site")};
    next_there(&missing);
    sim_sites_each(note_missing, &missing);
    sim__store_done(&missing.there);
    sim__store_insert(store, &sites_table, missing.sites, missing.count, 0);
    free(missing.sites);
}
