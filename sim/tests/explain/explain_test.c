/*
 * explain_test.c -- what is said of broken programs whose cause is known.
 *
 * Each program is run until it fails, and explained. The answer is one kind, one function, and,
 * where it matters, what the claims rest on. With the sanitizers a frame is not what it is in the
 * program that ships: there only the kinds are asked for.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "sim/explain/cause/guard.h"
#include "sim/explain/explain.h"
#include "sim/explain/look/traits.h"

#include <string.h>

#include "runtime/tests/test.h"
#include "sim/core/record/site.h"
#include "sim/explain/report.h"
#include "sim/tests/explain/explain_lab.h"

#if defined(__SANITIZE_ADDRESS__)
#define HAS_FRAMES false
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define HAS_FRAMES false
#else
#define HAS_FRAMES true
#endif
#else
#define HAS_FRAMES true
#endif

/* Steps bound an explanation, and not the speed of a build with sanitizers. */
#define SLOW_MS 100000u

struct test {
    struct sim_options options;
    struct sim_tape tape;
    struct sim_explanation explanation;
    struct sim_page page;
};

/* In replayed steps; 0: what is usual. */
static uint64_t explain_within;

/* Whether each quiescence is audited, as it takes to see that a wake is late. */
static bool explain_audited;

/* The first of the seeds up to 400 whose run ends in `verdict`, explained. */
static void
explain(struct test *test, const struct sim_scenario *scenario, enum sim_verdict verdict)
{
    struct sim_single single;
    sim_sites_init();
    sim_single_init(&single, NULL, &sim_shared_for_candidates, 2000);
    sim_options_init(&test->options, scenario);
    test->options.spurious_one_in = 0;
    test->options.audit_one_in = explain_audited ? 1 : 0;
    test->options.livelock_steps = 2000;
    struct sim_run_spec candidate = {
            .scenario = scenario, .options = test->options, .how = SIM_HOW_RANDOM};
    const struct sim_outcome *outcome = NULL;
    for (uint64_t seed = 1; seed <= 400; seed++) {
        candidate.seed = seed;
        outcome = sim_single_run(&single, &candidate);
        EXPECT(outcome != NULL);
        if (outcome->verdict == verdict) {
            break;
        }
    }
    EXPECT_EQ(outcome->verdict, verdict);
    sim_single_fini(&single);
    const struct sim_failure failure = {.scenario = scenario,
            .options = &test->options,
            .seed = candidate.seed,
            .how = SIM_HOW_RANDOM,
            .hang_ms = 2000,
            .time_ms = SLOW_MS,
            .steps_max = explain_within};
    EXPECT(sim_explanation_make(&test->explanation, &failure));
    sim_page_init(&test->page, false);
    sim_report_put(&test->page, &test->explanation, SIM_REPORT_BESIDE);
    EXPECT(strstr(sim_page_text(&test->page), "\n\n\n") == NULL); /* Of no text no paragraph. */
    EXPECT(strstr(sim_page_text(&test->page), "\n This") == NULL);
}

static void
done(struct test *test)
{
    sim_page_fini(&test->page);
    sim_explanation_free(&test->explanation);
}

/* Whether one of the places that are to blame, up to the n-th, is in `function`. */
static bool
blames(const struct test *test, uint32_t n, const char *function)
{
    const struct sim_cause *cause = &test->explanation.cause;
    for (uint32_t i = 0; i < cause->at_count && i < n; i++) {
        if (strcmp(cause->at[i].place.function, function) == 0) {
            return true;
        }
    }
    return !HAS_FRAMES;
}

/* Whether something that few passing runs do is in `function`. */
static bool
names_unusual(const struct test *test, const char *function)
{
    const struct sim_unusual *unusual = &test->explanation.unusual;
    bool named = false;
    for (uint32_t i = 0; i < unusual->count; i++) {
        named = named || strcmp(unusual->all[i].at.place.function, function) == 0 ||
                strcmp(unusual->all[i].other.place.function, function) == 0;
    }
    return named;
}

/* Wherever the lines of the text end. */
static bool
says(const struct test *test, const char *words)
{
    const char *text = sim_page_text(&test->page);
    for (size_t i = 0; text[i] != '\0'; i++) {
        size_t k = 0;
        while (words[k] != '\0' &&
                (text[i + k] == words[k] || (text[i + k] == '\n' && words[k] == ' '))) {
            k++;
        }
        if (words[k] == '\0') {
            return true;
        }
    }
    return !HAS_FRAMES;
}

/*
 * Goal: a wake that comes before the store is reported with both, and their order decides.
 * Method: the baseline run passes; where the writer goes first, it fails. Exchanged, it passes.
 */
TEST(explain_wake_before_the_store_and_their_order)
{
    struct test test;
    explain(&test, &explain_unlooked, SIM_VERDICT_LOST_WAKEUP);
    const struct sim_explanation *all = &test.explanation;
    EXPECT_EQ(all->cause.kind, SIM_CAUSE_FIRED_EARLY);
    EXPECT_STR(all->cause.at[0].place.function, "mail_send");
    EXPECT_STR(all->cause.stored.place.function, "mail_reader_poll");
    EXPECT(all->decision.found);
    EXPECT(!all->decision.added);
    EXPECT_EQ(all->decision.failing.count, 1);
    EXPECT_EQ(all->decision.deciding.kind, SIM_KIND_RUN);
    EXPECT(all->decision.below.failed > all->decision.below.runs * 4 / 5);
    EXPECT_EQ(all->decision.beside.failed, 0);
    EXPECT(all->order.found);
    EXPECT(all->order.events);
    EXPECT_STR(all->order.first.place.function, "mail_send");
    EXPECT_STR(all->order.second.place.function, "mail_reader_poll");
    EXPECT_EQ(all->order.swapped, SIM_SWAPPED_PASSES);
    EXPECT(says(&test, "The order that decides: "));
    done(&test);
}

