/*
 * stream_test.c -- byte streams: every byte once and in order, in pieces of any size.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <string.h>

#include "sim/tests/host/host_lab.h"

#define TEXT "the quick brown fox jumps over the lazy dog and does it again"

/* Counts over a sweep. */
static struct {
    uint32_t short_moves; /* Fewer bytes than could have been moved. */
    uint32_t again;
    uint32_t late; /* Reads after which more arrived. */
} seen;

struct fixture {
    struct sim_host *host;
    struct rt_host *seam;
    struct sim_input *input;
    struct sim_output *output;
    struct sim_request *request;
    char text[128];
    size_t size;
};

static struct fixture *
fixture_new(struct sim_world *world)
{
    struct fixture *fixture = sim_new(world, struct fixture);
    fixture->host = sim_host_new(world, NULL, SIM_PROFILE_DEFAULT);
    fixture->seam = sim_host_seam(fixture->host);
    sim_set_state(world, fixture);
    return fixture;
}

static void
poll_one(struct fixture *fixture, struct rt_pollable *pollable)
{
    struct rt_pollable *list[1] = {pollable};
    uint32_t index = 0;
    uint32_t ready = 0;
    EXPECT_OK(fixture->seam->ops->poll(fixture->seam, list, 1, &index, &ready));
    EXPECT_EQ(ready, 1);
}

/* ---- Input. ---------------------------------------------------------------------------------- */

/* Reads to the end, at most `size` bytes at a time. */
static void
read_all(struct fixture *fixture, size_t size)
{
    struct rt_pollable pollable;
    EXPECT_OK(sim_input_subscribe(fixture->input, &pollable));
    for (;;) {
        char buffer[64];
        size_t moved = 0;
        memset(buffer, '#', sizeof buffer);
        rt_err err = sim_input_read(fixture->input, buffer, size, &moved);
        if (err == RT_E_CLOSED) {
            break;
        }
        if (err == RT_E_AGAIN) {
            seen.again++;
            EXPECT_EQ(moved, 0);
            poll_one(fixture, &pollable);
            continue;
        }
        EXPECT_STR(rt_err_name(err), "RT_OK");
        EXPECT(moved > 0);
        EXPECT(moved <= size);
        EXPECT_EQ(buffer[moved], '#');
        seen.short_moves += moved < size;
        memcpy(fixture->text + fixture->size, buffer, moved);
        fixture->size += moved;
    }
    EXPECT(rt_pollable_ready(&pollable)); /* The end remains ready. */
    rt_pollable_drop(&pollable);
    EXPECT_OK(sim_input_drop(fixture->input));
}

static void
reader(struct sim_world *world, void *argument)
{
    (void)world;
    struct fixture *fixture = argument;
    read_all(fixture, 7);
    EXPECT_EQ(fixture->size, strlen(TEXT));
    EXPECT_EQ(memcmp(fixture->text, TEXT, fixture->size), 0);
}

static void
input_setup(struct sim_world *world)
{
    struct fixture *fixture = fixture_new(world);
    fixture->input = sim_input_new(fixture->host, "page", TEXT, strlen(TEXT), 10, 0, 2 * MS);
    (void)sim_loop_new(world, "reader", reader, fixture);
}

TEST(input_delivers_every_byte_once_and_then_the_end)
{
    struct sim_scenario scenario = {
            .name = "test/input", .about = "Reads a page.", .setup = input_setup};
    memset(&seen, 0, sizeof seen);
    host_lab_pass(&scenario, 60);
    EXPECT(seen.short_moves > 0);
    EXPECT(seen.again > 0);
    scenario.profile = SIM_PROFILE_HOSTILE;
    host_lab_pass(&scenario, 60);
}

static void
empty_reader(struct sim_world *world, void *argument)
{
    (void)world;
    struct fixture *fixture = argument;
    read_all(fixture, 7);
    EXPECT_EQ(fixture->size, 0);
}

static void
empty_setup(struct sim_world *world)
{
    struct fixture *fixture = fixture_new(world);
    fixture->input = sim_input_new(fixture->host, "nothing", NULL, 0, 10, MS, MS);
    (void)sim_loop_new(world, "reader", empty_reader, fixture);
}

