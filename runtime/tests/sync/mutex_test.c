/*
 * mutex_test.c -- mutex and oneshot: one right, one value.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "runtime/sync/mutex.h"

#include "runtime/sync/oneshot.h"
#include "runtime/tests/sync/crowd.h"

struct rig {
    struct crowd crowd;
    struct rt_mutex mutex;
    struct rt_lock locks[CROWD];
    struct rt_oneshot oneshot;
    struct rt_oneshot_wait wait;
    int value;
};

static void
rig_init(struct rig *rig)
{
    crowd_init(&rig->crowd);
    rt_mutex_init(&rig->mutex);
    rt_oneshot_init(&rig->oneshot);
    rt_oneshot_wait_init(&rig->wait, &rig->oneshot);
}

static rt_poll
again(struct rig *rig, int i)
{
    return rt_lock_poll(&rig->locks[i], crowd_cx(&rig->crowd, i));
}

static rt_poll
lock(struct rig *rig, int i)
{
    rt_lock_init(&rig->locks[i], &rig->mutex);
    return again(rig, i);
}

/* Holds K11. */
TEST(mutex_unlock_hands_it_to_the_first_in_line)
{
    struct rig rig;
    rig_init(&rig);
    EXPECT_EQ(lock(&rig, 0), RT_READY);
    EXPECT_EQ(lock(&rig, 1), RT_PENDING);
    EXPECT_EQ(lock(&rig, 2), RT_PENDING);
    EXPECT_EQ(again(&rig, 2), RT_PENDING);
    rt_mutex_unlock(&rig.mutex);
    EXPECT(rt_mutex_locked(&rig.mutex));
    EXPECT(!rt_mutex_try_lock(&rig.mutex));
    EXPECT_EQ(lock(&rig, 3), RT_PENDING); /* No task gets in between. */
    EXPECT_STR(crowd_woken(&rig.crowd), "b");
    EXPECT_EQ(again(&rig, 1), RT_READY);
    rt_mutex_unlock(&rig.mutex);
    EXPECT_STR(crowd_woken(&rig.crowd), "c");
    EXPECT_EQ(again(&rig, 2), RT_READY);
    rt_mutex_unlock(&rig.mutex);
    EXPECT_EQ(again(&rig, 3), RT_READY);
    rt_mutex_unlock(&rig.mutex);
    EXPECT(rt_mutex_try_lock(&rig.mutex));
    EXPECT(!rt_mutex_try_lock(&rig.mutex));
    rt_mutex_unlock(&rig.mutex);
    rt_mutex_fini(&rig.mutex);
}

/* Holds K11, K6. */
TEST(mutex_handed_to_a_dropped_waiter_is_handed_on)
{
    struct rig rig;
    rig_init(&rig);
    EXPECT_EQ(lock(&rig, 0), RT_READY);
    EXPECT_EQ(lock(&rig, 1), RT_PENDING);
    EXPECT_EQ(lock(&rig, 2), RT_PENDING);
    rt_mutex_unlock(&rig.mutex);
    rt_lock_drop(&rig.locks[1]);
    EXPECT_STR(crowd_woken(&rig.crowd), "b c");
    rt_lock_drop(&rig.locks[2]);
    EXPECT(!rt_mutex_locked(&rig.mutex));
}

/* Holds K11: misuse is named. */
TEST(mutex_unlocked_while_unlocked_is_a_fault)
{
    struct rig rig;
    rig_init(&rig);
    EXPECT_FAULT(RT_E_INVALID, rt_mutex_unlock(&rig.mutex));
    EXPECT_EQ(lock(&rig, 0), RT_READY);
    EXPECT_EQ(lock(&rig, 1), RT_PENDING);
    rt_mutex_unlock(&rig.mutex);
    EXPECT_FAULT(RT_E_INVALID, rt_mutex_unlock(&rig.mutex)); /* b was handed it, has not got it. */
    EXPECT_FAULT(RT_E_IN_USE, rt_mutex_fini(&rig.mutex));
}

/* ---- Oneshot. -------------------------------------------------------------------------------- */

static rt_poll
poll_wait(struct rig *rig, int i)
{
    return rt_oneshot_poll(&rig->wait, crowd_cx(&rig->crowd, i));
}

