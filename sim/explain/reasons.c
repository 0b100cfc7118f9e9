/*
 * reasons.c -- why what is to blame did no more.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "sim/explain/reasons.h"

#include <string.h>

#include "runtime/base/assert.h"
#include "sim/explain/cause/fate.h"
#include "sim/explain/cause/guard.h"
#include "sim/explain/cause/omitted.h"
#include "sim/explain/cause/priv.h"
#include "sim/explain/cause/reads.h"
#include "sim/explain/cause/unanswered.h"
#include "sim/explain/cause/unnotified.h"
#include "sim/explain/cause/unusual.h"
#include "sim/explain/cause/values.h"
#include "sim/explain/cause/word.h"
#include "sim/explain/look/calls.h"
#include "sim/program/program.h"

/* Conditions, each of which is decided by what the next one leads to. */
#define CONDITIONS_MAX 3u

bool
sim__reasons_walk(struct sim_explanation *explanation)
{
    struct sim_runs runs = sim__runs_of(explanation);
    struct sim_executed **passing = &explanation->passing_executed;
    const struct sim_outcome *outcome = sim_explanation_outcome(explanation);
    struct sim_options options = *runs.options;
    bool dies = outcome->verdict == SIM_VERDICT_CRASH && outcome->fail_step > 1;
    bool checked = sim_explanation_outcome(explanation)->verdict == SIM_VERDICT_INVARIANT;
    if (explanation->code == NULL) {
        explanation->code = sim_code_new(explanation->places, runs.scenario);
        if (explanation->compared) { /* First: a run that passes ends. */
            *passing = sim_executed_run(&runs, runs.passing, explanation->code, checked, 0);
        }
        if (dies) { /* The run itself ends before that; the walk goes one step further. */
            options.steps_max = outcome->fail_step - 1;
            runs.options = &options;
        }
        explanation->executed = sim_executed_run(
                &runs, runs.failing, explanation->code, checked, dies ? outcome->fail_step : 0);
        if (explanation->executed != NULL) {
            sim_fate_add_atomics(explanation->executed, &explanation->actor_table);
        }
        if (*passing != NULL && (*passing)->done) {
            sim_fate_add_atomics(*passing, &explanation->passing_actor_table);
        } else {
            sim_executed_free(passing);
        }
    }
    return explanation->executed != NULL && explanation->executed->done;
}

uint64_t
sim__forgotten_step(const struct sim_explanation *explanation)
{
    const struct sim_wake_outcome *wake_outcome = &explanation->wake_outcome;
    bool forgotten = wake_outcome->kind == SIM_WAKE_OUTCOME_NOT_POLLED &&
                     wake_outcome->root_cause != SIM_EVENT_NONE;
    return forgotten ? sim_actor_table_event(&explanation->actor_table, wake_outcome->root_cause)
                               ->step
                     : 0;
}

struct sim_fate_evidence
sim__fate_evidence_of(const struct sim_explanation *explanation, const struct sim_runs *runs)
{
    const struct sim_outcome *outcome = sim_explanation_outcome(explanation);
    const struct sim_cause *cause = &explanation->cause;
    bool owes = cause->kind == SIM_CAUSE_NEVER_FIRED && cause->at_count > 0 &&
                cause->at[0].part != SIM_PART_NONE;
    return (struct sim_fate_evidence){
            .failing = &explanation->ledger,
            .passing = explanation->passing_executed != NULL ? &explanation->passing_ledger : NULL,
            .here = explanation->executed,
            .there = explanation->passing_executed,
            .places = explanation->places,
            .part = explanation->wake_outcome.part,
            .lost = outcome->verdict == SIM_VERDICT_LOST_WAKEUP && !sim_outcome_is_stall(outcome),
            .late = outcome->verdict == SIM_VERDICT_LATE_WAKEUP,
            .horizon = explanation->wake_outcome.horizon,
            .owed_part = owes ? cause->at[0].part : SIM_PART_NONE,
            .owed_step = owes ? cause->at[0].step : 0,
            .woken_step = sim__forgotten_step(explanation),
            .due = cause->by_counterfactual == SIM_COUNTERFACTUAL_ELSEWHERE
                           ? cause->at[cause->lost_count]
                           : (struct sim_location){.step = 0},
            .shown = !sim_program_is(explanation->failure.scenario),
            .runs = runs,
            .unusual = &explanation->unusual,
            .code = explanation->code,
    };
}

/* What no run that passes does. Of one that dies or spins not all can be walked, and what is held
 * in a circle needs no comparison. */
