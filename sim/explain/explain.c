/*
 * explain.c -- making an explanation, part by part.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "sim/explain/explain.h"

#include <stdio.h>
#include <stdlib.h>

#include "runtime/base/assert.h"
#include "sim/explain/cause/fate.h"
#include "sim/explain/cause/guard.h"
#include "sim/explain/cause/omitted.h"
#include "sim/explain/cause/unanswered.h"
#include "sim/explain/cause/unnotified.h"
#include "sim/explain/look/calls.h"
#include "sim/explain/order/swap.h"
#include "sim/explain/sides.h"
#include "sim/program/program.h"

/* Processes that may die of words that are put back. */
#define DEATHS_MAX 12u

#define PARTS_BEFORE 2u

/* Of a shard: in one of so many it takes a message that was sent to it. */
#define TURNS_OF_A_MESSAGE SIM_TRACE_STEPS

/* Real time for a step of a run that is known to hang. */
#define HANG_AGAIN_MS 2000u

/* A question may change a word on which the simulator relies, and then spins: so long it is waited
 * for. A step takes microseconds. */
#define QUESTION_HANG_MS 1000u

/* Of the budget, when each stage has to end, in percent; those before are in decision.c. */
#define ANALYSIS_ENDS 75u
#define COUNTERFACTUAL_ENDS 85u

/* The failure as it came. */
static bool
run_given(struct sim_explanation *explanation)
{
    const struct sim_failure *failure = &explanation->failure;
    const struct sim_run_spec candidate = {
            .scenario = failure->scenario,
            .options = *failure->options,
            .seed = failure->seed,
            .how = failure->how,
            .tape = failure->tape,
            .texts = true,
    };
    return sim_single_run(&explanation->failing, &candidate) != NULL;
}

/* One of the two runs that were found. */
static struct sim_run_spec
candidate_of(const struct sim_explanation *explanation, const struct sim_tape *tape)
{
    return (struct sim_run_spec){
            .scenario = explanation->failure.scenario,
            .options = explanation->decision.options,
            .seed = explanation->decision.seed,
            .how = SIM_HOW_LENIENT,
            .tape = tape,
    };
}

/* The run is made in any case; it is analyzed where the budget has something left. */
static bool
analyze_failing(struct sim_explanation *explanation)
{
    struct sim_single *single = &explanation->failing;
    struct sim_run_spec candidate = candidate_of(explanation, &explanation->decision.failing);
    candidate.texts = true;
    if (sim_budget_left(&explanation->budget)) {
        struct sim_run_spec analyzed = candidate;
        analyzed.explain = true;
        analyzed.analyze = explanation->analysis != NULL ? sim_analysis_run : NULL;
        analyzed.analysis = explanation->analysis;
        single->budget = &explanation->budget;
        if (sim_single_run(single, &analyzed) != NULL) {
            return true;
        }
    }
    single->budget = NULL;
    return sim_single_run(single, &candidate) != NULL;
}

static bool
refuse(struct sim_explanation *explanation, const char *why)
{
    (void)snprintf(explanation->failing.worker.error, sizeof(explanation->failing.worker.error),
            "%s", why);
    return false;
}

/* What the failing run needs, and the nearest that passes. */
static bool
find_decision(struct sim_explanation *explanation)
{
    const struct sim_failure *failure = &explanation->failure;
    struct sim_single scout;
    struct sim_tape tape = sim_single_deviations(&explanation->failing);
    sim_single_init(&scout, NULL, &sim_shared_for_candidates, failure->hang_ms);
    scout.budget = &explanation->budget;
    bool found =
            sim_decision_find(&explanation->decision, &scout, failure, &tape, &explanation->given);
    if (!found) {
        (void)refuse(explanation, scout.worker.error);
    }
    sim_single_fini(&scout);
    return found;
}

/* The run that is explained. An analysis whose process died continues after what it died of. */
static bool
run_failing(struct sim_explanation *explanation)
{
    sim_budget_stage(&explanation->budget, "analysing the failing run", ANALYSIS_ENDS);
    bool flown = analyze_failing(explanation);
    for (uint32_t deaths = 0; flown && deaths < DEATHS_MAX && sim_budget_left(&explanation->budget);
            deaths++) {
        const struct sim_outcome *outcome = sim_single_outcome(&explanation->failing);
        bool dead = outcome->oracle == SIM_ORACLE_PROCESS || outcome->verdict == SIM_VERDICT_PASS;
        if (explanation->analysis == NULL || explanation->analysis->done || dead) {
            break;
        }
        flown = analyze_failing(explanation);
    }
    /* What is explained, and has a token, is the failure and nothing else. */
    return flown &&
           (sim_outcome_same(sim_single_outcome(&explanation->failing), &explanation->given) ||
                   refuse(explanation, "it ends in another way each time that it is run"));
}

