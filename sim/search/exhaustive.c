/*
 * exhaustive.c -- every run there is, depth first.
 *
 *          o            A node is a choice with n alternatives; the path from the top is the run
 *         / \           in progress. turn() takes the deepest node that has an
 *        o   o          alternative left, and drops all below it. Below the path all answers are
 *       /   / \         0, and each new choice becomes a node.
 *      .   .   .
 *
 * Bounds. `deviations`: answers other than 0 in a run. `depth`: choices of a run that are varied;
 * all others are answered 0. Within them each run is made exactly once, the baseline first.
 *
 * After: iterative context bounding (Musuvathi, Qadeer, PLDI 2007) counts preemptions; delay
 * bounding (Emmi, Qadeer, Rakamaric, POPL 2011) counts departures from a deterministic scheduler.
 * A deviation is such a departure, at every kind of choice and not of the schedule alone.
 *
 * Memory may outlive the process: a run whose process died counts as made, and the walk continues
 * after it.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "runtime/base/assert.h"
#include "sim/search/strategy.h"

#define CAPACITY (1u << 20)

/* A choice on the path, and its answer. */
struct node {
    uint8_t index;
    uint8_t n;
};

struct exhaustive {
    struct sim_strategy strategy;
    struct sim_resumption resumption;
    uint32_t deviations_max; /* UINT32_MAX: any number. */
    uint32_t depth_max;
    uint32_t depth;      /* Nodes on the path. */
    uint32_t position;   /* Of the next choice, also below the path. */
    uint32_t deviations; /* On the path. */
    uint32_t deepest;    /* The most choices that a run had. */
    bool resumes;        /* The common beginning of two runs may be executed once. */
    bool exhausted;
    bool cut;      /* A choice was deeper than depth_max. */
    bool differs;  /* A choice was not the one that the run before made there: no tree. */
    uint64_t runs; /* Begun. */
    struct node path[CAPACITY];
};

/* Whether the node at the end of the path, with `before` deviations above it, has an alternative
 * left. The first one other than 0 costs a deviation, which the others cost as well. */
static inline bool
has_another(const struct exhaustive *exhaustive, struct node node, uint32_t before)
{
    return node.index + 1u < node.n && before < exhaustive->deviations_max;
}

/* Gives the deepest node that has one its next answer, and drops all below it. False: none has. */
static bool
turn(struct exhaustive *exhaustive)
{
    uint32_t depth = exhaustive->depth;
    uint32_t deviations = exhaustive->deviations;
    while (depth > 0) {
        struct node *node = &exhaustive->path[depth - 1];
        uint32_t before = deviations - (node->index != 0);
        if (has_another(exhaustive, *node, before)) {
            node->index++;
            exhaustive->depth = depth;
            exhaustive->deviations = before + 1;
            return true;
        }
        deviations = before;
        depth--;
    }
    return false;
}

static bool
exhaustive_more(struct sim_strategy *strategy)
{
    struct exhaustive *exhaustive = (void *)strategy;
    if (exhaustive->exhausted || exhaustive->differs) {
        return false;
    }
    exhaustive->exhausted = exhaustive->runs > 0 && !turn(exhaustive);
    return !exhaustive->exhausted;
}

static void
exhaustive_begin(struct sim_strategy *strategy, uint64_t seed)
{
    struct exhaustive *exhaustive = (void *)strategy;
    (void)seed;
    exhaustive->position = 0;
    exhaustive->resumption.wanted = false;
    exhaustive->resumption.resumed = 0;
    /* The whole path but its last answer is the same as in the run before. */
    exhaustive->resumption.same = exhaustive->depth > 0 ? exhaustive->depth - 1 : 0;
    exhaustive->runs++;
}

/* Appends a choice that no run has reached before; it is answered 0. */
static void
grow(struct exhaustive *exhaustive, uint32_t n)
{
    if (exhaustive->depth >= exhaustive->depth_max) {
        exhaustive->cut = true;
        exhaustive->resumption.wanted = false;
        return;
    }
    exhaustive->path[exhaustive->depth++] = (struct node){.index = 0, .n = (uint8_t)n};
    /* Whether a later choice can have another answer. */
    exhaustive->resumption.wanted = exhaustive->deviations < exhaustive->deviations_max;
}

