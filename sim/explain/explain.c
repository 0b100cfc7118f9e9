/*
 * explain.c -- making an explanation, part by part.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "sim/explain/explain.h"

#include <stdio.h>
#include <stdlib.h>

#include "runtime/base/assert.h"
#include "sim/explain/cause/wakers.h"
#include "sim/explain/lines.h"
#include "sim/explain/look/translate.h"
#include "sim/explain/order/swap.h"
#include "sim/explain/reasons.h"
#include "sim/explain/sides.h"

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
    }
    return outcome != NULL || refuse(explanation, explanation->passing.worker.error);
}

/* Of one that dies or spins not all can be walked. */
static bool
can_walk(const struct sim_outcome *outcome)
{
    return outcome->verdict != SIM_VERDICT_HANG && outcome->verdict != SIM_VERDICT_STEP_LIMIT &&
           outcome->verdict != SIM_VERDICT_TIME_LIMIT;
}

/* Adds to the events of a run the lines of the reader's, and reads its record again. */
static void
add_lines(struct sim_explanation *explanation, struct sim_single *single,
        const struct sim_executed *executed, struct sim_actor_table *actor_table)
{
    sim_lines_add(&single->worker.shared->recorder, actor_table, executed, explanation->places);
    sim_actor_table_free(actor_table);
    sim_actor_table_make(actor_table, sim_single_recorder(single));
}

static void
read_record(struct sim_explanation *explanation)
{
    const struct sim_outcome *outcome = sim_single_outcome(&explanation->failing);
    sim_actor_table_make(&explanation->actor_table, sim_single_recorder(&explanation->failing));
    /* Both or none: else their events differ. */
    if (can_walk(outcome) && sim__reasons_walk(explanation) &&
            (!explanation->compared || explanation->passing_executed != NULL)) {
        explanation->lined = true;
        add_lines(explanation, &explanation->failing, explanation->executed,
                &explanation->actor_table);
        if (explanation->passing_executed != NULL) {
            add_lines(explanation, &explanation->passing, explanation->passing_executed,
                    &explanation->passing_actor_table);
        }
    }
    if (explanation->compared) {
        sim_ledger_make(&explanation->passing_ledger, &explanation->passing_actor_table);
    }
    sim_ledger_make(&explanation->ledger, &explanation->actor_table);
    sim_holds_make(&explanation->holds, &explanation->actor_table,
            explanation->compared ? &explanation->passing_actor_table : NULL);
    sim_wake_outcome_find(&explanation->ledger, outcome, &explanation->wake_outcome);
}

struct sim_runs
sim__runs_of(const struct sim_explanation *explanation)
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

struct sim_evidence
sim__evidence_of(const struct sim_explanation *explanation)
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

bool
sim__explain_run(
        struct sim_explanation *explanation, const struct sim_tape *tape, struct sim_single *ret)
{
    struct sim_run_spec candidate = candidate_of(explanation, tape);
    candidate.texts = true;
    if (!sim_budget_left(&explanation->budget)) {
        return false;
    }
    sim_single_init(ret, NULL, &sim_shared_for_reading, explanation->failure.hang_ms);
    ret->budget = &explanation->budget;
    if (sim_single_run(ret, &candidate) == NULL) {
        sim_single_fini(ret);
        return false;
    }
    return true;
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
    const struct sim_runs runs = sim__runs_of(explanation);
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
    const struct sim_evidence evidence = sim__evidence_of(explanation);
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
    const struct sim_evidence evidence = sim__evidence_of(explanation);
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
    const struct sim_evidence evidence = sim__evidence_of(explanation);
    const struct sim_actor_table *actor_table = &explanation->actor_table;
    const struct sim_hold *held = sim_cause_held(&evidence);
    if (held == NULL || held->part == SIM_PART_NONE || held->event == SIM_EVENT_NONE) {
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
    const struct sim_evidence evidence = sim__evidence_of(explanation);
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
            cause->front_count > 0 || cause->fate.kind != SIM_FATE_NONE) {
        return;
    }
    struct sim_trace *way = walk_blamed(explanation, 0);
    const struct sim_place *at = &cause->at[0].place;
    uintptr_t pc = way != NULL ? sim_path_last(explanation->places, &way->path, at) : 0;
    sim_trace_free(&way);
    way = pc != 0 ? walk_blamed(explanation, pc) : NULL;
    for (uint32_t i = way != NULL ? way->path.call_count : 0; i-- > 0;) {
        if (way->path.calls[i].frames[0] == pc) {
            const struct sim_evidence evidence = sim__evidence_of(explanation);
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

/* As the failing run has them: events are compared by their lines, too. */
static void
add_lines_of(struct sim_explanation *explanation, struct sim_single *single,
        struct sim_actor_table *actor_table)
{
    const struct sim_runs runs = sim__runs_of(explanation);
    const struct sim_tape tape = sim_single_deviations(single);
    struct sim_executed *executed =
            explanation->lined ? sim_executed_run(&runs, &tape, explanation->code, false, 0) : NULL;
    if (executed != NULL && executed->done) {
        add_lines(explanation, single, executed, actor_table);
    }
    sim_executed_free(&executed);
}

/* What came of the two events when they were exchanged. */
static void
judge_swapped(struct sim_explanation *explanation, struct sim_single *single)
{
    struct sim_swap *order = &explanation->order;
    const struct sim_outcome *outcome = sim_single_outcome(single);
    struct sim_actor_table actor_table;
    sim_actor_table_make(&actor_table, sim_single_recorder(single));
    add_lines_of(explanation, single, &actor_table);
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
        const struct sim_runs runs = sim__runs_of(explanation);
        explanation->loop_analysis = sim_results_new(sizeof(*explanation->loop_analysis));
        for (uint32_t deaths = 0; deaths <= DEATHS_MAX && !explanation->loop_analysis->done &&
                                  sim_budget_left(&explanation->budget);
                deaths++) {
            sim_runs_analyze(
                    &runs, NULL, runs.failing, sim_analysis_run_loop, explanation->loop_analysis);
        }
    }
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
    uint64_t wake_step = rests ? 0 : sim__forgotten_step(explanation);
    uint32_t verdict = sim_explanation_outcome(explanation)->verdict;
    bool livelock = verdict == SIM_VERDICT_LIVELOCK;
    if (livelock) {
        (void)sim__reasons_walk(explanation); /* The loop says most, and its runs are long. */
    }
    if (rests || livelock || verdict == SIM_VERDICT_LOST_WAKEUP) {
        const struct sim_runs runs = sim__runs_of(explanation);
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
    sim__reasons_find(explanation);
    find_callers(explanation);
    if (explanation->decision.found) {
        find_number(explanation);
    }
    sim__choices_find(explanation);
    if (explanation->compared && !explanation->order.found) {
        find_order(explanation);
        verify_order(explanation);
    }
    sim__reasons_unusual(explanation);
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
    sim_translate_prepare();
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
    sim_wakers_free(explanation->wakers);
    sim_code_free(&explanation->code);
    sim_places_free(&explanation->places);
}

const struct sim_outcome *
sim_explanation_outcome(const struct sim_explanation *explanation)
{
    return sim_single_outcome(&explanation->failing);
}
