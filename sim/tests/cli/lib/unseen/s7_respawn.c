// Cause: finish_quest() sends to `quest->hero`, the id that the hero had when the quest began. When the hero has died
// meanwhile and was spawned again, that id is dead: rt_event_push() answers RT_E_STALE, which is taken for "nobody
// waits", the quest is over, and the new hero waits for its end forever.
// SPDX-License-Identifier: Apache-2.0
// clang-format off
#include <sim/rewake.h>

#define QUEST_DONE 7u
#define TICKS 200u

struct quest {
    struct rt_key hero;
    bool over;
};

struct game {
    struct sim_world *world;
    struct sim_ticker *ticker;
    struct rt_activity hero;
    struct rt_event events[4];
    struct rt_event event;
    struct quest quest;
    uint32_t quest_takes; /* Ticks. */
    uint32_t ticks;
    bool has_died;
    bool rewarded;
    bool asks_for_the_hero;
};

static rt_poll
hero_poll(struct rt_activity *activity, struct rt_cx *cx)
{
    struct game *game = rt_container_of(activity, struct game, hero);
    do {
        RT_AWAIT(rt_next_event(cx, &game->event));
    } while (game->event.kind != QUEST_DONE);
    game->rewarded = true;
    return RT_READY;
}

static void
spawn_hero(struct game *game)
{
    rt_activity_init(&game->hero, hero_poll, NULL, "hero");
    rt_activity_lend_events(&game->hero, game->events, 4, RT_SINK_DROP_NEW);
    sim_ticker_spawn(game->ticker, &game->hero);
}

static void
finish_quest(struct game *game)
{
    struct quest *quest = &game->quest;
    struct rt_event event = {QUEST_DONE, 1, 0};
    struct rt_key hero = game->asks_for_the_hero ? rt_activity_id(&game->hero) : quest->hero;
    rt_err err = rt_event_push(sim_ticker_ticker(game->ticker), hero, &event);
    SIM_ALWAYS(err == RT_OK || err == RT_E_STALE);
    quest->over = true;
}

static void
fight(struct game *game)
{
    if (!game->has_died && game->ticks > 1 && sim_pick(game->world, 10) == 9) {
        game->has_died = true;
        rt_activity_drop(&game->hero);
        spawn_hero(game);
    }
}

static bool
update(struct sim_world *world, void *argument)
{
    struct game *game = argument;
    (void)world;
    game->ticks++;
    if (!game->quest.over) {
        fight(game);
        if (game->ticks == game->quest_takes) {
            finish_quest(game);
        }
    }
    return rt_activity_alive(&game->hero) && game->ticks < TICKS;
}

static void
check(struct sim_world *world, void *argument)
{
    const struct game *game = argument;
    (void)world;
    SIM_ALWAYS(game->rewarded);
}

static void
begin(struct sim_world *world, bool asks_for_the_hero)
{
    struct game *game = sim_new(world, struct game);
    struct sim_ticker_options options = {.update = update, .argument = game};
    game->world = world;
    game->asks_for_the_hero = asks_for_the_hero;
    game->ticker = sim_ticker_new(world, &options);
    game->quest_takes = (uint32_t)sim_range(world, 4, 8);
    spawn_hero(game);
    game->quest.hero = rt_activity_id(&game->hero);
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

SIM_SCENARIO(respawn_broken, .name = "set7/s7_respawn/broken",
        .about = "A hero dies during a quest and is spawned again.", .setup = setup_broken,
        .check = check);
SIM_SCENARIO(respawn_fixed, .name = "set7/s7_respawn/fixed",
        .about = "A hero dies during a quest and is spawned again.", .setup = setup_fixed,
        .check = check);
