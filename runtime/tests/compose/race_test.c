/*
 * race_test.c -- waiting for the first of several futures: winning, polling, dropping.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "runtime/compose/race.h"
#include "runtime/tests/compose/kids.h"

#define KIDS 3u

struct track {
    struct rt_task task;
    bool done;
    struct rt_race race;
    struct rt_child children[KIDS];
    struct kid kids[KIDS];
    uint32_t chosen; /* What rt_cx_choose answers. */
};

static struct track track;

static rt_poll
track_poll(struct rt_task *task, struct rt_cx *cx)
{
    struct track *one = rt_container_of(task, struct track, task);
    say('|');
    RT_AWAIT(rt_race_poll(&one->race, cx));
    say('.');
    one->done = true;
    return RT_READY;
}

static void
track_init(uint32_t count)
{
    track = (struct track){.chosen = 0};
    kids_init(track.kids, track.children, KIDS);
    EXPECT_EQ(rt_race_init(&track.race, track.children, count), RT_OK);
    rt_task_init(&track.task, track_poll, NULL, "track");
}

/* Polls the race spuriously. */
static void
poll_for_nothing(void)
{
    rt_task_wake(&track.task);
    EXPECT_EQ(clockwork_run(&clockwork), 1);
}

/*
 * The tutorial. Holds J5: the first that is READY wins, those after it are not polled, and the
 * others have been dropped in index order when the race answers.
 */
TEST(race_is_won_by_the_first_and_drops_the_others_before_it_answers)
{
    track_init(3);
    track.kids[1].ready = true;
    EXPECT_EQ(clockwork_post(&clockwork, &track.task), 1);
    EXPECT_SAID("|aB-a-c.");
    EXPECT(track.done);
    EXPECT_EQ(track.race.winner, 1);
    EXPECT_EQ(targets_open(), 0);
}

/* Holds J5: losers that were asleep. Their last wakes reach neither each other nor the task. */
TEST(race_losers_wake_no_task_when_dropped)
{
    track_init(3);
    EXPECT_EQ(clockwork_post(&clockwork, &track.task), 1);
    EXPECT_SAID("|abc");
    track.kids[0].wakes = NULL;
    kid_wake(&track.kids[1], true);
    uint64_t wakes = clockwork.runtime.executor.counters.wakes;
    EXPECT_EQ(clockwork_run(&clockwork), 1);
    EXPECT_SAID("|B-a-c.");
    EXPECT_EQ(clockwork.runtime.executor.counters.wakes, wakes);
    EXPECT_EQ(clockwork.runtime.executor.counters.coalesced, 0);
}

/* Holds J4, J5, W1: a loser's waker that was kept is dead, even when the memory was reused. */
TEST(race_loser_woken_after_its_end_does_nothing)
{
    struct rt_waker kept;
    track_init(2);
    track.kids[0].keeps = true;
    track.kids[1].ready = true;
    EXPECT_EQ(clockwork_post(&clockwork, &track.task), 1);
    EXPECT_SAID("|aB-a.");
    kept = track.kids[0].kept;
    memset(&track, 0xdd, sizeof(track));
    rt_waker_wake(&kept);
    EXPECT_EQ(clockwork_run(&clockwork), 0);
    EXPECT_EQ(clockwork.runtime.executor.counters.clones,
            clockwork.runtime.executor.counters.returned);
}

/* Holds J5. */
TEST(race_without_children_is_refused)
{
    track_init(1);
    EXPECT_EQ(rt_race_init(&track.race, track.children, 0), RT_E_INVALID);
    EXPECT_EQ(track.race.children.count, 1);
}

/* Holds J6: each poll begins one further than the one before. */
TEST(race_begins_one_child_later_in_each_poll)
{
    track_init(3);
    EXPECT_EQ(clockwork_post(&clockwork, &track.task), 1);
    EXPECT_SAID("|abc");
    poll_for_nothing();
    EXPECT_SAID("|bca");
    poll_for_nothing();
    EXPECT_SAID("|cab");
    poll_for_nothing();
    EXPECT_SAID("|abc");
}

