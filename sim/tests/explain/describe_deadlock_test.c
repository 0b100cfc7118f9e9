/*
 * describe_deadlock_test.c -- all are blocked: what they wait for, and what is claimed of it.
 *
 * The golden texts are what a reader sees. When one of them changes, read it aloud
 * before you take it over.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <string.h>

#include "runtime/tests/test.h"
#include "sim/explain/view/describe.h"
#include "sim/tests/explain/story.h"

/*
 * Goal: a deadlock names all actors that are left and the circle in which they wait; those who have
 * finished are not named.
 */
TEST(describe_deadlock_names_who_waits_for_whom)
{
    struct story story;
    story_begin(&story);
    struct tale *tale = story.tale;
    uint32_t third = tale_task(tale, "done already");
    tale_poll(tale, third, 0, 0);
    tale_polled(tale, third, READY);
    tale_poll(tale, story.waiter, 100, 0);
    tale_store(tale, story.waiter, tale_object_of(tale, story.bringer), "join", tale_site(0));
    tale_polled(tale, story.waiter, PENDING);
    tale_poll(tale, story.bringer, 200, 0);
    tale_store(tale, story.bringer, story.self, "its end", tale_site(1));
    tale_polled(tale, story.bringer, PENDING);
    tale_end(tale, SIM_VERDICT_DEADLOCK, story.waiter);
    struct sim_run_view view = {
            .recorder = &tale->recorder, .outcome = &tale->outcome, .rows_max = 60};
    sim_describe_run(&story.page, &view, SIM_DESCRIBE_HEADLINE);
    sim_describe_run(&story.page, &view, SIM_DESCRIBE_WHY);
    EXPECT_STR(sim_page_text(&story.page),
            /* clang-format off */
"deadlock: no task can make progress: `blocked` waits for the end of bringer since step 2 (100ns);\n"
"`bringer` waits for its end (blocked) since step 3 (200ns).\n"
"Why: no actor can run, no timer is running, no host event is pending, and all that are left are\n"
"blocked:\n"
"  - `blocked` waits for the end of bringer since step 2 (100ns) at story.c:10 in step_0()\n"
"  - `bringer` waits for its end (blocked) since step 3 (200ns) at story.c:20 in step_1()\n"
"They wait in a cycle: `blocked` waits for `bringer`, which waits for `blocked`.\n"
"In replays each blocked task was polled once more, the host reported everything ready again, and\n"
"then all were polled in turn, up to 64 rounds; none made progress.\n");
    /* clang-format on */
    story_end(&story);
}

/*
 * Goal: of a loop nothing is claimed that was not done: it was never polled. What it waits for is
 * in no ledger, and printed from the outcome.
 */
TEST(describe_deadlock_of_a_loop_does_not_claim_that_no_wake_is_missing)
{
    struct story story;
    story_begin(&story);
    struct tale *tale = story.tale;
    uint32_t loop = tale_actor(tale, SIM_ACTOR_LOOP, "my loop");
    uint32_t rt = tale_actor(tale, SIM_ACTOR_LOOP, "rt");
    tale_poll(tale, story.bringer, 0, 0);
    tale_polled(tale, story.bringer, READY);
    tale_poll(tale, story.waiter, 50, 0);
    tale_polled(tale, story.waiter, READY);
    tale_step(tale, rt, 75);
    tale_step(tale, loop, 100);
    tale_step(tale, loop, 200);
    story_waits(&story, loop, "mail");
    tale_end(tale, SIM_VERDICT_DEADLOCK, loop);
    EXPECT_STR(head_and_why(&story),
            /* clang-format off */
"deadlock: no task can make progress: `my loop` waits for mail since step 5 (200ns).\n"
"Why: no actor can run, no timer is running, no host event is pending, and all that are left are\n"
"blocked:\n"
"  - `my loop` waits for mail since step 5 (200ns)\n"
"In a replay the host reported everything ready again; no task made progress.\n"
"`my loop` is a loop of the program: it cannot be polled, only its host can be made to report again;\n"
"a wake lost inside it looks like this too.\n");
    /* clang-format on */
    story_end(&story);
}

/*
 * Goal: below an answer that says with what a task makes progress, "no task made progress" is only
 * why it is called a deadlock, and nothing says that a loop could not be asked, or that no wake is
 * missing.
 */
TEST(describe_deadlock_below_an_answer_does_not_contradict_it)
{
    struct story story;
    story_begin(&story);
    struct tale *tale = story.tale;
    uint32_t loop = tale_actor(tale, SIM_ACTOR_LOOP, "my loop");
    tale_poll(tale, story.waiter, 0, 0);
    tale_polled(tale, story.waiter, READY);
    tale_poll(tale, story.bringer, 0, 0);
    tale_polled(tale, story.bringer, READY);
    tale_step(tale, loop, 100);
    story_waits(&story, loop, "mail");
    tale_end(tale, SIM_VERDICT_DEADLOCK, loop);
    const char *text = head_and_why_of(&story, true);
    EXPECT(strstr(text, "deadlock: no task makes progress: ") == text);
    EXPECT(strstr(text, "a task made progress.\n") != NULL);
    EXPECT(strstr(text, "cannot be polled") == NULL);
    story_end(&story);
}

/*
 * Goal: tasks were polled, loops were not: both are said.
 */
