/*
 * report_cause.c -- the cause, in a sentence or two.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <string.h>

#include "sim/core/record/site.h"
#include "sim/explain/report_priv.h"
#include "sim/explain/words.h"

static const struct sim_location *
blamed(const struct sim_cause *cause)
{
    return cause->at_count > 0 ? &cause->at[0] : NULL;
}

/* Who is told of: the loop or task that would go on, where that was asked; else whom the verdict
 * names. */
uint32_t
sim__waiter(const struct sim_explanation *explanation)
{
    const struct sim_counterfactual *counterfactual = &explanation->counterfactual;
    bool asked = explanation->cause.by_counterfactual != SIM_COUNTERFACTUAL_NONE;
    return asked ? sim_actor_table_actor(&explanation->actor_table, counterfactual->actor)
                 : explanation->wake_outcome.part;
}

/* Names that are given beside the place itself. */
#define NAMES 4u

/* Steps after which somebody who waits is worth a word while others turn. */
#define SLEEPS_LONG 1000u

/* Is it worth a name: not one that was given, and the runtime's only where nothing else is. */
static bool
is_news(const struct sim_cause *cause, uint32_t from, uint32_t index, bool trail)
{
    const struct sim_location *location = &cause->at[index];
    if (location->traced != trail || (sim_place_is_runtime(&location->place) &&
                                             !sim_place_is_runtime(&cause->at[0].place))) {
        return false;
    }
    for (uint32_t i = from; i < index; i++) {
        if (strcmp(cause->at[i].place.function, location->place.function) == 0) {
            return false;
        }
    }
    return true;
}

/* False: there are none. */
bool
sim__say_names(struct sim_page *page, const struct sim_cause *cause, uint32_t from, uint32_t to,
        bool trail, const char *before)
{
    uint32_t count = 0;
    for (uint32_t i = from + 1; i < to && count < NAMES; i++) {
        if (is_news(cause, from, i, trail)) {
            sim_page_printf(
                    page, "%s%s()", count++ == 0 ? before : ", ", cause->at[i].place.function);
        }
    }
    return count > 0;
}

/* " in permit_release() (tokio-2854.c:84), called from author_poll()" */
void
sim__say_place(struct sim_page *page, const struct sim_cause *cause, uint32_t from, uint32_t to)
{
    sim_page_put(page, " ");
    sim_words_put_place(page, &cause->at[from].place);
    (void)sim__say_names(page, cause, from, to, false, ", called from ");
}

/* The same with what was gone through: " in timeout_of() (mio-1948.c:80), after kernel_wait()". */
void
sim__say_at(struct sim_page *page, const struct sim_cause *cause)
{
    if (cause->at_count > 0) {
        sim__say_place(page, cause, 0, cause->at_count);
        (void)sim__say_names(page, cause, 0, cause->at_count, true,
                cause->at[0].traced ? ", after " : "; gone through in that step: ");
    }
}

static void
put_stored(struct sim_page *page, const struct sim_cause *cause)
{
    if (cause->stored.place.function[0] != '\0') {
        sim_page_put(page, " It had stored its waker ");
        sim_words_put_place(page, &cause->stored.place);
        sim_page_put(page, " at ");
        sim_page_put_step(page, cause->stored.step);
        sim_page_put(page, ".");
    }
}

/* "… at step 6 `author`" */
void
sim__say_when(struct sim_page *page, const struct sim_explanation *explanation, const char *before)
{
    const struct sim_location *at = blamed(&explanation->cause);
    if (at != NULL && at->step != 0 && at->part != SIM_PART_NONE) {
        sim_page_printf(page, "%s at ", before);
        sim_page_put_step(page, at->step);
        sim_page_put(page, " ");
        sim_words_put_who(&explanation->actor_table, page, at->part);
    } else {
        sim_page_printf(page, "%s an actor", before);
    }
}

/* " in actor_poll() (mail.c:33), drain() (mail.c:24), handle() (mail.c:12)": which of them goes
 * wrong is not known, so each is told with the line where it was left. */