static bool
run_passing(struct sim_explanation *explanation)
{
    const struct sim_failure *failure = &explanation->failure;
    struct sim_run_spec candidate = candidate_of(explanation, &explanation->decision.passing);
    candidate.texts = true;
    sim_single_init(&explanation->passing, NULL, &sim_shared_for_reading, failure->hang_ms);
    const struct sim_outcome *outcome = sim_single_run(&explanation->passing, &candidate);
    explanation->compared = outcome != NULL && outcome->verdict == SIM_VERDICT_PASS;
    if (explanation->compared) {
        sim_actor_table_make(
                &explanation->passing_actor_table, sim_single_recorder(&explanation->passing));
        sim_ledger_make(&explanation->passing_ledger, &explanation->passing_actor_table);
    }
    return outcome != NULL || refuse(explanation, explanation->passing.worker.error);
}

static void
read_record(struct sim_explanation *explanation)
{
    const struct sim_outcome *outcome = sim_single_outcome(&explanation->failing);
    sim_actor_table_make(&explanation->actor_table, sim_single_recorder(&explanation->failing));
    sim_ledger_make(&explanation->ledger, &explanation->actor_table);
    sim_holds_make(&explanation->holds, &explanation->actor_table);
    sim_wake_outcome_find(&explanation->ledger, outcome, &explanation->wake_outcome);
}

static struct sim_runs
runs_of(const struct sim_explanation *explanation)
{
    const struct sim_failure *failure = &explanation->failure;
    return (struct sim_runs){
            .scenario = failure->scenario,
            .options = &explanation->decision.options,
            .seed = explanation->decision.seed,
            .hang_ms = failure->hang_ms < QUESTION_HANG_MS ? failure->hang_ms : QUESTION_HANG_MS,
            .budget = failure->budget,
            .failing = &explanation->decision.failing,
            .passing = explanation->compared ? &explanation->decision.passing : NULL,
    };
}

static struct sim_evidence
evidence_of(const struct sim_explanation *explanation)
{
    const struct sim_outcome *outcome = sim_explanation_outcome(explanation);
    bool died = outcome->oracle == SIM_ORACLE_PROCESS; /* Or it hangs. */
    return (struct sim_evidence){
            .ledger = &explanation->ledger,
            .wake_outcome = &explanation->wake_outcome,
            .outcome = outcome,
            .analysis = explanation->analysis,
            .loop = explanation->loop_analysis,
            .crash = died ? &explanation->failing.worker.shared->crash : NULL,
            .places = explanation->places,
            .holds = &explanation->holds,
            .held = explanation->held,
            .passing = explanation->compared ? &explanation->passing_ledger : NULL,
            .counterfactual = &explanation->counterfactual,
            .attempt = explanation->compared ? &explanation->attempt : NULL,
            .over = explanation->over,
            .here = explanation->here,
            .there = explanation->there,
    };
}

/* Makes one of the two runs once more, in a process of its own, for `study`. */
static void
walk_run(struct sim_explanation *explanation, const struct sim_tape *tape,
        void (*analyze)(
                struct sim_world *, const struct sim_case *, const struct sim_outcome *, void *),
        void *analysis)
{
    uint32_t hang_ms = explanation->failure.hang_ms;
    struct sim_single scout;
    struct sim_run_spec candidate = candidate_of(explanation, tape);
    candidate.analyze = analyze;
    candidate.analysis = analysis;
    if (analysis != NULL && sim_budget_left(&explanation->budget)) {
        sim_single_init(&scout, NULL, &sim_shared_for_candidates, hang_ms);
        scout.budget = &explanation->budget;
        (void)sim_single_run(&scout, &candidate);
        sim_single_fini(&scout);
    }
}

/* The step of the n-th block of the actor with that id, counting up to `count`; of how many there
 * are, where `count` is 0. */
static uint64_t
block_step(
        const struct sim_actor_table *actor_table, uint32_t id, uint32_t count, uint32_t *ret_count)
{
    uint64_t step = 0;
    for (uint64_t i = actor_table->first;
            i < actor_table->end && (count == 0 || *ret_count < count); i++) {
        const struct sim_event *event = sim_actor_table_event(actor_table, i);
        uint32_t part = sim_actor_table_part_of(actor_table, i);
        if (event->kind == SIM_EVENT_BLOCK && part != SIM_PART_NONE &&
                sim_actor_table_id(actor_table, part) == id) {
            step = event->step;
            (*ret_count)++;
        }
    }
    return step;
}