static uint32_t
exhaustive_walk(struct sim_strategy *strategy, uint32_t n)
{
    struct exhaustive *exhaustive = (void *)strategy;
    if (exhaustive->resumption.resumed != 0) {
        exhaustive->position = (uint32_t)exhaustive->resumption.resumed;
        exhaustive->resumption.resumed = 0;
    }
    uint32_t position = exhaustive->position++;
    if (position >= exhaustive->depth) {
        grow(exhaustive, n);
        return 0;
    }
    struct node node = exhaustive->path[position];
    if (node.n != n) {
        exhaustive->differs = true;
        return 0;
    }
    /* From the last answer on the run differs from the one before. */
    exhaustive->resumption.wanted = position + 1 == exhaustive->depth &&
                                    exhaustive->deviations < exhaustive->deviations_max;
    return node.index;
}

static uint32_t
exhaustive_choose(struct sim_strategy *strategy, const struct sim_choice *choice)
{
    return exhaustive_walk(strategy, choice->n);
}

static void
exhaustive_end(struct sim_strategy *strategy, const struct sim_outcome *outcome)
{
    struct exhaustive *exhaustive = (void *)strategy;
    (void)outcome;
    if (exhaustive->position > exhaustive->deepest) {
        exhaustive->deepest = exhaustive->position;
    }
    /* The run before had a choice where this one was over. */
    exhaustive->differs = exhaustive->differs || exhaustive->position < exhaustive->depth;
}

static struct sim_resumption *
exhaustive_resumption(struct sim_strategy *strategy)
{
    struct exhaustive *exhaustive = (void *)strategy;
    return exhaustive->resumes ? &exhaustive->resumption : NULL;
}

static void
exhaustive_init(void *memory, const struct sim_strategy_setting *setting)
{
    struct exhaustive *exhaustive = memory;
    exhaustive->deviations_max = (uint32_t)sim_search_param(setting->search, "k");
    exhaustive->depth_max = (uint32_t)sim_search_param(setting->search, "depth");
    exhaustive->resumes = sim_search_param(setting->search, "resume") != 0;
    rt_assert(exhaustive->depth_max <= CAPACITY);
}

/*
 * Share of the tree that is done: each node's share, divided by the number of its alternatives,
 * counts once for each alternative that is done (Knuth 1975; Kilby et al., AAAI 2006).
 */
static uint32_t
covered(const struct exhaustive *exhaustive)
{
    uint64_t share = UINT64_C(1) << 62;
    uint64_t sum = 0;
    uint32_t deviations = 0;
    for (uint32_t i = 0; i < exhaustive->depth && deviations < exhaustive->deviations_max; i++) {
        struct node node = exhaustive->path[i];
        share /= node.n;
        sum += share * node.index;
        deviations += node.index != 0;
    }
    return (uint32_t)(sum >> 30);
}

static void
exhaustive_space(const struct sim_strategy *strategy, struct sim_space *ret)
{
    const struct exhaustive *exhaustive = (const void *)strategy;
    *ret = (struct sim_space){
            .runs = exhaustive->runs,
            .exhausted = exhaustive->exhausted,
            .cut = exhaustive->cut,
            .differs = exhaustive->differs,
            .bound = exhaustive->deviations_max,
            .whole = exhaustive->exhausted ? exhaustive->deviations_max : UINT32_MAX,
            .depth = exhaustive->deepest,
            .covered = exhaustive->exhausted ? UINT32_MAX : covered(exhaustive),
    };
}

const struct sim_strategy_kind sim_strategy_exhaustive = {
        .name = "exhaustive",
        .about = "every run there is, depth first, with at most k deviations",
        .params =
                {
                        {"k", "deviations of a run at most", UINT32_MAX, 0, UINT32_MAX},
                        {"depth", "choices of a run that are varied", CAPACITY, 1, CAPACITY},
                        {"resume", "1: what two runs have in common is made once", 1, 0, 1},
                },
        .sequential = true,
        .size = sizeof(struct exhaustive),
        .ops =
                {
                        .keyless = true,
                        .begin = exhaustive_begin,
                        .walk = exhaustive_walk,
                        .choose = exhaustive_choose,
                        .end = exhaustive_end,
                        .resumption = exhaustive_resumption,
                },
        .init = exhaustive_init,
        .more = exhaustive_more,
        .space = exhaustive_space,
};
