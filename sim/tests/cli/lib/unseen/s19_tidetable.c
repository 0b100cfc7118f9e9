/* Cause: gauge_poll() computes slot (58) before it waits for the bus (60), notes the slot of the time after the wait (65), but re-arms from the old slot (68, 56): the next deadline is past already, and the slot is noted twice. (Timers.) */
#include <sim/rewake.h>

#define SLOTS 6
#define SLOT_NS (2 * RT_MS)

struct tidetable {
    struct rt_semaphore bus;
    uint32_t noted[SLOTS + 8];
    uint64_t start_ns;
};

struct gauge {
    struct rt_task task;
    struct tidetable *table;
    struct rt_acquire acquire;
    struct rt_sleep sleep;
    uint64_t slot;
    uint64_t noted_slot;
    uint32_t at;
};

struct radar {
    struct rt_task task;
    struct tidetable *table;
    struct sim_world *world;
    struct rt_acquire acquire;
    struct rt_sleep sleep;
    uint32_t sweeps;
    uint32_t at;
};

static uint64_t
slot_now(const struct tidetable *table, struct rt_cx *cx)
{
    return (rt_cx_now(cx) - table->start_ns) / SLOT_NS;
}

static void
note(struct tidetable *table, uint64_t slot)
{
    if (slot < SLOTS) {
        table->noted[slot]++;
        SIM_ALWAYS(table->noted[slot] == 1);
        SIM_PROGRESS();
    }
}

static rt_poll
gauge_poll(struct rt_task *task, struct rt_cx *cx)
{
    struct gauge *gauge = rt_container_of(task, struct gauge, task);
    struct tidetable *table = gauge->table;
    RT_BEGIN(gauge->at);
    while (gauge->slot < SLOTS) {
        rt_sleep_until(&gauge->sleep, table->start_ns + gauge->slot * SLOT_NS);
        RT_AWAIT_HERE(gauge->at, rt_sleep_poll(&gauge->sleep, cx));
        gauge->slot = slot_now(table, cx);
        rt_acquire_init(&gauge->acquire, &table->bus, 1);
        RT_AWAIT_HERE(gauge->at, rt_acquire_poll(&gauge->acquire, cx));
#ifdef FIXED
        gauge->slot = slot_now(table, cx);
        note(table, gauge->slot);
#else
        note(table, slot_now(table, cx));
#endif
        SIM_ALWAYS(rt_semaphore_release(&table->bus, 1) == RT_OK);
        gauge->slot++;
    }
    RT_END(gauge->at);
}

static rt_poll
radar_poll(struct rt_task *task, struct rt_cx *cx)
{
    struct radar *radar = rt_container_of(task, struct radar, task);
    struct tidetable *table = radar->table;
    RT_BEGIN(radar->at);
    for (radar->sweeps = 0; radar->sweeps < 2; radar->sweeps++) {
        rt_sleep_init(&radar->sleep, sim_range(radar->world, 2500 * RT_US, 6 * RT_MS));
        RT_AWAIT_HERE(radar->at, rt_sleep_poll(&radar->sleep, cx));
        rt_acquire_init(&radar->acquire, &table->bus, 1);
        RT_AWAIT_HERE(radar->at, rt_acquire_poll(&radar->acquire, cx));
        rt_sleep_init(&radar->sleep, sim_range(radar->world, 500 * RT_US, 5 * RT_MS));
        RT_AWAIT_HERE(radar->at, rt_sleep_poll(&radar->sleep, cx));
        SIM_ALWAYS(rt_semaphore_release(&table->bus, 1) == RT_OK);
    }
    RT_END(radar->at);
}

static void
setup(struct sim_world *world)
{
    struct sim_rt *rt = sim_rt_new(world, NULL);
    struct tidetable *table = sim_new(world, struct tidetable);
    struct gauge *gauge = sim_new(world, struct gauge);
    struct radar *radar = sim_new(world, struct radar);
    rt_semaphore_init(&table->bus, 1);
    table->start_ns = sim_now(world);
    gauge->table = radar->table = table;
    radar->world = world;
    rt_task_init(&gauge->task, gauge_poll, NULL, "gauge");
    rt_task_init(&radar->task, radar_poll, NULL, "radar");
    sim_spawn(rt, &gauge->task);
    sim_spawn(rt, &radar->task);
}

#ifdef FIXED
#define FORM "fixed"
#else
#define FORM "broken"
#endif
SIM_SCENARIO(tidetable, .name = "s19/tidetable/" FORM, .about = "A gauge notes each slot once.",
        .setup = setup);
