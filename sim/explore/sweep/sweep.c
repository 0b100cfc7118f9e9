/*
 * sweep.c -- handing out batches, and merging them in order.
 *
 *      next_index ──▶ worker ──▶ window[sequence % WINDOW] ──▶ merged, by sequence
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "sim/explore/sweep/sweep.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/base/assert.h"
#include "sim/explore/clock.h"
#include "sim/explore/sweep/batch.h"
#include "sim/explore/sweep/confirm.h"
#include "sim/explore/sweep/teach.h"
#include "sim/strategy/swarm.h"

/* Batches that are under way or wait for one before them. */
#define WINDOW 512u
#define TICK_MS 100
/* Time is up, and the first run is still awaited. */
#define OVERDUE_TICK_MS 1
/* Whoever interrupts a sweep waits for it: what is still running then may end, but not hang. */
#define GRACE_MS 200
#define NOBODY UINT64_MAX

struct failure_kind {
    uint32_t verdict;
    uint32_t oracle;
    uint32_t site;
};

struct sweep {
    struct sim_pool *pool;
    const struct sim_sweep_plan *plan;
    struct sim_sink *sink;
    struct sim_sweep_result *result;
    struct sim_batch window[WINDOW];
    uint64_t owner[SIM_JOBS_MAX]; /* Sequence of each worker's batch, or NOBODY. */
    uint64_t base;                /* Index in the sweep of the chapter's first run. */
    uint64_t length;              /* Runs of that chapter. */
    uint64_t next_index;          /* In the chapter, of the first run that nobody has. */
    uint64_t next_sequence;
    uint64_t merge_sequence;
    uint32_t batch_runs;
    const struct sim_strategy_kind *kind; /* With SEARCH, else NULL. */
    bool stopping;                        /* Nothing new is handed out. */
    uint64_t interrupted_ms;              /* When that was because of an interrupt; else 0. */
    bool closed;                          /* Nothing more is merged. */
    struct failure_kind kinds[SIM_FAILURES_MAX];
    uint32_t kind_count;
};

/* ---- Stopping. ------------------------------------------------------------------------------- */

/* What is running may end after its current run. The first reason stays. */
static void
stop(struct sweep *sweep, enum sim_sweep_end why)
{
    if (sweep->result->end == SIM_SWEEP_COMPLETE) {
        sweep->result->end = why;
    }
    sweep->stopping = true;
    for (uint32_t i = 0; i < sweep->pool->count; i++) {
        sweep->pool->workers[i].shared->stop = true;
    }
}

/* Nothing behind what was merged counts. */
static void
close_at_once(struct sweep *sweep, enum sim_sweep_end why)
{
    stop(sweep, why);
    sweep->closed = true;
}

/* Whether a run is over, merged or not: a sweep that has time for none tells nothing. */
static bool
has_any_run(const struct sweep *sweep)
{
    bool any = sweep->result->totals.runs > 0;
    for (uint32_t i = 0; i < sweep->pool->count && !any; i++) {
        any = sweep->owner[i] != NOBODY &&
              sim_shared_results(sweep->pool->workers[i].shared)->done > 0;
    }
    return any;
}

static bool
is_overdue(const struct sweep *sweep)
{
    return sweep->plan->deadline_ms != UINT64_MAX && sim_clock_ms() >= sweep->plan->deadline_ms;
}

static void
look_at_the_time(struct sweep *sweep)
{
    if (sweep->stopping) {
        return;
    }
    if (sweep->plan->interrupted != NULL && *sweep->plan->interrupted != 0) {
        stop(sweep, SIM_SWEEP_INTERRUPTED);
        sweep->interrupted_ms = sim_clock_ms();
    } else if (is_overdue(sweep) && has_any_run(sweep)) {
        stop(sweep, SIM_SWEEP_OUT_OF_TIME);
    }
}

void
sim_sweep_options(const struct sim_sweep_plan *plan, uint64_t seed, struct sim_options *ret_options)
{
    *ret_options = plan->options;
    if (plan->how == SIM_HOW_SEARCH && plan->search.swarm != 0) {
        sim_swarm_draw(seed, plan->scenario, &plan->options, plan->given, ret_options);
    }
}

