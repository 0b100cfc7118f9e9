/*
 * spurious_poll_test.c -- one question to one blocked task, with others and alone.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "sim/judge/spurious_poll.h"

#include "sim/tests/lab.h"

struct box {
    struct rt_slot reader;
    bool full;
};

struct user {
    struct rt_task task;
    struct box *box;
};

static rt_poll
reader_poll(struct rt_task *task, struct rt_cx *cx)
{
    struct user *user = rt_container_of(task, struct user, task);
    if (user->box->full) {
        return RT_READY;
    }
    rt_slot_replace(&user->box->reader, cx, "the box");
    return RT_PENDING;
}

static rt_poll
writer_poll(struct rt_task *task, struct rt_cx *cx)
{
    struct user *user = rt_container_of(task, struct user, task);
    (void)cx;
    user->box->full = true;
    (void)rt_slot_wake(&user->box->reader);
    return RT_READY;
}

static void
setup(struct sim_world *world)
{
    struct sim_rt *rt = sim_rt_new(world, NULL);
    struct box *box = sim_new(world, struct box);
    rt_slot_init(&box->reader);
    for (uint32_t i = 0; i < 2; i++) {
        struct user *user = sim_new(world, struct user);
        user->box = box;
        rt_task_init(&user->task, i == 0 ? reader_poll : writer_poll, NULL,
                i == 0 ? "reader" : "writer");
        sim_spawn(rt, &user->task);
    }
}

/* The reader's answer after its first poll, when the run continues then: with all actors, or with
 * the reader alone. */
static struct sim_answer
ask(bool alone)
{
    static const struct sim_scenario scenario = {.name = "test/spurious_poll", .setup = setup};
    struct lab lab;
    struct sim_answer answer;
    lab_init(&lab, NULL, 0xa5);
    struct sim_case what = {.scenario = &scenario, .strategy = &lab.baseline.strategy};
    sim_options_init(&what.options, &scenario);
    uint32_t reader = 0;
    EXPECT(sim_world_run_to(&lab.world, what.scenario, &what.options, 1, what.strategy,
            (struct sim_recording){false, false}, (struct sim_stop){1, false}));
    for (uint32_t i = 1; i < lab.world.actor_count; i++) {
        const char *name = lab.world.actors[i]->name;
        reader = name != NULL && name[0] == 'r' && name[1] == 'e' ? i : reader;
    }
    sim_world_drop(&lab.world);
    EXPECT(reader != 0);
    const struct sim_question question = {.stop = {1, false},
            .actor = reader,
            .stage = SIM_ORACLE_STAGE_POLL,
            .settling = {.steps = 1000},
            .alone = alone};
    sim_spurious_poll(&lab.world, &what, &question, &answer);
    lab_fini(&lab);
    return answer;
}

/*
 * Goal: with all others held back only what the question itself sets going happens.
 * Method: the reader makes progress when the writer comes in between, and only then.
 */
TEST(spurious_poll_of_a_task_alone_hears_of_nothing_that_others_do)
{
    struct sim_answer answer = ask(false);
    EXPECT(answer.asked);
    EXPECT(answer.moved);
    answer = ask(true);
    EXPECT(answer.asked);
    EXPECT(!answer.moved);
    EXPECT(!answer.failed);
}
