/*
 * tell_test.c -- the failure report: each way to lose a wake, and each verdict.
 *
 * The golden texts are what a reader sees. When one of them changes, read it aloud
 * before you take it over.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <stdio.h>
#include <string.h>

#include "runtime/tests/test.h"
#include "sim/tell/columns.h"
#include "sim/tell/fate.h"
#include "sim/tell/tell.h"
#include "sim/tests/lab.h"
#include "sim/tests/tell/tale.h"
#include "sim/trace/site.h"

#define PENDING 0
#define READY 1

/* A sleeper that waits for an item, and somebody who is to bring it. */
struct story {
    struct tale *tale;
    struct sim_page page;
    uint32_t sleeper;
    uint32_t bringer;
    uint32_t slot;
    uint32_t self; /* The sleeper's object. */
};

static void
story_begin(struct story *story)
{
    *story = (struct story){.tale = tale_new()};
    story->sleeper = tale_task(story->tale, "sleeper");
    story->bringer = tale_task(story->tale, "bringer");
    story->self = tale_object_of(story->tale, story->sleeper);
    story->slot = SIM_OBJECT(RT_OBJECT_SLOT, 0, 1);
    story->tale->outcome.object = story->slot;
}

/* Step 1, as a rule: the sleeper looks, stores its waker, and sleeps. */
static void
story_sleep(struct story *story)
{
    tale_poll(story->tale, story->sleeper, story->tale->step * UINT64_C(100), 0);
    tale_store(story->tale, story->sleeper, story->slot, "an item", tale_site(0));
    tale_polled(story->tale, story->sleeper, PENDING);
}

/* A step of the bringer; its events follow. */
static void
story_bring(struct story *story)
{
    tale_poll(story->tale, story->bringer, story->tale->step * UINT64_C(100), 0);
}

static void
story_end(struct story *story)
{
    ck_assert_uint_le(tale_width(sim_page_text(&story->page)), SIM_PAGE_WIDTH);
    sim_page_fini(&story->page);
    tale_free(story->tale);
}

/* The paragraph "why" of a lost wake-up that `owed` should have prevented. */
static const char *
why_lost(struct story *story, uint32_t owed)
{
    struct sim_tale tale = {&story->tale->recorder, &story->tale->outcome, NULL, NULL, 60, false};
    story->tale->outcome.owed_step = owed;
    story->tale->outcome.oracle = SIM_ORACLE_REWAKE;
    tale_end(story->tale, SIM_VERDICT_LOST_WAKEUP, story->sleeper);
    EXPECT_EQ(sim_tell_why(&story->page, &tale), RT_OK);
    /* What the verdict is, is the same for all of them. */
    char *end = strstr(story->page.bytes, "What a ");
    ck_assert_ptr_nonnull(end);
    *end = '\0';
    return sim_page_text(&story->page);
}

/*
 * Goal: the whole report, as it stands in the terminal.
 */
TEST(tell_lost_wakeup_from_the_first_line_to_the_commands)
{
    struct story story;
    story_begin(&story);
    struct tale *tale = story.tale;
    story_sleep(&story);
    story_bring(&story);
    tale_do_at(tale, RT_PROBE_ERASE, story.slot, story.self, tale_site(4), tale_site(1));
    tale_polled(tale, story.bringer, PENDING);
    tale_clock(tale, 2000000);
    tale_poll(tale, story.bringer, 2000000, 2);
    tale_say(tale, SIM_EVENT_LOG, "here is the item");
    tale_do_at(tale, RT_PROBE_FIRE_EMPTY, story.slot, 0, tale_site(4), tale_site(2));
    tale_polled(tale, story.bringer, READY);
    tale->outcome.owed_step = 3;
    tale->outcome.oracle = SIM_ORACLE_REWAKE;
    tale_end(tale, SIM_VERDICT_LOST_WAKEUP, story.sleeper);
    struct sim_tale told = {&tale->recorder, &tale->outcome, "rewake replay rw1:test/erase:7:abc",
            "rewake show rw1:test/erase:7:abc", SIM_ROWS_DEFAULT, false};
    EXPECT_EQ(sim_tell(&story.page, &told), RT_OK);
    EXPECT_STR(sim_page_text(&story.page),
            /* clang-format off */
"lost-wakeup: `sleeper` sleeps for ever although it could go on: it waits for an item since step 1\n"
"(0ns), could have gone on after step 3 (2ms), and was never woken.\n"
"\n"
"step      time  sleeper                                    bringer\n"
"   1       0ns  poll, stores waker for an item -> pending\n"
"   2     100ns                                             poll, erases the waker of sleeper for \"an\n"
"                                                           item\" -> pending\n"
"     ~~~ everybody waits; 1.999ms pass ~~~\n"
"   3       2ms                                             poll (woken at 2), says \"here is the\n"
"                                                           item\", fires \"an item\": nobody there ->\n"
"                                                           ready\n"
"                <-- here sleeper should have been woken\n"
"     the run ends: lost-wakeup\n"
"\n"
"Why: at step 1 (0ns) `sleeper` stored its waker for an item at story.c:10 in step_0(); at step 2\n"
"(100ns) `bringer` emptied the place without waking at story.c:20 in step_1(), and the waker was\n"
"gone. The wake was owed by step 3 (2ms), a step of `bringer`: poll (woken at 2), says \"here is the\n"
"item\", fires \"an item\": nobody there -> ready. Its last line on record is at story.c:30 in step_2().\n"
"What a lost-wakeup is: when the run stalled, each sleeper was polled once more in a copy of the run,\n"
"and this one went on; so all that was missing was somebody to wake it.\n"
"\n"
"replay: rewake replay rw1:test/erase:7:abc\n"
"show:   rewake show rw1:test/erase:7:abc\n");
    /* clang-format on */
    story_end(&story);
}

TEST(tell_why_waker_never_stored)
{
    struct story story;
    story_begin(&story);
    tale_poll(story.tale, story.sleeper, 0, 0);
    tale_polled(story.tale, story.sleeper, PENDING);
    story_bring(&story);
    tale_do_at(story.tale, RT_PROBE_FIRE_EMPTY, story.slot, 0, 0, tale_site(2));
    EXPECT_STR(why_lost(&story, 2),
            /* clang-format off */
"Why: the last poll of `sleeper`, at step 1 (0ns), answered pending, but no waker was stored for it,\n"
"then or before: nobody had anything to wake it with. The wake was owed by step 2 (100ns), a step of\n"
"`bringer`: poll, fires slot 1: nobody there. Its last line on record is at story.c:30 in step_2().\n");
    /* clang-format on */
    story_end(&story);
}

TEST(tell_why_waker_stored_and_never_fired)
{
    struct story story;
    story_begin(&story);
    story_sleep(&story);
    story_bring(&story);
    tale_do_at(story.tale, RT_PROBE_CONSUME, 0, 1, 0, tale_site(2));
    tale_polled(story.tale, story.bringer, PENDING);
    EXPECT_STR(why_lost(&story, 2),
            /* clang-format off */
"Why: at step 1 (0ns) `sleeper` stored its waker for an item at story.c:10 in step_0(); it is still\n"
"there, and nobody ever fired it. The wake was owed by step 2 (100ns), a step of `bringer`: poll,\n"
"takes 1 -> pending. Its last line on record is at story.c:30 in step_2().\n");
    /* clang-format on */
    story_end(&story);
}

