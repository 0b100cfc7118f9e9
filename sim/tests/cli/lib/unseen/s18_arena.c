/* Cause: hit(), line 94: the arrow keeps the place of its target, and when it arrives another one may stand there; repair: keep the target's weak reference, and miss when it has ended. */
#include <sim/rewake.h>

#define PLACES 2
#define HEALTH 10

enum kind { NOBODY, WOLF, PEDLAR };

struct arena;

struct being {
    struct rt_activity activity;
    struct arena *arena;
    enum kind kind;
    unsigned health;
    uint32_t at;
    struct rt_tick_wait stay;
};

struct archer {
    struct rt_activity activity;
    struct arena *arena;
    uint32_t at;
    unsigned shots;
    unsigned target;
    struct rt_key target_id;
    struct rt_tick_wait flight;
};

struct arena {
    struct sim_world *world;
    struct sim_ticker *game;
    struct being places[PLACES];
    struct archer archer;
    bool pedlar_came;
    bool by_reference;
};

static rt_poll
being_poll(struct rt_activity *activity, struct rt_cx *cx)
{
    struct being *being = rt_container_of(activity, struct being, activity);
    RT_BEGIN(being->at);
    rt_tick_wait_init(&being->stay, sim_range(being->arena->world, 3, 9));
    RT_AWAIT_HERE(being->at, rt_tick_wait_poll(&being->stay, &activity->scope, cx));
    RT_END(being->at);
}

static void
being_over(struct rt_activity *activity)
{
    struct being *being = rt_container_of(activity, struct being, activity);
    if (being->kind == PEDLAR) {
        SIM_ALWAYS(being->health == HEALTH);
    }
    being->kind = NOBODY;
}

static void
enter(struct arena *arena, unsigned place, enum kind kind)
{
    struct being *being = &arena->places[place];
    being->arena = arena;
    being->kind = kind;
    being->health = HEALTH;
    being->at = 0;
    rt_activity_init(&being->activity, being_poll, being_over, kind == WOLF ? "wolf" : "pedlar");
    sim_ticker_spawn(arena->game, &being->activity);
}

static bool
aim(struct archer *archer)
{
    for (unsigned i = 0; i < PLACES; i++) {
        struct being *being = &archer->arena->places[i];
        if (being->kind == WOLF) {
            archer->target = i;
            archer->target_id = rt_activity_id(&being->activity);
            return true;
        }
    }
    return false;
}

static void
hit(struct archer *archer)
{
    struct arena *arena = archer->arena;
    if (arena->by_reference &&
            rt_upgrade(sim_ticker_ticker(arena->game), archer->target_id) == NULL) {
        return;
    }
    if (arena->places[archer->target].kind != NOBODY) {
        arena->places[archer->target].health -= 4;
    }
}

static rt_poll
archer_poll(struct rt_activity *activity, struct rt_cx *cx)
{
    struct archer *archer = rt_container_of(activity, struct archer, activity);
    RT_BEGIN(archer->at);
    while (archer->shots < 2) {
        archer->shots++;
        if (aim(archer)) {
            rt_tick_wait_init(&archer->flight, 3);
            RT_AWAIT_HERE(archer->at, rt_tick_wait_poll(&archer->flight, &activity->scope, cx));
            hit(archer);
        }
    }
    RT_END(archer->at);
}

static bool
update(struct sim_world *world, void *argument)
{
    struct arena *arena = argument;
    (void)world;
    for (unsigned i = 0; i < PLACES; i++) {
        if (arena->places[i].kind == NOBODY && !arena->pedlar_came) {
            arena->pedlar_came = true;
            enter(arena, i, PEDLAR);
        }
    }
    return rt_ticker_alive(sim_ticker_ticker(arena->game)) > 0;
}

static void
set_up(struct sim_world *world, bool by_reference)
{
    struct arena *arena = sim_new(world, struct arena);
    arena->world = world;
    arena->by_reference = by_reference;
    arena->game = sim_ticker_new(
            world, &(struct sim_ticker_options){.update = update, .argument = arena});
    for (unsigned i = 0; i < PLACES; i++) {
        enter(arena, i, WOLF);
    }
    arena->archer.arena = arena;
    rt_activity_init(&arena->archer.activity, archer_poll, NULL, "archer");
    sim_ticker_spawn(arena->game, &arena->archer.activity);
}

static void set_up_broken(struct sim_world *world) { set_up(world, false); }
static void set_up_fixed(struct sim_world *world) { set_up(world, true); }

SIM_SCENARIO(broken, .name = "s18/arena/broken", .about = "An archer, wolves and a pedlar.",
        .setup = set_up_broken);
SIM_SCENARIO(fixed, .name = "s18/arena/fixed", .about = "An archer, wolves and a pedlar.",
        .setup = set_up_fixed);
