/*
 * arrivals.c -- putting words back, and taking the blocked task's steps once more.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "sim/explain/look/arrivals.h"

#include <sys/mman.h>

#include "runtime/base/assert.h"
#include "sim/judge/spurious_poll.h"

/* Instructions of a step that is walked. */
#define WALK_MOST UINT64_C(200000)

#define ASKED_MAX 120u
#define AGAIN_MAX 40u /* Steps before it fell asleep that may have written the same again. */
#define LOOKS_MAX 12u /* Of the blocked task's own steps, the last ones. */
#define STACK_NEAR (UINT64_C(1) << 20)

struct search {
    struct sim_world *world;
    const struct sim_case *what;
    const struct sim_outcome *outcome;
    struct sim_arrivals *arrivals;
    struct sim_changes *changes;
    uint64_t blocked_step;
    uint32_t waiter; /* Its stable id. */
    uint32_t numbered;
    uint64_t *copy; /* Capacity for an arena. */
    size_t words;
};

static bool
run_to(const struct search *search, uint64_t step)
{
    const struct sim_case *what = search->what;
    const struct sim_recording nothing = {false, false};
    return sim_world_run_to(search->world, what->scenario, &what->options, what->seed,
            what->strategy, nothing, (struct sim_stop){step, false});
}

/* The arena as it is when the blocked task has fallen asleep. */
static bool
look_at_the_end(struct search *search)
{
    search->copy = MAP_FAILED;
    if (run_to(search, search->blocked_step)) {
        const struct sim_actor *actor = sim_world_actor(search->world, search->outcome->actor);
        search->waiter = actor != NULL ? actor->id : 0;
        search->words = search->world->arena.used / sizeof(uint64_t);
        search->copy = mmap(NULL, search->world->arena.used + 1, PROT_READ | PROT_WRITE,
                MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        if (search->copy != MAP_FAILED) {
            sim_words_copy(search->world, 0, search->copy, search->words);
        }
    }
    sim_world_drop(search->world);
    return search->copy != MAP_FAILED && search->waiter != 0;
}

/* ---- Which words. ---------------------------------------------------------------------------- */

/* A word with those bytes of the change as they were before it. */
static uint64_t
undone(const struct sim_change *change, uint64_t now)
{
    uint64_t mask = sim_change_bytes(change);
    return (now & ~mask) | (change->before & mask);
}

/* Asks the blocked task with the bytes of that change as they were `after` it, or before. */
static bool
ask(struct search *search, const struct sim_change *change, bool after, struct sim_answer *ret)
{
    const struct sim_change back = {.before = change->after, .after = change->before};
    uint64_t now = search->copy[change->offset / sizeof(uint64_t)];
    const struct sim_patch patch = {change->offset, undone(after ? &back : change, now)};
    bool sources = !after && search->outcome->oracle == SIM_ORACLE_REWAKE_SOURCES;
    const struct sim_question question = {
            .stop = {search->blocked_step, false},
            .actor = search->outcome->actor,
            .stage = sources ? SIM_ORACLE_STAGE_SOURCES : SIM_ORACLE_STAGE_POLL,
            .patch = &patch,
    };
    if (++search->numbered <= search->arrivals->asked || search->arrivals->asked >= ASKED_MAX ||
            !sim_world_may_replay(search->world)) {
        return false;
    }
    search->arrivals->asked++;
    sim_spurious_poll(search->world, search->what, &question, ret);
    return ret->asked && !ret->failed;
}

/* Whether the blocked task itself changes the word next, as it falls asleep. */
static bool
is_wiped(const struct search *search, uint32_t index)
{
    const struct sim_changes *changes = search->changes;
    uint64_t bytes = sim_change_bytes(&changes->all[index]);
    uint32_t i = index + 1;
    while (i < changes->count && (changes->all[i].offset != changes->all[index].offset ||
                                         (sim_change_bytes(&changes->all[i]) & bytes) == 0)) {
        i++;
    }
    return i < changes->count && changes->all[i].step == search->blocked_step &&
           changes->all[i].actor_id == search->waiter &&
           search->outcome->oracle == SIM_ORACLE_REWAKE_SOURCES;
}

/* Whether `step`, of somebody else, writes the same where it finds the bytes as they were before:
 * what is there already is no change. */
static bool
writes_again(struct search *search, const struct sim_change *change, uint64_t step)
{
    struct sim_world *world = search->world;
    bool again = false;
    uint64_t word;
    if (run_to(search, step - 1)) {
        sim_words_copy(world, change->offset, &word, 1);
        sim_word_put(world, change->offset, undone(change, word));
        if (sim_world_continue(world, (struct sim_stop){step, false}) &&
                world->stepping->id != search->waiter) {
            sim_words_copy(world, change->offset, &word, 1);
            again = ((word ^ change->after) & sim_change_bytes(change)) == 0;
        }
    }
    sim_world_drop(world);
    return again;
}

/* The last step that wrote it, be it there already. */
static void
find_last_write(struct search *search, struct sim_change *change)
{
    for (uint64_t step = search->blocked_step - 1; step > change->step; step--) {
        if (step + AGAIN_MAX <= search->blocked_step || !sim_world_may_replay(search->world)) {
            return;
        }
        if (writes_again(search, change, step)) {
            change->step = step;
        }
    }
}

static void
find_words(struct search *search, bool wiped)
{
    struct sim_arrivals *arrivals = search->arrivals;
    for (uint32_t i = search->changes->count; i-- > 0 && arrivals->count < SIM_ARRIVED_WORDS;) {
        const struct sim_change *change = &search->changes->all[i];
        size_t at = change->offset / sizeof(uint64_t);
        if (change->step >= search->blocked_step || change->actor_id == search->waiter ||
                at >= search->words) {
            continue;
        }
        bool there = ((search->copy[at] ^ change->after) & sim_change_bytes(change)) == 0;
        struct sim_answer answer = {.asked = false};
        if ((wiped ? !there && is_wiped(search, i) : there) &&
                ask(search, change, wiped, &answer) && answer.moved == wiped) {
            arrivals->words[arrivals->count++] =
                    (struct sim_arrived_word){.change = *change, .wiped = wiped};
        }
    }
}

/* ---- Who wrote them, and who looked. --------------------------------------------------------- */

/* An address on the stack that a replay runs on: where that is depends on who replays. */
static bool
is_of_stack(uint64_t value)
{
    const char here = 0;
    uint64_t distance = value - (uint64_t)(uintptr_t)&here;
    return distance + STACK_NEAR < 2 * STACK_NEAR;
}

/* Whether step `step` does the same when it finds the word as it was before. */
static bool
is_blind(struct search *search, const struct sim_change *change, uint64_t step)
{
    struct sim_world *world = search->world;
    const struct sim_stop after = {step, false};
    bool same = false;
    if (run_to(search, step) && world->arena.used / sizeof(uint64_t) <= search->words) {
        size_t words = world->arena.used / sizeof(uint64_t);
        sim_words_copy(world, 0, search->copy, words);
        sim_world_drop(world);
        if (run_to(search, step - 1)) {
            uint64_t found;
            sim_words_copy(world, change->offset, &found, 1);
            sim_word_put(world, change->offset, undone(change, found));
            same = sim_world_continue(world, after) &&
                   world->arena.used / sizeof(uint64_t) == words;
        }
        for (size_t i = 0; i < words && same; i++) {
            uint64_t now;
            uint64_t other = search->copy[i];
            sim_words_copy(world, i * sizeof(now), &now, 1);
            other = i * sizeof(now) == change->offset ? undone(change, other) : other;
            same = now == other || (is_of_stack(now) && is_of_stack(other));
        }
    }
    sim_world_drop(world);
    return same;
}

/* The last steps of the blocked task after `step`, up to that in which it fell asleep. */
static uint32_t
own_steps(struct search *search, uint64_t step, uint64_t *ret)
{
    uint32_t count = 0;
    bool reached = run_to(search, step);
    while (reached && search->world->step < search->blocked_step) {
        uint64_t next = search->world->step + 1;
        reached = sim_world_continue(search->world, (struct sim_stop){next, false});
        if (search->world->stepping->id == search->waiter) {
            ret[count++ % LOOKS_MAX] = next;
        }
    }
    sim_world_drop(search->world);
    return count < LOOKS_MAX ? count : LOOKS_MAX;
}

static void
find_look(struct search *search, struct sim_arrived_word *word)
{
    uint64_t steps[LOOKS_MAX];
    uint32_t count = own_steps(search, word->change.step, steps);
    for (uint32_t i = 0; i < count; i++) {
        if (steps[i] > word->seen && sim_world_may_replay(search->world) &&
                !is_blind(search, &word->change, steps[i])) {
            word->seen = steps[i];
        }
    }
}

/* Who changes the word in `step`: of several the first, or the last. */
static void
walk(struct search *search, const struct sim_change *change, uint64_t step, bool first,
        struct sim_walk_stop *ret)
{
    struct sim_world *world = search->world;
    uint64_t word;
    if (run_to(search, step - 1) && change->offset + sizeof(word) <= world->arena.used) {
        struct sim_watch watch = {
                .word = (const volatile uint64_t *)(const void *)(world->arena.base +
                                                                  change->offset),
                .mask = sim_change_bytes(change),
                .first = first,
                .writer = ret};
        if (step == change->step) {
            /* What is written may be there already; so seen, it comes again. */
            sim_words_copy(world, change->offset, &word, 1);
            sim_word_put(world, change->offset, undone(change, word));
        }
        if (sim_walk_begin(&watch, 1, NULL, WALK_MOST)) {
            (void)sim_world_continue(world, (struct sim_stop){step, false});
            sim_walk_end();
        }
    }
    sim_world_drop(world);
}

void
sim_arrivals_find(struct sim_world *world, const struct sim_case *what,
        const struct sim_outcome *outcome, uint64_t blocked_step, struct sim_arrivals *arrivals)
{
    struct search search = {.world = world,
            .what = what,
            .outcome = outcome,
            .arrivals = arrivals,
            .blocked_step = blocked_step};
    rt_assert(blocked_step > 0);
    search.changes = sim_changes_new();
    if (search.changes == NULL) {
        return;
    }
    sim_changes_run(world, what, outcome, search.changes);
    if (look_at_the_end(&search)) {
        find_words(&search, true);
        find_words(&search, false);
        while (arrivals->located < arrivals->count) {
            struct sim_arrived_word *word = &arrivals->words[arrivals->located++];
            if (word->wiped) {
                find_last_write(&search, &word->change);
            }
            walk(&search, &word->change, word->change.step, false, &word->writer);
            if (word->wiped) {
                walk(&search, &word->change, blocked_step, true, &word->wiper);
            } else {
                find_look(&search, word);
            }
        }
        (void)munmap(search.copy, search.words * sizeof(uint64_t) + 1);
    }
    sim_changes_free(&search.changes);
    arrivals->done = true;
}
