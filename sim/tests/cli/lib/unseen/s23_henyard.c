/* Cause: one event is taken per mark, but marks coalesce. hen_poll() pops one event with if (37-40) and parks (46). Order: two grains (or more) fall before the same tick (58, from henyard_update; thrown at drawn ticks): two events, one mark, one poll; the second event stays in the sink, each later event again leaves one behind. After the last grain nothing marks the hen. Harm: the game ends four ticks later, henyard_check's SIM_ALWAYS(hen.full) at 75 fails (or the missing poll itself is reported). Fix: pop in a loop (31-35). */
#include <sim/rewake.h>

#define GRAINS 4
#define KIND_GRAIN 1u

struct henyard;

struct hen {
    struct rt_activity activity;
    struct rt_event events[GRAINS];
    struct henyard *henyard;
    uint32_t eaten;
    bool full;
};

struct henyard {
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
henyard_update(struct sim_world *world, void *argument)
{
    struct henyard *henyard = argument;
    (void)world;
    henyard->tick++;
    for (uint32_t i = 0; i < GRAINS; i++) {
        if (henyard->throw_at[i] == henyard->tick) {
            SIM_ALWAYS(rt_event_push(sim_ticker_ticker(henyard->game),
                               rt_activity_id(&henyard->hen.activity),
                               &(struct rt_event){.kind = KIND_GRAIN, .subject = i}) == RT_OK);
            henyard->thrown++;
        }
    }
    if (henyard->thrown == GRAINS) {
        henyard->idle++;
    }
    return henyard->idle < 4;
}

static void
henyard_check(struct sim_world *world, void *state)
{
    struct henyard *henyard = state;
    (void)world;
    SIM_ALWAYS(henyard->hen.full);
}

static void
setup(struct sim_world *world)
{
    struct henyard *henyard = sim_new(world, struct henyard);
    sim_set_state(world, henyard);
    struct sim_ticker_options options = {
            .name = "henyard", .update = henyard_update, .argument = henyard};
    henyard->game = sim_ticker_new(world, &options);
    for (uint32_t i = 0; i < GRAINS; i++) {
        henyard->throw_at[i] = 1 + 2 * i + sim_pick(world, 3);
    }
    henyard->hen.henyard = henyard;
    rt_activity_init(&henyard->hen.activity, hen_poll, NULL, "hen");
    rt_activity_lend_events(&henyard->hen.activity, henyard->hen.events, GRAINS, RT_SINK_DROP_NEW);
    sim_ticker_spawn(henyard->game, &henyard->hen.activity);
}

#ifdef FIXED
#define FORM "fixed"
#else
#define FORM "broken"
#endif
SIM_SCENARIO(henyard, .name = "s23/henyard/" FORM, .about = "A hen eats grains.", .setup = setup,
        .check = henyard_check);
