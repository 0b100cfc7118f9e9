/* Cause: one event is taken per mark, but marks coalesce. hen_poll() pops one event with if (37-40) and parks (46). Order: two grains (or more) fall before the same tick (58, from farm_update; thrown at drawn ticks): two events, one mark, one poll; the second event stays in the sink, each later event again leaves one behind. After the last grain nothing marks the hen. Harm: the game ends four ticks later, farm_check's SIM_ALWAYS(hen.full) at 75 fails (or the missing poll itself is reported). Fix: pop in a loop (31-35). */
#include <sim/rewake.h>

#define GRAINS 4
#define KIND_GRAIN 1u

struct farm;

struct hen {
    struct rt_activity activity;
    struct rt_event events[GRAINS];
    struct farm *farm;
    uint32_t eaten;
    bool full;
};

struct farm {
    struct sim_ticker *game;
    struct hen hen;
    uint32_t tick;
    uint32_t thrown;
    uint32_t throw_at[GRAINS];
    uint32_t idle;
};

static rt_poll
hen_poll(struct rt_activity *activity, struct rt_cx *cx)
{
    struct hen *hen = rt_container_of(activity, struct hen, activity);
    struct rt_event event;
#ifdef FIXED
    while (rt_event_pop(activity, &event)) {
        hen->eaten++;
        SIM_PROGRESS();
    }
#else
    if (rt_event_pop(activity, &event)) {
        hen->eaten++;
        SIM_PROGRESS();
    }
#endif
    if (hen->eaten == GRAINS) {
        hen->full = true;
        return RT_READY;
    }
    return rt_cx_park(cx); /* Until the next grain falls. */
}

/* The visitors. */
static bool
farm_update(struct sim_world *world, void *argument)
{
    struct farm *farm = argument;
    (void)world;
    farm->tick++;
    for (uint32_t i = 0; i < GRAINS; i++) {
        if (farm->throw_at[i] == farm->tick) {
            SIM_ALWAYS(rt_event_push(sim_ticker_ticker(farm->game),
                               rt_activity_id(&farm->hen.activity),
                               &(struct rt_event){.kind = KIND_GRAIN, .subject = i}) == RT_OK);
            farm->thrown++;
        }
    }
    if (farm->thrown == GRAINS) {
        farm->idle++;
    }
    return farm->idle < 4;
}

static void
farm_check(struct sim_world *world, void *state)
{
    struct farm *farm = state;
    (void)world;
    SIM_ALWAYS(farm->hen.full);
}

static void
setup(struct sim_world *world)
{
    struct farm *farm = sim_new(world, struct farm);
    sim_set_state(world, farm);
    struct sim_ticker_options options = {
            .name = "farm", .update = farm_update, .argument = farm};
    farm->game = sim_ticker_new(world, &options);
    for (uint32_t i = 0; i < GRAINS; i++) {
        farm->throw_at[i] = 1 + 2 * i + sim_pick(world, 3);
    }
    farm->hen.farm = farm;
    rt_activity_init(&farm->hen.activity, hen_poll, NULL, "hen");
    rt_activity_lend_events(&farm->hen.activity, farm->hen.events, GRAINS, RT_SINK_DROP_NEW);
    sim_ticker_spawn(farm->game, &farm->hen.activity);
}

#ifdef FIXED
#define FORM "fixed"
#else
#define FORM "broken"
#endif
SIM_SCENARIO(farm, .name = "s23/farm/" FORM, .about = "A hen eats grains.", .setup = setup,
        .check = farm_check);
