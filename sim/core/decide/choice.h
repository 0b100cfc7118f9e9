/*
 * choice.h -- one decision, and the strategy that makes it.
 *
 * Everything that is not determined goes through a choice: who runs, how long a
 * read takes, how many bytes it moves, whether a fault fires. A choice has n
 * alternatives, 1 to 64, and alternative 0 is always the *baseline*: first come
 * first served, no fault, no delay, full length. A run is therefore determined by
 * its deviations, the choices that were not answered 0 (tape.h).
 *
 * Streams. Choices are counted per stream: one stream for each actor and kind.
 * The ordinal counts every occasion, also those with one alternative only, which
 * are neither asked nor recorded; so an ordinal keeps its meaning when another
 * stream has more or fewer occasions.
 *
 * Strategies. A strategy affects a run by nothing but the indices that it returns.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* What is decided. The numbers are part of tapes: append only. */
#define SIM_KIND_LIST(X) \
    X(RUN, "run", "which actor takes the next step; 0: the one enabled longest") \
    X(SLOW, "slow-step", "how long a step takes beyond its cost; 0: no longer") \
    X(LATENCY, "latency", "how long the host takes; 0: the shortest time") \
    X(LATE, "late", "whether a host event comes late; 0: in time") \
    X(SUBSET, "subset", "which ready pollables a poll reports; 0: all") \
    X(ORDER, "order", "in which order they are reported; 0: ascending") \
    X(LENGTH, "length", "how many bytes are moved; 0: all") \
    X(SPURIOUS, "spurious", "whether a wake or a report is spurious; 0: no") \
    X(FAULT, "fault", "whether a fault fires; 0: no") \
    X(AUDIT, "audit", "whether this quiescence is audited; 0: no") \
    X(USER, "user", "the scenario's own; 0: what the scenario calls the baseline") \
    X(FREEDOM, "freedom", "which of several legal actions the runtime takes; 0: its usual one") \
    X(SWITCH, "switch", "whether a loop is preempted before a host call; 0: it continues")

enum sim_kind {
#define SIM_KIND_ENUM(name, text, meaning) SIM_KIND_##name,
    SIM_KIND_LIST(SIM_KIND_ENUM)
#undef SIM_KIND_ENUM
            SIM_KINDS
};

#define SIM_ALTERNATIVES_MAX 64u

/* Choices of one kind by one actor. Packed, as every actor has one for each kind, and they are most
 * of it. */
struct __attribute__((packed, aligned(4))) sim_stream {
    uint64_t key;     /* Of the seed and this stream; 0: not computed yet. */
    uint32_t ordinal; /* Of the next occasion. */
};

/* Integer odds that the answer is not 0: `num` in `den`. {0, 0}: all alternatives alike. */
struct sim_odds {
    uint16_t num;
    uint16_t den;
};

#define SIM_ODDS_EVEN ((struct sim_odds){0, 0})

/* Once in `one_in`, which is not 0; above UINT16_MAX, once in UINT16_MAX. */
static inline struct sim_odds
sim_odds_once_in(uint64_t one_in)
{
    struct sim_odds odds = {1, (uint16_t)(one_in < UINT16_MAX ? one_in : UINT16_MAX)};
    return odds;
}

struct sim_alternative {
    uint32_t id;    /* Stable across runs and builds; 0: it has none but its index. */
    uint32_t actor; /* In-run index of the actor that would step; UINT32_MAX: none. */
    char text[64];  /* For people. */
};

/*
 * The enabled actors at a choice RUN, the one enabled longest first. The alternatives of one choice
 * are a range of them, so that a strategy which orders actors sees all, also more than 64.
 */
struct sim_queue {
    const uint16_t *actors; /* In-run indices; valid during the question. NULL: none is shown. */
    uint32_t count;
    uint32_t base;   /* Index of alternative 0. */
    uint32_t stride; /* 1: alternative i is at base + i. SIM_ALTERNATIVES_MAX: alternative i is a
                      * block of this many from there on; the next choice picks one of them. */
};

struct sim_choice {
    enum sim_kind kind;
    uint32_t n; /* 2 .. 64 */
    struct sim_odds odds;
    uint32_t stream; /* Stable id of (actor, kind). */
    uint32_t ordinal;
    uint64_t key;                  /* The stream's key for this seed. */
    const struct sim_queue *queue; /* With kind RUN, else NULL; of a loop that shows none, empty. */
    /* Fills *ret for alternative `index`. NULL: the alternatives have no ids. A strategy that does
     * not ask pays nothing. */
    void (*describe)(const struct sim_choice *choice, uint32_t index, struct sim_alternative *ret);
    const void *context;
};