static void
find_unusual(struct sim_explanation *explanation)
{
    const struct sim_outcome *outcome = sim_explanation_outcome(explanation);
    const struct sim_cause *cause = &explanation->cause;
    bool asserts = outcome->verdict == SIM_VERDICT_INVARIANT && cause->at_count > 0;
    bool ends = outcome->verdict != SIM_VERDICT_STEP_LIMIT &&
                outcome->verdict != SIM_VERDICT_TIME_LIMIT;
    if (!ends || cause->hold_count > 0 || !sim__reasons_walk(explanation)) {
        return;
    }
    const struct sim_runs runs = sim__runs_of(explanation);
    const struct sim_fate_evidence evidence = sim__fate_evidence_of(explanation, &runs);
    bool waits = sim_outcome_is_stall(outcome) || outcome->verdict == SIM_VERDICT_LOST_WAKEUP ||
                 outcome->verdict == SIM_VERDICT_LATE_WAKEUP;
    explanation->wakers = waits ? sim_wakers_new(&evidence) : NULL;
    sim_unusual_find(&evidence, outcome, asserts ? &cause->at[0] : NULL, explanation->wakers,
            &explanation->unusual);
}

/* Whether more is known than where it waits, or that its wake comes too early. */
static bool
is_known(const struct sim_cause *cause)
{
    const struct sim_fate *fate = &cause->fate;
    return cause->hold_count > 0 || cause->unanswered.kind != SIM_UNANSWERED_NONE ||
           cause->unnotified.known || (fate->kind != SIM_FATE_NONE && fate->kind != SIM_FATE_EARLY);
}

/* The step that owes a wake is known, and not which of its lines: it may be in any function that it
 * goes through. */
static void
add_passed(struct sim_explanation *explanation)
{
    struct sim_cause *cause = &explanation->cause;
    struct sim_place place;
    if (cause->kind != SIM_CAUSE_NEVER_FIRED || cause->at_count == 0 || cause->at[0].step == 0 ||
            !sim_cause_is_event(cause) || !sim__reasons_walk(explanation)) {
        return;
    }
    const struct sim_runs runs = sim__runs_of(explanation);
    const struct sim_fate_evidence evidence = sim__fate_evidence_of(explanation, &runs);
    const struct sim_executed *here = explanation->executed;
    for (uint32_t i = here->count; i-- > 0 && cause->at_count < SIM_CAUSE_CALLS;) {
        if (here->all[i].step == cause->at[0].step &&
                sim__reader_at(&evidence, here->all[i].pc, &place) &&
                !sim__cause_names(cause, &place)) {
            cause->at[cause->at_count++] = (struct sim_location){.place = place,
                    .step = cause->at[0].step,
                    .part = cause->at[0].part,
                    .traced = true};
        }
    }
}

/* All that is known is where the passing run does what is waited for. */
static bool
is_not_done(const struct sim_cause *cause)
{
    return cause->by_counterfactual == SIM_COUNTERFACTUAL_ELSEWHERE && cause->lost_count == 0 &&
           cause->kind == SIM_CAUSE_NEVER_FIRED;
}

/* What an actor is not notified of, as a replay shows. */
static bool
is_notified(const struct sim_explanation *explanation)
{
    return explanation->counterfactual.kind == SIM_COUNTERFACTUAL_NOT_REARMED;
}

/* Whether all that is known is how this run differs from one that passes. */
static bool
is_by_comparison(const struct sim_explanation *explanation)
{
    const struct sim_cause *cause = &explanation->cause;
    return cause->fate.kind == SIM_FATE_TURNED ||
           (cause->unnotified.known && !is_notified(explanation)) ||
           cause->unanswered.kind == SIM_UNANSWERED_EMPTY ||
           (cause->kind == SIM_CAUSE_NOT_A_WAKE && cause->fate.kind == SIM_FATE_NONE);
}

/* Whether an actor was kept from continuing that had read what others change meanwhile, and uses it
 * again. */
static bool
has_race(const struct sim_explanation *explanation)
{
    bool has = false;
    for (uint32_t i = 0; i < explanation->meanwhile_count; i++) {
        const struct sim_meanwhile *meanwhile = &explanation->meanwhile[i];
        has = has || (meanwhile->count > 0 && meanwhile->all[0].before.step != 0 &&
                             meanwhile->all[0].after.step != 0);
    }
    return has;
}

/* Something that stands for another one by now was used in no run that passes. */
static bool
takes_for_another(const struct sim_unusual *unusual)
{
    return unusual->count > 0 && unusual->all[0].passes == 0 &&
           unusual->all[0].kind > SIM_TRAIT_OUTDATED;
}

