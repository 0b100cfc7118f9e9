/*
 * wasi-io-67.c -- the host is polled with an empty list.
 *
 * WebAssembly/wasi-io#67, bytecodealliance/wasmtime#7944 (before them WASI#193 and
 * wasmerio/wasmer#6073).
 *
 * The bug. `poll` with an empty list was specified as "blocks until one of the list is ready". None
 * ever is, so a guest whose tasks were all idle hung forever inside the host, without a visible
 * cause. The specification now says that an empty list traps (P3).
 *
 * The fix, in the guest. A reactor without a wait does not poll: a turn that would block on nothing
 * returns RT_E_DEADLOCK (R5, D5). wasi-io-67.patch removes that check from runtime/io/reactor.c,
 * and the host is polled.
 *
 * Here. A worker handles the jobs in its queue. main drives the runtime by hand, and uses that
 * result: when all tasks are idle and the host has no pending event, the work is done, and main
 * closes the queue. With the bug the same turn polls the host with an empty list, each time; only
 * the steps before differ.
 *
 * Cause: not-a-wake in turn or ask
 * Must end in: contract (the host was polled with an empty list). Fails on the baseline run: yes.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "sim/rewake.h"

struct queue {
    struct rt_slot worker;
    uint32_t jobs;
    bool closed;
};

struct worker {
    struct rt_task task;
    struct sim_world *world;
    struct queue *queue;
    struct rt_sleep job;
    bool busy;
};

struct state {
    struct sim_rt *rt;
    struct queue queue;
    struct worker worker;
};

/* A job is some time at the host. */
static void
take_job(struct worker *worker)
{
    worker->queue->jobs--;
    worker->busy = true;
    rt_sleep_init(&worker->job, sim_range(worker->world, 1 * RT_MS, 9 * RT_MS));
}

static rt_poll
worker_poll(struct rt_task *task, struct rt_cx *cx)
{
    struct worker *worker = rt_container_of(task, struct worker, task);
    struct queue *queue = worker->queue;
    while (worker->busy || queue->jobs > 0) {
        if (!worker->busy) {
            take_job(worker);
        }
        RT_AWAIT(rt_sleep_poll(&worker->job, cx));
        worker->busy = false;
    }
    if (queue->closed) {
        return RT_READY;
    }
    rt_slot_replace(&queue->worker, cx, "a job in the queue");
    return RT_PENDING;
}

static void
queue_close(struct queue *queue)
{
    queue->closed = true;
    rt_slot_wake(&queue->worker);
}

/* "Until all is quiet": polls woken tasks, waits for pending events; if there are none, closes. */
static void
main_loop(struct sim_world *world, void *argument)
{
    struct state *state = argument;
    struct rt_runtime *runtime = sim_rt_runtime(state->rt);
    struct rt_run_result result = {0, 1, RT_STALL_SLEEPING};
    (void)world;
    while (result.stall != RT_STALL_COMPLETE) {
        SIM_ALWAYS(rt_run_until_stalled(&runtime->executor, UINT64_MAX, &result) == RT_OK);
        if (result.stall == RT_STALL_SLEEPING &&
                rt_runtime_turn(runtime, RT_TURN_BLOCK, NULL) == RT_E_DEADLOCK) {
            queue_close(&state->queue);
        }
    }
}

static void
setup(struct sim_world *world)
{
    struct sim_rt_options options = {.by_loop = true};
    struct state *state = sim_new(world, struct state);
    struct worker *worker = &state->worker;
    state->rt = sim_rt_new(world, &options);
    rt_slot_init(&state->queue.worker);
    state->queue.jobs = 3;
    worker->world = world;
    worker->queue = &state->queue;
    rt_task_init(&worker->task, worker_poll, NULL, "worker");
    sim_spawn(state->rt, &worker->task);
    (void)sim_loop_new(world, "main", main_loop, state);
}

#ifdef ZOO_FORM_BROKEN
SIM_SCENARIO(zoo_wasi_io_67_broken, .name = "zoo/wasi-io-67/broken", .bug = "D21",
        .reference = "WebAssembly/wasi-io#67",
        .about = "A turn that would block on nothing polls the host all the same.", .setup = setup,
        .expect = SIM_VERDICT_CONTRACT);
#else
SIM_SCENARIO(zoo_wasi_io_67_fixed, .name = "zoo/wasi-io-67/fixed",
        .about = "A turn that would block on nothing returns an error, and the host is not polled.",
        .setup = setup);
#endif
