/*
 * cell_test.c -- shared numbers: their values, and the events of each access.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "runtime/tests/test.h"
#include "sim/core/record/site.h"
#include "sim/rewake.h"
#include "sim/tests/lab.h"

struct user {
    struct rt_task task;
    struct sim_cell cell;
    struct sim_cell other;
};

static rt_poll
user_poll(struct rt_task *task, struct rt_cx *cx)
{
    struct user *user = rt_container_of(task, struct user, task);
    (void)cx;
    SIM_ALWAYS(sim_cell_get(&user->cell) == -3);
    sim_cell_set(&user->cell, INT64_MAX);
    SIM_ALWAYS(sim_cell_add(&user->cell, 2) == INT64_MAX);
    SIM_ALWAYS(!sim_cell_cas(&user->cell, 5, 6));
    SIM_ALWAYS(sim_cell_cas(&user->cell, INT64_MIN + 1, 6));
    SIM_ALWAYS(sim_cell_get(&user->other) == 9);
    return RT_READY;
}

static void
setup(struct sim_world *world)
{
    struct sim_rt *rt = sim_rt_new(world, NULL);
    struct user *user = sim_new(world, struct user);
    sim_cell_init(world, &user->cell, "balance", -3);
    sim_cell_init(world, &user->other, NULL, 9);
    rt_task_init(&user->task, user_poll, NULL, "user");
    sim_spawn(rt, &user->task);
    sim_set_state(world, user);
}

static void
check(struct sim_world *world, void *state)
{
    const struct user *user = state;
    (void)world;
    SIM_ALWAYS(sim_cell_peek(&user->cell) == 6);
}

static const struct sim_scenario uses_cells = {
        .name = "test/cells", .setup = setup, .check = check, .declared = true};

/*
 * Goal: an access is one event (two where it reads and writes), with cell, value and caller's line.
 * Method: each kind of access in one poll, wrapping included; the events are read back. A peek and
 * the setup record nothing.
 */
TEST(cell_access_is_recorded)
{
    static const struct {
        uint32_t kind;
        int64_t value;
    } expected[] = {
            {SIM_EVENT_GET, -3},
            {SIM_EVENT_SET, INT64_MAX},
            {SIM_EVENT_GET, INT64_MAX},
            {SIM_EVENT_SET, INT64_MIN + 1},
            {SIM_EVENT_GET, INT64_MIN + 1},
            {SIM_EVENT_GET, INT64_MIN + 1},
            {SIM_EVENT_SET, 6},
            {SIM_EVENT_GET, 9},
    };
    const size_t all = sizeof(expected) / sizeof(expected[0]);
    struct lab lab;
    size_t met = 0;
    uint32_t line = 0;
    uint32_t cell = 0;
    lab_init(&lab, NULL, 0);
    struct sim_outcome outcome = lab_run(&lab, &uses_cells, 1, true);
    EXPECT_EQ(outcome.verdict, SIM_VERDICT_PASS);
    for (uint64_t i = 0; i < lab.world.recorder.count; i++) {
        const struct sim_event *event = sim_recorder_event(&lab.world.recorder, i);
        if (event->kind != SIM_EVENT_GET && event->kind != SIM_EVENT_SET) {
            continue;
        }
        ck_assert_uint_lt(met, all);
        EXPECT_EQ(event->kind, expected[met].kind);
        EXPECT_EQ((int64_t)event->argument, expected[met].value);
        const struct rt_site *site = sim_site_find(event->site);
        EXPECT(site != NULL);
        EXPECT_STR(site->function, "user_poll");
        EXPECT(site->line >= line);
        line = site->line;
        cell = met == 0 ? event->object : cell;
        EXPECT((event->object == cell) == (met + 1 < all));
        met++;
    }
    EXPECT_EQ(met, all);
    EXPECT_STR(sim_recorder_text(&lab.world.recorder, SIM_TEXT_OBJECT, cell), "balance");
    lab_fini(&lab);
}