TEST(tell_why_wake_came_before_the_store)
{
    struct story story;
    story_begin(&story);
    tale_poll(story.tale, story.sleeper, 0, 0);
    tale_do(story.tale, RT_PROBE_WAKE, story.self, 2);
    tale_polled(story.tale, story.sleeper, PENDING);
    story_bring(&story);
    tale_do_at(story.tale, RT_PROBE_FIRE_EMPTY, story.slot, 0, 0, tale_site(2));
    tale_polled(story.tale, story.bringer, READY);
    story_sleep(&story);
    EXPECT_STR(why_lost(&story, 3),
            /* clang-format off */
"Why: at step 3 (200ns) `sleeper` stored its waker for an item at story.c:10 in step_0(), but what it\n"
"waits for had happened by then: at step 2 (100ns) `bringer` had woken the empty place at story.c:30\n"
"in step_2(). It looked first and stored afterwards, and did not look again.\n");
    /* clang-format on */
    story_end(&story);
}

TEST(tell_why_waker_replaced_by_another)
{
    struct story story;
    story_begin(&story);
    story_sleep(&story);
    uint32_t thief = tale_task(story.tale, "thief");
    tale_poll(story.tale, thief, 100, 0);
    tale_do_at(story.tale, RT_PROBE_REPLACE, story.slot, story.self, 0, tale_site(3));
    tale_store(story.tale, thief, story.slot, "an item", tale_site(3));
    tale_polled(story.tale, thief, PENDING);
    story_bring(&story);
    tale_do_at(story.tale, RT_PROBE_FIRE, story.slot, tale_object_of(story.tale, thief), 0,
            tale_site(2));
    tale_do(story.tale, RT_PROBE_WAKE, tale_object_of(story.tale, thief), 0);
    EXPECT_STR(why_lost(&story, 3),
            /* clang-format off */
"Why: at step 1 (0ns) `sleeper` stored its waker for an item at story.c:10 in step_0(), in a place\n"
"for one waker; at step 2 (100ns) `thief` put another one there at story.c:40 in step_3(), and from\n"
"then on nobody could wake `sleeper`. The wake was owed by step 3 (200ns), a step of `bringer`: poll,\n"
"fires \"an item\", wakes thief. Its last line on record is at story.c:30 in step_2().\n");
    /* clang-format on */
    story_end(&story);
}

TEST(tell_why_waker_erased_without_a_wake)
{
    struct story story;
    story_begin(&story);
    story_sleep(&story);
    story_bring(&story);
    tale_do_at(story.tale, RT_PROBE_ERASE, story.slot, story.self, 0, tale_site(1));
    tale_polled(story.tale, story.bringer, PENDING);
    story_bring(&story);
    tale_do_at(story.tale, RT_PROBE_FIRE_EMPTY, story.slot, 0, 0, tale_site(2));
    EXPECT_STR(why_lost(&story, 3),
            /* clang-format off */
"Why: at step 1 (0ns) `sleeper` stored its waker for an item at story.c:10 in step_0(); at step 2\n"
"(100ns) `bringer` emptied the place without waking at story.c:20 in step_1(), and the waker was\n"
"gone. The wake was owed by step 3 (200ns), a step of `bringer`: poll, fires \"an item\": nobody there.\n"
"Its last line on record is at story.c:30 in step_2().\n");
    /* clang-format on */
    story_end(&story);
}

TEST(tell_why_clone_dropped_without_a_wake)
{
    struct story story;
    story_begin(&story);
    tale_poll(story.tale, story.sleeper, 0, 0);
    tale_do_at(story.tale, RT_PROBE_CLONE, story.self, story.self, 0, tale_site(0));
    tale_polled(story.tale, story.sleeper, PENDING);
    story_bring(&story);
    tale_do_at(story.tale, RT_PROBE_DROP, story.self, story.self, 0, tale_site(1));
    EXPECT_STR(why_lost(&story, 2),
            /* clang-format off */
"Why: at step 1 (0ns) `sleeper` gave away a clone of its waker at story.c:10 in step_0(); at step 2\n"
"(100ns) `bringer` dropped it without waking at story.c:20 in step_1(). That step owed the wake.\n");
    /* clang-format on */
    story_end(&story);
}

/* A05: the timer was started under another task's waker, and the future has moved. */
TEST(tell_why_the_wake_went_to_somebody_else)
{
    struct story story;
    story_begin(&story);
    uint32_t before = tale_task(story.tale, "the task before");
    uint32_t timer = SIM_OBJECT(RT_OBJECT_TIMER, before, 1);
    uint32_t loop = tale_actor(story.tale, SIM_ACTOR_LOOP, "rt");
    story.tale->outcome.object = timer;
    tale_poll(story.tale, before, 0, 0);
    tale_store(story.tale, before, timer, "sleep", tale_site(0));
    tale_polled(story.tale, before, PENDING);
    tale_poll(story.tale, story.sleeper, 100, 0);
    tale_polled(story.tale, story.sleeper, PENDING);
    tale_step(story.tale, loop, 200);
    tale_do(story.tale, RT_PROBE_EXPIRE, timer, 200);
    tale_do_at(
            story.tale, RT_PROBE_FIRE, timer, tale_object_of(story.tale, before), tale_site(4), 0);
    tale_do(story.tale, RT_PROBE_WAKE, tale_object_of(story.tale, before), 0);
    EXPECT_STR(why_lost(&story, 3),
            /* clang-format off */
"Why: no waker of `sleeper` was stored; at step 3 (200ns) `rt` fired timer 1 of the task before at\n"
"story.c:50 in step_4(), and the waker that was in there is `the task before`'s, stored at step 1\n"
"(0ns) at story.c:10 in step_0(). That step owed the wake.\n");
    /* clang-format on */
    story_end(&story);
}

/* A05 again, but the one who sleeps waits in its own place for the same: nothing is certain. */
TEST(tell_why_nobody_fired_says_what_was_fired_instead)
{
    struct story story;
    story_begin(&story);
    uint32_t before = tale_task(story.tale, "the task before");
    uint32_t timer = SIM_OBJECT(RT_OBJECT_TIMER, before, 1);
    uint32_t loop = tale_actor(story.tale, SIM_ACTOR_LOOP, "rt");
    tale_poll(story.tale, before, 0, 0);
    tale_store(story.tale, before, timer, "an item", tale_site(3));
    tale_polled(story.tale, before, PENDING);
    story_sleep(&story);
    tale_step(story.tale, loop, 200);
    tale_do_at(
            story.tale, RT_PROBE_FIRE, timer, tale_object_of(story.tale, before), tale_site(4), 0);
    tale_do(story.tale, RT_PROBE_WAKE, tale_object_of(story.tale, before), 0);
    EXPECT_STR(why_lost(&story, 3),
            /* clang-format off */
"Why: at step 2 (100ns) `sleeper` stored its waker for an item at story.c:10 in step_0(); it is still\n"
"there, and nobody ever fired it. The wake was owed by step 3 (200ns), a step of `rt`: fires timer 1\n"
"of the task before, wakes the task before. What that step fired is timer 1 of the task before, and\n"
"the waker in there was that of `the task before`, stored at step 1 (0ns) at story.c:40 in step_3().\n"
"If that is what `sleeper` waits for, its own waker should have been there, or the wake should have\n"
"gone on to the next.\n");
    /* clang-format on */
    story_end(&story);
}