void
sim__reasons_unusual(struct sim_explanation *explanation)
{
    add_passed(explanation);
    struct sim_cause *cause = &explanation->cause;
    const struct sim_unusual *unusual = &explanation->unusual;
    bool nothing = cause->kind == SIM_CAUSE_NOT_A_WAKE && !is_known(cause) &&
                   cause->front_count == 0 && cause->guard.condition.step == 0;
    bool leads = unusual->simple
                         ? is_by_comparison(explanation)
                         : nothing || (is_not_done(cause) && cause->fate.kind == SIM_FATE_NONE);
    /* Where the line that owes the wake is known, or the condition, the rest follows of that. */
    bool decided = (cause->by_word && cause->kind != SIM_CAUSE_FIRED_EARLY) ||
                   cause->guard.condition.step != 0 || is_notified(explanation);
    /* That a wake is sent before the wait, or wakes another, is seen in the record. */
    bool seen = (cause->fate.kind == SIM_FATE_EARLY || cause->fate.kind == SIM_FATE_TAKEN) &&
                !unusual->simple;
    explanation->unusual_adds = (!decided && !seen) || is_by_comparison(explanation);
    /* Often another way than the author's, or only the way to where it fails. */
    bool fails = sim_explanation_outcome(explanation)->verdict == SIM_VERDICT_INVARIANT;
    bool weak = cause->fate.kind == SIM_FATE_TURNED ||
                (cause->kind == SIM_CAUSE_FIRED_EARLY && cause->fate.kind == SIM_FATE_NONE &&
                        cause->by_word) ||
                (fails && cause->guard.condition.step != 0);
    bool tells = unusual->simple || unusual->all[0].kind == SIM_TRAIT_UNREAD;
    explanation->unusual_first = (weak && tells && !cause->fate.many && unusual->count > 0 &&
                                         unusual->all[0].passes * 4u <= unusual->passing) ||
                                 (fails && takes_for_another(unusual));
    explanation->meanwhile_first = !unusual->simple && nothing && has_race(explanation);
    if (unusual->count > 0 && leads && cause->hold_count == 0) {
        sim_cause_add_unusual(cause, unusual);
    }
}

/* What is compared; but before that what another actor skips, unless the wake itself was seen to go
 * to another. In a scenario the latter counts only where no wake is known to be missing. */
static void
choose_fate(const struct sim_cause *cause, const struct sim_fate_evidence *evidence,
        struct sim_fate *ret)
{
    bool program = !evidence->shown;
    bool compares = (program || cause->kind != SIM_CAUSE_FIRED_EARLY) &&
                    (cause->by_counterfactual == SIM_COUNTERFACTUAL_NONE ||
                            cause->by_counterfactual == SIM_COUNTERFACTUAL_ELSEWHERE);
    struct sim_fate skipped;
    ret->kind = SIM_FATE_NONE;
    if (compares) {
        sim_fate_find(evidence, ret);
    }
    /* The line is known that made progress possible, and wakes no task: another way says less. */
    if (!program && cause->by_word && ret->kind == SIM_FATE_TURNED) {
        ret->kind = SIM_FATE_NONE;
    }
    if (ret->kind != SIM_FATE_TAKEN && evidence->passing != NULL &&
            (program || cause->kind == SIM_CAUSE_NOT_A_WAKE) &&
            sim_fate_find_differing(evidence, &skipped)) {
        *ret = skipped;
    }
}

/* What many runs say of it comes before what the nearest one says; but that a call came before the
 * wait is so in runs that pass, too. */
static void
choose_of_many(const struct sim_explanation *explanation, const struct sim_fate_evidence *evidence,
        struct sim_fate *fate)
{
    const struct sim_cause *cause = &explanation->cause;
    struct sim_fate many;
    bool open = cause->kind == SIM_CAUSE_NOT_A_WAKE || cause->by_passing ||
                cause->by_counterfactual == SIM_COUNTERFACTUAL_ELSEWHERE ||
                (cause->kind == SIM_CAUSE_NEVER_FIRED && (!evidence->shown || evidence->late));
    bool compares = cause->by_counterfactual == SIM_COUNTERFACTUAL_NONE ||
                    cause->by_counterfactual == SIM_COUNTERFACTUAL_ELSEWHERE;
    if (explanation->wakers == NULL || !open || !compares || cause->unnotified.known ||
            !sim_wakers_find(explanation->wakers, evidence, &many)) {
        return;
    }
    bool strong = many.kind == SIM_FATE_TAKEN || many.kind == SIM_FATE_TURNED;
    bool turned = fate->kind == SIM_FATE_TURNED;
    if (fate->kind == SIM_FATE_NONE || (turned && (strong || !fate->tried)) ||
            (strong && fate->kind == many.kind)) {
        *fate = many;
    }
}

/* That a wake went to another that waits at the same line, and continues, does not matter where
 * another function has let the blocked one continue since, in a step that owes it a wake. */