/* Who came to wake a loop, of a loop that was not notified, or that did not pass a wake on. */
static void
find_attempt(struct sim_explanation *explanation)
{
    const struct sim_outcome *outcome = sim_explanation_outcome(explanation);
    const struct sim_counterfactual *counterfactual = &explanation->counterfactual;
    const struct sim_wake_outcome *wake_outcome = &explanation->wake_outcome;
    const struct sim_runs runs = runs_of(explanation);
    if (counterfactual->kind == SIM_COUNTERFACTUAL_DROPPED) {
        sim_attempt_find(
                &runs, explanation->places, counterfactual->actor, 0, 0, &explanation->attempt);
    } else if (counterfactual->kind == SIM_COUNTERFACTUAL_NOT_NOTIFIED) {
        sim_attempt_find(&runs, explanation->places, counterfactual->actor,
                counterfactual->writer_id, counterfactual->step, &explanation->attempt);
    } else if (sim_outcome_is_stall(outcome)) {
        sim_attempt_find(&runs, explanation->places, outcome->actor, 0, 0, &explanation->attempt);
    } else if (outcome->verdict == SIM_VERDICT_LOST_WAKEUP &&
               wake_outcome->kind == SIM_WAKE_OUTCOME_NOT_POLLED &&
               wake_outcome->root_cause != SIM_EVENT_NONE) {
        uint32_t part =
                sim_actor_table_part_of(&explanation->actor_table, wake_outcome->root_cause);
        uint32_t by_id =
                part != SIM_PART_NONE ? sim_actor_table_id(&explanation->actor_table, part) : 0;
        uint64_t step =
                sim_actor_table_event(&explanation->actor_table, wake_outcome->root_cause)->step;
        if (by_id != 0) {
            sim_attempt_find(
                    &runs, explanation->places, outcome->actor, by_id, step, &explanation->attempt);
        }
    }
}

/* Makes the ways of `actor`: here from step `from` to the end (0: from where the two part), in the
 * passing run from where they part to step `to`. What makes them part may be in a step before that
 * leaves no other event. */
static void
walk_ways(struct sim_explanation *explanation, uint32_t actor, uint64_t from, uint64_t to)
{
    uint64_t here = 0;
    uint64_t there = 0;
    sim_sides_part(&explanation->actor_table, &explanation->passing_actor_table, &here, &there);
    here = here > PARTS_BEFORE ? here - PARTS_BEFORE : 1;
    there = there > PARTS_BEFORE ? there - PARTS_BEFORE : 1;
    explanation->here = sim_trace_new(
            actor, from != 0 ? from : here, sim_explanation_outcome(explanation)->steps);
    explanation->there = sim_trace_new(actor, there, to);
    walk_run(explanation, &explanation->decision.failing, sim_trace_run_actor, explanation->here);
    walk_run(explanation, &explanation->decision.passing, sim_trace_run_actor, explanation->there);
    /* What one of them does alone is known of two that were walked to the end. */
    if (explanation->here == NULL || explanation->there == NULL || !explanation->here->done ||
            !explanation->there->done) {
        sim_trace_free(&explanation->here);
        sim_trace_free(&explanation->there);
    }
}

/* Where another actor does it in the passing run: the way of who was given it here, else of who
 * does it. Else, where a loop of the reader's blocks in its host: that loop's. */
static void
find_ways(struct sim_explanation *explanation)
{
    const struct sim_evidence evidence = evidence_of(explanation);
    const struct sim_counterfactual *counterfactual = &explanation->counterfactual;
    uint32_t waiter = sim_actor_table_id(&explanation->actor_table, explanation->wake_outcome.part);
    uint64_t given = 0;
    uint32_t taker = sim_cause_taker(&evidence, &given);
    uint32_t blocks = 0;
    uint32_t like = 0;
    if (counterfactual->away_step != 0) {
        explanation->here = sim_trace_new(
                counterfactual->away_id, counterfactual->away_step, counterfactual->away_step);
        walk_run(explanation, &explanation->decision.failing, sim_trace_run_actor,
                explanation->here);
    } else if (taker != SIM_PART_NONE) {
        walk_ways(explanation, sim_actor_table_id(&explanation->actor_table, taker), given + 1,
                UINT32_MAX);
    } else if (counterfactual->kind == SIM_COUNTERFACTUAL_ELSEWHERE &&
               counterfactual->writer_id != waiter) {
        walk_ways(explanation, counterfactual->writer_id, 0, counterfactual->step);
    } else if (waiter != 0 && block_step(&explanation->actor_table, waiter, 0, &blocks) != 0) {
        uint64_t to = block_step(&explanation->passing_actor_table, waiter, blocks, &like);
        if (like > 0) {
            walk_ways(explanation, waiter, 0, to);
        }
    }
}

/* What a loop went through when it got a report that it does not ask for again. */
static void
find_told(struct sim_explanation *explanation)
{
    const struct sim_evidence evidence = evidence_of(explanation);
    uint32_t part =
            sim_actor_table_actor(&explanation->actor_table, explanation->counterfactual.actor);
    uint64_t step = sim_cause_reported(&evidence);
    if (step != 0 && explanation->here == NULL) {
        explanation->here =
                sim_trace_new(sim_actor_table_id(&explanation->actor_table, part), step, step);
        walk_run(explanation, &explanation->decision.failing, sim_trace_run_actor,
                explanation->here);
    }
}