/* A06: the one who stored there has finished, and the future lives on in the sleeper. */
TEST(tell_why_nobody_fired_says_whose_waker_was_there_last)
{
    struct story story;
    story_begin(&story);
    uint32_t before = tale_task(story.tale, "the task before");
    uint32_t place = SIM_OBJECT(RT_OBJECT_SLOT, 0, 9);
    tale_poll(story.tale, before, 0, 0);
    tale_store(story.tale, before, place, "cancellation", tale_site(3));
    tale_do(story.tale, RT_PROBE_POLLED, tale_object_of(story.tale, before), READY);
    tale_do(story.tale, RT_PROBE_ERASE, place, tale_object_of(story.tale, before));
    story_sleep(&story);
    story_bring(&story);
    tale_do_at(story.tale, RT_PROBE_FIRE_EMPTY, place, 0, 0, tale_site(2));
    EXPECT_STR(why_lost(&story, 3),
            /* clang-format off */
"Why: at step 2 (100ns) `sleeper` stored its waker for an item at story.c:10 in step_0(); it is still\n"
"there, and nobody ever fired it. The wake was owed by step 3 (200ns), a step of `bringer`: poll,\n"
"fires \"cancellation\": nobody there. Its last line on record is at story.c:30 in step_2(). That step\n"
"woke the empty place \"cancellation\"; the last waker in there was that of `the task before`, stored\n"
"at step 1 (0ns) at story.c:40 in step_3() and ended at step 1 (0ns). If `sleeper` waits for that as\n"
"well, its own waker should have been there.\n");
    /* clang-format on */
    story_end(&story);
}

/* One of two who wait in a queue is woken, and does not pass it on. */
TEST(tell_why_the_other_one_in_the_queue_was_woken)
{
    struct story story;
    story_begin(&story);
    uint32_t rival = tale_task(story.tale, "rival");
    uint32_t queue = SIM_OBJECT(RT_OBJECT_QUEUE, 0, 1);
    story.slot = queue;
    story.tale->outcome.object = queue;
    tale_poll(story.tale, rival, 0, 0);
    tale_store(story.tale, rival, queue, "a permit", tale_site(3));
    tale_polled(story.tale, rival, PENDING);
    story_sleep(&story);
    story_bring(&story);
    tale_do_at(
            story.tale, RT_PROBE_FIRE, queue, tale_object_of(story.tale, rival), 0, tale_site(2));
    tale_do(story.tale, RT_PROBE_WAKE, tale_object_of(story.tale, rival), 0);
    EXPECT_STR(why_lost(&story, 3),
            /* clang-format off */
"Why: at step 2 (100ns) `sleeper` stored its waker for an item (wait queue 1) at story.c:10 in\n"
"step_0(); but at step 3 (200ns) `bringer` fired wait queue 1 at story.c:30 in step_2(), and the\n"
"waker that was in there is `rival`'s, stored at step 1 (0ns) at story.c:40 in step_3(). That step\n"
"owed the wake.\n");
    /* clang-format on */
    story_end(&story);
}

/* It waits for two things; which one it could go on with nobody says. What went wrong is told. */
TEST(tell_why_prefers_the_wait_that_went_wrong)
{
    struct story story;
    story_begin(&story);
    uint32_t second = SIM_OBJECT(RT_OBJECT_SLOT, 0, 2);
    tale_poll(story.tale, story.sleeper, 0, 0);
    tale_store(story.tale, story.sleeper, second, "the first of two", tale_site(0));
    tale_store(story.tale, story.sleeper, story.slot, "the second of two", tale_site(1));
    tale_polled(story.tale, story.sleeper, PENDING);
    story.tale->outcome.object = 0;
    story_bring(&story);
    tale_do_at(story.tale, RT_PROBE_ERASE, second, story.self, 0, tale_site(2));
    story_bring(&story);
    EXPECT_STR(why_lost(&story, 3),
            /* clang-format off */
"Why: at step 1 (0ns) `sleeper` stored its waker for the first of two at story.c:10 in step_0(); at\n"
"step 2 (100ns) `bringer` emptied the place without waking at story.c:30 in step_2(), and the waker\n"
"was gone. The wake was owed by step 3 (200ns), a step of `bringer`: poll.\n");
    /* clang-format on */
    story_end(&story);
}

TEST(tell_why_the_waker_was_of_a_task_that_is_gone)
{
    struct story story;
    story_begin(&story);
    story_sleep(&story);
    story_bring(&story);
    tale_do_at(story.tale, RT_PROBE_FIRE, story.slot, story.self, 0, tale_site(2));
    tale_do(story.tale, RT_PROBE_WAKE_DEAD, 0, 77);
    EXPECT_STR(why_lost(&story, 2),
            /* clang-format off */
"Why: at step 1 (0ns) `sleeper` stored its waker for an item at story.c:10 in step_0(); at step 2\n"
"(100ns) `bringer` fired it at story.c:30 in step_2(), but it was the waker of somebody who has\n"
"finished: a wake of the dead wakes nobody. That step owed the wake.\n");
    /* clang-format on */
    story_end(&story);
}

TEST(tell_why_a_combinator_kept_the_wake_to_itself)
{
    struct story story;
    story_begin(&story);
    uint32_t join = SIM_OBJECT(RT_OBJECT_JOIN, 0, 1);
    tale_poll(story.tale, story.sleeper, 0, 0);
    tale_do_at(story.tale, RT_PROBE_STORE, story.slot, join, 0, tale_site(0));
    tale_polled(story.tale, story.sleeper, PENDING);
    story_bring(&story);
    tale_do_at(story.tale, RT_PROBE_FIRE, story.slot, join, 0, tale_site(2));
    tale_do(story.tale, RT_PROBE_SUBWAKE, join, 1);
    EXPECT_STR(why_lost(&story, 2),
            /* clang-format off */
"Why: at step 1 (0ns) `sleeper` stored its waker for slot 1 at story.c:10 in step_0(), as a child of\n"
"join 1; at step 2 (100ns) `bringer` fired it at story.c:30 in step_2(), the combinator noted which\n"
"child it is for, and did not wake `sleeper`. That step owed the wake.\n");
    /* clang-format on */
    story_end(&story);
}

TEST(tell_why_the_host_reported_and_nobody_passed_it_on)
{
    struct story story;
    story_begin(&story);
    uint32_t source = tale_actor(story.tale, SIM_ACTOR_SOURCE, "socket");
    uint32_t loop = tale_actor(story.tale, SIM_ACTOR_LOOP, "rt");
    story.slot = tale_object_of(story.tale, source);
    story.tale->outcome.object = story.slot;
    story_sleep(&story);
    tale_step(story.tale, source, 100);
    tale_do(story.tale, SIM_EVENT_READY, story.slot, 0);
    tale_step(story.tale, loop, 200);
    tale_do(story.tale, RT_PROBE_TURN, 0, 1);
    tale_do(story.tale, SIM_EVENT_REPORT, story.slot, 0);
    EXPECT_STR(why_lost(&story, 2),
            /* clang-format off */
"Why: at step 1 (0ns) `sleeper` stored its waker for an item (socket) at story.c:10 in step_0(); at\n"
"step 3 (200ns) the host reported it as ready, and the runtime that was told did not fire the waker.\n"
"The wake was owed by step 2 (100ns), a step of `socket`: is ready.\n");
    /* clang-format on */
    story_end(&story);
}

