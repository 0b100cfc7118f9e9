/* Cause: gate_poll(), line 45: after it has been open it throws away the events that came meanwhile, and with
 * them the lever of an agent that arrived too late to get through; repair: keep them, and open again. */
#include <sim/rewake.h>

/* A game: agents pull a lever and go through the gate, which stays open for some ticks. */

#define AGENTS 3
#define OPEN_TICKS 4
#define WIDTH 3 /* Ticks that an agent needs to pass. */
#define TICKS_MAX 400

enum { LEVER = 1 };

struct agent {
    uint64_t arrives; /* The tick. */
    uint32_t passing; /* Ticks in the gate. */
    bool pulled;
    bool through;
};

struct game {
    bool fixed;
    struct sim_ticker *ticker;
    struct rt_activity gate;
    struct rt_event events[8];
    struct rt_tick_wait open_for;
    struct rt_event event;
    uint32_t at;
    bool open;
    uint64_t tick;
    struct agent agents[AGENTS];
};

static rt_poll
gate_poll(struct rt_activity *activity, struct rt_cx *cx)
{
    struct game *game = rt_container_of(activity, struct game, gate);
    RT_BEGIN(game->at);
    for (;;) {
        RT_AWAIT_HERE(game->at, rt_next_event(cx, &game->event));
        game->open = true;
        rt_tick_wait_init(&game->open_for, OPEN_TICKS);
        RT_AWAIT_HERE(game->at, rt_tick_wait_poll(&game->open_for, &activity->scope, cx));
        game->open = false;
        while (!game->fixed && rt_event_pop(activity, &game->event)) {
        }
    }
    RT_END(game->at);
}

static void
move(struct game *game, struct agent *agent)
{
    if (agent->through || game->tick < agent->arrives) {
        return;
    }
    if (!agent->pulled) {
        struct rt_ticker *ticker = sim_ticker_ticker(game->ticker);
        agent->pulled = true;
        SIM_ALWAYS(rt_event_push(ticker, game->gate.id, &(struct rt_event){.kind = LEVER}) == RT_OK);
    }
    agent->passing = game->open ? agent->passing + 1 : 0;
    agent->through = agent->passing == WIDTH;
}

/* False: the game is over. */
static bool
update(struct sim_world *world, void *argument)
{
    struct game *game = argument;
    uint32_t through = 0;
    (void)world;
    game->tick++;
    for (uint32_t i = 0; i < AGENTS; i++) {
        move(game, &game->agents[i]);
        through += game->agents[i].through;
    }
    SIM_ALWAYS(game->tick < TICKS_MAX);
    return through < AGENTS;
}

static void
begin(struct sim_world *world, bool fixed)
{
    struct game *game = sim_new(world, struct game);
    struct sim_ticker_options options = {.update = update, .argument = game};
    game->fixed = fixed;
    for (uint32_t i = 0; i < AGENTS; i++) {
        game->agents[i].arrives = 2 + i * 12 + sim_range(world, 0, 14);
    }
    game->ticker = sim_ticker_new(world, &options);
    rt_activity_init(&game->gate, gate_poll, NULL, "gate");
    rt_activity_lend_events(&game->gate, game->events, 8, RT_SINK_DROP_NEW);
    sim_ticker_spawn(game->ticker, &game->gate);
}

static void
broken(struct sim_world *world)
{
    begin(world, false);
}

static void
fixed(struct sim_world *world)
{
    begin(world, true);
}

SIM_SCENARIO(s15_gate_b, .name = "s15/gate/broken", .about = "A lever that is not heard.",
        .setup = broken);
SIM_SCENARIO(s15_gate_f, .name = "s15/gate/fixed", .about = "A lever opens the gate again.",
        .setup = fixed);
/* SPDX-License-Identifier: Apache-2.0 */