/* ---- Chapters. ------------------------------------------------------------------------------- */

/* An epoch ends there (sim/learn/lore.h). */
#define CHAPTER_RUNS_MAX 1024u
/* A short sweep has so many of them, so that there is something to be shared out. */
#define CHAPTERS_MIN 32u

uint64_t
sim_chapter_runs(uint64_t runs)
{
    uint64_t share = runs / CHAPTERS_MIN + (runs % CHAPTERS_MIN != 0);
    return share < CHAPTER_RUNS_MAX ? share : CHAPTER_RUNS_MAX;
}

static uint64_t
shards_of(const struct sim_sweep_plan *plan)
{
    return plan->shards > 1 ? plan->shards : 1;
}

uint64_t
sim_sweep_share(const struct sim_sweep_plan *plan)
{
    if (plan->chapter_runs == 0) {
        return plan->runs;
    }
    uint64_t round = plan->chapter_runs * shards_of(plan);
    uint64_t mine = plan->chapter_runs * plan->shard; /* Before it, in a round. */
    uint64_t rest = plan->runs % round;
    uint64_t last = rest > mine ? rest - mine : 0;
    return plan->runs / round * plan->chapter_runs +
           (last < plan->chapter_runs ? last : plan->chapter_runs);
}

/* The chapter that begins at run `base`; none behind the end. */
static void
open_chapter(struct sweep *sweep, uint64_t base)
{
    const struct sim_sweep_plan *plan = sweep->plan;
    uint64_t left = base < plan->runs ? plan->runs - base : 0;
    bool whole = plan->chapter_runs == 0 || left < plan->chapter_runs;
    sweep->base = base;
    sweep->length = whole ? left : plan->chapter_runs;
    sweep->next_index = 0;
    sim_lore_book_clear(&sweep->pool->book);
}

/* The first of the sweep's own chapters. */
static void
open_first_chapter(struct sweep *sweep)
{
    const struct sim_sweep_plan *plan = sweep->plan;
    rt_assert(plan->shard < shards_of(plan));
    rt_assert(plan->chapter_runs != 0 || plan->shard == 0);
    if (plan->covered != NULL) {
        sim_facts_clear(plan->covered);
    }
    open_chapter(sweep, plan->shard * plan->chapter_runs);
}

/* Once a chapter is merged whole: all workers are idle, and nobody reads what was learned in it. */
static void
turn_the_page(struct sweep *sweep)
{
    const struct sim_sweep_plan *plan = sweep->plan;
    if (plan->chapter_runs != 0 && sweep->next_index == sweep->length && sweep->length > 0 &&
            sweep->merge_sequence == sweep->next_sequence && !sweep->stopping) {
        open_chapter(sweep, sweep->base + shards_of(plan) * plan->chapter_runs);
    }
}

/* How much each run of `batch` covered that none before it had, in any chapter. */
static void
cover(struct sweep *sweep, struct sim_batch *batch)
{
    memset(batch->fresh, 0, (size_t)batch->totals.runs * sizeof(*batch->fresh));
    for (uint32_t i = 0; i < batch->fact_count; i++) {
        struct sim_fact fact = batch->facts[i];
        uint64_t place = fact.first - batch->index;
        fact.first += sweep->base;
        fact.last += sweep->base;
        bool covers = fact.kind == SIM_FACT_COVER;
        if ((covers || fact.kind == SIM_FACT_ASKED) && sim_facts_add(sweep->plan->covered, &fact) &&
                covers && place < batch->totals.runs) {
            batch->fresh[place]++;
        }
    }
}

/* ---- Handing out. ---------------------------------------------------------------------------- */

