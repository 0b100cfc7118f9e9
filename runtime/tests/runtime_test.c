/*
 * runtime_test.c -- the loops: what is polled, when the host is asked, and when it may block.
 *
 * Tasks here do what a script says, one letter at a time, up to the next answer:
 *
 *      answers   .  PENDING      !  READY       p  PARKED
 *      w  wake itself            o  wake the other task     +  post the other
 *      m  give the other another waker
 *      r  store in its slot      x  cancel the other        n  run the loop from inside
 *      0..9  wait for that source, and go on when it was ready
 *      t  sleep 100 ns           k  clone its waker and keep it
 *      e  source 0 has an event  c  the clock moves on by 100 ns
 *      *  from here on, "w." for ever
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "runtime/runtime.h"

#include <string.h>

#include "runtime/tests/io/dumb_host.h"

struct player {
    struct rt_task task;
    struct dumb_runtime *dumb;
    const char *script; /* What is left of it. */
    struct player *other;
    struct rt_pollable pollable;
    struct rt_wait wait;
    struct rt_slot slot;
    struct rt_timer timer;
    struct rt_waker kept;
    uint64_t deadline_ns; /* 0: no sleep is going on. */
    rt_err nested;        /* What 'n' was answered. */
};

static void
player_do(struct player *player, struct rt_cx *cx, char what)
{
    switch (what) {
    case 'w':
        rt_cx_reenqueue(cx);
        return;
    case 'o':
        rt_task_wake(&player->other->task);
        return;
    case '+':
        EXPECT_EQ(rt_post(cx->executor, &player->other->task), RT_OK);
        return;
    case 'e':
        player->dumb->host.ready[0] = true;
        return;
    case 'c':
        player->dumb->host.now_ns += 100;
        return;
    case 'k':
        player->kept = rt_waker_clone(rt_cx_waker(cx));
        return;
    case 'r':
        rt_slot_replace(&player->slot, cx, "its slot");
        return;
    case 'x':
        rt_task_cancel(&player->other->task);
        return;
    case 'm':
        EXPECT_EQ(rt_task_migrate(&player->other->task), RT_OK);
        return;
    case 'n':
        player->nested = rt_block_on(cx->runtime, &player->other->task);
        EXPECT_EQ(rt_run_to_completion(cx->runtime), RT_E_REENTERED);
        EXPECT_EQ(rt_runtime_turn(cx->runtime, RT_TURN_POLL, NULL), RT_E_REENTERED);
        return;
    default:
        ck_abort_msg("no such letter in a script: '%c'", what);
    }
}

/* Waits for source `source`, and takes it. */
static rt_poll
player_wait(struct player *player, struct rt_cx *cx, uint32_t source)
{
    if (player->pollable.host == NULL) {
        dumb_subscribe(&player->dumb->host, source, &player->pollable);
    }
    RT_AWAIT(rt_wait_for(&player->wait, &player->pollable, cx));
    player->dumb->host.ready[source] = false;
    rt_pollable_drop(&player->pollable);
    return RT_READY;
}

static rt_poll
player_sleep(struct player *player, struct rt_cx *cx)
{
    if (player->deadline_ns == 0) {
        player->deadline_ns = rt_cx_now(cx) + 100;
        rt_slot_replace(&player->timer.slot, cx, "sleep");
        rt_timer_start(&cx->runtime->timers, &player->timer, player->deadline_ns);
        return RT_PENDING;
    }
    if (rt_cx_now(cx) < player->deadline_ns) {
        rt_slot_replace(&player->timer.slot, cx, "sleep");
        return RT_PENDING;
    }
    player->deadline_ns = 0;
    return RT_READY;
}

static rt_poll
player_poll(struct rt_task *task, struct rt_cx *cx)
{
    struct player *player = rt_container_of(task, struct player, task);
    dumb_log(player->dumb, task->name);
    for (;; player->script++) {
        char what = *player->script;
        ck_assert_msg(what != '\0', "%s was polled past the end of its script", task->name);
        if (what == '!') {
            return RT_READY;
        }
        if (what == '.' || what == 'p') {
            player->script++;
            return what == '.' ? RT_PENDING : rt_cx_park(cx);
        }
        if (what == '*') {
            rt_cx_reenqueue(cx);
            return RT_PENDING;
        }
        if (what == 't') {
            RT_AWAIT(player_sleep(player, cx));
        } else if (what >= '0' && what <= '9') {
            RT_AWAIT(player_wait(player, cx, (uint32_t)(what - '0')));
        } else {
            player_do(player, cx, what);
        }
    }
}

static void
player_cleanup(struct rt_task *task)
{
    struct player *player = rt_container_of(task, struct player, task);
    rt_wait_cancel(&player->wait);
    rt_pollable_drop(&player->pollable);
    (void)rt_timer_cancel(&player->dumb->runtime.timers, &player->timer);
    rt_waker_drop(&player->kept);
}

