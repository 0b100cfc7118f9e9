/*
 * portfolio.c -- `portfolio`: each run is drawn by one of several strategies.
 *
 * No sampler wins everywhere (ALGORITHMS: constraints by site do not mind noise, SURW wins where it
 * matters which instance, random walks are hard to beat on shallow bugs), so each has a share. Of
 * each 25 runs in a row so many are an arm's, in an order drawn for them; the rest go to whoever
 * has lately covered most that was new, a run (a bandit that matches probability to yield; Thompson
 * 1933, in whole numbers). `random` has a fixed share and no other, so that its runs are a sample
 * on which estimates stand: who draws a run does not depend on what `random` has found.
 *
 * An arm's own runs are numbered 0, 1, 2 …, and begin with that number for a seed: whoever spreads
 * consecutive seeds evenly (spread.h) does so here as well.
 *
 * Deviations: enumerations (exhaustive, delay, dpor) are no arms, since their next run depends on
 * their last one; `relay` stands for them where the depth is in a conversation. The yield counts
 * elements of coverage and not failures, so that a bug that was found does not draw all runs to
 * itself.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <string.h>

#include "runtime/base/assert.h"
#include "sim/core/strategies.h"
#include "sim/search/kinds.h"

/* The stream of this strategy's own draws: no actor's. */
#define PRIVATE_STREAM 0x706f7274u
/* Runs in a row that are shared out; what is left after the arms' own is the bandit's. */
#define SHARES 25u
#define LINE 64u

struct arm {
    const char *name;
    uint32_t share; /* Of SHARES. */
};

static const struct arm arms[] = {
        {"random", 4},
        {"guided", 1},
        {"rf", 5},
        {"surw", 6},
        {"relay", 3},
        {"pos", 1},
        {"pct", 1},
};

#define ARMS (sizeof(arms) / sizeof(*arms))

struct portfolio {
    struct sim_strategy strategy;
    struct sim_strategy_ops ops; /* What is heard depends on who draws the run. */
    const struct sim_learned *learned;
    uint64_t first; /* Seed of the first run of the sweep. */
    struct sim_strategy *hands[ARMS];
    struct sim_search searches[ARMS];
    uint32_t kinds[ARMS]; /* Places in the table. */
    uint32_t arm;         /* Who draws this run: below ARMS. */
    _Alignas(LINE) uint8_t memory[];
};

static struct portfolio *
portfolio_of(struct sim_strategy *strategy)
{
    return (struct portfolio *)(void *)strategy;
}

/* ---- Who draws the run. ---------------------------------------------------------------------- */

/* New elements in a hundred runs; one more run and a little more news than there were, so that
 * nobody is out for good. `random` is not paid for what it finds. */
static uint64_t
yield_of(const struct portfolio *portfolio, uint32_t arm)
{
    uint32_t kind = portfolio->kinds[arm];
    if (arm == 0) {
        return 0;
    }
    uint64_t news = portfolio->learned != NULL ? portfolio->learned->news[kind] : 0;
    uint64_t drawn = portfolio->learned != NULL ? portfolio->learned->drawn[kind] : 0;
    return 100 * (news + 1) / (drawn + 1) + 1;
}

static uint32_t
by_yield(const struct portfolio *portfolio, uint64_t bits)
{
    uint64_t all = 0;
    for (uint32_t i = 0; i < ARMS; i++) {
        all += yield_of(portfolio, i);
    }
    uint64_t at = bits % all;
    uint32_t arm = 0;
    while (at >= yield_of(portfolio, arm)) {
        at -= yield_of(portfolio, arm);
        arm++;
    }
    return arm;
}

/* Of SHARES in a row the place of this one, in an order drawn for them: i -> a i + b, with an `a`
 * that has no factor in common with SHARES. */
static uint32_t
place_in_row(uint64_t key, uint32_t i)
{
    uint64_t drawn = sim_stream_draw(key, 0);
    uint32_t a = (uint32_t)(drawn % (SHARES / 5 * 4));
    uint32_t b = (uint32_t)(drawn >> 32) % SHARES;
    return ((a / 4 * 5 + a % 4 + 1) * i + b) % SHARES;
}

/* Who draws the run with `seed`, and with what seed it begins. */
static uint32_t
pick_arm(const struct portfolio *portfolio, uint64_t seed, uint64_t *ret_seed)
{
    uint64_t index = seed - portfolio->first;
    uint64_t row = index / SHARES;
    uint64_t key = sim_stream_key(portfolio->first + row * SHARES, PRIVATE_STREAM);
    uint32_t at = place_in_row(key, (uint32_t)(index % SHARES));
    for (uint32_t i = 0; i < ARMS; i++) {
        if (at < arms[i].share) {
            *ret_seed = portfolio->first + row * arms[i].share + at;
            return i;
        }
        at -= arms[i].share;
    }
    *ret_seed = seed + (UINT64_C(1) << 63); /* None of those that arms have. */
    return by_yield(portfolio, sim_stream_draw(sim_stream_key(seed, PRIVATE_STREAM), 1) >> 16);
}

