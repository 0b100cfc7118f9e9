/*
 * runtime_sleep_test.c -- when the host is asked, when it may block, and until when.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "runtime/tests/player.h"

/* ---- Wakes and sleep. ------------------------------------------------------------------------ */

/* Holds B1, D4: root wakes itself and nothing else could; a loop that blocked now would hang. */
TEST(runtime_self_wake_of_root_is_not_lost)
{
    struct dumb_runtime dumb;
    struct player root;
    dumb_init(&dumb);
    dumb.host.blocked = player_must_not_block;
    player_init(&root, &dumb, "root", "w.w.w.!");
    EXPECT_EQ(rt_block_on(&dumb.runtime, &root.task), RT_OK);
    EXPECT_STR(dumb.log, "root root root root");
    /* With an empty list there is no host call either. */
    EXPECT_EQ(dumb.host.polls, 0);
    EXPECT_EQ(dumb.runtime.executor.counters.sleeps, 0);
    player_finish(&dumb);
}

/*
 * Holds B1, P3: two halves of one task, a channel between them. The sending half
 * wakes the receiving one during the task's own poll, while the list for the host
 * is empty (WSTD 69): the task is polled again.
 */
struct halves {
    struct rt_task task;
    struct dumb_runtime *dumb;
    struct rt_slot receiver;
    bool sent;
    bool received;
};

static rt_poll
halves_poll(struct rt_task *task, struct rt_cx *cx)
{
    struct halves *halves = rt_container_of(task, struct halves, task);
    dumb_log(halves->dumb, "poll");
    if (!halves->received) {
        halves->received = halves->sent;
        if (!halves->received) {
            rt_slot_replace(&halves->receiver, cx, "an item");
        }
    }
    if (!halves->sent) {
        halves->sent = true;
        EXPECT(rt_slot_wake(&halves->receiver));
    }
    return halves->received ? RT_READY : RT_PENDING;
}

TEST(runtime_wake_between_halves_of_one_task_is_not_lost)
{
    struct dumb_runtime dumb;
    struct halves halves = {.dumb = &dumb};
    dumb_init(&dumb);
    dumb.host.blocked = player_must_not_block;
    rt_task_init(&halves.task, halves_poll, NULL, "halves");
    rt_slot_init(&halves.receiver);
    EXPECT_EQ(rt_block_on(&dumb.runtime, &halves.task), RT_OK);
    EXPECT_STR(dumb.log, "poll poll");
    EXPECT_EQ(dumb.host.polls, 0);
    player_finish(&dumb);
}

/* Holds B1: another task's wake of root, in the same round, after root's own poll. */
TEST(runtime_wake_of_root_by_another_task_is_seen_before_blocking)
{
    struct dumb_runtime dumb;
    struct player root;
    struct player a;
    dumb_init(&dumb);
    dumb.host.blocked = player_must_not_block;
    player_init(&root, &dumb, "root", "r+.!");
    player_init(&a, &dumb, "a", "o!");
    root.other = &a;
    a.other = &root;
    EXPECT_EQ(rt_block_on(&dumb.runtime, &root.task), RT_OK);
    EXPECT_STR(dumb.log, "root a root");
    player_finish(&dumb);
}

/* Holds B6: what other tasks do, and what the host reports to them, polls no root. */
TEST(runtime_root_is_polled_only_when_woken)
{
    struct dumb_runtime dumb;
    struct player root;
    struct player a;
    dumb_init(&dumb);
    dumb.host.blocked = player_next_source;
    player_start(&a, &dumb, "a", "w.w.012!");
    player_init(&root, &dumb, "root", "3!");
    EXPECT_EQ(rt_block_on(&dumb.runtime, &root.task), RT_OK);
    EXPECT_STR(dumb.log, "a root a a a a a root");
    EXPECT_EQ(root.task.polls, 2);
    player_finish(&dumb);
}

/*
 * Holds B2, D11: a task that never stops waking itself; the host is polled
 * after at most event_interval polls, and the other one gets its event.
 */
