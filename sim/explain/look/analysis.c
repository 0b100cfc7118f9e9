/*
 * analysis.c -- which word of memory the blocked task waits for, and what wrote it.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "sim/explain/look/analysis.h"

#include "runtime/base/assert.h"
#include "sim/judge/effect.h"

/* Instructions of a step that is walked, and of a trace. */
#define WALK_MOST UINT64_C(200000)
#define TRACE_MOST UINT64_C(12000)

/* Of a run without an end, so many steps. */
#define CIRCLE_STEPS 24u

/* ---- The words that the step changed. -------------------------------------------------------- */

static void
add_word(struct sim_analysis *analysis, uint64_t offset, uint64_t before, uint64_t after,
        uint64_t mask)
{
    rt_assert(((before ^ after) & mask) != 0);
    if (analysis->word_count < SIM_ANALYSIS_WORDS) {
        analysis->words[analysis->word_count++] = (struct sim_word){
                .offset = offset, .before = (after & ~mask) | (before & mask), .mask = mask};
    }
}

/* Of a word whose halves both changed, each half too: they may be two variables. */
static void
note_word(struct sim_analysis *analysis, const struct sim_world *world, uint64_t offset,
        uint64_t before)
{
    uint64_t after = sim_word_at(world, offset);
    if (before == after || sim_word_is_link(world, before) || sim_word_is_link(world, after)) {
        return;
    }
    uint64_t low = (before ^ after) & UINT32_MAX;
    uint64_t high = (before ^ after) & ~(uint64_t)UINT32_MAX;
    add_word(analysis, offset, before, after, UINT64_MAX);
    if (low != 0 && high != 0) {
        add_word(analysis, offset, before, after, UINT32_MAX);
        add_word(analysis, offset, before, after, ~(uint64_t)UINT32_MAX);
    }
}

/* Only what was there before the step: no task can wait yet for memory that the step allocated. */
static void
find_words(struct sim_experiment *experiment, uint64_t step, struct sim_analysis *analysis)
{
    rt_assert(step > 0);
    analysis->word_count = 0;
    if (sim_experiment_at(experiment, step - 1) && sim_experiment_remember(experiment) &&
            sim_world_continue(experiment->world, (struct sim_stop){step, false})) {
        for (size_t i = 0; i < experiment->word_count; i++) {
            note_word(analysis, experiment->world, i * sizeof(uint64_t), experiment->words[i]);
        }
    }
    sim_world_drop(experiment->world);
}

/* ---- Which of them decides. ------------------------------------------------------------------ */

/* How near what the question does with the word put back is to what it does right after the blocked
 * task's own last step, where nothing had been done for it yet. */
static void
try_word(struct sim_stand *stand, const struct sim_question *asked, const struct sim_effect *before,
        struct sim_word *word)
{
    const struct sim_patch patch = {word->offset, word->before};
    struct sim_question question = *asked;
    struct sim_effect effect;
    rt_assert(word->state == SIM_WORD_UNTRIED);
    question.patch = &patch;
    word->state = SIM_WORD_TRYING;
    bool answered = sim_effect_of(stand, &question, &effect);
    word->distance = answered ? sim_effect_distance(&effect, before) : UINT32_MAX;
    word->state = SIM_WORD_IDLE;
}

/* Those without which the blocked task would do less for it. */
static void
try_words(const struct sim_experiment *experiment, struct sim_analysis *analysis)
{
    struct sim_world *world = experiment->world;
    struct sim_question question;
    struct sim_effect before;
    struct sim_effect now;
    struct sim_stand stand;
    if (!sim_judge_question(world, experiment->what, experiment->outcome, &question)) {
        return;
    }
    sim_stand_init(&stand, world, experiment->what);
    bool differs = sim_effect_differs(&stand, &question, &before) &&
                   sim_effect_of(&stand, &question, &now);
    for (uint32_t i = 0; i < analysis->word_count && differs; i++) {
        struct sim_word *word = &analysis->words[i];
        if (word->state == SIM_WORD_UNTRIED && sim_world_may_replay(world)) {
            try_word(&stand, &question, &before, word);
        }
        if (word->state == SIM_WORD_IDLE && word->distance < sim_effect_distance(&now, &before)) {
            word->state = SIM_WORD_DECIDES;
        }
    }
    sim_stand_leave(&stand);
}

static void
find_writers(const struct sim_experiment *experiment, uint64_t step, struct sim_analysis *analysis)
{
    rt_assert(step > 0);
    rt_assert(analysis->word_count <= SIM_ANALYSIS_WORDS);
    struct sim_watch watches[SIM_ANALYSIS_WORDS];
    uint32_t count = 0;
    analysis->walked = true;
    if (sim_experiment_at(experiment, step - 1)) {
        for (uint32_t i = 0; i < analysis->word_count; i++) {
            struct sim_word *word = &analysis->words[i];
            if (word->state == SIM_WORD_DECIDES) {
                watches[count] = sim_word_watch(experiment->world, word->offset, &word->writer);
                watches[count++].mask = word->mask;
            }
        }
        if (count > 0 && sim_walk_begin(watches, count, NULL, WALK_MOST)) {
            (void)sim_world_continue(experiment->world, (struct sim_stop){step, false});
            sim_walk_end();
        }
    }
    sim_world_drop(experiment->world);
}