/* A08, A09: a wake during the poll, and the flag is cleared afterwards. */
TEST(tell_why_a_wake_during_its_poll_was_forgotten)
{
    struct story story;
    story_begin(&story);
    tale_poll(story.tale, story.sleeper, 0, 0);
    tale_do_at(story.tale, RT_PROBE_WAKE, story.self, 2, 0, tale_site(0));
    tale_polled(story.tale, story.sleeper, PENDING);
    story_bring(&story);
    EXPECT_STR(why_lost(&story, 1),
            /* clang-format off */
"Why: at step 1 (0ns) `sleeper` woke itself at story.c:10 in step_0(), while it was being polled, and\n"
"the runtime forgot that: no poll followed. The waker did its part; the run queue did not.\n");
    /* clang-format on */
    story_end(&story);
}

/*
 * Goal: a wake that was forgotten is told as such only when no poll followed it.
 */
TEST(tell_wake_that_was_followed_by_a_poll_is_no_reason)
{
    struct story story;
    struct sim_cast cast;
    struct sim_ledger ledger;
    struct sim_fate fate;
    story_begin(&story);
    story_sleep(&story);
    story_bring(&story);
    tale_do(story.tale, RT_PROBE_FIRE, story.slot, story.self);
    tale_do(story.tale, RT_PROBE_WAKE, story.self, 0);
    tale_polled(story.tale, story.bringer, PENDING);
    story_sleep(&story);
    story_bring(&story);
    tale_end(story.tale, SIM_VERDICT_LOST_WAKEUP, story.sleeper);
    story.tale->outcome.owed_step = 4;
    EXPECT_EQ(sim_cast_make(&cast, &story.tale->recorder), RT_OK);
    EXPECT_EQ(sim_ledger_make(&ledger, &cast), RT_OK);
    sim_fate_find(&ledger, &story.tale->outcome, &fate);
    EXPECT_STR(sim_fate_name(fate.kind), "never-fired");
    EXPECT_EQ(fate.wait->store_step, 3);
    sim_ledger_free(&ledger);
    sim_cast_free(&cast);
    story_end(&story);
}

/*
 * Goal: a late wake-up is judged as things stood when it was found, not as they were afterwards.
 * Method: the run goes on after the audit, and the waker is fired there.
 */
TEST(tell_late_wakeup_looks_at_the_moment_of_the_audit)
{
    struct story story;
    story_begin(&story);
    story_sleep(&story);
    story_bring(&story);
    tale_polled(story.tale, story.bringer, PENDING);
    tale_clock(story.tale, 5000000);
    tale_poll(story.tale, story.bringer, 5000000, 2);
    tale_do(story.tale, RT_PROBE_FIRE, story.slot, story.self);
    tale_do(story.tale, RT_PROBE_WAKE, story.self, 0);
    tale_polled(story.tale, story.bringer, READY);
    tale_end(story.tale, SIM_VERDICT_LATE_WAKEUP, story.sleeper);
    story.tale->outcome.oracle = SIM_ORACLE_QUIET_AUDIT;
    story.tale->outcome.fail_step = 2;
    story.tale->outcome.owed_step = 2;
    struct sim_tale told = {&story.tale->recorder, &story.tale->outcome, NULL, NULL, 60, false};
    EXPECT_EQ(sim_tell_headline(&story.page, &told), RT_OK);
    EXPECT_EQ(sim_tell_why(&story.page, &told), RT_OK);
    EXPECT_STR(sim_page_text(&story.page),
            /* clang-format off */
"late-wakeup: `sleeper` was woken too late: it waits for an item since step 1 (0ns), could have gone\n"
"on after step 2 (100ns), and still slept when everything had come to rest at step 2 (100ns).\n"
"Why: at step 1 (0ns) `sleeper` stored its waker for an item at story.c:10 in step_0(); it was still\n"
"there when everything had come to rest, and nobody had fired it. The wake was owed by step 2\n"
"(100ns), a step of `bringer`: poll -> pending.\n"
"What a late-wakeup is: while everything was at rest, before the clock moved on, the sleeper was\n"
"polled once more in a copy of the run, and went on; so it could have been woken earlier.\n");
    /* clang-format on */
    story_end(&story);
}

/*
 * Goal: a deadlock names everybody who is left and the circle in which they wait; those who have
 * finished are not named.
 */
TEST(tell_deadlock_names_who_waits_for_whom)
{
    struct story story;
    story_begin(&story);
    struct tale *tale = story.tale;
    uint32_t third = tale_task(tale, "done already");
    tale_poll(tale, third, 0, 0);
    tale_polled(tale, third, READY);
    tale_poll(tale, story.sleeper, 100, 0);
    tale_store(tale, story.sleeper, tale_object_of(tale, story.bringer), "join", tale_site(0));
    tale_polled(tale, story.sleeper, PENDING);
    tale_poll(tale, story.bringer, 200, 0);
    tale_store(tale, story.bringer, story.self, "its end", tale_site(1));
    tale_polled(tale, story.bringer, PENDING);
    tale_end(tale, SIM_VERDICT_DEADLOCK, story.sleeper);
    struct sim_tale told = {&tale->recorder, &tale->outcome, NULL, NULL, 60, false};
    EXPECT_EQ(sim_tell_headline(&story.page, &told), RT_OK);
    EXPECT_EQ(sim_tell_why(&story.page, &told), RT_OK);
    EXPECT_STR(sim_page_text(&story.page),
            /* clang-format off */
"deadlock: nobody can go on: `sleeper` waits for the end of bringer since step 2 (100ns); `bringer`\n"
"waits for its end (sleeper) since step 3 (200ns).\n"
"Why: nothing is enabled, no timer is running, no event of the host is on its way, and everybody who\n"
"is left sleeps:\n"
"  - `sleeper` waits for the end of bringer since step 2 (100ns) at story.c:10 in step_0()\n"
"  - `bringer` waits for its end (sleeper) since step 3 (200ns) at story.c:20 in step_1()\n"
"They wait in a circle: `sleeper` waits for `bringer`, which waits for `sleeper`.\n"
"In copies of the run each sleeper was polled once more, the host was made to report everything ready\n"
"again, and then everybody was polled in turn, up to 64 rounds; nobody went on: no wake is missing,\n"
"something was never done.\n"
"What a deadlock is: everybody sleeps, and nobody was seen to go on when asked again.\n");
    /* clang-format on */
    story_end(&story);
}

/* The headline and the paragraph of `story`. */
static const char *
head_and_why_of(struct story *story, bool went_on)
{
    struct sim_tale told = {&story->tale->recorder, &story->tale->outcome, NULL, NULL, 60, went_on};
    EXPECT_EQ(sim_tell_headline(&story->page, &told), RT_OK);
    EXPECT_EQ(sim_tell_why(&story->page, &told), RT_OK);
    return sim_page_text(&story->page);
}

static const char *
head_and_why(struct story *story)
{
    return head_and_why_of(story, false);
}

static void
story_says(struct story *story, enum sim_oracle oracle, const char *message)
{
    story->tale->outcome.oracle = (uint8_t)oracle;
    (void)snprintf(story->tale->outcome.message, SIM_MESSAGE_MAX, "%s", message);
}

/*
 * Goal: of a loop nothing is claimed that was not done: it was never polled. What it waits for is
 * in no ledger, and told from the outcome.
 */
