/* Cause: pickup_drop(), line 57: a pick-up that is dropped at its time limit, after it has taken a parcel off the shelf and waits for the stamp, takes the parcel with it; repair: put it back on the shelf. */
#include <sim/rewake.h>

#define PARCELS 2
#define ROUNDS 6

struct depot {
    struct sim_world *world;
    unsigned shelf;
    unsigned delivered;
    bool puts_back;
};

struct pickup {
    struct rt_future future;
    struct depot *depot;
    uint32_t at;
    bool in_hand;
    struct rt_sleep walk;
    struct rt_sleep stamp;
};

struct courier {
    struct rt_task task;
    struct depot *depot;
    uint32_t at;
    unsigned round;
    struct pickup pickup;
    struct rt_timeout limit;
};

static rt_poll
pickup_poll(struct rt_future *future, struct rt_cx *cx)
{
    struct pickup *pickup = rt_container_of(future, struct pickup, future);
    struct depot *depot = pickup->depot;
    RT_BEGIN(pickup->at);
    rt_sleep_init(&pickup->walk, sim_range(depot->world, 1 * RT_MS, 3 * RT_MS));
    RT_AWAIT_HERE(pickup->at, rt_sleep_poll(&pickup->walk, cx));
    if (depot->shelf > 0) {
        depot->shelf--;
        pickup->in_hand = true;
        rt_sleep_init(&pickup->stamp, sim_range(depot->world, 1 * RT_MS, 3 * RT_MS));
        RT_AWAIT_HERE(pickup->at, rt_sleep_poll(&pickup->stamp, cx));
    }
    RT_END(pickup->at);
}

static void
pickup_drop(struct rt_future *future)
{
    struct pickup *pickup = rt_container_of(future, struct pickup, future);
    if (pickup->at != 0) {
        rt_sleep_cancel(&pickup->walk);
    }
    if (pickup->in_hand) {
        rt_sleep_cancel(&pickup->stamp);
        pickup->in_hand = false;
        pickup->depot->shelf += pickup->depot->puts_back;
    }
}

static rt_poll
courier_poll(struct rt_task *task, struct rt_cx *cx)
{
    struct courier *courier = rt_container_of(task, struct courier, task);
    struct depot *depot = courier->depot;
    RT_BEGIN(courier->at);
    for (courier->round = 0; courier->round < ROUNDS; courier->round++) {
        courier->pickup = (struct pickup){.depot = depot};
        rt_future_init(&courier->pickup.future, pickup_poll, pickup_drop, "pick-up");
        rt_timeout_init(&courier->limit, &courier->pickup.future, 5 * RT_MS);
        RT_AWAIT_HERE(courier->at, rt_timeout_poll(&courier->limit, cx));
        if (!courier->limit.expired && courier->pickup.in_hand) {
            depot->delivered++;
        }
    }
    RT_END(courier->at);
}

static void
count_parcels(struct sim_world *world, void *state)
{
    struct depot *depot = state;
    (void)world;
    SIM_ALWAYS(depot->shelf + depot->delivered == PARCELS);
}

static void
set_up(struct sim_world *world, bool puts_back)
{
    struct sim_rt *rt = sim_rt_new(world, NULL);
    struct depot *depot = sim_new(world, struct depot);
    struct courier *courier = sim_new(world, struct courier);
    depot->world = world;
    depot->shelf = PARCELS;
    depot->puts_back = puts_back;
    courier->depot = depot;
    sim_set_state(world, depot);
    rt_task_init(&courier->task, courier_poll, NULL, "courier");
    sim_spawn(rt, &courier->task);
}

static void
set_up_broken(struct sim_world *world)
{
    set_up(world, false);
}

static void
set_up_fixed(struct sim_world *world)
{
    set_up(world, true);
}

SIM_SCENARIO(broken, .name = "s18/courier/broken", .about = "Parcels, stamps and a time limit.",
        .setup = set_up_broken, .check = count_parcels);
SIM_SCENARIO(fixed, .name = "s18/courier/fixed", .about = "Parcels, stamps and a time limit.",
        .setup = set_up_fixed, .check = count_parcels);