/* ---- Where the verdict fell. ----------------------------------------------------------------- */

static struct sim_walk_stop *verdict_stack;

/* Called in sim_fail. */
static void
note_verdict(void)
{
    rt_assert(verdict_stack != NULL);
    sim_walk_stop_here(verdict_stack);
}

/* Failed by a call: an assertion, a check, a rule of the host or the runtime, or the clock, read
 * again and again. */
static bool
failed_by_call(const struct sim_outcome *outcome)
{
    return outcome->oracle == SIM_ORACLE_FAULT || outcome->oracle == SIM_ORACLE_ASSERTION ||
           outcome->oracle == SIM_ORACLE_HOST || outcome->oracle == SIM_ORACLE_USER ||
           sim_outcome_spins(outcome);
}

static void
find_failure(const struct sim_experiment *experiment, struct sim_analysis *analysis)
{
    rt_assert(!analysis->failing);
    const struct sim_case *what = experiment->what;
    struct sim_outcome ignored;
    analysis->failing = true;
    verdict_stack = &analysis->failed;
    experiment->world->on_fail = note_verdict;
    sim_world_run(experiment->world, what->scenario, &what->options, what->seed, what->strategy,
            (struct sim_recording){false, false}, &ignored);
    experiment->world->on_fail = NULL;
}

/* ---- Which steps are traced. ----------------------------------------------------------------- */

/* Walks the steps [from, to], or to where the verdict falls. */
static void
trace(const struct sim_experiment *experiment, uint32_t actor, uint64_t from, uint64_t to,
        struct sim_analysis *analysis)
{
    rt_assert(analysis->trace_count <= SIM_ANALYSIS_TRACES);
    if (from == 0 || from > to || analysis->trace_count == SIM_ANALYSIS_TRACES ||
            !sim_world_may_replay(experiment->world)) {
        return;
    }
    struct sim_trace *added = &analysis->traces[analysis->trace_count++];
    added->actor = actor;
    added->from = from;
    added->to = to;
    sim_trace_walk(experiment, TRACE_MOST, added);
}

/* The step in which the actor that the verdict names stopped last; `otherwise` without one. */
static uint64_t
last_step(const struct sim_experiment *experiment, uint64_t until, uint64_t otherwise)
{
    (void)sim_experiment_at(experiment, until);
    const struct sim_actor *actor = sim_world_actor(experiment->world, experiment->outcome->actor);
    uint64_t step = actor != NULL ? actor->stopped_step : otherwise;
    sim_world_drop(experiment->world);
    return step;
}

/* Of the tasks that are blocked in a stall, the one that the verdict names first: the step in which
 * each blocked. */
static void
trace_waiters(const struct sim_experiment *experiment, struct sim_analysis *analysis)
{
    rt_assert(sim_outcome_is_stall(experiment->outcome));
    const struct sim_world *world = experiment->world;
    struct waiter {
        uint32_t actor;
        uint64_t step;
    } waiters[SIM_ANALYSIS_TRACES];
    uint32_t count = 0;
    bool reached = sim_experiment_at_end(experiment);
    const struct sim_actor *first = sim_world_actor(world, experiment->outcome->actor);
    if (first != NULL) {
        waiters[count++] = (struct waiter){first->index, first->stopped_step};
    }
    for (uint32_t i = 1; reached && i < world->actor_count && count < SIM_ANALYSIS_TRACES; i++) {
        const struct sim_actor *actor = world->actors[i];
        if (actor != first && !actor->done && actor->foreground && !actor->enabled) {
            waiters[count++] = (struct waiter){i, actor->stopped_step};
        }
    }
    sim_world_drop(experiment->world);
    for (uint32_t i = 0; i < count; i++) {
        trace(experiment, waiters[i].actor, waiters[i].step, waiters[i].step, analysis);
    }
}

