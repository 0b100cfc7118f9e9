/* Cause: robot_poll(), line 53: the shelf is chosen before the wait for the lift; another robot that chose the same shelf and got the lift first has filled it meanwhile, and the second box is put into a full shelf; repair: choose the shelf (again) when the lift is there. */
/*
 * Robots bring boxes to a warehouse. There is one lift; a robot rides it to the first empty shelf.
 */
#include <sim/rewake.h>

#define ROBOTS 3

struct warehouse {
    struct rt_semaphore lifts;
    uint32_t shelves[ROBOTS]; /* The box in it; 0: empty. */
    bool fixed;
};

struct robot {
    struct rt_task task;
    struct warehouse *warehouse;
    struct rt_sleep sleep;
    struct rt_acquire lift;
    uint64_t arrives_ns;
    uint64_t rides_ns;
    uint32_t box;
    uint32_t shelf;
    uint32_t at;
};

static uint32_t
first_empty(const struct warehouse *warehouse)
{
    uint32_t shelf = 0;
    while (shelf < ROBOTS - 1 && warehouse->shelves[shelf] != 0) {
        shelf++;
    }
    return shelf;
}

static void
store(struct warehouse *warehouse, uint32_t shelf, uint32_t box)
{
    SIM_ALWAYS(warehouse->shelves[shelf] == 0);
    warehouse->shelves[shelf] = box;
}

static rt_poll
robot_poll(struct rt_task *task, struct rt_cx *cx)
{
    struct robot *robot = rt_container_of(task, struct robot, task);
    struct warehouse *warehouse = robot->warehouse;
    RT_BEGIN(robot->at);
    rt_sleep_init(&robot->sleep, robot->arrives_ns);
    RT_AWAIT_HERE(robot->at, rt_sleep_poll(&robot->sleep, cx));

    robot->shelf = first_empty(warehouse);
    rt_acquire_init(&robot->lift, &warehouse->lifts, 1);
    RT_AWAIT_HERE(robot->at, rt_acquire_poll(&robot->lift, cx));
    if (warehouse->fixed) {
        robot->shelf = first_empty(warehouse);
    }
    store(warehouse, robot->shelf, robot->box);

    /* Up, and down again. */
    rt_sleep_init(&robot->sleep, robot->rides_ns);
    RT_AWAIT_HERE(robot->at, rt_sleep_poll(&robot->sleep, cx));
    SIM_ALWAYS(rt_semaphore_release(&warehouse->lifts, 1) == RT_OK);
    RT_END(robot->at);
}

static void
set_up(struct sim_world *world, bool fixed)
{
    static const char *const names[ROBOTS] = {"robot A", "robot B", "robot C"};
    struct sim_rt *rt = sim_rt_new(world, NULL);
    struct warehouse *warehouse = sim_new(world, struct warehouse);
    rt_semaphore_init(&warehouse->lifts, 1);
    warehouse->fixed = fixed;
    for (uint32_t i = 0; i < ROBOTS; i++) {
        struct robot *robot = sim_new(world, struct robot);
        robot->warehouse = warehouse;
        robot->box = i + 1;
        robot->arrives_ns = (i + 1) * RT_MS + sim_range(world, 0, 2 * RT_MS);
        robot->rides_ns = sim_range(world, RT_MS / 2, 3 * RT_MS);
        rt_task_init(&robot->task, robot_poll, NULL, names[i]);
        sim_spawn(rt, &robot->task);
    }
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

SIM_SCENARIO(broken, .name = "s17/warehouse/broken", .about = "The first form.", .setup = set_up_broken);
SIM_SCENARIO(fixed, .name = "s17/warehouse/fixed", .about = "The repaired form.", .setup = set_up_fixed);

/* SPDX-License-Identifier: Apache-2.0 */
