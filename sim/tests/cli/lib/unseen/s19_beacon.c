/* Cause: ship_poll() asks whether a buoy is free (69-71) and moors by a second message (72); on_moor() (45) does not check again, and both ships were told that the one buoy is free. (Shards; check-then-act.) */
#include <sim/rewake.h>

#define SHIPS 2
#define BUOYS 1

struct mooring {
    int32_t free;
    uint32_t fast;
    uint32_t done; /* Ships that have made up their mind. */
};

struct ship {
    struct rt_task task;
    struct mooring *mooring;
    struct rt_shards *shards;
    struct rt_shard *shard;
    struct rt_sleep voyage;
    uint64_t voyage_ns;
    struct rt_submit call;
    int32_t told; /* Free buoys. */
    bool moored;
    struct rt_message report;
    uint32_t at;
};

static void
on_question(struct rt_message *message, struct rt_shard *shard)
{
    struct ship *ship = rt_container_of(message, struct ship, call.message);
    ship->told = ship->mooring->free;
    rt_message_answer(message, shard, RT_OK);
}

static void
on_moor(struct rt_message *message, struct rt_shard *shard)
{
    struct ship *ship = rt_container_of(message, struct ship, call.message);
#ifdef FIXED
    if (ship->mooring->free == 0) {
        rt_message_answer(message, shard, RT_E_FULL);
        return;
    }
#endif
    ship->mooring->free--;
    ship->mooring->fast++;
    SIM_ALWAYS(ship->mooring->free >= 0);
    rt_message_answer(message, shard, RT_OK);
}

static void
on_report(struct rt_message *message, struct rt_shard *shard)
{
    struct ship *ship = rt_container_of(message, struct ship, report);
    rt_message_answer(message, shard, RT_OK);
    if (++ship->mooring->done == SHIPS) {
        SIM_ALWAYS(ship->mooring->fast == BUOYS);
        rt_shards_close(ship->shards);
    }
}

static rt_poll
ship_poll(struct rt_task *task, struct rt_cx *cx)
{
    struct ship *ship = rt_container_of(task, struct ship, task);
    RT_BEGIN(ship->at);
    rt_sleep_init(&ship->voyage, ship->voyage_ns);
    RT_AWAIT_HERE(ship->at, rt_sleep_poll(&ship->voyage, cx));
    rt_submit_to(&ship->call, ship->shard, 0, on_question);
    RT_AWAIT_HERE(ship->at, rt_future_poll(&ship->call.future, cx));
    if (ship->told > 0) {
        rt_submit_to(&ship->call, ship->shard, 0, on_moor);
        RT_AWAIT_HERE(ship->at, rt_future_poll(&ship->call.future, cx));
        ship->moored = ship->call.message.result == RT_OK;
    }
    SIM_ALWAYS(rt_message_send(&ship->report, ship->shard, 0) == RT_OK);
    RT_END(ship->at);
}

static void
setup(struct sim_world *world)
{
    struct sim_shard_group_options options = {.count = 1 + SHIPS};
    struct sim_shard_group *group = sim_shard_group_new(world, &options);
    struct mooring *mooring = sim_new(world, struct mooring);
    mooring->free = BUOYS;
    for (uint32_t i = 0; i < SHIPS; i++) {
        struct ship *ship = sim_new(world, struct ship);
        ship->mooring = mooring;
        ship->shards = sim_shard_group_shards(group);
        ship->shard = sim_shard_group_shard(group, 1 + i);
        ship->voyage_ns = sim_range(world, (1 + i) * RT_MS, (2 + i) * RT_MS);
        rt_message_init(&ship->report, on_report, NULL);
        rt_task_init(&ship->task, ship_poll, NULL, i == 0 ? "brig" : "cutter");
        sim_spawn(sim_shard_group_rt(group, 1 + i), &ship->task);
    }
}

#ifdef FIXED
#define FORM "fixed"
#else
#define FORM "broken"
#endif
SIM_SCENARIO(beacon, .name = "s19/beacon/" FORM, .about = "Two ships, one buoy.", .setup = setup);