static void
set_job(const struct sweep *sweep, struct sim_job *job, uint64_t index, uint32_t count)
{
    const struct sim_sweep_plan *plan = sweep->plan;
    *job = (struct sim_job){
            .scenario = plan->scenario,
            .options = plan->options,
            .first = plan->first + sweep->base + index,
            .count = count,
            .how = plan->how,
            .tape = plan->tape,
            .given = plan->given,
            .search = plan->search,
            .index = index,
            .search_begins = index == 0,
            .teaches = plan->teaches || plan->how == SIM_HOW_SEARCH,
            .covers = plan->covers || (sweep->kind != NULL && sweep->kind->adaptive),
            .check_percent = plan->check_percent,
            .keep_all = plan->keep_all,
            .stop_at_failure = plan->fail_fast,
    };
    if (sweep->kind != NULL && sweep->kind->adaptive) {
        uint64_t end = 0;
        job->lore = sim_lore_book_of(&sweep->pool->book, sim_epoch_of(index, &end));
    }
}

static void
give(struct sweep *sweep, uint32_t which, uint64_t index, uint32_t count)
{
    struct sim_worker *worker = &sweep->pool->workers[which];
    set_job(sweep, &worker->shared->job, index, count);
    if (!sim_worker_give(worker)) {
        (void)snprintf(sweep->pool->error, sizeof(sweep->pool->error), "%s", worker->error);
        close_at_once(sweep, SIM_SWEEP_SYSTEM);
    }
}

/* How many runs may be handed out next: a batch, what is left, what may be taught by now. */
static uint32_t
next_count(const struct sweep *sweep)
{
    uint64_t count = sweep->length - sweep->next_index;
    count = count < sweep->batch_runs ? count : sweep->batch_runs;
    if (sweep->kind != NULL && sweep->kind->adaptive) {
        uint64_t teachable = sim_teachable(&sweep->pool->book, sweep->next_index);
        count = count < teachable ? count : teachable;
    }
    bool room = sweep->next_sequence - sweep->merge_sequence < WINDOW;
    return room ? (uint32_t)count : 0;
}

/* An enumeration has one worker: its next run begins where the last one ended. */
static uint32_t
workers_used(const struct sweep *sweep)
{
    return sweep->kind != NULL && sweep->kind->sequential ? 1 : sweep->pool->count;
}

static void
hand_out(struct sweep *sweep)
{
    for (uint32_t i = 0; i < workers_used(sweep) && !sweep->stopping; i++) {
        uint32_t count = next_count(sweep);
        if (sweep->owner[i] != NOBODY || count == 0) {
            continue;
        }
        sweep->owner[i] = sweep->next_sequence;
        sweep->window[sweep->next_sequence % WINDOW] =
                (struct sim_batch){.index = sweep->next_index,
                        .seed = sweep->plan->first + sweep->base + sweep->next_index,
                        .asked = count};
        sweep->next_sequence++;
        give(sweep, i, sweep->next_index, count);
        sweep->next_index += count;
    }
}

/* ---- Failures. ------------------------------------------------------------------------------- */

/* True for the first of its kind, when there is room to remember it. */
static bool
is_news(struct sweep *sweep, const struct sim_outcome *outcome)
{
    for (uint32_t i = 0; i < sweep->kind_count; i++) {
        const struct failure_kind *kind = &sweep->kinds[i];
        if (kind->verdict == outcome->verdict && kind->oracle == outcome->oracle &&
                kind->site == outcome->site) {
            return false;
        }
    }
    if (sweep->kind_count == SIM_FAILURES_MAX) {
        return false;
    }
    sweep->kinds[sweep->kind_count++] =
            (struct failure_kind){outcome->verdict, outcome->oracle, outcome->site};
    return true;
}

/* The deviations of a run that was kept; the caller frees tape.entries. */
static struct sim_tape
tape_of(const struct sim_batch *batch, const struct sim_kept *kept)
{
    uint32_t most = kept->tape_length / 6 + 1;
    struct sim_tape tape = {calloc(most, sizeof(struct sim_deviation)), 0, most};
    rt_assert(tape.entries != NULL);
    /* A batch whose tapes are all empty has no memory for them. */
    const uint8_t *bytes = kept->tape_length == 0 ? NULL : batch->tapes + kept->tape_offset;
    rt_err err = sim_tape_decode(&tape, bytes, kept->tape_length);
    rt_assert(err == RT_OK || tape.count == 0);
    return tape;
}

