/*
 * reactor_waker_test.c -- wakers that re-enter the reactor during a turn (W7).
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <string.h>

#include "runtime/tests/io/turn.h"

/* A waker from outside, through which `self` waits. */
struct intruder {
    struct spy spy;
    struct dumb_runtime *dumb;
    struct reader *self;
    struct reader *victim;
    rt_err nested;
};

static struct intruder *
intruder_of(struct spy *spy)
{
    return rt_container_of(spy, struct intruder, spy);
}

static void
intruder_init(struct intruder *intruder, struct reader *self, struct reader *victim,
        void (*hook)(struct spy *spy, char what))
{
    memset(intruder, 0, sizeof(*intruder));
    intruder->spy.hook = hook;
    intruder->dumb = self->dumb;
    intruder->self = self;
    intruder->victim = victim;
    self->spy = &intruder->spy;
}

/* Readers of the sources 0 to 3, named so, which all wait; the intruder is number 1. */
struct crowd {
    struct dumb_runtime dumb;
    struct reader readers[4];
    struct intruder intruder;
};

static void
crowd_init(struct crowd *crowd, uint32_t victim, void (*hook)(struct spy *spy, char what))
{
    static const char *const names[] = {"0", "1", "2", "3"};
    dumb_init(&crowd->dumb);
    for (uint32_t i = 0; i < 4; i++) {
        reader_start(&crowd->readers[i], &crowd->dumb, names[i], i, 1);
    }
    intruder_init(&crowd->intruder, &crowd->readers[1], &crowd->readers[victim], hook);
    dumb_run(&crowd->dumb);
    for (uint32_t i = 0; i < 4; i++) {
        crowd->dumb.host.ready[i] = true;
    }
}

static void
crowd_fini(struct crowd *crowd)
{
    finish(&crowd->dumb);
    EXPECT_EQ(crowd->intruder.spy.wakes, 1);
    EXPECT(spy_balanced(&crowd->intruder.spy));
}

static void
cancel_victim(struct spy *spy, char what)
{
    if (what == 'w') {
        rt_task_wake(&intruder_of(spy)->self->task);
        rt_wait_cancel(&intruder_of(spy)->victim->wait);
        rt_reactor_audit(&intruder_of(spy)->dumb->runtime.reactor);
    }
}

/*
 * Holds R9, R8: the wake of 1 cancels a wait that was reported in the same
 * batch: of 0, which was woken before it; its own; of its neighbour; of the last.
 */
TEST(reactor_wait_cancelled_by_a_wake_of_its_batch_is_skipped)
{
    static const char *const expected[] = {"0 1 2 3", "0 1 2 3", "0 1 3", "0 1 2"};
    for (uint32_t victim = 0; victim < 4; victim++) {
        struct crowd crowd;
        crowd_init(&crowd, victim, cancel_victim);
        EXPECT_EQ(turn(&crowd.dumb, RT_TURN_BLOCK), victim < 2 ? 4 : 3);
        EXPECT_EQ(rt_reactor_waiting(&crowd.dumb.runtime.reactor), 3);
        EXPECT_STR(run(&crowd.dumb), expected[victim]);
        crowd_fini(&crowd);
    }
}

static void
cancel_all(struct spy *spy, char what)
{
    if (what == 'w') {
        rt_terminate(&intruder_of(spy)->dumb->runtime.executor);
    }
}

/* Holds R8, R9: nothing is left when the turn continues. */
TEST(reactor_wake_may_cancel_all_waits)
{
    struct crowd crowd;
    crowd_init(&crowd, 0, cancel_all);
    EXPECT_EQ(turn(&crowd.dumb, RT_TURN_BLOCK), 2);
    EXPECT_EQ(rt_reactor_waiting(&crowd.dumb.runtime.reactor), 0);
    crowd_fini(&crowd);
}

/* Sources are empty again before any poll; the victim is polled, and so waits again. */
static void
poll_victim_in_vain(struct spy *spy, char what)
{
    if (what == 'w') {
        struct intruder *intruder = intruder_of(spy);
        memset(intruder->dumb->host.ready, 0, sizeof(intruder->dumb->host.ready));
        rt_wait_cancel(&intruder->victim->wait);
        rt_task_wake(&intruder->victim->task);
        EXPECT(rt_run_index(
                &intruder->dumb->runtime.executor, intruder->victim->task.target.key.index));
    }
}

/*
 * Holds R8: a wait registered during the wakes is for a later turn, also when its
 * pollable was reported in this one, and wherever it was before: its own, before
 * the cursor, after it.
 */
