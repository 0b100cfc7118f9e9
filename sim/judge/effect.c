/*
 * effect.c -- comparing memory before and after a question.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "sim/judge/effect.h"

#include <sys/mman.h>

#include "runtime/base/assert.h"
#include "sim/core/memory/word.h"

#define STEPS_ALONE 1000u

/* Stands for a gain, behind all words. */
#define GAIN UINT32_MAX

static void
find_changes(const uint64_t *before, const struct sim_world *world, size_t count, size_t left_out,
        struct sim_effect *ret)
{
    rt_assert(ret->count == 0);
    for (size_t i = 0; i < count && ret->count < SIM_EFFECT_WORDS; i++) {
        if (i != left_out && before[i] != sim_word_at(world, i * sizeof(*before))) {
            ret->words[ret->count++] = (uint32_t)i;
        }
    }
}

bool
sim_effect_of(
        struct sim_stand *stand, const struct sim_question *asked, struct sim_effect *ret_effect)
{
    rt_assert(asked->actor > 0);
    rt_assert(stand->what != NULL);
    struct sim_question question = *asked;
    struct sim_answer answer;
    *ret_effect = (struct sim_effect){.moved = false};
    if (!sim_stand_at(stand, question.stop)) {
        return false;
    }
    struct sim_world *world = stand->world;
    size_t count = world->arena.used / sizeof(uint64_t);
    uint64_t *copy = mmap(NULL, (count + 1) * sizeof(uint64_t), PROT_READ | PROT_WRITE,
            MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (copy == MAP_FAILED) {
        return false;
    }
    question.alone = true;
    question.clock_back = true;
    question.settling = (struct sim_settling){.steps = STEPS_ALONE, .free_steps = true};
    sim_hold_others(world, sim_world_actor(world, question.actor), question.stage);
    sim_words_copy(world, 0, copy, count);
    uint64_t news_step = world->news_step;
    world->takes_locks = true;
    sim_put(world, &question, &answer);
    world->takes_locks = false;
    if (answer.asked && !answer.failed) {
        size_t patched = question.patch != NULL ? question.patch->offset / sizeof(uint64_t) : count;
        find_changes(copy, world, count, patched, ret_effect);
        ret_effect->moved = answer.moved || answer.gained || world->news_step > news_step;
        if ((answer.gained || answer.freed) && ret_effect->count < SIM_EFFECT_WORDS) {
            ret_effect->words[ret_effect->count++] = GAIN;
        }
    }
    (void)munmap(copy, (count + 1) * sizeof(uint64_t));
    return answer.asked && !answer.failed;
}

bool
sim_effect_differs(
        struct sim_stand *stand, const struct sim_question *question, struct sim_effect *ret_before)
{
    rt_assert(question->actor > 0);
    rt_assert(ret_before != NULL);
    struct sim_question before = *question;
    struct sim_effect now;
    const struct sim_actor *actor = NULL;
    if (sim_stand_look(stand, question->stop)) {
        actor = sim_world_actor(stand->world, question->actor);
    }
    if (actor == NULL) {
        return false;
    }
    before.stop = (struct sim_stop){actor->stopped_step, false};
    return sim_effect_of(stand, question, &now) && sim_effect_of(stand, &before, ret_before) &&
           sim_effect_distance(&now, ret_before) > 0;
}

uint32_t
sim_effect_distance(const struct sim_effect *a, const struct sim_effect *b)
{
    rt_assert(a->count <= SIM_EFFECT_WORDS);
    rt_assert(b->count <= SIM_EFFECT_WORDS);
    uint32_t i = 0;
    uint32_t k = 0;
    uint32_t both = 0;
    while (i < a->count && k < b->count) {
        both += a->words[i] == b->words[k];
        uint32_t word = a->words[i] < b->words[k] ? a->words[i] : b->words[k];
        i += a->words[i] == word;
        k += b->words[k] == word;
    }
    return a->count + b->count - 2 * both;
}
