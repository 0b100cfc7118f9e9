/*
 * policies.c -- "specialized scheduling" of the thread-per-core article (S3), three times.
 *
 * The article names priority queues, deadline scheduling and fair shares as a reason to build a
 * custom runtime. Here is a database engine's thread with three kinds of work, under each of them:
 *
 *   requests   arrive one after the other, and each should be answered soon;
 *   flusher    has to have its page written by a deadline;
 *   compactor  has a lot of work, in pieces, and no deadline: it yields when it should.
 *
 * Every kind has one number, whose meaning depends on the policy: its priority, its deadline, its
 * share of the thread. The same program is right under each; what a user would assert differs, and
 * is in `check`: the most important is polled first, the earliest deadline is polled first, and
 * with fair shares each task is polled.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "sim/rewake.h"

#define REQUESTS 4u
#define PIECES 12u

struct state;

struct work {
    struct rt_task task;
    struct state *state;
    struct rt_yield yield;
    struct rt_sleep sleep;
    uint32_t left; /* Pieces of work. */
    uint64_t piece_ns;
    uint64_t pause_ns;   /* Between two pieces; 0: none. */
    uint32_t first_poll; /* Its position among the polls of all. */
    uint32_t polls;
    bool slept;
};

struct state {
    struct sim_world *world;
    struct work requests;
    struct work flusher;
    struct work compactor;
    uint32_t polls; /* Of all three. */
};

/* One piece after the other: work, then a pause if there is one, and a yield. */
static rt_poll
work_poll(struct rt_task *task, struct rt_cx *cx)
{
    struct work *work = rt_container_of(task, struct work, task);
    struct state *state = work->state;
    state->polls++;
    if (work->polls++ == 0) {
        work->first_poll = state->polls;
    }
    while (work->left > 0) {
        if (work->pause_ns != 0 && !work->slept) {
            RT_AWAIT(rt_sleep_poll(&work->sleep, cx));
            work->slept = true;
        }
        RT_AWAIT(rt_maybe_yield(&work->yield, cx));
        sim_work(state->world, work->piece_ns);
        SIM_PROGRESS();
        work->left--;
        work->slept = false;
        rt_sleep_init(&work->sleep, work->pause_ns);
    }
    return RT_READY;
}

static void
work_init(struct work *work, struct state *state, const char *name, uint32_t pieces,
        uint64_t piece_ns, uint64_t rank)
{
    work->state = state;
    work->left = pieces;
    work->piece_ns = piece_ns;
    rt_sleep_init(&work->sleep, 0);
    rt_task_init(&work->task, work_poll, NULL, name);
    work->task.rank = rank;
}

/* `ranks`: of requests, flusher and compactor. The compactor is woken first, so the order of
 * wakes would be wrong. */
static void
build(struct sim_world *world, enum sim_order order, const uint64_t ranks[3])
{
    struct sim_rt_options options = {.order = order, .task_quota_ns = RT_TASK_QUOTA_NS};
    struct sim_rt *rt = sim_rt_new(world, &options);
    struct state *state = sim_new(world, struct state);
    state->world = world;
    work_init(&state->requests, state, "requests", REQUESTS, 20 * RT_US, ranks[0]);
    work_init(&state->flusher, state, "flusher", 2, 100 * RT_US, ranks[1]);
    work_init(&state->compactor, state, "compactor", PIECES, 100 * RT_US, ranks[2]);
    state->requests.pause_ns = 200 * RT_US;
    rt_sleep_init(&state->requests.sleep, state->requests.pause_ns);
    sim_spawn(rt, &state->compactor.task);
    sim_spawn(rt, &state->flusher.task);
    sim_spawn(rt, &state->requests.task);
    sim_set_state(world, state);
}

static void
priority_setup(struct sim_world *world)
{
    build(world, SIM_ORDER_PRIORITY, (const uint64_t[3]){3, 2, 1});
}

static void
edf_setup(struct sim_world *world)
{
    /* The flusher has the earliest deadline; the compactor has none. */
    build(world, SIM_ORDER_EDF, (const uint64_t[3]){2 * RT_MS, RT_MS, 0});
}

static void
fair_setup(struct sim_world *world)
{
    build(world, SIM_ORDER_FAIR, (const uint64_t[3]){4, 2, 1});
}

static void
priority_check(struct sim_world *world, void *argument)
{
    const struct state *state = argument;
    (void)world;
    SIM_ALWAYS(state->requests.first_poll < state->flusher.first_poll);
    SIM_ALWAYS(state->flusher.first_poll < state->compactor.first_poll);
}

static void
edf_check(struct sim_world *world, void *argument)
{
    const struct state *state = argument;
    (void)world;
    SIM_ALWAYS(state->flusher.first_poll < state->requests.first_poll);
    SIM_ALWAYS(state->requests.first_poll < state->compactor.first_poll);
}

/* No task has run before, so all have their first poll among the first three. */
static void
fair_check(struct sim_world *world, void *argument)
{
    const struct state *state = argument;
    (void)world;
    SIM_ALWAYS(state->requests.first_poll <= 3);
    SIM_ALWAYS(state->flusher.first_poll <= 3);
    SIM_ALWAYS(state->compactor.first_poll <= 3);
}

/* A task that is cancelled before its first poll has no position. */
SIM_SCENARIO(seed3_priority, .name = "articles/s3/priority",
        .about = "Requests, a flusher and a compactor on one thread, the most important first.",
        .setup = priority_setup, .check = priority_check, .order = SIM_ORDER_PRIORITY,
        .survives = SIM_FAULT_ALL & ~SIM_FAULT_CANCEL);
SIM_SCENARIO(seed3_deadline, .name = "articles/s3/deadline",
        .about = "Requests, a flusher and a compactor on one thread, the earliest due first.",
        .setup = edf_setup, .check = edf_check, .order = SIM_ORDER_EDF,
        .survives = SIM_FAULT_ALL & ~SIM_FAULT_CANCEL);
SIM_SCENARIO(seed3_fair, .name = "articles/s3/fair-share",
        .about = "Requests, a flusher and a compactor on one thread, by weights.",
        .setup = fair_setup, .check = fair_check, .order = SIM_ORDER_FAIR,
        .survives = SIM_FAULT_ALL & ~SIM_FAULT_CANCEL);