/* Each event has the line of the call in which it was recorded: also of what the runtime alone
 * names; and none that no line of the reader's was in. */
TEST(explain_events_have_the_lines_of_their_calls)
{
    struct test test;
    explain(&test, &explain_unlooked, SIM_VERDICT_LOST_WAKEUP);
    const struct sim_actor_table *actor_table = &test.explanation.actor_table;
    bool fires = false;
    for (uint64_t i = actor_table->first; i < actor_table->end; i++) {
        const struct sim_event *event = sim_actor_table_event(actor_table, i);
        const struct rt_site *site = sim_actor_table_place(event->await, 0);
        if (event->kind == RT_PROBE_FIRE_EMPTY || event->kind == RT_PROBE_FIRE) {
            fires = true;
            EXPECT(!HAS_FRAMES || (site != NULL && strcmp(site->function, "mail_send") == 0));
        }
        EXPECT(event->kind != SIM_EVENT_STEP || event->await == 0);
    }
    EXPECT(fires);
    done(&test);
}

/* The turn that starts a timer in the passing run, and none here; and the number that decides. */
TEST(explain_slot_that_is_woken_and_holds_no_waker)
{
    struct test test;
    explain(&test, &explain_unheard, SIM_VERDICT_LOST_WAKEUP);
    const struct sim_cause *cause = &test.explanation.cause;
    EXPECT_EQ(cause->kind, SIM_CAUSE_NEVER_STORED);
    EXPECT_STR(cause->unheard.place.function, "ringer_poll");
    EXPECT(!HAS_FRAMES || blames(&test, 1, "listener_poll"));
    EXPECT(says(&test, "`ringer` wakes a slot for it in ringer_poll()"));
    done(&test);
}

/* A poll gains nothing here: the step is found by what it would do. The two numbers of the gate are
 * halves of one word, and the arrival of the next round is written after the one that opens it. */
TEST(explain_gate_that_wakes_none_is_found_by_effect)
{
    struct test test;
    explain(&test, &explain_gate, SIM_VERDICT_LOST_WAKEUP);
    const struct sim_explanation *all = &test.explanation;
    const struct sim_location *at = &all->cause.at[0];
    EXPECT_EQ(sim_explanation_outcome(all)->reason, SIM_REASON_ROUNDS);
    EXPECT(sim_explanation_outcome(all)->missing_wake_step != 0);
    EXPECT_EQ(all->cause.kind, SIM_CAUSE_NEVER_FIRED);
    EXPECT(!HAS_FRAMES || strcmp(at->place.function, "gate_arrive") == 0);
    EXPECT(!HAS_FRAMES || at->place.line == explain_gate_line);
    done(&test);
}

/* The task is woken; what is blocked is the loop that polls it. */
TEST(explain_loop_of_a_woken_task_that_is_not_notified)
{
    struct test test;
    explain(&test, &explain_unrung, SIM_VERDICT_LOST_WAKEUP);
    const struct sim_cause *cause = &test.explanation.cause;
    EXPECT_EQ(cause->kind, SIM_CAUSE_COALESCED);
    EXPECT(!HAS_FRAMES || cause->loop != SIM_PART_NONE);
    EXPECT(!HAS_FRAMES || blames(&test, 1, "job_mark"));
    EXPECT(!HAS_FRAMES || says(&test, "`executor`, the loop that should poll it, is not"));
    done(&test);
}

TEST(explain_timer_that_is_not_started_and_the_number)
{
    struct test test;
    explain(&test, &explain_unarmed, SIM_VERDICT_LOST_WAKEUP);
    const struct sim_explanation *all = &test.explanation;
    EXPECT_EQ(all->cause.kind, SIM_CAUSE_NEVER_STORED);
    EXPECT(all->cause.by_look);
    EXPECT(all->cause.by_passing);
    EXPECT_STR(all->cause.at[0].place.function, "driver_poll");
    EXPECT(all->number.found);
    EXPECT(all->number.both);
    EXPECT_EQ(all->number.below.value, 3);
    EXPECT(all->number.beside.value != 3);
    EXPECT(!HAS_FRAMES || strcmp(all->number.place.function, "driver_poll") == 0);
    EXPECT(says(&test, "`driver` draws the number 3 at step "));
    done(&test);
}

/* A permit is reported where it was lost, not only where it was due. */
TEST(explain_permit_is_told_where_it_was_given_up)
{
    struct test test;
    explain(&test, &explain_unpassed, SIM_VERDICT_DEADLOCK);
    const struct sim_explanation *all = &test.explanation;
    EXPECT_EQ(all->counterfactual.kind, SIM_COUNTERFACTUAL_ELSEWHERE);
    EXPECT_EQ(all->cause.kind, SIM_CAUSE_NEVER_FIRED);
    EXPECT(blames(&test, 1, "permit_give_up"));
    EXPECT(blames(&test, SIM_CAUSE_CALLS, "permit_release"));
    EXPECT(says(&test, "`hasty` is given at step "));
    done(&test);
}