static void
put_passed_lines(struct sim_page *page, const struct sim_cause *cause)
{
    if (cause->at_count == 0 || !cause->at[0].traced) {
        sim__say_at(page, cause);
        return;
    }
    sim_page_put(page, " ");
    sim_words_put_place(page, &cause->at[0].place);
    for (uint32_t i = 1, count = 0; i < cause->at_count && count < NAMES; i++) {
        if (is_news(cause, 0, i, true)) {
            const struct sim_place *place = &cause->at[i].place;
            sim_page_printf(page, "%s%s() (%s:%u)", count++ == 0 ? ", before that in " : ", ",
                    place->function, sim_place_file(place), (unsigned)place->line);
        }
    }
}

/* It could go on when it fell asleep, and nobody else has to do with it. */
static void
put_unarmed(struct sim_page *page, const struct sim_explanation *explanation)
{
    const struct sim_cause *cause = &explanation->cause;
    const struct sim_location *at = blamed(cause);
    const struct sim_wake_outcome *wake_outcome = &explanation->wake_outcome;
    sim_words_put_who(&explanation->actor_table, page, wake_outcome->part);
    sim_page_put(page, " blocks");
    if (wake_outcome->poll != SIM_EVENT_NONE) {
        sim_page_put(page, " at ");
        sim_page_put_step(
                page, sim_actor_table_event(&explanation->actor_table, wake_outcome->poll)->step);
    }
    sim_page_put(page, " with something left to do, and arranges for no wake");
    if (cause->by_passing && at != NULL) {
        sim_page_put(page, ": it does not start the timer, or store the waker,");
        sim__say_place(page, cause, 0, cause->at_count);
        sim_page_printf(page,
                ", as it does in that turn of the nearest run that passes (its step "
                "%llu).",
                (unsigned long long)at->step);
        if (sim__say_names(page, cause, 0, cause->at_count, true, " Here it goes through ")) {
            sim_page_put(page, ".");
        }
        return;
    }
    sim_page_put(page, ". In that step it is last");
    put_passed_lines(page, cause);
    sim_page_put(page, ".");
    put_stored(page, cause);
}

/* It was told once, and did not ask to be told again. */
static void
put_unasked(struct sim_page *page, const struct sim_explanation *explanation)
{
    const struct sim_actor_table *actor_table = &explanation->actor_table;
    uint64_t ready = sim_cause_silence(actor_table, &explanation->wake_outcome);
    const struct sim_event *event = sim_actor_table_event(actor_table, ready);
    sim_words_put_who(actor_table, page, explanation->wake_outcome.part);
    sim_page_put(page, " blocks at ");
    sim_page_put_step(page, explanation->cause.at[0].step);
    sim_page_put(page, " and does not ask its host again: its last line is");
    sim__say_at(page, &explanation->cause);
    sim_page_put(page, ". Then ");
    sim_words_put_who(actor_table, page, sim_actor_table_part_of(actor_table, ready));
    sim_page_put(page, " is ready, at ");
    sim_page_put_step(page, event->step);
    sim_page_put(page, ", and ");
    sim_page_clean(page, sim_actor_table_text(actor_table, ready));
    sim_page_put(page, ".");
}

