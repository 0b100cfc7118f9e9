/*
 * clues_test.c -- what a report says besides its verdict: moved timers, shared numbers, children.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <string.h>

#include "runtime/tests/test.h"
#include "runtime/time/timers.h"
#include "sim/explain/view/columns.h"
#include "sim/explain/view/describe.h"
#include "sim/tests/explain/tale.h"

#define PENDING 0
#define READY 1

/* The report of `tale`, which ended with `verdict` about `actor`; the page is the caller's. */
static const char *
report_of(struct tale *tale, struct sim_page *page, enum sim_verdict verdict, uint32_t actor)
{
    tale->outcome.oracle = SIM_ORACLE_REWAKE;
    tale_end(tale, verdict, actor);
    struct sim_run_view view = {
            .recorder = &tale->recorder, .outcome = &tale->outcome, .rows_max = SIM_ROWS_DEFAULT};
    sim_describe_run(page, &view, SIM_DESCRIBE_FAILURE);
    ck_assert_uint_le(tale_width(sim_page_text(page)), SIM_PAGE_WIDTH);
    return sim_page_text(page);
}

/* Behind the blanks at `text`, of which there may be many. */
static const char *
skip_blanks(const char *text)
{
    return text + strspn(text, " \n");
}

/* What is looked for may be broken over lines anywhere in `text`. */
static bool
says(const char *text, const char *words)
{
    for (const char *start = text; *start != '\0'; start++) {
        const char *at = start;
        const char *word = words;
        while (*word != '\0' && (*at == *word || (*at == '\n' && *word == ' '))) {
            bool blank = *word == ' ';
            word++;
            at = blank ? skip_blanks(at) : at + 1;
        }
        if (*word == '\0') {
            return true;
        }
    }
    return false;
}

/* A timer of the setup for which `reaper` waits, and which `user` moves. */
static void
moved(struct tale *tale, uint32_t reaper, uint32_t user, uint64_t to_ns)
{
    uint32_t timer = SIM_OBJECT(RT_OBJECT_TIMER, 0, 1);
    tale_poll(tale, reaper, 0, 0);
    tale_store(tale, reaper, timer, "an idle session", tale_site(0));
    tale_do(tale, RT_PROBE_ARM, timer, 2000000);
    tale_polled(tale, reaper, PENDING);
    tale_poll(tale, user, 100, 0);
    tale_do_at(tale, RT_PROBE_ARM, timer, to_ns, 0, tale_site(4));
    tale_polled(tale, user, READY);
}

/*
 * Goal: who moves a timer under its waiter is named, with the line, and the deadlines.
 */
TEST(clues_timer_that_was_moved_is_told_as_moved)
{
    struct tale *tale = tale_new();
    struct sim_page page = {0};
    uint32_t reaper = tale_task(tale, "reaper");
    uint32_t user = tale_task(tale, "user");
    moved(tale, reaper, user, 2351000);
    const char *text = report_of(tale, &page, SIM_VERDICT_LOST_WAKEUP, reaper);
    ck_assert(says(text, "starts timer 1, due at 2ms"));
    ck_assert(says(text, "moves timer 1 from 2ms to 2.351ms"));
    ck_assert(says(text, "and was never fired. At step 2 (100ns) `user` moved that timer "
                         "from 2ms to 2.351ms at story.c:50 in step_4()."));
    sim_page_fini(&page);
    tale_free(tale);
}

