/*
 * choices.c -- where the choices of a failing run that was made smaller hold actors.
 *
 * Each choice that the run needs keeps an actor from continuing somewhere; one may wait to the end;
 * and a wait may end for nothing.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "runtime/base/assert.h"
#include "sim/explain/cause/fate.h"
#include "sim/explain/cause/priv.h"
#include "sim/explain/cause/reads.h"
#include "sim/explain/reasons.h"
#include "sim/explain/view/phrase.h"
#include "sim/program/program.h"

/* Conditions around a wait: those of a loop that it is in are among them. */
#define LOOKED_AT 8u

/* The first step in which these runs differ, but for lines, which only one of them may have; 0. */
static uint64_t
parting_step(const struct sim_actor_table *a, const struct sim_actor_table *b)
{
    uint64_t end = a->end < b->end ? a->end : b->end;
    for (uint64_t i = a->first; a->first == b->first && i < end; i++) {
        const struct sim_event *one = sim_actor_table_event(a, i);
        const struct sim_event *other = sim_actor_table_event(b, i);
        if (one->step != other->step || one->kind != other->kind || one->actor != other->actor ||
                one->object != other->object || one->argument != other->argument) {
            return one->step < other->step ? one->step : other->step;
        }
    }
    return 0;
}

/* Of the actor that runs in the other run, from where the two part. */
static void
add_meanwhile(
        struct sim_explanation *explanation, const struct sim_actor_table *other, bool decides)
{
    const struct sim_actor_table *failing = &explanation->actor_table;
    const struct sim_runs runs = sim__runs_of(explanation);
    const struct sim_fate_evidence evidence = sim__fate_evidence_of(explanation, &runs);
    struct sim_meanwhile *meanwhile = &explanation->meanwhile[explanation->meanwhile_count];
    uint64_t step = parting_step(failing, other);
    uint32_t goes = step != 0 ? sim_phrase_whose_step(failing, step) : SIM_PART_NONE;
    uint32_t like = step != 0 ? sim_phrase_whose_step(other, step) : SIM_PART_NONE;
    uint32_t held = like != SIM_PART_NONE ? sim__part_like(failing, other, like) : SIM_PART_NONE;
    /* Of one actor in both its step takes longer, or it has given way. */
    sim_meanwhile_find(&evidence, held, held == goes ? step + 1 : step, meanwhile);
    bool known = meanwhile->held.step == 0 || (meanwhile->count == 0 && !decides);
    for (uint32_t i = 0; i < explanation->meanwhile_count; i++) {
        known = known || explanation->meanwhile[i].held.step == meanwhile->held.step;
    }
    explanation->meanwhile_count += !known;
}

/* Whether one waits for what another does, and not for its end only. Returns the step in which it
 * begins to; 0: it does not. */
static uint64_t
waits_since(const struct sim_explanation *explanation, uint32_t part)
{
    const struct sim_wait *wait = sim_ledger_open_of(&explanation->ledger, part, NULL);
    bool waits = wait != NULL && SIM_OBJECT_KIND(wait->object) != RT_OBJECT_TASK;
    return waits ? wait->store_step : 0;
}

/* Of one that waits in the end, where no wake is known to be missing: what it had read, and others
 * have changed since, is what they may owe it a wake for. */
static void
add_changed_since(struct sim_explanation *explanation)
{
    const struct sim_cause *cause = &explanation->cause;
    const struct sim_runs runs = sim__runs_of(explanation);
    const struct sim_fate_evidence evidence = sim__fate_evidence_of(explanation, &runs);
    if (!sim_outcome_is_stall(sim_explanation_outcome(explanation)) || cause->hold_count > 0 ||
            cause->kind != SIM_CAUSE_NOT_A_WAKE) {
        return;
    }
    for (uint32_t part = 0; part < explanation->actor_table.count; part++) {
        struct sim_meanwhile *meanwhile = &explanation->meanwhile[explanation->meanwhile_count];
        uint64_t since = waits_since(explanation, part);
        if (since != 0) {
            sim_meanwhile_find(&evidence, part, since + 1, meanwhile);
        }
        if (since != 0 && meanwhile->held.step != 0 && meanwhile->count > 0) {
            explanation->meanwhile_count++;
            return;
        }
    }
}

