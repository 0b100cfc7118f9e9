/*
 * words.c -- names and meanings of numbers, for readers of the file alone.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "sim/core/record/event.h"
#include "sim/core/record/site.h"
#include "sim/search/cover/element.h"
#include "sim/store/internal.h"

/* A list of numbered words: one for each number from `first` to below `end`. */
struct words {
    const char *sql;
    uint32_t first;
    uint32_t end;
    const char *(*name)(uint32_t number);
    const char *(*meaning)(uint32_t number); /* NULL: names alone. */
};

/* INSERT OR REPLACE: a newer build may know more words, or explain one better. */
static const struct words lists[] = {
        {"INSERT OR REPLACE INTO verdicts VALUES (?, ?, ?)", 0, SIM_VERDICTS, sim_verdict_name,
                sim_verdict_meaning},
        {"INSERT OR REPLACE INTO oracles VALUES (?, ?, ?)", 0, SIM_ORACLES, sim_oracle_name,
                sim_oracle_meaning},
        {"INSERT OR REPLACE INTO event_kinds VALUES (?, ?, ?)", 0, RT_PROBE_KINDS, sim_event_name,
                sim_event_meaning},
        {"INSERT OR REPLACE INTO event_kinds VALUES (?, ?, ?)", SIM_EVENT_FIRST,
                SIM_EVENT_END_OF_KINDS, sim_event_name, sim_event_meaning},
        {"INSERT OR REPLACE INTO object_kinds VALUES (?, ?)", 0, RT_OBJECT_KINDS,
                sim_object_kind_name, NULL},
        {"INSERT OR REPLACE INTO element_kinds VALUES (?, ?, ?)", SIM_ELEMENT_NONE + 1,
                SIM_ELEMENT_KINDS, sim_element_name, sim_element_meaning},
};

static enum sim_store_err
write_words(struct sim_store *store, const struct words *words)
{
    rt_assert(words->first < words->end);
    struct sim__statement statement = sim__store_prepare(store, words->sql);
    for (uint32_t i = words->first; i < words->end; i++) {
        sim__put_int(&statement, i);
        sim__put_text(&statement, words->name(i));
        if (words->meaning != NULL) {
            sim__put_text(&statement, words->meaning(i));
        }
        (void)sim__store_run(&statement);
    }
    return sim__store_done(&statement);
}

/* How many words this build has, and how many the file has. */
static enum sim_store_err
words_missing(struct sim_store *store, bool *ret_missing)
{
    int64_t known = 0;
    for (size_t i = 0; i < sizeof(lists) / sizeof(lists[0]); i++) {
        known += lists[i].end - lists[i].first;
    }
    struct sim__statement statement = sim__store_prepare(store,
            "SELECT (SELECT count(*) FROM verdicts) + (SELECT count(*) FROM oracles)"
            " + (SELECT count(*) FROM event_kinds) + (SELECT count(*) FROM object_kinds)"
            " + (SELECT count(*) FROM element_kinds)");
    if (sim__store_row(&statement)) {
        *ret_missing = sqlite3_column_int64(statement.stmt, 0) < known;
    }
    return sim__store_done(&statement);
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

static void
write_site(const struct rt_site *site, void *argument)
{
    struct sim__statement *statement = argument;
    rt_assert(site->id != 0);
    sim__put_int(statement, site->id);
    sim__put_text(statement, site->file);
    sim__put_text(statement, site->function);
    sim__put_int(statement, site->line);
    sim__put_int(statement, site->counter);
    (void)sim__store_run(statement);
}

enum sim_store_err
sim__store_sites(struct sim_store *store)
{
    rt_check(store, SIM__STORE_MAGIC);
    /* What is there already is not written again. */
    struct sim__statement statement = sim__store_prepare(store,
            "INSERT INTO sites VALUES (?, ?, ?, ?, ?) ON CONFLICT DO UPDATE SET file = "
            "excluded.file,"
            " function = excluded.function, line = excluded.line, counter = excluded.counter"
            " WHERE (file, function, line, counter)"
            " IS NOT (excluded.file, excluded.function, excluded.line, excluded.counter)");
    sim_sites_each(write_site, &statement);
    return sim__store_done(&statement);
}