/* ---- Handing over. --------------------------------------------------------------------------- */

static struct sim_strategy *
hand_of(struct sim_strategy *strategy)
{
    struct portfolio *portfolio = portfolio_of(strategy);
    return portfolio->hands[portfolio->arm];
}

static uint32_t
portfolio_choose(struct sim_strategy *strategy, const struct sim_choice *choice)
{
    struct sim_strategy *hand = hand_of(strategy);
    return hand->ops->choose(hand, choice);
}

static void
portfolio_events(struct sim_strategy *strategy, const struct sim_event *events, uint32_t count)
{
    struct sim_strategy *hand = hand_of(strategy);
    hand->ops->events(hand, events, count);
}

static void
portfolio_end(struct sim_strategy *strategy, const struct sim_outcome *outcome)
{
    struct sim_strategy *hand = hand_of(strategy);
    if (hand->ops->end != NULL) {
        hand->ops->end(hand, outcome);
    }
}

/* From here on the run is the arm's: also whether anybody listens, and whether it repeats. */
static void
portfolio_begin(struct sim_strategy *strategy, uint64_t seed)
{
    struct portfolio *portfolio = portfolio_of(strategy);
    uint64_t its_seed = seed;
    portfolio->arm = pick_arm(portfolio, seed, &its_seed);
    struct sim_strategy *hand = portfolio->hands[portfolio->arm];
    if (hand->ops->begin != NULL) {
        hand->ops->begin(hand, its_seed);
    }
    portfolio->ops.draw = hand->ops->draw;
    portfolio->ops.events = hand->ops->events != NULL ? portfolio_events : NULL;
    portfolio->ops.repeats = hand->ops->repeats;
}

static uint32_t
portfolio_arm(const struct sim_strategy *strategy)
{
    const struct portfolio *portfolio = (const struct portfolio *)(const void *)strategy;
    return portfolio->kinds[portfolio->arm];
}

static void
portfolio_tell(const struct sim_strategy *strategy, struct sim_facts *facts, uint64_t run)
{
    const struct portfolio *portfolio = (const struct portfolio *)(const void *)strategy;
    const struct sim_strategy_kind *kind = sim_strategy_at(portfolio->kinds[portfolio->arm]);
    if (kind->tell != NULL) {
        kind->tell(portfolio->hands[portfolio->arm], facts, run);
    }
}

/* ---- The arms. ------------------------------------------------------------------------------- */

static size_t
rounded(size_t size)
{
    return (size + LINE - 1) & ~(size_t)(LINE - 1);
}

static uint32_t
place_of(uint32_t arm)
{
    uint32_t place = sim_strategy_find(arms[arm].name);
    rt_assert(place != UINT32_MAX);
    return place;
}

static size_t
portfolio_size(void)
{
    size_t size = sizeof(struct portfolio);
    for (uint32_t i = 0; i < ARMS; i++) {
        size += rounded(sim_strategy_size(place_of(i)));
    }
    return size;
}

static struct sim_strategy *
portfolio_init(void *memory, const struct sim_strategy_setting *setting)
{
    struct portfolio *portfolio = memory;
    uint8_t *at = portfolio->memory;
    portfolio->learned = setting->learned;
    portfolio->first = setting->first;
    portfolio->ops = (struct sim_strategy_ops){
            .name = "portfolio",
            .about = "each run by one of several strategies",
            .begin = portfolio_begin,
            .choose = portfolio_choose,
            .end = portfolio_end,
    };
    portfolio->strategy.ops = &portfolio->ops;
    for (uint32_t i = 0; i < ARMS; i++) {
        struct sim_strategy_setting its = *setting;
        its.search = &portfolio->searches[i];
        portfolio->kinds[i] = place_of(i);
        sim_search_init(&portfolio->searches[i], portfolio->kinds[i]);
        portfolio->hands[i] = sim_strategy_at(portfolio->kinds[i])->init(at, &its);
        at += rounded(sim_strategy_size(portfolio->kinds[i]));
    }
    return &portfolio->strategy;
}

const struct sim_strategy_kind sim_strategy_portfolio = {
        .name = "portfolio",
        .about = "each run by one of the others; new coverage says who draws more",
        .source = "Thompson 1933 (probability matching)",
        .adaptive = true,
        .swarms = true,
        .measure = portfolio_size,
        .init = portfolio_init,
        .arm = portfolio_arm,
        .tell = portfolio_tell,
};
