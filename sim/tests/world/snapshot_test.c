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
struct story {
    struct rt_task task;
    struct rt_sleep sleep;
    uint32_t naps;
    char *notes;
    char text[512];
};

static void
say(struct story *story, const char *who, uint32_t count)
{
    size_t used = strlen(story->text);
    (void)snprintf(story->text + used, sizeof(story->text) - used, "%s%u ", who, count);
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
    struct story *story = argument;
    uint32_t count = 0;
    for (uint32_t i = 0; i < 5; i++) {
        sim_sleep(world, sim_range(world, RT_MS, 2 * RT_MS));
        say(story, "p", ++count);
        if (i % 2 == 0) {
            (void)sim_loop_new(world, "child", child_main, story);
        }
        char *more = malloc(32 + i);
        (void)snprintf(more, 32, "%s%u", story->notes != NULL ? story->notes : "", i);
        free(story->notes);
        story->notes = more;
    }
    say(story, story->notes, 0);
    free(story->notes);
    story->notes = NULL;
}

static rt_poll
task_poll(struct rt_task *task, struct rt_cx *cx)
{
    struct story *story = rt_container_of(task, struct story, task);
    while (story->naps < 4) {
        RT_AWAIT(rt_sleep_poll(&story->sleep, cx));
        say(story, "t", ++story->naps);
        rt_sleep_init(&story->sleep, RT_MS);
    }
    return RT_READY;
}

static void
setup(struct sim_world *world)
{
    struct sim_rt *rt = sim_rt_new(world, NULL);
    struct story *story = sim_new(world, struct story);
    world->state = story;
    rt_sleep_init(&story->sleep, RT_MS);
    rt_task_init(&story->task, task_poll, NULL, "task");
    sim_spawn(rt, &story->task);
    (void)sim_loop_new(world, "parent", parent_main, story);
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

/* What the story says when it is taken to its end from `step`, where nothing was kept before. */
static void
reference(uint64_t step, char *ret_text, uint64_t *ret_ns)
{
    struct lab lab;
    lab_init(&lab, NULL, 0xa5);
    EXPECT(run_to(&lab, step));
    go_to_the_end(&lab.world, false);
    const struct story *story = lab.world.state;
    (void)snprintf(ret_text, sizeof(story->text), "%s", story->text);
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
        char text[sizeof(((struct story *)0)->text)];
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
        EXPECT_STR(((const struct story *)lab.world.state)->text, text);
        EXPECT_EQ(lab.world.now_ns, end_ns);
        sim_world_drop(&lab.world);
    }
    lab_fini(&lab);
}

/* Goal: a run that is put back goes on by its own decisions, and not muted, as the settling was. */
TEST(snapshot_put_back_goes_on_as_the_run_does)
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