TEST(tell_deadlock_of_a_loop_does_not_claim_that_no_wake_is_missing)
{
    struct story story;
    story_begin(&story);
    struct tale *tale = story.tale;
    uint32_t loop = tale_actor(tale, SIM_ACTOR_LOOP, "my loop");
    uint32_t rt = tale_actor(tale, SIM_ACTOR_LOOP, "rt");
    tale_poll(tale, story.bringer, 0, 0);
    tale_polled(tale, story.bringer, READY);
    tale_poll(tale, story.sleeper, 50, 0);
    tale_polled(tale, story.sleeper, READY);
    tale_step(tale, rt, 75);
    tale_step(tale, loop, 100);
    tale_step(tale, loop, 200);
    story_says(&story, SIM_ORACLE_STALL,
            "nothing can go on, and nobody could: 'my loop' waits for: mail");
    tale_end(tale, SIM_VERDICT_DEADLOCK, loop);
    EXPECT_STR(head_and_why(&story),
            /* clang-format off */
"deadlock: nobody can go on: `my loop` waits for mail since step 5 (200ns).\n"
"Why: nothing is enabled, no timer is running, no event of the host is on its way, and everybody who\n"
"is left sleeps:\n"
"  - `my loop` waits for mail since step 5 (200ns)\n"
"In a copy of the run the host was made to report everything ready again; nobody went on.\n"
"`my loop` is a loop of your own: it can not be polled, only its host made to report again; a wake\n"
"lost inside it looks like this too.\n"
"What a deadlock is: everybody sleeps, and nobody was seen to go on when asked again.\n");
    /* clang-format on */
    story_end(&story);
}

/*
 * Goal: below an answer that says with what somebody goes on, "nobody went on" is only why it is
 * called a deadlock, and nothing says that a loop could not be asked, or that no wake is missing.
 */
TEST(tell_deadlock_below_an_answer_does_not_contradict_it)
{
    struct story story;
    story_begin(&story);
    struct tale *tale = story.tale;
    uint32_t loop = tale_actor(tale, SIM_ACTOR_LOOP, "my loop");
    tale_poll(tale, story.sleeper, 0, 0);
    tale_polled(tale, story.sleeper, READY);
    tale_poll(tale, story.bringer, 0, 0);
    tale_polled(tale, story.bringer, READY);
    tale_step(tale, loop, 100);
    story_says(&story, SIM_ORACLE_STALL,
            "nothing can go on, and nobody could: 'my loop' waits for: mail");
    tale_end(tale, SIM_VERDICT_DEADLOCK, loop);
    const char *text = head_and_why_of(&story, true);
    EXPECT(strstr(text, "deadlock: nobody goes on: ") == text);
    EXPECT(strstr(text,
                   "nobody went on, so the\n"
                   "verdict is deadlock and not lost-wakeup; but with what is told above somebody "
                   "does.\n") != NULL);
    EXPECT(strstr(text, "can not be polled") == NULL);
    EXPECT(strstr(text, "no wake is missing") == NULL);
    story_end(&story);
}

/*
 * Goal: tasks were polled, loops were not: both are said.
 */
TEST(tell_deadlock_of_tasks_and_loops_tells_them_apart)
{
    struct story story;
    story_begin(&story);
    struct tale *tale = story.tale;
    uint32_t first = tale_actor(tale, SIM_ACTOR_LOOP, "first");
    uint32_t second = tale_actor(tale, SIM_ACTOR_LOOP, "second");
    uint32_t socket = tale_actor(tale, SIM_ACTOR_SOURCE, "socket");
    tale_poll(tale, story.bringer, 0, 0);
    tale_polled(tale, story.bringer, READY);
    story_sleep(&story);
    tale_step(tale, first, 200);
    tale_do(tale, SIM_EVENT_BLOCK, tale_object_of(tale, socket), 1);
    tale_step(tale, second, 300);
    tale_do(tale, SIM_EVENT_BLOCK, tale_object_of(tale, socket), 1);
    story_says(&story, SIM_ORACLE_STALL,
            "nothing can go on, and nobody could: 'sleeper' waits for: an item; 'first' waits for: "
            "its socket; 'second' wai");
    tale_end(tale, SIM_VERDICT_DEADLOCK, story.sleeper);
    EXPECT_STR(head_and_why(&story),
            /* clang-format off */
"deadlock: nobody can go on: `sleeper` waits for an item since step 2 (100ns); `first` waits for its\n"
"socket since step 3 (200ns); `second` waits for socket since step 4 (300ns).\n"
"Why: nothing is enabled, no timer is running, no event of the host is on its way, and everybody who\n"
"is left sleeps:\n"
"  - `sleeper` waits for an item since step 2 (100ns) at story.c:10 in step_0()\n"
"  - `first` waits for its socket since step 3 (200ns)\n"
"  - `second` waits for socket since step 4 (300ns)\n"
"In copies of the run each task was polled once more, the host was made to report everything ready\n"
"again, and then everybody was polled in turn, up to 64 rounds; nobody went on.\n"
"`first`, `second` are loops of your own: they can not be polled, only their host made to report\n"
"again; a wake lost inside one looks like this too.\n"
"What a deadlock is: everybody sleeps, and nobody was seen to go on when asked again.\n");
    /* clang-format on */
    story_end(&story);
}

/*
 * Goal: a loop has no waker; when it began to wait and that nobody notified it is the story.
 * Method: it could go on already when it blocked; then only later.
 */
TEST(tell_lost_wakeup_of_a_loop_names_when_it_blocked)
{
    for (uint32_t later = 0; later < 2; later++) {
        struct story story;
        story_begin(&story);
        struct tale *tale = story.tale;
        uint32_t loop = tale_actor(tale, SIM_ACTOR_LOOP, "worker loop");
        uint32_t notify = tale_object_of(tale, tale_actor(tale, SIM_ACTOR_SOURCE, "notify"));
        tale_step(tale, loop, 0);
        tale_do(tale, SIM_EVENT_BLOCK, notify, 1);
        tale_step(tale, loop, 100);
        tale_do(tale, SIM_EVENT_UNBLOCK, 0, 1);
        tale_step(tale, loop, 200);
        tale_do(tale, SIM_EVENT_BLOCK, notify, 1);
        story_bring(&story);
        tale_do_at(tale, RT_PROBE_CONSUME, 0, 1, 0, tale_site(2));
        tale_polled(tale, story.bringer, READY);
        story_says(&story, SIM_ORACLE_REWAKE_SOURCES, "");
        tale->outcome.object = notify;
        tale->outcome.owed_step = 3 + later;
        tale_end(tale, SIM_VERDICT_LOST_WAKEUP, loop);
        static const char *const told[] = {
                /* clang-format off */
"lost-wakeup: `worker loop` sleeps for ever although it could go on: it waits for notify since step 3\n"
"(200ns), which had come by then, and was never woken.\n"
"Why: `worker loop` began to wait for notify at step 3 (200ns), when it could already have gone on;\n"
"nobody notified it after that.\n"
"What a lost-wakeup is: when the run stalled, the host was made to report again whatever is ready, in\n"
"a copy of the run, and this one went on; so a report or a notification was lost.\n",
"lost-wakeup: `worker loop` sleeps for ever although it could go on: it waits for notify since step 3\n"
"(200ns), could have gone on after step 4 (300ns), and was never woken.\n"
"Why: `worker loop` began to wait for notify at step 3 (200ns); what it waits for came after that,\n"
"and nobody notified it. The wake was owed by step 4 (300ns), a step of `bringer`: poll, takes 1 ->\n"
"ready. Its last line on record is at story.c:30 in step_2().\n"
"What a lost-wakeup is: when the run stalled, the host was made to report again whatever is ready, in\n"
"a copy of the run, and this one went on; so a report or a notification was lost.\n",
                /* clang-format on */
        };
        EXPECT_STR(head_and_why(&story), told[later]);
        story_end(&story);
    }
}