static bool
is_owed_since(const struct sim_cause *cause, const struct sim_fate_evidence *evidence,
        const struct sim_fate *fate)
{
    bool fair = fate->kind == SIM_FATE_TAKEN && !fate->again && fate->ended.step == 0 &&
                fate->way.step == 0 && sim__is_same_line(&fate->taker.place, &fate->sleeps.place);
    return fair && evidence->owed_part != SIM_PART_NONE && evidence->owed_step > fate->call.step &&
           evidence->owed_part != fate->taker.part && evidence->owed_part != fate->sleeps.part &&
           strcmp(cause->at[0].place.function, fate->call.place.function) != 0;
}

/* Of one that is not woken: what became of the wake of the run that passes. What is held in a
 * circle needs no comparison. */
static void
find_fate(struct sim_explanation *explanation)
{
    const struct sim_outcome *outcome = sim_explanation_outcome(explanation);
    struct sim_cause *cause = &explanation->cause;
    struct sim_fate fate;
    bool lost = outcome->verdict == SIM_VERDICT_LOST_WAKEUP && !sim_outcome_is_stall(outcome);
    bool asks = (lost || explanation->wakers != NULL ||
                        (explanation->compared &&
                                (outcome->verdict == SIM_VERDICT_DEADLOCK ||
                                        outcome->verdict == SIM_VERDICT_LOST_WAKEUP))) &&
                cause->hold_count == 0;
    bool notified = cause->unnotified.known && is_notified(explanation);
    if (!asks || notified || !sim__reasons_walk(explanation)) {
        return;
    }
    const struct sim_runs runs = sim__runs_of(explanation);
    const struct sim_fate_evidence evidence = sim__fate_evidence_of(explanation, &runs);
    fate.kind = SIM_FATE_NONE;
    if (lost || explanation->passing_executed != NULL) {
        choose_fate(cause, &evidence, &fate);
    }
    choose_of_many(explanation, &evidence, &fate);
    if (is_owed_since(cause, &evidence, &fate)) {
        fate.kind = SIM_FATE_NONE;
    }
    if (fate.kind == SIM_FATE_TURNED) {
        uint32_t part = fate.condition.part;
        bool other = part != fate.sleeps.part && part != SIM_PART_NONE;
        const struct sim_wait *open =
                other ? sim_ledger_open_of(&explanation->ledger, part, NULL) : NULL;
        /* Many runs know what it owes, but where the condition is what makes it wait. */
        fate.stuck = evidence.shown && cause->kind == SIM_CAUSE_NOT_A_WAKE && open != NULL &&
                     (!fate.many || open->store_step == fate.condition.step);
    }
    if (fate.kind != SIM_FATE_NONE) {
        sim_cause_add_fate(cause, &fate);
    }
}

/* Which of the calls of its step that event is, from 1 on. */
static uint32_t
nth_in_step(const struct sim_actor_table *actor_table, uint64_t event)
{
    uint64_t step = sim_actor_table_event(actor_table, event)->step;
    uint32_t nth = 0;
    for (uint64_t i = sim_actor_table_step_first(actor_table, step); i <= event; i++) {
        nth += sim_call_of(sim_actor_table_event(actor_table, i)).number != SIM_CALL_none;
    }
    return nth;
}

/* Who called: a scenario's calls have no line in the record, those of a library not the program's.
 */
static void
add_stacks(struct sim_explanation *explanation, struct sim_noted_call *const *calls, uint32_t count)
{
    const struct sim_runs runs = sim__runs_of(explanation);
    const struct sim_actor_table *actor_table = &explanation->actor_table;
    const struct sim_evidence evidence = sim__evidence_of(explanation);
    struct sim_noted_call *watched[SIM_CALL_STACKS];
    struct sim_call_stacks *stacks = sim_results_new(sizeof(*stacks));
    rt_assert(count <= SIM_CALL_STACKS);
    for (uint32_t i = 0; i < count; i++) {
        uint64_t index = calls[i]->event;
        if (index != SIM_EVENT_NONE &&
                sim_actor_table_event(actor_table, index)->kind == SIM_EVENT_CALL) {
            watched[stacks->count] = calls[i];
            stacks->all[stacks->count++] = (struct sim_call_watch){
                    .step = calls[i]->at[0].step, .nth = nth_in_step(actor_table, index)};
        }
    }
    if (stacks->count > 0) {
        sim_runs_analyze(&runs, NULL, runs.failing, sim_call_stacks_run, stacks);
    }
    for (uint32_t i = 0; i < stacks->count; i++) {
        sim_cause_add_stack(&evidence, &stacks->all[i].stack, watched[i]);
    }
    sim_results_free(&stacks);
}

static void
add_unnotified(struct sim_explanation *explanation, struct sim_unnotified *unnotified)
{
    struct sim_noted_call *const calls[] = {
            &unnotified->asked, &unnotified->undone, &unnotified->moved, &unnotified->reported};
    add_stacks(explanation, calls, sizeof(calls) / sizeof(*calls));
    sim_cause_add_unnotified(&explanation->cause, unnotified);
}

