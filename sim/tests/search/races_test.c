/*
 * races_test.c -- which accesses could have had the other order, and which reads count.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "sim/search/learn/observe.h"
#include "sim/search/learn/races.h"
#include "sim/tests/search/search_lab.h"

#define LOCK 101u
#define DATA 102u
#define TASK 103u

static struct sim_races races;

static bool
touch(uint32_t actor, uint32_t resource, uint32_t mode)
{
    const struct sim_access access = {resource, mode};
    return sim_races_step(&races, actor, 0, &access, 1) != 0;
}

static void
begin(void)
{
    sim_races_begin(&races);
    sim_races_start(&races, 1, 0);
    sim_races_start(&races, 2, 0);
}

TEST(races_touches_that_conflict_race_and_others_do_not)
{
    begin();
    EXPECT(!touch(1, DATA, SIM_MODE_READ));
    EXPECT(!touch(2, DATA, SIM_MODE_READ));
    EXPECT(touch(1, DATA, SIM_MODE_WRITE));
    EXPECT(!touch(1, DATA, SIM_MODE_WRITE));
    EXPECT(touch(2, DATA, SIM_MODE_READ));
    begin();
    EXPECT(!touch(2, DATA, SIM_MODE_WRITE));
}

TEST(races_who_holds_a_lock_races_for_it_and_not_for_what_it_guards)
{
    begin();
    EXPECT(!touch(1, LOCK, SIM_MODE_WRITE));
    EXPECT(!touch(1, DATA, SIM_MODE_WRITE));
    EXPECT(!touch(1, LOCK, SIM_MODE_WRITE));
    EXPECT(touch(2, LOCK, SIM_MODE_WRITE));
    EXPECT(!touch(2, DATA, SIM_MODE_WRITE));
}

TEST(races_a_start_and_a_wake_come_before_all_that_follows)
{
    const struct sim_access woken[] = {{DATA, SIM_MODE_WRITE}, {TASK, SIM_MODE_WRITE}};
    sim_races_begin(&races);
    EXPECT(!touch(1, DATA, SIM_MODE_WRITE));
    sim_races_start(&races, 2, 1);
    EXPECT(!touch(2, DATA, SIM_MODE_WRITE));
    EXPECT(!touch(2, TASK, SIM_MODE_WRITE));
    sim_races_start(&races, 3, 0);
    EXPECT_EQ(sim_races_step(&races, 3, TASK, woken, 2), 0u);
    /* The same touches, by one that was not woken. */
    sim_races_start(&races, 4, 0);
    EXPECT_EQ(sim_races_step(&races, 4, 0, woken, 2), 3u);
}

TEST(races_an_actor_without_a_clock_races_with_everybody)
{
    begin();
    EXPECT(!touch(SIM_RACES_ACTORS, DATA, SIM_MODE_WRITE));
    sim_races_start(&races, 1, SIM_RACES_ACTORS);
    EXPECT(touch(1, DATA, SIM_MODE_WRITE));
    EXPECT(touch(SIM_RACES_ACTORS, DATA, SIM_MODE_WRITE));
}

/* ---- Looks in vain. -------------------------------------------------------------------------- */

#define VAIN 3

struct gate {
    struct rt_task guard;
    struct rt_task visitor;
    struct sim_cell open;
    struct rt_slot slot;
    uint32_t steps;
};

/* Wakes the waiter, and opens the last time. */
static rt_poll
guard_poll(struct rt_task *task, struct rt_cx *cx)
{
    struct gate *gate = rt_container_of(task, struct gate, guard);
    if (rt_slot_empty(&gate->slot)) {
        rt_cx_reenqueue(cx);
        return RT_PENDING;
    }
    if (++gate->steps == VAIN) {
        sim_cell_set(&gate->open, 1);
    }
    (void)rt_slot_wake(&gate->slot);
    if (gate->steps == VAIN) {
        return RT_READY;
    }
    rt_cx_reenqueue(cx);
    return RT_PENDING;
}

static rt_poll
visitor_poll(struct rt_task *task, struct rt_cx *cx)
{
    struct gate *gate = rt_container_of(task, struct gate, visitor);
    if (sim_cell_get(&gate->open) != 0) {
        return RT_READY;
    }
    rt_slot_replace(&gate->slot, cx, "the gate");
    return RT_PENDING;
}

static void
setup_gate(struct sim_world *world)
{
    struct sim_rt *rt = sim_rt_new(world, NULL);
    struct gate *gate = sim_new(world, struct gate);
    sim_cell_init(world, &gate->open, "open", 0);
    rt_slot_init(&gate->slot);
    rt_task_init(&gate->guard, guard_poll, NULL, "guard");
    rt_task_init(&gate->visitor, visitor_poll, NULL, "visitor");
    sim_spawn(rt, &gate->guard);
    sim_spawn(rt, &gate->visitor);
}

static const struct sim_scenario gate_scenario = {
        .name = "test/gate", .setup = setup_gate, .declared = true};

/*
 * Goal: a task that is woken in vain repeatedly counts one read, not many: a crowd at a lock would
 * else outweigh a task that arrives late.
 * Method: one run in which a task reads VAIN times in vain and then succeeds.
 */
TEST(steps_a_look_that_ends_in_waiting_does_not_count)
{
    struct search_lab lab;
    uint64_t reads = 0;
    search_lab_init(&lab, "random");
    (void)search_lab_run(&lab, &gate_scenario, 1, true);
    for (uint32_t i = 0; i < lab.learned.facts.count; i++) {
        const struct sim_fact *fact = &lab.learned.facts.entries[i];
        bool is_cell = SIM_OBJECT_KIND(sim_object_resource(fact)) == RT_OBJECT_USER;
        if (fact->kind == SIM_FACT_OBJECT && is_cell && sim_object_mode(fact) == SIM_MODE_READ) {
            reads += fact->sum;
        }
    }
    EXPECT_EQ(reads, 1);
    search_lab_fini(&lab);
}
