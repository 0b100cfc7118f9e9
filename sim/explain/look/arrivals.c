/*
 * arrivals.c -- putting words back, and taking the blocked task's steps once more.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "sim/explain/look/arrivals.h"

#include "runtime/base/assert.h"

#define TRIES_MAX 120u
#define AGAIN_MAX 40u /* Steps before it blocked that may have written the same again. */
#define LOOKS_MAX 12u /* Of the blocked task's own steps, the last ones. */

struct search {
    struct sim_experiment *experiment;
    struct sim_arrivals *arrivals;
    struct sim_changes *changes;
    uint64_t blocked_step;
    uint32_t waiter; /* Its stable id. */
};

/* Remembers the arena as it is when the task has blocked. */
static bool
find_end(struct search *search)
{
    rt_assert(search->blocked_step > 0);
    struct sim_experiment *experiment = search->experiment;
    bool remembered = false;
    if (sim_experiment_at(experiment, search->blocked_step)) {
        const struct sim_actor *actor =
                sim_world_actor(experiment->world, experiment->outcome->actor);
        search->waiter = actor != NULL ? actor->id : 0;
        remembered = sim_experiment_remember(experiment);
    }
    sim_world_drop(experiment->world);
    return remembered && search->waiter != 0;
}

/* ---- Which words. ---------------------------------------------------------------------------- */

/* Asks the blocked task with the bytes of that change as they were before it. */
static enum sim_reaction
ask_without(struct search *search, const struct sim_change *change, enum sim_oracle_stage stage)
{
    struct sim_experiment *experiment = search->experiment;
    size_t at = change->offset / sizeof(uint64_t);
    rt_assert(at < experiment->word_count);
    const struct sim_patch patch = {
            change->offset, sim_change_undone(change, experiment->words[at])};
    const struct sim_question question = {
            .stop = {search->blocked_step, false},
            .actor = experiment->outcome->actor,
            .stage = stage,
            .patch = &patch,
    };
    return sim_experiment_next(experiment, search->blocked_step)
                   ? sim_experiment_ask(experiment, &question)
                   : SIM_REACTION_NONE;
}

/* The blocked task itself changes the word next, as it blocks, and makes progress when the word is
 * again as the change left it. */
static bool
is_wiped(struct search *search, uint32_t index)
{
    rt_assert(index < search->changes->count);
    const struct sim_change back = sim_change_reversed(&search->changes->all[index]);
    const struct sim_change *next = sim_changes_next(search->changes, index);
    return next != NULL && next->step == search->blocked_step && next->actor_id == search->waiter &&
           search->experiment->outcome->oracle == SIM_ORACLE_REWAKE_SOURCES &&
           ask_without(search, &back, SIM_ORACLE_STAGE_POLL) == SIM_REACTION_PROGRESS;
}

/* Without the change the task would stay blocked. */
static bool
is_awaited(struct search *search, const struct sim_change *change)
{
    rt_assert(change->step < search->blocked_step);
    enum sim_oracle_stage stage = search->experiment->outcome->oracle == SIM_ORACLE_REWAKE_SOURCES
                                          ? SIM_ORACLE_STAGE_SOURCES
                                          : SIM_ORACLE_STAGE_POLL;
    return ask_without(search, change, stage) == SIM_REACTION_BLOCKED;
}

static void
find_words(struct search *search, bool wiped)
{
    rt_assert(search->arrivals->count <= SIM_ARRIVED_WORDS);
    const struct sim_experiment *experiment = search->experiment;
    struct sim_arrivals *arrivals = search->arrivals;
    for (uint32_t i = search->changes->count; i-- > 0 && arrivals->count < SIM_ARRIVED_WORDS;) {
        const struct sim_change *change = &search->changes->all[i];
        size_t at = change->offset / sizeof(uint64_t);
        if (change->step >= search->blocked_step || change->actor_id == search->waiter ||
                at >= experiment->word_count) {
            continue;
        }
        bool there = ((experiment->words[at] ^ change->after) & sim_change_bytes(change)) == 0;
        if (there != wiped && (wiped ? is_wiped(search, i) : is_awaited(search, change))) {
            arrivals->words[arrivals->count++] =
                    (struct sim_arrived_word){.change = *change, .wiped = wiped};
        }
    }
}

/* ---- Who wrote them, and who read them. ------------------------------------------------------ */

