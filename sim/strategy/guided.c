/*
 * guided.c -- `guided`: a run that showed something new, once more and a little different.
 *
 * After Meng et al.'s and Fest's idea (schedule fuzzing by feedback; NSDI 2026), with AFL's loop: a
 * corpus of tapes of runs that were the first to cover something (a wake-cause pair, a timer
 * order, a partial order; sim/cover/), and mutants of these. A run takes one of the tapes, follows
 * it leniently, and
 *   - answers some of the choices at random instead, `flips` of them on average;
 *   - in every second run leaves the tape for good at some point, and is random from there;
 *   - in every fourth run goes over to another tape there (a splice).
 *
 * Deviations from the source: what is mutated is the list of deviations from the dullest run,
 * keyed by stream and ordinal, and no stream of numbers, so a mutation in one actor does not shift
 * the choices of the others. Parents are taken with odds that grow with what they have shown. While
 * there is no corpus the run is random. Constraint sets are the business of `rf`, whose runs enter
 * the corpus by their tapes.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <string.h>

#include "runtime/base/assert.h"
#include "sim/decide/strategies.h"
#include "sim/strategy/kinds.h"

#define DEVIATIONS_MAX 2048u
/* The stream of this strategy's own draws: no actor's. */
#define PRIVATE_STREAM 0x67756964u

struct parent {
    struct sim_tape tape;
    struct sim_replay replay;
    struct sim_deviation entries[DEVIATIONS_MAX];
    uint32_t sorted[DEVIATIONS_MAX];
};

struct guided {
    struct sim_strategy strategy;
    const struct sim_lore *lore;
    uint64_t flips;
    uint64_t key;   /* Of this run's own draws, … */
    uint32_t drawn; /* … so many of them. */
    bool has_parent;
    bool random_tail; /* Behind the cut: random; else the second parent. */
    uint32_t asked;
    uint32_t cut;
    uint32_t length; /* Deviations of the parent: about as many choices matter. */
    struct parent first;
    struct parent second;
};

static struct guided *
guided_of(struct sim_strategy *strategy)
{
    return (struct guided *)(void *)strategy;
}

/* A number below `n` of this strategy's own. */
static uint32_t
draw(struct guided *guided, uint32_t n)
{
    uint64_t bits = sim_stream_draw(guided->key, guided->drawn++);
    return (uint32_t)((bits >> 32) * n >> 32);
}

/* ---- Parents. -------------------------------------------------------------------------------- */

/* Two are drawn, and the one that has shown more is taken: odds grow with what was shown, and the
 * last of the list still has its turn. */
static const struct sim_corpus_tape *
pick(struct guided *guided)
{
    const struct sim_corpus *corpus = &guided->lore->corpus;
    const struct sim_corpus_tape *a = &corpus->tapes[draw(guided, corpus->count)];
    const struct sim_corpus_tape *b = &corpus->tapes[draw(guided, corpus->count)];
    return a->fresh >= b->fresh ? a : b;
}

/* False: it is longer than there is room for. */
static bool
take_parent(struct guided *guided, struct parent *parent, uint64_t seed)
{
    const struct sim_corpus_tape *tape = pick(guided);
    parent->tape = (struct sim_tape){parent->entries, 0, DEVIATIONS_MAX};
    if (sim_tape_decode(&parent->tape, tape->bytes, tape->length) != RT_OK) {
        return false;
    }
    sim_replay_init(&parent->replay, &parent->tape, true, parent->sorted);
    parent->replay.strategy.ops->begin(&parent->replay.strategy, seed);
    return true;
}

static void
guided_begin(struct sim_strategy *strategy, uint64_t seed)
{
    struct guided *guided = guided_of(strategy);
    guided->key = sim_stream_key(seed, PRIVATE_STREAM);
    guided->drawn = 0;
    guided->asked = 0;
    guided->cut = UINT32_MAX;
    guided->has_parent = guided->lore != NULL && guided->lore->corpus.count > 0 &&
                         take_parent(guided, &guided->first, seed);
    if (!guided->has_parent) {
        return;
    }
    guided->length = guided->first.tape.count;
    uint32_t way = draw(guided, 4);
    if (way < 2) {
        guided->random_tail = true;
        guided->cut = draw(guided, 2 * guided->length + 2);
    } else if (way == 2 && take_parent(guided, &guided->second, seed)) {
        guided->random_tail = false;
        guided->cut = draw(guided, 2 * guided->length + 2);
    }
}

/* ---- Choices. -------------------------------------------------------------------------------- */

static uint32_t
guided_choose(struct sim_strategy *strategy, const struct sim_choice *choice)
{
    struct guided *guided = guided_of(strategy);
    if (!guided->has_parent) {
        return sim_choose_at_random(choice);
    }
    bool behind = guided->asked++ >= guided->cut;
    if (behind && guided->random_tail) {
        return sim_choose_at_random(choice);
    }
    /* About one choice in two is a deviation where the tape is a random run's. */
    if (draw(guided, 2 * guided->length + 1) < guided->flips) {
        return draw(guided, choice->n);
    }
    struct sim_strategy *parent =
            behind ? &guided->second.replay.strategy : &guided->first.replay.strategy;
    return parent->ops->choose(parent, choice);
}

static const struct sim_strategy_ops guided_ops = {
        .name = "guided",
        .about = "varies runs that showed something new",
        .repeats = true,
        .begin = guided_begin,
        .choose = guided_choose,
};

static struct sim_strategy *
guided_init(void *memory, const struct sim_strategy_setting *setting)
{
    struct guided *guided = memory;
    guided->strategy.ops = &guided_ops;
    guided->lore = setting->lore;
    guided->flips = sim_search_param(setting->search, "flips");
    return &guided->strategy;
}

const struct sim_strategy_kind sim_strategy_guided = {
        .name = "guided",
        .about = "varies runs that were the first to show something",
        .source = "Fest (NSDI 2026); AFL's corpus loop",
        .params = {{"flips", "choices answered anew in a run, on average", 3, 0, 1000}},
        .adaptive = true,
        .size = sizeof(struct guided),
        .init = guided_init,
};