/* A loop that does not ask its host again: the finding has the call of the passing run. */
TEST(explain_loop_that_does_not_ask_again)
{
    struct test test;
    explain(&test, &explain_unasked, SIM_VERDICT_DEADLOCK);
    EXPECT_EQ(test.explanation.cause.kind, SIM_CAUSE_NEVER_STORED);
    EXPECT(!HAS_FRAMES || test.explanation.cause.by_call);
    EXPECT(blames(&test, 1, "ear_listen"));
    EXPECT(blames(&test, 2, "ear_hear") || blames(&test, 3, "ear_hear"));
    done(&test);
}

/* Who comes to wake a loop, and finds a flag that says that this is done. */
TEST(explain_wake_that_is_turned_away)
{
    struct test test;
    explain(&test, &explain_turned_away, SIM_VERDICT_LOST_WAKEUP);
    EXPECT_EQ(test.explanation.cause.kind, SIM_CAUSE_COALESCED);
    EXPECT(test.explanation.counterfactual.away_step != 0);
    EXPECT(blames(&test, 1, "bell_ring"));
    EXPECT(blames(&test, SIM_CAUSE_CALLS, "bell_answer"));
    done(&test);
}

/* It was woken, and looked: the wake before that came not too early. */
TEST(explain_waiter_that_has_seen_what_came)
{
    struct test test;
    explain(&test, &explain_put_off, SIM_VERDICT_LOST_WAKEUP);
    EXPECT_EQ(test.explanation.cause.kind, SIM_CAUSE_NEVER_STORED);
    EXPECT(test.explanation.cause.by_look);
    EXPECT(blames(&test, 1, "news_late_poll"));
    done(&test);
}

TEST(explain_waker_whose_place_is_taken)
{
    struct test test;
    explain(&test, &explain_replaced, SIM_VERDICT_LOST_WAKEUP);
    EXPECT_EQ(test.explanation.cause.kind, SIM_CAUSE_REPLACED);
    EXPECT_STR(test.explanation.cause.at[0].place.function, "news_reader_poll");
    done(&test);
}

/* No event says who made it come: the word of memory does. */
TEST(explain_what_came_without_a_wake_by_its_word)
{
    struct test test;
    explain(&test, &explain_not_notified, SIM_VERDICT_LOST_WAKEUP);
    EXPECT_EQ(test.explanation.cause.kind, SIM_CAUSE_NEVER_FIRED);
    EXPECT(!HAS_FRAMES || test.explanation.cause.by_word);
    EXPECT(blames(&test, 1, "news_finish"));
    /* It passes in one run of a hundred: that none was found is all that may be said. */
    EXPECT(!HAS_FRAMES || !says(&test, "however things are decided"));
    done(&test);
}

/* What came was written over before anybody looked: both who wrote, and in which order. */
TEST(explain_what_came_and_was_written_over)
{
    struct test test;
    explain(&test, &explain_written_over, SIM_VERDICT_DEADLOCK);
    EXPECT_EQ(test.explanation.counterfactual.kind, SIM_COUNTERFACTUAL_LOST);
    EXPECT_EQ(test.explanation.cause.kind, SIM_CAUSE_ERASED);
    EXPECT(blames(&test, 1, "news_reset"));
    EXPECT_STR(test.explanation.cause.before.place.function, "news_publish");
    EXPECT(test.explanation.order.found);
    EXPECT(test.explanation.order.writes);
    EXPECT_STR(test.explanation.order.first.place.function, "news_publish");
    EXPECT_STR(test.explanation.order.second.place.function, "news_reset");
    done(&test);
}

/* Of two decisions that it takes, the one is reported that leaves nothing to those after it. */
TEST(explain_decision_that_separates_best)
{
    struct test test;
    explain(&test, &explain_two_numbers, SIM_VERDICT_INVARIANT);
    const struct sim_explanation *all = &test.explanation;
    EXPECT_EQ(all->cause.kind, SIM_CAUSE_NOT_A_WAKE);
    EXPECT(blames(&test, 1, "gambler_poll"));
    EXPECT_EQ(all->decision.failing.count, 2);
    EXPECT_EQ(all->number.below.value, 2);
    EXPECT_EQ(all->decision.below.failed, all->decision.below.runs);
    EXPECT_EQ(all->decision.beside.failed, 0);
    done(&test);
}

/* An event has one line; who called that function is found by walking its step. */
TEST(explain_callers_of_a_wake_and_who_got_it)
{
    struct test test;
    explain(&test, &explain_one_of_three, SIM_VERDICT_LOST_WAKEUP);
    const struct sim_cause *cause = &test.explanation.cause;
    EXPECT_EQ(cause->kind, SIM_CAUSE_NEVER_FIRED);
    EXPECT_STR(cause->at[0].place.function, "closing_tell");
    EXPECT(!HAS_FRAMES || strcmp(cause->at[1].place.function, "closing_close") == 0);
    EXPECT(says(&test, "called from closing_close(), closing_owner_poll()"));
    EXPECT(says(&test, "there it wakes "));
    done(&test);
}

/* ---- Threads and loops. ---------------------------------------------------------------------- */

/* Who came to wake it, and found that it does not wait yet: by which condition. */
TEST(explain_wake_that_meets_nobody)
{
    struct test test;
    explain(&test, &explain_met_none, SIM_VERDICT_DEADLOCK);
    EXPECT(!HAS_FRAMES || names_unusual(&test, "gate_open"));
    done(&test);
}