/* The other side: after its end a timer is started, not moved; nor is another timer's start one. */
TEST(clues_timer_that_was_started_again_was_not_moved)
{
    static const uint32_t ends[] = {RT_PROBE_EXPIRE, RT_PROBE_DISARM};
    for (uint32_t i = 0; i < 2; i++) {
        struct tale *tale = tale_new();
        struct sim_page page = {0};
        uint32_t client = tale_task(tale, "client");
        uint32_t timer = SIM_OBJECT(RT_OBJECT_TIMER, 0, 1);
        tale_poll(tale, client, 0, 0);
        tale_do(tale, RT_PROBE_ARM, timer, 2000);
        tale_do(tale, RT_PROBE_ARM, timer + 1, 3000);
        tale_do(tale, ends[i], timer, 2000);
        tale_do(tale, RT_PROBE_ARM, timer, 5000);
        tale_do(tale, RT_PROBE_ARM, timer, 5000);
        tale_polled(tale, client, PENDING);
        const char *text = report_of(tale, &page, SIM_VERDICT_LOST_WAKEUP, client);
        ck_assert(says(text, "starts timer 1, due at 5us, starts timer 1 again"));
        ck_assert(says(text, "due at 5us as before"));
        ck_assert(!says(text, "moves"));
        sim_page_fini(&page);
        tale_free(tale);
    }
}

TEST(clues_timer_without_a_deadline_is_never_due)
{
    struct tale *tale = tale_new();
    struct sim_page page = {0};
    uint32_t reaper = tale_task(tale, "reaper");
    uint32_t user = tale_task(tale, "user");
    moved(tale, reaper, user, RT_NEVER);
    tale_poll(tale, user, 200, 0);
    tale_do(tale, RT_PROBE_ARM, SIM_OBJECT(RT_OBJECT_TIMER, 0, 2), RT_NEVER);
    tale_polled(tale, user, PENDING);
    const char *text = report_of(tale, &page, SIM_VERDICT_LOST_WAKEUP, reaper);
    ck_assert(says(text, "moves timer 1 from 2ms to never"));
    ck_assert(says(text, "starts timer 2, never due"));
    sim_page_fini(&page);
    tale_free(tale);
}

/*
 * Goal: one name, one object. Numbers are counted by each maker, so where several made a timer 1
 * the setup's is "timer 1" alone.
 */
TEST(clues_names_that_are_shared_say_whose)
{
    struct tale *tale = tale_new();
    struct sim_page page = {0};
    uint32_t ann = tale_task(tale, "ann");
    uint32_t bob = tale_task(tale, "bob");
    tale_poll(tale, ann, 0, 0);
    tale_do(tale, RT_PROBE_ARM, SIM_OBJECT(RT_OBJECT_TIMER, 0, 1), 1000);
    tale_do(tale, RT_PROBE_ARM, SIM_OBJECT(RT_OBJECT_TIMER, ann, 1), 2000);
    tale_do(tale, RT_PROBE_ARM, SIM_OBJECT(RT_OBJECT_TIMER, 0, 2), 3000);
    tale_polled(tale, ann, PENDING);
    tale_poll(tale, bob, 100, 0);
    tale_do(tale, RT_PROBE_DISARM, SIM_OBJECT(RT_OBJECT_TIMER, ann, 1), 2000);
    tale_polled(tale, bob, PENDING);
    const char *text = report_of(tale, &page, SIM_VERDICT_LOST_WAKEUP, ann);
    ck_assert(says(text, "starts timer 1 of the setup, due at 1us"));
    ck_assert(says(text, "starts its timer 1, due at 2us"));
    ck_assert(says(text, "starts timer 2, due at 3us"));
    ck_assert(says(text, "stops timer 1 of ann"));
    sim_page_fini(&page);
    tale_free(tale);
}

/* Goal: while a step takes longer, no task waits; only what is left of the time is waiting. */
TEST(clues_wait_does_not_count_what_a_step_took)
{
    struct tale *tale = tale_new();
    struct sim_page page = {0};
    uint32_t writer = tale_task(tale, "writer");
    tale_poll(tale, writer, 1000, 0);
    tale_polled(tale, writer, PENDING);
    tale_do(tale, SIM_EVENT_SLOW, 0, 400000);
    tale_clock(tale, 501000);
    tale_poll(tale, writer, 501000, 0);
    tale_polled(tale, writer, PENDING);
    tale_clock(tale, 801000);
    const char *text = report_of(tale, &page, SIM_VERDICT_LOST_WAKEUP, writer);
    ck_assert(says(text, "~~~ all wait; 100us pass ~~~"));
    ck_assert(says(text, "~~~ all wait; 300us pass ~~~"));
    sim_page_fini(&page);
    tale_free(tale);
}