static void
trace_steps(const struct sim_experiment *experiment, struct sim_analysis *analysis)
{
    rt_assert(!analysis->tracing);
    rt_assert(analysis->trace_count == 0);
    const struct sim_outcome *outcome = experiment->outcome;
    uint64_t missing = outcome->missing_wake_step;
    uint64_t end = outcome->fail_step;
    analysis->tracing = true;
    if (sim_outcome_is_stall(outcome)) {
        trace_waiters(experiment, analysis);
        return;
    }
    switch ((enum sim_verdict)outcome->verdict) {
    case SIM_VERDICT_LOST_WAKEUP:
    case SIM_VERDICT_LATE_WAKEUP:
        trace(experiment, UINT32_MAX, missing, missing, analysis);
        end = last_step(experiment, outcome->steps, outcome->steps);
        trace(experiment, outcome->actor, end, end, analysis);
        return;
    case SIM_VERDICT_LIVELOCK:
    case SIM_VERDICT_STARVATION:
    case SIM_VERDICT_STEP_LIMIT:
    case SIM_VERDICT_TIME_LIMIT:
        trace(experiment, UINT32_MAX, end > CIRCLE_STEPS ? end - CIRCLE_STEPS : 1, end, analysis);
        return;
    case SIM_VERDICT_LEAK:
        end = last_step(experiment, outcome->steps, outcome->steps);
        trace(experiment, outcome->actor, end, end, analysis);
        return;
    case SIM_VERDICT_CONTRACT:
    case SIM_VERDICT_INVARIANT:
    case SIM_VERDICT_OVER_BUDGET:
    case SIM_VERDICT_USE_AFTER_FREE:
    case SIM_VERDICT_EXIT:
        trace(experiment, outcome->actor, end, end, analysis);
        return;
    case SIM_VERDICT_DEADLOCK:
    case SIM_VERDICT_PASS:
    case SIM_VERDICT_CRASH:
    case SIM_VERDICT_HANG:
    case SIM_VERDICT_DIVERGED:
    case SIM_VERDICT_REFUSED:
    case SIM_VERDICTS:
        return;
    }
}

/* ---- The interface. -------------------------------------------------------------------------- */

static void
find_missing_wake(struct sim_experiment *experiment, struct sim_analysis *analysis)
{
    const struct sim_outcome *outcome = experiment->outcome;
    uint64_t step = outcome->missing_wake_step;
    rt_assert(step > 0);
    analysis->step = step;
    if (!analysis->words_known) {
        find_words(experiment, step, analysis);
        analysis->words_known = true;
    }
    try_words(experiment, analysis);
    if (!analysis->walked) {
        find_writers(experiment, step, analysis);
    }
    if (!analysis->arrivals.done && step == last_step(experiment, outcome->fail_step, 0)) {
        sim_arrivals_find(experiment, step, &analysis->arrivals);
    }
}

void
sim_analysis_run(struct sim_world *world, const struct sim_case *what,
        const struct sim_outcome *outcome, void *argument)
{
    rt_assert(!((struct sim_analysis *)argument)->done);
    struct sim_analysis *analysis = argument;
    struct sim_experiment experiment;
    sim_experiment_begin(&experiment, world, what, outcome);
    if (outcome->missing_wake_step != 0) {
        find_missing_wake(&experiment, analysis);
    }
    if (!analysis->failing && failed_by_call(outcome)) {
        find_failure(&experiment, analysis);
    }
    if (!analysis->tracing) {
        trace_steps(&experiment, analysis);
    }
    sim_experiment_end(&experiment);
    analysis->done = true;
}

/* The loop that polls the blocked task; 0: there is none, or it is not blocked in its host. */
static uint32_t
blocked_loop(const struct sim_experiment *experiment)
{
    struct sim_in_host in_host;
    (void)sim_experiment_at_end(experiment);
    const struct sim_actor *actor = sim_world_actor(experiment->world, experiment->outcome->actor);
    while (actor != NULL && actor->ops->kind != SIM_ACTOR_LOOP) {
        actor = actor->parent;
    }
    bool blocked = actor != NULL && actor->index != experiment->outcome->actor &&
                   actor->ops->in_host(actor, &in_host);
    uint32_t index = blocked ? actor->index : 0;
    sim_world_drop(experiment->world);
    return index;
}

void
sim_analysis_run_loop(struct sim_world *world, const struct sim_case *what,
        const struct sim_outcome *outcome, void *argument)
{
    struct sim_analysis *analysis = argument;
    struct sim_outcome asked = *outcome;
    struct sim_experiment experiment;
    rt_assert(!analysis->done);
    sim_experiment_begin(&experiment, world, what, outcome);
    asked.actor = blocked_loop(&experiment);
    sim_experiment_end(&experiment);
    asked.oracle = SIM_ORACLE_REWAKE_LOOP;
    if (asked.actor != 0 && sim_judge_missing_wake(world, what, &asked) == 0) {
        asked.oracle = SIM_ORACLE_REWAKE_SOURCES; /* That notifies the host, too. */
        (void)sim_judge_missing_wake(world, what, &asked);
    }
    if (asked.actor != 0 && asked.missing_wake_step != 0) {
        analysis->loop = asked.actor;
        sim_experiment_begin(&experiment, world, what, &asked);
        find_missing_wake(&experiment, analysis);
        sim_experiment_end(&experiment);
    }
    analysis->done = true;
}