/* Where no run wakes it, the word that it did not look at again says who came. */
TEST(explain_what_came_before_the_sleep)
{
    struct test test;
    explain(&test, &explain_arrived_early, SIM_VERDICT_DEADLOCK);
    const struct sim_cause *cause = &test.explanation.cause;
    EXPECT_EQ(cause->kind, HAS_FRAMES ? SIM_CAUSE_FIRED_EARLY : cause->kind);
    EXPECT(!HAS_FRAMES || cause->by_word);
    EXPECT(blames(&test, 1, "gate_open_by_state"));
    EXPECT(says(&test, "before it blocks, so there is no waiter to wake yet"));
    done(&test);
}

/* How far the wake came, the flag that turned it back, and who takes that down elsewhere. */
TEST(explain_wake_that_turns_back_at_a_flag)
{
    struct test test;
    explain(&test, &explain_turned_back, SIM_VERDICT_LOST_WAKEUP);
    const struct sim_cause *cause = &test.explanation.cause;
    EXPECT_EQ(cause->kind, HAS_FRAMES ? SIM_CAUSE_NEVER_FIRED : cause->kind);
    EXPECT(blames(&test, 1, "bell_ringer"));
    EXPECT(!HAS_FRAMES || strcmp(cause->attempted.at.place.function, "bell_ring") == 0);
    EXPECT(!HAS_FRAMES || strcmp(cause->attempted.flag.place.function, "bell_ring") == 0);
    EXPECT(!HAS_FRAMES || strcmp(cause->attempted.clear.place.function, "bell_look") == 0);
    EXPECT(says(&test, "It reaches bell_ring()"));
    EXPECT(says(&test, "The value that makes it return was written at step "));
    done(&test);
}

/* A signal that reached the wrong one is reported with who got it. */
TEST(explain_wake_that_reaches_another)
{
    struct test test;
    explain(&test, &explain_wrong_one, SIM_VERDICT_DEADLOCK);
    const struct sim_cause *cause = &test.explanation.cause;
    EXPECT(blames(&test, 1, "pool_give"));
    EXPECT(!HAS_FRAMES || strcmp(cause->attempted.instead.place.function, "pool_signal") == 0);
    EXPECT(says(&test, "In that step it wakes `ann` instead"));
    done(&test);
}

/* What the host keeps silent about is reported, although no run passes. */
TEST(explain_descriptor_that_is_not_asked_for_again)
{
    struct test test;
    explain(&test, &explain_not_rearmed, SIM_VERDICT_DEADLOCK);
    const struct sim_explanation *all = &test.explanation;
    EXPECT_EQ(all->counterfactual.kind, SIM_COUNTERFACTUAL_NOT_REARMED);
    EXPECT(!all->decision.found);
    EXPECT_EQ(all->cause.kind, HAS_FRAMES ? SIM_CAUSE_NEVER_STORED : all->cause.kind);
    EXPECT(blames(&test, 1, "line_take"));
    EXPECT(says(&test, "has not asked for it again since"));
    done(&test);
}

/* A foreign wake is reported with the function that swallows it. */
TEST(explain_wake_that_is_dropped_in_a_foreign_runtime)
{
    struct test test;
    explain(&test, &explain_dropped, SIM_VERDICT_LOST_WAKEUP);
    const struct sim_cause *cause = &test.explanation.cause;
    EXPECT_EQ(cause->kind, SIM_CAUSE_COALESCED);
    EXPECT_STR(cause->at[0].place.function, "job_sender");
    EXPECT(!HAS_FRAMES || strcmp(cause->attempted.at.place.function, "job_schedule") == 0);
    EXPECT(says(&test, "It reaches job_schedule()"));
    done(&test);
}

/* A loop that was reported, and left something, is reported with what it went through then. */
TEST(explain_loop_that_leaves_something)
{
    struct test test;
    explain(&test, &explain_left_over, SIM_VERDICT_LOST_WAKEUP);
    const struct sim_cause *cause = &test.explanation.cause;
    EXPECT_EQ(cause->kind, HAS_FRAMES ? SIM_CAUSE_NEVER_STORED : cause->kind);
    EXPECT(blames(&test, 1, "posts_drain"));
    EXPECT(!HAS_FRAMES || strcmp(cause->before.place.function, "posts_post") == 0);
    EXPECT(says(&test, "without having taken all"));
    done(&test);
}

/* A loop that, asked again, would sleep until a deadline has something to do. */
TEST(explain_loop_that_lacks_a_deadline_which_came_in_between)
{
    struct test test;
    explain(&test, &explain_stale_park, SIM_VERDICT_LOST_WAKEUP);
    const struct sim_cause *cause = &test.explanation.cause;
    EXPECT_EQ(test.explanation.counterfactual.kind, SIM_COUNTERFACTUAL_DROPPED);
    EXPECT_EQ(cause->kind, HAS_FRAMES ? SIM_CAUSE_FIRED_EARLY : cause->kind);
    EXPECT(blames(&test, 1, "alarms_add"));
    EXPECT(!HAS_FRAMES || strcmp(cause->blocked_at.place.function, "alarms_park") == 0);
    done(&test);
}