/* The lines of up to LOOKED_AT conditions that the actor of the `index`-th instruction decides
 * before it, or after it. Returns how many. */
static uint32_t
conditions_around(const struct sim_fate_evidence *evidence, uint32_t index, bool before,
        struct sim_place ret[LOOKED_AT])
{
    const struct sim_executed *here = evidence->here;
    uint32_t count = 0;
    rt_assert(index < here->count);
    for (uint32_t i = index; count < LOOKED_AT && (before ? i > 0 : i + 1 < here->count);) {
        i = before ? i - 1 : i + 1;
        const struct sim_instruction *one = &here->all[i];
        if (one->jump && one->actor_id == here->all[index].actor_id &&
                sim__reader_at(evidence, one->pc, &ret[count])) {
            count++;
        }
    }
    return count;
}

/* Whether what was checked before that call is checked again after it. */
static bool
checks_again(const struct sim_fate_evidence *evidence, uint32_t index)
{
    struct sim_place before[LOOKED_AT];
    struct sim_place after[LOOKED_AT];
    uint32_t checked = conditions_around(evidence, index, true, before);
    uint32_t checks = conditions_around(evidence, index, false, after);
    for (uint32_t i = 0; i < checked * checks; i++) {
        if (sim__is_same_line(&before[i % checked], &after[i / checked])) {
            return true;
        }
    }
    return false;
}

/* Where a wait of a program ends for nothing, of a run in which each choice that is left is needed,
 * and what it waits for is not checked again: the program takes that for something. */
static void
find_for_nothing(struct sim_explanation *explanation)
{
    const struct sim_actor_table *actor_table = &explanation->actor_table;
    const struct sim_runs runs = sim__runs_of(explanation);
    const struct sim_fate_evidence evidence = sim__fate_evidence_of(explanation, &runs);
    if (!explanation->decision.found || explanation->decision.added ||
            !sim_program_is(explanation->failure.scenario)) {
        return;
    }
    for (uint64_t i = actor_table->first; i < explanation->wake_outcome.horizon; i++) {
        const struct sim_event *event = sim_actor_table_event(actor_table, i);
        uint32_t part = sim_actor_table_part_of(actor_table, i);
        if (event->kind != SIM_EVENT_SPURIOUS || part == SIM_PART_NONE) {
            continue;
        }
        uint32_t index = sim_executed_of_event(
                explanation->executed, sim_actor_table_id(actor_table, part), i);
        if (index == UINT32_MAX || checks_again(&evidence, index)) {
            continue;
        }
        struct sim_location at =
                sim__located(&evidence, &explanation->ledger, explanation->executed, index);
        if (at.place.line != 0) {
            explanation->for_nothing = at;
            explanation->for_nothing.step = event->step;
            return;
        }
    }
}

void
sim__choices_find(struct sim_explanation *explanation)
{
    const struct sim_decision *decision = &explanation->decision;
    const struct sim_tape *tape = &decision->failing;
    struct sim_deviation left[SIM_MEANWHILE_MAX];
    if (explanation->executed == NULL || !explanation->executed->done) {
        return;
    }
    if (explanation->compared) {
        add_meanwhile(explanation, &explanation->passing_actor_table, true);
    }
    for (uint32_t i = 0;
            i < tape->count && !decision->added && tape->count > 1 &&
            tape->count <= SIM_MEANWHILE_MAX && explanation->meanwhile_count < SIM_MEANWHILE_MAX;
            i++) {
        struct sim_single single;
        struct sim_actor_table actor_table;
        const struct sim_tape without = {left, tape->count - 1, SIM_MEANWHILE_MAX};
        for (uint32_t k = 0, n = 0; k < tape->count; k++) {
            if (k != i) {
                left[n++] = tape->entries[k];
            }
        }
        if (!sim__explain_run(explanation, &without, &single)) {
            continue;
        }
        sim_actor_table_make(&actor_table, sim_single_recorder(&single));
        add_meanwhile(explanation, &actor_table, false);
        sim_actor_table_free(&actor_table);
        sim_single_fini(&single);
    }
    find_for_nothing(explanation);
    add_changed_since(explanation);
}
