/*
 * describe_why_test.c -- why a wake was lost: each way to lose one.
 *
 * The golden texts are what a reader sees. When one of them changes, read it aloud
 * before you take it over.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <string.h>

#include "runtime/tests/test.h"
#include "sim/explain/view/describe.h"
#include "sim/explain/view/wake_outcome.h"
#include "sim/tests/explain/story.h"

TEST(describe_why_waker_never_stored)
{
    struct story story;
    story_begin(&story);
    tale_poll(story.tale, story.waiter, 0, 0);
    tale_polled(story.tale, story.waiter, PENDING);
    story_bring(&story);
    tale_do_at(story.tale, RT_PROBE_FIRE_EMPTY, story.slot, 0, 0, tale_site(2));
    EXPECT_STR(why_lost(&story, 2),
            /* clang-format off */
"Why: the last poll of `blocked`, at step 1 (0ns), returned pending, but no waker was stored for it,\n"
"then or before: nothing could wake it. `blocked` should have been woken by step 2 (100ns), a step of\n"
"`bringer`: poll, wakes slot 1: no waiter registered. Its last line on record is at story.c:30 in\n"
"step_2().\n");
    /* clang-format on */
    story_end(&story);
}

TEST(describe_why_waker_stored_and_never_fired)
{
    struct story story;
    story_begin(&story);
    story_sleep(&story);
    story_bring(&story);
    tale_do_at(story.tale, RT_PROBE_CONSUME, 0, 1, 0, tale_site(2));
    tale_polled(story.tale, story.bringer, PENDING);
    EXPECT_STR(why_lost(&story, 2),
            /* clang-format off */
"Why: at step 1 (0ns) `blocked` stored its waker for an item at story.c:10 in step_0(); it is still\n"
"there, and was never fired. `blocked` should have been woken by step 2 (100ns), a step of `bringer`:\n"
"poll, takes 1 -> pending. Its last line on record is at story.c:30 in step_2().\n");
    /* clang-format on */
    story_end(&story);
}

TEST(describe_why_wake_came_before_the_store)
{
    struct story story;
    story_begin(&story);
    tale_poll(story.tale, story.waiter, 0, 0);
    tale_do(story.tale, RT_PROBE_WAKE, story.self, 2);
    tale_polled(story.tale, story.waiter, PENDING);
    story_bring(&story);
    tale_do_at(story.tale, RT_PROBE_FIRE_EMPTY, story.slot, 0, 0, tale_site(2));
    tale_polled(story.tale, story.bringer, READY);
    story_sleep(&story);
    EXPECT_STR(why_lost(&story, 3),
            /* clang-format off */
"Why: at step 3 (200ns) `blocked` stored its waker for an item at story.c:10 in step_0(), but what it\n"
"waits for had happened by then: at step 2 (100ns) `bringer` had woken the empty slot at story.c:30\n"
"in step_2(). It checked first and stored its waker afterwards, and did not check again.\n");
    /* clang-format on */
    story_end(&story);
}

TEST(describe_why_waker_replaced_by_another)
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
"Why: at step 1 (0ns) `blocked` stored its waker for an item at story.c:10 in step_0(), in a slot for\n"
"one waker; at step 2 (100ns) `thief` put another one there at story.c:40 in step_3(), and from then\n"
"on nothing could wake `blocked`. `blocked` should have been woken by step 3 (200ns), a step of\n"
"`bringer`: poll, fires \"an item\", wakes thief. Its last line on record is at story.c:30 in step_2().\n");
    /* clang-format on */
    story_end(&story);
}

TEST(describe_why_waker_erased_without_a_wake)
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
"Why: at step 1 (0ns) `blocked` stored its waker for an item at story.c:10 in step_0(); at step 2\n"
"(100ns) `bringer` emptied the slot without waking at story.c:20 in step_1(), and the waker was gone.\n"
"`blocked` should have been woken by step 3 (200ns), a step of `bringer`: poll, wakes \"an item\": no\n"
"waiter registered. Its last line on record is at story.c:30 in step_2().\n");
    /* clang-format on */
    story_end(&story);
}