/* What a poll stores behind the place where it gave way is its own. */
TEST(explain_poll_that_gives_way_in_its_middle)
{
    struct test test;
    explain(&test, &explain_mid_poll, SIM_VERDICT_LOST_WAKEUP);
    EXPECT_EQ(test.explanation.cause.kind, SIM_CAUSE_FIRED_EARLY);
    EXPECT_STR(test.explanation.cause.at[0].place.function, "middle_worker");
    EXPECT_STR(test.explanation.cause.stored.place.function, "middle_run");
    done(&test);
}

/* No question sets the blocked task going: who wakes it in the passing run came too soon. */
TEST(explain_wake_that_comes_before_a_ticket_is_taken)
{
    struct test test;
    explain(&test, &explain_late_ticket, SIM_VERDICT_DEADLOCK);
    EXPECT_EQ(test.explanation.counterfactual.kind, SIM_COUNTERFACTUAL_NONE);
    EXPECT(says(&test, "wrote at step 4 in epoch_bump()"));
    done(&test);
}

/* ---- Runs that do not end. ------------------------------------------------------------------- */

/* One run of `scenario`, which fails, explained; a run that spins takes long in a debug build. */
static void
explain_first(struct test *test, const struct sim_scenario *scenario)
{
    sim_sites_init();
    sim_options_init(&test->options, scenario);
    const struct sim_failure failure = {.scenario = scenario,
            .options = &test->options,
            .seed = 1,
            .how = SIM_HOW_RANDOM,
            .hang_ms = 500,
            .time_ms = SLOW_MS,
            .steps_max = 6000000};
    EXPECT(sim_explanation_make(&test->explanation, &failure));
    sim_page_init(&test->page, false);
    sim_report_put(&test->page, &test->explanation, SIM_REPORT_BESIDE);
}

/*
 * Goal: an explanation ends also where the run would continue forever.
 * Method: a lost wake-up that is found at the livelock limit; what a replay takes is counted in
 * steps, and bounded.
 */
TEST(explain_of_a_run_that_turns_in_circles_ends)
{
    struct test test;
    explain(&test, &explain_shut_down, SIM_VERDICT_LOST_WAKEUP);
    const struct sim_explanation *all = &test.explanation;
    EXPECT_EQ(all->cause.kind, SIM_CAUSE_COALESCED);
    EXPECT(says(&test, "It reaches shut_fire()"));
    EXPECT(all->decision.found);
    EXPECT_EQ(all->budget.cut_count, 0);
    EXPECT(all->budget.steps > 20000);
    EXPECT(all->budget.steps < 5000000);
    done(&test);
}

/* What is cut short by its budget says so, has what is known so far, and is the same each time. */
TEST(explain_within_a_budget_says_what_is_missing)
{
    uint64_t steps[2];
    for (uint32_t i = 0; i < 2; i++) {
        struct test test;
        explain_within = 60000;
        explain(&test, &explain_shut_down, SIM_VERDICT_LOST_WAKEUP);
        explain_within = 0;
        EXPECT(test.explanation.budget.cut_count > 0);
        EXPECT(!test.explanation.budget.by_clock);
        EXPECT(says(&test, "This is incomplete: the budget of 60000 replayed steps was used up "
                           "while making the failing run smaller"));
        EXPECT(says(&test, "was woken at step"));
        steps[i] = test.explanation.budget.steps;
        done(&test);
    }
    EXPECT_EQ(steps[0], steps[1]);
    EXPECT(steps[0] <= 2 * 60000);
}

/*
 * Goal: of a task that was woken and is not polled, the line that lost it, in the step of its wake.
 * Method: the word that is overwritten there, put back at the end, lets the loop poll it.
 */
TEST(explain_place_in_a_queue_is_overwritten)
{
    struct test test;
    explain(&test, &explain_one_place, SIM_VERDICT_LOST_WAKEUP);
    const struct sim_cause *cause = &test.explanation.cause;
    EXPECT_EQ(cause->kind, HAS_FRAMES ? SIM_CAUSE_ERASED : cause->kind);
    /* Inlined, it has the lines of its caller. */
    EXPECT(blames(&test, 1, "job_queue") || blames(&test, 1, "both_main"));
    EXPECT(says(&test, "`first` is woken, and not polled: "));
    EXPECT(says(&test, "Were it still there, `runner` would poll `first`, as a replay shows."));
    done(&test);
}

/* … and where it is still queued: the loop blocks without looking. */
TEST(explain_loop_that_does_not_look_before_it_blocks)
{
    struct test test;
    explain(&test, &explain_no_look, SIM_VERDICT_LOST_WAKEUP);
    const struct sim_cause *cause = &test.explanation.cause;
    EXPECT_EQ(cause->kind, SIM_CAUSE_COALESCED);
    EXPECT(cause->unpolled || !HAS_FRAMES);
    EXPECT(blames(&test, 1, "runner_wait"));
    EXPECT(says(&test, "without polling it"));
    EXPECT(says(&test, "it would have polled `first`, as a replay shows."));
    done(&test);
}

/* A wake of the passing run alone is told as one: no step of this run is accused. */
TEST(explain_wake_that_only_the_passing_run_has)
{
    struct test test;
    explain(&test, &explain_handed, SIM_VERDICT_DEADLOCK);
    EXPECT_EQ(test.explanation.cause.kind, SIM_CAUSE_NEVER_FIRED);
    EXPECT(test.explanation.cause.by_passing);
    EXPECT(blames(&test, 1, "seat_give") || blames(&test, 1, "guest_run"));
    EXPECT(says(&test, "`patient` is not woken after step "));
    EXPECT(says(&test, "In the nearest run that passes it is, in "));
    EXPECT(!HAS_FRAMES || !says(&test, "should have woken it"));
    done(&test);
}

