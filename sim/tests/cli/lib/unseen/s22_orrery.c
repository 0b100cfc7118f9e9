/* Cause: Overflow under a burst is ignored. report() returns false when the planet's sink (2 places, line 6) is full: rt_event_push RT_E_FULL drops the event. update() in the broken form counts it as reported (62-63). Order: two transits at one tick, and again one or two while the planet is plotting (it takes one event in one to two ticks): three unread ones. Harm: SIM_ALWAYS line 28 (event.value == recorded) at the next event that did go in; or, if the lost ones were the last, the planet waits forever, and after 200 ticks SIM_ALWAYS line 75 in check fails. Fix: lines 58-60: what was refused is reported again at the next tick. */
#include <sim/rewake.h>

#define TRANSITS 5
#define KIND_TRANSIT 1u
#define LOG_SIZE 2u /* Transits that the planet may have unread. */

struct orrery {
    struct sim_world *world;
    struct sim_ticker *game;
    struct rt_activity planet;
    struct rt_event unread[LOG_SIZE];
    struct rt_tick_wait plotting;
    struct rt_event event;
    uint32_t at;
    uint32_t happened; /* Transits so far ... */
    uint32_t reported; /* ... of which the planet has heard ... */
    uint32_t recorded; /* ... and which it has recorded. */
    uint32_t ticks;
};

static rt_poll planet_poll(struct rt_activity *activity, struct rt_cx *cx)
{
    struct orrery *orrery = rt_container_of(activity, struct orrery, planet);
    RT_BEGIN(orrery->at);
    while (orrery->recorded < TRANSITS) {
        RT_AWAIT_HERE(orrery->at, rt_next_event(cx, &orrery->event));
        SIM_ALWAYS(orrery->event.value == orrery->recorded);
        orrery->recorded++;
        SIM_PROGRESS();
        /* Plots it, which takes until the next tick or the one after. */
        rt_tick_wait_init(&orrery->plotting, 1 + sim_pick(orrery->world, 2));
        RT_AWAIT_HERE(orrery->at,
                rt_tick_wait_poll(&orrery->plotting, &orrery->planet.scope, cx));
    }
    RT_END(orrery->at);
}

/* Tells the planet of a transit. */
static bool report(struct orrery *orrery, uint32_t number)
{
    rt_err err = rt_event_push(sim_ticker_ticker(orrery->game), rt_activity_id(&orrery->planet),
            &(struct rt_event){.kind = KIND_TRANSIT, .subject = 3, .value = number});
    SIM_ALWAYS(err == RT_OK || err == RT_E_FULL);
    return err == RT_OK;
}

/* Before each tick: the moons move. At times two of them pass at once, mostly none. */
static bool update(struct sim_world *world, void *argument)
{
    struct orrery *orrery = argument;
    static const uint32_t passes[8] = {1, 0, 0, 1, 0, 2, 0, 0};
    uint32_t passing = passes[sim_pick(world, 8)];
    while (passing-- > 0 && orrery->happened < TRANSITS)
        orrery->happened++;
    while (orrery->reported < orrery->happened) {
#ifdef FIXED
        if (!report(orrery, orrery->reported))
            break; /* At the next tick. */
        orrery->reported++;
#else
        (void)report(orrery, orrery->reported);
        orrery->reported++;
#endif
    }
    if (!rt_activity_alive(&orrery->planet) && orrery->happened == TRANSITS)
        return false;
    return ++orrery->ticks < 200;
}

static void check(struct sim_world *world, void *state)
{
    struct orrery *orrery = state;
    (void)world;
    SIM_ALWAYS(orrery->happened < TRANSITS || orrery->recorded == TRANSITS);
}

static void setup(struct sim_world *world)
{
    struct orrery *orrery = sim_new(world, struct orrery);
    struct sim_ticker_options options = {.name = "orrery", .update = update, .argument = orrery};
    orrery->world = world;
    orrery->game = sim_ticker_new(world, &options);
    sim_set_state(world, orrery);
    rt_activity_init(&orrery->planet, planet_poll, NULL, "planet");
    rt_activity_lend_events(&orrery->planet, orrery->unread, LOG_SIZE, RT_SINK_DROP_NEW);
    sim_ticker_spawn(orrery->game, &orrery->planet);
}

#ifdef FIXED
#define FORM "fixed"
#else
#define FORM "broken"
#endif
SIM_SCENARIO(orrery_scenario, .name = "s22/orrery/" FORM, .about = "Transits of moons.",
        .setup = setup, .check = check);
