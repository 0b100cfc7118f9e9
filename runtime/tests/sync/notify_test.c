/*
 * notify_test.c -- notify and broadcast: which waiters are woken, and what is stored.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "runtime/sync/notify.h"

#include "runtime/sync/broadcast.h"
#include "runtime/tests/sync/crowd.h"

struct rig {
    struct crowd crowd;
    struct rt_notify notify;
    struct rt_notified waits[CROWD];
    struct rt_broadcast broadcast;
    struct rt_heard heards[CROWD];
};

static void
rig_init(struct rig *rig)
{
    crowd_init(&rig->crowd);
    rt_notify_init(&rig->notify);
    rt_broadcast_init(&rig->broadcast);
}

static rt_poll
again(struct rig *rig, int i)
{
    return rt_notified_poll(&rig->waits[i], crowd_cx(&rig->crowd, i));
}

static rt_poll
wait(struct rig *rig, int i)
{
    rt_notified_init(&rig->waits[i], &rig->notify);
    return again(rig, i);
}

/* Holds K8. */
TEST(notify_one_without_waiters_stores_one_permit_and_no_more)
{
    struct rig rig;
    rig_init(&rig);
    rt_notify_one(&rig.notify);
    rt_notify_one(&rig.notify);
    EXPECT(rt_notify_stored(&rig.notify));
    EXPECT_EQ(wait(&rig, 0), RT_READY);
    EXPECT(!rt_notify_stored(&rig.notify));
    EXPECT_EQ(wait(&rig, 1), RT_PENDING);
    rt_notified_drop(&rig.waits[1]);
    rt_notify_fini(&rig.notify);
}

/* Holds K8. */
TEST(notify_one_wakes_the_first_and_stores_nothing)
{
    struct rig rig;
    rig_init(&rig);
    EXPECT_EQ(wait(&rig, 0), RT_PENDING);
    EXPECT_EQ(wait(&rig, 1), RT_PENDING);
    rt_notify_one(&rig.notify);
    EXPECT_STR(crowd_woken(&rig.crowd), "a");
    EXPECT(!rt_notify_stored(&rig.notify));
    EXPECT_EQ(again(&rig, 1), RT_PENDING);
    EXPECT_EQ(again(&rig, 0), RT_READY);
}

/* Holds K8: each notify has a separate waiter, also when the first was not polled yet. */
TEST(notify_one_twice_wakes_two)
{
    struct rig rig;
    rig_init(&rig);
    EXPECT_EQ(wait(&rig, 0), RT_PENDING);
    EXPECT_EQ(wait(&rig, 1), RT_PENDING);
    rt_notify_one(&rig.notify);
    rt_notify_one(&rig.notify);
    EXPECT_STR(crowd_woken(&rig.crowd), "a b");
}

/* Holds K8. */
TEST(notify_all_wakes_current_waiters_and_stores_nothing)
{
    struct rig rig;
    rig_init(&rig);
    EXPECT_EQ(rt_notify_all(&rig.notify), 0);
    EXPECT(!rt_notify_stored(&rig.notify));
    for (int i = 0; i < 3; i++) {
        EXPECT_EQ(wait(&rig, i), RT_PENDING);
    }
    EXPECT_EQ(rt_notify_all(&rig.notify), 3);
    EXPECT_STR(crowd_woken(&rig.crowd), "a b c");
    EXPECT_EQ(wait(&rig, 3), RT_PENDING);
    for (int i = 0; i < 3; i++) {
        EXPECT_EQ(again(&rig, i), RT_READY);
    }
    EXPECT_EQ(again(&rig, 3), RT_PENDING);
}

/* Holds K6, K8: chosen and dropped, the notification is passed on, and at last stored. */
TEST(notify_one_whose_waiter_leaves_goes_to_the_next)
{
    struct rig rig;
    rig_init(&rig);
    EXPECT_EQ(wait(&rig, 0), RT_PENDING);
    EXPECT_EQ(wait(&rig, 1), RT_PENDING);
    rt_notify_one(&rig.notify);
    rt_notified_drop(&rig.waits[0]);
    EXPECT_STR(crowd_woken(&rig.crowd), "a b");
    rt_notified_drop(&rig.waits[1]);
    EXPECT(rt_notify_stored(&rig.notify));
}

/* Holds K6, K8: two that are passed on into the store are one. */
TEST(notify_two_passed_on_are_one_in_store)
{
    struct rig rig;
    rig_init(&rig);
    EXPECT_EQ(wait(&rig, 0), RT_PENDING);
    EXPECT_EQ(wait(&rig, 1), RT_PENDING);
    rt_notify_one(&rig.notify);
    rt_notify_one(&rig.notify);
    rt_notified_drop(&rig.waits[0]);
    rt_notified_drop(&rig.waits[1]);
    EXPECT_EQ(wait(&rig, 2), RT_READY);
    EXPECT_EQ(wait(&rig, 3), RT_PENDING);
}