/* A circle of two locks that the program reports itself. */
TEST(explain_two_locks_in_opposite_order)
{
    struct test test;
    explain(&test, &explain_crossed, SIM_VERDICT_DEADLOCK);
    const struct sim_cause *cause = &test.explanation.cause;
    EXPECT(cause->circle);
    EXPECT_EQ(cause->hold_count, 2);
    EXPECT(blames(&test, 4, "own_lock_take"));
    EXPECT(says(&test, "has not given back; `"));
    EXPECT(says(&test, "none of them can go first"));
    done(&test);
}

/* A task that ends with a mutex is named, with the line where it took it. */
TEST(explain_mutex_that_is_kept)
{
    struct test test;
    explain(&test, &explain_kept, SIM_VERDICT_DEADLOCK);
    const struct sim_cause *cause = &test.explanation.cause;
    EXPECT(!cause->circle);
    EXPECT_EQ(cause->hold_count, 1);
    EXPECT(blames(&test, 2, "user_poll"));
    EXPECT(says(&test, "`bob` waits for mutex 1, in user_poll()"));
    EXPECT(says(&test, "did not give back before it ended"));
    done(&test);
}

/* A message has a shard that is to answer it; what that did with it is named. */
TEST(explain_message_without_an_answer)
{
    struct test test;
    explain(&test, &explain_mislaid, SIM_VERDICT_DEADLOCK);
    EXPECT_EQ(test.explanation.cause.hold_count, 1);
    EXPECT(blames(&test, 1, "mislay"));
    EXPECT(says(&test, "`asker` waits for `shard 1` to answer"));
    EXPECT(says(&test, "it is never answered"));
    done(&test);
}

/* A condition that, decided the other way, lets the run pass; and what it is decided on, which is
 * written too late. */
TEST(explain_condition_that_decides)
{
    struct test test;
    explain(&test, &explain_bounded, SIM_VERDICT_DEADLOCK);
    struct sim_explanation *all = &test.explanation;
    const struct sim_runs runs = {.scenario = &explain_bounded,
            .options = &all->decision.options,
            .seed = all->decision.seed,
            .hang_ms = 2000,
            .budget = &all->budget,
            .failing = &all->decision.failing,
            .passing = all->compared ? &all->decision.passing : NULL};
    struct sim_guard guard;
    struct sim_code *code = sim_code_new(all->places, &explain_bounded);
    struct sim_executed *here = sim_executed_run(&runs, runs.failing, code, false, 0);
    struct sim_executed *there = sim_executed_run(&runs, runs.passing, code, false, 0);
    EXPECT(!HAS_FRAMES || (here->done && here->count > 0 && here->count < SIM_EXECUTED_MAX));
    const struct sim_fate_evidence evidence = {.failing = &all->ledger,
            .here = here,
            .there = there,
            .places = all->places,
            .runs = &runs,
            .code = code};
    struct sim_branches branches = {.count = 0};
    sim_branches_add_differing(here, there, 0, &branches);
    sim_guard_try(&evidence, &branches, &guard);
    EXPECT(!HAS_FRAMES || guard.condition.step != 0);
    EXPECT(!HAS_FRAMES || strcmp(guard.condition.place.function, "bounded_consumer") == 0);
    EXPECT(!HAS_FRAMES || guard.read.after.step > guard.condition.step);
    EXPECT(!HAS_FRAMES || guard.read.after.part != guard.condition.part);
    sim_executed_free(&here);
    sim_executed_free(&there);
    sim_code_free(&code);
    done(&test);
}

/* The condition of the step that owes the wake, and the line that wrote what it was decided on. */
TEST(explain_condition_that_skips_a_wake)
{
    struct test test;
    explain(&test, &explain_busy, SIM_VERDICT_LOST_WAKEUP);
    const struct sim_guard *guard = &test.explanation.cause.guard;
    EXPECT(!HAS_FRAMES || strcmp(guard->condition.place.function, "box_put") == 0);
    EXPECT(!HAS_FRAMES || strcmp(guard->read.value, "1") == 0);
    EXPECT(!HAS_FRAMES || strcmp(guard->read.by.place.function, "box_put") == 0);
    EXPECT(!HAS_FRAMES || guard->read.by.step < guard->read.at.step);
    EXPECT(!HAS_FRAMES || says(&test, "That follows from one condition, at step"));
    done(&test);
}

/* Of a blocked task the condition counts by which it waits, where another has written that. */
TEST(explain_condition_by_which_it_waits)
{
    struct test test;
    explain(&test, &explain_lowered, SIM_VERDICT_DEADLOCK);
    const struct sim_guard *guard = &test.explanation.cause.guard;
    EXPECT(!HAS_FRAMES || strcmp(guard->read.at.place.function, "news_wait") == 0);
    EXPECT(!HAS_FRAMES || strcmp(guard->read.by.place.function, "news_teller_poll") == 0);
    EXPECT(!HAS_FRAMES || strcmp(guard->read.value, "0") == 0);
    EXPECT(!HAS_FRAMES || guard->set.step < guard->read.by.step);
    EXPECT(!HAS_FRAMES || says(&test, "`watcher` waits for came, and went before it looked"));
    done(&test);
}

