/*
 * shard_test.c -- tasks and their shard: access, wakes by name, and the shutdown.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "runtime/tests/shard/house.h"

/* Stores a local waker and a remote one at each poll, and sleeps; counts where. */
struct waiter {
    struct rt_task task;
    struct house *house;
    struct rt_slot slot;
    struct rt_waker local;
    struct rt_waker remote;
    uint32_t shard;
    uint32_t polls;
    uint32_t cleanups;
    uint32_t cleaned_on;
    bool keeps_local;
    bool ends;
};

static rt_poll
waiter_poll(struct rt_task *task, struct rt_cx *cx)
{
    struct waiter *waiter = rt_container_of(task, struct waiter, task);
    EXPECT_EQ(waiter->house->current, waiter->shard);
    waiter->polls++;
    if (waiter->ends) {
        return RT_READY;
    }
    if (waiter->keeps_local && rt_waker_is_null(&waiter->local)) {
        waiter->local = rt_waker_clone(rt_cx_waker(cx));
    }
    struct rt_shard *shard = house_shard(waiter->house, waiter->shard);
    waiter->remote = rt_remote_wait(shard, &waiter->slot, cx, "a wake from another thread");
    return RT_PENDING;
}

static void
waiter_cleanup(struct rt_task *task)
{
    struct waiter *waiter = rt_container_of(task, struct waiter, task);
    waiter->cleanups++;
    waiter->cleaned_on = waiter->house->current;
    rt_waker_drop(&waiter->local);
}

static void
waiter_start(struct waiter *waiter, struct house *house, uint32_t shard)
{
    memset(waiter, 0, sizeof(*waiter));
    waiter->house = house;
    waiter->shard = shard;
    waiter->local = RT_WAKER_NULL;
    rt_slot_init(&waiter->slot);
    rt_task_init(&waiter->task, waiter_poll, waiter_cleanup, "waiter");
    house->current = shard;
    EXPECT_EQ(rt_post(&house->units[shard].dumb.runtime.executor, &waiter->task), RT_OK);
    (void)house_turn(house, shard);
    EXPECT_EQ(waiter->polls, 1);
}

/* Goal: only its shard ends a task. Method: cancel and post it from another shard, which are
 * faults; ask for its end by name, which happens there. Holds X1. */
TEST(shard_task_is_ended_on_its_shard_only)
{
    struct house house;
    struct waiter waiter;
    struct rt_task stranger;
    house_init(&house);
    waiter_start(&waiter, &house, 1);
    struct rt_remote name = rt_remote_of(house_shard(&house, 1), &waiter.task);
    house.current = 0;
    EXPECT_FAULT(RT_E_FOREIGN, rt_task_cancel(&waiter.task));
    EXPECT_EQ(waiter.cleanups, 0);
    rt_task_init(&stranger, waiter_poll, NULL, "stranger");
    EXPECT_FAULT(RT_E_FOREIGN,
            (void)(rt_post(&house.units[1].dumb.runtime.executor, &stranger) == RT_OK));
    rt_remote_cancel(&name);
    EXPECT_EQ(waiter.cleanups, 0);
    house_turns(&house, 1);
    EXPECT_EQ(waiter.cleanups, 1);
    EXPECT_EQ(waiter.cleaned_on, 1);
    house_close(&house);
    house_fini(&house);
}

/* Goal: a waker of one shard that is used on another is named at that use. Holds W4. */
TEST(shard_local_waker_used_on_another_shard_is_a_fault)
{
    struct house house;
    struct waiter waiter;
    house_init(&house);
    house.current = 1;
    waiter_start(&waiter, &house, 1);
    waiter.keeps_local = true;
    rt_waker_wake_by_ref(&waiter.remote);
    (void)house_turn(&house, 1);
    house.current = 0;
    EXPECT_FAULT(RT_E_FOREIGN, rt_waker_wake_by_ref(&waiter.local));
    EXPECT_FAULT(RT_E_FOREIGN, (void)rt_waker_clone(&waiter.local));
    EXPECT_FAULT(RT_E_FOREIGN, rt_task_wake(&waiter.task));
    house.current = 1;
    rt_waker_wake_by_ref(&waiter.local);
    (void)house_turn(&house, 1);
    EXPECT_EQ(waiter.polls, 3);
    house_close(&house);
    house_fini(&house);
}

static void
wakes_come(struct dumb_host *host)
{
    struct waiter *waiter = host->argument;
    waiter->house->current = 0;
    for (uint32_t i = 0; i < 3; i++) {
        struct rt_waker waker = rt_waker_clone(&waiter->remote);
        rt_waker_wake(&waker);
    }
    waiter->house->current = waiter->shard;
}

/* Goal: a wake from another thread ends the sleep of the shard, and many are one. Holds X4. */
TEST(shard_wakes_from_other_threads_are_one_message)
{
    struct house house;
    struct waiter waiter;
    house_init(&house);
    waiter_start(&waiter, &house, 1);
    struct dumb_host *host = &house.units[1].dumb.host;
    host->blocked = wakes_come;
    host->argument = &waiter;
    (void)house_turn_in(&house, 1, RT_TURN_BLOCK);
    EXPECT_EQ(host->notifies, 1);
    (void)house_turn(&house, 1);
    EXPECT_EQ(waiter.polls, 2);
    EXPECT_EQ(house.units[1].dumb.runtime.executor.counters.coalesced, 0);
    house_close(&house);
    house_fini(&house);
}

