/*
 * explained.c -- copies explanations into another database.
 *
 * The two runs of an explanation have numbers below 0 that are made of the failure's (SIM_TOLD_OF,
 * SIM_TWIN_OF): where that is shifted, they are shifted twice as far in the other direction.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "sim/store/merge/move.h"

extern const char sim_explained_sql[];

#define RUNS "(SELECT run FROM runs WHERE sweep = ?1)"
#define TOLD "(SELECT told FROM told WHERE run IN " RUNS ")"

struct rows {
    const char *select;
    const char *insert;
};

static const struct rows rows[] = {
        {"SELECT told - 2 * ?3, run + ?3, parts_step, seed, digest, steps, sim_ns, decisions,"
         " deviations, verdict, oracle, actor, object, site, fail_step, missing_wake_step, events"
         " FROM told WHERE run IN " RUNS,
                "INSERT INTO told (told, run, parts_step, seed, digest, steps, sim_ns, decisions,"
                " deviations, verdict, oracle, actor, object, site, fail_step, missing_wake_step, "
                "events)"
                " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"},
        {"SELECT run + ?3, told - 2 * ?3, twin - 2 * ?3, headline, cause, wake_outcome, answer, "
         "decision,"
         " ordering, swapped, needed, why, refs, build FROM explained WHERE run IN " RUNS,
                "INSERT INTO explained (run, told, twin, headline, cause, wake_outcome, answer, "
                "decision,"
                " ordering, swapped, needed, why, refs, build)"
                " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"},
        {"SELECT run - 2 * ?3, token, message, actor_name, options, tasks, run_order, fifo,"
         " fail_ns, audit_step, hashes, first_id + ?4, first_n, stored FROM details"
         " WHERE run IN " TOLD,
                "INSERT INTO details (run, token, message, actor_name, options, tasks, run_order,"
                " fifo, fail_ns, audit_step, hashes, first_id, first_n, stored)"
                " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"},
        {"SELECT run - 2 * ?3, what, which, text FROM texts WHERE run IN " TOLD,
                "INSERT INTO texts (run, what, which, text) VALUES (?, ?, ?, ?)"},
        {"SELECT id + ?4, step_cause, object_site, await_actor_kind, argument"
         " FROM details AS d CROSS JOIN event_words AS w"
         " ON w.id >= d.first_id AND w.id < d.first_id + d.stored WHERE d.run IN " TOLD,
                "INSERT INTO event_words VALUES (?, ?, ?, ?, ?)"},
};

enum sim_store_err
sim__move_explained(const struct sim__move *move)
{
    if (!sim__store_has(move->from, "explained")) {
        return SIM_STORE_OK;
    }
    enum sim_store_err err = sim__store_make(move->to, "deciding", sim_explained_sql);
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]) && err == SIM_STORE_OK; i++) {
        err = sim__move_rows(move, rows[i].select, rows[i].insert);
    }
    return err;
}
