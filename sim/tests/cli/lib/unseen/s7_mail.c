// Cause: npc_poll(), the line `if (rt_event_pop(...))`: it takes one event each time that it was marked. Two events
// that are pushed before the npc is polled mark it once, so one of them stays in its queue; when it is the last one,
// nothing marks the npc again, and it parks with an event that it has not read.
// SPDX-License-Identifier: Apache-2.0
// clang-format off
#include <sim/rewake.h>

#define LETTERS 5u
#define TICKS 200u

struct game {
    struct sim_world *world;
    struct sim_ticker *ticker;
    struct rt_activity npc;
    struct rt_event events[8];
    struct rt_event letter;
    struct rt_park park;
    uint32_t at;
    uint32_t sent;
    uint32_t read;
    uint32_t ticks;
    bool reads_all;
};

static void
read_letters(struct game *game)
{
    if (game->reads_all) {
        while (rt_event_pop(&game->npc, &game->letter)) {
            game->read++;
            SIM_PROGRESS();
        }
        return;
    }
    if (rt_event_pop(&game->npc, &game->letter)) {
        game->read++;
        SIM_PROGRESS();
    }
}

static rt_poll
npc_poll(struct rt_activity *activity, struct rt_cx *cx)
{
    struct game *game = rt_container_of(activity, struct game, npc);
    RT_BEGIN(game->at);
    while (game->read < LETTERS) {
        game->park = (struct rt_park){0};
        RT_AWAIT_HERE(game->at, rt_park_poll(&game->park, cx));
        read_letters(game);
    }
    RT_END(game->at);
}

/* The postman: a letter now and then, sometimes two at once. */
static void
deliver(struct game *game)
{
    uint32_t count = sim_pick(game->world, 4) == 3 ? 2 : 1;
    for (; count > 0 && game->sent < LETTERS; count--) {
        struct rt_event letter = {1, 1, game->sent++};
        SIM_ALWAYS(rt_event_push(sim_ticker_ticker(game->ticker), rt_activity_id(&game->npc),
                           &letter) == RT_OK);
    }
}

static bool
update(struct sim_world *world, void *argument)
{
    struct game *game = argument;
    (void)world;
    game->ticks++;
    if (game->ticks % 2 == 0 && game->sent < LETTERS) {
        deliver(game);
    }
    return rt_activity_alive(&game->npc) && game->ticks < TICKS;
}

static void
check(struct sim_world *world, void *argument)
{
    const struct game *game = argument;
    (void)world;
    SIM_ALWAYS(game->read == LETTERS);
}

static void
begin(struct sim_world *world, bool reads_all)
{
    struct game *game = sim_new(world, struct game);
    struct sim_ticker_options options = {.update = update, .argument = game};
    game->world = world;
    game->reads_all = reads_all;
    game->ticker = sim_ticker_new(world, &options);
    rt_activity_init(&game->npc, npc_poll, NULL, "npc");
    rt_activity_lend_events(&game->npc, game->events, 8, RT_SINK_DROP_NEW);
    sim_ticker_spawn(game->ticker, &game->npc);
    sim_set_state(world, game);
}

static void
setup_broken(struct sim_world *world)
{
    begin(world, false);
}

static void
setup_fixed(struct sim_world *world)
{
    begin(world, true);
}

SIM_SCENARIO(mail_broken, .name = "set7/s7_mail/broken",
        .about = "A figure of a game reads its letters.", .setup = setup_broken, .check = check);
SIM_SCENARIO(mail_fixed, .name = "set7/s7_mail/fixed",
        .about = "A figure of a game reads its letters.", .setup = setup_fixed, .check = check);
