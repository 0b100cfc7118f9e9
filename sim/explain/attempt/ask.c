/*
 * ask.c -- which word of memory turns a waker away.
 *
 * One word after the other, as somebody left it, is put back to what it was before, right before
 * the waker's step: with one of them that step wakes the loop. The questions are counted before
 * they are put, for a process may die of one.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "sim/explain/attempt/priv.h"

#include "sim/core/world.h"
#include "sim/judge/spurious_poll.h"

#define WALK_MOST UINT64_C(200000)
#define ASKED_MAX 200u
#define STEPS_MAX UINT64_C(100000)

static const struct sim_recording nothing = {false, false};

static bool
run_to(struct sim_world *world, const struct sim_case *what, uint64_t step)
{
    return sim_world_run_to(world, what->scenario, &what->options, what->seed, what->strategy,
            nothing, (struct sim_stop){step, false});
}

static const struct sim_actor *
actor_of(const struct sim_world *world, uint32_t id)
{
    for (uint32_t i = 1; i < world->actor_count; i++) {
        if (world->actors[i]->id == id) {
            return world->actors[i];
        }
    }
    return NULL;
}

/* Whether the waker's step wakes the loop when the word has these bits. */
static bool
is_woken_with(struct sim_world *world, const struct sim_case *what,
        const struct sim__attempt_shared *shared, const struct sim_change *change)
{
    uint64_t mask = sim_change_bytes(change);
    uint64_t word = 0;
    bool woken = false;
    if (run_to(world, what, shared->step - 1) &&
            change->offset + sizeof(word) <= world->arena.used) {
        sim_words_copy(world, change->offset, &word, 1);
        const struct sim_actor *loop = actor_of(world, shared->loop_id);
        if (loop != NULL && !loop->enabled && !loop->done) {
            sim_word_put(world, change->offset, (word & ~mask) | (change->before & mask));
            woken = !loop->enabled &&
                    sim_world_continue(world, (struct sim_stop){shared->step, false}) &&
                    world->stepping->id == shared->by_id && loop->enabled;
        }
    }
    sim_world_drop(world);
    return woken;
}

static void
walk(struct sim_world *world, const struct sim_case *what, const struct sim_change *change,
        struct sim_walk_stop *ret)
{
    if (run_to(world, what, change->step - 1) &&
            change->offset + sizeof(uint64_t) <= world->arena.used) {
        struct sim_watch watch = {
                .word = (const volatile uint64_t *)(const void *)(world->arena.base +
                                                                  change->offset),
                .mask = sim_change_bytes(change),
                .writer = ret};
        if (sim_walk_begin(&watch, 1, NULL, WALK_MOST)) {
            (void)sim_world_continue(world, (struct sim_stop){change->step, false});
            sim_walk_end();
        }
    }
    sim_world_drop(world);
}

/* The bits that the flag has in the way, after `change`. */
static bool
is_set(const struct sim_change *change, const struct sim_change *flag)
{
    uint64_t mask = sim_change_bytes(flag);
    return change->offset == flag->offset && (sim_change_bytes(change) & mask) != 0 &&
           (change->after & mask) == (flag->before & mask);
}

/* The last time before the loop is woken there that somebody takes the flag back. */
static void
find_clear(const struct sim__attempt_shared *shared, struct sim__attempt_flag *flag)
{
    for (uint32_t i = shared->there.count; i-- > 0 && flag->clear.step == 0;) {
        const struct sim_change *change = &shared->there.all[i];
        if (change->step < shared->there_step && is_set(change, &flag->change)) {
            flag->clear = *change;
        }
    }
}

void
sim__attempt_ask(struct sim_world *world, const struct sim_case *what,
        const struct sim_outcome *outcome, void *argument)
{
    struct sim__attempt_shared *shared = argument;
    struct sim_aside kept;
    if (!shared->listed) {
        sim_changes_run(world, what, outcome, &shared->here);
        shared->listed = true;
    }
    sim_keep(world, &kept);
    uint64_t most = STEPS_MAX / (shared->step + 1);
    uint32_t number = 0;
    for (uint32_t i = shared->here.count; i-- > 0 && shared->count < SIM__ATTEMPT_FLAGS;) {
        const struct sim_change *change = &shared->here.all[i];
        if (change->step >= shared->step || ++number <= shared->asked) {
            continue;
        }
        if (shared->asked >= ASKED_MAX || shared->asked >= most || !sim_world_may_replay(world)) {
            break;
        }
        shared->asked++;
        if (is_woken_with(world, what, shared, change)) {
            shared->flags[shared->count++].change = *change;
        }
    }
    for (uint32_t i = 0; i < shared->count; i++) {
        walk(world, what, &shared->flags[i].change, &shared->flags[i].writer);
        find_clear(shared, &shared->flags[i]);
    }
    sim_restore(world, &kept);
    shared->done = true;
}

void
sim__attempt_walk_there(struct sim_world *world, const struct sim_case *what,
        const struct sim_outcome *outcome, void *argument)
{
    struct sim__attempt_shared *shared = argument;
    struct sim_aside kept;
    (void)outcome;
    sim_keep(world, &kept);
    for (uint32_t i = 0; i < shared->count; i++) {
        if (shared->flags[i].clear.step != 0) {
            walk(world, what, &shared->flags[i].clear, &shared->flags[i].clear_writer);
        }
    }
    sim_restore(world, &kept);
}