/* By which condition what is left is not read. */
static bool
find_omission(struct sim_explanation *explanation, struct sim_unnotified *unnotified)
{
    const struct sim_runs runs = sim__runs_of(explanation);
    if (!sim__reasons_walk(explanation)) {
        return false;
    }
    const struct sim_fate_evidence evidence = sim__fate_evidence_of(explanation, &runs);
    return sim_omission_find(&evidence, unnotified, &unnotified->omission);
}

/* What an actor is not notified of, where a replay has shown that it lacks no more. */
static void
find_unnotified(struct sim_explanation *explanation)
{
    struct sim_unnotified unnotified;
    const struct sim_counterfactual *counterfactual = &explanation->counterfactual;
    const struct sim_silence *silence = &counterfactual->silence;
    bool spent = silence->kind == SIM_SILENT_SPENT;
    if (counterfactual->kind == SIM_COUNTERFACTUAL_NOT_REARMED &&
            (!spent || sim_program_is(explanation->failure.scenario)) &&
            sim_unnotified_find(&explanation->ledger, silence,
                    sim_actor_table_actor(&explanation->actor_table, counterfactual->actor),
                    &unnotified)) {
        if (silence->kind == SIM_SILENT_EDGE && !unnotified.after) {
            (void)find_omission(explanation, &unnotified);
        }
        add_unnotified(explanation, &unnotified);
    }
}

/* Two calls come from the same lines. */
static bool
is_same_way(const struct sim_noted_call *a, const struct sim_noted_call *b)
{
    bool same = a->at_count == b->at_count;
    for (uint32_t i = 0; i < a->at_count && same; i++) {
        same = a->at[i].place.line == b->at[i].place.line &&
               strcmp(a->at[i].place.file, b->at[i].place.file) == 0;
    }
    return same;
}

/* Of what is read in two places: the last read, and the last one in the other place. False: there
 * is one place. */
static bool
find_two_readers(struct sim_explanation *explanation, struct sim_unnotified *unnotified)
{
    struct sim_noted_call reads[SIM_CALL_STACKS];
    struct sim_noted_call *calls[SIM_CALL_STACKS];
    unnotified->part = sim_actor_table_actor(&explanation->actor_table, unnotified->silence.waiter);
    uint32_t count = sim_unnotified_reads(&explanation->ledger, unnotified->silence.object,
            unnotified->part, reads, SIM_CALL_STACKS);
    for (uint32_t i = 0; i < count; i++) {
        calls[i] = &reads[i];
    }
    add_stacks(explanation, calls, count);
    uint32_t other = 1;
    while (other < count && is_same_way(&reads[0], &reads[other])) {
        other++;
    }
    if (other >= count) {
        return false;
    }
    unnotified->moved = reads[0];
    unnotified->undone = reads[other];
    return true;
}

/* What has something to read in the end, and is not read on by its reader, which is blocked: said
 * where a replay shows the condition, or where nothing else is known. And what was read in one
 * place and is waited for in another. */
static void
find_left(struct sim_explanation *explanation)
{
    const struct sim_cause *cause = &explanation->cause;
    const struct sim_counterfactual *counterfactual = &explanation->counterfactual;
    const struct sim_fate *fate = &cause->fate;
    /* That the blocked actor could have decided otherwise itself says less. */
    bool own = fate->kind == SIM_FATE_TURNED && fate->wake.part == SIM_PART_NONE &&
               fate->condition.part == fate->sleeps.part;
    bool tried = fate->tried && !own;
    bool known = cause->hold_count > 0 || cause->unnotified.known ||
                 (fate->kind != SIM_FATE_NONE && fate->kind != SIM_FATE_TURNED) ||
                 counterfactual->kind == SIM_COUNTERFACTUAL_NOT_REARMED;
    for (uint32_t i = 0; i < counterfactual->left_count && !known; i++) {
        const struct sim_silence *silence = &counterfactual->left[i];
        struct sim_unnotified unnotified;
        known = (!tried || silence->kind == SIM_SILENT_TAKEN) &&
                sim_unnotified_find(&explanation->ledger, silence, SIM_PART_NONE, &unnotified);
        if (known && silence->kind == SIM_SILENT_TAKEN) {
            known = find_two_readers(explanation, &unnotified);
        } else if (known) {
            known = sim_ledger_open_of(&explanation->ledger, unnotified.part, NULL) != NULL &&
                    (find_omission(explanation, &unnotified) || fate->kind == SIM_FATE_NONE);
        }
        if (known) {
            add_unnotified(explanation, &unnotified);
        }
    }
}

