/*
 * tell_verdict.c -- for each verdict a first sentence, a reason, and what it is.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <string.h>

#include "runtime/base/assert.h"
#include "sim/core/record/site.h"
#include "sim/explain/view/phrase.h"
#include "sim/explain/view/tell_priv.h"

#define BUSY_NAMED 4u

/* ---- Words. ---------------------------------------------------------------------------------- */

static void
put_message(struct sim__telling *telling)
{
    char message[SIM_MESSAGE_MAX + 1] = {0};
    memcpy(message, telling->outcome->message, SIM_MESSAGE_MAX);
    sim_page_clean(&telling->line, message[0] != '\0' ? message : "it gave no reason");
}

/* A wake was sent, and no poll has followed. */
static bool
is_dropped(const struct sim__telling *telling)
{
    return telling->wake_outcome.kind == SIM_WAKE_OUTCOME_NOT_POLLED &&
           telling->wake_outcome.root_cause != SIM_EVENT_NONE;
}

static void
put_place(struct sim__telling *telling)
{
    sim__put_at(telling, telling->outcome->site, 0);
}

/* "it waits for the reply (response) since step 17 (1.2ms)"; who has nothing on record that it
 * waits for, but woke itself, waits for that. */
static void
put_sleep(struct sim__telling *telling)
{
    const struct sim_wait *wait = telling->wake_outcome.wait;
    const struct sim_outcome *outcome = telling->outcome;
    sim_page_put(&telling->line, "it waits for ");
    if (wait == NULL && outcome->object == 0 && is_dropped(telling)) {
        sim_page_put(&telling->line, "its next poll");
        return;
    }
    if (wait != NULL && wait->kind != SIM_WAIT_CLONE) {
        sim__put_wait(telling, wait);
    } else {
        sim_actor_table_put_wanted(&telling->actor_table, &telling->line, outcome->object, NULL,
                telling->wake_outcome.part);
    }
    if (telling->wake_outcome.poll != SIM_EVENT_NONE) {
        sim_page_put(&telling->line, " since ");
        sim__put_step(telling,
                sim_actor_table_event(&telling->actor_table, telling->wake_outcome.poll)->step);
    }
}

/* ", was woken at step 12 (4ms)"; ", woke itself at …" */
static void
put_woken(struct sim__telling *telling)
{
    uint64_t wake = telling->wake_outcome.root_cause;
    bool itself =
            sim_actor_table_part_of(&telling->actor_table, wake) == telling->wake_outcome.part;
    sim_page_put(&telling->line, itself ? ", woke itself at " : ", was woken at ");
    sim__put_step(telling, sim_actor_table_event(&telling->actor_table, wake)->step);
}

/* Since when nothing kept it, and that it was woken, each after a comma, and one behind. The step
 * that sent the wake says it all, where that is the one from which it could go on. */
static void
put_could_go_on(struct sim__telling *telling)
{
    uint64_t step = telling->outcome->missing_wake_step;
    bool dropped = is_dropped(telling);
    bool same =
            dropped &&
            sim_actor_table_event(&telling->actor_table, telling->wake_outcome.root_cause)->step ==
                    step;
    if (step != 0 &&
            sim_phrase_whose_step(&telling->actor_table, step) == telling->wake_outcome.part) {
        sim_page_put(&telling->line, same ? "" : ", which was there by then");
    } else if (step != 0 && !same) {
        sim_page_put(&telling->line, ", could have made progress after ");
        sim__put_step(telling, step);
    }
    if (dropped) {
        put_woken(telling);
    }
    sim_page_put(&telling->line, step != 0 || dropped ? "," : "");
}

/* ---- Who took the steps. --------------------------------------------------------------------- */

struct busy {
    uint32_t part;
    uint32_t steps;
};

/* Counts the steps of each part in [from, horizon), and puts the BUSY_NAMED busiest first. Returns
 * how many there are of these. */
