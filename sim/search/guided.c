/*
 * guided.c -- `guided`: mutants of runs that covered something new.
 *
 * After Meng et al.'s and Fest's idea (schedule fuzzing by feedback; NSDI 2026), with AFL's loop: a
 * corpus of tapes of runs that were the first to cover something (a wake-cause pair, a timer
 * order, a partial order; sim/search/cover/), and mutants of these. A run takes one of the tapes,
 * follows it leniently, and
 *   - answers some of the choices at random instead, `flips` of them on average;
 *   - in every second run leaves the tape at some point, and is random from there;
 *   - in every fourth run switches to another tape there (a splice).
 *
 * Every second run, once there are any, follows no tape but a set of constraints (rf.h) of such a
 * run, with one change: one constraint more, one less, another writing line, or its negation, as in
 * RFF (Wolff et al., ASPLOS 2024).
 *
 * What is mutated is the list of deviations from the baseline run, keyed by stream and ordinal, so
 * a mutation in one actor does not shift the choices of the others. A parent that covered more is
 * likelier to be taken. While there is no corpus the run is random.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <string.h>

#include "sim/core/decide/strategies.h"
#include "sim/search/rf.h"
#include "sim/search/strategy.h"

#define DEVIATIONS_MAX 2048u
/* The stream of this strategy's draws: no actor's. */
#define PRIVATE_STREAM 0x67756964u

struct parent {
    struct sim_tape tape;
    struct sim_replay replay;
    struct sim_deviation entries[DEVIATIONS_MAX];
    uint32_t sorted[DEVIATIONS_MAX];
};

#define LINE 64u

struct guided {
    struct sim_strategy strategy;
    struct sim_search its_search; /* Of `rf`. */
    struct sim_strategy *rf;
    bool constrained; /* This run keeps constraints, and follows no tape. */
    const struct sim_learned *learned;
    uint64_t flips;
    uint64_t key;   /* Of this run's draws, … */
    uint32_t drawn; /* … so many of them. */
    bool has_parent;
    bool random_tail; /* After the cut: random; else the second parent. */
    uint32_t asked;
    uint32_t cut;
    uint32_t length; /* Deviations of the parent. */
    struct parent first;
    struct parent second;
    _Alignas(LINE) uint8_t memory[]; /* Of `rf`. */
};

/* A number below `n`. */
static uint32_t
draw(struct guided *guided, uint32_t n)
{
    uint64_t bits = sim_stream_draw(guided->key, guided->drawn++);
    return (uint32_t)((bits >> 32) * n >> 32);
}

/* ---- Parents. -------------------------------------------------------------------------------- */

/* Two are drawn, and the one that covered more is taken; so each of them is taken at times. */
static const struct sim_corpus_tape *
pick(struct guided *guided)
{
    const struct sim_corpus *corpus = &guided->learned->corpus;
    const struct sim_corpus_tape *a = &corpus->tapes[draw(guided, corpus->count)];
    const struct sim_corpus_tape *b = &corpus->tapes[draw(guided, corpus->count)];
    return a->added >= b->added ? a : b;
}

/* False: it has more than DEVIATIONS_MAX deviations. */
static bool
take_parent(struct guided *guided, struct parent *parent, uint64_t seed)
{
    const struct sim_corpus_tape *tape = pick(guided);
    parent->tape = (struct sim_tape){parent->entries, 0, DEVIATIONS_MAX};
    if (sim_tape_decode(&parent->tape, tape->bytes, tape->length) != RT_OK) {
        return false;
    }
    sim_replay_init(&parent->replay, &parent->tape, true, parent->sorted);
    (void)sim_strategy_begin(&parent->replay.strategy, seed);
    return true;
}

/* ---- Constraints. ---------------------------------------------------------------------------- */

