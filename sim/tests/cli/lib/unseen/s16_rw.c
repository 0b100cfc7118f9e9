/* Cause: write_unlock(), line 71: only one waiter is woken when the editor leaves; of two readers that wait the second one could read as well, but the first, which wakes the next only when it leaves, waits for it for the whole limit before it leaves, so the second is woken much too late; repair: the writer that leaves wakes all that wait. */
/*
 * s16_rw.c -- a catalogue that several tasks read and some change: a lock for readers and writers.
 *
 * Readers hold their lock until all pages of a reader's group have come together.
 */
#include <sim/rewake.h>

#define READERS 2u
#define WRITERS 1u
#define TASKS (READERS + WRITERS)
#define LIMIT (5 * RT_MS)

struct lock {
    struct rt_wait_queue queue;
    struct rt_wait_queue_entry entries[TASKS];
    unsigned readers;
    bool writing;
    bool fixed;
};

struct catalogue {
    struct sim_world *world;
    struct lock lock;
    struct rt_wait_queue together; /* Readers that have their lock, and wait for the others. */
    struct rt_wait_queue_entry entries[TASKS];
    unsigned reading; /* Have begun. */
    unsigned version;
};

struct user {
    struct rt_task task;
    struct catalogue *catalogue;
    struct rt_sleep sleep;
    struct rt_sleep limit;
    uint32_t at;
    bool writes;
    bool counted;
};

static rt_poll
lock_acquire(struct lock *lock, bool writes, struct rt_cx *cx)
{
    bool free = !lock->writing && (!writes || lock->readers == 0);
    if (!free) {
        rt_err err = rt_wait_queue_store(&lock->queue, cx, writes ? "to write" : "to read");
        SIM_ALWAYS(err == RT_OK);
        return RT_PENDING;
    }
    rt_wait_queue_leave(&lock->queue, cx);
    if (writes) {
        lock->writing = true;
    } else {
        lock->readers++;
    }
    return RT_READY;
}

static void
read_unlock(struct lock *lock)
{
    if (--lock->readers == 0) {
        rt_wait_queue_wake(&lock->queue, 1);
    }
}

static void
write_unlock(struct lock *lock)
{
    lock->writing = false;
    rt_wait_queue_wake(&lock->queue, lock->fixed ? UINT32_MAX : 1);
}

/* Readers print the same version: READY when each of them has the catalogue open, or after a limit,
 * when the others have better things to do. */
static rt_poll
meet_readers(struct user *user, struct rt_cx *cx)
{
    struct catalogue *catalogue = user->catalogue;
    if (!user->counted) {
        user->counted = true;
        if (++catalogue->reading == READERS) {
            rt_wait_queue_wake(&catalogue->together, UINT32_MAX);
        }
    }
    if (catalogue->reading == READERS || rt_sleep_poll(&user->limit, cx) == RT_READY) {
        rt_wait_queue_leave(&catalogue->together, cx);
        rt_sleep_cancel(&user->limit);
        return RT_READY;
    }
    rt_err err = rt_wait_queue_store(&catalogue->together, cx, "the other readers");
    SIM_ALWAYS(err == RT_OK);
    return RT_PENDING;
}

static rt_poll
user_poll(struct rt_task *task, struct rt_cx *cx)
{
    struct user *user = rt_container_of(task, struct user, task);
    struct catalogue *catalogue = user->catalogue;
    RT_BEGIN(user->at);
    rt_sleep_init(&user->sleep, sim_range(catalogue->world, 1 * RT_US, 100 * RT_US));
    RT_AWAIT_HERE(user->at, rt_sleep_poll(&user->sleep, cx));
    if (user->writes) {
        /* No change once the readers have begun to print. */
        if (catalogue->reading == 0 && !catalogue->lock.readers) {
            RT_AWAIT_HERE(user->at, lock_acquire(&catalogue->lock, true, cx));
            rt_sleep_init(&user->sleep, 60 * RT_US);
            RT_AWAIT_HERE(user->at, rt_sleep_poll(&user->sleep, cx));
            catalogue->version++;
            write_unlock(&catalogue->lock);
        }
    } else {
        RT_AWAIT_HERE(user->at, lock_acquire(&catalogue->lock, false, cx));
        rt_sleep_init(&user->limit, LIMIT);
        RT_AWAIT_HERE(user->at, meet_readers(user, cx));
        read_unlock(&catalogue->lock);
    }
    RT_END(user->at);
}

static void
set_up(struct sim_world *world, bool fixed)
{
    static const char *const names[TASKS] = {"reader 1", "reader 2", "editor"};
    struct sim_rt *rt = sim_rt_new(world, NULL);
    struct catalogue *catalogue = sim_new(world, struct catalogue);
    catalogue->world = world;
    catalogue->lock.fixed = fixed;
    rt_wait_queue_init(&catalogue->lock.queue, catalogue->lock.entries, TASKS);
    rt_wait_queue_init(&catalogue->together, catalogue->entries, TASKS);
    for (unsigned i = 0; i < TASKS; i++) {
        struct user *user = sim_new(world, struct user);
        user->catalogue = catalogue;
        user->writes = i >= READERS;
        rt_task_init(&user->task, user_poll, NULL, names[i]);
        sim_spawn(rt, &user->task);
    }
}

static void
set_up_broken(struct sim_world *world)
{
    set_up(world, false);
}

static void
set_up_fixed(struct sim_world *world)
{
    set_up(world, true);
}

SIM_SCENARIO(broken, .name = "s16/rw/broken", .about = "Readers and an editor of a catalogue.",
        .setup = set_up_broken, .expect = SIM_VERDICT_LATE_WAKEUP);
SIM_SCENARIO(fixed, .name = "s16/rw/fixed", .about = "Readers and an editor of a catalogue.",
        .setup = set_up_fixed);

/* SPDX-License-Identifier: Apache-2.0 */
