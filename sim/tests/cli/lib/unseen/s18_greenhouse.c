/* Cause: plant_poll(), line 40: `open` is looked at before the fetch of the tray and not again before the wait, and notify_all wakes only those who wait already; repair: begin to wait (or look again) after the fetch. */
#include <sim/rewake.h>

#define PLANTS 2

struct house {
    bool open; /* The shutters. */
    struct rt_notify opened;
    bool looks_again;
};

struct plant {
    struct rt_task task;
    struct house *house;
    struct sim_world *world;
    uint32_t at;
    struct rt_sleep fetch;
    struct rt_notified wait;
};

struct shutters {
    struct rt_task task;
    struct house *house;
    struct sim_world *world;
    uint32_t at;
    struct rt_sleep motor;
};

static rt_poll
plant_poll(struct rt_task *task, struct rt_cx *cx)
{
    struct plant *plant = rt_container_of(task, struct plant, task);
    struct house *house = plant->house;
    RT_BEGIN(plant->at);
    if (!house->open) {
        rt_sleep_init(&plant->fetch, sim_range(plant->world, 1 * RT_MS, 4 * RT_MS));
        RT_AWAIT_HERE(plant->at, rt_sleep_poll(&plant->fetch, cx));
        if (!house->looks_again || !house->open) {
            rt_notified_init(&plant->wait, &house->opened);
            RT_AWAIT_HERE(plant->at, rt_notified_poll(&plant->wait, cx));
        }
    }
    SIM_ALWAYS(house->open);
    RT_END(plant->at);
}

static rt_poll
shutters_poll(struct rt_task *task, struct rt_cx *cx)
{
    struct shutters *shutters = rt_container_of(task, struct shutters, task);
    RT_BEGIN(shutters->at);
    rt_sleep_init(&shutters->motor, sim_range(shutters->world, 5 * RT_MS, 7 * RT_MS) -
                                            sim_range(shutters->world, 0, 4 * RT_MS));
    RT_AWAIT_HERE(shutters->at, rt_sleep_poll(&shutters->motor, cx));
    shutters->house->open = true;
    (void)rt_notify_all(&shutters->house->opened);
    RT_END(shutters->at);
}

static void
set_up(struct sim_world *world, bool looks_again)
{
    struct sim_rt *rt = sim_rt_new(world, NULL);
    struct house *house = sim_new(world, struct house);
    rt_notify_init(&house->opened);
    house->looks_again = looks_again;
    for (int i = 0; i < PLANTS; i++) {
        struct plant *plant = sim_new(world, struct plant);
        plant->house = house;
        plant->world = world;
        rt_task_init(&plant->task, plant_poll, NULL, "plant");
        sim_spawn(rt, &plant->task);
    }
    struct shutters *shutters = sim_new(world, struct shutters);
    shutters->house = house;
    shutters->world = world;
    rt_task_init(&shutters->task, shutters_poll, NULL, "shutters");
    sim_spawn(rt, &shutters->task);
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

SIM_SCENARIO(broken, .name = "s18/greenhouse/broken", .about = "Plants wait for the shutters.",
        .setup = set_up_broken);
SIM_SCENARIO(fixed, .name = "s18/greenhouse/fixed", .about = "Plants wait for the shutters.",
        .setup = set_up_fixed);
