/*
 * exhaustive.c -- the walk.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "sim/search/exhaustive.h"

#include "runtime/base/assert.h"
#include "sim/search/kinds.h"

static struct sim_exhaustive *
exhaustive_of(struct sim_strategy *strategy)
{
    return (struct sim_exhaustive *)(void *)strategy;
}

/* Whether the node at the end of the path, with `before` deviations above it, has an alternative
 * left. The first one other than 0 costs a deviation, which the others cost as well. */
static inline bool
has_another(const struct sim_exhaustive *exhaustive, struct sim_tree_node node, uint32_t before)
{
    return node.index + 1u < node.n && before < exhaustive->deviations_max;
}

/* Gives the deepest node that has one its next answer, and drops all below it. False: none has. */
static bool
turn(struct sim_exhaustive *exhaustive)
{
    uint32_t depth = exhaustive->depth;
    uint32_t deviations = exhaustive->deviations;
    while (depth > exhaustive->fixed) {
        struct sim_tree_node *node = &exhaustive->path[depth - 1];
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

bool
sim_exhaustive_next(struct sim_exhaustive *exhaustive)
{
    if (exhaustive->exhausted || exhaustive->differs) {
        return false;
    }
    exhaustive->exhausted = exhaustive->begun && !turn(exhaustive);
    return !exhaustive->exhausted;
}

static void
exhaustive_begin(struct sim_strategy *strategy, uint64_t seed)
{
    struct sim_exhaustive *exhaustive = exhaustive_of(strategy);
    (void)seed;
    exhaustive->position = 0;
    exhaustive->resumption.wanted = false;
    exhaustive->resumption.resumed = 0;
    /* The whole path but its last answer is the same as in the run before. */
    exhaustive->resumption.same = exhaustive->depth > 0 ? exhaustive->depth - 1 : 0;
    exhaustive->begun = true;
    exhaustive->runs++;
}

/* Appends a choice that no run has reached before; it is answered 0. */
static void
grow(struct sim_exhaustive *exhaustive, uint32_t n)
{
    if (exhaustive->depth >= exhaustive->depth_max) {
        exhaustive->cut = true;
        exhaustive->resumption.wanted = false;
        return;
    }
    exhaustive->path[exhaustive->depth++] = (struct sim_tree_node){.index = 0, .n = (uint8_t)n};
    /* Whether a later choice can have another answer. */
    exhaustive->resumption.wanted = exhaustive->deviations < exhaustive->deviations_max;
}

static uint32_t
exhaustive_walk(struct sim_strategy *strategy, uint32_t n)
{
    struct sim_exhaustive *exhaustive = exhaustive_of(strategy);
    if (exhaustive->resumption.resumed != 0) {
        exhaustive->position = (uint32_t)exhaustive->resumption.resumed;
        exhaustive->resumption.resumed = 0;
    }
    uint32_t position = exhaustive->position++;
    if (position >= exhaustive->depth) {
        grow(exhaustive, n);
        return 0;
    }
    struct sim_tree_node node = exhaustive->path[position];
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
    struct sim_exhaustive *exhaustive = exhaustive_of(strategy);
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
    struct sim_exhaustive *exhaustive = exhaustive_of(strategy);
    return exhaustive->resumes ? &exhaustive->resumption : NULL;
}

static const struct sim_strategy_ops exhaustive_ops = {
        .name = "exhaustive",
        .about = "every run there is, depth first, within bounds",
        .keyless = true,
        .begin = exhaustive_begin,
        .walk = exhaustive_walk,
        .choose = exhaustive_choose,
        .end = exhaustive_end,
        .resumption = exhaustive_resumption,
};

void
sim_exhaustive_init(struct sim_exhaustive *exhaustive, struct sim_tree_node *path,
        uint32_t capacity, uint32_t deviations_max, uint32_t depth_max)
{
    rt_assert(capacity > 0);
    *exhaustive = (struct sim_exhaustive){
            .strategy = {&exhaustive_ops},
            .path = path,
            .capacity = capacity,
            .deviations_max = deviations_max,
            .depth_max = depth_max < capacity ? depth_max : capacity,
            .resumes = true,
    };
}

/* ---- By name. -------------------------------------------------------------------------------- */

#define CAPACITY (1u << 20)

struct whole {
    struct sim_exhaustive exhaustive;
    struct sim_tree_node path[CAPACITY];
};

static struct sim_strategy *
exhaustive_init(void *memory, const struct sim_strategy_setting *setting)
{
    struct whole *whole = memory;
    const struct sim_search *search = setting->search;
    sim_exhaustive_init(&whole->exhaustive, whole->path, CAPACITY,
            (uint32_t)sim_search_param(search, "k"), (uint32_t)sim_search_param(search, "depth"));
    whole->exhaustive.resumes = sim_search_param(search, "resume") != 0;
    return &whole->exhaustive.strategy;
}

static bool
exhaustive_more(struct sim_strategy *strategy)
{
    return sim_exhaustive_next(exhaustive_of(strategy));
}

/*
 * Share of the tree that is done: each node's share, divided by the number of its alternatives,
 * counts once for each alternative that is done (Knuth 1975; Kilby et al., AAAI 2006).
 */
static uint32_t
covered(const struct sim_exhaustive *exhaustive)
{
    uint64_t share = UINT64_C(1) << 62;
    uint64_t sum = 0;
    uint32_t deviations = 0;
    for (uint32_t i = 0; i < exhaustive->depth && deviations < exhaustive->deviations_max; i++) {
        struct sim_tree_node node = exhaustive->path[i];
        share /= node.n;
        sum += share * node.index;
        deviations += node.index != 0;
    }
    return (uint32_t)(sum >> 30);
}

static void
exhaustive_space(const struct sim_strategy *strategy, struct sim_space *ret)
{
    const struct sim_exhaustive *exhaustive = (const void *)strategy;
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
        .source = "M. Musuvathi, S. Qadeer: Iterative Context Bounding (PLDI 2007); M. Emmi, "
                  "S. Qadeer, Z. Rakamaric: Delay-Bounded Scheduling (POPL 2011)",
        .params =
                {
                        {"k", "deviations of a run at most", SIM_UNBOUNDED, 0, SIM_UNBOUNDED},
                        {"depth", "choices of a run that are varied", CAPACITY, 1, CAPACITY},
                        {"resume", "1: what two runs have in common is made once", 1, 0, 1},
                },
        .sequential = true,
        .size = sizeof(struct whole),
        .init = exhaustive_init,
        .more = exhaustive_more,
        .space = exhaustive_space,
};
