// Cause: s3_gate.c:96 a worker whose patience ends looks at the clock before it looks at `granted`: when the permit was handed to it in the same moment it leaves with the permit in its hand, nobody gives it back, and those who queue wait forever.
// SPDX-License-Identifier: Apache-2.0
// clang-format off
#include <sim/rewake.h>

#define WORKERS 3

struct worker {
    struct executor *executor;
    const char *name;
    uint64_t arrives_ns;
    uint64_t patience_ns; /* RT_NEVER: as long as it takes. */
    uint64_t works_ns;
    uint64_t wakes_at;    /* Its deadline on the executor's clock; RT_NEVER: none. */
    char place;           /* Its place in the gate's queue, … */
    char nap;             /* … and where it waits for its deadline. */
    enum { ARRIVING, ASKING, QUEUED, WORKING, FINISHED } state;
    uint64_t deadline;
    bool granted;
    bool gave_up;
    bool woken;
};

struct executor {
    struct rt_host *host;
    struct worker workers[WORKERS];
    struct worker *queue[WORKERS]; /* At the gate. */
    uint32_t queued;
    uint32_t permits;
    bool fixed;
};

static void
gate_remove(struct executor *gate, struct worker *worker)
{
    uint32_t kept = 0;
    for (uint32_t i = 0; i < gate->queued; i++) {
        if (gate->queue[i] != worker) {
            gate->queue[kept++] = gate->queue[i];
        }
    }
    gate->queued = kept;
}

static void
gate_release(struct executor *gate)
{
    if (gate->queued == 0) {
        gate->permits++;
        return;
    }
    struct worker *next = gate->queue[0];
    gate_remove(gate, next);
    next->granted = true;
    sim_foreign_fire(&next->place);
    next->woken = true;
}

static void
worker_nap(struct worker *worker, uint64_t until)
{
    worker->wakes_at = until;
    if (until != RT_NEVER) {
        sim_foreign_store(worker, &worker->nap, "its time");
    }
}

static bool
worker_poll(struct worker *worker)
{
    struct executor *gate = worker->executor;
    uint64_t now = rt_host_now(gate->host);
    switch (worker->state) {
    case ARRIVING:
        if (now < worker->arrives_ns) {
            worker_nap(worker, worker->arrives_ns);
            return false;
        }
        worker->state = ASKING;
        __attribute__((fallthrough));
    case ASKING:
        if (gate->permits == 0 || gate->queued > 0) {
            gate->queue[gate->queued++] = worker;
            worker->deadline = rt_deadline(now, worker->patience_ns);
            worker->state = QUEUED;
            worker_nap(worker, worker->deadline);
            sim_foreign_store(worker, &worker->place, "a permit");
            return false;
        }
        gate->permits--;
        worker->granted = true;
        worker->state = QUEUED;
        worker->deadline = RT_NEVER;
        __attribute__((fallthrough));
    case QUEUED:
        if (now >= worker->deadline && (!gate->fixed || !worker->granted)) {
            gate_remove(gate, worker);
            sim_foreign_erase(&worker->place);
            worker->gave_up = true;
            worker->state = FINISHED;
            return true;
        }
        if (!worker->granted) {
            return false;
        }
        worker->deadline = now + worker->works_ns;
        worker->state = WORKING;
        worker_nap(worker, worker->deadline);
        return false;
    case WORKING:
        if (now < worker->deadline) {
            return false;
        }
        worker->state = FINISHED;
        worker->granted = false;
        gate_release(gate);
        return true;
    case FINISHED:
        break;
    }
    return true;
}

static void
worker_run(struct worker *worker)
{
    worker->woken = false;
    sim_foreign_poll(worker);
    bool finished = worker_poll(worker);
    if (finished) {
        worker->wakes_at = RT_NEVER;
        sim_foreign_erase(&worker->nap);
    }
    sim_foreign_polled(worker, finished);
}

static void
worker_again(void *executor, void *worker)
{
    (void)executor;
    worker_run(worker);
}

static void
executor_main(struct sim_world *world, void *argument)
{
    struct executor *executor = argument;
    (void)world;
    for (;;) {
        uint64_t earliest = RT_NEVER;
        uint32_t finished = 0;
        bool any = false;
        for (uint32_t i = 0; i < WORKERS; i++) {
            struct worker *worker = &executor->workers[i];
            if (worker->woken && worker->state != FINISHED) {
                worker_run(worker);
                any = true;
            }
            finished += worker->state == FINISHED;
        }
        if (finished == WORKERS) {
            return;
        }
        if (any) {
            continue;
        }
        for (uint32_t i = 0; i < WORKERS; i++) {
            uint64_t at = executor->workers[i].wakes_at;
            earliest = at < earliest ? at : earliest;
        }
        struct rt_pollable clock;
        struct rt_pollable *list[1] = {&clock};
        uint32_t ready[1];
        uint32_t count;
        SIM_ALWAYS(rt_subscribe_instant(executor->host, earliest, &clock) == RT_OK);
        SIM_ALWAYS(rt_host_poll(executor->host, list, 1, ready, &count) == RT_OK);
        rt_pollable_drop(&clock);
        uint64_t now = rt_host_now(executor->host);
        for (uint32_t i = 0; i < WORKERS; i++) {
            struct worker *worker = &executor->workers[i];
            if (worker->wakes_at <= now) {
                worker->wakes_at = RT_NEVER;
                sim_foreign_fire(&worker->nap);
                worker->woken = true;
            }
        }
    }
}

static void
setup(struct sim_world *world, bool fixed)
{
    struct executor *executor = sim_new(world, struct executor);
    struct sim_loop *loop = sim_loop_new(world, "executor", executor_main, executor);
    struct sim_foreign *foreign = sim_foreign_new(loop, worker_again, executor);
    static const char *const names[WORKERS] = {"report", "request", "backup"};
    executor->host = sim_host_seam(sim_host_new(world, NULL, SIM_PROFILE_DEFAULT));
    executor->fixed = fixed;
    executor->permits = 1;
    for (uint32_t i = 0; i < WORKERS; i++) {
        executor->workers[i] = (struct worker){.executor = executor, .name = names[i],
                .arrives_ns = i * RT_MS / 10, .patience_ns = i == 1 ? 3 * RT_MS : RT_NEVER,
                .works_ns = sim_range(world, RT_MS, 5 * RT_MS), .wakes_at = RT_NEVER,
                .deadline = RT_NEVER, .woken = true};
        sim_foreign_spawn(foreign, &executor->workers[i], names[i]);
    }
}

static void setup_broken(struct sim_world *world) { setup(world, false); }
static void setup_fixed(struct sim_world *world) { setup(world, true); }

SIM_SCENARIO(broken, .name = "set3/s3_gate/broken", .about = "Three workers and one permit.",
        .setup = setup_broken);
SIM_SCENARIO(fixed, .name = "set3/s3_gate/fixed", .about = "Three workers and one permit.",
        .setup = setup_fixed);
