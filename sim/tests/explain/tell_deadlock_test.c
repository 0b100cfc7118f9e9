/*
 * tell_deadlock_test.c -- everybody sleeps: who waits for what, and what is claimed of it.
 *
 * The golden texts are what a reader sees. When one of them changes, read it aloud
 * before you take it over.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <string.h>

#include "runtime/tests/test.h"
#include "sim/explain/view/tell.h"
#include "sim/tests/explain/story.h"

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
    tale_poll(tale, story.waiter, 100, 0);
    tale_store(tale, story.waiter, tale_object_of(tale, story.bringer), "join", tale_site(0));
    tale_polled(tale, story.waiter, PENDING);
    tale_poll(tale, story.bringer, 200, 0);
    tale_store(tale, story.bringer, story.self, "its end", tale_site(1));
    tale_polled(tale, story.bringer, PENDING);
    tale_end(tale, SIM_VERDICT_DEADLOCK, story.waiter);
    struct sim_tale told = {.recorder = &tale->recorder, .outcome = &tale->outcome, .rows_max = 60};
    EXPECT_EQ(sim_tell_headline(&story.page, &told), RT_OK);
    EXPECT_EQ(sim_tell_why(&story.page, &told), RT_OK);
    EXPECT_STR(sim_page_text(&story.page),
            /* clang-format off */
"deadlock: nobody can go on: `blocked` waits for the end of bringer since step 2 (100ns); `bringer`\n"
"waits for its end (blocked) since step 3 (200ns).\n"
"Why: nothing is enabled, no timer is running, no event of the host is on its way, and everybody who\n"
"is left sleeps:\n"
"  - `blocked` waits for the end of bringer since step 2 (100ns) at story.c:10 in step_0()\n"
"  - `bringer` waits for its end (blocked) since step 3 (200ns) at story.c:20 in step_1()\n"
"They wait in a circle: `blocked` waits for `bringer`, which waits for `blocked`.\n"
"In copies of the run each blocked task was polled once more, the host was made to report everything\n"
"ready again, and then everybody was polled in turn, up to 64 rounds; nobody went on: no poll and no\n"
"report is missing, but something was never done (a permit granted, a message sent, a lock released).\n"
"What a deadlock is: everybody sleeps, and nobody was seen to go on when asked again.\n");
    /* clang-format on */
    story_end(&story);
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
    tale_poll(tale, story.waiter, 50, 0);
    tale_polled(tale, story.waiter, READY);
    tale_step(tale, rt, 75);
    tale_step(tale, loop, 100);
    tale_step(tale, loop, 200);
    story_waits(&story, loop, "mail");
    tale_end(tale, SIM_VERDICT_DEADLOCK, loop);
    EXPECT_STR(head_and_why(&story),
            /* clang-format off */
"deadlock: nobody can go on: `my loop` waits for mail since step 5 (200ns).\n"
"Why: nothing is enabled, no timer is running, no event of the host is on its way, and everybody who\n"
"is left sleeps:\n"
"  - `my loop` waits for mail since step 5 (200ns)\n"
"In a copy of the run the host was made to report everything ready again; nobody went on.\n"
"`my loop` is a loop of your own: it cannot be polled, only its host made to report again; a wake\n"
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
    tale_poll(tale, story.waiter, 0, 0);
    tale_polled(tale, story.waiter, READY);
    tale_poll(tale, story.bringer, 0, 0);
    tale_polled(tale, story.bringer, READY);
    tale_step(tale, loop, 100);
    story_waits(&story, loop, "mail");
    tale_end(tale, SIM_VERDICT_DEADLOCK, loop);
    const char *text = head_and_why_of(&story, true);
    EXPECT(strstr(text, "deadlock: nobody goes on: ") == text);
    EXPECT(strstr(text, "nobody went on, so the\n"
                        "verdict is deadlock and not lost-wakeup. In another copy what is told "
                        "above was "
                        "put right, and\nsomebody went on.\n") != NULL);
    EXPECT(strstr(text, "cannot be polled") == NULL);
    EXPECT(strstr(text, "no report is missing") == NULL);
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
    story_waits(&story, first, "its socket");
    tale_end(tale, SIM_VERDICT_DEADLOCK, story.waiter);
    EXPECT_STR(head_and_why(&story),
            /* clang-format off */
"deadlock: nobody can go on: `blocked` waits for an item since step 2 (100ns); `first` waits for its\n"
"socket since step 3 (200ns); `second` waits for socket since step 4 (300ns).\n"
"Why: nothing is enabled, no timer is running, no event of the host is on its way, and everybody who\n"
"is left sleeps:\n"
"  - `blocked` waits for an item since step 2 (100ns) at story.c:10 in step_0()\n"
"  - `first` waits for its socket since step 3 (200ns)\n"
"  - `second` waits for socket since step 4 (300ns)\n"
"In copies of the run each task was polled once more, the host was made to report everything ready\n"
"again, and then everybody was polled in turn, up to 64 rounds; nobody went on.\n"
"`first`, `second` are loops of your own: they cannot be polled, only their host made to report\n"
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
"lost-wakeup: `worker loop` sleeps forever although it could go on: it waits for notify since step 3\n"
"(200ns), which had come by then, and was never woken.\n"
"Why: `worker loop` began to wait for notify at step 3 (200ns), when it could already have gone on;\n"
"nobody notified it after that.\n"
"What a lost-wakeup is: when the run stalled, the host was made to report again whatever is ready, in\n"
"a copy of the run, and this one went on; so a report or a notification was lost.\n",
"lost-wakeup: `worker loop` sleeps forever although it could go on: it waits for notify since step 3\n"
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
    story.tale->outcome.oracle = SIM_ORACLE_REWAKE;
    story.tale->outcome.reason = SIM_REASON_ROUNDS;
    tale_end(story.tale, SIM_VERDICT_LOST_WAKEUP, story.waiter);
    EXPECT_STR(head_and_why(&story),
            /* clang-format off */
"lost-wakeup: `blocked` sleeps forever although it could come to its end: it waits for an item since\n"
"step 1 (0ns) and was never woken.\n"
"Why: polled once more, nobody went on; but polled in turn, all that sleep, round after round,\n"
"`blocked` came to its end. What they wait for comes from each other, and only the wake-ups between\n"
"them are missing. So they slept:\n"
"  - `blocked` waits for an item since step 1 (0ns) at story.c:10 in step_0()\n"
"  - `bringer` waits for its turn since step 2 (100ns) at story.c:20 in step_1()\n"
"What a lost-wakeup is: when the run stalled, all blocked tasks were polled in turn, round after\n"
"round, in a copy of the run, and this one came to its end; so all that was missing was wake-ups.\n");
    /* clang-format on */
    story_end(&story);
}