TEST(describe_why_clone_dropped_without_a_wake)
{
    struct story story;
    story_begin(&story);
    tale_poll(story.tale, story.waiter, 0, 0);
    tale_do_at(story.tale, RT_PROBE_CLONE, story.self, story.self, 0, tale_site(0));
    tale_polled(story.tale, story.waiter, PENDING);
    story_bring(&story);
    tale_do_at(story.tale, RT_PROBE_DROP, story.self, story.self, 0, tale_site(1));
    EXPECT_STR(why_lost(&story, 2),
            /* clang-format off */
"Why: at step 1 (0ns) `blocked` gave away a clone of its waker at story.c:10 in step_0(); at step 2\n"
"(100ns) `bringer` dropped it without waking at story.c:20 in step_1(). That step should have woken\n"
"it.\n");
    /* clang-format on */
    story_end(&story);
}

/* A05: the timer was started under another task's waker, and the future has moved. */
TEST(describe_why_the_wake_went_to_somebody_else)
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
    tale_poll(story.tale, story.waiter, 100, 0);
    tale_polled(story.tale, story.waiter, PENDING);
    tale_step(story.tale, loop, 200);
    tale_do(story.tale, RT_PROBE_EXPIRE, timer, 200);
    tale_do_at(
            story.tale, RT_PROBE_FIRE, timer, tale_object_of(story.tale, before), tale_site(4), 0);
    tale_do(story.tale, RT_PROBE_WAKE, tale_object_of(story.tale, before), 0);
    EXPECT_STR(why_lost(&story, 3),
            /* clang-format off */
"Why: no waker of `blocked` was stored; at step 3 (200ns) `rt` fired timer 1 of the task before at\n"
"story.c:50 in step_4(), and the waker in it is `the task before`'s, stored at step 1 (0ns) at\n"
"story.c:10 in step_0(). That step should have woken it.\n");
    /* clang-format on */
    story_end(&story);
}

/* One of two who wait in a queue is woken, and does not pass it on. */
TEST(describe_why_the_other_one_in_the_queue_was_woken)
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
"Why: at step 2 (100ns) `blocked` stored its waker for an item (wait queue 1) at story.c:10 in\n"
"step_0(); but at step 3 (200ns) `bringer` fired wait queue 1 at story.c:30 in step_2(), and the\n"
"waker in it is `rival`'s, stored at step 1 (0ns) at story.c:40 in step_3(). That step should have\n"
"woken it.\n");
    /* clang-format on */
    story_end(&story);
}

/* It waits for two things; which one would do is not known. What went wrong is reported. */
TEST(describe_why_prefers_the_wait_that_went_wrong)
{
    struct story story;
    story_begin(&story);
    uint32_t second = SIM_OBJECT(RT_OBJECT_SLOT, 0, 2);
    tale_poll(story.tale, story.waiter, 0, 0);
    tale_store(story.tale, story.waiter, second, "the first of two", tale_site(0));
    tale_store(story.tale, story.waiter, story.slot, "the second of two", tale_site(1));
    tale_polled(story.tale, story.waiter, PENDING);
    story.tale->outcome.object = 0;
    story_bring(&story);
    tale_do_at(story.tale, RT_PROBE_ERASE, second, story.self, 0, tale_site(2));
    story_bring(&story);
    EXPECT_STR(why_lost(&story, 3),
            /* clang-format off */
"Why: at step 1 (0ns) `blocked` stored its waker for the first of two at story.c:10 in step_0(); at\n"
"step 2 (100ns) `bringer` emptied the slot without waking at story.c:30 in step_2(), and the waker\n"
"was gone. `blocked` should have been woken by step 3 (200ns), a step of `bringer`: poll.\n");
    /* clang-format on */
    story_end(&story);
}