/* What was asked for and did not happen, where nothing else is shown. */
static void
find_unanswered(struct sim_explanation *explanation)
{
    const struct sim_outcome *outcome = sim_explanation_outcome(explanation);
    struct sim_cause *cause = &explanation->cause;
    struct sim_unanswered unanswered;
    bool shown = cause->hold_count > 0 || cause->unnotified.known || cause->fate.tried ||
                 (cause->by_counterfactual != SIM_COUNTERFACTUAL_NONE &&
                         cause->by_counterfactual != SIM_COUNTERFACTUAL_ELSEWHERE);
    if (!shown &&
            (sim_outcome_is_stall(outcome) || outcome->verdict == SIM_VERDICT_LIVELOCK ||
                    outcome->verdict == SIM_VERDICT_TIME_LIMIT ||
                    outcome->verdict == SIM_VERDICT_INVARIANT) &&
            sim_unanswered_find(&explanation->ledger,
                    explanation->compared ? &explanation->passing_ledger : NULL,
                    outcome->verdict != SIM_VERDICT_INVARIANT, &unanswered)) {
        struct sim_noted_call *const calls[] = {
                &unanswered.asked, &unanswered.before, &unanswered.after};
        add_stacks(explanation, calls, sizeof(calls) / sizeof(*calls));
        sim_cause_add_unanswered(cause, &unanswered);
    }
}

/* Whether the step of what is to blame should have done more: woken the blocked actor, or, its own,
 * not have blocked. */
static bool
should_do_more(const struct sim_cause *cause)
{
    bool owes = cause->kind == SIM_CAUSE_NEVER_FIRED && !cause->by_passing && !cause->by_timer &&
                cause->by_counterfactual != SIM_COUNTERFACTUAL_ELSEWHERE;
    bool early = cause->kind == SIM_CAUSE_FIRED_EARLY && cause->by_word;
    bool leaves = cause->kind == SIM_CAUSE_NEVER_STORED && cause->by_look;
    return (owes || early || leaves) && cause->at_count > 0 && cause->at[0].step != 0;
}

/* Where the wait of that actor began that is open; step 0: not known. */
static struct sim_location
wait_began(const struct sim_explanation *explanation, uint32_t part)
{
    struct sim_location began = {.step = 0, .part = part};
    if (part == SIM_PART_NONE || part == 0) {
        return began;
    }
    const struct sim_wait *wait = sim_ledger_open_of(&explanation->ledger, part, NULL);
    uint64_t block = sim_actor_table_blocked(
            &explanation->actor_table, part, explanation->wake_outcome.horizon);
    if (wait != NULL) {
        began.step = wait->store_step;
    } else if (block != SIM_EVENT_NONE) {
        began.step = sim_actor_table_event(&explanation->actor_table, block)->step;
    }
    return began;
}

/* The blocked actor that the cause is about. */
static uint32_t
victim_of(const struct sim_explanation *explanation)
{
    return explanation->cause.by_counterfactual != SIM_COUNTERFACTUAL_NONE
                   ? sim_actor_table_actor(
                             &explanation->actor_table, explanation->counterfactual.actor)
                   : explanation->wake_outcome.part;
}

/* A wake was sent, and no poll follows: the line that sends it is known, and no more. */
static bool
is_dropped(const struct sim_explanation *explanation)
{
    const struct sim_cause *cause = &explanation->cause;
    return sim__forgotten_step(explanation) != 0 && cause->kind == SIM_CAUSE_COALESCED &&
           !cause->unpolled && cause->at_count > 0 && cause->at[0].step != 0 &&
           cause->loop == SIM_PART_NONE && cause->by_counterfactual == SIM_COUNTERFACTUAL_NONE &&
           cause->unanswered.kind == SIM_UNANSWERED_NONE;
}