/* The last step of `part`; with `turns` the one after so many of its actor's since `event`. */
static uint64_t
step_of(const struct sim_actor_table *actor_table, uint32_t part, uint64_t event, uint32_t turns)
{
    rt_assert(part < actor_table->count);
    uint64_t step = 0;
    uint32_t actor = actor_table->parts[part].actor;
    for (uint64_t i = event + 1, count = 0; i < actor_table->end && count <= turns; i++) {
        const struct sim_event *found = sim_actor_table_event(actor_table, i);
        bool turn = turns > 0 ? found->kind == SIM_EVENT_STEP && found->actor == actor
                              : sim_actor_table_part_of(actor_table, i) == part;
        step = turn ? found->step : step;
        count += turns > 0 && turn;
    }
    return step;
}

/* What is held and not given back: what its holder did last; of a message, the turns of the shard
 * in which it arrived. */
static void
find_held(struct sim_explanation *explanation)
{
    const struct sim_evidence evidence = evidence_of(explanation);
    const struct sim_actor_table *actor_table = &explanation->actor_table;
    const struct sim_hold *held = sim_cause_held(&evidence);
    if (held == NULL || held->part == SIM_PART_NONE) {
        return;
    }
    uint64_t last =
            step_of(actor_table, held->part, held->event, held->handed ? TURNS_OF_A_MESSAGE : 0);
    uint64_t sent = sim_actor_table_event(actor_table, held->event)->step;
    explanation->held =
            sim_trace_new(held->handed ? sim_actor_table_id(actor_table, held->part) : 0,
                    held->handed ? sent + 1 : last, last);
    walk_run(explanation, &explanation->decision.failing, sim_trace_run_actor, explanation->held);
}

/* The step that writes over what came. */
static void
find_over(struct sim_explanation *explanation)
{
    uint64_t step = explanation->counterfactual.lost_step;
    if (explanation->counterfactual.kind == SIM_COUNTERFACTUAL_LOST && step != 0) {
        explanation->over = sim_trace_new(0, step, step);
        walk_run(explanation, &explanation->decision.failing, sim_trace_run_actor,
                explanation->over);
    }
}

static void
find_cause(struct sim_explanation *explanation)
{
    const struct sim_evidence evidence = evidence_of(explanation);
    struct sim_swap *order = &explanation->order;
    sim_cause_find(&evidence, &explanation->cause);
    order->found = sim_cause_order(&evidence, &explanation->cause, &order->first, &order->second);
    order->writes = order->found;
}

/* Walks the step of what is to blame. */
static struct sim_trace *
walk_blamed(struct sim_explanation *explanation, uintptr_t mark)
{
    const struct sim_location *location = &explanation->cause.at[0];
    struct sim_trace *way = sim_trace_new(0, location->step, location->step);
    if (way != NULL) {
        way->mark = mark;
        walk_run(explanation, &explanation->decision.failing, sim_trace_run_actor, way);
    }
    return way;
}

/* An event has one line. Where that is to blame, its step is walked once more: who called? */
static void
find_callers(struct sim_explanation *explanation)
{
    struct sim_cause *cause = &explanation->cause;
    uint32_t verdict = sim_explanation_outcome(explanation)->verdict;
    bool lost = verdict == SIM_VERDICT_LOST_WAKEUP || verdict == SIM_VERDICT_LATE_WAKEUP;
    if (!lost || cause->at_count == 0 || cause->at[0].step == 0 ||
            cause->at[0].part == SIM_PART_NONE || !sim_cause_is_event(cause) ||
            cause->fate.kind != SIM_FATE_NONE) {
        return;
    }
    struct sim_trace *way = walk_blamed(explanation, 0);
    const struct sim_place *at = &cause->at[0].place;
    uintptr_t pc = way != NULL ? sim_path_last(explanation->places, &way->path, at) : 0;
    sim_trace_free(&way);
    way = pc != 0 ? walk_blamed(explanation, pc) : NULL;
    for (uint32_t i = way != NULL ? way->path.call_count : 0; i-- > 0;) {
        if (way->path.calls[i].frames[0] == pc) {
            const struct sim_evidence evidence = evidence_of(explanation);
            sim_cause_add_callers(&evidence, &way->path.calls[i], cause);
            break;
        }
    }
    sim_trace_free(&way);
}

static void
find_order(struct sim_explanation *explanation)
{
    struct sim_run_pair pair = {.failing = &explanation->actor_table,
            .passing = &explanation->passing_actor_table,
            .places = explanation->places};
    sim_sides_part(pair.failing, pair.passing, &pair.failing_from, &pair.passing_from);
    /* Where a wake is known to be missing, or the process is gone, functions add nothing. */
    const struct sim_outcome *outcome = sim_explanation_outcome(explanation);
    uint32_t verdict = outcome->verdict;
    bool walk = explanation->cause.kind == SIM_CAUSE_NOT_A_WAKE &&
                (sim_outcome_is_stall(outcome) || verdict == SIM_VERDICT_CONTRACT ||
                        verdict == SIM_VERDICT_INVARIANT);
    struct sim_trace *failing = walk ? sim_trace_new(0, pair.failing_from, 0) : NULL;
    struct sim_trace *passing = walk ? sim_trace_new(0, pair.passing_from, 0) : NULL;
    walk_run(explanation, &explanation->decision.failing, sim_trace_run, failing);
    walk_run(explanation, &explanation->decision.passing, sim_trace_run, passing);
    bool walked = failing != NULL && passing != NULL && failing->done && passing->done;
    pair.failing_path = walked ? &failing->path : NULL;
    pair.passing_path = walked ? &passing->path : NULL;
    sim_order_find(&pair, &explanation->order);
    sim_trace_free(&failing);
    sim_trace_free(&passing);
}

