/*
 * readers_and_writers.c -- a semaphore of three: readers take one permit, writers all of them.
 *
 * A writer collects permits at the head of the queue while readers leave, and readers after it
 * wait, or it would never write. A cancelled task returns what it holds, what it was granted and
 * what it had collected.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "runtime/sync/semaphore.h"
#include "sim/rewake.h"

#define PERMITS 3
#define VISITORS 5
#define VISITS 2

struct library;

struct visitor {
    struct rt_task task;
    struct library *library;
    struct rt_acquire acquire;
    struct rt_sleep stay;
    uint64_t stay_ns;
    uint32_t permits;
    uint32_t visits;
    enum { VISITOR_OUTSIDE, VISITOR_WAITS, VISITOR_INSIDE } stage;
};

struct library {
    struct rt_semaphore semaphore;
    uint32_t inside; /* Permits in use, as the tasks count. */
    struct visitor visitors[VISITORS];
};

static void
leave(struct visitor *visitor)
{
    rt_err err = rt_semaphore_release(&visitor->library->semaphore, visitor->permits);
    SIM_ALWAYS(err == RT_OK);
    visitor->stage = VISITOR_OUTSIDE;
}

static rt_poll
visitor_poll(struct rt_task *task, struct rt_cx *cx)
{
    struct visitor *visitor = rt_container_of(task, struct visitor, task);
    struct library *library = visitor->library;
    while (visitor->visits < VISITS) {
        if (visitor->stage == VISITOR_OUTSIDE) {
            rt_acquire_init(&visitor->acquire, &library->semaphore, visitor->permits);
            visitor->stage = VISITOR_WAITS;
        }
        if (visitor->stage == VISITOR_WAITS) {
            RT_AWAIT(rt_acquire_poll(&visitor->acquire, cx));
            library->inside += visitor->permits;
            SIM_ALWAYS(library->inside <= PERMITS);
            rt_sleep_init(&visitor->stay, visitor->stay_ns);
            visitor->stage = VISITOR_INSIDE;
        }
        RT_AWAIT(rt_sleep_poll(&visitor->stay, cx));
        visitor->visits++;
        library->inside -= visitor->permits;
        leave(visitor);
    }
    return RT_READY;
}

static void
visitor_cleanup(struct rt_task *task)
{
    struct visitor *visitor = rt_container_of(task, struct visitor, task);
    if (visitor->stage == VISITOR_WAITS) {
        rt_acquire_drop(&visitor->acquire);
    } else if (visitor->stage == VISITOR_INSIDE) {
        rt_sleep_cancel(&visitor->stay);
        visitor->library->inside -= visitor->permits;
        leave(visitor);
    }
}

static void
setup(struct sim_world *world)
{
    static const char *const names[VISITORS] = {
            "reader 1", "reader 2", "writer 1", "reader 3", "writer 2"};
    struct sim_rt *rt = sim_rt_new(world, NULL);
    struct library *library = sim_new(world, struct library);
    rt_semaphore_init(&library->semaphore, PERMITS);
    for (uint32_t i = 0; i < VISITORS; i++) {
        struct visitor *visitor = &library->visitors[i];
        visitor->library = library;
        visitor->permits = names[i][0] == 'w' ? PERMITS : 1;
        visitor->stay_ns = sim_range(world, 0, RT_MS);
        rt_task_init(&visitor->task, visitor_poll, visitor_cleanup, names[i]);
        sim_spawn(rt, &visitor->task);
    }
    sim_set_state(world, library);
}

static void
check(struct sim_world *world, void *state)
{
    struct library *library = state;
    (void)world;
    SIM_ALWAYS(rt_semaphore_free(&library->semaphore) == PERMITS);
    rt_semaphore_fini(&library->semaphore);
}

SIM_SCENARIO(seed_readers_and_writers, .name = "articles/sync/readers-and-writers",
        .about = "A semaphore of three permits: readers take one, writers collect all.",
        .setup = setup, .check = check, .survives = SIM_FAULT_ALL);
