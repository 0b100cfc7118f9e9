/*
 * describe_test.c -- the failure report: the whole of it, and each verdict.
 *
 * The golden texts are what a reader sees. When one of them changes, read it aloud
 * before you take it over.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <stdio.h>
#include <string.h>

#include "runtime/tests/test.h"
#include "sim/core/record/site.h"
#include "sim/explain/view/columns.h"
#include "sim/explain/view/describe.h"
#include "sim/tests/explain/story.h"
#include "sim/tests/lab.h"

/*
 * Goal: the whole report, as it stands in the terminal.
 */
TEST(describe_lost_wakeup_from_the_first_line_to_the_commands)
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
    tale->outcome.missing_wake_step = 3;
    tale->outcome.oracle = SIM_ORACLE_REWAKE;
    tale_end(tale, SIM_VERDICT_LOST_WAKEUP, story.waiter);
    struct sim_run_view view = {
            .recorder = &tale->recorder, .outcome = &tale->outcome, .rows_max = SIM_ROWS_DEFAULT};
    sim_describe_run(&story.page, &view, SIM_DESCRIBE_FAILURE);
    EXPECT_STR(sim_page_text(&story.page),
            /* clang-format off */
"lost-wakeup: `blocked` is blocked forever although it could make progress: it waits for an item\n"
"since step 1 (0ns), could have made progress after step 3 (2ms), and was never woken.\n"
"\n"
"step      time  blocked                                    bringer\n"
"   1       0ns  poll, stores waker for an item -> pending\n"
"   2     100ns                                             poll, erases the waker of blocked for \"an\n"
"                                                           item\" -> pending\n"
"     ~~~ all wait; 1.999ms pass ~~~\n"
"   3       2ms                                             poll, says \"here is the item\", wakes \"an\n"
"                                                           item\": no waiter registered -> ready\n"
"                <-- here blocked should have been woken\n"
"     the run ends: lost-wakeup\n"
"\n"
"Why: at step 1 (0ns) `blocked` stored its waker for an item at story.c:10 in step_0(); at step 2\n"
"(100ns) `bringer` emptied the slot without waking at story.c:20 in step_1(), and the waker was gone.\n"
"`blocked` should have been woken by step 3 (2ms), a step of `bringer`: poll, says \"here is the\n"
"item\", wakes \"an item\": no waiter registered -> ready. Its last line on record is at story.c:30 in\n"
"step_2().\n"
"When the run stalled, each blocked task was polled once more in a replay, and this one made\n"
"progress; so all that was missing was a wake-up.\n");
    /* clang-format on */
    story_end(&story);
}

/*
 * Goal: what was found behind a limit was not found in a stall.
 */
TEST(describe_lost_wakeup_behind_a_limit_names_the_limit)
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
    tale_end(story.tale, SIM_VERDICT_LIVELOCK, story.waiter);
    story.tale->outcome.verdict = SIM_VERDICT_LOST_WAKEUP;
    story.tale->outcome.missing_wake_step = 2;
    EXPECT_STR(head_and_why(&story),
            /* clang-format off */
"lost-wakeup: `blocked` is blocked forever although it could make progress: it waits for an item\n"
"since step 1 (0ns), could have made progress after step 2 (100ns), and was never woken.\n"
"Why: at step 1 (0ns) `blocked` stored its waker for an item at story.c:10 in step_0(); it is still\n"
"there, and was never fired. `blocked` should have been woken by step 2 (100ns), a step of `bringer`:\n"
"poll, makes progress -> pending.\n"
"When the limit was reached (livelock), each blocked task was polled once more in a replay, and this\n"
"one made progress; so all that was missing for 49 steps was a wake-up.\n");
    /* clang-format on */
    story_end(&story);
}

/*
 * Goal: a name reads as a name, and stands there once: "in nothing, …" is no sentence.
 */