static void
put_never_stored(struct sim_page *page, const struct sim_explanation *explanation)
{
    const struct sim_cause *cause = &explanation->cause;
    const struct sim_location *at = blamed(cause);
    if (cause->past != 0 && at != NULL) {
        sim_page_put(page, "the wake of ");
        sim_words_put_who(&explanation->actor_table, page, sim__waiter(explanation));
        sim_page_put(page, " goes past ");
        sim_actor_table_put_object(
                &explanation->actor_table, page, cause->past, sim__waiter(explanation));
        sim_page_put(page, ": at ");
        sim_page_put_step(page, at->step);
        sim_page_put(page, " its own waker is stored");
        sim__say_at(page, cause);
        sim_page_put(page, ", where that of ");
        sim_actor_table_put_object(
                &explanation->actor_table, page, cause->past, sim__waiter(explanation));
        sim_page_put(page, " should be. Polled after that wake, ");
        sim_actor_table_put_object(
                &explanation->actor_table, page, cause->past, sim__waiter(explanation));
        sim_page_put(page, " polls no child that was not reported to it.");
        return;
    }
    if (cause->by_counterfactual == SIM_COUNTERFACTUAL_NOT_REARMED) {
        sim__say_not_rearmed(page, explanation);
        return;
    }
    if (cause->by_look && cause->by_counterfactual != SIM_COUNTERFACTUAL_NONE) {
        sim__say_left(page, explanation);
        return;
    }
    if (cause->by_look) {
        put_unarmed(page, explanation);
        return;
    }
    if (cause->by_call) {
        sim__say_unregistered(page, explanation);
        return;
    }
    if (cause->by_silence) {
        put_unasked(page, explanation);
        return;
    }
    sim_words_put_who(&explanation->actor_table, page, sim__waiter(explanation));
    if (cause->by_rest) {
        sim_page_put(page, " waits for ");
        sim_actor_table_put_object(&explanation->actor_table, page,
                explanation->wake_outcome.wait->object, sim__waiter(explanation));
        sim_page_put(page, ", which does not run: its waker is stored");
        sim__say_at(page, cause);
        sim_page_put(page, ", and the timer is not started for that wait.");
        return;
    }
    sim_page_put(page, " is blocked, and neither its waker nor a deadline is where it would be "
                       "woken. It should have been put there");
    sim__say_at(page, cause);
    sim_page_put(page, ".");
}

static void
put_overdue(struct sim_page *page, const struct sim_explanation *explanation)
{
    const struct sim_cause *cause = &explanation->cause;
    sim_words_put_who(&explanation->actor_table, page, sim__waiter(explanation));
    sim_page_put(page, " is never woken: ");
    sim_actor_table_put_object(&explanation->actor_table, page,
            explanation->wake_outcome.wait->object, sim__waiter(explanation));
    sim__say_when(page, explanation, " is due, and");
    sim_page_put(page, " does not fire it");
    sim__say_place(page, cause, 0, cause->at_count);
    sim_page_put(page, ", where timers are fired.");
    if (sim__say_names(page, cause, 0, cause->at_count, true, " It goes through ")) {
        sim_page_put(page, ".");
    }
    put_stored(page, cause);
}

/* It could go on, and the record names no line. */
static void
put_untraced(struct sim_page *page, const struct sim_explanation *explanation)
{
    sim_words_put_who(&explanation->actor_table, page, sim__waiter(explanation));
    sim_page_put(page,
            " could make progress, and is not woken; no line is on record for that (a library "
            "records its lines when it is built with the flags of pkg-config rewake).");
}

/* Whom the place was fired for in that step: ": it wakes `radio`, `sensor` there". */
static void
put_fired_instead(struct sim_page *page, const struct sim_explanation *explanation)
{
    const struct sim_wake_outcome *wake_outcome = &explanation->wake_outcome;
    const struct sim_ledger *ledger = &explanation->ledger;
    uint32_t named = 0;
    for (uint32_t i = 0; i < ledger->count && wake_outcome->kind == SIM_WAKE_OUTCOME_FIRED_OTHER;
            i++) {
        const struct sim_wait *wait = &ledger->waits[i];
        bool fired = wait->end == SIM_WAIT_FIRED && wake_outcome->other != NULL &&
                     wait->object == wake_outcome->other->object &&
                     wait->part != wake_outcome->part &&
                     wait->end_step == explanation->cause.at[0].step;
        if (fired && named < NAMES) {
            sim_page_put(page, named++ == 0 ? ": there it wakes " : ", ");
            sim_words_put_who(&explanation->actor_table, page, wait->part);
        }
    }
}