static uint32_t
find_busiest(const struct sim__telling *telling, uint64_t from, struct busy *ret_busy)
{
    const struct sim_actor_table *actor_table = &telling->actor_table;
    uint32_t count = 0;
    for (uint32_t part = 1; part < actor_table->count; part++) {
        struct busy busy = {part, 0};
        for (uint64_t i = from; i < telling->wake_outcome.horizon; i++) {
            const struct sim_event *event = sim_actor_table_event(actor_table, i);
            bool turn = event->kind == RT_PROBE_POLL ||
                        (event->kind == SIM_EVENT_STEP &&
                                actor_table->parts[part].kind != SIM_ACTOR_TASK);
            busy.steps += turn && sim_actor_table_part_of(actor_table, i) == part;
        }
        uint32_t place = count;
        while (place > 0 && ret_busy[place - 1].steps < busy.steps) {
            place--;
        }
        if (busy.steps == 0 || place >= BUSY_NAMED) {
            continue;
        }
        count += count < BUSY_NAMED ? 1 : 0;
        memmove(&ret_busy[place + 1], &ret_busy[place], (count - 1 - place) * sizeof(*ret_busy));
        ret_busy[place] = busy;
    }
    return count;
}

/* "`a` (5000), `b` (5000)" */
static void
put_busiest(struct sim__telling *telling, uint64_t from)
{
    struct busy busy[BUSY_NAMED + 1];
    uint32_t count = find_busiest(telling, from, busy);
    for (uint32_t i = 0; i < count; i++) {
        sim_page_put(&telling->line, i == 0 ? "" : ", ");
        sim__put_who(telling, busy[i].part);
        sim_page_printf(&telling->line, " (%u)", busy[i].steps);
    }
    sim_page_put(&telling->line, count == 0 ? "no actor on record" : "");
}

/* The first event of the last `steps` steps. */
static uint64_t
last_steps(const struct sim__telling *telling, uint32_t steps)
{
    const struct sim_actor_table *actor_table = &telling->actor_table;
    uint64_t i = telling->wake_outcome.horizon;
    uint32_t seen = 0;
    while (i > actor_table->first && seen < steps) {
        i--;
        seen += sim_actor_table_event(actor_table, i)->kind == SIM_EVENT_STEP;
    }
    return i;
}

/* A line of rewake itself says nothing to a reader. */
static void
put_readers_place(struct sim__telling *telling, uint64_t index)
{
    const struct sim_event *event = sim_actor_table_event(&telling->actor_table, index);
    const struct rt_site *site = sim_site_find(event->await != 0 ? event->await : event->site);
    if (site != NULL && !sim_site_is_own(site)) {
        sim__put_at_event(telling, index);
    }
}

/* The last thing on record before the end, with its line. */
static void
put_last(struct sim__telling *telling)
{
    struct sim_page words;
    sim_page_init(&words, false);
    for (uint64_t i = telling->wake_outcome.horizon;
            i-- > telling->actor_table.first && words.length == 0;) {
        if (sim_phrase_put(&telling->actor_table, &words, i)) {
            sim_page_put(&telling->line, " The last event on record is of ");
            sim__put_step(telling, sim_actor_table_event(&telling->actor_table, i)->step);
            sim_page_put(&telling->line, ", by ");
            sim__put_who(telling, sim_actor_table_part_of(&telling->actor_table, i));
            sim_page_put(&telling->line, ": ");
            sim_page_join(&telling->line, &words);
            put_readers_place(telling, i);
            sim_page_put(&telling->line, ".");
        }
    }
    sim_page_fini(&words);
}

/* ---- First sentences. ------------------------------------------------------------------------ */

static void
head_lost(struct sim__telling *telling)
{
    sim__put_who(telling, telling->wake_outcome.part);
    sim_page_put(&telling->line, sim__found_by_rounds(telling->outcome)
                                         ? " is blocked forever although it could finish: "
                                         : " is blocked forever although it could make progress: ");
    put_sleep(telling);
    put_could_go_on(telling);
    sim_page_put(&telling->line,
            is_dropped(telling) ? " and was never polled after that." : " and was never woken.");
}