static void
player_init(struct player *player, struct dumb_runtime *dumb, const char *name, const char *script)
{
    memset(player, 0, sizeof(*player));
    rt_task_init(&player->task, player_poll, player_cleanup, name);
    rt_wait_init(&player->wait);
    rt_slot_init(&player->slot);
    rt_timer_init(&player->timer);
    player->dumb = dumb;
    player->script = script;
}

static void
player_start(struct player *player, struct dumb_runtime *dumb, const char *name, const char *script)
{
    player_init(player, dumb, name, script);
    EXPECT_EQ(rt_post(&dumb->runtime.executor, &player->task), RT_OK);
}

static void
finish(struct dumb_runtime *dumb)
{
    rt_executor_audit(&dumb->runtime.executor);
    rt_reactor_audit(&dumb->runtime.reactor);
    rt_timers_audit(&dumb->runtime.timers);
    rt_terminate(&dumb->runtime.executor);
    dumb_fini(dumb);
}

static void
must_not_block(struct dumb_host *host)
{
    (void)host;
    ck_abort_msg("the host was asked to block");
}

/* Each time the host blocks, the next source becomes ready: 0, 1, 2 … */
static void
next_source(struct dumb_host *host)
{
    host->ready[host->blocks - 1] = true;
}

/* ---- The end of a loop. ---------------------------------------------------------------------- */

/*
 * The tutorial: root waits for two sources in turn. The host is asked to block
 * once for each, and root is polled once at the beginning and once for each wake.
 */
TEST(runtime_block_on_waits_for_what_its_root_waits_for)
{
    struct dumb_runtime dumb;
    struct player root;
    dumb_init(&dumb);
    dumb.host.blocked = next_source;
    player_init(&root, &dumb, "root", "01!");
    EXPECT_EQ(rt_block_on(&dumb.runtime, &root.task), RT_OK);
    EXPECT_EQ(root.task.end, RT_TASK_DONE);
    EXPECT_STR(dumb.log, "root root root");
    EXPECT_EQ(dumb.runtime.executor.counters.sleeps, 2);
    EXPECT_EQ(dumb.host.blocks, 2);
    EXPECT_EQ(dumb.host.polls, 2);
    finish(&dumb);
}

/* Holds B5: the others stay posted, woken or asleep, and a later loop goes on with them. */
TEST(runtime_block_on_returns_at_root_ready_and_leaves_the_others)
{
    struct dumb_runtime dumb;
    struct player a;
    struct player b;
    struct player root;
    dumb_init(&dumb);
    dumb.host.blocked = must_not_block;
    player_start(&a, &dumb, "a", "r.!");
    player_init(&root, &dumb, "root", "+!");
    player_init(&b, &dumb, "b", "!");
    root.other = &b;
    EXPECT_EQ(rt_block_on(&dumb.runtime, &root.task), RT_OK);
    EXPECT_STR(dumb.log, "a root");
    EXPECT_EQ(dumb.runtime.executor.posted, 2);
    EXPECT_EQ(b.task.state, RT_TASK_WOKEN);
    rt_slot_wake(&a.slot);
    EXPECT_EQ(rt_run_to_completion(&dumb.runtime), RT_OK);
    EXPECT_STR(dumb.log, "a root b a");
    finish(&dumb);
}

/* Holds B1, W11: a root that was given another waker has not ended; block_on waits on. */
TEST(runtime_block_on_waits_for_a_root_that_gets_another_waker)
{
    struct dumb_runtime dumb;
    struct player root;
    struct player mover;
    dumb_init(&dumb);
    dumb.host.blocked = next_source;
    player_init(&root, &dumb, "root", "1!");
    player_start(&mover, &dumb, "mover", "0m!");
    mover.other = &root;
    EXPECT_EQ(rt_block_on(&dumb.runtime, &root.task), RT_OK);
    EXPECT_EQ(root.task.end, RT_TASK_DONE);
    EXPECT_EQ(mover.task.end, RT_TASK_DONE);
    dumb_fini(&dumb);
}

static void
overwrite(struct rt_task *task)
{
    player_cleanup(task);
    memset(rt_container_of(task, struct player, task), 0x5a, sizeof(struct player));
}

/* Holds T10, B5: cleanup may give root's memory away; nobody looks at it again. */
TEST(runtime_block_on_does_not_touch_a_root_that_is_gone)
{
    struct dumb_runtime dumb;
    struct player root;
    dumb_init(&dumb);
    player_init(&root, &dumb, "root", "w.!");
    root.task.cleanup = overwrite;
    EXPECT_EQ(rt_block_on(&dumb.runtime, &root.task), RT_OK);
    EXPECT_STR(dumb.log, "root root");
    finish(&dumb);
}

static void
post_again(struct rt_task *task)
{
    struct player *player = rt_container_of(task, struct player, task);
    struct dumb_runtime *dumb = player->dumb;
    player_cleanup(task);
    player_start(player, dumb, "again", "r.!");
}

