/* Cause: while_empty(), line 53: both collectors store their wakers in one slot, the second replaces the first, so
 * what comes for the first lies there until the next full hour; repair: a slot for each collector. */
#include <sim/rewake.h>

/* A post office: letters and parcels have a collector each; a clock looks after both now and then. */

#define KINDS 2
#define ITEMS 3
#define HOURS 4
#define HOUR (30 * RT_MS)

struct collector {
    struct rt_task task;
    struct office *office;
    struct rt_sleep sending;
    uint32_t kind;
    uint32_t at;
};

struct office {
    struct sim_world *world;
    bool fixed;
    uint32_t arrived[KINDS];
    uint32_t sent[KINDS];
    struct rt_slot slots[KINDS];
    struct collector collectors[KINDS];
};

struct clock {
    struct rt_task task;
    struct office *office;
    struct rt_sleep hour;
    uint32_t at;
    uint32_t hours;
};

struct writer {
    struct rt_task task;
    struct office *office;
    struct rt_sleep writing;
    uint32_t kind;
    uint32_t at;
};

static rt_poll
while_empty(struct collector *collector, struct rt_cx *cx)
{
    struct office *office = collector->office;
    uint32_t kind = collector->kind;
    if (office->sent[kind] < office->arrived[kind]) {
        return RT_READY;
    }
    rt_slot_replace(&office->slots[office->fixed ? kind : 0], cx, "something to send");
    return RT_PENDING;
}

static rt_poll
collector_poll(struct rt_task *task, struct rt_cx *cx)
{
    struct collector *collector = rt_container_of(task, struct collector, task);
    struct office *office = collector->office;
    RT_BEGIN(collector->at);
    while (office->sent[collector->kind] < ITEMS) {
        RT_AWAIT_HERE(collector->at, while_empty(collector, cx));
        office->sent[collector->kind]++;
        SIM_PROGRESS();
        rt_sleep_init(&collector->sending, sim_range(office->world, 1 * RT_MS, 4 * RT_MS));
        RT_AWAIT_HERE(collector->at, rt_sleep_poll(&collector->sending, cx));
    }
    RT_END(collector->at);
}

static rt_poll
clock_poll(struct rt_task *task, struct rt_cx *cx)
{
    struct clock *clock = rt_container_of(task, struct clock, task);
    RT_BEGIN(clock->at);
    for (clock->hours = 0; clock->hours < HOURS; clock->hours++) {
        rt_sleep_init(&clock->hour, HOUR);
        RT_AWAIT_HERE(clock->at, rt_sleep_poll(&clock->hour, cx));
        rt_task_wake(&clock->office->collectors[0].task);
        rt_task_wake(&clock->office->collectors[1].task);
    }
    RT_END(clock->at);
}

static rt_poll
writer_poll(struct rt_task *task, struct rt_cx *cx)
{
    struct writer *writer = rt_container_of(task, struct writer, task);
    struct office *office = writer->office;
    RT_BEGIN(writer->at);
    while (office->arrived[writer->kind] < ITEMS) {
        rt_sleep_init(&writer->writing, sim_range(office->world, 500 * RT_US, 3 * RT_MS));
        RT_AWAIT_HERE(writer->at, rt_sleep_poll(&writer->writing, cx));
        office->arrived[writer->kind]++;
        (void)rt_slot_wake(&office->slots[office->fixed ? writer->kind : 0]);
    }
    RT_END(writer->at);
}

static void
begin(struct sim_world *world, bool fixed)
{
    static const char *const names[2 * KINDS] = {"letters", "parcels", "poet", "shop"};
    struct sim_rt *rt = sim_rt_new(world, NULL);
    struct office *office = sim_new(world, struct office);
    struct clock *clock = sim_new(world, struct clock);
    office->world = world;
    office->fixed = fixed;
    clock->office = office;
    for (uint32_t i = 0; i < KINDS; i++) {
        struct collector *collector = &office->collectors[i];
        struct writer *writer = sim_new(world, struct writer);
        rt_slot_init(&office->slots[i]);
        collector->office = writer->office = office;
        collector->kind = writer->kind = i;
        rt_task_init(&collector->task, collector_poll, NULL, names[i]);
        rt_task_init(&writer->task, writer_poll, NULL, names[KINDS + i]);
        sim_spawn(rt, &collector->task);
        sim_spawn(rt, &writer->task);
    }
    rt_task_init(&clock->task, clock_poll, NULL, "clock");
    sim_spawn(rt, &clock->task);
}

static void
broken(struct sim_world *world)
{
    begin(world, false);
}

static void
fixed(struct sim_world *world)
{
    begin(world, true);
}

SIM_SCENARIO(s15_digest_b, .name = "s15/digest/broken", .about = "Two collectors, one slot.",
        .setup = broken);
SIM_SCENARIO(s15_digest_f, .name = "s15/digest/fixed", .about = "A slot for each.",
        .setup = fixed);
/* SPDX-License-Identifier: Apache-2.0 */
