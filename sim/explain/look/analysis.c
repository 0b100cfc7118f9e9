/*
 * analysis.c -- which word of memory the blocked task waits for, and who wrote it.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "sim/explain/look/analysis.h"

#include <execinfo.h>
#include <string.h>
#include <sys/mman.h>

#include "runtime/base/assert.h"
#include "sim/judge/effect.h"

/* Instructions of a step that is walked: 2 s at the most. */
#define WALK_MOST UINT64_C(200000)

struct sim_analysis *
sim_analysis_new(void)
{
    void *memory = mmap(NULL, sizeof(struct sim_analysis), PROT_READ | PROT_WRITE,
            MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    return memory != MAP_FAILED ? memory : NULL;
}

void
sim_analysis_free(struct sim_analysis **analysis)
{
    if (*analysis != NULL) {
        (void)munmap(*analysis, sizeof(**analysis));
        *analysis = NULL;
    }
}

/* ---- The words that the step changed. -------------------------------------------------------- */

/* A pointer into the arena: a list that is put back in one place only is no list. */
static bool
is_link(const struct sim_world *world, uint64_t value)
{
    return sim_arena_holds(&world->arena, (const void *)(uintptr_t)value);
}

/* Word by word, and unseen by a sanitizer: what lies in its red zones is looked at as well. */
__attribute__((no_sanitize_address, noinline)) static void
copy_words(uint64_t *to, const volatile uint64_t *from, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        to[i] = from[i];
    }
}

static const volatile uint64_t *
words_at(const struct sim_world *world, size_t offset)
{
    return (const volatile uint64_t *)(const void *)(world->arena.base + offset);
}

