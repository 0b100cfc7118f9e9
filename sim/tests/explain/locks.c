/*
 * locks.c -- broken programs in which something is held, or one condition is decided wrongly.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "sim/tests/explain/explain_lab.h"

#include "sim/core/world.h"
#include "sim/rewake.h"

#line 1 "hand/locks.c"

/* ---- Locks of the program's own, reported by the three calls of bind/foreign.h. -------------- */

struct own_lock {
    bool taken;
    struct sim_loop *waiter;
};

struct own_locks {
    struct own_lock a;
    struct own_lock b;
    struct sim_loop *loops[2];
};

static void
own_lock_take(struct own_lock *lock, struct sim_loop *self)
{
    sim_loop_pause(sim_world_current);
    while (lock->taken) {
        sim_wanted(lock);
        lock->waiter = self;
        sim_loop_block(sim_world_current, 0, "a lock", RT_HERE);
    }
    lock->taken = true;
    sim_granted(lock, NULL);
}

static void
own_lock_release(struct own_lock *lock)
{
    lock->taken = false;
    sim_released(lock);
    if (lock->waiter != NULL) {
        sim_loop_wake(lock->waiter);
        lock->waiter = NULL;
    }
}

static void
forwards_main(struct sim_world *world, void *argument)
{
    struct own_locks *locks = argument;
    (void)world;
    own_lock_take(&locks->a, locks->loops[0]);
    own_lock_take(&locks->b, locks->loops[0]);
    own_lock_release(&locks->b);
    own_lock_release(&locks->a);
}

static void
backwards_main(struct sim_world *world, void *argument)
{
    struct own_locks *locks = argument;
    (void)world;
    own_lock_take(&locks->b, locks->loops[1]);
    own_lock_take(&locks->a, locks->loops[1]);
    own_lock_release(&locks->a);
    own_lock_release(&locks->b);
}

static void
crossed_setup(struct sim_world *world)
{
    struct own_locks *locks = sim_new(world, struct own_locks);
    sim_foreign_name(&locks->a, "lock a");
    sim_foreign_name(&locks->b, "lock b");
    locks->loops[0] = sim_loop_new(world, "forwards", forwards_main, locks);
    locks->loops[1] = sim_loop_new(world, "backwards", backwards_main, locks);
}

const struct sim_scenario explain_crossed = {.name = "explain/crossed", .setup = crossed_setup};

/* ---- A mutex of the runtime. ----------------------------------------------------------------- */

struct user {
    struct rt_task task;
    struct rt_mutex *mutex;
    struct rt_lock lock;
    struct rt_sleep works;
    bool keeps;
    uint32_t at;
};

static rt_poll
user_poll(struct rt_task *task, struct rt_cx *cx)
{
    struct user *user = rt_container_of(task, struct user, task);
    RT_BEGIN(user->at);
    rt_lock_init(&user->lock, user->mutex);
    RT_AWAIT_HERE(user->at, rt_lock_poll(&user->lock, cx));
    rt_sleep_init(&user->works, RT_MS);
    RT_AWAIT_HERE(user->at, rt_sleep_poll(&user->works, cx));
    if (!user->keeps) {
        rt_mutex_unlock(user->mutex);
    }
    RT_END(user->at);
}

static void
kept_setup(struct sim_world *world)
{
    struct sim_rt *rt = sim_rt_new(world, NULL);
    struct rt_mutex *mutex = sim_new(world, struct rt_mutex);
    static const char *const names[] = {"ann", "bob"};
    rt_mutex_init(mutex);
    for (uint32_t i = 0; i < 2; i++) {
        struct user *user = sim_new(world, struct user);
        user->mutex = mutex;
        user->keeps = i == 0;
        rt_task_init(&user->task, user_poll, NULL, names[i]);
        sim_spawn(rt, &user->task);
    }
}

const struct sim_scenario explain_kept = {.name = "explain/kept", .setup = kept_setup};

/* ---- A message that no handler answers. ------------------------------------------------------ */

struct question {
    struct rt_task task;
    struct sim_shard_group *group;
    struct rt_submit submit;
    bool asked;
};

static void
mislay(struct rt_message *message, struct rt_shard *shard)
{
    (void)message;
    (void)shard;
}

static rt_poll
question_poll(struct rt_task *task, struct rt_cx *cx)
{
    struct question *question = rt_container_of(task, struct question, task);
    if (!question->asked) {
        question->asked = true;
        rt_submit_to(&question->submit, sim_shard_group_shard(question->group, 0), 1, mislay);
    }
    return rt_future_poll(&question->submit.future, cx);
}

static void
mislaid_setup(struct sim_world *world)
{
    struct question *question = sim_new(world, struct question);
    question->group = sim_shard_group_new(world, &(struct sim_shard_group_options){.count = 2});
    rt_task_init(&question->task, question_poll, NULL, "asker");
    sim_spawn(sim_shard_group_rt(question->group, 0), &question->task);
}

const struct sim_scenario explain_mislaid = {.name = "explain/mislaid", .setup = mislaid_setup};

/* ---- A condition that is decided before what it is about is written. ------------------------- */

struct bounded {
    uint32_t length;
    bool blocked;
    bool space;
    struct sim_loop *producer;
};

static void
bounded_producer(struct sim_world *world, void *argument)
{
    struct bounded *queue = argument;
    bool full = queue->length > 0;
    sim_loop_pause(world);
    if (full) {
        queue->blocked = true;
        while (!queue->space) {
            sim_loop_block(world, 0, "space", RT_HERE);
        }
    }
    queue->length++;
}

static void
bounded_consumer(struct sim_world *world, void *argument)
{
    struct bounded *queue = argument;
    sim_loop_pause(world);
    queue->length--;
    if (queue->blocked) {
        queue->space = true;
        sim_loop_wake(queue->producer);
    }
}

static void
bounded_setup(struct sim_world *world)
{
    struct bounded *queue = sim_new(world, struct bounded);
    queue->length = 1;
    queue->producer = sim_loop_new(world, "producer", bounded_producer, queue);
    (void)sim_loop_new(world, "consumer", bounded_consumer, queue);
}

const struct sim_scenario explain_bounded = {.name = "explain/bounded", .setup = bounded_setup};