TEST(describe_deadlock_of_tasks_and_loops_tells_them_apart)
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
    story_waits(&story, first, "its socket");
    tale_end(tale, SIM_VERDICT_DEADLOCK, story.waiter);
    EXPECT_STR(head_and_why(&story),
            /* clang-format off */
"deadlock: no task can make progress: `blocked` waits for an item since step 2 (100ns); `first` waits\n"
"for its socket since step 3 (200ns); `second` waits for socket since step 4 (300ns).\n"
"Why: no actor can run, no timer is running, no host event is pending, and all that are left are\n"
"blocked:\n"
"  - `blocked` waits for an item since step 2 (100ns) at story.c:10 in step_0()\n"
"  - `first` waits for its socket since step 3 (200ns)\n"
"  - `second` waits for socket since step 4 (300ns)\n"
"In replays each task was polled once more, the host reported everything ready again, and then all\n"
"were polled in turn, up to 64 rounds; none made progress.\n"
"`first`, `second` are loops of the program: they cannot be polled, only their host can be made to\n"
"report again; a wake lost inside one looks like this too.\n");
    /* clang-format on */
    story_end(&story);
}

/*
 * Goal: the actor that is explained is named first, however many are blocked; the steps that the
 * text names stand in the columns, however few rows they have.
 */
TEST(describe_deadlock_begins_with_who_is_explained)
{
    struct story story;
    story_begin(&story);
    struct tale *tale = story.tale;
    const uint64_t cited = 20;
    uint32_t last = 0;
    for (uint32_t i = 0; i < 40; i++) {
        last = tale_task(tale, i == 39 ? "explained" : "other");
        tale_poll(tale, last, i * UINT64_C(100), 0);
        tale_store(tale, last, story.slot, "an item", tale_site(0));
        tale_polled(tale, last, PENDING);
    }
    tale_end(tale, SIM_VERDICT_DEADLOCK, 1);
    struct sim_run_view view = {.recorder = &tale->recorder,
            .outcome = &tale->outcome,
            .first = last,
            .rows_max = 10,
            .cited = &cited,
            .cited_count = 1};
    sim_describe_run(&story.page, &view, SIM_DESCRIBE_HEADLINE | SIM_DESCRIBE_COLUMNS);
    const char *text = sim_page_text(&story.page);
    EXPECT(strstr(text, "progress: `explained` waits for an item") != NULL);
    EXPECT(strstr(text, "and 37 more") != NULL);
    EXPECT(strstr(text, "\n  20     1.9us  ") != NULL);
    EXPECT(strstr(text, "\n  19     1.8us  ") == NULL);
    story_end(&story);
}

/*
 * Goal: a loop has no waker; the report says when it began to wait and that it was not notified.
 * Method: it could go on already when it blocked; then only later.
 */
TEST(describe_lost_wakeup_of_a_loop_names_when_it_blocked)
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
        tale->outcome.missing_wake_step = 3 + later;
        tale_end(tale, SIM_VERDICT_LOST_WAKEUP, loop);
        static const char *const printed[] = {
                /* clang-format off */
"lost-wakeup: `worker loop` is blocked forever although it could make progress: it waits for notify\n"
"since step 3 (200ns), when it could already make progress, and was never woken.\n"
"Why: `worker loop` began to wait for notify at step 3 (200ns), when it could already have made\n"
"progress; it was not notified after that.\n"
"When the run stalled, the host reported everything ready again, in a replay, and this one made\n"
"progress; so a report or a notification was lost.\n",
"lost-wakeup: `worker loop` is blocked forever although it could make progress: it waits for notify\n"
"since step 3 (200ns), could have made progress after step 4 (300ns), and was never woken.\n"
"Why: `worker loop` began to wait for notify at step 3 (200ns); what it waits for arrived after that,\n"
"and it was not notified. `worker loop` should have been woken by step 4 (300ns), a step of\n"
"`bringer`: poll, takes 1 -> ready. Its last line on record is at story.c:30 in step_2().\n"
"When the run stalled, the host reported everything ready again, in a replay, and this one made\n"
"progress; so a report or a notification was lost.\n",
                /* clang-format on */
        };
        EXPECT_STR(head_and_why(&story), printed[later]);
        story_end(&story);
    }
}

/*
 * Goal: what took round after round of polls to see is not printed as if one poll had shown it.
 */
TEST(describe_lost_wakeup_found_by_rounds_lists_who_waits_for_what)
{
    struct story story;
    story_begin(&story);
    uint32_t other = SIM_OBJECT(RT_OBJECT_SLOT, 0, 2);
    story_sleep(&story);
    story_bring(&story);
    tale_store(story.tale, story.bringer, other, "its turn", tale_site(1));
    tale_polled(story.tale, story.bringer, PENDING);
    story.tale->outcome.oracle = SIM_ORACLE_REWAKE;
    story.tale->outcome.reason = SIM_REASON_ROUNDS;
    tale_end(story.tale, SIM_VERDICT_LOST_WAKEUP, story.waiter);
    EXPECT_STR(head_and_why(&story),
            /* clang-format off */
"lost-wakeup: `blocked` is blocked forever although it could finish: it waits for an item since step\n"
"1 (0ns) and was never woken.\n"
"Why: polled once more, no task made progress; with all blocked tasks polled in turn, round after\n"
"round, `blocked` finished. They wait for each other, and only the wake-ups between them are missing.\n"
"They were blocked here:\n"
"  - `blocked` waits for an item since step 1 (0ns) at story.c:10 in step_0()\n"
"  - `bringer` waits for its turn since step 2 (100ns) at story.c:20 in step_1()\n"
"When the run stalled, all blocked tasks were polled in turn, round after round, in a replay, and\n"
"this one finished; so only wake-ups were missing.\n");
    /* clang-format on */
    story_end(&story);
}