/* The waker of `combinator` is stored for `object`. */
static void
store_child(
        struct tale *tale, uint32_t object, uint32_t combinator, const char *reason, uint32_t await)
{
    sim_record_text(&tale->recorder, SIM_TEXT_EVENT, tale->recorder.count, reason, strlen(reason));
    tale_do_at(tale, RT_PROBE_STORE, object, combinator, 0, await);
}

/*
 * Goal: a combinator is no reason to sleep; its children's are. They are reported once, with it.
 */
TEST(clues_combinator_says_what_its_children_wait_for)
{
    struct tale *tale = tale_new();
    struct sim_page page = {0};
    uint32_t client = tale_task(tale, "client");
    uint32_t race = SIM_OBJECT(RT_OBJECT_GROUP, 0, 1);
    uint32_t connection = SIM_OBJECT(RT_OBJECT_SLOT, 0, 1);
    uint32_t timer = SIM_OBJECT(RT_OBJECT_TIMER, 0, 1);
    uint32_t gone = SIM_OBJECT(RT_OBJECT_SLOT, 0, 2);
    tale_poll(tale, client, 0, 0);
    tale_store(tale, client, race, "race", tale_site(0));
    store_child(tale, connection, race, "a connection", tale_site(1));
    store_child(tale, timer, race, "sleep", tale_site(2));
    store_child(tale, gone, race, "what came", tale_site(3));
    tale_do_at(tale, RT_PROBE_ERASE, gone, race, 0, tale_site(3));
    tale_polled(tale, client, PENDING);
    const char *text = report_of(tale, &page, SIM_VERDICT_DEADLOCK, client);
    ck_assert(says(text, "`client` waits for a connection or sleep (timer 1), in race (group 1), "
                         "since step 1 (0ns)."));
    ck_assert(!says(text, "and for"));
    ck_assert(!says(text, "what came or"));
    sim_page_fini(&page);
    tale_free(tale);
}

/*
 * Goal: in a deadlock too it is reported who was in the place that was woken in vain.
 */
TEST(clues_deadlock_names_who_was_in_the_empty_place_last)
{
    struct tale *tale = tale_new();
    struct sim_page page = {0};
    uint32_t worker = tale_task(tale, "worker");
    uint32_t client = tale_task(tale, "client");
    uint32_t jobs = SIM_OBJECT(RT_OBJECT_SLOT, 0, 1);
    uint32_t nobodys = SIM_OBJECT(RT_OBJECT_SLOT, 0, 7);
    tale_poll(tale, worker, 0, 0);
    tale_store(tale, worker, jobs, "a job", tale_site(0));
    tale_polled(tale, worker, PENDING);
    tale_step(tale, client, 100);
    tale_do(tale, RT_PROBE_FIRE, jobs, tale_object_of(tale, worker));
    tale_do(tale, RT_PROBE_WAKE, tale_object_of(tale, worker), 0);
    tale_poll(tale, worker, 200, 2);
    tale_polled(tale, worker, READY);
    tale_poll(tale, client, 300, 0);
    tale_do(tale, RT_PROBE_FIRE_EMPTY, jobs, 0);
    tale_do(tale, RT_PROBE_FIRE_EMPTY, nobodys, 0);
    tale_store(tale, client, SIM_OBJECT(RT_OBJECT_SLOT, 0, 2), "an answer", tale_site(1));
    tale_polled(tale, client, PENDING);
    tale_do(tale, RT_PROBE_COMPLETE, tale_object_of(tale, worker), 0);
    const char *text = report_of(tale, &page, SIM_VERDICT_DEADLOCK, client);
    ck_assert(says(text, "At step 4 (300ns) `client` woke the empty slot \"a job\"; the last waker "
                         "in there was that of `worker`, stored at step 1 (0ns) at story.c:10 in "
                         "step_0() and fired at step 2 (100ns). `worker` has finished."));
    sim_page_fini(&page);
    tale_free(tale);
}