/* Holds J6: of two ready at one time, the second poll's start wins, not the lower index. */
TEST(race_of_two_ready_children_is_won_by_the_first_polled)
{
    track_init(2);
    EXPECT_EQ(clockwork_post(&clockwork, &track.task), 1);
    EXPECT_SAID("|ab");
    kid_wake(&track.kids[0], true);
    kid_wake(&track.kids[1], true);
    EXPECT_EQ(clockwork_run(&clockwork), 1);
    EXPECT_SAID("|B-a.");
    EXPECT_EQ(track.race.winner, 1);
}

static uint32_t
choose(void *argument, uint32_t n)
{
    uint32_t chosen = *(uint32_t *)argument;
    EXPECT(chosen < n);
    return chosen;
}

/* Holds J6: the choice is an offset from the default start; the default itself is unchanged. */
TEST(race_begins_at_the_chosen_child)
{
    track_init(3);
    clockwork.runtime.executor.choose = choose;
    clockwork.runtime.executor.choose_argument = &track.chosen;
    track.chosen = 2;
    EXPECT_EQ(clockwork_post(&clockwork, &track.task), 1);
    EXPECT_SAID("|cab");
    track.chosen = 1;
    poll_for_nothing();
    EXPECT_SAID("|cab");
    track.chosen = 0;
    poll_for_nothing();
    EXPECT_SAID("|cab");
}

/* Holds J3, J6: only the woken are polled, from the start of the turn on. */
TEST(race_polls_only_the_children_that_were_woken)
{
    track_init(3);
    EXPECT_EQ(clockwork_post(&clockwork, &track.task), 1);
    EXPECT_SAID("|abc");
    kid_wake(&track.kids[0], false);
    kid_wake(&track.kids[2], false);
    EXPECT_EQ(clockwork_run(&clockwork), 1);
    EXPECT_SAID("|ca");
}

TEST(race_dropped_drops_every_child_in_order)
{
    track_init(3);
    EXPECT_EQ(clockwork_post(&clockwork, &track.task), 1);
    EXPECT_SAID("|abc");
    rt_race_drop(&track.race);
    rt_race_drop(&track.race);
    EXPECT_SAID("-a-b-c");
    EXPECT_EQ(clockwork_run(&clockwork), 0);
    EXPECT_EQ(targets_open(), 1); /* The task. */
}

static rt_poll
careless_poll(struct rt_task *task, struct rt_cx *cx)
{
    struct track *one = rt_container_of(task, struct track, task);
    EXPECT_EQ(rt_race_poll(&one->race, cx), RT_READY);
    EXPECT_FAULT(RT_E_FINISHED, rt_race_poll(&one->race, cx));
    EXPECT_FAULT(RT_E_FINISHED, rt_future_poll(&one->race.future, cx));
    return RT_READY;
}

/* Holds T20. */
TEST(race_polled_after_its_end_is_a_fault)
{
    track_init(1);
    track.kids[0].ready = true;
    rt_task_init(&track.task, careless_poll, NULL, "careless");
    EXPECT_EQ(clockwork_post(&clockwork, &track.task), 1);
}

/* Holds J5: a race in a race is a child like any other; the outer one drops it as a whole. */
TEST(race_of_races_drops_the_inner_one_as_a_whole)
{
    struct rt_race outer;
    struct rt_child members[2];
    struct kid rival;
    track_init(2);
    kid_init(&rival, 'z');
    members[0].future = &track.race.future;
    members[1].future = &rival.future;
    EXPECT_EQ(rt_race_init(&outer, members, 2), RT_OK);
    rival.ready = true;
    struct rt_cx cx;
    rt_cx_init(&cx, &clockwork.runtime.executor, &track.task, rt_waker_noop());
    EXPECT_EQ(rt_race_poll(&outer, &cx), RT_READY);
    rt_cx_poison(&cx);
    EXPECT_SAID("abZ-a-b");
    EXPECT_EQ(outer.winner, 1);
    EXPECT_EQ(targets_open(), 0);
}