static void
put_never_fired(struct sim_page *page, const struct sim_explanation *explanation)
{
    const struct sim_cause *cause = &explanation->cause;
    if (cause->by_counterfactual == SIM_COUNTERFACTUAL_ELSEWHERE) {
        sim__say_elsewhere(page, explanation);
        return;
    }
    if (cause->by_counterfactual == SIM_COUNTERFACTUAL_NOT_NOTIFIED) {
        sim__say_not_notified(page, explanation);
        return;
    }
    if (cause->by_timer) {
        put_overdue(page, explanation);
        return;
    }
    bool late = sim_explanation_outcome(explanation)->verdict == SIM_VERDICT_LATE_WAKEUP;
    if (cause->at_count == 0) {
        put_untraced(page, explanation);
        return;
    }
    sim_words_put_who(&explanation->actor_table, page, sim__waiter(explanation));
    sim__say_when(page, explanation, late ? " is not woken in time:" : " is never woken:");
    sim_page_put(
            page, cause->by_word ? " makes progress possible for it," : " should have woken it,");
    sim__say_place(page, cause, 0, cause->at_count);
    sim_page_put(page, cause->by_word ? ", and fires nothing for it there." : ", and did not");
    if (!cause->by_word) {
        put_fired_instead(page, explanation);
        sim_page_put(page, ".");
    }
    if (sim__say_names(page, cause, 0, cause->at_count, true, " In that step it goes through ")) {
        sim_page_put(page, ".");
    }
    put_stored(page, cause);
}

/* What came, and who wrote over it. */
static void
put_written_over(struct sim_page *page, const struct sim_explanation *explanation)
{
    const struct sim_cause *cause = &explanation->cause;
    sim_page_put(page, "what ");
    sim_words_put_who(&explanation->actor_table, page, sim__waiter(explanation));
    sim_page_put(page, " waits for arrived, and is lost: at ");
    sim_page_put_step(page, cause->before.step);
    sim_page_put(page, " ");
    sim_words_put_who(&explanation->actor_table, page, cause->before.part);
    sim_page_put(page, " writes it ");
    sim_words_put_place(page, &cause->before.place);
    sim__say_when(page, explanation, ", and");
    sim_page_put(page, " overwrites it");
    sim__say_at(page, cause);
    sim_page_put(page, cause->wiped ? ", as it blocks; were it still there, "
                                    : ". It was not read in between; were it still there, ");
    sim_words_put_who(&explanation->actor_table, page, sim__waiter(explanation));
    sim_page_put(page, " would make progress.");
    if (cause->prior.place.function[0] != '\0') {
        sim_page_printf(page, " Right before it overwrote it, %s() had called %s() (%s:%u).",
                cause->at[1].place.function, cause->prior.place.function,
                sim_place_file(&cause->prior.place), (unsigned)cause->prior.place.line);
    }
}

static void
put_taken(struct sim_page *page, const struct sim_explanation *explanation, const char *how)
{
    sim_page_put(page, "the waker of ");
    sim_words_put_who(&explanation->actor_table, page, sim__waiter(explanation));
    sim__say_when(page, explanation, " is lost:");
    sim_page_printf(page, " %s", how);
    sim__say_at(page, &explanation->cause);
    sim_page_put(page, ".");
    put_stored(page, &explanation->cause);
}

static void
put_fired_early(struct sim_page *page, const struct sim_explanation *explanation)
{
    const struct sim_cause *cause = &explanation->cause;
    if (cause->by_attempt) {
        sim__say_met_nobody(page, explanation);
        return;
    }
    if (cause->by_word) {
        sim_page_put(page, "what ");
        sim_words_put_who(&explanation->actor_table, page, sim__waiter(explanation));
        sim__say_when(page, explanation, " waits for comes too early:");
        sim_page_put(page, " writes it");
        sim__say_at(page, cause);
        sim_page_put(page, cause->by_counterfactual == SIM_COUNTERFACTUAL_NONE
                                   ? ", where no waker is stored yet."
                                   : ", before it blocks, so there is no waiter to wake yet.");
        sim__say_falls_asleep(page, explanation);
    } else {
        sim__say_when(page, explanation, "the wake comes too early:");
        sim_page_put(page, " fires it");
        sim__say_at(page, cause);
        sim_page_put(page, ", when no waiter is registered yet.");
    }
    if (cause->stored.place.function[0] != '\0') {
        sim_page_put(page, " Only afterwards ");
        sim_words_put_who(&explanation->actor_table, page, sim__waiter(explanation));
        sim_page_put(page, " stores its waker ");
        sim_words_put_place(page, &cause->stored.place);
        sim_page_put(page, " at ");
        sim_page_put_step(page, cause->stored.step);
        sim_page_put(page, ", and does not check again.");
    }
}