/* What came of the two events when they were exchanged. */
static void
judge_swapped(struct sim_explanation *explanation, struct sim_single *single)
{
    struct sim_swap *order = &explanation->order;
    const struct sim_outcome *outcome = sim_single_outcome(single);
    struct sim_actor_table actor_table;
    sim_actor_table_make(&actor_table, sim_single_recorder(single));
    if (!sim_order_is_swapped(order, &explanation->actor_table, &actor_table)) {
        order->swapped = SIM_SWAPPED_NEVER;
    } else if (outcome->verdict == SIM_VERDICT_PASS) {
        order->swapped = SIM_SWAPPED_PASSES;
    } else {
        order->swapped = SIM_SWAPPED_FAILS;
        order->verdict = outcome->verdict;
    }
    sim_actor_table_free(&actor_table);
}

static void
verify_order(struct sim_explanation *explanation)
{
    struct sim_swap *order = &explanation->order;
    struct sim_single single;
    struct sim_tape tape = {NULL, 0, 0};
    if (!order->found || !order->events) {
        return;
    }
    if (!sim_swap_tape(explanation->actor_table.recorder, order->first_event, order->second_event,
                &explanation->decision.failing, &tape)) {
        order->swapped = SIM_SWAPPED_NEVER;
    } else if (sim_budget_left(&explanation->budget)) {
        sim_single_init(&single, NULL, &sim_shared_for_reading, explanation->failure.hang_ms);
        single.budget = &explanation->budget;
        struct sim_run_spec candidate = candidate_of(explanation, &tape);
        candidate.how = SIM_HOW_ORDERED;
        candidate.texts = true;
        if (sim_single_run(&single, &candidate) != NULL) {
            judge_swapped(explanation, &single);
        }
        sim_single_fini(&single);
    }
    free(tape.entries);
}

/* A number that decides is given by its value. */
static void
find_number(struct sim_explanation *explanation)
{
    const struct sim_decision *decision = &explanation->decision;
    struct sim_run_spec failing = candidate_of(explanation, &decision->failing);
    struct sim_run_spec passing = candidate_of(explanation, &decision->passing);
    sim_deciding_number_find(decision->added ? &passing : &failing,
            decision->added ? &failing : &passing, &decision->deciding,
            explanation->failure.hang_ms, &explanation->budget, explanation->places,
            &explanation->number);
}

/* Each run of a hang takes as long as its patience: what one run has shown is all that is said. */
static void
explain_hang(struct sim_explanation *explanation)
{
    const struct sim_tape tape = sim_single_deviations(&explanation->failing);
    sim_decision_none(&explanation->decision, &explanation->failure, &tape);
    read_record(explanation);
    find_cause(explanation);
}

/* A task that was woken and not polled again: was its loop woken? An analysis whose process died
 * continues after what it died of. */
static void
find_loop(struct sim_explanation *explanation)
{
    if (explanation->wake_outcome.kind == SIM_WAKE_OUTCOME_NOT_POLLED) {
        const struct sim_runs runs = runs_of(explanation);
        explanation->loop_analysis = sim_results_new(sizeof(*explanation->loop_analysis));
        for (uint32_t deaths = 0; deaths <= DEATHS_MAX && !explanation->loop_analysis->done &&
                                  sim_budget_left(&explanation->budget);
                deaths++) {
            sim_runs_analyze(
                    &runs, NULL, runs.failing, sim_analysis_run_loop, explanation->loop_analysis);
        }
    }
}

/* What the reader's code executes in the failing run, and in the passing one where there is one.
 * False: the first was not walked. */
static bool
walk_executed(struct sim_explanation *explanation)
{
    const struct sim_runs runs = runs_of(explanation);
    struct sim_executed **passing = &explanation->passing_executed;
    if (explanation->code == NULL) {
        explanation->code = sim_code_new(explanation->places, runs.scenario);
        explanation->executed = sim_executed_run(&runs, runs.failing, explanation->code);
        if (explanation->compared) {
            *passing = sim_executed_run(&runs, runs.passing, explanation->code);
        }
        if (explanation->executed != NULL) {
            sim_fate_add_atomics(explanation->executed, &explanation->ledger);
        }
        if (*passing != NULL && (*passing)->done) {
            sim_fate_add_atomics(*passing, &explanation->passing_ledger);
        } else {
            sim_executed_free(passing);
        }
    }
    return explanation->executed != NULL && explanation->executed->done;
}