TEST(reactor_wait_registered_by_a_wake_is_not_woken_by_its_turn)
{
    for (uint32_t victim = 0; victim < 4; victim++) {
        struct crowd crowd;
        crowd_init(&crowd, victim, poll_victim_in_vain);
        /* 0 has been woken already; any other cancelled wait is not to be woken. */
        EXPECT_EQ(turn(&crowd.dumb, RT_TURN_BLOCK), victim < 2 ? 4 : 3);
        EXPECT_EQ(rt_reactor_waiting(&crowd.dumb.runtime.reactor), 4);
        crowd.dumb.host.ready[victim] = true;
        crowd.readers[1].spy = NULL;
        if (victim == 1) {
            crowd.intruder.spy.hook = NULL;
        }
        EXPECT_EQ(turn(&crowd.dumb, RT_TURN_POLL), 1);
        EXPECT_EQ(dumb_listed(&crowd.dumb.host, victim), 1);
        rt_wait_cancel(&crowd.readers[1].wait);
        finish(&crowd.dumb);
        EXPECT(spy_balanced(&crowd.intruder.spy));
    }
}

/* The victim, which shares the pollable of 1, waits for the first time. */
static void
post_victim(struct spy *spy, char what)
{
    if (what == 'w') {
        struct intruder *intruder = intruder_of(spy);
        intruder->dumb->host.ready[1] = false;
        EXPECT_EQ(rt_post(&intruder->dumb->runtime.executor, &intruder->victim->task), RT_OK);
        EXPECT(rt_run_one(&intruder->dumb->runtime.executor));
    }
}

/* Holds R8, R2: a new wait on a pollable whose waits are being woken. */
TEST(reactor_new_wait_on_a_reported_pollable_waits_for_the_next_report)
{
    struct dumb_runtime dumb;
    struct reader a;
    struct reader b;
    struct intruder intruder;
    dumb_init(&dumb);
    reader_start(&a, &dumb, "a", 1, 1);
    reader_init(&b, &dumb, "b", 1, 1);
    b.shared = &a.pollable;
    intruder_init(&intruder, &a, &b, post_victim);
    dumb_run(&dumb);
    dumb.host.ready[1] = true;
    EXPECT_EQ(turn(&dumb, RT_TURN_BLOCK), 1);
    EXPECT_EQ(intruder.spy.wakes, 1);
    EXPECT_EQ(rt_reactor_waiting(&dumb.runtime.reactor), 2);
    EXPECT_EQ(dumb.runtime.reactor.poller.slab.used, 1);
    dumb.host.ready[1] = true;
    EXPECT_EQ(turn(&dumb, RT_TURN_BLOCK), 1);
    EXPECT_STR(run(&dumb), "b");
    finish(&dumb);
}

static void
turn_again(struct spy *spy, char what)
{
    if (what == 'w') {
        struct intruder *intruder = intruder_of(spy);
        uint32_t woken = 0;
        intruder->nested =
                rt_reactor_turn(&intruder->dumb->runtime.reactor, RT_TURN_POLL, NULL, 0, &woken);
        rt_task_wake(&intruder->self->task);
    }
}

TEST(reactor_turn_inside_a_turn_is_refused)
{
    struct crowd crowd;
    crowd_init(&crowd, 0, turn_again);
    EXPECT_EQ(turn(&crowd.dumb, RT_TURN_BLOCK), 4);
    EXPECT_EQ(crowd.intruder.nested, RT_E_REENTERED);
    EXPECT_EQ(crowd.dumb.host.polls, 1);
    crowd_fini(&crowd);
}

/* While the host blocks, waits in its list are cancelled; one is registered again. */
static void
change_while_blocked(struct dumb_host *host)
{
    struct crowd *crowd = host->argument;
    rt_wait_cancel(&crowd->readers[0].wait);
    rt_wait_cancel(&crowd->readers[2].wait);
    rt_task_wake(&crowd->readers[2].task);
    EXPECT(rt_run_one(&crowd->dumb.runtime.executor));
    for (uint32_t i = 0; i < 4; i++) {
        host->ready[i] = true;
    }
}

/* Holds R9: the answer names what is gone (0), and what came back under another key (2). */
TEST(reactor_wait_that_changed_while_the_host_blocked_is_skipped)
{
    struct crowd crowd;
    crowd_init(&crowd, 0, turn_again);
    memset(crowd.dumb.host.ready, 0, sizeof(crowd.dumb.host.ready));
    crowd.dumb.host.blocked = change_while_blocked;
    crowd.dumb.host.argument = &crowd;
    EXPECT_EQ(turn(&crowd.dumb, RT_TURN_BLOCK), 2);
    EXPECT_STR(run(&crowd.dumb), "1 3");
    EXPECT_EQ(turn(&crowd.dumb, RT_TURN_POLL), 1);
    EXPECT_STR(run(&crowd.dumb), "2");
    crowd_fini(&crowd);
}
