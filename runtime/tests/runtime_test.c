/*
 * runtime_test.c -- loops: what they poll, when they end, and what they leave.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <string.h>

#include "runtime/tests/player.h"

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
    dumb.host.blocked = player_next_source;
    player_init(&root, &dumb, "root", "01!");
    EXPECT_EQ(rt_block_on(&dumb.runtime, &root.task), RT_OK);
    EXPECT_EQ(root.task.end, RT_TASK_DONE);
    EXPECT_STR(dumb.log, "root root root");
    EXPECT_EQ(dumb.runtime.executor.counters.sleeps, 2);
    EXPECT_EQ(dumb.host.blocks, 2);
    EXPECT_EQ(dumb.host.polls, 2);
    player_finish(&dumb);
}

/* Holds B5: the others stay posted, woken or asleep, and a later loop continues with them. */
TEST(runtime_block_on_returns_at_root_ready_and_leaves_the_others)
{
    struct dumb_runtime dumb;
    struct player a;
    struct player b;
    struct player root;
    dumb_init(&dumb);
    dumb.host.blocked = player_must_not_block;
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
    player_finish(&dumb);
}

/* Holds B1, W11: a root that was given another waker has not ended; block_on waits on. */
TEST(runtime_block_on_waits_for_a_root_that_gets_another_waker)
{
    struct dumb_runtime dumb;
    struct player root;
    struct player mover;
    dumb_init(&dumb);
    dumb.host.blocked = player_next_source;
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

/* Holds T10, B5: cleanup may give root's memory away; it is not read again. */
TEST(runtime_block_on_does_not_touch_a_root_that_is_gone)
{
    struct dumb_runtime dumb;
    struct player root;
    dumb_init(&dumb);
    player_init(&root, &dumb, "root", "w.!");
    root.task.cleanup = overwrite;
    EXPECT_EQ(rt_block_on(&dumb.runtime, &root.task), RT_OK);
    EXPECT_STR(dumb.log, "root root");
    player_finish(&dumb);
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
    player_finish(&dumb);
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
    player_finish(&dumb);
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
    player_finish(&dumb);
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
    player_finish(&dumb);
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
    player_finish(&dumb);
}

/* Holds D3, D4: nothing is polled, the host not called, also when background tasks are there. */
TEST(runtime_completion_without_foreground_tasks_is_at_once)
{
    struct dumb_runtime dumb;
    struct player background;
    dumb_init(&dumb);
    dumb.host.blocked = player_must_not_block;
    EXPECT_EQ(rt_run_to_completion(&dumb.runtime), RT_OK);
    player_init(&background, &dumb, "background", "*");
    background.task.background = true;
    EXPECT_EQ(rt_post(&dumb.runtime.executor, &background.task), RT_OK);
    EXPECT_EQ(rt_run_to_completion(&dumb.runtime), RT_OK);
    EXPECT_STR(dumb.log, "");
    EXPECT_EQ(dumb.host.polls, 0);
    player_finish(&dumb);
}

/* Holds D4, D5: all tasks but the background one are awaited, those posted on the way too. */
TEST(runtime_completion_waits_for_every_foreground_task)
{
    struct dumb_runtime dumb;
    struct player a;
    struct player b;
    struct player background;
    dumb_init(&dumb);
    dumb.host.blocked = player_next_source;
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
    player_finish(&dumb);
}

/* ---- Nothing left to wait for. --------------------------------------------------------------- */

/* Holds B3, D5: root stays posted, and can continue when it is woken after all. */
TEST(runtime_root_without_a_possible_wake_is_a_deadlock)
{
    struct dumb_runtime dumb;
    struct player root;
    dumb_init(&dumb);
    dumb.host.blocked = player_must_not_block;
    player_init(&root, &dumb, "root", "r.!");
    EXPECT_EQ(rt_block_on(&dumb.runtime, &root.task), RT_E_DEADLOCK);
    EXPECT_EQ(root.task.state, RT_TASK_SLEEPING);
    EXPECT_EQ(dumb.host.polls, 0);
    EXPECT_EQ(dumb.runtime.executor.counters.sleeps, 0);
    EXPECT_EQ(rt_run_to_completion(&dumb.runtime), RT_E_DEADLOCK);
    rt_slot_wake(&root.slot);
    EXPECT_EQ(rt_run_to_completion(&dumb.runtime), RT_OK);
    EXPECT_STR(dumb.log, "root root");
    player_finish(&dumb);
}

/* Holds D5: background tasks that sleep do not prevent a deadlock, nor completion. */
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
    player_finish(&dumb);
}

/* Holds D5, M4: a deadline that never comes is none. */
TEST(runtime_endless_sleep_is_nothing_to_block_on)
{
    struct dumb_runtime dumb;
    struct player root;
    dumb_init(&dumb);
    player_init(&root, &dumb, "root", "t!");
    dumb.host.now_ns = UINT64_MAX - 100;
    dumb.host.blocked = player_must_not_block;
    EXPECT_EQ(rt_block_on(&dumb.runtime, &root.task), RT_E_DEADLOCK);
    player_finish(&dumb);
}

/*
 * Holds D5: blocked tasks and their reasons, in the order of their indices: a slot, a
 * pollable, a timer, several at once, a waker that was cloned away; no woken
 * tasks.
 */
TEST(runtime_report_names_tasks_and_reasons)
{
    static const char expected[] = "slot: its slot\n"
                                   "source: pollable\n"
                                   "both: its slot, sleep\n"
                                   "kept: a waker that was cloned\n"
                                   "all: its slot, pollable, a waker that was cloned "
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

    /* At any size: the beginning of the same text, terminated, and nothing after it. */
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
    player_finish(&dumb);
}

/* ---- The end. -------------------------------------------------------------------------------- */

/* Holds P9: what the runtime subscribed is dropped before the host goes; dumb_fini() counts. */
TEST(runtime_fini_drops_every_pollable_it_subscribed)
{
    struct dumb_runtime dumb;
    struct player a;
    struct player b;
    dumb_init(&dumb);
    dumb.host.blocked = player_next_source;
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
TEST(runtime_ended_with_a_task_is_a_fault)
{
    struct dumb_runtime dumb;
    struct player a;
    dumb_init(&dumb);
    player_start(&a, &dumb, "a", "r.");
    EXPECT_FAULT(RT_E_IN_USE, rt_runtime_fini(&dumb.runtime));
    player_finish(&dumb);
}