/* The step in which a task was woken that was not polled again; 0: there is none. */
static uint64_t
forgotten_step(const struct sim_explanation *explanation)
{
    const struct sim_wake_outcome *wake_outcome = &explanation->wake_outcome;
    bool forgotten = wake_outcome->kind == SIM_WAKE_OUTCOME_NOT_POLLED &&
                     wake_outcome->root_cause != SIM_EVENT_NONE;
    return forgotten ? sim_actor_table_event(&explanation->actor_table, wake_outcome->root_cause)
                               ->step
                     : 0;
}

/* Both runs, for the questions of cause/fate.h. `runs` is borrowed. */
static struct sim_fate_evidence
fate_evidence_of(const struct sim_explanation *explanation, const struct sim_runs *runs)
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
            .owed_part = owes ? cause->at[0].part : SIM_PART_NONE,
            .owed_step = owes ? cause->at[0].step : 0,
            .woken_step = forgotten_step(explanation),
            .due = cause->by_counterfactual == SIM_COUNTERFACTUAL_ELSEWHERE
                           ? cause->at[cause->lost_count]
                           : (struct sim_location){.step = 0},
            .shown = !sim_program_is(explanation->failure.scenario),
            .runs = runs,
            .code = explanation->code,
    };
}

static void
try_conditions(struct sim_explanation *explanation)
{
    const struct sim_runs runs = runs_of(explanation);
    struct sim_branches branches = {.count = 0};
    if (walk_executed(explanation) && explanation->passing_executed != NULL) {
        const struct sim_fate_evidence evidence = fate_evidence_of(explanation, &runs);
        sim_branches_add_parting(explanation->executed, explanation->passing_executed, &branches);
        sim_guard_try(&evidence, &branches, &explanation->parting);
    }
}

