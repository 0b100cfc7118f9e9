/* Cause: dog_poll() keeps the pointer hen across the wait (76) and pushes the event by the id that is found there then (82) instead of by the weak reference target taken before (73): after update() has sold that hen and bought another one into the same memory (96-97), the new hen gets the call for the old one's ring. (Ticks.) */
#include <sim/rewake.h>

#define NESTS 2
#define DAY 12

enum { SHOO = 1 };

struct hen {
    struct rt_activity activity;
    struct rt_event events[4];
    uint32_t ring;   /* Its number. */
    uint32_t shooed; /* The ring that was called, last. */
};

struct dog {
    struct rt_activity activity;
    struct farm *farm;
    struct rt_key target;
    struct hen *hen;
    uint32_t ring;
    struct rt_tick_wait wait;
    uint32_t driven, walks;
    uint32_t at;
};

struct farm {
    struct sim_ticker *game;
    struct hen hens[NESTS];
    struct dog dog;
    uint32_t rings;
    uint64_t tick;
    uint64_t leaves; /* At this tick a hen is sold, and another one bought. */
};

static rt_poll
hen_poll(struct rt_activity *activity, struct rt_cx *cx)
{
    struct hen *hen = rt_container_of(activity, struct hen, activity);
    struct rt_event event;
    for (;;) {
        RT_AWAIT(rt_next_event(cx, &event));
        hen->shooed = (uint32_t)event.value;
        SIM_ALWAYS(hen->shooed == hen->ring);
    }
}

static void
buy_hen(struct farm *farm, uint32_t nest)
{
    struct hen *hen = &farm->hens[nest];
    rt_activity_init(&hen->activity, hen_poll, NULL, "hen");
    rt_activity_lend_events(&hen->activity, hen->events, 4, RT_SINK_DROP_NEW);
    hen->ring = ++farm->rings;
    sim_ticker_spawn(farm->game, &hen->activity);
}

static void
sell_hen(struct farm *farm, uint32_t nest)
{
    rt_activity_drop(&farm->hens[nest].activity);
    rt_activity_fini(&farm->hens[nest].activity);
}

static rt_poll
dog_poll(struct rt_activity *activity, struct rt_cx *cx)
{
    struct dog *dog = rt_container_of(activity, struct dog, activity);
    struct rt_ticker *ticker = activity->ticker;
    RT_BEGIN(dog->at);
    for (dog->walks = 0; dog->walks < 2; dog->walks++) {
        dog->hen = &dog->farm->hens[dog->walks % NESTS];
        dog->target = rt_activity_id(&dog->hen->activity);
        dog->ring = dog->hen->ring;
        rt_tick_wait_init(&dog->wait, 3);
        RT_AWAIT_HERE(dog->at, rt_tick_wait_poll(&dog->wait, &activity->scope, cx));
#ifdef FIXED
        if (rt_upgrade(ticker, dog->target) == NULL) {
            continue;
        }
#endif
        if (rt_event_push(ticker, rt_activity_id(&dog->hen->activity),
                    &(struct rt_event){.kind = SHOO, .value = dog->ring}) == RT_OK) {
            dog->driven++;
        }
    }
    RT_END(dog->at);
}

static bool
update(struct sim_world *world, void *argument)
{
    struct farm *farm = argument;
    (void)world;
    if (++farm->tick == farm->leaves) {
        sell_hen(farm, 1);
        buy_hen(farm, 1);
    }
    return farm->tick < DAY;
}

static void
setup(struct sim_world *world)
{
    struct farm *farm = sim_new(world, struct farm);
    struct sim_ticker_options options = {.name = "farm", .update = update, .argument = farm};
    farm->game = sim_ticker_new(world, &options);
    farm->leaves = 1 + sim_range(world, 0, DAY - 2);
    farm->dog.farm = farm;
    rt_activity_init(&farm->dog.activity, dog_poll, NULL, "dog");
    for (uint32_t nest = 0; nest < NESTS; nest++) {
        buy_hen(farm, nest);
    }
    sim_ticker_spawn(farm->game, &farm->dog.activity);
}

#ifdef FIXED
#define FORM "fixed"
#else
#define FORM "broken"
#endif
SIM_SCENARIO(henhouse, .name = "s19/henhouse/" FORM, .about = "A dog drives hens home.", .setup = setup);
