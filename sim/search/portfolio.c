/*
 * portfolio.c -- `portfolio`: each run is made by one of several strategies, its members.
 *
 * No sampler wins everywhere: constraints by site tolerate noise, SURW wins where the instance
 * matters, random walks are hard to beat on shallow bugs. So of each 25 consecutive runs each
 * member has a fixed share, in an order drawn for them. The rest is shared out by the coverage that
 * each has lately added in a run (a bandit that matches probability to yield; Thompson 1933, in
 * integers). `random` has its fixed share only, so that its runs are a sample for estimates: which
 * runs it makes does not depend on what it has found.
 *
 * A member's runs of its fixed share are numbered 0, 1, 2 …, and that number is the seed: a member
 * that spreads consecutive seeds evenly (spread.h) does so here as well.
 *
 * Enumerations (exhaustive, delay, dpor) are no members, since their next run depends on their last
 * one. The yield counts coverage points and not failures, so that a bug that was found does not
 * attract all runs.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "runtime/base/assert.h"
#include "sim/core/decide/strategies.h"
#include "sim/search/strategy.h"

/* The stream of this strategy's draws: no actor's. */
#define PRIVATE_STREAM 0x706f7274u
/* Consecutive runs that are shared out; what the fixed shares leave is the bandit's. */
#define SHARES 25u
#define LINE 64u

struct member {
    const char *name;
    uint32_t share; /* Of SHARES. */
};

static const struct member members[] = {
        {"random", 4},
        {"guided", 1},
        {"rf", 5},
        {"surw", 6},
        {"relay", 3},
        {"pos", 1},
        {"pct", 1},
};

#define MEMBERS (sizeof(members) / sizeof(*members))

struct portfolio {
    struct sim_strategy strategy;
    struct sim_strategy_ops ops; /* Whether it repeats depends on the member that makes the run. */
    const struct sim_learned *learned;
    uint64_t first; /* Seed of the first run of the sweep. */
    struct sim_strategy *strategies[MEMBERS];
    struct sim_search searches[MEMBERS];
    uint32_t current; /* The member that makes this run: below MEMBERS. */
    _Alignas(LINE) uint8_t memory[];
};

/* ---- Which member makes the run. ------------------------------------------------------------- */

/* Coverage points added in a hundred runs; slightly more than there were, so that no member drops
 * out. `random` gets nothing for its finds. */
static uint64_t
yield_of(const struct portfolio *portfolio, uint32_t member)
{
    if (member == 0) {
        return 0;
    }
    struct sim_learned_yield yield = {0, 0};
    if (portfolio->learned != NULL) {
        yield = portfolio->learned->yields[portfolio->searches[member].kind];
    }
    return 100 * (yield.added + 1) / (yield.drawn + 1) + 1;
}

static uint32_t
by_yield(const struct portfolio *portfolio, uint64_t bits)
{
    uint64_t all = 0;
    for (uint32_t i = 0; i < MEMBERS; i++) {
        all += yield_of(portfolio, i);
    }
    uint64_t at = bits % all;
    uint32_t member = 0;
    while (at >= yield_of(portfolio, member)) {
        at -= yield_of(portfolio, member);
        member++;
    }
    return member;
}

/* The place of run `i` of SHARES consecutive ones in an order drawn for them: i -> a i + b, with
 * `a` and SHARES coprime. */
static uint32_t
place_in_row(uint64_t key, uint32_t i)
{
    uint64_t drawn = sim_stream_draw(key, 0);
    uint32_t a = (uint32_t)(drawn % (SHARES / 5 * 4));
    uint32_t b = (uint32_t)(drawn >> 32) % SHARES;
    return ((a / 4 * 5 + a % 4 + 1) * i + b) % SHARES;
}

/* The member that makes the run with `seed`, and the seed that it gets. */
static uint32_t
pick_member(const struct portfolio *portfolio, uint64_t seed, uint64_t *ret_seed)
{
    uint64_t index = seed - portfolio->first;
    uint64_t row = index / SHARES;
    uint64_t key = sim_stream_key(portfolio->first + row * SHARES, PRIVATE_STREAM);
    uint32_t at = place_in_row(key, (uint32_t)(index % SHARES));
    for (uint32_t i = 0; i < MEMBERS; i++) {
        if (at < members[i].share) {
            *ret_seed = portfolio->first + row * members[i].share + at;
            return i;
        }
        at -= members[i].share;
    }
    *ret_seed = seed + (UINT64_C(1) << 63); /* No seed of a fixed share. */
    return by_yield(portfolio, sim_stream_draw(sim_stream_key(seed, PRIVATE_STREAM), 1) >> 16);
}

/* ---- A run. ---------------------------------------------------------------------------------- */

static struct sim_strategy *
portfolio_delegate(struct sim_strategy *strategy, uint64_t seed)
{
    struct portfolio *portfolio = (void *)strategy;
    uint64_t its_seed = seed;
    portfolio->current = pick_member(portfolio, seed, &its_seed);
    struct sim_strategy *member =
            sim_strategy_begin(portfolio->strategies[portfolio->current], its_seed);
    portfolio->ops.repeats = member->ops->repeats;
    return member;
}

static uint32_t
portfolio_maker(const struct sim_strategy *strategy)
{
    const struct portfolio *portfolio = (const void *)strategy;
    rt_assert(portfolio->current < MEMBERS);
    return portfolio->searches[portfolio->current].kind;
}

static void
portfolio_note(const struct sim_strategy *strategy, struct sim_facts *facts, uint64_t run)
{
    const struct portfolio *portfolio = (const void *)strategy;
    const struct sim_strategy_kind *kind = sim_strategy_at(portfolio_maker(strategy));
    if (kind->note != NULL) {
        kind->note(portfolio->strategies[portfolio->current], facts, run);
    }
}

/* ---- The members. ---------------------------------------------------------------------------- */

static size_t
rounded(size_t size)
{
    return (size + LINE - 1) & ~(size_t)(LINE - 1);
}

static size_t
portfolio_size(void)
{
    size_t size = sizeof(struct portfolio);
    for (uint32_t i = 0; i < MEMBERS; i++) {
        size += rounded(sim_strategy_size(sim_strategy_find(members[i].name)));
    }
    return size;
}

static void
portfolio_init(void *memory, const struct sim_strategy_setting *setting)
{
    struct portfolio *portfolio = memory;
    uint8_t *at = portfolio->memory;
    portfolio->learned = setting->learned;
    portfolio->first = setting->first;
    portfolio->ops = *portfolio->strategy.ops;
    portfolio->strategy.ops = &portfolio->ops;
    for (uint32_t i = 0; i < MEMBERS; i++) {
        struct sim_strategy_setting its = *setting;
        its.search = &portfolio->searches[i];
        sim_search_init(&portfolio->searches[i], sim_strategy_find(members[i].name));
        portfolio->strategies[i] = sim_strategy_make(at, &its);
        at += rounded(sim_strategy_size(portfolio->searches[i].kind));
    }
}

const struct sim_strategy_kind sim_strategy_portfolio = {
        .name = "portfolio",
        .about = "each run by one of the others; new coverage decides which gets more runs",
        .adaptive = true,
        .swarms = true,
        .measure = portfolio_size,
        .ops = {.delegate = portfolio_delegate},
        .init = portfolio_init,
        .maker = portfolio_maker,
        .note = portfolio_note,
};