/* The condition by which it did not. What was only read says less. */
static void
find_guard(struct sim_explanation *explanation)
{
    struct sim_cause *cause = &explanation->cause;
    uint32_t verdict = sim_explanation_outcome(explanation)->verdict;
    if ((verdict != SIM_VERDICT_DEADLOCK && verdict != SIM_VERDICT_LOST_WAKEUP) ||
            (cause->fate.kind != SIM_FATE_NONE && cause->fate.kind != SIM_FATE_OWED) ||
            cause->unnotified.known || cause->unanswered.kind != SIM_UNANSWERED_NONE ||
            cause->hold_count > 0 || !sim__reasons_walk(explanation)) {
        return;
    }
    const struct sim_runs runs = sim__runs_of(explanation);
    const struct sim_fate_evidence evidence = sim__fate_evidence_of(explanation, &runs);
    const struct sim_location slept = wait_began(explanation, cause->loop);
    const struct sim_location waits = wait_began(explanation, victim_of(explanation));
    bool elsewhere = cause->by_counterfactual == SIM_COUNTERFACTUAL_ELSEWHERE;
    /* A loop that blocks after the wake has not looked for it. */
    if (cause->kind == SIM_CAUSE_COALESCED && slept.step > sim__forgotten_step(explanation)) {
        sim_guard_find(&evidence, &slept, SIM_GUARD_STEP, &cause->guard);
    } else if (should_do_more(cause)) {
        bool done = cause->kind == SIM_CAUSE_NEVER_FIRED && cause->by_word;
        sim_guard_find(&evidence, &cause->at[0], done ? SIM_GUARD_FUNCTION : SIM_GUARD_STEP,
                &cause->guard);
    } else if (is_dropped(explanation)) {
        sim_guard_find(&evidence, &cause->at[0], SIM_GUARD_AFTER, &cause->guard);
    } else if (waits.step != 0 &&
               (cause->by_passing || elsewhere || cause->kind == SIM_CAUSE_NOT_A_WAKE)) {
        struct sim_guard guard;
        sim_guard_find_own(&evidence, &waits, &guard);
        bool blocks = cause->kind == SIM_CAUSE_NOT_A_WAKE && guard.condition.step == 0;
        if (blocks) {
            sim_guard_find_resuming(&evidence, &waits, &guard);
        }
        if (guard.set.step != 0 && !blocks) {
            sim_cause_add_reset(cause, &guard);
        } else if (!elsewhere) {
            cause->guard = guard;
        }
    }
    if (cause->guard.condition.step != 0) {
        cause->fate = (struct sim_fate){.kind = SIM_FATE_NONE};
    }
}

/* What the blocked actor waits for has come, and the program itself has thrown it away: by a copy
 * that is compared with it, or by a write. */
static void
find_unused(struct sim_explanation *explanation)
{
    struct sim_cause *cause = &explanation->cause;
    const struct sim_location waits = wait_began(explanation, victim_of(explanation));
    struct sim_guard guard;
    struct sim_discarded discarded;
    bool granted = cause->by_counterfactual != SIM_COUNTERFACTUAL_NONE &&
                   cause->by_counterfactual != SIM_COUNTERFACTUAL_ELSEWHERE;
    if (sim_explanation_outcome(explanation)->verdict != SIM_VERDICT_DEADLOCK ||
            cause->unnotified.known || cause->hold_count > 0 || !sim__reasons_walk(explanation)) {
        return;
    }
    const struct sim_runs runs = sim__runs_of(explanation);
    const struct sim_fate_evidence evidence = sim__fate_evidence_of(explanation, &runs);
    if (waits.step != 0 && sim_guard_find_marked(&evidence, &waits, &guard)) {
        sim_cause_add_marked(cause, &guard);
    } else if (!granted && sim_word_find_discarded(&evidence, &discarded)) {
        sim_cause_add_discarded(cause, &discarded);
    }
}

/* Adds of `all`, where `own` of the actor that comes to the `fails`-th instruction, else of others,
 * those before the `before`-th one by its actor in its step, and none of the line that fails. Where
 * a number decides, not the first of several, which is decided on that. */
static void
add_wrong(const struct sim_explanation *explanation, const struct sim_branches *all, uint32_t fails,
        uint32_t before, bool own, struct sim_branches *ret)
{
    const struct sim_executed *here = explanation->executed;
    const struct sim_place *line = &explanation->cause.at[0].place;
    bool drawn = explanation->decision.deciding.kind == SIM_KIND_USER && all->count > 1;
    for (uint32_t i = 0; i < all->count; i++) {
        uint32_t index = sim_branch_index(here, &all->all[i]);
        bool leads = before == UINT32_MAX ||
                     (index < before && all->all[i].actor_id == here->all[before].actor_id &&
                             all->all[i].step == here->all[before].step);
        struct sim_place place;
        bool itself = sim_places_at(explanation->places, all->all[i].pc, false, &place, 1) > 0 &&
                      place.line == line->line && strcmp(place.file, line->file) == 0;
        bool its = all->all[i].actor_id == here->all[fails].actor_id;
        if (its == own && leads && !itself && !(drawn && i + 1 == all->count) &&
                all->all[i].step > 0) {
            ret->all[ret->count++] = all->all[i];
        }
    }
}

/* Those of the actor that fails come first: what others decide may only keep them away. */
static void
keep_wrong(const struct sim_explanation *explanation, const struct sim_branches *all,
        uint32_t fails, uint32_t before, struct sim_branches *ret)
{
    ret->count = 0;
    add_wrong(explanation, all, fails, before, true, ret);
    add_wrong(explanation, all, fails, before, false, ret);
}

/* Of an assertion that fails: what it read; and a condition before that, not the one that fails
 * itself, which the passing run decides otherwise the same time, or, of what wrote that value, this
 * run other times. What that one was decided on may have been written under such a condition, too.
 */