/* Holds T10, B5: a root that posts itself again in its cleanup is another life. */
TEST(runtime_block_on_ends_with_the_life_that_it_began)
{
    struct dumb_runtime dumb;
    struct player root;
    dumb_init(&dumb);
    player_init(&root, &dumb, "root", "!");
    root.task.cleanup = post_again;
    EXPECT_EQ(rt_block_on(&dumb.runtime, &root.task), RT_OK);
    EXPECT_STR(dumb.log, "root");
    EXPECT_EQ(dumb.runtime.executor.posted, 1);
    finish(&dumb);
}

TEST(runtime_block_on_ends_when_root_is_cancelled_or_parked)
{
    struct dumb_runtime dumb;
    struct player root;
    struct player a;
    dumb_init(&dumb);
    player_init(&root, &dumb, "root", "r.");
    player_start(&a, &dumb, "a", "w.x!");
    a.other = &root;
    EXPECT_EQ(rt_block_on(&dumb.runtime, &root.task), RT_OK);
    EXPECT_EQ(root.task.end, RT_TASK_CANCELLED);

    player_init(&root, &dumb, "root", "pr!");
    EXPECT_EQ(rt_block_on(&dumb.runtime, &root.task), RT_OK);
    EXPECT_EQ(root.task.end, RT_TASK_PARKED);
    EXPECT_EQ(rt_block_on(&dumb.runtime, &root.task), RT_OK);
    EXPECT_EQ(root.task.end, RT_TASK_DONE);
    finish(&dumb);
}

TEST(runtime_block_on_a_posted_root_is_refused)
{
    struct dumb_runtime dumb;
    struct player root;
    dumb_init(&dumb);
    player_start(&root, &dumb, "root", "!");
    EXPECT_EQ(rt_block_on(&dumb.runtime, &root.task), RT_E_POSTED);
    EXPECT_STR(dumb.log, "");
    EXPECT(!dumb.runtime.in_loop);
    EXPECT_EQ(rt_run_to_completion(&dumb.runtime), RT_OK);
    finish(&dumb);
}

/* Holds B4, D10: no loop and no turn inside a poll; the refused task is not posted. */
TEST(runtime_nested_block_on_is_refused)
{
    struct dumb_runtime dumb;
    struct player root;
    struct player inner;
    dumb_init(&dumb);
    player_init(&root, &dumb, "root", "nw.!");
    player_init(&inner, &dumb, "inner", "!");
    root.other = &inner;
    EXPECT_EQ(rt_block_on(&dumb.runtime, &root.task), RT_OK);
    EXPECT_EQ(root.nested, RT_E_REENTERED);
    EXPECT(!rt_task_posted(&inner.task));
    EXPECT_STR(dumb.log, "root root");
    /* Afterwards it is not nested any more. */
    EXPECT_EQ(rt_block_on(&dumb.runtime, &inner.task), RT_OK);
    finish(&dumb);
}

static void
loop_while_blocked(struct dumb_host *host)
{
    struct player *player = host->argument;
    EXPECT_EQ(rt_run_to_completion(&player->dumb->runtime), RT_E_REENTERED);
    EXPECT_EQ(rt_block_on(&player->dumb->runtime, &player->task), RT_E_REENTERED);
    EXPECT_EQ(rt_runtime_turn(&player->dumb->runtime, RT_TURN_BLOCK, NULL), RT_E_REENTERED);
    host->ready[0] = true;
}

/* Holds B4: nor while the loop sleeps. */
TEST(runtime_second_loop_during_a_sleep_is_refused)
{
    struct dumb_runtime dumb;
    struct player root;
    struct player other;
    dumb_init(&dumb);
    player_init(&root, &dumb, "root", "0!");
    player_init(&other, &dumb, "other", "!");
    dumb.host.blocked = loop_while_blocked;
    dumb.host.argument = &other;
    EXPECT_EQ(rt_block_on(&dumb.runtime, &root.task), RT_OK);
    EXPECT_EQ(dumb.host.blocks, 1);
    finish(&dumb);
}

/* Holds D3, D4: nothing is polled, nobody asked, also when background tasks are there. */
TEST(runtime_completion_without_foreground_tasks_is_at_once)
{
    struct dumb_runtime dumb;
    struct player background;
    dumb_init(&dumb);
    dumb.host.blocked = must_not_block;
    EXPECT_EQ(rt_run_to_completion(&dumb.runtime), RT_OK);
    player_init(&background, &dumb, "background", "*");
    background.task.background = true;
    EXPECT_EQ(rt_post(&dumb.runtime.executor, &background.task), RT_OK);
    EXPECT_EQ(rt_run_to_completion(&dumb.runtime), RT_OK);
    EXPECT_STR(dumb.log, "");
    EXPECT_EQ(dumb.host.polls, 0);
    finish(&dumb);
}

/* Holds D4, D5: all tasks but the background one are awaited, those posted on the way too. */
TEST(runtime_completion_waits_for_every_foreground_task)
{
    struct dumb_runtime dumb;
    struct player a;
    struct player b;
    struct player background;
    dumb_init(&dumb);
    dumb.host.blocked = next_source;
    player_start(&a, &dumb, "a", "0+!");
    player_init(&b, &dumb, "b", "1!");
    a.other = &b;
    player_init(&background, &dumb, "bg", "r.");
    background.task.background = true;
    EXPECT_EQ(rt_post(&dumb.runtime.executor, &background.task), RT_OK);
    EXPECT_EQ(rt_run_to_completion(&dumb.runtime), RT_OK);
    EXPECT_STR(dumb.log, "a bg a b b");
    EXPECT_EQ(dumb.host.blocks, 2);
    EXPECT_EQ(dumb.runtime.executor.posted, 1);
    finish(&dumb);
}

