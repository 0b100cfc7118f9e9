/*
 * rwlock.c -- a lock for many readers or one writer, in which writers come first.
 *
 * A reader waits while a writer holds the lock or waits for it. The user that releases the lock
 * wakes one writer where one waits, else all readers. A woken task may find that another was
 * faster: it queues again. A user that gets the lock by a spurious poll leaves the queue, or it
 * would take a wake that is for the next. The last writer wakes the readers that it held back.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "sim/rewake.h"

#define READERS 3u
#define WRITERS 2u
#define TURNS 2u

struct rwlock {
    uint32_t readers;
    uint32_t writers_waiting;
    bool writing;
    struct rt_wait_queue for_reading;
    struct rt_wait_queue for_writing;
    struct rt_wait_queue_entry reading[READERS];
    struct rt_wait_queue_entry writing_entries[WRITERS];
};

struct user {
    struct rt_task task;
    struct sim_world *world;
    struct rwlock *lock;
    struct rt_sleep sleep;
    bool counted; /* Among the writers that wait. */
    uint32_t turn;
    uint32_t at;
};

static rt_poll
rwlock_read(struct rwlock *lock, struct rt_cx *cx)
{
    if (lock->writing || lock->writers_waiting > 0) {
        SIM_ALWAYS(rt_wait_queue_store(&lock->for_reading, cx, "the lock, to read") == RT_OK);
        return RT_PENDING;
    }
    (void)rt_wait_queue_leave(&lock->for_reading, cx);
    lock->readers++;
    return RT_READY;
}

static rt_poll
rwlock_write(struct rwlock *lock, bool *counted, struct rt_cx *cx)
{
    if (!*counted) {
        *counted = true;
        lock->writers_waiting++;
    }
    if (lock->writing || lock->readers > 0) {
        SIM_ALWAYS(rt_wait_queue_store(&lock->for_writing, cx, "the lock, to write") == RT_OK);
        return RT_PENDING;
    }
    (void)rt_wait_queue_leave(&lock->for_writing, cx);
    *counted = false;
    lock->writers_waiting--;
    lock->writing = true;
    return RT_READY;
}

static void
rwlock_pass_on(struct rwlock *lock)
{
    if (lock->writers_waiting > 0) {
        rt_wait_queue_wake(&lock->for_writing, 1);
    } else {
        rt_wait_queue_wake(&lock->for_reading, UINT32_MAX);
    }
}

static rt_poll
reader_poll(struct rt_task *task, struct rt_cx *cx)
{
    struct user *user = rt_container_of(task, struct user, task);
    RT_BEGIN(user->at);
    for (user->turn = 0; user->turn < TURNS; user->turn++) {
        RT_AWAIT_HERE(user->at, rwlock_read(user->lock, cx));
        rt_sleep_init(&user->sleep, sim_range(user->world, 0, RT_MS));
        RT_AWAIT_HERE(user->at, rt_sleep_poll(&user->sleep, cx));
        SIM_ALWAYS(!user->lock->writing);
        if (--user->lock->readers == 0) {
            rwlock_pass_on(user->lock);
        }
    }
    RT_END(user->at);
}

static rt_poll
writer_poll(struct rt_task *task, struct rt_cx *cx)
{
    struct user *user = rt_container_of(task, struct user, task);
    RT_BEGIN(user->at);
    for (user->turn = 0; user->turn < TURNS; user->turn++) {
        RT_AWAIT_HERE(user->at, rwlock_write(user->lock, &user->counted, cx));
        rt_sleep_init(&user->sleep, sim_range(user->world, 0, RT_MS));
        RT_AWAIT_HERE(user->at, rt_sleep_poll(&user->sleep, cx));
        SIM_ALWAYS(user->lock->readers == 0);
        user->lock->writing = false;
        rwlock_pass_on(user->lock);
    }
    RT_END(user->at);
}

static void
spawn_user(struct sim_world *world, struct sim_rt *rt, struct rwlock *lock, rt_poll_fn poll,
        const char *name)
{
    struct user *user = sim_new(world, struct user);
    user->world = world;
    user->lock = lock;
    rt_task_init(&user->task, poll, NULL, name);
    sim_spawn(rt, &user->task);
}

static void
setup(struct sim_world *world)
{
    struct sim_rt *rt = sim_rt_new(world, NULL);
    struct rwlock *lock = sim_new(world, struct rwlock);
    rt_wait_queue_init(&lock->for_reading, lock->reading, READERS);
    rt_wait_queue_init(&lock->for_writing, lock->writing_entries, WRITERS);
    spawn_user(world, rt, lock, reader_poll, "reader 1");
    spawn_user(world, rt, lock, writer_poll, "writer 1");
    spawn_user(world, rt, lock, reader_poll, "reader 2");
    spawn_user(world, rt, lock, writer_poll, "writer 2");
    spawn_user(world, rt, lock, reader_poll, "reader 3");
}

SIM_SCENARIO(correct_rwlock, .name = "correct/rwlock",
        .about = "Readers and writers, writers first.", .setup = setup);
