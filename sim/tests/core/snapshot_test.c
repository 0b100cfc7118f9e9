/*
 * snapshot_test.c -- a stopped run that is restored equals the run before.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sim/core/decide/answers.h"
#include "sim/core/decide/strategies.h"
#include "sim/core/loop.h"
#include "sim/judge/stand.h"
#include "sim/tests/lab.h"

/*
 * Two loops on fibers with state on their stacks, a task, memory from malloc, and a loop that is
 * made during the run. All of it ends in `text`.
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
    return sim_world_run_to(&lab->world, &scenario, &options, 1, &lab->baseline.strategy,
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

/* The log of the program when it is run to its end from `step`, without a snapshot. */
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
 * Goal: a restored run has nothing of what happened after the snapshot: in the arena, on the
 * stacks of loops, in the list of loops, in blocks of malloc, on the clock.
 * Method: from each step of a run it is run to its end three times, once with free steps in
 * between; the end is that of a run without a snapshot.
 */
TEST(snapshot_restored_is_the_run_as_it_was)
{
    struct lab lab;
    lab_init(&lab, NULL, 0xa5);
    for (uint64_t step = 1; step < 12; step++) {
        char text[sizeof(((struct program *)0)->text)];
        uint64_t end_ns = 0;
        reference(step, text, &end_ns);
        EXPECT(run_to(&lab, step));
        if (!sim_snapshot_take(&lab.world, 0)) {
            sim_world_drop(&lab.world); /* Under a sanitizer no snapshot is taken. */
            break;
        }
        for (uint32_t i = 0; i < 3; i++) {
            go_to_the_end(&lab.world, i == 1);
            sim_snapshot_restore(&lab.world, 0);
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

/* Goal: a restored run continues with its decisions, not muted. */
TEST(snapshot_restored_continues_as_the_run_does)
{
    struct lab lab;
    lab_init(&lab, NULL, 0xa5);
    const struct sim_stop late = {9, false};
    EXPECT(run_to(&lab, 9));
    uint64_t asked = lab.world.decider.asked;
    uint64_t now_ns = lab.world.now_ns;
    sim_world_drop(&lab.world);
    EXPECT(run_to(&lab, 3));
    if (sim_snapshot_take(&lab.world, 0)) {
        /* A strategy that is ahead is restored too. */
        EXPECT(sim_world_continue(&lab.world, late));
        go_to_the_end(&lab.world, true);
        sim_snapshot_restore(&lab.world, 0);
        EXPECT(sim_world_continue(&lab.world, late));
        EXPECT_EQ(lab.world.decider.asked, asked);
        EXPECT_EQ(lab.world.now_ns, now_ns);
    }
    sim_world_drop(&lab.world);
    lab_fini(&lab);
}

/* ---- Many stops of one run. ------------------------------------------------------------------ */

#define STOPS 16u

struct place {
    char text[sizeof(((struct program *)0)->text)];
    uint64_t asked;
    uint64_t hash;
    uint64_t now_ns;
};

static struct place
place_of(const struct sim_world *world)
{
    struct place place = {
            .asked = world->decider.asked, .hash = world->decider.hash, .now_ns = world->now_ns};
    const struct program *program = world->state;
    (void)snprintf(place.text, sizeof(place.text), "%s", program->text);
    return place;
}

static struct sim_case
case_of(struct sim_strategy *strategy)
{
    struct sim_case what = {.scenario = &scenario, .seed = 1, .strategy = strategy};
    sim_options_init(&what.options, &scenario);
    return what;
}

static struct sim_stop
stop_of(uint32_t number)
{
    return (struct sim_stop){1 + number / 2, number % 2 != 0};
}

/* Each stop has the state of a replay from the beginning, reached in any way. */
static void
check_all(struct sim_strategy *strategy)
{
    struct lab lab;
    struct place places[STOPS];
    bool reached[STOPS];
    lab_init(&lab, NULL, 0xa5);
    const struct sim_case what = case_of(strategy);
    struct sim_stand stand;
    for (uint32_t i = 0; i < STOPS; i++) {
        sim_stand_init(&stand, &lab.world, &what);
        reached[i] = sim_stand_at(&stand, stop_of(i));
        places[i] = reached[i] ? place_of(&lab.world) : (struct place){0};
        sim_stand_leave(&stand);
    }
    sim_stand_init(&stand, &lab.world, &what);
    uint32_t draw = 1;
    for (uint32_t turn = 0; turn < 400; turn++) {
        draw = draw * 1103515245u + 12345u;
        uint32_t i = (draw >> 16) % STOPS;
        EXPECT_EQ(sim_stand_at(&stand, stop_of(i)), reached[i]);
        if (reached[i]) {
            struct place place = place_of(&lab.world);
            EXPECT_STR(place.text, places[i].text);
            EXPECT_EQ(place.asked, places[i].asked);
            EXPECT_EQ(place.hash, places[i].hash);
            EXPECT_EQ(place.now_ns, places[i].now_ns);
            go_to_the_end(&lab.world, turn % 2 == 0);
        }
    }
    sim_stand_leave(&stand);
    lab_fini(&lab);
}

/*
 * Goal: the state at a stop does not depend on how the judge reached it.
 * Method: forwards and backwards among the stops of one run, a spurious poll at each; with a
 * strategy that reads its choice alone, with one that follows a tape, and with one that cannot be
 * restored.
 */
TEST(state_at_a_stop_is_the_same_from_everywhere)
{
    static struct sim_deviation entries[64];
    struct lab lab;
    struct sim_random random;
    struct sim_replay replay;
    struct sim_answers answers;
    struct sim_options options;
    struct sim_outcome outcome;
    sim_random_init(&random);
    check_all(&random.strategy);

    lab_init(&lab, NULL, 0xa5);
    sim_options_init(&options, &scenario);
    sim_world_run(&lab.world, &scenario, &options, 1, &random.strategy,
            (struct sim_recording){true, false}, &outcome);
    EXPECT(lab.world.decider.tape.count > 2);
    EXPECT(lab.world.decider.tape.count <= 64);
    memcpy(entries, lab.world.decider.tape.entries,
            lab.world.decider.tape.count * sizeof(entries[0]));
    const struct sim_tape tape = {entries, lab.world.decider.tape.count, 64};
    lab_fini(&lab);
    sim_replay_init(&replay, &tape, false, NULL);
    check_all(&replay.strategy);
    for (uint32_t i = 0; i < 64; i++) {
        entries[i] = (struct sim_deviation){
                .ordinal = i / SIM_KINDS * 2, .kind = (uint8_t)(i % SIM_KINDS), .index = 1};
    }
    const struct sim_tape few = {entries, 64, 64};
    sim_answers_init(&answers, &few);
    check_all(&answers.strategy);
}
