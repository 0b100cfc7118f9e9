/*
 * experiment.c -- replays that are stopped, changed, and compared.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "sim/explain/look/experiment.h"

#include <string.h>
#include <sys/mman.h>

#include "runtime/base/assert.h"
#include "sim/base/heap.h"

/* Instructions of a step that is walked: 2 s at the most. */
#define WALK_MOST UINT64_C(200000)
#define STACK_NEAR (UINT64_C(1) << 20)

#define ALONE_STEPS 1000u

/* ---- In the parent. -------------------------------------------------------------------------- */

/* Before the results, so that they can be freed by their address alone. */
struct head {
    _Alignas(64) size_t size;
};

void *
sim_results_new(size_t size)
{
    rt_assert(size > 0);
    size += sizeof(struct head);
    struct head *head = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (head == MAP_FAILED) {
        sim_no_memory();
    }
    head->size = size;
    return head + 1;
}

void
sim_results_free(void *pointer)
{
    struct head *head;
    rt_assert(pointer != NULL);
    memcpy(&head, pointer, sizeof(head));
    if (head != NULL) {
        head--;
        rt_assert(head->size > sizeof(*head));
        (void)munmap(head, head->size);
        head = NULL;
        memcpy(pointer, &head, sizeof(head));
    }
}

static void
run_in(const struct sim_runs *runs, struct sim_single *worker, const struct sim_tape *tape,
        sim_analyze_fn *analyze, void *results)
{
    rt_assert(runs->options != NULL);
    const struct sim_run_spec spec = {
            .scenario = runs->scenario,
            .options = *runs->options,
            .seed = runs->seed,
            .how = SIM_HOW_LENIENT,
            .tape = tape,
            .analyze = analyze,
            .analysis = results,
    };
    worker->budget = runs->budget;
    (void)sim_single_run(worker, &spec);
}

void
sim_runs_analyze(const struct sim_runs *runs, struct sim_single *worker,
        const struct sim_tape *tape, sim_analyze_fn *analyze, void *results)
{
    struct sim_single own;
    rt_assert(tape != NULL);
    rt_assert(results != NULL);
    if (worker != NULL) {
        run_in(runs, worker, tape, analyze, results);
    } else if (sim_budget_left(runs->budget)) {
        sim_single_init(&own, NULL, &sim_shared_for_candidates, runs->hang_ms);
        run_in(runs, &own, tape, analyze, results);
        sim_single_fini(&own);
    }
}

/* ---- Words. ---------------------------------------------------------------------------------- */

void
sim_word_undo(struct sim_world *world, const struct sim_change *change)
{
    uint64_t word = sim_word_at(world, change->offset);
    sim_word_put(world, change->offset, sim_change_undone(change, word));
}

uint64_t
sim_change_bytes(const struct sim_change *change)
{
    rt_assert(change != NULL);
    uint64_t differ = change->before ^ change->after;
    uint64_t mask = 0;
    for (uint32_t i = 0; i < 64; i += 8) {
        uint64_t byte = UINT64_C(0xff) << i;
        mask |= (differ & byte) != 0 ? byte : 0;
    }
    return mask;
}

uint64_t
sim_change_undone(const struct sim_change *change, uint64_t word)
{
    rt_assert(change->offset % sizeof(uint64_t) == 0);
    uint64_t mask = sim_change_bytes(change);
    return (word & ~mask) | (change->before & mask);
}

struct sim_change
sim_change_reversed(const struct sim_change *change)
{
    struct sim_change reversed = *change;
    reversed.before = change->after;
    reversed.after = change->before;
    return reversed;
}

/* ---- Replays. -------------------------------------------------------------------------------- */

void
sim_experiment_begin(struct sim_experiment *experiment, struct sim_world *world,
        const struct sim_case *what, const struct sim_outcome *outcome)
{
    rt_assert(what->strategy != NULL);
    rt_assert(outcome != NULL);
    *experiment = (struct sim_experiment){
            .world = world, .what = what, .outcome = outcome, .tries_max = UINT32_MAX};
    sim_keep(world, &experiment->kept);
}

static void
forget(struct sim_experiment *experiment)
{
    rt_assert(experiment->words == NULL || experiment->word_capacity > 0);
    if (experiment->words != NULL) {
        (void)munmap(experiment->words, experiment->word_capacity * sizeof(*experiment->words));
        experiment->words = NULL;
    }
}

void
sim_experiment_end(struct sim_experiment *experiment)
{
    rt_assert(experiment->world != NULL);
    forget(experiment);
    sim_restore(experiment->world, &experiment->kept);
}

bool
sim_experiment_at(const struct sim_experiment *experiment, uint64_t step)
{
    rt_assert(experiment->what != NULL);
    return sim_judge_replay(experiment->world, experiment->what, (struct sim_stop){step, false});
}

struct sim_stop
sim_experiment_end_stop(const struct sim_experiment *experiment)
{
    return (struct sim_stop){experiment->outcome->fail_step, true};
}

bool
sim_experiment_at_end(const struct sim_experiment *experiment)
{
    return sim_judge_replay(
            experiment->world, experiment->what, sim_experiment_end_stop(experiment));
}

bool
sim_experiment_undo(const struct sim_experiment *experiment, uint64_t step,
        const struct sim_change *change, struct sim_stop to)
{
    struct sim_world *world = experiment->world;
    rt_assert(to.step >= step);
    if (!sim_experiment_at(experiment, step) || !sim_word_is_in(world, change->offset)) {
        return false;
    }
    sim_word_undo(world, change);
    return sim_world_continue(world, to);
}

