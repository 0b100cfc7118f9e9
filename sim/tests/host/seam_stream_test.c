/*
 * seam_stream_test.c -- the fake host's streams through the runtime's tables.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <string.h>

#include "sim/tests/host/host_lab.h"

#define TEXT "the quick brown fox jumps over the lazy dog"

/* Counts over a sweep: reads of no bytes although the stream was ready. */
static uint32_t nothings;

struct copy {
    struct rt_task task;
    struct sim_output *target;
    struct rt_input input;
    struct rt_output output;
    struct rt_read_to_end read;
    struct rt_write_all write;
    char text[64];
    bool reading;
};

static rt_poll
copy_poll(struct rt_task *task, struct rt_cx *cx)
{
    struct copy *copy = rt_container_of(task, struct copy, task);
    if (copy->reading) {
        RT_AWAIT(rt_future_poll(&copy->read.future, cx));
        EXPECT_EQ(copy->read.err, RT_OK);
        rt_write_all_init(&copy->write, &copy->output, copy->text, copy->read.length);
        copy->reading = false;
    }
    RT_AWAIT(rt_future_poll(&copy->write.future, cx));
    EXPECT_EQ(copy->write.err, RT_OK);
    EXPECT_OK(rt_input_drop(&copy->input));
    EXPECT_OK(rt_output_drop(&copy->output));
    return RT_READY;
}

static void
copy_setup(struct sim_world *world)
{
    struct copy *copy = sim_new(world, struct copy);
    struct sim_rt *rt = sim_rt_new(world, NULL);
    struct sim_host *host = sim_rt_host(rt);
    copy->target = sim_output_new(host, "copy", 9, 0, 2 * MS);
    struct sim_input *source = sim_input_new(host, "page", TEXT, strlen(TEXT), 10, 0, 2 * MS);
    EXPECT_OK(rt_input_init(&copy->input, &sim_input_ops, source));
    EXPECT_OK(rt_output_init(&copy->output, &sim_output_ops, copy->target));
    rt_read_to_end_init(&copy->read, &copy->input, copy->text, sizeof(copy->text));
    copy->reading = true;
    rt_task_init(&copy->task, copy_poll, NULL, "copy");
    sim_spawn(rt, &copy->task);
    sim_set_state(world, copy);
}

static void
copy_check(struct sim_world *world, void *state)
{
    const struct copy *copy = state;
    size_t size = 0;
    const void *written = sim_output_written(copy->target, &size);
    (void)world;
    EXPECT_EQ(size, strlen(TEXT));
    EXPECT_EQ(memcmp(written, TEXT, size), 0);
}

/* Holds N3, P9: short reads, short writes and reads of nothing; every byte once, in order. */
TEST(seam_stream_is_copied_whole_whatever_the_host_does)
{
    struct sim_scenario scenario = {
            .name = "test/copy", .about = "Copies a page.", .setup = copy_setup};
    scenario.check = copy_check;
    host_lab_pass(&scenario, 200);
    scenario.profile = SIM_PROFILE_HOSTILE;
    host_lab_pass(&scenario, 200);
}

/* Reads through the table until the end. */
static void
reader(struct sim_world *world, void *argument)
{
    struct sim_input *input = argument;
    char buffer[64];
    size_t read = 0;
    bool nothing = false;
    for (;;) {
        size_t moved = 77;
        rt_err err = sim_input_ops.read(input, buffer, sizeof(buffer), &moved, NULL);
        if (err == RT_E_CLOSED) {
            break;
        }
        if (err == RT_E_AGAIN) {
            sim_sleep(world, MS);
            continue;
        }
        EXPECT_EQ(err, RT_OK);
        EXPECT(moved > 0 || !nothing);
        nothing = moved == 0;
        nothings += nothing ? 1 : 0;
        read += moved;
    }
    EXPECT_EQ(read, strlen(TEXT));
    EXPECT_OK(sim_input_ops.drop(input));
}

static void
reader_setup(struct sim_world *world)
{
    struct sim_host *host = sim_host_new(world, NULL, SIM_PROFILE_DEFAULT);
    struct sim_input *input = sim_input_new(host, "page", TEXT, strlen(TEXT), 64, 0, 0);
    struct rt_pollable pollable;
    EXPECT_OK(sim_input_ops.subscribe(input, &pollable));
    rt_pollable_drop(&pollable);
    (void)sim_loop_new(world, "reader", reader, input);
}

/* Holds N3: some reads of a ready stream return no bytes, never two in a row; none under fd. */
TEST(seam_stream_sometimes_returns_no_bytes)
{
    struct sim_scenario scenario = {
            .name = "test/nothing", .about = "Reads a page.", .setup = reader_setup};
    nothings = 0;
    host_lab_pass(&scenario, 200);
    EXPECT(nothings > 0);
    scenario.profile = SIM_PROFILE_FD;
    nothings = 0;
    host_lab_pass(&scenario, 200);
    EXPECT_EQ(nothings, 0);
}