/* In every fourth of these runs, and while there are none, it draws new ones. */
static struct sim_strategy *
begin_constrained(struct guided *guided, uint64_t seed)
{
    const struct sim_corpus *corpus = &guided->learned->corpus;
    if (corpus->set_count == 0 || draw(guided, 4) == 0) {
        return sim_strategy_begin(guided->rf, seed);
    }
    const struct sim_corpus_set *a = &corpus->sets[draw(guided, corpus->set_count)];
    const struct sim_corpus_set *b = &corpus->sets[draw(guided, corpus->set_count)];
    sim_rf_begin_with(guided->rf, seed, a->added >= b->added ? a : b);
    return guided->rf;
}

static void
guided_note(const struct sim_strategy *strategy, struct sim_facts *facts, uint64_t run)
{
    const struct guided *guided = (const void *)strategy;
    if (guided->constrained) {
        sim_rf_note(guided->rf, facts, run);
    }
}

/* ---- A run. ---------------------------------------------------------------------------------- */

static void
begin_tape(struct guided *guided, uint64_t seed)
{
    guided->has_parent = guided->learned != NULL && guided->learned->corpus.count > 0 &&
                         take_parent(guided, &guided->first, seed);
    if (!guided->has_parent) {
        return;
    }
    guided->length = guided->first.tape.count;
    uint32_t change = draw(guided, 4);
    if (change < 2) {
        guided->random_tail = true;
        guided->cut = draw(guided, 2 * guided->length + 2);
    } else if (change == 2 && take_parent(guided, &guided->second, seed)) {
        guided->random_tail = false;
        guided->cut = draw(guided, 2 * guided->length + 2);
    }
}

static struct sim_strategy *
guided_delegate(struct sim_strategy *strategy, uint64_t seed)
{
    struct guided *guided = (void *)strategy;
    guided->key = sim_stream_key(seed, PRIVATE_STREAM);
    guided->drawn = 0;
    guided->asked = 0;
    guided->cut = UINT32_MAX;
    guided->has_parent = false;
    guided->constrained =
            guided->learned != NULL && guided->learned->corpus.count > 0 && draw(guided, 2) == 0;
    if (guided->constrained) {
        return begin_constrained(guided, seed);
    }
    begin_tape(guided, seed);
    return strategy;
}

/* ---- Choices. -------------------------------------------------------------------------------- */

static uint32_t
guided_choose(struct sim_strategy *strategy, const struct sim_choice *choice)
{
    struct guided *guided = (void *)strategy;
    if (!guided->has_parent) {
        return sim_choose_at_random(choice);
    }
    bool after_cut = guided->asked++ >= guided->cut;
    if (after_cut && guided->random_tail) {
        return sim_choose_at_random(choice);
    }
    /* About one choice in two is a deviation where the tape is a random run's. */
    if (draw(guided, 2 * guided->length + 1) < guided->flips) {
        return draw(guided, choice->n);
    }
    struct sim_strategy *parent =
            after_cut ? &guided->second.replay.strategy : &guided->first.replay.strategy;
    return parent->ops->choose(parent, choice);
}

static size_t
guided_size(void)
{
    return sizeof(struct guided) + sim_strategy_size(sim_strategy_find("rf"));
}

static void
guided_init(void *memory, const struct sim_strategy_setting *setting)
{
    struct guided *guided = memory;
    struct sim_strategy_setting its = *setting;
    guided->learned = setting->learned;
    guided->flips = sim_search_param(setting->search, "flips");
    its.search = &guided->its_search;
    sim_search_init(&guided->its_search, sim_strategy_find("rf"));
    guided->rf = sim_strategy_make(guided->memory, &its);
}

const struct sim_strategy_kind sim_strategy_guided = {
        .name = "guided",
        .about = "varies runs that were the first to cover something",
        .params = {{"flips", "choices answered again in a run, on average", 3, 0, 1000}},
        .adaptive = true,
        .measure = guided_size,
        .ops = {.delegate = guided_delegate, .choose = guided_choose},
        .init = guided_init,
        .note = guided_note,
};