/* ---- Wakes and sleep. ------------------------------------------------------------------------ */

/* Holds B1, D4: root wakes itself and nothing else could; a loop that blocked now would hang. */
TEST(runtime_self_wake_of_root_is_not_lost)
{
    struct dumb_runtime dumb;
    struct player root;
    dumb_init(&dumb);
    dumb.host.blocked = must_not_block;
    player_init(&root, &dumb, "root", "w.w.w.!");
    EXPECT_EQ(rt_block_on(&dumb.runtime, &root.task), RT_OK);
    EXPECT_STR(dumb.log, "root root root root");
    /* With an empty list there is nobody to ask either. */
    EXPECT_EQ(dumb.host.polls, 0);
    EXPECT_EQ(dumb.runtime.executor.counters.sleeps, 0);
    finish(&dumb);
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
    dumb.host.blocked = must_not_block;
    rt_task_init(&halves.task, halves_poll, NULL, "halves");
    rt_slot_init(&halves.receiver);
    EXPECT_EQ(rt_block_on(&dumb.runtime, &halves.task), RT_OK);
    EXPECT_STR(dumb.log, "poll poll");
    EXPECT_EQ(dumb.host.polls, 0);
    finish(&dumb);
}

/* Holds B1: another task's wake of root, in the same round, behind root's own poll. */
TEST(runtime_wake_of_root_by_another_task_is_seen_before_blocking)
{
    struct dumb_runtime dumb;
    struct player root;
    struct player a;
    dumb_init(&dumb);
    dumb.host.blocked = must_not_block;
    player_init(&root, &dumb, "root", "r+.!");
    player_init(&a, &dumb, "a", "o!");
    root.other = &a;
    a.other = &root;
    EXPECT_EQ(rt_block_on(&dumb.runtime, &root.task), RT_OK);
    EXPECT_STR(dumb.log, "root a root");
    finish(&dumb);
}

/* Holds B6: what other tasks do, and what the host reports to them, polls no root. */
TEST(runtime_root_is_polled_only_when_woken)
{
    struct dumb_runtime dumb;
    struct player root;
    struct player a;
    dumb_init(&dumb);
    dumb.host.blocked = next_source;
    player_start(&a, &dumb, "a", "w.w.012!");
    player_init(&root, &dumb, "root", "3!");
    EXPECT_EQ(rt_block_on(&dumb.runtime, &root.task), RT_OK);
    EXPECT_STR(dumb.log, "a root a a a a a root");
    EXPECT_EQ(root.task.polls, 2);
    finish(&dumb);
}

/*
 * Holds B2, D11: a task that never stops waking itself; the host is looked at all
 * the same, after at most event_interval polls, and the other one gets its event.
 */
TEST(runtime_task_that_wakes_itself_does_not_starve_the_host)
{
    struct dumb_runtime dumb;
    struct player spinner;
    struct player root;
    dumb_init(&dumb);
    dumb.runtime.event_interval = 5;
    dumb.host.blocked = must_not_block;
    player_start(&spinner, &dumb, "s", "w.e*");
    player_init(&root, &dumb, "root", "0!");
    EXPECT_EQ(rt_block_on(&dumb.runtime, &root.task), RT_OK);
    EXPECT_STR(dumb.log, "s root s s s s root");
    EXPECT_EQ(dumb.host.polls, 1);
    finish(&dumb);
}

/* Holds B2: nor the timers. */
TEST(runtime_task_that_wakes_itself_does_not_starve_the_timers)
{
    struct dumb_runtime dumb;
    struct player spinner;
    struct player root;
    dumb_init(&dumb);
    dumb.runtime.event_interval = 4;
    dumb.host.blocked = must_not_block;
    player_start(&spinner, &dumb, "s", "w.c*");
    player_init(&root, &dumb, "root", "t!");
    EXPECT_EQ(rt_block_on(&dumb.runtime, &root.task), RT_OK);
    EXPECT_STR(dumb.log, "s root s s s root");
    finish(&dumb);
}

/* Holds D11: without a number it is 61. */
TEST(runtime_host_is_looked_at_every_61_polls)
{
    struct dumb_runtime dumb;
    struct player spinner;
    struct player root;
    dumb_init(&dumb);
    dumb.host.blocked = must_not_block;
    player_start(&spinner, &dumb, "s", "w.e*");
    player_init(&root, &dumb, "root", "0!");
    EXPECT_EQ(rt_block_on(&dumb.runtime, &root.task), RT_OK);
    EXPECT_EQ(spinner.task.polls, 61);
    finish(&dumb);
}