/* Goal: a wake or a cancel that comes too late does nothing, also when another task has the entry
 * by then. Method: two lives of one entry; ask for the old one before and after the young one was
 * asked for. Holds X6. */
TEST(shard_late_wake_for_a_dead_task_is_dropped)
{
    struct house house;
    struct waiter old;
    struct waiter young;
    house_init(&house);
    waiter_start(&old, &house, 1);
    struct rt_remote old_name = rt_remote_of(house_shard(&house, 1), &old.task);
    rt_task_cancel(&old.task);
    waiter_start(&young, &house, 1);
    struct rt_remote young_name = rt_remote_of(house_shard(&house, 1), &young.task);
    EXPECT_EQ(old_name.key.index, young_name.key.index);
    house.current = 0;
    rt_remote_wake(&old_name);
    rt_remote_cancel(&old_name);
    house_turns(&house, 1);
    EXPECT_EQ(young.polls, 1);
    EXPECT_EQ(young.cleanups, 0);
    rt_remote_wake(&young_name);
    rt_remote_cancel(&old_name);
    house_turns(&house, 1);
    EXPECT_EQ(young.polls, 2);
    EXPECT_EQ(young.cleanups, 0);
    rt_remote_cancel(&old_name);
    rt_remote_wake(&young_name);
    house_turns(&house, 1);
    EXPECT_EQ(young.polls, 3);
    EXPECT_EQ(young.cleanups, 0);
    house_close(&house);
    EXPECT_EQ(young.cleanups, 1);
    house_fini(&house);
}

/* Goal: a shutdown loses nothing. Method: close with messages queued, in the lane, in hand
 * and from an alien; each returns once, to its origin; afterwards all sends are refused. Tasks
 * that are left are ended, each on its shard. Holds X7, X1. */
TEST(shard_closing_brings_every_message_home)
{
    enum { COUNT = 24 };
    struct house house;
    struct letter letters[COUNT];
    struct letter alien;
    struct waiter waiter;
    uint32_t arrivals = 0;
    uint32_t answers = 0;
    house_init(&house);
    waiter_start(&waiter, &house, 2);
    for (uint32_t i = 0; i < COUNT; i++) {
        letter_init(&letters[i], &house, &arrivals, &answers);
        letters[i].kept = i == 0;
        letter_send(&letters[i], i % 2, 2);
    }
    house_turns(&house, 1);
    EXPECT(letters[0].arrived_at != 0);
    letter_init(&alien, &house, &arrivals, &answers);
    EXPECT_EQ(rt_alien_submit(&alien.message, house_shard(&house, 1)), RT_OK);
    rt_shards_close(&house.shards);
    house_turns(&house, 20);
    EXPECT_EQ(answers, COUNT); /* All but the one in hand, and the alien's. */
    EXPECT_EQ(waiter.cleanups, 0);
    house.current = 2;
    rt_message_answer(&letters[0].message, house_shard(&house, 2), RT_E_CANCELLED);
    house_close(&house);
    EXPECT_EQ(answers, COUNT + 1);
    EXPECT_EQ(letters[0].message.result, RT_E_CANCELLED);
    for (uint32_t i = 0; i < COUNT; i++) {
        EXPECT_EQ(letters[i].answered_on, i % 2);
        EXPECT(rt_message_is_idle(&letters[i].message));
    }
    EXPECT_EQ(waiter.cleanups, 1);
    EXPECT_EQ(waiter.cleaned_on, 2);
    house.current = 0;
    EXPECT_EQ(rt_message_send(&letters[0].message, house_shard(&house, 0), 1), RT_E_CLOSED);
    EXPECT_EQ(rt_alien_submit(&alien.message, house_shard(&house, 0)), RT_E_CLOSED);
    house_fini(&house);
}

/* Goal: a shard is not turned from inside itself, nor from another thread. Holds X1. */
static void
turn_inside(struct house *house, uint32_t number)
{
    bool over = false;
    house->between = NULL;
    EXPECT_EQ(rt_shard_turn(house_shard(house, number), RT_TURN_POLL, &over), RT_E_REENTERED);
}

TEST(shard_turn_from_inside_or_another_thread_is_refused)
{
    struct house house;
    struct letter letter;
    uint32_t count = 0;
    bool over = false;
    house_init(&house);
    letter_init(&letter, &house, &count, &count);
    letter_send(&letter, 0, 1);
    house.between = turn_inside;
    (void)house_turn(&house, 0);
    EXPECT(house.between == NULL);
    house.current = 0;
    EXPECT_FAULT(RT_E_FOREIGN,
            (void)(rt_shard_turn(house_shard(&house, 1), RT_TURN_POLL, &over) == RT_OK));
    EXPECT_FAULT(RT_E_FOREIGN,
            (void)(rt_message_send(&letter.message, house_shard(&house, 1), 0) == RT_OK));
    house_close(&house);
    house_fini(&house);
}