/* Not the condition with which it ends early. */
TEST(explain_condition_that_does_not_end_it)
{
    struct test test;
    explain(&test, &explain_chore, SIM_VERDICT_LOST_WAKEUP);
    const struct sim_guard *guard = &test.explanation.cause.guard;
    const struct sim_place *condition = &guard->condition.place;
    const struct sim_place *read = &guard->read.at.place;
    EXPECT(!HAS_FRAMES || strcmp(condition->function, "chore_poll") == 0);
    /* Where the function is inlined, the read is of the condition's line. */
    EXPECT(!HAS_FRAMES || strcmp(read->function, "chore_queues") == 0 ||
            (strcmp(read->function, "chore_poll") == 0 && read->line == condition->line));
    done(&test);
}

/* What is put aside, in a program of which each run fails: where its loop blocks. */
TEST(explain_something_left_to_do)
{
    struct test test;
    explain(&test, &explain_put_aside, SIM_VERDICT_LOST_WAKEUP);
    EXPECT_EQ(test.explanation.unusual.passing, 0u);
    EXPECT(says(&test, "blocks at step 10 with something left to do"));
    EXPECT(says(&test, "mill_take_aside() (ways.c:40), mill_wait() (ways.c:51)"));
    done(&test);
}

/* What others have written since is copied, and then found equal to the copy. */
TEST(explain_value_that_is_marked_as_seen)
{
    struct test test;
    explain(&test, &explain_marked, SIM_VERDICT_DEADLOCK);
    EXPECT(blames(&test, 1, "issue_mark"));
    EXPECT(says(&test, "What `reader` waits for came, and was taken for seen"));
    EXPECT(says(&test, "it finds nothing new, in issue_changed()"));
    done(&test);
}

/* A condition before the wait with which, decided the other way, that wait would end. */
TEST(explain_condition_before_the_wait)
{
    struct test test;
    explain(&test, &explain_unset, SIM_VERDICT_DEADLOCK);
    EXPECT(!HAS_FRAMES || blames(&test, 4, "watchman_round"));
    EXPECT(!HAS_FRAMES || test.explanation.unusual.simple);
    EXPECT(!says(&test, "missing wake was found") || !HAS_FRAMES);
    done(&test);
}

/* The condition by which something is left, and the line that changes it later. */
TEST(explain_limit_at_which_something_is_left)
{
    struct test test;
    explain(&test, &explain_kept_out, SIM_VERDICT_LOST_WAKEUP);
    const struct sim_guard *guard = &test.explanation.cause.unnotified.omission.guard;
    EXPECT(!HAS_FRAMES || strcmp(guard->condition.place.function, "porter_lets_in") == 0);
    EXPECT(!HAS_FRAMES || strcmp(guard->read.after.place.function, "porter_lets_out") == 0);
    EXPECT(says(&test, "Then it does not go on with it either."));
    done(&test);
}

/* The write that clears what was added since, and the run that passes without it. */
TEST(explain_value_that_is_overwritten_unread)
{
    struct test test;
    explain(&test, &explain_thrown_away, SIM_VERDICT_DEADLOCK);
    const struct sim_discarded *discarded = &test.explanation.cause.discarded;
    EXPECT(!HAS_FRAMES || strcmp(discarded->added.place.function, "tray_lay") == 0);
    EXPECT(!HAS_FRAMES || strcmp(discarded->over.place.function, "tray_empty") == 0);
    EXPECT(says(&test, "is lost: at step"));
    done(&test);
}

/* A wake that is dropped has the condition by which it is, and who changes that too late. */
TEST(explain_condition_that_drops_a_wake)
{
    struct test test;
    explain(&test, &explain_still_queued, SIM_VERDICT_LOST_WAKEUP);
    const struct sim_guard *guard = &test.explanation.cause.guard;
    EXPECT_EQ(test.explanation.cause.kind, SIM_CAUSE_COALESCED);
    EXPECT(!HAS_FRAMES || strcmp(guard->condition.place.function, "folder_wake") == 0);
    EXPECT(!HAS_FRAMES || strcmp(guard->read.after.place.function, "office_takes_up") == 0);
    done(&test);
}

/* A task that was woken, and by which its loop passes. */
TEST(explain_task_that_is_not_polled_again)
{
    struct test test;
    explain_audited = true;
    explain(&test, &explain_one_a_turn, SIM_VERDICT_LATE_WAKEUP);
    explain_audited = false;
    EXPECT(!HAS_FRAMES || names_unusual(&test, "office_main"));
    done(&test);
}

TEST(explain_push_that_is_refused)
{
    struct test test;
    explain(&test, &explain_put_off_push, SIM_VERDICT_DEADLOCK);
    EXPECT_EQ(test.explanation.cause.unanswered.kind, SIM_UNANSWERED_REFUSED);
    EXPECT(says(&test, "RT_E_FULL of `clerk`"));
    done(&test);
}

/* Of an assertion that fails: a condition before it that the passing run decides otherwise. */
TEST(explain_condition_before_an_assertion)
{
    struct test test;
    explain(&test, &explain_complete, SIM_VERDICT_INVARIANT);
    EXPECT(!HAS_FRAMES || blames(&test, 4, "poll_answer"));
    EXPECT(!HAS_FRAMES || says(&test, "In the end it goes wrong in poll_asker()"));
    done(&test);
}