static void
add_word(struct sim_analysis *analysis, uint64_t offset, uint64_t before, uint64_t after,
        uint64_t mask)
{
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
    uint64_t after;
    copy_words(&after, words_at(world, offset), 1);
    if (before == after || is_link(world, before) || is_link(world, after)) {
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

static bool
run_to(struct sim_world *world, const struct sim_case *what, uint64_t step)
{
    struct sim_recording nothing = {false, false};
    return sim_world_run_to(world, what->scenario, &what->options, what->seed, what->strategy,
            nothing, (struct sim_stop){step, false});
}

/* Only what was there before the step: what it took again nobody can wait for yet. */
static void
find_words(struct sim_world *world, const struct sim_case *what, uint64_t step,
        struct sim_analysis *analysis)
{
    uint64_t *copy = NULL;
    size_t used = 0;
    analysis->word_count = 0;
    if (run_to(world, what, step - 1)) {
        used = world->arena.used & ~(size_t)7;
        copy = mmap(NULL, used + 1, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    }
    if (copy != NULL && copy != MAP_FAILED) {
        copy_words(copy, words_at(world, 0), used / sizeof(*copy));
        if (sim_world_continue(world, (struct sim_stop){step, false})) {
            for (size_t i = 0; i < used / sizeof(*copy); i++) {
                note_word(analysis, world, i * sizeof(*copy), copy[i]);
            }
        }
        (void)munmap(copy, used + 1);
    }
    sim_world_drop(world);
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
    question.patch = &patch;
    word->state = SIM_WORD_TRYING;
    bool answered = sim_effect_of(stand, &question, &effect);
    word->distance = answered ? sim_effect_distance(&effect, before) : UINT32_MAX;
    word->state = SIM_WORD_IDLE;
}

/* Those without which the blocked task would do less for it. */
static void
try_words(struct sim_world *world, const struct sim_case *what, const struct sim_outcome *outcome,
        struct sim_analysis *analysis)
{
    struct sim_question question;
    struct sim_effect before;
    struct sim_effect now;
    struct sim_stand stand;
    if (!sim_judge_question(world, what, outcome, &question)) {
        return;
    }
    sim_stand_init(&stand, world, what);
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
find_writers(struct sim_world *world, const struct sim_case *what, uint64_t step,
        struct sim_analysis *analysis)
{
    struct sim_watch watches[SIM_ANALYSIS_WORDS];
    uint32_t count = 0;
    analysis->walked = true;
    if (run_to(world, what, step - 1)) {
        for (uint32_t i = 0; i < analysis->word_count; i++) {
            struct sim_word *word = &analysis->words[i];
            if (word->state == SIM_WORD_DECIDES) {
                watches[count++] = (struct sim_watch){.word = words_at(world, word->offset),
                        .mask = word->mask,
                        .writer = &word->writer};
            }
        }
        if (count > 0 && sim_walk_begin(watches, count, NULL, WALK_MOST)) {
            (void)sim_world_continue(world, (struct sim_stop){step, false});
            sim_walk_end();
        }
    }
    sim_world_drop(world);
}

/* ---- Where the verdict fell. ----------------------------------------------------------------- */

static struct sim_walk_stop *fallen;

/* Called where sim_fail stands. */
static void
note_fall(void)
{
    void *frames[SIM_WALK_FRAMES];
    int count = backtrace(frames, (int)SIM_WALK_FRAMES);
    for (int i = 0; i < count; i++) {
        fallen->frames[i] = (uintptr_t)frames[i];
    }
    fallen->frame_count = count > 0 ? (uint32_t)count : 0;
}

/* Who failed by a call: an assertion, a check, a rule that the host or the runtime looks after, or
 * the clock, read again and again. */
static bool
falls_by_call(const struct sim_outcome *outcome)
{
    return outcome->oracle == SIM_ORACLE_FAULT || outcome->oracle == SIM_ORACLE_ASSERTION ||
           outcome->oracle == SIM_ORACLE_HOST || outcome->oracle == SIM_ORACLE_USER ||
           sim_outcome_spins(outcome);
}

static void
analyze_failure(struct sim_world *world, const struct sim_case *what, struct sim_analysis *analysis)
{
    struct sim_outcome ignored;
    analysis->failing = true;
    fallen = &analysis->failed;
    world->on_fail = note_fall;
    sim_world_run(world, what->scenario, &what->options, what->seed, what->strategy,
            (struct sim_recording){false, false}, &ignored);
    world->on_fail = NULL;
}

/* ---- Whose steps are worth a look. ----------------------------------------------------------- */

/* Of a run that turns in circles, so many steps. */
#define CIRCLE_STEPS 24u
#define TRACE_MOST UINT64_C(12000)

/* Walks the steps [from, to], or to where the verdict falls. */
static void
walk_trace(struct sim_world *world, const struct sim_case *what, uint32_t actor, uint64_t from,
        uint64_t to, struct sim_analysis *analysis)
{
    if (from == 0 || from > to || analysis->trace_count == SIM_ANALYSIS_TRACES ||
            !sim_world_may_replay(world)) {
        return;
    }
    struct sim_trace *trace = &analysis->traces[analysis->trace_count++];
    trace->actor = actor;
    trace->from = from;
    trace->to = to;
    if (run_to(world, what, from - 1) && sim_walk_begin(NULL, 0, &trace->path, TRACE_MOST)) {
        (void)sim_world_continue(world, (struct sim_stop){to, false});
        sim_walk_end();
    }
    sim_world_drop(world);
}

/* Who sleeps when the run has stalled, whom the verdict names first, and in which step they fell
 * asleep. */
static uint32_t
find_waiters(struct sim_world *world, const struct sim_case *what,
        const struct sim_outcome *outcome, struct sim_trace *ret)
{
    uint32_t count = 0;
    struct sim_recording nothing = {false, false};
    bool reached = sim_world_run_to(world, what->scenario, &what->options, what->seed,
            what->strategy, nothing, (struct sim_stop){outcome->fail_step, true});
    const struct sim_actor *first = sim_world_actor(world, outcome->actor);
    if (first != NULL) {
        ret[count].actor = first->index;
        ret[count++].from = first->stopped_step;
    }
    for (uint32_t i = 1; reached && i < world->actor_count && count < SIM_ANALYSIS_TRACES; i++) {
        const struct sim_actor *actor = world->actors[i];
        if (actor != first && !actor->done && actor->foreground && !actor->enabled) {
            ret[count].actor = i;
            ret[count++].from = actor->stopped_step;
        }
    }
    sim_world_drop(world);
    return count;
}

static void
trace_waiters(struct sim_world *world, const struct sim_case *what,
        const struct sim_outcome *outcome, struct sim_analysis *analysis)
{
    struct waiter {
        uint32_t actor;
        uint64_t step;
    } waiters[SIM_ANALYSIS_TRACES];
    uint32_t count = find_waiters(world, what, outcome, analysis->traces);
    for (uint32_t i = 0; i < count; i++) {
        waiters[i] = (struct waiter){analysis->traces[i].actor, analysis->traces[i].from};
    }
    for (uint32_t i = 0; i < count; i++) {
        walk_trace(world, what, waiters[i].actor, waiters[i].step, waiters[i].step, analysis);
    }
}

/* The last step of whom the verdict names. */
static uint64_t
last_step_of(
        struct sim_world *world, const struct sim_case *what, const struct sim_outcome *outcome)
{
    (void)run_to(world, what, outcome->steps);
    const struct sim_actor *actor = sim_world_actor(world, outcome->actor);
    uint64_t step = actor != NULL ? actor->stopped_step : outcome->steps;
    sim_world_drop(world);
    return step;
}

static void
trace_steps(struct sim_world *world, const struct sim_case *what, const struct sim_outcome *outcome,
        struct sim_analysis *analysis)
{
    uint64_t end = outcome->fail_step;
    analysis->tracing = true;
    if (sim_outcome_is_stall(outcome)) {
        trace_waiters(world, what, outcome, analysis);
        return;
    }
    switch ((enum sim_verdict)outcome->verdict) {
    case SIM_VERDICT_LOST_WAKEUP:
    case SIM_VERDICT_LATE_WAKEUP:
        walk_trace(world, what, UINT32_MAX, outcome->missing_wake_step, outcome->missing_wake_step,
                analysis);
        end = last_step_of(world, what, outcome);
        walk_trace(world, what, outcome->actor, end, end, analysis);
        return;
    case SIM_VERDICT_DEADLOCK:
        return;
    case SIM_VERDICT_LIVELOCK:
    case SIM_VERDICT_STARVATION:
    case SIM_VERDICT_STEP_LIMIT:
    case SIM_VERDICT_TIME_LIMIT:
        walk_trace(world, what, UINT32_MAX, end > CIRCLE_STEPS ? end - CIRCLE_STEPS : 1, end,
                analysis);
        return;
    case SIM_VERDICT_LEAK:
        end = last_step_of(world, what, outcome);
        walk_trace(world, what, outcome->actor, end, end, analysis);
        return;
    case SIM_VERDICT_CONTRACT:
    case SIM_VERDICT_INVARIANT:
    case SIM_VERDICT_OVER_BUDGET:
        walk_trace(world, what, outcome->actor, end, end, analysis);
        return;
    case SIM_VERDICT_PASS:
    case SIM_VERDICT_CRASH:
    case SIM_VERDICT_HANG:
    case SIM_VERDICT_DIVERGED:
    case SIM_VERDICTS:
        return;
    }
}

/* The step in which the blocked task fell blocked, before the failure. */
static uint64_t
blocked_step_of(
        struct sim_world *world, const struct sim_case *what, const struct sim_outcome *outcome)
{
    (void)run_to(world, what, outcome->fail_step);
    const struct sim_actor *actor = sim_world_actor(world, outcome->actor);
    uint64_t step = actor != NULL ? actor->stopped_step : 0;
    sim_world_drop(world);
    return step;
}

/* ---- The door. ------------------------------------------------------------------------------- */

static void
analyze_missing_wake(struct sim_world *world, const struct sim_case *what,
        const struct sim_outcome *outcome, struct sim_analysis *analysis)
{
    if (!analysis->words_known) {
        find_words(world, what, outcome->missing_wake_step, analysis);
        analysis->words_known = true;
    }
    try_words(world, what, outcome, analysis);
    if (!analysis->walked) {
        find_writers(world, what, outcome->missing_wake_step, analysis);
    }
    if (!analysis->arrivals.done &&
            outcome->missing_wake_step == blocked_step_of(world, what, outcome)) {
        sim_arrivals_find(world, what, outcome, outcome->missing_wake_step, &analysis->arrivals);
    }
}

void
sim_analysis_run(struct sim_world *world, const struct sim_case *what,
        const struct sim_outcome *outcome, void *argument)
{
    struct sim_analysis *analysis = argument;
    struct sim_aside kept;
    sim_keep(world, &kept);
    if (outcome->missing_wake_step != 0) {
        analyze_missing_wake(world, what, outcome, analysis);
    }
    if (!analysis->failing && falls_by_call(outcome)) {
        analyze_failure(world, what, analysis);
    }
    if (!analysis->tracing) {
        trace_steps(world, what, outcome, analysis);
    }
    sim_restore(world, &kept);
    analysis->done = true;
}

/* ---- A trace by itself. ---------------------------------------------------------------------- */

#define LONG_TRACE UINT64_C(25000)

struct sim_trace *
sim_trace_new(uint64_t from)
{
    struct sim_trace *trace = mmap(NULL, sizeof(struct sim_trace), PROT_READ | PROT_WRITE,
            MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (trace == MAP_FAILED) {
        return NULL;
    }
    trace->from = from;
    trace->actor = UINT32_MAX;
    return trace;
}

void
sim_trace_free(struct sim_trace **trace)
{
    if (*trace != NULL) {
        (void)munmap(*trace, sizeof(**trace));
        *trace = NULL;
    }
}

void
sim_trace_run(struct sim_world *world, const struct sim_case *what,
        const struct sim_outcome *outcome, void *argument)
{
    struct sim_trace *trace = argument;
    struct sim_aside kept;
    sim_keep(world, &kept);
    uint64_t from = trace->from > 1 ? trace->from : 1;
    trace->to = outcome->steps;
    if (run_to(world, what, from - 1) && sim_walk_begin(NULL, 0, &trace->path, LONG_TRACE)) {
        if (outcome->steps >= from) {
            (void)sim_world_continue(world, (struct sim_stop){outcome->steps, false});
        }
        sim_walk_end();
    }
    sim_world_drop(world);
    trace->done = true;
    sim_restore(world, &kept);
}
