/*
 * async-lock-41.c -- a listener is stored into a temporary, and dropped at the end of the
 * statement.
 *
 * smol-rs/async-lock#41 (fixed by #42, commit 6bac58a).
 *
 * The bug. A writer waits in a loop until the last reader has left. If readers are left and it has
 * no listener, it makes one and checks again; else it waits for the listener. The match is over
 * `&mut this.listener.take()`: a new listener is stored into the result of `take`, a temporary
 * that is dropped before the next round. There never is a listener to wait for, so the loop spins
 * until the reader has left; a reader on the same thread never does.
 *
 * The fix. The match is over the field: listener_of below.
 *
 * Here. Two tasks share a thread. One reads a table from disk, the other changes it, each at some
 * time. If the writer is done before the reader starts, all is well. A loop that spins stops its
 * thread but not the world: after each turn other actors run.
 *
 * Cause: not-a-wake in write_poll or listener_of
 * Must end in: livelock. Fails on the baseline run: no.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "sim/rewake.h"

struct listener {
    struct rt_slot slot;
    bool notified;
};

struct table_lock {
    struct sim_world *world;
    bool broken;
    bool reading;
    bool writing;
    struct listener box;         /* The memory of the one listener. */
    struct listener *registered; /* Woken when the last reader leaves; NULL: none. */
    struct rt_slot no_writer;
};

struct state {
    struct sim_rt *rt;
    struct table_lock lock;
    struct listener *field; /* Of the writer's future. */
    struct rt_task reader;
    struct rt_sleep until_read;
    struct rt_sleep disk;
    bool reads;
    struct rt_task writer;
    struct rt_sleep until_write;
};

/* ---- Listeners. ------------------------------------------------------------------------------ */

static struct listener *
listen(struct table_lock *lock)
{
    rt_slot_init(&lock->box.slot);
    lock->box.notified = false;
    lock->registered = &lock->box;
    return &lock->box;
}

static void
listener_drop(struct table_lock *lock, struct listener *listener)
{
    if (listener != NULL) {
        lock->registered = NULL;
        rt_slot_fini(&listener->slot);
    }
}

static rt_poll
listener_poll(struct listener *listener, struct rt_cx *cx)
{
    if (listener->notified) {
        return RT_READY;
    }
    rt_slot_replace(&listener->slot, cx, "the last reader to leave");
    return RT_PENDING;
}

/* ---- The lock. ------------------------------------------------------------------------------- */

/* The match's operand: the field, or a temporary that holds what was taken out of it. */
static struct listener **
listener_of(const struct table_lock *lock, struct listener **field, struct listener **temporary)
{
    if (!lock->broken) {
        return field;
    }
    *temporary = *field;
    *field = NULL;
    return temporary;
}

static rt_poll
write_poll(struct table_lock *lock, struct listener **field, struct rt_cx *cx)
{
    lock->writing = true;
    while (lock->reading) {
        struct listener *temporary = NULL;
        struct listener **listener = listener_of(lock, field, &temporary);
        if (*listener == NULL) {
            *listener = listen(lock);
        } else {
            RT_AWAIT(listener_poll(*listener, cx));
        }
        listener_drop(lock, temporary);
        sim_loop_pause(lock->world);
    }
    listener_drop(lock, *field);
    *field = NULL;
    return RT_READY;
}

static void
write_unlock(struct table_lock *lock)
{
    lock->writing = false;
    rt_slot_wake(&lock->no_writer);
}

static rt_poll
read_poll(struct table_lock *lock, struct rt_cx *cx)
{
    if (lock->writing) {
        rt_slot_replace(&lock->no_writer, cx, "the writer to leave");
        return RT_PENDING;
    }
    lock->reading = true;
    return RT_READY;
}

static void
read_unlock(struct table_lock *lock)
{
    lock->reading = false;
    if (lock->registered != NULL) {
        lock->registered->notified = true;
        rt_slot_wake(&lock->registered->slot);
    }
}

/* ---- The thread. ----------------------------------------------------------------------------- */

static rt_poll
reader_poll(struct rt_task *task, struct rt_cx *cx)
{
    struct state *state = rt_container_of(task, struct state, reader);
    if (!state->reads) {
        RT_AWAIT(rt_sleep_poll(&state->until_read, cx));
        RT_AWAIT(read_poll(&state->lock, cx));
        rt_sleep_init(&state->disk, 20 * RT_MS);
        state->reads = true;
    }
    RT_AWAIT(rt_sleep_poll(&state->disk, cx));
    read_unlock(&state->lock);
    return RT_READY;
}

static rt_poll
writer_poll(struct rt_task *task, struct rt_cx *cx)
{
    struct state *state = rt_container_of(task, struct state, writer);
    if (!state->lock.writing) {
        RT_AWAIT(rt_sleep_poll(&state->until_write, cx));
    }
    RT_AWAIT(write_poll(&state->lock, &state->field, cx));
    write_unlock(&state->lock);
    return RT_READY;
}

static void
thread_main(struct sim_world *world, void *argument)
{
    struct state *state = argument;
    (void)world;
    SIM_ALWAYS(rt_run_to_completion(sim_rt_runtime(state->rt)) == RT_OK);
}

/* ---- Both forms. ----------------------------------------------------------------------------- */

static void
begin(struct sim_world *world, bool broken)
{
    struct state *state = sim_new(world, struct state);
    struct sim_rt_options options = {.by_loop = true};
    state->rt = sim_rt_new(world, &options);
    state->lock.world = world;
    state->lock.broken = broken;
    rt_slot_init(&state->lock.no_writer);
    rt_sleep_until(&state->until_read, 10 * RT_MS);
    rt_sleep_until(&state->until_write, sim_range(world, 1 * RT_MS, 12 * RT_MS));
    rt_task_init(&state->reader, reader_poll, NULL, "reader");
    rt_task_init(&state->writer, writer_poll, NULL, "writer");
    sim_spawn(state->rt, &state->reader);
    sim_spawn(state->rt, &state->writer);
    (void)sim_loop_new(world, "thread", thread_main, state);
}

static void
setup_broken(struct sim_world *world)
{
    begin(world, true);
}

static void
setup_fixed(struct sim_world *world)
{
    begin(world, false);
}

SIM_SCENARIO(zoo_async_lock_41_broken, .name = "zoo/async-lock-41/broken", .bug = "C12",
        .reference = "smol-rs/async-lock#41",
        .about = "A writer's listener is stored into a temporary, and its wait turns in a loop.",
        .setup = setup_broken, .expect = SIM_VERDICT_LIVELOCK);
SIM_SCENARIO(zoo_async_lock_41_fixed, .name = "zoo/async-lock-41/fixed",
        .about = "A writer's listener is kept until the last reader has left.",
        .setup = setup_fixed);
