/*
 * names_test.c -- names of slots and of wakers of combinators.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <stdlib.h>

#include "sim/tests/lab.h"

/* A task that waits through a combinator: the waker in the slot is that of a target. */
struct program {
    struct rt_task task;
    struct rt_target target;
    struct rt_slot slot;
    struct rt_slot own; /* Of the task itself, which the target wakes. */
    struct rt_task waker;
    bool ready;
};

static void
on_woken(struct rt_target *target, const struct rt_site *await)
{
    struct program *program = rt_container_of(target, struct program, target);
    (void)await;
    (void)rt_slot_wake(&program->own);
}

static rt_poll
task_poll(struct rt_task *task, struct rt_cx *cx)
{
    struct program *program = rt_container_of(task, struct program, task);
    if (program->ready) {
        rt_target_close(&program->target);
        return RT_READY;
    }
    SIM_ALWAYS(rt_target_open(&program->target, cx->executor, on_woken) == RT_OK);
    struct rt_cx child = rt_cx_for_child(cx, rt_target_waker(&program->target));
    rt_slot_replace(&program->slot, &child, "a letter");
    rt_slot_replace(&program->own, cx, "a child");
    return RT_PENDING;
}

static rt_poll
waker_poll(struct rt_task *task, struct rt_cx *cx)
{
    struct program *program = rt_container_of(task, struct program, waker);
    (void)cx;
    program->ready = true;
    (void)rt_slot_wake(&program->slot);
    return RT_READY;
}

static void
setup(struct sim_world *world)
{
    struct sim_rt *rt = sim_rt_new(world, NULL);
    struct program *program = sim_new(world, struct program);
    rt_slot_init(&program->slot);
    rt_slot_init(&program->own);
    rt_task_init(&program->task, task_poll, NULL, "task");
    rt_task_init(&program->waker, waker_poll, NULL, "waker");
    sim_slot_name(world, &program->slot, "letters");
    sim_target_name(world, &program->target, "either");
    sim_target_name(world, &program->target, "too late");
    sim_spawn(rt, &program->task);
    sim_spawn(rt, &program->waker);
    sim_set_state(world, program);
}

static const char *
name_of(const struct lab *lab, uint32_t object)
{
    return sim_recorder_text(&lab->world.recorder, SIM_TEXT_OBJECT, object);
}

/*
 * Goal: a slot and a target have their names from the first store on; the first name counts.
 * Method: the first event STORE, which has the slot as its object and the target as its argument.
 */
TEST(names_of_slots_and_targets_are_those_given_before_the_first_store)
{
    static const struct sim_scenario scenario = {.name = "test/names", .setup = setup};
    struct lab *lab = calloc(1, sizeof(*lab));
    lab_init(lab, NULL, 0);
    EXPECT_EQ(lab_run(lab, &scenario, 1, true).verdict, SIM_VERDICT_PASS);
    const struct sim_event *store = NULL;
    for (uint64_t i = lab->world.recorder.count; i-- > 0;) {
        const struct sim_event *event = sim_recorder_event(&lab->world.recorder, i);
        store = event->kind == RT_PROBE_STORE ? event : store;
    }
    EXPECT(store != NULL);
    EXPECT_STR(name_of(lab, store->object), "letters");
    EXPECT_STR(name_of(lab, (uint32_t)store->argument), "either");
    EXPECT_STR(sim_world_object_name(&lab->world, store->object), "letters");
    lab_fini(lab);
    free(lab);
}