struct sim_event;
struct sim_outcome;
struct sim_strategy;

/* Of a strategy that walks a tree, so that the prefix that two runs have in common is run once
 * (sim/core/memory/checkpoint.h). */
struct sim_resumption {
    /* Set by `begin`: this many first answers of this run equal those of the run before. */
    uint64_t same;
    /* Set by the world after `begin`: the run resumes after this many answers, at most `same`,
     * which are not asked for again; 0: it begins. */
    uint64_t resumed;
    /* Set by the strategy at any time: the next choice may be answered otherwise by a later run. */
    bool wanted;
};

struct sim_strategy_ops {
    /* It answers the same whenever it begins with the same seed, in any process, and whether or not
     * the run is recorded: the seed alone reproduces the run. Others are replayed from the tape. */
    bool repeats;
    /* It draws nothing: the key of a choice is not computed, and 0. */
    bool keyless;
    /* A run with this seed is about to begin. */
    void (*begin)(struct sim_strategy *strategy, uint64_t seed);
    /* Instead of `begin`: begins the run by another strategy, and returns the one that makes it.
     * It may be `strategy`. NULL: `begin` is called. */
    struct sim_strategy *(*delegate)(struct sim_strategy *strategy, uint64_t seed);
    /*
     * For a strategy that reads nothing but its position in the stream: an index below n. Such a
     * choice is never built, which is most of its cost. NULL: `choose` is called.
     */
    uint32_t (*draw)(uint64_t key, uint32_t ordinal, uint32_t n, struct sim_odds odds);
    /*
     * For a strategy that reads nothing but the number of alternatives: an index below n, without a
     * choice being built. It gets no events. NULL: `choose` is called.
     */
    uint32_t (*walk)(struct sim_strategy *strategy, uint32_t n);
    /* An index below choice->n. */
    uint32_t (*choose)(struct sim_strategy *strategy, const struct sim_choice *choice);
    /*
     * `count` events, one or more, have happened; NULL when the strategy needs none. The events
     * since the last choice are passed in order before the next one is asked, in one call or two,
     * the rest before `end`; only where the run is recorded. A judge's replay follows the tape.
     */
    void (*events)(struct sim_strategy *strategy, const struct sim_event *events, uint32_t count);
    /*
     * A replay is restored to the step at which `deviations` of its answers were not 0, and
     * continues from there. NULL: the strategy cannot be restored, and the replay is re-run from
     * its beginning.
     */
    void (*seek)(struct sim_strategy *strategy, uint32_t deviations);
    /* The run is over; may be NULL. */
    void (*end)(struct sim_strategy *strategy, const struct sim_outcome *outcome);
    /* A member of the strategy; NULL, or a result of NULL: each run starts from its beginning. */
    struct sim_resumption *(*resumption)(struct sim_strategy *strategy);
};

/* Embedded first in a strategy's own struct. */
struct sim_strategy {
    const struct sim_strategy_ops *ops;
};

/* Begins a run of `strategy`; returns the one that makes it, which gets all other calls. */
static inline struct sim_strategy *
sim_strategy_begin(struct sim_strategy *strategy, uint64_t seed)
{
    if (strategy->ops->delegate != 0) {
        return strategy->ops->delegate(strategy, seed);
    }
    if (strategy->ops->begin != 0) {
        strategy->ops->begin(strategy, seed);
    }
    return strategy;
}

/* The answer of `random` to any choice: a function of its stream's key and ordinal. What a strategy
 * that orders actors gives for all other kinds. */
uint32_t sim_choose_at_random(const struct sim_choice *choice);

/* `seek` of a strategy that reads nothing but the choice. */
void sim_seek_nothing(struct sim_strategy *strategy, uint32_t deviations);

/* The alternative of `choice`, which has a queue, that picks the actor at `place` of it; the
 * nearest one when `place` lies outside of a block that was chosen before. */
static inline uint32_t
sim_queue_alternative(const struct sim_choice *choice, uint32_t place)
{
    const struct sim_queue *queue = choice->queue;
    uint32_t behind = place < queue->base ? 0 : place - queue->base;
    uint32_t index = queue->stride == 1 ? behind : behind / queue->stride; /* Rarely a division. */
    return index < choice->n ? index : choice->n - 1;
}

/* "run", "slow-step" …; static. "?" for an unknown number. */
const char *sim_kind_name(uint32_t kind);

#ifdef __cplusplus
}
#endif
