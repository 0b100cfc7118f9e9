/* A sluice: a pump runs when the float says so, or at the latest when its pause is over; the float
 * notifies for several litres at once. */
#include <sim/rewake.h>

#define RAINS 4

struct basin {
    struct sim_world *world;
    struct rt_notify risen;
    uint32_t litres;
    uint32_t pumped;
    uint32_t pauses;
    bool dry; /* It does not rain any more. */
};

struct rain {
    struct rt_task task;
    struct basin *basin;
    struct rt_sleep gap;
    uint32_t showers;
    uint32_t at;
};

struct pump {
    struct rt_task task;
    struct basin *basin;
    struct rt_notified risen;
    struct rt_sleep_future pause;
    struct rt_child children[2];
    struct rt_race race;
    uint32_t at;
};

static rt_poll
rain_poll(struct rt_task *task, struct rt_cx *cx)
{
    struct rain *rain = rt_container_of(task, struct rain, task);
    struct basin *basin = rain->basin;
    RT_BEGIN(rain->at);
    for (rain->showers = 0; rain->showers < RAINS; rain->showers++) {
        rt_sleep_init(&rain->gap, sim_range(basin->world, RT_MS, 4 * RT_MS));
        RT_AWAIT_HERE(rain->at, rt_sleep_poll(&rain->gap, cx));
        rt_notify_one(&basin->risen);
        basin->litres += 1 + sim_pick(basin->world, 3);
    }
    basin->dry = true;
    rt_notify_one(&basin->risen);
    RT_END(rain->at);
}

static void
pump_wait(struct pump *pump)
{
    rt_notified_init(&pump->risen, &pump->basin->risen);
    rt_sleep_future_init(&pump->pause, 3 * RT_MS);
    pump->children[0].future = &pump->pause.future;
    pump->children[1].future = &pump->risen.future;
    SIM_ALWAYS(rt_race_init(&pump->race, pump->children, 2) == RT_OK);
}

static rt_poll
pump_poll(struct rt_task *task, struct rt_cx *cx)
{
    struct pump *pump = rt_container_of(task, struct pump, task);
    struct basin *basin = pump->basin;
    RT_BEGIN(pump->at);
    for (;;) {
        basin->pumped += basin->litres;
        basin->litres = 0;
        SIM_PROGRESS();
        if (basin->dry) {
            break;
        }
        pump_wait(pump);
        RT_AWAIT_HERE(pump->at, rt_race_poll(&pump->race, cx));
        if (pump->race.winner == 0) {
            basin->pauses++;
        }
    }
    RT_END(pump->at);
}

static void
check(struct sim_world *world, void *state)
{
    struct basin *basin = state;
    (void)world;
    SIM_ALWAYS(basin->litres == 0);
    SIM_ALWAYS(basin->pumped >= RAINS && basin->pumped <= 3 * RAINS);
}

static void
setup(struct sim_world *world)
{
    struct sim_rt *rt = sim_rt_new(world, NULL);
    struct basin *basin = sim_new(world, struct basin);
    struct rain *rain = sim_new(world, struct rain);
    struct pump *pump = sim_new(world, struct pump);
    basin->world = world;
    rt_notify_init(&basin->risen);
    rain->basin = basin;
    pump->basin = basin;
    rt_task_init(&rain->task, rain_poll, NULL, "rain");
    rt_task_init(&pump->task, pump_poll, NULL, "pump");
    sim_spawn(rt, &pump->task);
    sim_spawn(rt, &rain->task);
    sim_set_state(world, basin);
}

SIM_SCENARIO(sluice, .name = "s20/sluice", .about = "A pump that races a float against a pause.",
        .setup = setup, .check = check);
