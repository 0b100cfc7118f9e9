/*
 * snapshot_test.c -- a stopped run that is put back is the run as it stood.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sim/tests/lab.h"
#include "sim/world/loop.h"

/*
 * Two loops on fibers with what they know on their stacks, a task, memory from malloc, and a loop
 * that is made on the way. All of it ends in `text`.
 */
struct program {
    struct rt_task task;
    struct rt_sleep sleep;
    uint32_t naps;
    char *notes;
    char text[512];
};

static void
say(struct program *program, const char *who, uint32_t count)
{
    size_t used = strlen(program->text);
    (void)snprintf(program->text + used, sizeof(program->text) - used, "%s%u ", who, count);
}

static void
child_main(struct sim_world *world, void *argument)
{
    uint32_t count = 100;
    sim_sleep(world, RT_MS);
    say(argument, "c", ++count);
    sim_sleep(world, RT_MS);
    say(argument, "c", ++count);
}

static void
parent_main(struct sim_world *world, void *argument)
{
    struct program *program = argument;
    uint32_t count = 0;
    for (uint32_t i = 0; i < 5; i++) {
        sim_sleep(world, sim_range(world, RT_MS, 2 * RT_MS));
        say(program, "p", ++count);
        if (i % 2 == 0) {
            (void)sim_loop_new(world, "child", child_main, program);
        }
        char *more = malloc(32 + i);
        (void)snprintf(more, 32, "%s%u", program->notes != NULL ? program->notes : "", i);
        free(program->notes);
        program->notes = more;
    }
    say(program, program->notes, 0);
    free(program->notes);
    program->notes = NULL;
}

static rt_poll
task_poll(struct rt_task *task, struct rt_cx *cx)
{
    struct program *program = rt_container_of(task, struct program, task);
    while (program->naps < 4) {
        RT_AWAIT(rt_sleep_poll(&program->sleep, cx));
        say(program, "t", ++program->naps);
        rt_sleep_init(&program->sleep, RT_MS);
    }
    return RT_READY;
}

static void
setup(struct sim_world *world)
{
    struct sim_rt *rt = sim_rt_new(world, NULL);
    struct program *program = sim_new(world, struct program);
    world->state = program;
    rt_sleep_init(&program->sleep, RT_MS);
    rt_task_init(&program->task, task_poll, NULL, "task");
    sim_spawn(rt, &program->task);
    (void)sim_loop_new(world, "parent", parent_main, program);
}

static const struct sim_scenario scenario = {.name = "test/snapshot", .setup = setup};

static bool
run_to(struct lab *lab, uint64_t step)
{
    struct sim_options options;
    sim_options_init(&options, &scenario);
    return sim_world_run_to(&lab->world, &scenario, &options, 1, &lab->dullest.strategy,
            (struct sim_recording){false, false}, (struct sim_stop){step, false});
}

static void
go_to_the_end(struct sim_world *world, bool free_steps)
{
    const struct sim_settling settling = {
            .steps = 1000, .until_ns = SIM_NEVER, .free_steps = free_steps};
    EXPECT_EQ(sim_world_settle(world, &settling), SIM_SETTLED);
    EXPECT(world->over);
}

/* What the program logs when it is run to its end from `step`, where nothing was kept before. */
static void
reference(uint64_t step, char *ret_text, uint64_t *ret_ns)
{
    struct lab lab;
    lab_init(&lab, NULL, 0xa5);
    EXPECT(run_to(&lab, step));
    go_to_the_end(&lab.world, false);
    const struct program *program = lab.world.state;
    (void)snprintf(ret_text, sizeof(program->text), "%s", program->text);
    *ret_ns = lab.world.now_ns;
    sim_world_drop(&lab.world);
    lab_fini(&lab);
}

/*
 * Goal: what happens after a snapshot leaves no trace when the run is put back: not in the arena,
 * on the stacks of loops, among the loops, in what malloc gave, on the clock.
 * Method: from each step of a run it is taken to its end three times, once with free steps in
 * between; the end is that of a run without a snapshot.
 */
TEST(snapshot_put_back_is_the_run_as_it_stood)
{
    struct lab lab;
    lab_init(&lab, NULL, 0xa5);
    for (uint64_t step = 1; step < 12; step++) {
        char text[sizeof(((struct program *)0)->text)];
        uint64_t end_ns = 0;
        reference(step, text, &end_ns);
        EXPECT(run_to(&lab, step));
        if (!sim_snapshot_take(&lab.world)) {
            sim_world_drop(&lab.world); /* Under a sanitizer no run is kept. */
            break;
        }
        for (uint32_t i = 0; i < 3; i++) {
            go_to_the_end(&lab.world, i == 1);
            sim_snapshot_put_back(&lab.world);
            EXPECT(lab.world.stopped);
            EXPECT_EQ(lab.world.step, step);
        }
        go_to_the_end(&lab.world, false);
        EXPECT_STR(((const struct program *)lab.world.state)->text, text);
        EXPECT_EQ(lab.world.now_ns, end_ns);
        sim_world_drop(&lab.world);
    }
    lab_fini(&lab);
}

/* Goal: a run that is put back continues by its own decisions, and not muted, as settling was. */
TEST(snapshot_put_back_continues_as_the_run_does)
{
    struct lab lab;
    lab_init(&lab, NULL, 0xa5);
    const struct sim_stop late = {9, false};
    EXPECT(run_to(&lab, 9));
    uint64_t asked = lab.world.decider.asked;
    uint64_t now_ns = lab.world.now_ns;
    sim_world_drop(&lab.world);
    EXPECT(run_to(&lab, 3));
    if (sim_snapshot_take(&lab.world)) {
        go_to_the_end(&lab.world, true);
        sim_snapshot_put_back(&lab.world);
        EXPECT(sim_world_go_on(&lab.world, late));
        EXPECT_EQ(lab.world.decider.asked, asked);
        EXPECT_EQ(lab.world.now_ns, now_ns);
    }
    sim_world_drop(&lab.world);
    lab_fini(&lab);
}