/* What makes a run of the sweep again, alone: its seed, where that is enough, else its tape. */
static uint32_t
how_again(const struct sweep *sweep, const struct sim_kept *kept)
{
    if (sweep->plan->how == SIM_HOW_LENIENT) {
        return SIM_HOW_STRICT;
    }
    if (sweep->plan->how != SIM_HOW_SEARCH) {
        return sweep->plan->how;
    }
    return kept->arm == sim_strategy_find("random") ? SIM_HOW_RANDOM : SIM_HOW_STRICT;
}

/* As it was seen, for who only counts. */
static void
tell_unconfirmed(struct sweep *sweep, const struct sim_kept *kept)
{
    const struct sim_new_failure failure = {
            .index = kept->outcome.seed - sweep->plan->first,
            .seen = &kept->outcome,
            .outcome = kept->outcome,
            .same = true,
    };
    if (!sweep->sink->failure(sweep->sink, &failure)) {
        close_at_once(sweep, SIM_SWEEP_SINK);
    }
    sweep->result->kinds++;
}

static void
tell_failure(struct sweep *sweep, const struct sim_batch *batch, const struct sim_kept *kept)
{
    const struct sim_sweep_plan *plan = sweep->plan;
    if (plan->unconfirmed) {
        tell_unconfirmed(sweep, kept);
        return;
    }
    const struct sim_outcome *seen = &kept->outcome;
    struct sim_alone alone;
    struct sim_options options;
    struct sim_tape tape = tape_of(batch, kept);
    sim_sweep_options(plan, seen->seed, &options);
    struct sim_new_failure failure = {
            .index = seen->seed - plan->first,
            .seen = seen,
            .again = {how_again(sweep, kept), &tape},
            .alone = &alone,
    };
    const struct sim_alone_case what = {
            .scenario = plan->scenario,
            .options = &options,
            .seed = seen->seed,
            .how = failure.again.how,
            .tape = &tape,
            .hang_ms = sweep->pool->hang_ms,
            .hurry = seen->verdict == SIM_VERDICT_HANG ? plan->interrupted : NULL,
            .explain = true,
            .loud = true,
    };
    if (!sim_confirm(&alone, &what, seen, plan->first, &failure.outcome, &failure.same)) {
        (void)snprintf(
                sweep->pool->error, sizeof(sweep->pool->error), "%s", alone.pilot.worker.error);
        close_at_once(sweep, SIM_SWEEP_SYSTEM);
    } else if (!sweep->sink->failure(sweep->sink, &failure)) {
        close_at_once(sweep, SIM_SWEEP_SINK);
    }
    sweep->result->kinds++;
    sweep->result->diverged += !failure.same;
    sim_alone_done(&alone);
    free(tape.entries);
}

/* Marks those that are the first of their kind. */
static void
find_news(struct sweep *sweep, struct sim_batch *batch)
{
    for (uint32_t i = 0; i < batch->kept_count; i++) {
        const struct sim_outcome *outcome = &batch->kept[i].outcome;
        if (outcome->verdict == SIM_VERDICT_PASS) {
            continue;
        }
        if (sweep->result->first_failure == UINT64_MAX) {
            sweep->result->first_failure = outcome->seed - sweep->plan->first;
        }
        batch->kept[i].told = is_news(sweep, outcome);
    }
}

static void
tell_news(struct sweep *sweep, const struct sim_batch *batch)
{
    for (uint32_t i = 0; i < batch->kept_count && !sweep->closed; i++) {
        if (batch->kept[i].told) {
            tell_failure(sweep, batch, &batch->kept[i]);
        }
    }
}

/* ---- Twins. ---------------------------------------------------------------------------------- */

/* Has the twin make a run again, and compares. */
static void
ask_twin(struct sweep *sweep, const struct sim_check *check, const struct sim_again *again)
{
    uint64_t digest = 0;
    struct sim_job like;
    set_job(sweep, &like, 0, 1);
    sim_sweep_options(sweep->plan, check->seed, &like.options);
    like.teaches = false;
    like.covers = false;
    like.lore = NULL;
    like.how = again->how;
    like.tape = again->tape;
    if (!sim_pool_ask_twin(sweep->pool, &like, check->seed, &digest)) {
        close_at_once(sweep, SIM_SWEEP_SYSTEM);
        return;
    }
    sweep->result->checked++;
    if (digest == check->digest) {
        return;
    }
    sweep->result->unequal++;
    if (sweep->result->unequal == 1 && !sweep->sink->twin(sweep->sink, check->seed, again)) {
        close_at_once(sweep, SIM_SWEEP_SINK);
    }
}