bool
sim_experiment_next(struct sim_experiment *experiment, uint64_t steps)
{
    struct sim_tries *tries = experiment->tries;
    rt_assert(tries != NULL);
    if (tries->begun >= experiment->tries_max ||
            (experiment->steps_max != 0 && tries->steps > experiment->steps_max) ||
            ++experiment->numbered <= tries->begun || !sim_world_may_replay(experiment->world)) {
        return false;
    }
    tries->begun++;
    tries->steps += steps;
    return true;
}

enum sim_reaction
sim_experiment_ask(const struct sim_experiment *experiment, const struct sim_question *question)
{
    rt_assert(question->actor > 0);
    struct sim_answer answer;
    sim_spurious_poll(experiment->world, experiment->what, question, &answer);
    return !answer.asked || answer.failed ? SIM_REACTION_NONE
           : answer.moved                 ? SIM_REACTION_PROGRESS
                                          : SIM_REACTION_BLOCKED;
}

struct asked {
    uint32_t actor;
    uint64_t step;
    enum sim_reaction reaction;
};

static void
ask_alone(struct sim_world *world, const struct sim_case *what, const struct sim_outcome *outcome,
        void *argument)
{
    struct asked *asked = argument;
    struct sim_experiment experiment;
    const struct sim_question question = {.stop = {asked->step, false},
            .actor = asked->actor,
            .stage = SIM_ORACLE_STAGE_POLL,
            .alone = true,
            .settling = {.steps = ALONE_STEPS, .free_steps = true}};
    sim_experiment_begin(&experiment, world, what, outcome);
    asked->reaction = sim_experiment_ask(&experiment, &question);
    sim_experiment_end(&experiment);
}

enum sim_reaction
sim_runs_ask(const struct sim_runs *runs, uint32_t actor, uint64_t step)
{
    struct asked *asked = sim_results_new(sizeof(*asked));
    *asked = (struct asked){.actor = actor, .step = step, .reaction = SIM_REACTION_NONE};
    sim_runs_analyze(runs, NULL, runs->failing, ask_alone, asked);
    enum sim_reaction reaction = asked->reaction;
    sim_results_free(&asked);
    return reaction;
}

/* ---- The arena then and now. ----------------------------------------------------------------- */

/* Not from the heap, which may be the run's. */
static bool
reserve(struct sim_experiment *experiment, size_t count)
{
    rt_assert(experiment->words == NULL || experiment->word_capacity > 0);
    if (experiment->words != NULL && experiment->word_capacity >= count) {
        return true;
    }
    forget(experiment);
    size_t capacity = 2 * count + 8192;
    void *memory = mmap(NULL, capacity * sizeof(*experiment->words), PROT_READ | PROT_WRITE,
            MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED) {
        return false;
    }
    experiment->words = memory;
    experiment->word_capacity = capacity;
    return true;
}

bool
sim_experiment_remember(struct sim_experiment *experiment)
{
    const struct sim_world *world = experiment->world;
    size_t count = world->arena.used / sizeof(*experiment->words);
    if (!reserve(experiment, count)) {
        return false;
    }
    experiment->word_count = count;
    sim_words_copy(world, 0, experiment->words, count);
    return true;
}

static bool
is_of_stack(uint64_t value)
{
    const char here = 0;
    uint64_t distance = value - (uint64_t)(uintptr_t)&here;
    return distance + STACK_NEAR < 2 * STACK_NEAR;
}

bool
sim_experiment_is_same(const struct sim_experiment *experiment, const struct sim_change *change)
{
    const struct sim_world *world = experiment->world;
    rt_assert(experiment->words != NULL);
    bool same = world->arena.used / sizeof(uint64_t) == experiment->word_count;
    for (size_t i = 0; i < experiment->word_count && same; i++) {
        uint64_t now = sim_word_at(world, i * sizeof(now));
        uint64_t then = experiment->words[i];
        if (change != NULL && change->offset == i * sizeof(now)) {
            then = sim_change_undone(change, then);
        }
        same = now == then || (is_of_stack(now) && is_of_stack(then));
    }
    return same;
}

/* ---- Writers. -------------------------------------------------------------------------------- */

struct sim_watch
sim_word_watch(const struct sim_world *world, size_t offset, struct sim_walk_stop *writer)
{
    rt_assert(sim_word_is_in(world, offset));
    return (struct sim_watch){.word = sim_word_address(world, offset), .writer = writer};
}

void
sim_experiment_find_writer(const struct sim_experiment *experiment, const struct sim_change *change,
        uint64_t step, bool first, struct sim_walk_stop *ret)
{
    rt_assert(ret != NULL);
    struct sim_world *world = experiment->world;
    rt_assert(step > 0);
    if (sim_experiment_at(experiment, step - 1) && sim_word_is_in(world, change->offset)) {
        struct sim_watch watch = sim_word_watch(world, change->offset, ret);
        watch.mask = sim_change_bytes(change);
        watch.first = first;
        if (step == change->step) {
            sim_word_undo(world, change);
        }
        if (sim_walk_begin(&watch, 1, NULL, WALK_MOST)) {
            (void)sim_world_continue(world, (struct sim_stop){step, false});
            sim_walk_end();
        }
    }
    sim_world_drop(world);
}