static void
head_late(struct sim__telling *telling)
{
    if (telling->outcome->oracle == SIM_ORACLE_TIMER) {
        put_message(telling);
        sim_page_put(&telling->line, ".");
        return;
    }
    sim__put_who(telling, telling->wake_outcome.part);
    sim_page_put(&telling->line,
            is_dropped(telling) ? " was polled too late: " : " was woken too late: ");
    put_sleep(telling);
    put_could_go_on(telling);
    sim_page_put(&telling->line, " and was still blocked when nothing could run, at ");
    sim__put_step(telling, telling->outcome->fail_step);
    sim_page_put(&telling->line, ".");
}

static void
head_livelock(struct sim__telling *telling)
{
    bool liveness = telling->outcome->oracle == SIM_ORACLE_LIVENESS;
    sim_page_put(&telling->line,
            liveness ? "the run does not recover: " : "the run makes no progress: ");
    put_message(telling);
    sim_page_put(&telling->line, ".");
}

/* "in `who`, what is wrong": unless the message names whom it is about. */
static void
head_message(struct sim__telling *telling)
{
    const struct sim_outcome *outcome = telling->outcome;
    bool known = telling->wake_outcome.part != SIM_PART_NONE || outcome->actor_name[0] != '\0';
    if (known && outcome->reason != SIM_REASON_NAMED) {
        sim_page_put(&telling->line, "in ");
        sim__put_who(telling, telling->wake_outcome.part);
        sim_page_put(&telling->line, ", ");
    }
    put_message(telling);
    if (outcome->fail_step != 0) {
        sim_page_put(&telling->line, ", at ");
        sim__put_step(telling, outcome->fail_step);
    }
    sim_page_put(&telling->line, ".");
}

/* "`server` returned PENDING without storing a waker in server_poll (async-std-272.c:94)": a broken
 * rule. */
static void
head_contract(struct sim__telling *telling)
{
    if (!sim__is_of_poll(telling)) {
        head_message(telling);
        return;
    }
    sim__put_who(telling, telling->wake_outcome.part);
    sim_page_put(&telling->line, " returned PENDING without registering a waker");
    (void)sim__put_where(telling);
    sim_page_put(&telling->line, ", at ");
    sim__put_step(telling, telling->outcome->fail_step);
    sim_page_put(&telling->line, ". Nothing can ever wake it.");
}

/* "SIGSEGV, NULL written in f (a.c:3), step 1 (0ns) of `a`": a crash names its place. */
static void
head_crash(struct sim__telling *telling)
{
    bool stepped = telling->outcome->fail_step != 0;
    put_message(telling);
    if (stepped) {
        sim_page_put(&telling->line, ", ");
        sim__put_step(telling, telling->outcome->fail_step);
    }
    if (stepped && telling->wake_outcome.part != SIM_PART_NONE) {
        sim_page_put(&telling->line, " of ");
        sim__put_who(telling, telling->wake_outcome.part);
    }
    sim_page_put(&telling->line, ".");
}

static void
head_pass(struct sim__telling *telling)
{
    sim_page_printf(&telling->line, "all work was done, in %llu steps and ",
            (unsigned long long)telling->outcome->steps);
    sim_page_time(&telling->line, telling->outcome->sim_ns);
    sim_page_put(&telling->line, ".");
}

/* ---- Reasons. -------------------------------------------------------------------------------- */

/* No single wake was missing, but many. */
static void
why_rounds(struct sim__telling *telling)
{
    sim_page_put(&telling->line, "polled once more, no task made progress; with all blocked tasks "
                                 "polled in turn, round after round, ");
    sim__put_who(telling, telling->wake_outcome.part);
    sim_page_put(&telling->line, " finished. They wait for each other, and only the wake-ups "
                                 "between them are missing. They were blocked here:");
    sim__end_line(telling, 0);
    sim__list_waits(telling);
}

static void
why_wake_outcome(struct sim__telling *telling)
{
    if (sim__found_by_rounds(telling->outcome)) {
        why_rounds(telling);
        return;
    }
    if (telling->outcome->oracle == SIM_ORACLE_TIMER) {
        sim_page_put(&telling->line,
                "the clock moved while all waited, and it moved past a deadline: "
                "the next deadline that the host was given was a later one.");
        sim__end_line(telling, 0);
        return;
    }
    sim__tell_wake_outcome(telling);
}