/*
 * Holds K8.
 * The steps of tokio-rs/tokio#3652: a waits; all are notified; one is notified, and the permit is
 * stored; a is dropped. The permit must still be there.
 */
TEST(notify_all_and_a_drop_leave_a_stored_permit_alone)
{
    struct rig rig;
    rig_init(&rig);
    EXPECT_EQ(wait(&rig, 0), RT_PENDING);
    EXPECT_EQ(rt_notify_all(&rig.notify), 1);
    rt_notify_one(&rig.notify);
    EXPECT(rt_notify_stored(&rig.notify));
    rt_notified_drop(&rig.waits[0]);
    EXPECT(rt_notify_stored(&rig.notify));
    EXPECT_EQ(wait(&rig, 1), RT_READY);
}

/* Holds K8, K6: a waiter that was woken by all and leaves has nothing to pass on. */
TEST(notify_all_whose_waiter_leaves_stores_nothing)
{
    struct rig rig;
    rig_init(&rig);
    EXPECT_EQ(wait(&rig, 0), RT_PENDING);
    EXPECT_EQ(rt_notify_all(&rig.notify), 1);
    rt_notified_drop(&rig.waits[0]);
    EXPECT(!rt_notify_stored(&rig.notify));
}

/* ---- Broadcast. ------------------------------------------------------------------------------ */

static rt_poll
hear_again(struct rig *rig, int i)
{
    return rt_heard_poll(&rig->heards[i], crowd_cx(&rig->crowd, i));
}

static rt_poll
hear(struct rig *rig, int i)
{
    rt_heard_init(&rig->heards[i], &rig->broadcast);
    return hear_again(rig, i);
}

/* Holds K9. */
TEST(broadcast_resolves_current_waiters_and_no_later_one)
{
    struct rig rig;
    rig_init(&rig);
    EXPECT_EQ(rt_broadcast_fire(&rig.broadcast), 0);
    for (int i = 0; i < 3; i++) {
        EXPECT_EQ(hear(&rig, i), RT_PENDING);
    }
    rt_heard_drop(&rig.heards[1]);
    EXPECT_EQ(rt_broadcast_fire(&rig.broadcast), 2);
    EXPECT_STR(crowd_woken(&rig.crowd), "a c");
    EXPECT_EQ(hear_again(&rig, 0), RT_READY);
    EXPECT_EQ(hear(&rig, 0), RT_PENDING);
    EXPECT_EQ(hear_again(&rig, 2), RT_READY);
    EXPECT_FAULT(RT_E_IN_USE, rt_broadcast_fini(&rig.broadcast));
}

/* Holds K9, W11: whose task stores another waker just then was there when all were woken. */
TEST(broadcast_and_notify_all_reach_a_wait_that_moves_to_another_waker)
{
    struct rig rig;
    rig_init(&rig);
    EXPECT_EQ(hear(&rig, 0), RT_PENDING);
    EXPECT_EQ(hear(&rig, 1), RT_PENDING);
    EXPECT_EQ(wait(&rig, 0), RT_PENDING);
    crowd_end(&rig.crowd, 0);
    EXPECT_EQ(rt_broadcast_fire(&rig.broadcast), 1);
    (void)rt_notify_all(&rig.notify);
    EXPECT_EQ(rt_heard_poll(&rig.heards[0], crowd_cx(&rig.crowd, 2)), RT_READY);
    EXPECT_EQ(rt_notified_poll(&rig.waits[0], crowd_cx(&rig.crowd, 2)), RT_READY);
    EXPECT_EQ(hear(&rig, 2), RT_PENDING);
    EXPECT_EQ(hear_again(&rig, 1), RT_READY);
}

/* Holds K9: a waiter that was made but never polled does not wait yet. */
TEST(broadcast_misses_a_wait_that_was_not_polled)
{
    struct rig rig;
    rig_init(&rig);
    rt_heard_init(&rig.heards[0], &rig.broadcast);
    EXPECT_EQ(rt_broadcast_fire(&rig.broadcast), 0);
    EXPECT_EQ(hear_again(&rig, 0), RT_PENDING);
    EXPECT_EQ(rt_broadcast_fire(&rig.broadcast), 1);
    EXPECT_EQ(hear_again(&rig, 0), RT_READY);
}

static uint32_t
last_of(void *argument, uint32_t n)
{
    *(uint32_t *)argument += 1;
    return n - 1;
}

/* Holds K9: the order of the wakes is the executor's to choose. */
TEST(broadcast_wakes_in_the_order_that_is_chosen)
{
    struct rig rig;
    rig_init(&rig);
    uint32_t asked = 0;
    rig.crowd.bed.executor.choose = last_of;
    rig.crowd.bed.executor.choose_argument = &asked;
    for (int i = 0; i < 4; i++) {
        EXPECT_EQ(hear(&rig, i), RT_PENDING);
    }
    EXPECT_EQ(rt_broadcast_fire(&rig.broadcast), 4);
    EXPECT_STR(crowd_woken(&rig.crowd), "d c b a");
    EXPECT_EQ(asked, 3); /* The last one is no choice. */
}