TEST(input_without_bytes_has_an_end)
{
    static const struct sim_scenario scenario = {
            .name = "test/empty", .about = "Reads nothing.", .setup = empty_setup};
    host_lab_pass(&scenario, 10);
}

static void
plain_setup(struct sim_world *world)
{
    struct fixture *fixture = fixture_new(world);
    char buffer[4];
    size_t moved = 99;
    fixture->input = sim_input_new(fixture->host, "page", TEXT, strlen(TEXT), 10, 0, 0);
    REFUSES(sim_input_read(fixture->input, buffer, 0, &moved), RT_E_INVALID);
    REFUSES(sim_input_read(fixture->input, buffer, 4, &moved), RT_E_AGAIN);
    EXPECT_EQ(moved, 99);
    (void)sim_loop_new(world, "reader", reader, fixture);
}

/* Goal: the baseline run moves all it can, and RT_E_AGAIN is not progress for the judge.
 * Method: chunks of 10 read by 7: 7 and 3, six times; the last chunk has one byte. */
TEST(input_read_by_default_moves_all_there_is)
{
    static const struct sim_scenario scenario = {
            .name = "test/plain", .about = "Reads a page.", .setup = plain_setup};
    struct lab lab;
    lab_init(&lab, NULL, 0xa5);
    EXPECT_EQ(strlen(TEXT), 61);
    EXPECT_STR(lab_run(&lab, &scenario, 1, true).message, "");
    uint32_t reads = host_lab_count(&lab, SIM_EVENT_READ, 0);
    EXPECT(reads >= 9);
    EXPECT(reads <= 13);
    EXPECT_EQ(host_lab_count(&lab, RT_PROBE_CONSUME, 0), reads);
    EXPECT_EQ(host_lab_count(&lab, SIM_EVENT_READY, 0), 8); /* Seven chunks, and the end. */
    lab_fini(&lab);
}

/* ---- Output. --------------------------------------------------------------------------------- */

static void
writer(struct sim_world *world, void *argument)
{
    struct fixture *fixture = argument;
    struct rt_pollable pollable;
    size_t done = 0;
    size_t space = 8;
    (void)world;
    EXPECT_OK(sim_output_subscribe(fixture->output, &pollable));
    while (done < strlen(TEXT)) {
        size_t moved = 0;
        size_t left = strlen(TEXT) - done;
        rt_err err = sim_output_write(fixture->output, &TEXT[done], left, &moved);
        if (err == RT_E_AGAIN) {
            seen.again++;
            EXPECT(!rt_pollable_ready(&pollable));
            poll_one(fixture, &pollable);
            continue;
        }
        EXPECT_STR(rt_err_name(err), "RT_OK");
        EXPECT(moved > 0);
        EXPECT(moved <= space);
        seen.short_moves += moved < space;
        done += moved;
    }
    size_t size = 0;
    const void *written = sim_output_written(fixture->output, &size);
    EXPECT_EQ(size, strlen(TEXT));
    EXPECT_EQ(memcmp(written, TEXT, size), 0);
    rt_pollable_drop(&pollable);
}

static void
output_setup(struct sim_world *world)
{
    struct fixture *fixture = fixture_new(world);
    fixture->output = sim_output_new(fixture->host, "printer", 8, 0, MS);
    sim_host_undivided(fixture->host); /* The results of two calls in a row are compared. */
    (void)sim_loop_new(world, "writer", writer, fixture);
}

TEST(output_takes_every_byte_in_order_and_is_full_at_times)
{
    struct sim_scenario scenario = {
            .name = "test/output", .about = "Prints a page.", .setup = output_setup};
    memset(&seen, 0, sizeof seen);
    host_lab_pass(&scenario, 60);
    EXPECT(seen.short_moves > 0);
    EXPECT(seen.again > 0);
    scenario.profile = SIM_PROFILE_HOSTILE;
    host_lab_pass(&scenario, 60);
}