/*
 * Goal: a waker that its owner left behind in a queue is the bug, and is called so.
 * Method: the rival is polled again and waits elsewhere; then the queue fires its old waker.
 */
TEST(tell_why_the_waker_that_was_fired_had_been_left_behind)
{
    struct story story;
    story_begin(&story);
    uint32_t rival = tale_task(story.tale, "rival");
    uint32_t queue = SIM_OBJECT(RT_OBJECT_QUEUE, 0, 1);
    uint32_t timer = SIM_OBJECT(RT_OBJECT_TIMER, rival, 1);
    story.slot = queue;
    story.tale->outcome.object = queue;
    tale_poll(story.tale, rival, 0, 0);
    tale_store(story.tale, rival, queue, "a permit", tale_site(3));
    tale_polled(story.tale, rival, PENDING);
    story_sleep(&story);
    tale_poll(story.tale, rival, 200, 0);
    tale_store(story.tale, rival, timer, "sleep", tale_site(5));
    tale_polled(story.tale, rival, PENDING);
    story_bring(&story);
    tale_do_at(
            story.tale, RT_PROBE_FIRE, queue, tale_object_of(story.tale, rival), 0, tale_site(2));
    tale_do(story.tale, RT_PROBE_WAKE, tale_object_of(story.tale, rival), 0);
    EXPECT_STR(why_lost(&story, 4),
            /* clang-format off */
"Why: at step 2 (100ns) `sleeper` stored its waker for an item (wait queue 1) at story.c:10 in\n"
"step_0(); but at step 4 (300ns) `bringer` fired wait queue 1 at story.c:30 in step_2(), and the\n"
"waker that was in there is `rival`'s, stored at step 1 (0ns) at story.c:40 in step_3(). `rival` had\n"
"gone on at step 3 (200ns) and left it behind, to wait for sleep (timer 1). That step owed the wake.\n");
    /* clang-format on */
    story_end(&story);
}

/*
 * Goal: a waker that its owner keeps is not left behind, however often it is polled and whatever
 * else it waits for.
 */
TEST(tell_why_the_waker_that_was_kept_had_not_been_left_behind)
{
    struct story story;
    story_begin(&story);
    uint32_t rival = tale_task(story.tale, "rival");
    uint32_t queue = SIM_OBJECT(RT_OBJECT_QUEUE, 0, 1);
    uint32_t timer = SIM_OBJECT(RT_OBJECT_TIMER, rival, 1);
    story.slot = queue;
    story.tale->outcome.object = queue;
    tale_poll(story.tale, rival, 0, 0);
    tale_store(story.tale, rival, queue, "a permit", tale_site(3));
    tale_polled(story.tale, rival, PENDING);
    story_sleep(&story);
    tale_poll(story.tale, rival, 200, 0);
    tale_do(story.tale, RT_PROBE_KEEP, queue, tale_object_of(story.tale, rival));
    tale_store(story.tale, rival, timer, "sleep", tale_site(5));
    tale_polled(story.tale, rival, PENDING);
    story_bring(&story);
    tale_do_at(
            story.tale, RT_PROBE_FIRE, queue, tale_object_of(story.tale, rival), 0, tale_site(2));
    tale_do(story.tale, RT_PROBE_WAKE, tale_object_of(story.tale, rival), 0);
    EXPECT(strstr(why_lost(&story, 4), "`rival`'s, stored at step 1") != NULL);
    EXPECT(strstr(sim_page_text(&story.page), "left it behind") == NULL);
    story_end(&story);
}

/*
 * Goal: what was found behind a limit was not found in a stall.
 */
TEST(tell_lost_wakeup_behind_a_limit_names_the_limit)
{
    struct story story;
    story_begin(&story);
    story_sleep(&story);
    for (uint32_t i = 0; i < 50; i++) {
        story_bring(&story);
        tale_do(story.tale, SIM_EVENT_PROGRESS, 0, 0);
        tale_polled(story.tale, story.bringer, PENDING);
    }
    story_says(&story, SIM_ORACLE_REWAKE, "");
    tale_end(story.tale, SIM_VERDICT_LIVELOCK, story.sleeper);
    story.tale->outcome.verdict = SIM_VERDICT_LOST_WAKEUP;
    story.tale->outcome.owed_step = 2;
    EXPECT_STR(head_and_why(&story),
            /* clang-format off */
"lost-wakeup: `sleeper` sleeps for ever although it could go on: it waits for an item since step 1\n"
"(0ns), could have gone on after step 2 (100ns), and was never woken.\n"
"Why: at step 1 (0ns) `sleeper` stored its waker for an item at story.c:10 in step_0(); it is still\n"
"there, and nobody ever fired it. The wake was owed by step 2 (100ns), a step of `bringer`: poll,\n"
"gets on -> pending.\n"
"What a lost-wakeup is: when the limit was reached (livelock), each sleeper was polled once more in a\n"
"copy of the run, and this one went on; so all that was missing for 49 steps was somebody to wake it.\n");
    /* clang-format on */
    story_end(&story);
}

/*
 * Goal: what took round after round of polls to see is not told as if one poll had shown it.
 */
TEST(tell_lost_wakeup_found_by_rounds_lists_who_waits_for_what)
{
    struct story story;
    story_begin(&story);
    uint32_t other = SIM_OBJECT(RT_OBJECT_SLOT, 0, 2);
    story_sleep(&story);
    story_bring(&story);
    tale_store(story.tale, story.bringer, other, "its turn", tale_site(1));
    tale_polled(story.tale, story.bringer, PENDING);
    story_says(&story, SIM_ORACLE_REWAKE,
            "'sleeper' sleeps for ever, waiting for: an item; polled again and again, all that "
            "sleep, it comes to its end: only wake-ups were missing");
    tale_end(story.tale, SIM_VERDICT_LOST_WAKEUP, story.sleeper);
    EXPECT_STR(head_and_why(&story),
            /* clang-format off */
"lost-wakeup: `sleeper` sleeps for ever although it could come to its end: it waits for an item since\n"
"step 1 (0ns) and was never woken.\n"
"Why: polled once more, nobody went on; but polled in turn, all that sleep, round after round,\n"
"`sleeper` came to its end. What they wait for comes from each other, and only the wake-ups between\n"
"them are missing. So they slept:\n"
"  - `sleeper` waits for an item since step 1 (0ns) at story.c:10 in step_0()\n"
"  - `bringer` waits for its turn since step 2 (100ns) at story.c:20 in step_1()\n"
"What a lost-wakeup is: when the run stalled, all sleepers were polled in turn, round after round, in\n"
"a copy of the run, and this one came to its end; so all that was missing was wake-ups.\n");
    /* clang-format on */
    story_end(&story);
}

/*
 * Goal: a name at the start of a message reads as a name: "nothing: …" is no sentence.
 */