/* Whether `step`, of another actor, writes the same where it finds the bytes as they were before:
 * what is there already is no change. */
static bool
writes_again(const struct search *search, const struct sim_change *change, uint64_t step)
{
    rt_assert(step > 0);
    struct sim_world *world = search->experiment->world;
    bool again =
            sim_experiment_undo(
                    search->experiment, step - 1, change, (struct sim_stop){step, false}) &&
            world->stepping->id != search->waiter &&
            ((sim_word_at(world, change->offset) ^ change->after) & sim_change_bytes(change)) == 0;
    sim_world_drop(world);
    return again;
}

/* The last step that wrote it, even where it was there already. */
static void
find_last_write(const struct search *search, struct sim_change *change)
{
    rt_assert(change->step < search->blocked_step);
    for (uint64_t step = search->blocked_step - 1; step > change->step; step--) {
        if (step + AGAIN_MAX <= search->blocked_step ||
                !sim_world_may_replay(search->experiment->world)) {
            return;
        }
        if (writes_again(search, change, step)) {
            change->step = step;
        }
    }
}

/* Whether step `step` does the same when it finds the word as it was before. */
static bool
is_blind(const struct search *search, const struct sim_change *change, uint64_t step)
{
    rt_assert(step > 0);
    struct sim_experiment *experiment = search->experiment;
    bool same = sim_experiment_at(experiment, step) && sim_experiment_remember(experiment);
    sim_world_drop(experiment->world);
    same = same &&
           sim_experiment_undo(experiment, step - 1, change, (struct sim_stop){step, false}) &&
           sim_experiment_is_same(experiment, change);
    sim_world_drop(experiment->world);
    return same;
}

/* The last steps of the blocked task after `step`, up to that in which it blocked. */
static uint32_t
own_steps(const struct search *search, uint64_t step, uint64_t *ret)
{
    rt_assert(step < search->blocked_step);
    struct sim_world *world = search->experiment->world;
    uint32_t count = 0;
    bool reached = sim_experiment_at(search->experiment, step);
    while (reached && world->step < search->blocked_step) {
        uint64_t next = world->step + 1;
        reached = sim_world_continue(world, (struct sim_stop){next, false});
        if (world->stepping->id == search->waiter) {
            ret[count++ % LOOKS_MAX] = next;
        }
    }
    sim_world_drop(world);
    return count < LOOKS_MAX ? count : LOOKS_MAX;
}

static void
find_reader(const struct search *search, struct sim_arrived_word *word)
{
    rt_assert(!word->wiped);
    uint64_t steps[LOOKS_MAX];
    uint32_t count = own_steps(search, word->change.step, steps);
    for (uint32_t i = 0; i < count; i++) {
        if (steps[i] > word->seen && sim_world_may_replay(search->experiment->world) &&
                !is_blind(search, &word->change, steps[i])) {
            word->seen = steps[i];
        }
    }
}

static void
locate(const struct search *search, struct sim_arrived_word *word)
{
    const struct sim_experiment *experiment = search->experiment;
    rt_assert(word->change.step < search->blocked_step);
    if (word->wiped) {
        find_last_write(search, &word->change);
    }
    sim_experiment_find_writer(experiment, &word->change, word->change.step, false, &word->writer);
    if (word->wiped) {
        sim_experiment_find_writer(
                experiment, &word->change, search->blocked_step, true, &word->wiper);
    } else {
        find_reader(search, word);
    }
}

void
sim_arrivals_find(
        struct sim_experiment *experiment, uint64_t blocked_step, struct sim_arrivals *arrivals)
{
    rt_assert(blocked_step > 0);
    rt_assert(!arrivals->done);
    struct search search = {
            .experiment = experiment, .arrivals = arrivals, .blocked_step = blocked_step};
    experiment->tries = &arrivals->tries;
    experiment->tries_max = TRIES_MAX;
    search.changes = sim_results_new(sizeof(*search.changes));
    sim_changes_run(experiment->world, experiment->what, experiment->outcome, search.changes);
    if (find_end(&search)) {
        find_words(&search, true);
        find_words(&search, false);
        while (arrivals->located < arrivals->count) {
            locate(&search, &arrivals->words[arrivals->located++]);
        }
    }
    sim_results_free(&search.changes);
    arrivals->done = true;
}