/* Of an assertion: what was read, changed by another, and written all the same. */
TEST(explain_value_that_is_out_of_date)
{
    struct test test;
    explain(&test, &explain_purse, SIM_VERDICT_INVARIANT);
    const struct sim_stale_value *stale = &test.explanation.cause.failed.stale;
    EXPECT(!HAS_FRAMES || strcmp(stale->at.place.function, "purse_pay") == 0);
    EXPECT(!HAS_FRAMES || strcmp(stale->last.place.function, "purse_pay") == 0);
    EXPECT(!HAS_FRAMES || stale->used.part == stale->at.part);
    EXPECT(!HAS_FRAMES || stale->last.part != stale->at.part);
    EXPECT(!HAS_FRAMES || says(&test, "writes what it has made of the old value"));
    done(&test);
}

/* What was read before the wait, and changed during it, is used after it. */
TEST(explain_number_kept_over_a_wait)
{
    struct test test;
    explain(&test, &explain_shelf, SIM_VERDICT_INVARIANT);
    const struct sim_unusual_trait *trait = &test.explanation.unusual.all[0];
    EXPECT(!HAS_FRAMES || trait->kind == SIM_TRAIT_OUTDATED);
    EXPECT(!HAS_FRAMES || strcmp(trait->at.place.function, "shelf_read") == 0);
    EXPECT(!HAS_FRAMES || strcmp(trait->other.place.function, "shelf_borrow") == 0);
    EXPECT(!HAS_FRAMES || trait->third.step < trait->other.step);
    EXPECT(says(&test, "and `borrower` has changed that at step"));
    done(&test);
}

/* What memcpy has written is known. */
TEST(explain_copy_as_a_whole)
{
    struct test test;
    explain(&test, &explain_office, SIM_VERDICT_INVARIANT);
    EXPECT(says(&test, "`cleaner` wrote at step"));
    EXPECT(names_unusual(&test, "office_reset") || !HAS_FRAMES);
    done(&test);
}

/* … what is not written here, and the call that leads to that write in the run that passes. */
TEST(explain_value_that_is_not_written)
{
    struct test test;
    explain(&test, &explain_doors, SIM_VERDICT_INVARIANT);
    const struct sim_failed_value *failed = &test.explanation.cause.failed;
    const char *line = failed->read.passing_by.place.function;
    EXPECT(!HAS_FRAMES || strcmp(line, "doors_guest_poll") == 0);
    EXPECT(!HAS_FRAMES || strcmp(failed->led.by.place.function, "doors_ring") == 0);
    EXPECT(!HAS_FRAMES || says(&test, "leads to that, in doors_ring()"));
    done(&test);
}

/* … and, in what checks a run at its end, what the value was computed from. */
TEST(explain_value_by_what_it_was_computed_from)
{
    struct test test;
    explain(&test, &explain_scale, SIM_VERDICT_INVARIANT);
    const struct sim_deciding_read *read = &test.explanation.cause.failed.read;
    EXPECT(!HAS_FRAMES || strcmp(read->at.place.function, "scale_main") == 0);
    EXPECT(!HAS_FRAMES || strcmp(read->value, "3") == 0);
    EXPECT(!HAS_FRAMES || strcmp(read->passing_value, "5") == 0);
    done(&test);
}

/* Of a run that loops: the condition by which it does, who would have changed that, and what each
 * round goes through. */
TEST(explain_loop_by_what_it_waits_for)
{
    struct test test;
    explain(&test, &explain_mill, SIM_VERDICT_LIVELOCK);
    const struct sim_failed_value *failed = &test.explanation.cause.failed;
    EXPECT(!HAS_FRAMES || strcmp(failed->condition.place.function, "mill_main") == 0);
    EXPECT(!HAS_FRAMES || strcmp(failed->read.value, "0") == 0);
    EXPECT(!HAS_FRAMES || strcmp(failed->read.passing_by.place.function, "mill_keeper") == 0);
    EXPECT(says(&test, "Each round goes through mill_"));
    EXPECT(says(&test, "where the call returns 1"));
    EXPECT(!says(&test, "and not here after that") || !HAS_FRAMES);
    done(&test);
}

/* A hang is made once, and is reported with the function in which it spins, and its caller. */
TEST(explain_hang_by_where_it_spins)
{
    struct test test;
    explain_first(&test, &explain_spins);
    const struct sim_explanation *all = &test.explanation;
    EXPECT_EQ(all->given.verdict, SIM_VERDICT_HANG);
    EXPECT_EQ(all->failing.runs, 1);
    EXPECT(blames(&test, 3, "spin_round"));
    EXPECT(says(&test, "The step spins in spin_"));
    EXPECT(says(&test, "spins_main()"));
    done(&test);
}

/* One that waits for the clock within a step is no hang: the limit of virtual time ends it, and it
 * is reported with the function that reads the clock. */
TEST(explain_step_that_spins_on_the_clock)
{
    struct test test;
    explain_first(&test, &explain_spins_on_clock);
    const struct sim_explanation *all = &test.explanation;
    EXPECT_EQ(all->given.verdict, SIM_VERDICT_TIME_LIMIT);
    EXPECT_STR(all->given.actor_name, "watcher");
    EXPECT(blames(&test, 1, "clock_watch"));
    EXPECT(says(&test, "The step spins in clock_watch()"));
    EXPECT(says(&test, "can come only from the clock"));
    done(&test);
}