/* Who polled a task that woke itself then. */
static void
put_poller(struct sim_page *page, const struct sim_explanation *explanation)
{
    const struct sim_cause *cause = &explanation->cause;
    if (explanation->wake_outcome.kind == SIM_WAKE_OUTCOME_NOT_POLLED &&
            cause->poller.place.function[0] != '\0') {
        sim_page_printf(page,
                " It was being polled by %s() (%s:%u) then, which should have polled it "
                "once more.",
                cause->poller.place.function, sim_place_file(&cause->poller.place),
                (unsigned)cause->poller.place.line);
    }
}

static void
put_coalesced(struct sim_page *page, const struct sim_explanation *explanation)
{
    if (explanation->cause.by_counterfactual == SIM_COUNTERFACTUAL_DROPPED) {
        sim__say_blocked_on(page, explanation);
        return;
    }
    if (explanation->cause.by_counterfactual == SIM_COUNTERFACTUAL_ELSEWHERE) {
        sim__say_turned_away(page, explanation);
        return;
    }
    sim_page_put(page, "the wake of ");
    sim_words_put_who(&explanation->actor_table, page, sim__waiter(explanation));
    sim__say_when(page, explanation, " is sent, and dropped before the poll:");
    sim_page_put(page, " sends it");
    sim__say_at(page, &explanation->cause);
    sim_page_put(page, explanation->wake_outcome.kind == SIM_WAKE_OUTCOME_NOT_POLLED
                               ? ", and no poll of it follows."
                               : ", and the poll that followed has not seen it.");
    put_poller(page, explanation);
    sim__say_attempted(page, explanation);
}

/* "`main` is blocked in lock_take() (lock.h:40), called from drop_jobs()", of each. */
static void
put_waiters(struct sim_page *page, const struct sim_explanation *explanation)
{
    const struct sim_cause *cause = &explanation->cause;
    for (uint32_t from = 0, to = 0; from < cause->at_count; from = to) {
        while (to < cause->at_count && cause->at[to].part == cause->at[from].part) {
            to++;
        }
        sim_page_put(page, from == 0 ? ": " : "; ");
        sim_words_put_who(&explanation->actor_table, page, cause->at[from].part);
        sim_page_put(page, cause->at[from].traced ? " was last" : " is blocked");
        sim__say_place(page, cause, from, to);
        (void)sim__say_names(page, cause, from, to, true, ", after ");
    }
    sim_page_put(page, ".");
}

/* One turn for two wakes: if it did what the one was for, it may have forgotten the other. */
static void
put_merged(struct sim_page *page, const struct sim_explanation *explanation)
{
    const struct sim_cause *cause = &explanation->cause;
    if (cause->merged.part == SIM_PART_NONE) {
        return;
    }
    sim_page_put(page, " The last turn of ");
    sim_words_put_who(&explanation->actor_table, page, cause->merged_part);
    sim_page_put(page, ", at ");
    sim_page_put_step(page, cause->merged_turn);
    sim_page_put(page, ", answers more than one wake: at ");
    sim_page_put_step(page, cause->merged.step);
    sim_page_put(page, " ");
    sim_words_put_who(&explanation->actor_table, page, cause->merged.part);
    sim_page_put(page, " woke it too, ");
    sim_words_put_place(page, &cause->merged.place);
    sim_page_put(page, ", when it was awake already. If that turn handled the first only, what the "
                       "other was for is lost.");
}

/* It has had a turn lately: it is one of those who turn. */
static bool
turns(const struct sim_explanation *explanation, uint32_t part)
{
    const struct sim_actor_table *actor_table = &explanation->actor_table;
    uint64_t end = sim_explanation_outcome(explanation)->fail_step;
    for (uint64_t i = actor_table->end; i-- > actor_table->first;) {
        const struct sim_event *event = sim_actor_table_event(actor_table, i);
        if (event->step + SLEEPS_LONG < end) {
            return false;
        }
        if (event->kind == RT_PROBE_POLL && sim_actor_table_part_of(actor_table, i) == part) {
            return true;
        }
    }
    return false;
}