TEST(runtime_task_that_wakes_itself_does_not_starve_the_host)
{
    struct dumb_runtime dumb;
    struct player spinner;
    struct player root;
    dumb_init(&dumb);
    dumb.runtime.event_interval = 5;
    dumb.host.blocked = player_must_not_block;
    player_start(&spinner, &dumb, "s", "w.e*");
    player_init(&root, &dumb, "root", "0!");
    EXPECT_EQ(rt_block_on(&dumb.runtime, &root.task), RT_OK);
    EXPECT_STR(dumb.log, "s root s s s s root");
    EXPECT_EQ(dumb.host.polls, 1);
    player_finish(&dumb);
}

/* Holds B2: nor the timers. */
TEST(runtime_task_that_wakes_itself_does_not_starve_the_timers)
{
    struct dumb_runtime dumb;
    struct player spinner;
    struct player root;
    dumb_init(&dumb);
    dumb.runtime.event_interval = 4;
    dumb.host.blocked = player_must_not_block;
    player_start(&spinner, &dumb, "s", "w.c*");
    player_init(&root, &dumb, "root", "t!");
    EXPECT_EQ(rt_block_on(&dumb.runtime, &root.task), RT_OK);
    EXPECT_STR(dumb.log, "s root s s s root");
    player_finish(&dumb);
}

/* Holds D11: without a number it is 61. */
TEST(runtime_host_is_polled_every_61_polls)
{
    struct dumb_runtime dumb;
    struct player spinner;
    struct player root;
    dumb_init(&dumb);
    dumb.host.blocked = player_must_not_block;
    player_start(&spinner, &dumb, "s", "w.e*");
    player_init(&root, &dumb, "root", "0!");
    EXPECT_EQ(rt_block_on(&dumb.runtime, &root.task), RT_OK);
    EXPECT_EQ(spinner.task.polls, 61);
    player_finish(&dumb);
}

/* The clock reaches the deadline in the first sleep; there must be no second one. */
static void
sleep_once(struct dumb_host *host)
{
    ck_assert_msg(host->blocks == 1, "the host was asked to block after a timer was due");
    host->now_ns = 100;
}

/* Holds D4, E8: a timer is fired, its task is woken, and another one waits forever: no block. */
TEST(runtime_does_not_block_after_a_timer_was_fired)
{
    struct dumb_runtime dumb;
    struct player root;
    struct player patient;
    dumb_init(&dumb);
    dumb.host.blocked = sleep_once;
    player_start(&patient, &dumb, "patient", "9!");
    player_init(&root, &dumb, "root", "t!");
    EXPECT_EQ(rt_block_on(&dumb.runtime, &root.task), RT_OK);
    EXPECT_STR(dumb.log, "patient root root");
    EXPECT_EQ(dumb.runtime.executor.counters.sleeps, 1);
    player_finish(&dumb);
}

static void
note_wake(struct spy *spy, char what)
{
    struct dumb_runtime *dumb = spy->argument;
    if (what == 'w') {
        EXPECT_EQ(rt_runtime_turn(&dumb->runtime, RT_TURN_POLL, NULL), RT_E_REENTERED);
        EXPECT_EQ(rt_run_to_completion(&dumb->runtime), RT_E_REENTERED);
    }
}

struct napper {
    struct rt_task task;
    struct rt_timer timer;
    struct spy *spy;
};

static rt_poll
napper_poll(struct rt_task *task, struct rt_cx *cx)
{
    struct napper *napper = rt_container_of(task, struct napper, task);
    struct rt_cx child = rt_cx_for_child(cx, spy_waker(napper->spy));
    rt_slot_replace(&napper->timer.slot, &child, "nap");
    rt_timer_start(&cx->runtime->timers, &napper->timer, 100);
    return RT_PENDING;
}

/*
 * Holds D4, E8: a timer whose waker is from outside was fired, and no task of this
 * executor is woken by it: the turn reports that before the host blocks.
 */