/* The clock reaches the deadline in the first sleep; there must be no second one. */
static void
sleep_once(struct dumb_host *host)
{
    ck_assert_msg(host->blocks == 1, "the host was asked to block after a timer was due");
    host->now_ns = 100;
}

/* Holds D4, E8: a timer is fired, its task is woken, and another one waits for ever: no block. */
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
    finish(&dumb);
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
 * executor is woken by it: who turns is told so before the host blocks.
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
    dumb.host.blocked = must_not_block;
    EXPECT(rt_runtime_turn_useful(&dumb.runtime));
    uint32_t woken = 77;
    EXPECT_EQ(rt_runtime_turn(&dumb.runtime, RT_TURN_BLOCK, &woken), RT_OK);
    EXPECT_EQ(woken, 1);
    EXPECT_EQ(spy.wakes, 1);
    EXPECT_EQ(dumb.runtime.executor.woken, 0);
    EXPECT_EQ(dumb.runtime.executor.counters.sleeps, 0);
    EXPECT_EQ(rt_runtime_next_deadline(&dumb.runtime), RT_NEVER);
    finish(&dumb);
    EXPECT(spy_balanced(&spy));
}

/* Holds D4, E8: a turn by hand that is to block while a task is woken looks instead. */
TEST(runtime_turn_does_not_block_while_a_task_is_woken)
{
    struct dumb_runtime dumb;
    struct player a;
    struct player b;
    dumb_init(&dumb);
    player_start(&a, &dumb, "a", "0!");
    dumb_run(&dumb);
    player_start(&b, &dumb, "b", "!");
    dumb.host.blocked = must_not_block;
    uint32_t woken = 77;
    EXPECT_EQ(rt_runtime_turn(&dumb.runtime, RT_TURN_BLOCK, &woken), RT_OK);
    EXPECT_EQ(woken, 0);
    EXPECT(!rt_runtime_turn_useful(&dumb.runtime));
    dumb.host.ready[0] = true;
    EXPECT(rt_runtime_turn_useful(&dumb.runtime));
    EXPECT_EQ(rt_runtime_turn(&dumb.runtime, RT_TURN_POLL, &woken), RT_OK);
    EXPECT_EQ(woken, 1);
    EXPECT(!rt_runtime_turn_useful(&dumb.runtime));
    finish(&dumb);
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
    finish(&dumb);
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
    finish(&dumb);
}

/* Holds M12, E8: a deadline that did not change is not subscribed again; the last is dropped. */
TEST(runtime_deadline_is_subscribed_anew_only_when_it_changed)
{
    struct dumb_runtime dumb;
    struct player sleeper;
    struct player reader;
    dumb_init(&dumb);
    dumb.host.blocked = next_source;
    player_start(&sleeper, &dumb, "sleeper", "t!");
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
    rt_task_cancel(&sleeper.task);
    EXPECT_EQ(rt_runtime_turn(&dumb.runtime, RT_TURN_BLOCK, NULL), RT_OK);
    EXPECT_EQ(dumb_listed_kind(&dumb.host, DUMB_INSTANT), 0);
    EXPECT_EQ(dumb.host.alive, 1);
    finish(&dumb);
}

/* Holds M12: an earlier deadline takes the place of a later one before the next sleep. */
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
    finish(&dumb);
}

TEST(runtime_that_can_not_subscribe_its_deadline_says_so)
{
    struct dumb_runtime dumb;
    struct player root;
    dumb_init(&dumb);
    dumb.host.room = 0;
    player_init(&root, &dumb, "root", "t!");
    EXPECT_EQ(rt_block_on(&dumb.runtime, &root.task), RT_E_FULL);
    EXPECT(rt_task_posted(&root.task));
    dumb.host.room = 1;
    EXPECT_EQ(rt_run_to_completion(&dumb.runtime), RT_OK);
    EXPECT_EQ(root.task.end, RT_TASK_DONE);
    finish(&dumb);
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
    finish(&dumb);
}

/* ---- Nothing left to wait for. --------------------------------------------------------------- */

/* Holds B3, D5: root stays posted, and can be gone on with when somebody wakes it after all. */
TEST(runtime_root_that_nobody_can_wake_is_a_deadlock)
{
    struct dumb_runtime dumb;
    struct player root;
    dumb_init(&dumb);
    dumb.host.blocked = must_not_block;
    player_init(&root, &dumb, "root", "r.!");
    EXPECT_EQ(rt_block_on(&dumb.runtime, &root.task), RT_E_DEADLOCK);
    EXPECT_EQ(root.task.state, RT_TASK_SLEEPING);
    EXPECT_EQ(dumb.host.polls, 0);
    EXPECT_EQ(dumb.runtime.executor.counters.sleeps, 0);
    EXPECT_EQ(rt_run_to_completion(&dumb.runtime), RT_E_DEADLOCK);
    rt_slot_wake(&root.slot);
    EXPECT_EQ(rt_run_to_completion(&dumb.runtime), RT_OK);
    EXPECT_STR(dumb.log, "root root");
    finish(&dumb);
}