/* Holds K12. */
TEST(oneshot_value_reaches_the_receiver_before_and_after_its_poll)
{
    struct rig rig;
    rig_init(&rig);
    EXPECT_EQ(poll_wait(&rig, 0), RT_PENDING);
    EXPECT_EQ(poll_wait(&rig, 1), RT_PENDING); /* Moved: b must be woken. */
    EXPECT_EQ(rt_oneshot_send(&rig.oneshot, &rig.value), RT_OK);
    EXPECT_STR(crowd_woken(&rig.crowd), "b");
    EXPECT_EQ(poll_wait(&rig, 1), RT_READY);
    EXPECT_EQ(rig.wait.err, RT_OK);
    EXPECT(rig.wait.value == &rig.value);
    EXPECT_FAULT(RT_E_FINISHED, (void)poll_wait(&rig, 1));
    EXPECT(rt_oneshot_fini(&rig.oneshot) == NULL);

    rt_oneshot_init(&rig.oneshot);
    EXPECT_EQ(rt_oneshot_send(&rig.oneshot, &rig.value), RT_OK);
    rt_oneshot_drop_sender(&rig.oneshot); /* After its send: nothing. */
    rt_oneshot_wait_init(&rig.wait, &rig.oneshot);
    EXPECT_EQ(poll_wait(&rig, 0), RT_READY);
    EXPECT_EQ(rig.wait.err, RT_OK);
    rt_oneshot_wait_init(&rig.wait, &rig.oneshot);
    EXPECT_EQ(poll_wait(&rig, 0), RT_READY);
    EXPECT_EQ(rig.wait.err, RT_E_TAKEN);
    EXPECT_FAULT(RT_E_INVALID, (void)!rt_oneshot_send(&rig.oneshot, &rig.value));
}

/* Holds K12. */
TEST(oneshot_sender_gone_cancels_the_receiver)
{
    struct rig rig;
    rig_init(&rig);
    EXPECT_EQ(poll_wait(&rig, 0), RT_PENDING);
    rt_oneshot_drop_sender(&rig.oneshot);
    rt_oneshot_drop_sender(&rig.oneshot);
    EXPECT_STR(crowd_woken(&rig.crowd), "a");
    EXPECT_EQ(poll_wait(&rig, 0), RT_READY);
    EXPECT_EQ(rig.wait.err, RT_E_CANCELLED);
}

/* Holds K12: a value, early or late, is given back to its owner to destroy. */
TEST(oneshot_receiver_gone_discards_the_send)
{
    struct rig rig;
    rig_init(&rig);
    EXPECT_EQ(poll_wait(&rig, 0), RT_PENDING);
    EXPECT_FAULT(RT_E_IN_USE, (void)rt_oneshot_drop_receiver(&rig.oneshot));
    rt_oneshot_wait_drop(&rig.wait);
    EXPECT(rt_oneshot_drop_receiver(&rig.oneshot) == NULL);
    EXPECT_EQ(rt_oneshot_send(&rig.oneshot, &rig.value), RT_E_CLOSED);
    EXPECT_STR(crowd_woken(&rig.crowd), "");
    EXPECT(rt_oneshot_fini(&rig.oneshot) == NULL);

    rt_oneshot_init(&rig.oneshot);
    EXPECT_EQ(rt_oneshot_send(&rig.oneshot, &rig.value), RT_OK);
    EXPECT(rt_oneshot_drop_receiver(&rig.oneshot) == &rig.value);
    EXPECT(rt_oneshot_drop_receiver(&rig.oneshot) == NULL);
}

/* Holds K12, K6: a wait that was woken and dropped has lost nothing; a late drop is harmless. */
TEST(oneshot_wait_that_leaves_keeps_the_value_for_the_next)
{
    struct rig rig;
    struct rt_oneshot_wait other;
    rig_init(&rig);
    EXPECT_EQ(poll_wait(&rig, 0), RT_PENDING);
    rt_oneshot_wait_init(&other, &rig.oneshot);
    EXPECT_EQ(rt_oneshot_poll(&other, crowd_cx(&rig.crowd, 1)), RT_PENDING);
    rt_oneshot_wait_drop(&rig.wait); /* It was replaced: b still waits. */
    EXPECT_EQ(rt_oneshot_send(&rig.oneshot, &rig.value), RT_OK);
    EXPECT_STR(crowd_woken(&rig.crowd), "b");
    rt_oneshot_wait_drop(&other);
    rt_oneshot_wait_init(&rig.wait, &rig.oneshot);
    EXPECT_EQ(poll_wait(&rig, 2), RT_READY);
    EXPECT(rig.wait.value == &rig.value);
}