TEST(runtime_turn_that_fired_something_does_not_block)
{
    struct dumb_runtime dumb;
    struct player patient;
    struct spy spy = {.hook = note_wake, .argument = &dumb};
    struct napper napper = {.spy = &spy};
    dumb_init(&dumb);
    player_start(&patient, &dumb, "patient", "9!");
    rt_task_init(&napper.task, napper_poll, NULL, "napper");
    rt_timer_init(&napper.timer);
    EXPECT_EQ(rt_post(&dumb.runtime.executor, &napper.task), RT_OK);
    dumb_run(&dumb);
    EXPECT_EQ(rt_runtime_next_deadline(&dumb.runtime), 100);
    EXPECT(!rt_runtime_turn_useful(&dumb.runtime));
    dumb.host.now_ns = 100;
    dumb.host.blocked = player_must_not_block;
    EXPECT(rt_runtime_turn_useful(&dumb.runtime));
    uint32_t woken = 77;
    EXPECT_EQ(rt_runtime_turn(&dumb.runtime, RT_TURN_BLOCK, &woken), RT_OK);
    EXPECT_EQ(woken, 1);
    EXPECT_EQ(spy.wakes, 1);
    EXPECT_EQ(dumb.runtime.executor.woken, 0);
    EXPECT_EQ(dumb.runtime.executor.counters.sleeps, 0);
    EXPECT_EQ(rt_runtime_next_deadline(&dumb.runtime), RT_NEVER);
    player_finish(&dumb);
    EXPECT(spy_balanced(&spy));
}

/* Holds D4, E8: a turn by hand that is to block while a task is woken does not. */
TEST(runtime_turn_does_not_block_while_a_task_is_woken)
{
    struct dumb_runtime dumb;
    struct player a;
    struct player b;
    dumb_init(&dumb);
    player_start(&a, &dumb, "a", "0!");
    dumb_run(&dumb);
    player_start(&b, &dumb, "b", "!");
    dumb.host.blocked = player_must_not_block;
    uint32_t woken = 77;
    EXPECT_EQ(rt_runtime_turn(&dumb.runtime, RT_TURN_BLOCK, &woken), RT_OK);
    EXPECT_EQ(woken, 0);
    EXPECT(!rt_runtime_turn_useful(&dumb.runtime));
    dumb.host.ready[0] = true;
    EXPECT(rt_runtime_turn_useful(&dumb.runtime));
    EXPECT_EQ(rt_runtime_turn(&dumb.runtime, RT_TURN_POLL, &woken), RT_OK);
    EXPECT_EQ(woken, 1);
    EXPECT(!rt_runtime_turn_useful(&dumb.runtime));
    player_finish(&dumb);
}

/* Holds P6: a host that reports one entry at a time, the last one first, only takes longer. */
TEST(runtime_completes_on_a_host_that_reports_little)
{
    struct dumb_runtime dumb;
    struct player players[4];
    static const char *const scripts[] = {"0!", "t1!", "2t!", "t3t!"};
    dumb_init(&dumb);
    dumb.host.at_most = 1;
    dumb.host.backwards = true;
    for (uint32_t i = 0; i < 4; i++) {
        player_start(&players[i], &dumb, scripts[i], scripts[i]);
        dumb.host.ready[i] = true;
    }
    EXPECT_EQ(rt_run_to_completion(&dumb.runtime), RT_OK);
    player_finish(&dumb);
}

/* ---- The deadline as a pollable. ------------------------------------------------------------- */

/* Holds M12, E8: the list holds the earliest deadline, and only that one is ever subscribed. */
TEST(runtime_sleeps_until_the_earliest_deadline)
{
    struct dumb_runtime dumb;
    struct player a;
    struct player b;
    dumb_init(&dumb);
    player_start(&a, &dumb, "a", "tt!");
    player_start(&b, &dumb, "b", "ct!");
    EXPECT_EQ(rt_run_to_completion(&dumb.runtime), RT_OK);
    /* a sleeps until 100 and 200 or later, b until 200: two deadlines, each subscribed once. */
    EXPECT_STR(dumb.log, "a b a b a");
    EXPECT_EQ(dumb.host.now_ns, 200);
    EXPECT_EQ(dumb.host.subscribes, 1);
    player_finish(&dumb);
}

