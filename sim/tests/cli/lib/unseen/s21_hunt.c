/* Cause: prey_of(), line 77: the hunter keeps a pointer to the wolf across the walk (88, 94); the wolf ends meanwhile and its memory is used for a newborn one (wolf_born(), line 51, from update()), so "alive" is true, of another wolf. Harm: SIM_ALWAYS(wolf->number == hunter->bounty), line 101. Fix: look the id up (rt_upgrade). */
#include <sim/rewake.h>

#define LAIRS 2
#define STRIKES 4

struct forest;

struct wolf {
    struct rt_activity activity;
    struct forest *forest;
    uint32_t at;
    uint32_t number; /* No two wolves have the same. */
    struct rt_tick_wait prowl;
};

struct hunter {
    struct rt_activity activity;
    struct forest *forest;
    uint32_t at;
    struct wolf *prey;
    struct rt_key prey_id;
    uint32_t bounty; /* The number of the wolf that the hunter is paid for. */
    uint32_t strikes;
    uint32_t hits;
    uint32_t attempts;
    struct rt_tick_wait walk;
};

struct forest {
    struct sim_world *world;
    struct sim_ticker *game;
    struct wolf wolves[LAIRS];
    struct hunter hunter;
    uint32_t born;
};

static rt_poll
wolf_poll(struct rt_activity *activity, struct rt_cx *cx)
{
    struct wolf *wolf = rt_container_of(activity, struct wolf, activity);
    RT_BEGIN(wolf->at);
    rt_tick_wait_init(&wolf->prowl, sim_range(wolf->forest->world, 4, 7));
    RT_AWAIT_HERE(wolf->at, rt_tick_wait_poll(&wolf->prowl, &activity->scope, cx));
    RT_END(wolf->at);
}

static void
wolf_born(struct forest *forest, struct wolf *wolf)
{
    *wolf = (struct wolf){.forest = forest, .number = ++forest->born};
    rt_activity_init(&wolf->activity, wolf_poll, NULL, "wolf");
    sim_ticker_spawn(forest->game, &wolf->activity);
}

static struct wolf *
choose(struct forest *forest)
{
    uint32_t first = sim_pick(forest->world, LAIRS);
    for (uint32_t i = 0; i < LAIRS; i++) {
        struct wolf *wolf = &forest->wolves[(first + i) % LAIRS];
        if (rt_activity_alive(&wolf->activity)) {
            return wolf;
        }
    }
    return NULL;
}

/* The wolf that was chosen before the walk, if there still is one. */
static struct wolf *
prey_of(struct hunter *hunter)
{
#ifdef FIXED
    struct rt_ticker *ticker = sim_ticker_ticker(hunter->forest->game);
    return rt_upgrade(ticker, hunter->prey_id) != NULL ? hunter->prey : NULL;
#else
    return rt_activity_alive(&hunter->prey->activity) ? hunter->prey : NULL;
#endif
}

static rt_poll
hunter_poll(struct rt_activity *activity, struct rt_cx *cx)
{
    struct hunter *hunter = rt_container_of(activity, struct hunter, activity);
    struct wolf *wolf;
    RT_BEGIN(hunter->at);
    for (hunter->attempts = 0; hunter->attempts < STRIKES; hunter->attempts++) {
        hunter->prey = choose(hunter->forest);
        if (hunter->prey != NULL) {
            hunter->prey_id = rt_activity_id(&hunter->prey->activity);
            hunter->bounty = hunter->prey->number;
        }
        rt_tick_wait_init(&hunter->walk, sim_range(hunter->forest->world, 2, 4));
        RT_AWAIT_HERE(hunter->at, rt_tick_wait_poll(&hunter->walk, &activity->scope, cx));
        if (hunter->prey == NULL) {
            continue;
        }
        wolf = prey_of(hunter);
        hunter->strikes++;
        if (wolf != NULL) {
            SIM_ALWAYS(wolf->number == hunter->bounty);
            hunter->hits++;
            rt_activity_drop(&wolf->activity);
        }
    }
    RT_END(hunter->at);
}

static bool
update(struct sim_world *world, void *argument)
{
    struct forest *forest = argument;
    (void)world;
    for (uint32_t i = 0; i < LAIRS; i++) {
        if (!rt_activity_alive(&forest->wolves[i].activity)) {
            wolf_born(forest, &forest->wolves[i]);
        }
    }
    return rt_activity_alive(&forest->hunter.activity);
}

static void
check(struct sim_world *world, void *state)
{
    const struct forest *forest = state;
    (void)world;
    SIM_ALWAYS(forest->hunter.attempts == STRIKES);
    SIM_ALWAYS(forest->hunter.hits <= forest->hunter.strikes);
}

static void
setup(struct sim_world *world)
{
    struct forest *forest = sim_new(world, struct forest);
    forest->world = world;
    const struct sim_ticker_options options = {.update = update, .argument = forest};
    forest->game = sim_ticker_new(world, &options);
    sim_set_state(world, forest);
    forest->hunter.forest = forest;
    rt_activity_init(&forest->hunter.activity, hunter_poll, NULL, "hunter");
    sim_ticker_spawn(forest->game, &forest->hunter.activity);
    for (uint32_t i = 0; i < LAIRS; i++) {
        wolf_born(forest, &forest->wolves[i]);
    }
}

#ifdef FIXED
#define FORM "fixed"
#else
#define FORM "broken"
#endif
SIM_SCENARIO(hunt, .name = "s21/hunt/" FORM, .about = "A hunter and wolves.", .setup = setup, .check = check);