TEST(describe_why_the_waker_was_of_a_task_that_is_gone)
{
    struct story story;
    story_begin(&story);
    story_sleep(&story);
    story_bring(&story);
    tale_do_at(story.tale, RT_PROBE_FIRE, story.slot, story.self, 0, tale_site(2));
    tale_do(story.tale, RT_PROBE_WAKE_DEAD, 0, 77);
    EXPECT_STR(why_lost(&story, 2),
            /* clang-format off */
"Why: at step 1 (0ns) `blocked` stored its waker for an item at story.c:10 in step_0(); at step 2\n"
"(100ns) `bringer` fired it at story.c:30 in step_2(), but it was the waker of a task that has\n"
"finished: such a wake has no effect. That step should have woken it.\n");
    /* clang-format on */
    story_end(&story);
}

TEST(describe_why_a_combinator_kept_the_wake_to_itself)
{
    struct story story;
    story_begin(&story);
    uint32_t join = SIM_OBJECT(RT_OBJECT_JOIN, 0, 1);
    tale_poll(story.tale, story.waiter, 0, 0);
    tale_do_at(story.tale, RT_PROBE_STORE, story.slot, join, 0, tale_site(0));
    tale_polled(story.tale, story.waiter, PENDING);
    story_bring(&story);
    tale_do_at(story.tale, RT_PROBE_FIRE, story.slot, join, 0, tale_site(2));
    tale_do(story.tale, RT_PROBE_SUBWAKE, join, 1);
    EXPECT_STR(why_lost(&story, 2),
            /* clang-format off */
"Why: at step 1 (0ns) `blocked` stored its waker for slot 1 at story.c:10 in step_0(), as a child of\n"
"join 1; at step 2 (100ns) `bringer` fired it at story.c:30 in step_2(), the combinator noted which\n"
"child it is for, and did not wake `blocked`. That step should have woken it.\n");
    /* clang-format on */
    story_end(&story);
}

TEST(describe_why_the_host_reported_and_nobody_passed_it_on)
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
"Why: at step 1 (0ns) `blocked` stored its waker for an item (socket) at story.c:10 in step_0(); at\n"
"step 3 (200ns) the host reported it as ready, and the runtime did not fire the waker. `blocked`\n"
"should have been woken by step 2 (100ns), a step of `socket`: is ready.\n");
    /* clang-format on */
    story_end(&story);
}

/* A08, A09: a wake during the poll, and the flag is cleared afterwards. */
TEST(describe_why_a_wake_during_its_poll_was_forgotten)
{
    struct story story;
    story_begin(&story);
    tale_poll(story.tale, story.waiter, 0, 0);
    tale_do_at(story.tale, RT_PROBE_WAKE, story.self, 2, 0, tale_site(0));
    tale_polled(story.tale, story.waiter, PENDING);
    story_bring(&story);
    EXPECT_STR(why_lost(&story, 1),
            /* clang-format off */
"Why: at step 1 (0ns) `blocked` woke itself at story.c:10 in step_0(), while it was being polled, and\n"
"the runtime dropped that: no poll followed. So the wake was sent, and lost between there and the\n"
"poll. The waker was called; the run queue lost the task.\n");
    /* clang-format on */
    story_end(&story);
}

/*
 * Goal: a wake that was forgotten is reported as such only when no poll followed it.
 */
TEST(describe_wake_that_was_followed_by_a_poll_is_no_reason)
{
    struct story story;
    struct sim_actor_table actor_table;
    struct sim_ledger ledger;
    struct sim_wake_outcome wake_outcome;
    story_begin(&story);
    story_sleep(&story);
    story_bring(&story);
    tale_do(story.tale, RT_PROBE_FIRE, story.slot, story.self);
    tale_do(story.tale, RT_PROBE_WAKE, story.self, 0);
    tale_polled(story.tale, story.bringer, PENDING);
    story_sleep(&story);
    story_bring(&story);
    tale_end(story.tale, SIM_VERDICT_LOST_WAKEUP, story.waiter);
    story.tale->outcome.missing_wake_step = 4;
    sim_actor_table_make(&actor_table, &story.tale->recorder);
    sim_ledger_make(&ledger, &actor_table);
    sim_wake_outcome_find(&ledger, &story.tale->outcome, &wake_outcome);
    EXPECT_STR(sim_wake_outcome_name(wake_outcome.kind), "never-fired");
    EXPECT_EQ(wake_outcome.wait->store_step, 3);
    sim_ledger_free(&ledger);
    sim_actor_table_free(&actor_table);
    story_end(&story);
}