/* Holds D5: background tasks that sleep keep nobody waiting, and are no help either. */
TEST(runtime_deadlock_is_about_foreground_tasks)
{
    struct dumb_runtime dumb;
    struct player background;
    struct player a;
    dumb_init(&dumb);
    player_init(&background, &dumb, "background", "r.");
    background.task.background = true;
    EXPECT_EQ(rt_post(&dumb.runtime.executor, &background.task), RT_OK);
    player_start(&a, &dumb, "a", "w.r.");
    EXPECT_EQ(rt_run_to_completion(&dumb.runtime), RT_E_DEADLOCK);
    rt_task_cancel(&a.task);
    EXPECT_EQ(rt_run_to_completion(&dumb.runtime), RT_OK);
    finish(&dumb);
}

/* Holds D5, M4: a deadline that never comes is none. */
TEST(runtime_endless_sleep_is_nothing_to_block_on)
{
    struct dumb_runtime dumb;
    struct player root;
    dumb_init(&dumb);
    player_init(&root, &dumb, "root", "t!");
    dumb.host.now_ns = UINT64_MAX - 100;
    dumb.host.blocked = must_not_block;
    EXPECT_EQ(rt_block_on(&dumb.runtime, &root.task), RT_E_DEADLOCK);
    finish(&dumb);
}

/*
 * Holds D5: who sleeps, and why, in the order of their indices: a slot, a
 * pollable, a timer, several at once, a waker that was cloned away; not who is
 * woken.
 */
TEST(runtime_report_names_tasks_and_reasons)
{
    static const char expected[] = "slot: its slot\n"
                                   "source: pollable\n"
                                   "both: its slot, sleep\n"
                                   "kept: a waker that somebody keeps\n"
                                   "all: its slot, pollable, a waker that somebody keeps "
                                   "(background)\n";
    static const char *const scripts[] = {"r.", "0", "rt", "k.", "rk1"};
    static const char *const names[] = {"slot", "source", "both", "kept", "all"};
    struct dumb_runtime dumb;
    struct player players[6];
    dumb_init(&dumb);
    for (uint32_t i = 0; i < 5; i++) {
        player_init(&players[i], &dumb, names[i], scripts[i]);
        players[i].task.background = i == 4;
        EXPECT_EQ(rt_post(&dumb.runtime.executor, &players[i].task), RT_OK);
    }
    dumb_run(&dumb);
    player_start(&players[5], &dumb, "woken", "!");
    char text[512];
    EXPECT_EQ(rt_runtime_report(&dumb.runtime, text, sizeof(text)), 5);
    EXPECT_STR(text, expected);

    /* Whatever the room: the beginning of the same text, terminated, and nothing behind it. */
    for (uint32_t size = 0; size <= sizeof(expected) + 1; size++) {
        memset(text, '#', sizeof(text));
        EXPECT_EQ(rt_runtime_report(&dumb.runtime, size == 0 ? NULL : text, size), 5);
        uint32_t length = size < sizeof(expected) ? size : (uint32_t)sizeof(expected);
        EXPECT_EQ(text[length], '#');
        if (size != 0) {
            EXPECT_EQ(strlen(text), length - 1);
            EXPECT_EQ(memcmp(text, expected, length - 1), 0);
        }
    }
    finish(&dumb);
}

/* ---- Notify. --------------------------------------------------------------------------------- */

static void
wake_root(struct dumb_host *host)
{
    struct player *root = host->argument;
    rt_slot_wake(&root->slot);
}

/* Holds D5, D8: with a holder outside there is something to block on; its wake ends the sleep. */
TEST(runtime_foreign_handle_keeps_the_loop_asleep_until_notified)
{
    struct dumb_runtime dumb;
    struct player root;
    dumb_init(&dumb);
    player_init(&root, &dumb, "root", "r.!");
    dumb.host.blocked = wake_root;
    dumb.host.argument = &root;
    EXPECT_EQ(rt_runtime_hold(&dumb.runtime), RT_OK);
    EXPECT_EQ(rt_block_on(&dumb.runtime, &root.task), RT_OK);
    EXPECT_EQ(dumb.host.blocks, 1);
    EXPECT_EQ(dumb.host.polls, 1);
    EXPECT_EQ(dumb_listed_kind(&dumb.host, DUMB_NOTIFY), 1);
    rt_runtime_release(&dumb.runtime);
    finish(&dumb);
}

static struct player *racer;
static rt_err (*honest_poll)(struct rt_host *host, struct rt_pollable *const *in, uint32_t count,
        uint32_t *ret_indices, uint32_t *ret_ready);

/* The wake comes after the loop has looked whether anybody is woken, and before the host sleeps. */
static rt_err
wake_then_poll(struct rt_host *host, struct rt_pollable *const *in, uint32_t count,
        uint32_t *ret_indices, uint32_t *ret_ready)
{
    rt_slot_wake(&racer->slot);
    return honest_poll(host, in, count, ret_indices, ret_ready);
}