/* Holds M12, E8: a deadline that did not change is not subscribed again; the last is dropped. */
TEST(runtime_deadline_is_subscribed_again_only_when_it_changed)
{
    struct dumb_runtime dumb;
    struct player waiter;
    struct player reader;
    dumb_init(&dumb);
    dumb.host.blocked = player_next_source;
    player_start(&waiter, &dumb, "waiter", "t!");
    player_start(&reader, &dumb, "reader", "0123!");
    for (uint32_t i = 0; i < 3; i++) {
        dumb_run(&dumb);
        EXPECT_EQ(rt_runtime_turn(&dumb.runtime, RT_TURN_BLOCK, NULL), RT_OK);
        EXPECT_EQ(dumb_listed_kind(&dumb.host, DUMB_INSTANT), 1);
        EXPECT_EQ(dumb.host.entries[dumb.runtime.deadline.handle].instant_ns, 100);
    }
    /* Three sources and one deadline. */
    EXPECT_EQ(dumb.host.subscribes, 4);
    dumb_run(&dumb);
    rt_task_cancel(&waiter.task);
    EXPECT_EQ(rt_runtime_turn(&dumb.runtime, RT_TURN_BLOCK, NULL), RT_OK);
    EXPECT_EQ(dumb_listed_kind(&dumb.host, DUMB_INSTANT), 0);
    EXPECT_EQ(dumb.host.alive, 1);
    player_finish(&dumb);
}

/* Holds M12: an earlier deadline replaces a later one before the next sleep. */
TEST(runtime_earlier_deadline_replaces_the_later_one)
{
    struct dumb_runtime dumb;
    struct player a;
    struct player b;
    dumb_init(&dumb);
    player_start(&a, &dumb, "a", "0t!");
    player_start(&b, &dumb, "b", "t!");
    dumb.host.ready[0] = true;
    dumb.host.now_ns = 50;
    EXPECT(rt_run_one(&dumb.runtime.executor));
    EXPECT_EQ(rt_runtime_next_deadline(&dumb.runtime), 150);
    EXPECT(rt_run_one(&dumb.runtime.executor));
    rt_timer_start(&dumb.runtime.timers, &b.timer, 70);
    EXPECT_EQ(rt_runtime_turn(&dumb.runtime, RT_TURN_BLOCK, NULL), RT_OK);
    EXPECT_EQ(dumb.host.now_ns, 70);
    EXPECT_EQ(rt_runtime_turn(&dumb.runtime, RT_TURN_BLOCK, NULL), RT_OK);
    EXPECT_EQ(b.task.state, RT_TASK_WOKEN);
    EXPECT_EQ(a.task.state, RT_TASK_SLEEPING);
    player_finish(&dumb);
}

TEST(runtime_that_cannot_subscribe_its_deadline_reports_it)
{
    struct dumb_runtime dumb;
    struct player root;
    dumb_init(&dumb);
    dumb.host.capacity = 0;
    player_init(&root, &dumb, "root", "t!");
    EXPECT_EQ(rt_block_on(&dumb.runtime, &root.task), RT_E_FULL);
    EXPECT(rt_task_posted(&root.task));
    dumb.host.capacity = 1;
    EXPECT_EQ(rt_run_to_completion(&dumb.runtime), RT_OK);
    EXPECT_EQ(root.task.end, RT_TASK_DONE);
    player_finish(&dumb);
}

/* Holds M11: the timers begin where the host's clock is. */
TEST(runtime_timers_start_at_the_clock_of_the_host)
{
    struct dumb_runtime dumb;
    dumb_init(&dumb);
    dumb.host.now_ns = 12345;
    struct rt_runtime_config config = dumb_config(&dumb);
    rt_runtime_init(&dumb.runtime, &config);
    EXPECT_EQ(dumb.runtime.timers.elapsed, 12345);
    config.timers.start_ns = 99;
    rt_runtime_init(&dumb.runtime, &config);
    EXPECT_EQ(dumb.runtime.timers.elapsed, 99);
    player_finish(&dumb);
}