/* One condition that, decided the other way, lets the run pass. */
static void
find_switched(struct sim_explanation *explanation)
{
    const struct sim_outcome *outcome = sim_explanation_outcome(explanation);
    struct sim_cause *cause = &explanation->cause;
    bool asks = cause->kind == SIM_CAUSE_NOT_A_WAKE && cause->hold_count == 0 &&
                cause->unanswered.kind == SIM_UNANSWERED_NONE &&
                cause->fate.kind == SIM_FATE_NONE && outcome->oracle != SIM_ORACLE_REWAKE_SOURCES &&
                (outcome->verdict == SIM_VERDICT_DEADLOCK ||
                        outcome->verdict == SIM_VERDICT_LOST_WAKEUP ||
                        outcome->verdict == SIM_VERDICT_LIVELOCK ||
                        outcome->verdict == SIM_VERDICT_STARVATION);
    if (asks) {
        try_conditions(explanation);
    }
    if (asks && explanation->parting.condition.step != 0) {
        sim_cause_add_switched(cause, &explanation->parting);
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
    if (ret->kind != SIM_FATE_TAKEN && evidence->passing != NULL &&
            (program || cause->kind == SIM_CAUSE_NOT_A_WAKE) &&
            sim_fate_find_differing(evidence, &skipped)) {
        *ret = skipped;
    }
}

/* Of one that is not woken: what became of the wake of the run that passes. What is held in a
 * circle needs no comparison. */
static void
find_fate(struct sim_explanation *explanation)
{
    const struct sim_outcome *outcome = sim_explanation_outcome(explanation);
    struct sim_cause *cause = &explanation->cause;
    const struct sim_location *parting = &explanation->parting.condition;
    struct sim_fate fate;
    bool lost = outcome->verdict == SIM_VERDICT_LOST_WAKEUP && !sim_outcome_is_stall(outcome);
    bool asks = (lost || (explanation->compared &&
                                 (outcome->verdict == SIM_VERDICT_DEADLOCK ||
                                         outcome->verdict == SIM_VERDICT_LOST_WAKEUP))) &&
                cause->hold_count == 0;
    if (!asks || !walk_executed(explanation) || (!lost && explanation->passing_executed == NULL)) {
        return;
    }
    const struct sim_runs runs = runs_of(explanation);
    const struct sim_fate_evidence evidence = fate_evidence_of(explanation, &runs);
    choose_fate(cause, &evidence, &fate);
    if (fate.kind == SIM_FATE_TURNED && !fate.tried) {
        try_conditions(explanation);
        fate.tried = parting->step != 0 && parting->step == fate.condition.step &&
                     parting->place.line == fate.condition.place.line;
    }
    if (fate.kind == SIM_FATE_TURNED) {
        uint32_t part = fate.condition.part;
        fate.stuck = evidence.shown && cause->kind == SIM_CAUSE_NOT_A_WAKE &&
                     part != fate.sleeps.part && part != SIM_PART_NONE &&
                     sim_ledger_open_of(&explanation->ledger, part, NULL) != NULL;
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
    const struct sim_runs runs = runs_of(explanation);
    const struct sim_actor_table *actor_table = &explanation->actor_table;
    const struct sim_evidence evidence = evidence_of(explanation);
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
    const struct sim_runs runs = runs_of(explanation);
    if (!sim_program_is(explanation->failure.scenario) || !walk_executed(explanation)) {
        return false;
    }
    const struct sim_omission_evidence evidence = {.failing = &explanation->ledger,
            .here = explanation->executed,
            .runs = &runs,
            .places = explanation->places,
            .code = explanation->code};
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
    bool known = cause->hold_count > 0 || cause->unnotified.known || (fate->tried && !own) ||
                 (fate->kind != SIM_FATE_NONE && fate->kind != SIM_FATE_TURNED) ||
                 counterfactual->kind == SIM_COUNTERFACTUAL_NOT_REARMED;
    for (uint32_t i = 0; i < counterfactual->left_count && !known; i++) {
        const struct sim_silence *silence = &counterfactual->left[i];
        struct sim_unnotified unnotified;
        known = sim_unnotified_find(&explanation->ledger, silence, SIM_PART_NONE, &unnotified);
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
                    explanation->compared ? &explanation->passing_ledger : NULL, &unanswered)) {
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

/* The condition by which it did not. What was only read says less. */
static void
find_guard(struct sim_explanation *explanation)
{
    struct sim_cause *cause = &explanation->cause;
    uint32_t verdict = sim_explanation_outcome(explanation)->verdict;
    if ((verdict != SIM_VERDICT_DEADLOCK && verdict != SIM_VERDICT_LOST_WAKEUP) ||
            (cause->fate.kind != SIM_FATE_NONE && cause->fate.kind != SIM_FATE_OWED) ||
            cause->unnotified.known || cause->unanswered.kind != SIM_UNANSWERED_NONE ||
            cause->hold_count > 0 || !walk_executed(explanation)) {
        return;
    }
    const struct sim_runs runs = runs_of(explanation);
    const struct sim_fate_evidence evidence = fate_evidence_of(explanation, &runs);
    const struct sim_location slept = wait_began(explanation, cause->loop);
    const struct sim_location waits = wait_began(explanation, victim_of(explanation));
    bool elsewhere = cause->by_counterfactual == SIM_COUNTERFACTUAL_ELSEWHERE;
    /* A loop that blocks after the wake has not looked for it. */
    if (cause->kind == SIM_CAUSE_COALESCED && slept.step > forgotten_step(explanation)) {
        sim_guard_find(&evidence, &slept, &cause->guard);
    } else if (should_do_more(cause)) {
        sim_guard_find(&evidence, &cause->at[0], &cause->guard);
    } else if (waits.step != 0 &&
               (cause->by_passing || elsewhere || cause->kind == SIM_CAUSE_NOT_A_WAKE)) {
        struct sim_guard guard;
        sim_guard_find_own(&evidence, &waits, &guard);
        if (guard.set.step != 0) {
            sim_cause_add_reset(cause, &guard);
        } else if (!elsewhere) {
            cause->guard = guard;
        }
    }
    if (cause->guard.condition.step != 0) {
        cause->fate = (struct sim_fate){.kind = SIM_FATE_NONE};
    }
}

/* The last conditional jump of the run: the one by which an assertion fails. */
static uint32_t
last_jump(const struct sim_executed *executed)
{
    uint32_t i = executed->count;
    while (i > 0 && !executed->all[i - 1].jump) {
        i--;
    }
    return i - 1;
}

/* Of what goes wrong without a wake: a condition before that, not the one that fails itself, which
 * the passing run decides otherwise the same time. Where a number decides, not the first of them,
 * which is decided on that. */
static void
find_wrong_guard(struct sim_explanation *explanation)
{
    struct sim_cause *cause = &explanation->cause;
    struct sim_branches all = {.count = 0};
    struct sim_branches kept = {.count = 0};
    if (sim_explanation_outcome(explanation)->verdict != SIM_VERDICT_INVARIANT ||
            cause->unanswered.kind != SIM_UNANSWERED_NONE || !walk_executed(explanation) ||
            explanation->passing_executed == NULL) {
        return;
    }
    const struct sim_runs runs = runs_of(explanation);
    const struct sim_fate_evidence evidence = fate_evidence_of(explanation, &runs);
    uint32_t fails = last_jump(explanation->executed);
    sim_branches_add_differing(explanation->executed, explanation->passing_executed, 0, &all);
    for (uint32_t i = 0; i < all.count; i++) {
        bool drawn = explanation->decision.deciding.kind == SIM_KIND_USER && i + 1 == all.count;
        if (!drawn && all.all[i].step > 0 &&
                sim_branch_index(explanation->executed, &all.all[i]) != fails) {
            kept.all[kept.count++] = all.all[i];
        }
    }
    sim_guard_try(&evidence, &kept, &cause->guard);
}

/* Of a loop that does not poll a task that was woken: where it blocks. */
static void
find_blocked(struct sim_explanation *explanation)
{
    const struct sim_counterfactual *counterfactual = &explanation->counterfactual;
    uint64_t step = counterfactual->step;
    if (counterfactual->kind == SIM_COUNTERFACTUAL_DROPPED) {
        uint32_t part = sim_actor_table_actor(&explanation->actor_table, counterfactual->actor);
        explanation->here =
                sim_trace_new(sim_actor_table_id(&explanation->actor_table, part), step, step);
        walk_run(explanation, &explanation->decision.failing, sim_trace_run_actor,
                explanation->here);
    }
}

/* Both runs are there: why does the one fail? */
static void
explain_runs(struct sim_explanation *explanation)
{
    sim_budget_stage(
            &explanation->budget, "finding what the blocked task waits for", COUNTERFACTUAL_ENDS);
    bool rests = sim_outcome_is_stall(sim_explanation_outcome(explanation));
    uint64_t wake_step = rests ? 0 : forgotten_step(explanation);
    uint32_t verdict = sim_explanation_outcome(explanation)->verdict;
    bool livelock = verdict == SIM_VERDICT_LIVELOCK;
    if (rests || livelock || verdict == SIM_VERDICT_LOST_WAKEUP) {
        const struct sim_runs runs = runs_of(explanation);
        sim_counterfactual_find(&runs, explanation->places,
                rests            ? SIM_COUNTERFACTUAL_OF_RESTS
                : livelock       ? SIM_COUNTERFACTUAL_OF_LIVELOCK
                : wake_step != 0 ? SIM_COUNTERFACTUAL_OF_UNPOLLED
                                 : SIM_COUNTERFACTUAL_OF_LOST,
                wake_step, &explanation->counterfactual);
    }
    sim_budget_stage(&explanation->budget, "comparing it with the run that passes", 100);
    if (wake_step != 0) {
        find_blocked(explanation);
    }
    if (rests) {
        find_held(explanation);
        find_told(explanation);
        find_over(explanation);
        if (explanation->compared &&
                explanation->counterfactual.kind != SIM_COUNTERFACTUAL_NOT_REARMED) {
            find_ways(explanation);
        }
    }
    if (explanation->compared) {
        find_attempt(explanation);
    }
    find_loop(explanation);
    find_cause(explanation);
    find_unnotified(explanation);
    find_fate(explanation);
    find_left(explanation);
    find_unanswered(explanation);
    find_guard(explanation);
    find_wrong_guard(explanation);
    find_callers(explanation);
    if (explanation->decision.found) {
        find_number(explanation);
    }
    if (explanation->compared && !explanation->order.found) {
        find_order(explanation);
        verify_order(explanation);
    }
    find_switched(explanation);
}

static uint32_t
patience_ms(const struct sim_failure *failure)
{
    bool shorter = failure->hung && failure->hang_ms > HANG_AGAIN_MS;
    return shorter ? HANG_AGAIN_MS : failure->hang_ms;
}

bool
sim_explanation_make(struct sim_explanation *explanation, const struct sim_failure *failure)
{
    *explanation = (struct sim_explanation){.failure = *failure};
    sim_budget_init(&explanation->budget,
            failure->time_ms != 0 ? failure->time_ms : SIM_EXPLAIN_TIME_MS, failure->steps_max);
    explanation->failure.budget = &explanation->budget;
    explanation->places = sim_places_new();
    explanation->analysis = sim_results_new(sizeof(*explanation->analysis));
    sim_single_init(&explanation->failing, NULL, &sim_shared_for_reading, patience_ms(failure));
    if (!run_given(explanation)) {
        return false;
    }
    explanation->given = *sim_single_outcome(&explanation->failing);
    if (explanation->given.verdict == SIM_VERDICT_PASS) {
        return true;
    }
    if (explanation->given.verdict == SIM_VERDICT_HANG) {
        explain_hang(explanation);
        return true;
    }
    if (!find_decision(explanation) || !run_failing(explanation) ||
            (explanation->decision.found && !run_passing(explanation))) {
        return false;
    }
    read_record(explanation);
    explain_runs(explanation);
    return true;
}

void
sim_explanation_free(struct sim_explanation *explanation)
{
    if (explanation->ledger.actor_table != NULL) {
        sim_ledger_free(&explanation->ledger);
        sim_holds_free(&explanation->holds);
        sim_actor_table_free(&explanation->actor_table);
    }
    if (explanation->compared) {
        sim_ledger_free(&explanation->passing_ledger);
        sim_actor_table_free(&explanation->passing_actor_table);
    }
    sim_decision_free(&explanation->decision);
    sim_single_fini(&explanation->failing);
    sim_single_fini(&explanation->passing);
    sim_results_free(&explanation->analysis);
    sim_results_free(&explanation->loop_analysis);
    sim_trace_free(&explanation->here);
    sim_trace_free(&explanation->there);
    sim_trace_free(&explanation->over);
    sim_trace_free(&explanation->held);
    sim_executed_free(&explanation->executed);
    sim_executed_free(&explanation->passing_executed);
    sim_code_free(&explanation->code);
    sim_places_free(&explanation->places);
}

const struct sim_outcome *
sim_explanation_outcome(const struct sim_explanation *explanation)
{
    return sim_single_outcome(&explanation->failing);
}
