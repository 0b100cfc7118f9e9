/*
 * watch.c -- the host's checks of its user: starvation and leaks.
 *
 * Starvation. Something that a loop waits for is ready, and for `starvation_steps` of its steps
 * the loop neither polls it nor checks it. Waited for means: it was in the last list that the loop
 * gave to `poll`, and was not reported then. Checked when the host is called and when a source
 * steps, once in WATCH_STEPS. Runtimes driven by the world cannot fail here: the world starves
 * none.
 *
 * Leaks. At the end of a run, a pollable that a task (or a loop that has returned) has
 * subscribed is still alive. A runtime keeps clock and notify pollables while it lives: those
 * of loops do not count.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "sim/host/priv.h"

/* Steps between two checks of all records. */
#define WATCH_STEPS 32u

static bool
waited_for(const struct sim__record *record)
{
    const struct sim__poller *poller = record->poller;
    if (record->pollable == NULL || poller == NULL || record->poller_turn != poller->turn) {
        return false;
    }
    /* A loop that is blocked was woken, and the world will pick it. */
    return poller->is_loop && rt_list_empty(&poller->blocked.link);
}

/* A notify only means that there is work; starvation is detected at the work itself. A clock
 * pollable that was past when it was checked makes a poll not block, and is not a deadline. */
static bool
counts(const struct sim__record *record)
{
    return record->kind == SIM__RECORD_SOURCE ||
           (record->kind == SIM__RECORD_CLOCK && record->deadline_ns > record->checked_ns);
}

/* The step since which it is ready and was not checked. Must be ready. */
static uint64_t
unseen_since(struct sim_host *host, struct sim__record *record)
{
    uint64_t since = 0;
    if (record->kind == SIM__RECORD_SOURCE) {
        since = record->source->ready_step;
    } else {
        if (record->due_step == 0) {
            record->due_step = host->world->step;
        }
        since = record->due_step;
    }
    return since > record->asked_step ? since : record->asked_step;
}

static void
watch_record(struct sim_host *host, struct sim__record *record)
{
    struct sim_world *world = host->world;
    if (!waited_for(record) || !counts(record) || !sim__record_ready(host, record)) {
        return;
    }
    uint64_t since = unseen_since(host, record);
    const struct sim_actor *loop = record->poller->actor;
    if (record->unseen_step != since) {
        record->unseen_step = since;
        record->unseen_polls = loop->polls;
    }
    /* Not the steps of other actors: the strategy may delay the loop meanwhile. */
    uint64_t own = loop->polls - record->unseen_polls;
    sim__keep_waiting(world, own, world->options.starvation_steps);
    if (own > world->options.starvation_steps) {
        sim_fail(world, SIM_VERDICT_STARVATION, SIM_ORACLE_HOST, record->poller->actor, 0,
                "\"%s\" is ready and waited for, but since step %llu its loop has not checked it",
                record->name, (unsigned long long)since);
    }
}

static void
watch_all(struct sim_host *host)
{
    host->watched_step = host->world->step;
    for (uint32_t i = 0; i < host->records_count; i++) {
        watch_record(host, host->records[i]);
    }
}

void
sim__watch(struct sim_host *host)
{
    const struct sim_world *world = host->world;
    rt_assert(world->step >= host->watched_step);
    if (world->step - host->watched_step >= WATCH_STEPS && !world->spurious_polling &&
            !world->closing) {
        watch_all(host);
    }
}

/* A pollable of a source is the user's. One of the clock may be the runtime's, if it was not made
 * in a task's poll. */
static bool
leaked(const struct sim__record *record)
{
    if (record->pollable == NULL) {
        return false;
    }
    if (record->kind == SIM__RECORD_CLOCK) {
        return record->of_task;
    }
    enum sim_actor_kind owner = record->owner->ops->kind;
    return record->kind == SIM__RECORD_SOURCE &&
           (owner == SIM_ACTOR_TASK || (owner == SIM_ACTOR_LOOP && record->owner->done));
}

void
sim__watch_close(void *argument)
{
    struct sim_host *host = argument;
    rt_check(host, SIM__HOST_MAGIC);
    for (uint32_t i = 0; i < host->records_count; i++) {
        const struct sim__record *record = host->records[i];
        if (leaked(record)) {
            sim_fail(host->world, SIM_VERDICT_LEAK, SIM_ORACLE_BALANCE, record->owner, 0,
                    "a pollable of \"%s\" was subscribed and never dropped", record->name);
        }
    }
}