static void
why_liveness(struct sim__telling *telling)
{
    sim_page_put(&telling->line,
            "up to that step there were faults, late or spurious events, or slow steps; then they "
            "stopped. A program that they only slow down ends soon after that. This one stays busy "
            "with their effects. The last 1000 steps went to ");
    put_busiest(telling, last_steps(telling, 1000));
    sim_page_put(&telling->line, ". Look for a retry that causes the next one, and for a state "
                                 "that is entered on an error and never left.");
    sim__end_line(telling, 0);
}

static void
why_livelock(struct sim__telling *telling)
{
    if (telling->outcome->oracle == SIM_ORACLE_LIVENESS) {
        why_liveness(telling);
        return;
    }
    sim_page_put(&telling->line,
            "in that time no task finished, nothing was consumed, no byte moved, "
            "and no task reported progress. The last 1000 steps went to ");
    put_busiest(telling, last_steps(telling, 1000));
    sim_page_put(&telling->line, ". At least one of them waits for something by polling for it.");
    sim__end_line(telling, 0);
}

/* Since when, and who ran instead. */
static void
why_starvation(struct sim__telling *telling)
{
    const struct sim_wake_outcome *wake_outcome = &telling->wake_outcome;
    bool woken = wake_outcome->kind == SIM_WAKE_OUTCOME_NOT_POLLED &&
                 wake_outcome->root_cause != SIM_EVENT_NONE;
    if (woken) {
        sim__put_who(telling, wake_outcome->part);
        sim_page_put(&telling->line, " was woken at ");
        sim__put_step(telling,
                sim_actor_table_event(&telling->actor_table, wake_outcome->root_cause)->step);
        sim__put_at_event(telling, wake_outcome->root_cause);
        sim_page_put(&telling->line, " and has not run since. Meanwhile the steps went to ");
    } else {
        /* What is passed over is no task, but a deadline or a source. */
        sim_page_put(&telling->line, "the last 1000 steps went to ");
    }
    put_busiest(telling, woken ? wake_outcome->root_cause : last_steps(telling, 1000));
    sim_page_put(&telling->line, ". The simulator itself passes no actor over for so long: the "
                                 "order of the runtime, or of the loop, does.");
    sim__end_line(telling, 0);
}

static void
why_step(struct sim__telling *telling)
{
    sim_page_put(&telling->line, "it happened in ");
    sim__put_deed(telling, telling->outcome->fail_step);
    sim_page_put(&telling->line, ".");
    if (telling->outcome->site != 0) {
        sim_page_put(&telling->line, " The line is");
        put_place(telling);
        sim_page_put(&telling->line, ".");
    } else if (sim__is_of_poll(telling)) {
        sim_page_put(&telling->line, " Store the waker of cx before returning RT_PENDING.");
    } else if (telling->frames.count > 0) {
        sim_page_put(&telling->line, " It happened");
        (void)sim__put_where(telling);
        sim_page_put(&telling->line, ".");
    }
    sim__end_line(telling, 0);
}

/* Memory was freed with a waker in it: that is not counted at the end, it ends the run. */
static bool
ends_with_free(const struct sim_actor_table *actor_table)
{
    return actor_table->end > actor_table->first + 1 &&
           sim_actor_table_event(actor_table, actor_table->end - 2)->kind == SIM_EVENT_FREE;
}

static void
why_leak(struct sim__telling *telling)
{
    if (ends_with_free(&telling->actor_table)) {
        why_step(telling);
        return;
    }
    sim_page_put(&telling->line,
            "it was counted after the run had ended and all background tasks had been cancelled.");
    if (telling->outcome->site != 0) {
        sim_page_put(&telling->line, " It was taken");
        put_place(telling);
        sim_page_put(&telling->line, ".");
    }
    put_last(telling);
    sim__end_line(telling, 0);
    if (telling->outcome->lost_wakers > 0) {
        sim__list_clones(telling);
    }
}