TEST(describe_headline_puts_names_in_quotes)
{
    static const struct {
        const char *name;
        enum sim_oracle oracle;
        enum sim_reason reason;
        const char *message;
        const char *printed;
    } cases[] = {
            {"blocked", SIM_ORACLE_FAULT, SIM_REASON_NONE, "a blocked task was woken",
                    "contract: in `blocked`, a blocked task was woken, at step 1 (0ns).\n"},
            {"blocked", SIM_ORACLE_FAULT, SIM_REASON_NAMED, "task 'blocked' did it",
                    "contract: task 'blocked' did it, at step 1 (0ns).\n"},
            {"queue of jobs", SIM_ORACLE_PRIMITIVE_AUDIT, SIM_REASON_NONE, "a waiter is left over",
                    "contract: in `queue of jobs`, a waiter is left over, at step 1 (0ns).\n"},
            {"blocked", SIM_ORACLE_FAULT, SIM_REASON_NONE, "blocked",
                    "contract: in `blocked`, blocked, at step 1 (0ns).\n"},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct story story;
        story_begin(&story);
        story_sleep(&story);
        story_says(&story, cases[i].oracle, cases[i].message);
        (void)snprintf(story.tale->outcome.actor_name, sizeof(story.tale->outcome.actor_name), "%s",
                cases[i].name);
        story.tale->outcome.reason = (uint8_t)cases[i].reason;
        tale_end(story.tale, SIM_VERDICT_CONTRACT,
                cases[i].oracle == SIM_ORACLE_PRIMITIVE_AUDIT ? UINT32_MAX : story.waiter);
        struct sim_run_view view = {
                .recorder = &story.tale->recorder, .outcome = &story.tale->outcome, .rows_max = 60};
        sim_describe_run(&story.page, &view, SIM_DESCRIBE_HEADLINE);
        EXPECT_STR(sim_page_text(&story.page), cases[i].printed);
        story_end(&story);
    }
}

TEST(describe_livelock_names_who_takes_turns)
{
    struct story story;
    story_begin(&story);
    for (uint32_t i = 0; i < 100; i++) {
        story_bring(&story);
        tale_polled(story.tale, story.bringer, PENDING);
        tale_poll(story.tale, story.waiter, 0, 0);
        tale_polled(story.tale, story.waiter, PENDING);
        story_bring(&story);
        tale_polled(story.tale, story.bringer, PENDING);
    }
    (void)snprintf(story.tale->outcome.message, SIM_MESSAGE_MAX,
            "300 steps were taken in which nothing was completed, consumed or moved");
    tale_end(story.tale, SIM_VERDICT_LIVELOCK, story.waiter);
    struct sim_run_view view = {
            .recorder = &story.tale->recorder, .outcome = &story.tale->outcome, .rows_max = 60};
    sim_describe_run(&story.page, &view, SIM_DESCRIBE_HEADLINE);
    sim_describe_run(&story.page, &view, SIM_DESCRIBE_WHY);
    EXPECT_STR(sim_page_text(&story.page),
            /* clang-format off */
"livelock: the run makes no progress: 300 steps were taken in which nothing was completed, consumed\n"
"or moved.\n"
"Why: in that time no task finished, nothing was consumed, no byte moved, and no task reported\n"
"progress. The last 1000 steps went to `bringer` (200), `blocked` (100). At least one of them waits\n"
"for something by polling for it.\n");
    /* clang-format on */
    story_end(&story);
}

TEST(describe_starvation_names_who_went_first)
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
            story.tale->outcome.actor_name, sizeof(story.tale->outcome.actor_name), "blocked");
    (void)snprintf(story.tale->outcome.message, SIM_MESSAGE_MAX,
            "task 'blocked' was woken at step 2 and has been passed over for 50 steps");
    story.tale->outcome.reason = SIM_REASON_NAMED;
    tale_end(story.tale, SIM_VERDICT_STARVATION, story.waiter);
    struct sim_run_view view = {
            .recorder = &story.tale->recorder, .outcome = &story.tale->outcome, .rows_max = 60};
    sim_describe_run(&story.page, &view, SIM_DESCRIBE_HEADLINE);
    sim_describe_run(&story.page, &view, SIM_DESCRIBE_WHY);
    EXPECT_STR(sim_page_text(&story.page),
            /* clang-format off */
"starvation: task 'blocked' was woken at step 2 and has been passed over for 50 steps, at step 52\n"
"(5.1us).\n"
"Why: `blocked` was woken at step 2 (100ns) at story.c:30 in step_2() and has not run since.\n"
"Meanwhile the steps went to `bringer` (50). The simulator itself passes no actor over for so long:\n"
"the order of the runtime, or of the loop, does.\n");
    /* clang-format on */
    story_end(&story);
}