static void
fill_and_wait(struct sim_world *world, void *argument)
{
    struct fixture *fixture = argument;
    size_t moved = 0;
    while (sim_output_write(fixture->output, TEXT, strlen(TEXT), &moved) == RT_OK) {
        EXPECT(moved > 0);
    }
    size_t before = 0;
    (void)sim_output_written(fixture->output, &before);
    EXPECT_EQ(before, 8); /* Not one byte more than the capacity. */
    REFUSES(sim_output_write(fixture->output, TEXT, 1, &moved), RT_E_AGAIN);
    sim_sleep(world, 20 * MS);
    moved = 0;
    EXPECT_OK(sim_output_write(fixture->output, TEXT, 8, &moved));
    EXPECT(moved > 0);
}

static void
fill_setup(struct sim_world *world)
{
    struct fixture *fixture = fixture_new(world);
    fixture->output = sim_output_new(fixture->host, "printer", 8, 5 * MS, 6 * MS);
    (void)sim_loop_new(world, "writer", fill_and_wait, fixture);
}

TEST(output_frees_space_only_after_its_latency)
{
    static const struct sim_scenario scenario = {
            .name = "test/fill", .about = "Fills a printer.", .setup = fill_setup};
    struct lab lab;
    struct sim_options options;
    lab_init(&lab, NULL, 0xa5);
    sim_options_init(&options, &scenario);
    options.slow_one_in = 0;
    for (uint64_t seed = 0; seed <= 30; seed++) {
        EXPECT_STR(host_lab_run(&lab, &scenario, &options, seed, seed == 0).message, "");
    }
    lab_fini(&lab);
}

/* ---- Requests. ------------------------------------------------------------------------------- */

static void
ask_and_read(struct sim_world *world, void *argument)
{
    struct fixture *fixture = argument;
    struct rt_pollable pollable;
    const char *headers = NULL;
    REFUSES(sim_request_get(fixture->request, &headers, &fixture->input), RT_E_AGAIN);
    EXPECT_OK(sim_request_subscribe(fixture->request, &pollable));
    rt_err err = RT_E_AGAIN;
    while (err == RT_E_AGAIN) { /* Under hostile a report may be spurious. */
        poll_one(fixture, &pollable);
        err = sim_request_get(fixture->request, &headers, &fixture->input);
    }
    EXPECT_STR(rt_err_name(err), "RT_OK");
    EXPECT(sim_now(world) >= MS);
    EXPECT_STR(headers, "200 OK");
    REFUSES(sim_request_drop(fixture->request), RT_E_HAS_CHILDREN);
    rt_pollable_drop(&pollable);
    EXPECT_OK(sim_request_drop(fixture->request));
    reader(world, fixture); /* The body outlives its request. */
}

static void
request_setup(struct sim_world *world)
{
    struct fixture *fixture = fixture_new(world);
    fixture->request = sim_request_send(fixture->host, "GET /", "200 OK", TEXT, 16, 1 * MS, 3 * MS);
    (void)sim_loop_new(world, "client", ask_and_read, fixture);
}

TEST(request_answers_headers_first_and_then_a_body)
{
    struct sim_scenario scenario = {
            .name = "test/request", .about = "Asks for a page.", .setup = request_setup};
    host_lab_pass(&scenario, 40);
    scenario.profile = SIM_PROFILE_HOSTILE;
    host_lab_pass(&scenario, 40);
}

static void
ask_and_leave(struct sim_world *world, void *argument)
{
    struct fixture *fixture = argument;
    sim_sleep(world, sim_range(world, 1, 20) * MS);
    EXPECT_OK(sim_request_drop(fixture->request));
    sim_sleep(world, 50 * MS);
}

static void
leave_setup(struct sim_world *world)
{
    struct fixture *fixture = fixture_new(world);
    fixture->request = sim_request_send(fixture->host, "GET /", "200 OK", TEXT, 16, MS, 3 * MS);
    (void)sim_loop_new(world, "client", ask_and_leave, fixture);
}

TEST(request_may_be_dropped_at_any_time)
{
    static const struct sim_scenario scenario = {
            .name = "test/leave", .about = "Asks and leaves.", .setup = leave_setup};
    host_lab_pass(&scenario, 60);
}
