/*
 * ticker.c -- the loop of a game.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "sim/bind/ticker.h"

#include "runtime/base/assert.h"
#include "sim/bind/bind_priv.h"
#include "sim/core/loop.h"

#define CAPACITY 16u
#define EVENTS 32u
#define PERIOD (10 * RT_MS)

/* The host may report some of what is ready now, and the rest in later ticks. */
#define LATE_TICKS 10u

struct sim_ticker {
    struct sim_rt *rt;
    struct rt_sched_batch batch;
    struct rt_ticker ticker;
    struct sim_ticker_options options;
    struct sim_binding binding;
};

static void
must(struct sim_ticker *game, rt_err err, const char *what)
{
    if (err != RT_OK) {
        sim_fail(game->rt->world, SIM_VERDICT_CONTRACT, SIM_ORACLE_HOST, game->rt->world->current,
                0, "%s failed: %s (%s)", what, rt_err_text(err), rt_err_name(err));
    }
}

static void
game_main(struct sim_world *world, void *argument)
{
    struct sim_ticker *game = argument;
    while (game->options.update(world, game->options.argument)) {
        must(game, rt_runtime_turn(sim_rt_runtime(game->rt), RT_TURN_POLL, NULL), "a turn");
        must(game, rt_tick(&game->ticker, NULL), "a tick");
        sim_sleep(world, game->options.period_ns);
    }
    rt_ticker_drop_all(&game->ticker);
}

static const char *
audit(void *argument)
{
    const struct sim_ticker *game = argument;
    rt_ticker_audit(&game->ticker); /* Panics on an inconsistency, with a message. */
    return NULL;
}

static const struct sim_binding_ops binding_ops = {.audit = audit};

static void
set_defaults(struct sim_ticker_options *options)
{
    rt_assert(options->update != NULL);
    options->name = options->name != NULL ? options->name : "game";
    options->capacity = options->capacity != 0 ? options->capacity : CAPACITY;
    options->events_capacity = options->events_capacity != 0 ? options->events_capacity : EVENTS;
    options->period_ns = options->period_ns != 0 ? options->period_ns : PERIOD;
}

static void
make_ticker(struct sim_ticker *game, struct sim_world *world)
{
    const struct sim_ticker_options *options = &game->options;
    struct rt_ticker_config config = {
            .executor = sim_rt_executor(game->rt),
            .batch = &game->batch,
            .entries = sim_alloc(world, options->capacity * sizeof(struct rt_slab_entry)),
            .capacity = options->capacity,
            .events = sim_alloc(world, options->events_capacity * sizeof(struct rt_event)),
            .events_capacity = options->events_capacity,
    };
    rt_ticker_init(&game->ticker, &config);
}

struct sim_ticker *
sim_ticker_new(struct sim_world *world, const struct sim_ticker_options *options)
{
    struct sim_ticker *game = sim_new(world, struct sim_ticker);
    game->options = *options;
    set_defaults(&game->options);
    uint32_t entries = 2 * game->options.capacity;
    rt_sched_batch_init(
            &game->batch, sim_alloc(world, entries * sizeof(struct rt_sched_link)), entries);
    struct sim_rt_options rt_options = {
            .capacity = entries,
            .by_loop = true,
            .sched = &game->batch.sched,
    };
    game->rt = sim_rt_new(world, &rt_options);
    make_ticker(game, world);
    uint64_t slack_ns = LATE_TICKS * game->options.period_ns;
    if (slack_ns > world->options.slack_ns) {
        world->options.slack_ns = slack_ns;
    }
    sim_world_bind(world, &game->binding, &binding_ops, game, game->options.name);
    (void)sim_loop_new(world, game->options.name, game_main, game);
    return game;
}

struct rt_ticker *
sim_ticker_ticker(struct sim_ticker *game)
{
    return &game->ticker;
}

struct sim_rt *
sim_ticker_rt(struct sim_ticker *game)
{
    return game->rt;
}

void
sim_ticker_spawn_at(
        struct sim_ticker *game, struct rt_activity *activity, const struct rt_site *await)
{
    must(game, rt_spawn_at(&game->ticker, activity, await), "sim_ticker_spawn");
}