/*
 * Goal: where a deadline was passed over, not a task, the last steps are view.
 */
TEST(describe_starvation_of_a_deadline_names_who_ran_last)
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

/* An invariant that breaks where one that waits is asked is no step of the run. */
TEST(describe_failure_of_a_question_says_that_a_wait_ended_for_nothing)
{
    struct story story;
    story_begin(&story);
    story_bring(&story);
    (void)snprintf(story.tale->outcome.message, SIM_MESSAGE_MAX, "the program ended");
    story.tale->outcome.asked = 1;
    tale_end(story.tale, SIM_VERDICT_EXIT, story.bringer);
    EXPECT(strstr(head_and_why(&story), "Why: it happened in a replay: one that waits") != NULL);
    story_end(&story);
}

TEST(describe_invariant_names_step_and_line)
{
    struct story story;
    story_begin(&story);
    story_bring(&story);
    tale_say(story.tale, SIM_EVENT_LOG, "balance is -1");
    (void)snprintf(
            story.tale->outcome.message, SIM_MESSAGE_MAX, "SIM_ALWAYS(balance >= 0) does not hold");
    story.tale->outcome.site = tale_site(5);
    tale_end(story.tale, SIM_VERDICT_INVARIANT, story.bringer);
    struct sim_run_view view = {
            .recorder = &story.tale->recorder, .outcome = &story.tale->outcome, .rows_max = 60};
    sim_describe_run(&story.page, &view, SIM_DESCRIBE_HEADLINE);
    sim_describe_run(&story.page, &view, SIM_DESCRIBE_WHY);
    EXPECT_STR(sim_page_text(&story.page),
            /* clang-format off */
"invariant: in `bringer`, SIM_ALWAYS(balance >= 0) does not hold, at step 1 (0ns).\n"
"Why: it happened in step 1 (0ns), a step of `bringer`: poll, says \"balance is -1\". The line is at\n"
"story.c:60 in step_5().\n");
    /* clang-format on */
    story_end(&story);
}

TEST(describe_crash_names_the_last_thing_on_record)
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
    struct sim_run_view view = {
            .recorder = &story.tale->recorder, .outcome = &story.tale->outcome, .rows_max = 60};
    sim_describe_run(&story.page, &view, SIM_DESCRIBE_HEADLINE);
    sim_describe_run(&story.page, &view, SIM_DESCRIBE_WHY);
    EXPECT_STR(sim_page_text(&story.page),
            /* clang-format off */
"crash: the process died of SIGSEGV.\n"
"Why: the step in which it died is step 2 (100ns), a step of `bringer`: poll, fires \"an item\". The\n"
"last event on record is of step 2 (100ns), by `bringer`: fires \"an item\" at story.c:30 in step_2().\n");
    /* clang-format on */
    story_end(&story);
}

/*
 * Goal: every verdict has a first sentence with its word, a reason, and a sentence on what it is;
 * with an empty record too.
 */
TEST(describe_every_verdict_has_its_words_even_without_a_record)
{
    for (uint32_t verdict = 0; verdict < SIM_VERDICTS; verdict++) {
        for (uint32_t empty = 0; empty < 2; empty++) {
            struct story story;
            story_begin(&story);
            if (empty == 0) {
                story_sleep(&story);
                story_bring(&story);
            }
            tale_end(story.tale, (enum sim_verdict)verdict, empty == 0 ? story.waiter : UINT32_MAX);
            struct sim_run_view view = {.recorder = &story.tale->recorder,
                    .outcome = &story.tale->outcome,
                    .rows_max = 60};
            sim_describe_run(&story.page, &view, SIM_DESCRIBE_FAILURE);
            const char *text = sim_page_text(&story.page);
            const char *word = sim_verdict_name(verdict);
            EXPECT(strncmp(text, word, strlen(word)) == 0);
            EXPECT(strstr(text, "\nWhy: ") != NULL);
            story_end(&story);
        }
    }
}