/* Holds D8. */
TEST(runtime_wake_between_the_check_and_the_sleep_ends_the_sleep)
{
    struct dumb_runtime dumb;
    struct player root;
    dumb_init(&dumb);
    player_init(&root, &dumb, "root", "r.r.r.!");
    racer = &root;
    honest_poll = dumb.host.ops.poll;
    dumb.host.ops.poll = wake_then_poll;
    dumb.host.blocked = must_not_block;
    EXPECT_EQ(rt_runtime_hold(&dumb.runtime), RT_OK);
    EXPECT_EQ(rt_block_on(&dumb.runtime, &root.task), RT_OK);
    EXPECT_EQ(dumb.host.polls, 3);
    EXPECT_EQ(dumb.host.notifies, 3);
    rt_runtime_release(&dumb.runtime);
    finish(&dumb);
}

/* Holds D8: notified before the loop, it looks once for nothing and then sleeps. */
TEST(runtime_notify_is_taken_by_one_report)
{
    struct dumb_runtime dumb;
    struct player root;
    dumb_init(&dumb);
    player_init(&root, &dumb, "root", "r.!");
    dumb.host.blocked = wake_root;
    dumb.host.argument = &root;
    EXPECT_EQ(rt_runtime_hold(&dumb.runtime), RT_OK);
    for (uint32_t i = 0; i < 5; i++) {
        rt_host_notify(&dumb.host.seam);
    }
    EXPECT_EQ(rt_block_on(&dumb.runtime, &root.task), RT_OK);
    EXPECT_EQ(dumb.host.polls, 2);
    EXPECT_EQ(dumb.host.blocks, 1);
    rt_runtime_release(&dumb.runtime);
    finish(&dumb);
}

static void
cancel_root(struct dumb_host *host)
{
    struct player *root = host->argument;
    ck_assert_msg(rt_task_posted(&root->task), "the loop slept on with nobody left");
    rt_task_cancel(&root->task);
}

/* Holds D6: the last task goes while the loop sleeps; there is nobody left to wait for. */
TEST(runtime_removing_the_last_task_ends_the_sleep)
{
    struct dumb_runtime dumb;
    struct player root;
    dumb_init(&dumb);
    player_start(&root, &dumb, "root", "r.");
    dumb.host.blocked = cancel_root;
    dumb.host.argument = &root;
    EXPECT_EQ(rt_runtime_hold(&dumb.runtime), RT_OK);
    EXPECT_EQ(rt_run_to_completion(&dumb.runtime), RT_OK);
    EXPECT_EQ(dumb.host.blocks, 1);
    rt_runtime_release(&dumb.runtime);
    finish(&dumb);
}

static void
release_handle(struct dumb_host *host)
{
    struct dumb_runtime *dumb = rt_container_of(host, struct dumb_runtime, host);
    rt_runtime_release(&dumb->runtime);
}

/* Holds D5: the last holder outside goes while the loop sleeps: from here on it is a deadlock. */
TEST(runtime_release_of_the_last_foreign_handle_ends_the_sleep)
{
    struct dumb_runtime dumb;
    struct player root;
    dumb_init(&dumb);
    player_init(&root, &dumb, "root", "r.");
    dumb.host.blocked = release_handle;
    EXPECT_EQ(rt_runtime_hold(&dumb.runtime), RT_OK);
    EXPECT_EQ(rt_runtime_hold(&dumb.runtime), RT_OK);
    EXPECT_EQ(rt_block_on(&dumb.runtime, &root.task), RT_E_DEADLOCK);
    EXPECT_EQ(dumb.host.blocks, 2);
    EXPECT_EQ(dumb.runtime.foreign_handles, 0);
    finish(&dumb);
}

/* Holds D7: many posts and wakes, one notify; armed again only after the queue was seen empty. */
TEST(runtime_host_is_notified_once_between_two_sleeps)
{
    struct dumb_runtime dumb;
    struct player players[3];
    dumb_init(&dumb);
    for (uint32_t i = 0; i < 3; i++) {
        player_start(&players[i], &dumb, "p", "r.r.!");
    }
    EXPECT_EQ(dumb.host.notifies, 1);
    EXPECT(rt_run_one(&dumb.runtime.executor));
    rt_slot_wake(&players[0].slot);
    EXPECT_EQ(dumb.host.notifies, 1);
    dumb_run(&dumb);
    EXPECT_EQ(dumb.host.notifies, 1);
    for (uint32_t i = 0; i < 3; i++) {
        rt_task_wake(&players[i].task);
        rt_slot_wake(&players[i].slot);
    }
    EXPECT_EQ(dumb.host.notifies, 2);
    finish(&dumb);
}

static void
clock_then_source(struct dumb_host *host)
{
    host->ready[0] = host->now_ns == 100;
    host->now_ns = 100;
}

/*
 * Holds D7: what a loop posts and wakes itself is no news to the host: one sleep
 * until the deadline, one until the source, and none ends for nothing.
 */