static void
why_process(struct sim__telling *telling)
{
    uint64_t last = telling->wake_outcome.horizon;
    uint32_t step = last > telling->actor_table.first
                            ? sim_actor_table_event(&telling->actor_table, last - 1)->step
                            : 0;
    bool hang = telling->outcome->verdict == SIM_VERDICT_HANG;
    if (telling->outcome->asked) {
        sim_page_put(&telling->line, hang ? "it never returned from a poll" : "it died in a poll");
        sim_page_put(&telling->line, " that was made at the end of the run, in a replay, to see "
                                     "which task could make progress. A task may be polled at any "
                                     "time, also without a wake. The last step before that is ");
    } else {
        sim_page_put(&telling->line,
                hang ? "the step that never returned is " : "the step in which it died is ");
    }
    sim__put_deed(telling, step);
    sim_page_put(&telling->line, ".");
    put_last(telling);
    sim__end_line(telling, 0);
}

static void
why_diverged(struct sim__telling *telling)
{
    sim_page_put(&telling->line,
            "the same scenario, options, seed and decisions gave another run in "
            "another process. Something in it depends on an address, on "
            "memory that was not set, on a clock, or on what ran before.");
    sim__end_line(telling, 0);
}

static void
why_limit(struct sim__telling *telling)
{
    if (sim_outcome_spins(telling->outcome)) {
        sim_page_put(&telling->line, "the step that never returned is ");
        sim__put_deed(telling, (uint32_t)telling->outcome->fail_step);
        sim_page_put(&telling->line, ". While a step runs no other task does, so what it waits for "
                                     "can come only from the clock; the clock reached the limit.");
        sim__end_line(telling, 0);
        return;
    }
    sim_page_put(&telling->line, "the run was cut off there; it made progress until then, so it "
                                 "may just be long. The last 1000 steps went to ");
    put_busiest(telling, last_steps(telling, 1000));
    sim_page_put(&telling->line, ".");
    sim__end_line(telling, 0);
}

static void
why_pass(struct sim__telling *telling)
{
    sim_page_put(&telling->line, "nothing was found.");
    sim__end_line(telling, 0);
}

/* ---- The table. ------------------------------------------------------------------------------ */

struct teller {
    void (*head)(struct sim__telling *telling);
    void (*why)(struct sim__telling *telling);
    const char *kind;
};

static const struct teller tellers[SIM_VERDICTS] = {
        [SIM_VERDICT_PASS] = {head_pass, why_pass, ""},
        /* What was done to find it differs: put_how_lost. */
        [SIM_VERDICT_LOST_WAKEUP] = {head_lost, why_wake_outcome, ""},
        [SIM_VERDICT_LATE_WAKEUP] = {head_late, why_wake_outcome,
                "while nothing could run, before the clock moved on, the blocked task was polled "
                "once more in a replay, and made progress; so it could have been woken earlier"},
        [SIM_VERDICT_DEADLOCK] = {sim__head_deadlock, sim__why_deadlock,
                "all are blocked, and none made progress when polled or reported to again"},
        [SIM_VERDICT_LIVELOCK] = {head_livelock, why_livelock,
                "steps are taken, and over so many of them nothing gets done"},
        [SIM_VERDICT_STARVATION] = {head_message, why_starvation,
                "an actor could run all the time, and others always ran first"},
        [SIM_VERDICT_OVER_BUDGET] = {head_message, why_step,
                "a task kept the thread for longer than its quota in a single poll"},
        [SIM_VERDICT_CONTRACT] = {head_contract, why_step,
                "a rule between task, runtime and host was broken; the message names the rule"},
        [SIM_VERDICT_LEAK] = {head_message, why_leak,
                "something that was taken during the run was not given back at its end"},
        [SIM_VERDICT_INVARIANT] = {head_message, why_step,
                "a condition that the scenario itself states did not hold"},
        [SIM_VERDICT_CRASH] = {head_crash, why_process, "the process that made the run died"},
        [SIM_VERDICT_HANG] = {head_message, why_process,
                "a single step did not return in the time that the wall clock allows"},
        [SIM_VERDICT_DIVERGED] = {head_message, why_diverged,
                "a run is meant to depend on its seed only, and this one does not"},
        [SIM_VERDICT_STEP_LIMIT] = {head_message, why_limit,
                "the run was still making progress when it had used up the steps it may take"},
        [SIM_VERDICT_TIME_LIMIT] = {head_message, why_limit,
                "the run was still making progress when it had used up its virtual time"},
};