/*
 * Goal: a page fits the terminal that it is made for, however narrow.
 */
TEST(describe_is_no_wider_than_its_page)
{
    for (uint32_t width = 40; width <= 100; width += 20) {
        struct story story;
        story_begin(&story);
        story.page.width = width;
        story_sleep(&story);
        story_bring(&story);
        tale_do_at(story.tale, RT_PROBE_FIRE_EMPTY, story.slot, 0, tale_site(4), tale_site(2));
        tale_polled(story.tale, story.bringer, READY);
        story.tale->outcome.missing_wake_step = 2;
        tale_end(story.tale, SIM_VERDICT_LOST_WAKEUP, story.waiter);
        const struct sim_run_view view = {.recorder = &story.tale->recorder,
                .outcome = &story.tale->outcome,
                .rows_max = SIM_ROWS_DEFAULT};
        sim_describe_run(&story.page, &view,
                SIM_DESCRIBE_HEADLINE | SIM_DESCRIBE_COLUMNS | SIM_DESCRIBE_LEDGER |
                        SIM_DESCRIBE_WHY);
        ck_assert_uint_le(tale_width(sim_page_text(&story.page)), width);
        story_end(&story);
    }
}

/*
 * Goal: a record that a crash has left half-written is reported without a second crash.
 * Method: events and texts of random bytes, 200 times.
 */
TEST(describe_survives_a_record_of_random_bytes)
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
                    .kind = (uint32_t)(state >> 40) % 5,
                    .length = (uint32_t)(state >> 32),
                    .offset = (uint32_t)state,
            };
        }
        story.tale->recorder.texts = round % 2 == 0 ? 20 : UINT32_MAX;
        story.tale->outcome.missing_wake_step = 150;
        story.tale->outcome.verdict = (uint8_t)(round % (SIM_VERDICTS + 1));
        story.tale->outcome.oracle = SIM_ORACLE_REWAKE;
        story.tale->outcome.actor = round % 4;
        story.tale->outcome.fail_step = 250;
        memset(story.tale->outcome.message, 'm', SIM_MESSAGE_MAX);
        memset(story.tale->outcome.actor_name, 'n', sizeof(story.tale->outcome.actor_name));
        struct sim_run_view view = {
                .recorder = &story.tale->recorder, .outcome = &story.tale->outcome, .rows_max = 40};
        sim_describe_run(&story.page, &view, SIM_DESCRIBE_FAILURE);
        sim_describe_run(&story.page, &view, SIM_DESCRIBE_LEDGER);
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
 * Goal: what is reported of a real run names the real tasks, objects and lines.
 * Method: check, then store; the first seed that loses the wake.
 */
TEST(describe_real_run_names_the_lines_of_the_scenario)
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
    struct sim_run_view view = {
            .recorder = &lab.world.recorder, .outcome = &outcome, .rows_max = SIM_ROWS_DEFAULT};
    sim_describe_run(&page, &view, SIM_DESCRIBE_FAILURE);
    const char *text = sim_page_text(&page);
    EXPECT(strstr(text, "lost-wakeup: `taker` is blocked forever although it could make progress: "
                        "it waits for "
                        "something in") == text);
    EXPECT(strstr(text, "taker blocks, but could make progress") != NULL);
    EXPECT(strstr(text, "taker_poll()") != NULL);
    EXPECT(strstr(text, "giver_poll()") != NULL);
    EXPECT(strstr(text, "It checked first and stored its waker afterwards") != NULL);
    ck_assert_uint_le(tale_width(text), SIM_PAGE_WIDTH);
    sim_page_fini(&page);
    lab_fini(&lab);
}