/* Whoever waits while others turn: "Meanwhile `asker` waits for the answer since step 11". */
static void
put_meanwhile(struct sim_page *page, const struct sim_explanation *explanation)
{
    const struct sim_ledger *ledger = &explanation->ledger;
    const struct sim_actor_table *actor_table = &explanation->actor_table;
    uint32_t named = 0;
    for (uint32_t i = 0; i < ledger->count && named < NAMES; i++) {
        const struct sim_wait *wait = &ledger->waits[i];
        const struct rt_site *site = sim_site_find(wait->await != 0 ? wait->await : wait->site);
        if (wait->end != SIM_WAIT_OPEN || wait->kind != SIM_WAIT_SLOT || wait->unknown != 0 ||
                SIM_OBJECT_KIND(wait->object) == RT_OBJECT_TIMER ||
                actor_table->parts[wait->part].finished || turns(explanation, wait->part)) {
            continue;
        }
        sim_page_put(page, named++ == 0 ? " Meanwhile " : "; ");
        sim_words_put_who(actor_table, page, wait->part);
        sim_page_put(page, " waits for ");
        sim_page_clean(page, wait->reason != NULL ? wait->reason : "something");
        sim_page_put(page, " since ");
        sim_page_put_step(page, wait->store_step);
        if (site != NULL) {
            sim_page_printf(page, ", in %s() (%s:%u)", site->function, sim_site_file(site),
                    (unsigned)site->line);
        }
    }
    sim_page_put(page, named > 0 ? ", and no actor that runs wakes it." : "");
}

static void
put_not_a_wake(struct sim_page *page, const struct sim_explanation *explanation)
{
    const struct sim_outcome *outcome = sim_explanation_outcome(explanation);
    const struct sim_cause *cause = &explanation->cause;
    bool lost = outcome->verdict == SIM_VERDICT_LOST_WAKEUP && !sim_outcome_is_stall(outcome);
    if (lost && cause->at_count > 0 && outcome->oracle == SIM_ORACLE_REWAKE_SOURCES) {
        sim__say_untaken(page, explanation);
        return;
    }
    if (lost && cause->at_count == 0) {
        put_untraced(page, explanation);
        return;
    }
    sim_page_put(page, "no missing wake was found");
    if (cause->at_count == 0) {
        sim_page_put(page, ", and the record names no line.");
        return;
    }
    if (sim_outcome_is_stall(outcome)) {
        put_waiters(page, explanation);
        put_merged(page, explanation);
        return;
    }
    const char *where = outcome->verdict == SIM_VERDICT_LIVELOCK     ? ": the run loops"
                        : outcome->verdict == SIM_VERDICT_STARVATION ? ": the others run"
                        : sim_outcome_spins(outcome)                 ? ": the step spins"
                                                                     : ": it goes wrong";
    sim_page_put(page, where);
    sim__say_at(page, cause);
    sim_page_put(page, ".");
    if (outcome->verdict == SIM_VERDICT_LIVELOCK || outcome->verdict == SIM_VERDICT_STEP_LIMIT) {
        put_meanwhile(page, explanation);
    }
}

void
sim_report_put_cause(struct sim_page *page, const struct sim_explanation *explanation)
{
    switch ((enum sim_cause_kind)explanation->cause.kind) {
    case SIM_CAUSE_NEVER_STORED:
        put_never_stored(page, explanation);
        return;
    case SIM_CAUSE_NEVER_FIRED:
        put_never_fired(page, explanation);
        return;
    case SIM_CAUSE_REPLACED:
        put_taken(page, explanation, "puts another into its place");
        return;
    case SIM_CAUSE_ERASED:
        if (explanation->cause.by_counterfactual == SIM_COUNTERFACTUAL_LOST ||
                explanation->cause.wiped) {
            put_written_over(page, explanation);
            return;
        }
        put_taken(page, explanation, "empties its place without waking");
        return;
    case SIM_CAUSE_DROPPED:
        put_taken(page, explanation, "drops it without waking");
        return;
    case SIM_CAUSE_FIRED_EARLY:
        put_fired_early(page, explanation);
        return;
    case SIM_CAUSE_COALESCED:
        put_coalesced(page, explanation);
        return;
    case SIM_CAUSE_NOT_A_WAKE:
    case SIM_CAUSES:
        put_not_a_wake(page, explanation);
        return;
    }
}