/* A run that was searched for is told by its tape. */
static void
check_with_twin(struct sweep *sweep, const struct sim_batch *batch, const struct sim_check *check)
{
    struct sim_tape tape = {NULL, 0, 0};
    struct sim_again again = {sweep->plan->how, sweep->plan->tape};
    if (sweep->plan->how == SIM_HOW_SEARCH) {
        const struct sim_kept *kept = sim_batch_find(batch, check->seed);
        rt_assert(kept != NULL);
        tape = tape_of(batch, kept);
        again = (struct sim_again){how_again(sweep, kept), &tape};
    }
    ask_twin(sweep, check, &again);
    free(tape.entries);
}

static void
merge_checks(struct sweep *sweep, const struct sim_batch *batch)
{
    for (uint32_t i = 0; i < batch->check_count && !sweep->closed; i++) {
        check_with_twin(sweep, batch, &batch->checks[i]);
        look_at_the_time(sweep);
    }
}

/* ---- Merging. -------------------------------------------------------------------------------- */

static void
merge(struct sweep *sweep, struct sim_batch *batch)
{
    struct sim_sweep_totals *totals = &sweep->result->totals;
    sim_totals_add(totals, &batch->totals);
    sim_teach(&sweep->pool->book, batch);
    if (sweep->plan->covered != NULL) {
        cover(sweep, batch);
    }
    find_news(sweep, batch);
    sweep->result->failures = totals->runs - totals->verdicts[SIM_VERDICT_PASS];
    const struct sim_merged merged = {
            .index = sweep->base + batch->index,
            .runs = (uint32_t)batch->totals.runs,
            .kept = batch->kept,
            .kept_count = batch->kept_count,
            .tapes = batch->tapes,
            .tapes_size = batch->tapes_size,
            .arms = batch->arms,
            .orders = batch->orders,
            .fresh = batch->fresh,
            .edges = batch->edges,
            .lore = &sweep->pool->book.master,
            .totals = totals,
    };
    if (!sweep->sink->batch(sweep->sink, &merged)) {
        close_at_once(sweep, SIM_SWEEP_SINK);
        return;
    }
    tell_news(sweep, batch);
    merge_checks(sweep, batch);
    if (sweep->plan->fail_fast && sweep->result->failures > 0) {
        close_at_once(sweep, SIM_SWEEP_STOPPED_AT_FAILURE);
    } else if (totals->verdicts[SIM_VERDICT_HANG] >= SIM_HANGS_MAX) {
        close_at_once(sweep, SIM_SWEEP_TOO_MANY_HANGS);
    }
    if (batch->exhausted) {
        close_at_once(sweep, SIM_SWEEP_EXHAUSTED);
    } else if (sweep->sink->enough != NULL && !sweep->closed && sweep->sink->enough(sweep->sink)) {
        close_at_once(sweep, SIM_SWEEP_ENOUGH);
    }
    if (batch->totals.runs < batch->asked) {
        /* A hole: what comes after it would not be a range. */
        sweep->closed = true;
    }
}

static void
merge_in_order(struct sweep *sweep)
{
    while (sweep->merge_sequence < sweep->next_sequence) {
        struct sim_batch *batch = &sweep->window[sweep->merge_sequence % WINDOW];
        if (!batch->over) {
            return;
        }
        if (!sweep->closed) {
            merge(sweep, batch);
        }
        sim_batch_done(batch);
        sweep->merge_sequence++;
    }
}