TEST(tell_headline_puts_names_in_quotes)
{
    static const struct {
        const char *name;
        enum sim_oracle oracle;
        const char *message;
        const char *told;
    } cases[] = {
            {"nothing", SIM_ORACLE_FAULT, "nothing: a task went to sleep",
                    "contract: in `nothing`, a task went to sleep, at step 1 (0ns).\n"},
            {"sleeper", SIM_ORACLE_FAULT, "a sleeper was woken",
                    "contract: in `sleeper`, a sleeper was woken, at step 1 (0ns).\n"},
            {"sleeper", SIM_ORACLE_FAULT, "task 'sleeper' did it",
                    "contract: task 'sleeper' did it, at step 1 (0ns).\n"},
            {"", SIM_ORACLE_PRIMITIVE_AUDIT, "queue of jobs: a waiter is left over",
                    "contract: in `queue of jobs`, a waiter is left over, at step 1 (0ns).\n"},
            {"sleeper", SIM_ORACLE_FAULT, "sleeper",
                    "contract: in `sleeper`, sleeper, at step 1 (0ns).\n"},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct story story;
        story_begin(&story);
        story_sleep(&story);
        story_says(&story, cases[i].oracle, cases[i].message);
        (void)snprintf(story.tale->outcome.actor_name, sizeof(story.tale->outcome.actor_name), "%s",
                cases[i].name);
        tale_end(story.tale, SIM_VERDICT_CONTRACT, story.sleeper);
        struct sim_tale told = {&story.tale->recorder, &story.tale->outcome, NULL, NULL, 60, false};
        EXPECT_EQ(sim_tell_headline(&story.page, &told), RT_OK);
        EXPECT_STR(sim_page_text(&story.page), cases[i].told);
        story_end(&story);
    }
}

TEST(tell_livelock_names_who_takes_turns)
{
    struct story story;
    story_begin(&story);
    for (uint32_t i = 0; i < 100; i++) {
        story_bring(&story);
        tale_polled(story.tale, story.bringer, PENDING);
        tale_poll(story.tale, story.sleeper, 0, 0);
        tale_polled(story.tale, story.sleeper, PENDING);
        story_bring(&story);
        tale_polled(story.tale, story.bringer, PENDING);
    }
    (void)snprintf(story.tale->outcome.message, SIM_MESSAGE_MAX,
            "300 steps were taken in which nothing was completed, consumed or moved");
    tale_end(story.tale, SIM_VERDICT_LIVELOCK, story.sleeper);
    struct sim_tale told = {&story.tale->recorder, &story.tale->outcome, NULL, NULL, 60, false};
    EXPECT_EQ(sim_tell_headline(&story.page, &told), RT_OK);
    EXPECT_EQ(sim_tell_why(&story.page, &told), RT_OK);
    EXPECT_STR(sim_page_text(&story.page),
            /* clang-format off */
"livelock: the run goes round in circles: 300 steps were taken in which nothing was completed,\n"
"consumed or moved.\n"
"Why: in that time no task finished, nothing was taken from a place, no byte moved, and nobody said\n"
"that it got on. The last 1000 steps went to `bringer` (200), `sleeper` (100). Somebody is waiting\n"
"for something by asking again and again.\n"
"What a livelock is: steps are taken, and for so many of them nothing gets done.\n");
    /* clang-format on */
    story_end(&story);
}

TEST(tell_starvation_names_who_went_first)
{
    struct story story;
    story_begin(&story);
    story_sleep(&story);
    story_bring(&story);
    tale_do_at(story.tale, RT_PROBE_FIRE, story.slot, story.self, 0, tale_site(2));
    tale_do_at(story.tale, RT_PROBE_WAKE, story.self, 0, 0, tale_site(2));
    tale_polled(story.tale, story.bringer, PENDING);
    for (uint32_t i = 0; i < 50; i++) {
        story_bring(&story);
        tale_polled(story.tale, story.bringer, PENDING);
    }
    (void)snprintf(
            story.tale->outcome.actor_name, sizeof(story.tale->outcome.actor_name), "sleeper");
    (void)snprintf(story.tale->outcome.message, SIM_MESSAGE_MAX,
            "task 'sleeper' was woken at step 2 and has been passed over for 50 steps");
    tale_end(story.tale, SIM_VERDICT_STARVATION, story.sleeper);
    struct sim_tale told = {&story.tale->recorder, &story.tale->outcome, NULL, NULL, 60, false};
    EXPECT_EQ(sim_tell_headline(&story.page, &told), RT_OK);
    EXPECT_EQ(sim_tell_why(&story.page, &told), RT_OK);
    EXPECT_STR(sim_page_text(&story.page),
            /* clang-format off */
"starvation: task 'sleeper' was woken at step 2 and has been passed over for 50 steps, at step 52\n"
"(5.1us).\n"
"Why: `sleeper` was woken at step 2 (100ns) at story.c:30 in step_2() and has not had a turn since.\n"
"Meanwhile the steps went to `bringer` (50). The simulator itself passes nobody over for so long: it\n"
"is the order of the runtime, or of the loop, that does.\n"
"What a starvation is: somebody could run all the time, and others always went first.\n");
    /* clang-format on */
    story_end(&story);
}

/*
 * Goal: where a deadline was passed over, not a task, the last steps are told.
 */
TEST(tell_starvation_of_a_deadline_names_who_ran_last)
{
    struct story story;
    story_begin(&story);
    uint32_t loop = tale_actor(story.tale, SIM_ACTOR_LOOP, "main");
    for (uint32_t i = 0; i < 50; i++) {
        story_bring(&story);
        tale_polled(story.tale, story.bringer, PENDING);
    }
    tale_step(story.tale, loop, 6000);
    story_says(&story, SIM_ORACLE_HOST, "a timer is due since step 2");
    tale_end(story.tale, SIM_VERDICT_STARVATION, loop);
    EXPECT(strstr(head_and_why(&story), "Why: the last 1000 steps went to `bringer` (50), `main` "
                                        "(1). The simulator") != NULL);
    story_end(&story);
}

TEST(tell_invariant_names_step_and_line)
{
    struct story story;
    story_begin(&story);
    story_bring(&story);
    tale_say(story.tale, SIM_EVENT_LOG, "balance is -1");
    (void)snprintf(
            story.tale->outcome.message, SIM_MESSAGE_MAX, "SIM_ALWAYS(balance >= 0) does not hold");
    story.tale->outcome.site = tale_site(5);
    tale_end(story.tale, SIM_VERDICT_INVARIANT, story.bringer);
    struct sim_tale told = {&story.tale->recorder, &story.tale->outcome, NULL, NULL, 60, false};
    EXPECT_EQ(sim_tell_headline(&story.page, &told), RT_OK);
    EXPECT_EQ(sim_tell_why(&story.page, &told), RT_OK);
    EXPECT_STR(sim_page_text(&story.page),
            /* clang-format off */
"invariant: in `bringer`, SIM_ALWAYS(balance >= 0) does not hold, at step 1 (0ns).\n"
"Why: it happened in step 1 (0ns), a step of `bringer`: poll, says \"balance is -1\". The line is at\n"
"story.c:60 in step_5().\n"
"What an invariant is: a condition that the scenario itself states did not hold.\n");
    /* clang-format on */
    story_end(&story);
}