static const struct teller *
teller_of(const struct sim__telling *telling)
{
    uint32_t verdict = telling->outcome->verdict;
    return &tellers[verdict < SIM_VERDICTS ? verdict : (uint32_t)SIM_VERDICT_CONTRACT];
}

void
sim__tell_headline(struct sim__telling *telling)
{
    sim_page_printf(&telling->line, "%s: ", sim_verdict_name(telling->outcome->verdict));
    teller_of(telling)->head(telling);
    sim__end_line(telling, 0);
    sim__put_stack(telling);
}

void
sim__tell_why(struct sim__telling *telling)
{
    teller_of(telling)->why(telling);
}

/* Lost wake-ups are found in four ways. */
static void
put_how_lost(struct sim__telling *telling)
{
    struct sim_page *line = &telling->line;
    const struct sim_outcome *outcome = telling->outcome;
    uint32_t limit = sim_actor_table_limit(&telling->actor_table);
    if (limit != SIM_VERDICT_PASS) {
        sim_page_printf(line, "when the limit was reached (%s)", sim_verdict_name(limit));
    } else {
        sim_page_put(line, "when the run stalled");
    }
    if (sim__found_by_rounds(outcome)) {
        sim_page_put(line, ", all blocked tasks were polled in turn, round after round, in a "
                           "replay, and this one finished; so only wake-ups were missing");
        return;
    }
    if (outcome->oracle == SIM_ORACLE_REWAKE_SOURCES) {
        sim_page_put(line, ", the host reported everything ready again, in a replay, and this one "
                           "made progress; so a report or a notification was lost");
        return;
    }
    if (outcome->oracle == SIM_ORACLE_REWAKE_LOOP) {
        sim_page_put(line, ", the host of this loop reported something to it for nothing, in a "
                           "replay, as a host may at any time, and it made progress; so it was not "
                           "woken for what had arrived");
        return;
    }
    sim_page_put(line, ", each blocked task was polled once more in a replay, and this one made "
                       "progress; so all that was missing");
    if (limit != SIM_VERDICT_PASS && outcome->missing_wake_step != 0 &&
            outcome->missing_wake_step < outcome->fail_step) {
        sim_page_printf(line, " for %llu steps",
                (unsigned long long)(outcome->fail_step - outcome->missing_wake_step));
    }
    sim_page_put(line, " was a wake-up");
}

/* A loop cannot be polled: its host is asked (judge/progress.h). */
static bool
is_late_loop(const struct sim__telling *telling)
{
    uint32_t part = telling->wake_outcome.part;
    return telling->outcome->verdict == SIM_VERDICT_LATE_WAKEUP &&
           telling->outcome->oracle == SIM_ORACLE_QUIET_AUDIT && part != SIM_PART_NONE &&
           telling->actor_table.parts[part].kind == SIM_ACTOR_LOOP;
}

void
sim__put_kind(struct sim__telling *telling)
{
    uint32_t verdict = telling->outcome->verdict;
    if (verdict == SIM_VERDICT_LOST_WAKEUP) {
        put_how_lost(telling);
    } else if (is_late_loop(telling)) {
        sim_page_put(&telling->line,
                "while nothing could run, before the clock moved, its host returned from the "
                "loop's wait for nothing, in a replay, as a host may at any time, and the loop "
                "made progress; so it could have been woken earlier");
    } else {
        sim_page_put(&telling->line, verdict < SIM_VERDICTS ? tellers[verdict].kind : "");
    }
}