/* Worker `which` is done with its job. */
static void
collect(struct sweep *sweep, uint32_t which)
{
    struct sim_worker *worker = &sweep->pool->workers[which];
    struct sim_shared *shared = worker->shared;
    struct sim_batch *batch = &sweep->window[sweep->owner[which] % WINDOW];
    sim_batch_add(batch, shared, worker->edges);
    if (worker->failed) {
        (void)snprintf(sweep->pool->error, sizeof(sweep->pool->error), "%s", worker->error);
        close_at_once(sweep, SIM_SWEEP_SYSTEM);
    }
    bool enough =
            sweep->plan->fail_fast && batch->totals.runs > batch->totals.verdicts[SIM_VERDICT_PASS];
    uint32_t done = (uint32_t)batch->totals.runs;
    if (done < batch->asked && !sweep->stopping && !enough && !batch->exhausted) {
        give(sweep, which, batch->index + done, batch->asked - done);
        return;
    }
    batch->over = true;
    sweep->owner[which] = NOBODY;
}

static bool
anybody_works(const struct sweep *sweep)
{
    for (uint32_t i = 0; i < sweep->pool->count; i++) {
        if (sweep->owner[i] != NOBODY) {
            return true;
        }
    }
    return false;
}

/* After an interrupt: who has not come to the end of his run by now is not waited for. */
static void
abandon(struct sweep *sweep)
{
    if (sweep->interrupted_ms == 0 || sim_clock_ms() - sweep->interrupted_ms < GRACE_MS) {
        return;
    }
    for (uint32_t i = 0; i < sweep->pool->count; i++) {
        if (sweep->owner[i] != NOBODY) {
            sim_worker_abandon(&sweep->pool->workers[i]);
            collect(sweep, i);
        }
    }
    merge_in_order(sweep);
}

/* One turn: hand out, wait, collect, merge. */
static void
turn(struct sweep *sweep)
{
    int tick_ms = is_overdue(sweep) ? OVERDUE_TICK_MS : TICK_MS;
    int which = sim_workers_wait(sweep->pool->workers, sweep->pool->count, tick_ms);
    look_at_the_time(sweep);
    if (which >= 0) {
        collect(sweep, (uint32_t)which);
        merge_in_order(sweep);
    }
    abandon(sweep);
    if (!sweep->closed &&
            !sweep->sink->tick(sweep->sink, sweep->result->totals.runs, &sweep->result->totals)) {
        close_at_once(sweep, SIM_SWEEP_SINK);
    }
}

/* Small enough that all workers have something to do and a stop comes soon. */
static uint32_t
batch_runs(const struct sim_sweep_plan *plan, uint32_t workers)
{
    if (plan->batch_runs != 0) {
        return plan->batch_runs < SIM_JOB_RUNS_MAX ? plan->batch_runs : SIM_JOB_RUNS_MAX;
    }
    uint64_t runs = plan->chapter_runs != 0 && plan->chapter_runs < plan->runs ? plan->chapter_runs
                                                                               : plan->runs;
    uint64_t share = runs / ((uint64_t)workers * 8) + 1;
    return share < SIM_JOB_RUNS_MAX ? (uint32_t)share : SIM_JOB_RUNS_MAX;
}

void
sim_sweep_run(struct sim_pool *pool, const struct sim_sweep_plan *plan, struct sim_sink *sink,
        struct sim_sweep_result *ret_result)
{
    rt_assert(plan->runs >= 1);
    *ret_result = (struct sim_sweep_result){.first_failure = UINT64_MAX};
    struct sweep sweep = {.pool = pool, .plan = plan, .sink = sink, .result = ret_result};
    sweep.kind = plan->how == SIM_HOW_SEARCH ? sim_strategy_at(plan->search.kind) : NULL;
    sweep.batch_runs = batch_runs(plan, workers_used(&sweep));
    open_first_chapter(&sweep);
    for (uint32_t i = 0; i < pool->count; i++) {
        sweep.owner[i] = NOBODY;
    }
    hand_out(&sweep);
    while (anybody_works(&sweep)) {
        turn(&sweep);
        turn_the_page(&sweep);
        hand_out(&sweep);
    }
    merge_in_order(&sweep);
    for (; sweep.merge_sequence < sweep.next_sequence; sweep.merge_sequence++) {
        sim_batch_done(&sweep.window[sweep.merge_sequence % WINDOW]);
    }
}
