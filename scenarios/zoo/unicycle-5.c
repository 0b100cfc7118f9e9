/*
 * unicycle-5.c -- a group of futures wakes itself when no member can make progress.
 *
 * udoprog/unicycle#5.
 *
 * The bug. A group polls its woken members and, if it ends a round early so that other tasks run,
 * wakes itself to continue. It also did so when no member was woken any more. So a group whose
 * members all wait is polled again at once, finds nothing, wakes itself, and the thread is never
 * idle.
 *
 * The fix. It wakes itself only if a member is still woken. unicycle-5.patch makes a round without
 * an item end with a wake of its own task, in runtime/compose/group.c.
 *
 * Here. A reader takes a line from each of two connections. If the lines arrive soon, the busy
 * thread goes unnoticed; after a silence of 20 ms it does not.
 *
 * Cause: not-a-wake in poll_members or reader_poll
 * Must end in: livelock. Fails on the baseline run: no, there each silence is short.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "sim/rewake.h"

#define CONNECTIONS 2u

struct connection {
    struct rt_once line;
    struct rt_sleep_future silence;
    struct rt_group_member member;
    struct rt_key key;
};

struct reader {
    struct sim_rt *rt;
    struct rt_task task;
    struct rt_group group;
    struct rt_slab_entry entries[CONNECTIONS];
    struct connection connections[CONNECTIONS];
};

/* Reads a line from each, in the order of arrival. */
static rt_poll
reader_poll(struct rt_task *task, struct rt_cx *cx)
{
    struct reader *reader = rt_container_of(task, struct reader, task);
    void *line = NULL;
    do {
        RT_AWAIT(rt_group_poll(&reader->group, cx, NULL, &line));
        SIM_PROGRESS();
    } while (line != NULL);
    return RT_READY;
}

static void
reader_cleanup(struct rt_task *task)
{
    struct reader *reader = rt_container_of(task, struct reader, task);
    rt_group_drop(&reader->group);
}

static void
thread_main(struct sim_world *world, void *argument)
{
    struct reader *reader = argument;
    (void)world;
    SIM_ALWAYS(rt_block_on(sim_rt_runtime(reader->rt), &reader->task) == RT_OK);
}

static void
setup(struct sim_world *world)
{
    static const uint64_t silences_ns[] = {0, 10 * RT_US, 100 * RT_US, 20 * RT_MS};
    struct sim_rt_options options = {.by_loop = true};
    struct reader *reader = sim_new(world, struct reader);
    reader->rt = sim_rt_new(world, &options);
    rt_group_init(&reader->group, reader->entries, CONNECTIONS);
    for (uint32_t i = 0; i < CONNECTIONS; i++) {
        struct connection *connection = &reader->connections[i];
        rt_sleep_future_init(&connection->silence, silences_ns[sim_pick(world, 4)]);
        rt_once_init(&connection->line, &connection->silence.future);
        rt_err err = rt_group_insert(
                &reader->group, &connection->member, &connection->line.stream, &connection->key);
        SIM_ALWAYS(err == RT_OK);
    }
    rt_task_init(&reader->task, reader_poll, reader_cleanup, "reader");
    (void)sim_loop_new(world, "thread", thread_main, reader);
}

#ifdef ZOO_FORM_BROKEN
SIM_SCENARIO(zoo_unicycle_5_broken, .name = "zoo/unicycle-5/broken", .bug = "F12",
        .reference = "udoprog/unicycle#5", .about = "A group whose members all wait wakes itself.",
        .setup = setup, .expect = SIM_VERDICT_LIVELOCK);
#else
SIM_SCENARIO(zoo_unicycle_5_fixed, .name = "zoo/unicycle-5/fixed",
        .about = "A group whose members all wait sleeps.", .setup = setup);
#endif