static void
find_failed(struct sim_explanation *explanation)
{
    struct sim_cause *cause = &explanation->cause;
    struct sim_branches all = {.count = 0};
    struct sim_branches kept;
    if (sim_explanation_outcome(explanation)->verdict != SIM_VERDICT_INVARIANT ||
            cause->unanswered.kind != SIM_UNANSWERED_NONE || cause->at_count == 0 ||
            !sim__reasons_walk(explanation) || explanation->passing_executed == NULL) {
        return;
    }
    const struct sim_runs runs = sim__runs_of(explanation);
    const struct sim_fate_evidence evidence = sim__fate_evidence_of(explanation, &runs);
    uint32_t fails = sim_values_failing(&evidence, &cause->at[0].place);
    if (fails == UINT32_MAX) {
        return;
    }
    sim_values_find(&evidence, fails, &cause->failed);
    if (cause->failed.stale.at.step != 0) {
        return;
    }
    sim_branches_add_differing(explanation->executed, explanation->passing_executed, 0, &all);
    keep_wrong(explanation, &all, fails, UINT32_MAX, &kept);
    sim_values_add_skipping(&evidence, fails, &kept);
    for (uint32_t depth = 0, at = fails; depth < CONDITIONS_MAX && at != UINT32_MAX; depth++) {
        struct sim_guard guard;
        at = sim_guard_try(&evidence, &kept, &guard);
        if (guard.condition.step != 0) {
            cause->guard = guard;
        }
        keep_wrong(explanation, &all, fails, at, &kept);
    }
}

/* Of a run that turns in circles: the condition by which it does, what that reads, and what a round
 * calls. */
static void
find_loop(struct sim_explanation *explanation)
{
    struct sim_cause *cause = &explanation->cause;
    if (sim_explanation_outcome(explanation)->verdict != SIM_VERDICT_LIVELOCK ||
            cause->kind != SIM_CAUSE_NOT_A_WAKE || cause->unanswered.kind != SIM_UNANSWERED_NONE ||
            !sim__reasons_walk(explanation)) {
        return;
    }
    const struct sim_runs runs = sim__runs_of(explanation);
    const struct sim_fate_evidence evidence = sim__fate_evidence_of(explanation, &runs);
    uint32_t loops = sim_values_looping(&evidence);
    if (loops == UINT32_MAX) {
        return;
    }
    sim_values_find_round(&evidence, loops, &cause->failed);
    sim_values_find(&evidence, loops, &cause->failed);
    if (cause->at_count == 0) {
        cause->at[cause->at_count++] = cause->failed.condition;
    }
}

/* In a loop around it that looks at a condition. */
static bool
waits_for_a_condition(const struct sim_explanation *explanation, uint32_t part)
{
    const struct sim_wait *wait =
            part != SIM_PART_NONE ? sim_ledger_open_of(&explanation->ledger, part, NULL) : NULL;
    return wait != NULL && SIM_OBJECT_KIND(wait->object) == RT_OBJECT_NOTIFY;
}

/* Of those that are blocked, where no more is known: on what they have decided to wait. */
static void
find_waiting(struct sim_explanation *explanation)
{
    struct sim_cause *cause = &explanation->cause;
    bool known =
            is_known(cause) || explanation->unusual.count > 0 || cause->guard.condition.step != 0;
    if (!sim_outcome_is_stall(sim_explanation_outcome(explanation)) ||
            cause->kind != SIM_CAUSE_NOT_A_WAKE || known || !sim__reasons_walk(explanation)) {
        return;
    }
    const struct sim_runs runs = sim__runs_of(explanation);
    const struct sim_fate_evidence evidence = sim__fate_evidence_of(explanation, &runs);
    for (uint32_t i = cause->front_count;
            i < cause->at_count && cause->waiting_count < SIM_WAITING_MAX; i++) {
        bool first = i == cause->front_count || cause->at[i].part != cause->at[i - 1].part;
        struct sim_deciding_read *read = &cause->waiting[cause->waiting_count];
        if (first && waits_for_a_condition(explanation, cause->at[i].part)) {
            sim_values_waiting(&evidence, cause->at[i].part, read);
            cause->waiting_count += read->at.step != 0;
        }
    }
}

void
sim__reasons_find(struct sim_explanation *explanation)
{
    find_unusual(explanation);
    find_unnotified(explanation);
    find_unused(explanation);
    if (explanation->cause.guard.copied.step != 0 || explanation->cause.discarded.over.step != 0) {
        return;
    }
    find_fate(explanation);
    find_left(explanation);
    find_unanswered(explanation);
    find_failed(explanation);
    find_loop(explanation);
    find_guard(explanation);
    find_waiting(explanation);
}