/*
 * Goal: a late wake-up is judged as things stood when it was found, not as they were afterwards.
 * Method: the run goes on after the audit, and the waker is fired there.
 */
TEST(describe_late_wakeup_looks_at_the_moment_of_the_audit)
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
    tale_end(story.tale, SIM_VERDICT_LATE_WAKEUP, story.waiter);
    story.tale->outcome.oracle = SIM_ORACLE_QUIET_AUDIT;
    story.tale->outcome.fail_step = 2;
    story.tale->outcome.missing_wake_step = 2;
    struct sim_run_view view = {
            .recorder = &story.tale->recorder, .outcome = &story.tale->outcome, .rows_max = 60};
    sim_describe_run(&story.page, &view, SIM_DESCRIBE_HEADLINE);
    sim_describe_run(&story.page, &view, SIM_DESCRIBE_WHY);
    EXPECT_STR(sim_page_text(&story.page),
            /* clang-format off */
"late-wakeup: `blocked` was woken too late: it waits for an item since step 1 (0ns), could have made\n"
"progress after step 2 (100ns), and was still blocked when nothing could run, at step 2 (100ns).\n"
"Why: at step 1 (0ns) `blocked` stored its waker for an item at story.c:10 in step_0(); it was still\n"
"there when nothing could run, and had not been fired. `blocked` should have been woken by step 2\n"
"(100ns), a step of `bringer`: poll -> pending.\n"
"While nothing could run, before the clock moved on, the blocked task was polled once more in a\n"
"replay, and made progress; so it could have been woken earlier.\n");
    /* clang-format on */
    story_end(&story);
}

/*
 * Goal: a late wake-up of a loop is explained by the question that it was asked.
 * Method: a loop that waits in its host; a loop cannot be polled.
 */
TEST(describe_late_wakeup_of_a_loop_has_the_question_to_its_host)
{
    struct tale *tale = tale_new();
    struct sim_page page;
    uint32_t loop = tale_actor(tale, SIM_ACTOR_LOOP, "loop");
    sim_page_init(&page, false);
    tale_step(tale, loop, 0);
    tale_do(tale, SIM_EVENT_BLOCK, 0, 1);
    tale_clock(tale, 5000000);
    tale_step(tale, loop, 5000000);
    tale_do(tale, SIM_EVENT_UNBLOCK, 0, 1);
    tale_end(tale, SIM_VERDICT_LATE_WAKEUP, loop);
    tale->outcome.oracle = SIM_ORACLE_QUIET_AUDIT;
    tale->outcome.fail_step = 1;
    struct sim_run_view described = {
            .recorder = &tale->recorder, .outcome = &tale->outcome, .rows_max = 60};
    sim_describe_run(&page, &described, SIM_DESCRIBE_WHY);
    EXPECT(strstr(sim_page_text(&page), "once more") == NULL);
    EXPECT(strstr(sim_page_text(&page), "its host returned") != NULL);
    sim_page_fini(&page);
    tale_free(tale);
}

/*
 * Goal: a waker that its owner left behind in a queue is the bug, and is called so.
 * Method: the rival is polled again and waits elsewhere; then the queue fires its old waker.
 */
TEST(describe_why_the_waker_that_was_fired_had_been_left_behind)
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
"Why: at step 2 (100ns) `blocked` stored its waker for an item (wait queue 1) at story.c:10 in\n"
"step_0(); but at step 4 (300ns) `bringer` fired wait queue 1 at story.c:30 in step_2(), and the\n"
"waker in it is `rival`'s, stored at step 1 (0ns) at story.c:40 in step_3(). `rival` continued at\n"
"step 3 (200ns), left it there, and then waited for sleep (timer 1). That step should have woken it.\n");
    /* clang-format on */
    story_end(&story);
}

/*
 * Goal: a waker that its owner keeps is not left behind, however often it is polled and whatever
 * else it waits for.
 */
TEST(describe_why_the_waker_that_was_kept_had_not_been_left_behind)
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