TEST(tell_crash_names_the_last_thing_on_record)
{
    struct story story;
    story_begin(&story);
    story_sleep(&story);
    story_bring(&story);
    tale_do_at(story.tale, RT_PROBE_FIRE, story.slot, story.self, 0, tale_site(2));
    /* The process is gone: no end, and the outcome knows the signal only. */
    story.tale->outcome.verdict = SIM_VERDICT_CRASH;
    story.tale->outcome.actor = UINT32_MAX;
    (void)snprintf(story.tale->outcome.message, SIM_MESSAGE_MAX, "the process died of SIGSEGV");
    struct sim_tale told = {&story.tale->recorder, &story.tale->outcome, NULL, NULL, 60, false};
    EXPECT_EQ(sim_tell_headline(&story.page, &told), RT_OK);
    EXPECT_EQ(sim_tell_why(&story.page, &told), RT_OK);
    EXPECT_STR(sim_page_text(&story.page),
            /* clang-format off */
"crash: the process died of SIGSEGV.\n"
"Why: the step in which it died is step 2 (100ns), a step of `bringer`: poll, fires \"an item\". The\n"
"last thing on record is of step 2 (100ns), by `bringer`: fires \"an item\" at story.c:30 in step_2().\n"
"What a crash is: the process in which the run took place died.\n");
    /* clang-format on */
    story_end(&story);
}

/*
 * Goal: every verdict has a first sentence with its word, a reason, and a sentence on what it is;
 * with an empty record too.
 */
TEST(tell_every_verdict_has_its_words_even_without_a_record)
{
    for (uint32_t verdict = 0; verdict < SIM_VERDICTS; verdict++) {
        for (uint32_t empty = 0; empty < 2; empty++) {
            struct story story;
            story_begin(&story);
            if (empty == 0) {
                story_sleep(&story);
                story_bring(&story);
            }
            tale_end(
                    story.tale, (enum sim_verdict)verdict, empty == 0 ? story.sleeper : UINT32_MAX);
            struct sim_tale told = {&story.tale->recorder, &story.tale->outcome, "rewake replay x",
                    NULL, 60, false};
            EXPECT_EQ(sim_tell(&story.page, &told), RT_OK);
            const char *text = sim_page_text(&story.page);
            const char *word = sim_verdict_name(verdict);
            EXPECT(strncmp(text, word, strlen(word)) == 0);
            EXPECT(strstr(text, "\nWhy: ") != NULL);
            EXPECT(verdict == SIM_VERDICT_PASS || strstr(text, "\nWhat a") != NULL);
            EXPECT(strstr(text, "\nreplay: rewake replay x\n") != NULL);
            story_end(&story);
        }
    }
}

/*
 * Goal: a record that a crash has left half-written is told without a second crash.
 * Method: events and texts of random bytes, 200 times.
 */
TEST(tell_survives_a_record_of_random_bytes)
{
    uint64_t state = 1;
    for (uint32_t round = 0; round < 200; round++) {
        struct story story;
        story_begin(&story);
        for (uint32_t i = 0; i < 300; i++) {
            struct sim_event event;
            unsigned char *bytes = (unsigned char *)&event;
            for (size_t k = 0; k < sizeof(event); k++) {
                state = state * UINT64_C(6364136223846793005) + 1442695040888963407u;
                bytes[k] = (unsigned char)(state >> 56);
            }
            event.step = round % 2 == 0 ? i : event.step;
            event.actor = round % 3 == 0 ? event.actor % 5 : event.actor;
            event.kind = event.kind % 100;
            event.object = round % 5 == 0 ? event.object & 0x70000003u : event.object;
            sim_record(&story.tale->recorder, &event);
        }
        for (uint32_t i = 0; i < 20; i++) {
            state = state * UINT64_C(6364136223846793005) + 1442695040888963407u;
            story.tale->recorder.memory.texts[i] = (struct sim_text){
                    .key = state >> 60,
                    .kind = (uint32_t)(state >> 40) % 4,
                    .length = (uint32_t)(state >> 32),
                    .offset = (uint32_t)state,
            };
        }
        story.tale->recorder.texts = round % 2 == 0 ? 20 : UINT32_MAX;
        story.tale->outcome.owed_step = 150;
        story.tale->outcome.verdict = (uint8_t)(round % (SIM_VERDICTS + 1));
        story.tale->outcome.oracle = SIM_ORACLE_REWAKE;
        story.tale->outcome.actor = round % 4;
        story.tale->outcome.fail_step = 250;
        memset(story.tale->outcome.message, 'm', SIM_MESSAGE_MAX);
        memset(story.tale->outcome.actor_name, 'n', sizeof(story.tale->outcome.actor_name));
        struct sim_tale told = {&story.tale->recorder, &story.tale->outcome, NULL, NULL, 40, false};
        EXPECT_EQ(sim_tell(&story.page, &told), RT_OK);
        EXPECT_EQ(sim_tell_ledger(&story.page, &told), RT_OK);
        story_end(&story);
    }
}

/* ---- A run of the real runtime. -------------------------------------------------------------- */

struct box {
    struct rt_slot reader;
    bool full;
};

struct user {
    struct rt_task task;
    struct box *box;
    bool again;
};

/* Looks, yields, and stores its waker without looking once more. */
static rt_poll
taker_poll(struct rt_task *task, struct rt_cx *cx)
{
    struct user *user = rt_container_of(task, struct user, task);
    if (!user->again && user->box->full) {
        return RT_READY;
    }
    user->again = !user->again;
    if (user->again) {
        rt_cx_reenqueue(cx);
    } else {
        rt_slot_replace(&user->box->reader, cx, "something in the box");
    }
    return RT_PENDING;
}

static rt_poll
giver_poll(struct rt_task *task, struct rt_cx *cx)
{
    struct user *user = rt_container_of(task, struct user, task);
    (void)cx;
    user->box->full = true;
    rt_slot_wake(&user->box->reader);
    return RT_READY;
}

static void
box_setup(struct sim_world *world)
{
    struct sim_rt *rt = sim_rt_new(world, NULL);
    struct box *box = sim_new(world, struct box);
    rt_slot_init(&box->reader);
    for (uint32_t i = 0; i < 2; i++) {
        struct user *user = sim_new(world, struct user);
        user->box = box;
        rt_task_init(
                &user->task, i == 0 ? taker_poll : giver_poll, NULL, i == 0 ? "taker" : "giver");
        sim_spawn(rt, &user->task);
    }
}

/*
 * Goal: what is told of a real run names the real tasks, objects and lines.
 * Method: check, then store; the first seed that loses the wake.
 */
TEST(tell_real_run_names_the_lines_of_the_scenario)
{
    static const struct sim_scenario scenario = {.name = "test/box", .setup = box_setup};
    struct lab lab;
    struct sim_page page = {0};
    struct sim_outcome outcome = {0};
    sim_sites_init();
    lab_init(&lab, NULL, 0xa5);
    for (uint64_t seed = 1; seed < 100 && outcome.verdict != SIM_VERDICT_LOST_WAKEUP; seed++) {
        outcome = lab_judge(&lab, &scenario, seed, false);
    }
    EXPECT_EQ(outcome.verdict, SIM_VERDICT_LOST_WAKEUP);
    struct sim_tale told = {&lab.world.recorder, &outcome, NULL, NULL, SIM_ROWS_DEFAULT, false};
    EXPECT_EQ(sim_tell(&page, &told), RT_OK);
    const char *text = sim_page_text(&page);
    EXPECT(strstr(text,
                   "lost-wakeup: `taker` sleeps for ever although it could go on: it waits for "
                   "something in") == text);
    EXPECT(strstr(text, "taker falls asleep, but could go on") != NULL);
    EXPECT(strstr(text, "taker_poll()") != NULL);
    EXPECT(strstr(text, "giver_poll()") != NULL);
    EXPECT(strstr(text, "It looked first and stored afterwards") != NULL);
    ck_assert_uint_le(tale_width(text), SIM_PAGE_WIDTH);
    sim_page_fini(&page);
    lab_fini(&lab);
}