TEST(runtime_own_wakes_do_not_notify)
{
    struct dumb_runtime dumb;
    struct player root;
    dumb_init(&dumb);
    player_init(&root, &dumb, "root", "t0!");
    dumb.host.blocked = clock_then_source;
    EXPECT_EQ(rt_runtime_hold(&dumb.runtime), RT_OK);
    EXPECT_EQ(rt_block_on(&dumb.runtime, &root.task), RT_OK);
    EXPECT_EQ(dumb.host.notifies, 0);
    EXPECT_EQ(dumb.host.polls, 2);
    EXPECT_EQ(dumb.host.blocks, 2);
    rt_runtime_release(&dumb.runtime);
    finish(&dumb);
}

/* Holds D7, B5: what a loop woke and then left must be told, or nobody comes to run it. */
TEST(runtime_loop_that_leaves_a_woken_task_tells_the_host)
{
    struct dumb_runtime dumb;
    struct player root;
    struct player a;
    dumb_init(&dumb);
    player_start(&a, &dumb, "a", "1!");
    EXPECT_EQ(dumb.host.notifies, 1);
    dumb_run(&dumb);
    dumb.host.ready[1] = true;
    /* The source of a is reported first; root is done before a has its turn. */
    player_init(&root, &dumb, "root", "w.!");
    dumb.runtime.event_interval = 1;
    EXPECT_EQ(rt_block_on(&dumb.runtime, &root.task), RT_OK);
    EXPECT_EQ(a.task.state, RT_TASK_WOKEN);
    EXPECT_EQ(dumb.host.notifies, 2);
    /* Posted during root's poll, which is no news either, and left. */
    dumb_run(&dumb);
    player_init(&a, &dumb, "a", "!");
    player_init(&root, &dumb, "root", "+!");
    root.other = &a;
    EXPECT_EQ(rt_block_on(&dumb.runtime, &root.task), RT_OK);
    EXPECT_EQ(dumb.host.notifies, 3);
    /* It was told of this one: once is enough. */
    EXPECT_EQ(rt_block_on(&dumb.runtime, &a.task), RT_E_POSTED);
    EXPECT_EQ(dumb.host.notifies, 3);
    EXPECT_EQ(rt_run_to_completion(&dumb.runtime), RT_OK);
    EXPECT_EQ(dumb.host.notifies, 3);
    finish(&dumb);
}

/*
 * Holds D7: the host was told that the last task is gone, and came; the loop had
 * nothing to poll. The next post must be told again, or nobody ever comes.
 */
TEST(runtime_loop_without_a_poll_arms_the_notify_again)
{
    struct dumb_runtime dumb;
    struct player a;
    dumb_init(&dumb);
    player_start(&a, &dumb, "a", "r.");
    dumb_run(&dumb);
    rt_task_cancel(&a.task);
    EXPECT_EQ(dumb.host.notifies, 2);
    EXPECT_EQ(rt_run_to_completion(&dumb.runtime), RT_OK);
    player_start(&a, &dumb, "a", "!");
    EXPECT_EQ(dumb.host.notifies, 3);
    finish(&dumb);
}

static void
count_notify(void *argument)
{
    (*(uint32_t *)argument)++;
}

/* Holds D7: a notify of the caller's own takes the place of the host's. */
TEST(runtime_notify_of_the_caller_is_kept)
{
    struct dumb_runtime dumb;
    struct player a;
    uint32_t notifies = 0;
    dumb_init(&dumb);
    struct rt_runtime_config config = dumb_config(&dumb);
    config.executor.notify = count_notify;
    config.executor.notify_argument = &notifies;
    rt_runtime_init(&dumb.runtime, &config);
    player_start(&a, &dumb, "a", "!");
    EXPECT_EQ(notifies, 1);
    EXPECT_EQ(dumb.host.notifies, 0);
    finish(&dumb);
}

/* ---- The end. -------------------------------------------------------------------------------- */

/* Holds P9: what the runtime subscribed is dropped before the host goes; dumb_fini() counts. */
TEST(runtime_fini_drops_every_pollable_of_its_own)
{
    struct dumb_runtime dumb;
    struct player a;
    struct player b;
    dumb_init(&dumb);
    dumb.host.blocked = next_source;
    EXPECT_EQ(rt_runtime_hold(&dumb.runtime), RT_OK);
    player_start(&a, &dumb, "a", "01!");
    player_start(&b, &dumb, "b", "t!");
    dumb_run(&dumb);
    EXPECT_EQ(rt_runtime_turn(&dumb.runtime, RT_TURN_BLOCK, NULL), RT_OK);
    EXPECT_EQ(rt_runtime_turn(&dumb.runtime, RT_TURN_BLOCK, NULL), RT_OK);
    rt_terminate(&dumb.runtime.executor);
    EXPECT(dumb.host.alive >= 2);
    dumb_fini(&dumb);
}

/* Holds D9. */
TEST(runtime_given_up_with_a_task_is_a_fault)
{
    struct dumb_runtime dumb;
    struct player a;
    dumb_init(&dumb);
    player_start(&a, &dumb, "a", "r.");
    EXPECT_FAULT(RT_E_IN_USE, rt_runtime_fini(&dumb.runtime));
    finish(&dumb);
}
