/*
 * unanswered_test.c -- what was asked for and did not happen, from events made by hand.
 *
 * Each test has a run that fails, and one that passes, in which the event in question is absent.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "runtime/tests/test.h"
#include "sim/explain/cause/unanswered.h"
#include "sim/tests/explain/tale.h"

/* A run, read. */
struct run {
    struct tale *tale;
    struct sim_actor_table actor_table;
    struct sim_ledger ledger;
    uint32_t task;
    uint32_t object;
};

static void
run_begin(struct run *run, uint32_t kind)
{
    *run = (struct run){.tale = tale_new()};
    run->task = tale_task(run->tale, "task");
    run->object = SIM_OBJECT(kind, run->task, 1);
}

/* The task does that, in a step of its own; returns the step. */
static uint32_t
run_do(struct run *run, uint32_t kind, uint64_t argument)
{
    tale_step(run->tale, run->task, 0);
    tale_do_at(run->tale, kind, run->object, argument, tale_site(0), 0);
    return run->tale->step;
}

static void
run_end(struct run *run)
{
    sim_ledger_free(&run->ledger);
    sim_actor_table_free(&run->actor_table);
    tale_free(run->tale);
}

static bool
find(struct run *failing, struct run *passing, struct sim_unanswered *ret)
{
    struct run *const runs[] = {failing, passing};
    for (uint32_t i = 0; i < 2; i++) {
        sim_actor_table_make(&runs[i]->actor_table, &runs[i]->tale->recorder);
        sim_ledger_make(&runs[i]->ledger, &runs[i]->actor_table);
    }
    bool found = sim_unanswered_find(&failing->ledger, &passing->ledger, true, ret);
    run_end(failing);
    run_end(passing);
    return found;
}

TEST(unanswered_call_that_is_refused)
{
    struct run failing;
    struct run passing;
    struct sim_unanswered found;
    run_begin(&failing, RT_OBJECT_OPERATION);
    run_begin(&passing, RT_OBJECT_OPERATION);
    uint32_t step = run_do(&failing, RT_PROBE_REFUSE, 1);
    (void)run_do(&passing, RT_PROBE_SUBMIT, 0);
    EXPECT(find(&failing, &passing, &found));
    EXPECT_EQ(found.kind, SIM_UNANSWERED_REFUSED);
    EXPECT_EQ(found.asked.at[0].step, step);
    EXPECT_STR(found.asked.at[0].place.function, "step_0");
}

/* A wake of a slot from which the waker was erased; not one of a slot that was woken before. */
TEST(unanswered_wake_without_a_waker)
{
    struct run failing;
    struct run passing;
    struct sim_unanswered found;
    run_begin(&failing, RT_OBJECT_SLOT);
    run_begin(&passing, RT_OBJECT_SLOT);
    (void)run_do(&failing, RT_PROBE_STORE, failing.object);
    uint32_t erased = run_do(&failing, RT_PROBE_ERASE, failing.object);
    uint32_t woken = run_do(&failing, RT_PROBE_FIRE_EMPTY, 0);
    (void)run_do(&passing, RT_PROBE_STORE, passing.object);
    (void)run_do(&passing, RT_PROBE_FIRE, passing.object);
    (void)run_do(&passing, RT_PROBE_FIRE_EMPTY, 0);
    EXPECT(find(&failing, &passing, &found));
    EXPECT_EQ(found.kind, SIM_UNANSWERED_EMPTY);
    EXPECT_EQ(found.asked.at[0].step, woken);
    EXPECT_EQ(found.before.at[0].step, erased);
}

/* One that is made again, and taken, is answered. */
TEST(unanswered_not_what_is_made_again)
{
    struct run failing;
    struct run passing;
    struct sim_unanswered found;
    run_begin(&failing, RT_OBJECT_OPERATION);
    run_begin(&passing, RT_OBJECT_OPERATION);
    (void)run_do(&failing, RT_PROBE_REFUSE, 1);
    (void)run_do(&failing, RT_PROBE_SUBMIT, 0);
    (void)run_do(&passing, RT_PROBE_SUBMIT, 0);
    EXPECT(!find(&failing, &passing, &found));
}

/* What the run that passes has as often decides nothing. */
TEST(unanswered_not_what_the_passing_run_has_too)
{
    struct run failing;
    struct run passing;
    struct sim_unanswered found;
    run_begin(&failing, RT_OBJECT_OPERATION);
    run_begin(&passing, RT_OBJECT_OPERATION);
    (void)run_do(&failing, RT_PROBE_REFUSE, 1);
    (void)run_do(&passing, RT_PROBE_REFUSE, 1);
    EXPECT(!find(&failing, &passing, &found));
}

/* The post is the one that was taken from the sink, and the subscriptions around it are named. */
TEST(unanswered_event_without_a_subscriber)
{
    struct run failing;
    struct run passing;
    struct sim_unanswered found;
    run_begin(&failing, RT_OBJECT_CHANNEL);
    run_begin(&passing, RT_OBJECT_CHANNEL);
    (void)run_do(&failing, RT_PROBE_LISTEN, 1);
    uint32_t ended = run_do(&failing, RT_PROBE_UNLISTEN, 1);
    uint32_t posted = run_do(&failing, RT_PROBE_PUT, 1);
    (void)run_do(&failing, RT_PROBE_CONSUME, 1);
    (void)run_do(&failing, RT_PROBE_UNHEARD, 1);
    uint32_t late = run_do(&failing, RT_PROBE_LISTEN, 1);
    (void)run_do(&passing, RT_PROBE_LISTEN, 1);
    EXPECT(find(&failing, &passing, &found));
    EXPECT_EQ(found.kind, SIM_UNANSWERED_UNHEARD);
    EXPECT_EQ(found.asked.at[0].step, posted);
    EXPECT_EQ(found.before.at[0].step, ended);
    EXPECT_EQ(found.after.at[0].step, late);
}

TEST(unanswered_notification_that_is_one_with_another)
{
    struct run failing;
    struct run passing;
    struct sim_unanswered found;
    run_begin(&failing, RT_OBJECT_NOTIFY);
    run_begin(&passing, RT_OBJECT_NOTIFY);
    uint32_t first = run_do(&failing, RT_PROBE_PUT, 1);
    (void)run_do(&failing, RT_PROBE_PUT, 1);
    uint32_t merged = run_do(&failing, RT_PROBE_MERGE, 1);
    uint32_t taken = run_do(&failing, RT_PROBE_CONSUME, 1);
    (void)run_do(&passing, RT_PROBE_PUT, 1);
    EXPECT(find(&failing, &passing, &found));
    EXPECT_EQ(found.kind, SIM_UNANSWERED_MERGED);
    EXPECT_EQ(found.before.at[0].step, first);
    EXPECT_EQ(found.asked.at[0].step, merged);
    EXPECT_EQ(found.after.at[0].step, taken);
}

/* The owner of one was dropped, and it is passed on: nothing was put in. */
TEST(unanswered_notification_that_is_passed_on)
{
    struct run failing;
    struct run passing;
    struct sim_unanswered found;
    run_begin(&failing, RT_OBJECT_NOTIFY);
    run_begin(&passing, RT_OBJECT_NOTIFY);
    uint32_t merged = run_do(&failing, RT_PROBE_MERGE, 1);
    (void)run_do(&passing, RT_PROBE_POLL, 0);
    EXPECT(find(&failing, &passing, &found));
    EXPECT_EQ(found.kind, SIM_UNANSWERED_MERGED);
    EXPECT_EQ(found.asked.at[0].step, merged);
    EXPECT_EQ(found.before.event, SIM_EVENT_NONE);
}
