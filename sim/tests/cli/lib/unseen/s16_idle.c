/* Cause: record_read(), line 71: a read that was cancelled because the line was idle may have been completed with bytes before the cancel reached it; its result is dropped, so these bytes are missing; repair: bytes that the final result reports are appended also after a cancel. */
/*
 * s16_idle.c -- a recorder reads from a serial line through a completion ring.
 *
 * When nothing comes for a while the read is cancelled, a marker counted, and a new read started.
 */
#include <string.h>

#include <sim/rewake.h>

#define PLACES 4u
#define TEXT "temperature 21.5 pressure 1013"
#define SIZE (sizeof TEXT - 1)
#define IDLE (1500 * RT_US)

struct recorder {
    struct rt_task task;
    struct sim_world *world;
    struct rt_ring ring;
    struct rt_ring_place places[PLACES];
    struct rt_slab_entry entries[PLACES];
    int32_t line;
    struct rt_op op;
    struct rt_sleep idle;
    char piece[8];
    char record[2 * SIZE];
    size_t recorded;
    unsigned markers; /* "nothing came" */
    bool reading;
    bool cancelled;
    bool fixed;
};

static void
append(struct recorder *recorder, int32_t count)
{
    SIM_ALWAYS(recorder->recorded + (size_t)count <= sizeof recorder->record);
    memcpy(recorder->record + recorder->recorded, recorder->piece, (size_t)count);
    recorder->recorded += (size_t)count;
}

static void
begin_read(struct recorder *recorder)
{
    struct rt_op_request request = {.submission = {.opcode = RT_OPCODE_READ,
                                            .target = recorder->line,
                                            .size = sizeof recorder->piece,
                                            .buffer = recorder->piece}};
    rt_op_start(&recorder->op, &recorder->ring, &request);
    rt_sleep_init(&recorder->idle, IDLE);
    recorder->cancelled = false;
    recorder->reading = true;
}

/* READY when one read is over; *ret_end: the line was closed. */
static rt_poll
record_read(struct recorder *recorder, struct rt_cx *cx, bool *ret_end)
{
    struct rt_op_result result;
    *ret_end = false;
    if (rt_op_poll(&recorder->op, cx, &result) == RT_PENDING) {
        if (!recorder->cancelled && rt_sleep_poll(&recorder->idle, cx) == RT_READY) {
            recorder->cancelled = true;
            rt_op_cancel(&recorder->op);
            rt_cx_reenqueue(cx);
        }
        return RT_PENDING;
    }
    recorder->reading = false;
    rt_sleep_cancel(&recorder->idle);
    if (recorder->cancelled && (!recorder->fixed || result.result < 0)) {
        recorder->markers++;
        return RT_READY;
    }
    if (result.result > 0) {
        append(recorder, result.result);
    }
    *ret_end = result.result == 0;
    return RT_READY;
}

static rt_poll
recorder_poll(struct rt_task *task, struct rt_cx *cx)
{
    struct recorder *recorder = rt_container_of(task, struct recorder, task);
    bool end = false;
    while (!end) {
        if (!recorder->reading) {
            begin_read(recorder);
        }
        RT_AWAIT(record_read(recorder, cx, &end));
    }
    SIM_ALWAYS(recorder->recorded == SIZE);
    SIM_ALWAYS(memcmp(recorder->record, TEXT, SIZE) == 0);
    return RT_READY;
}

static void
set_up(struct sim_world *world, bool fixed)
{
    struct sim_rt *rt = sim_rt_new(world, NULL);
    struct recorder *recorder = sim_new(world, struct recorder);
    struct sim_ring_options options = {.min_ns = 20 * RT_US, .max_ns = 400 * RT_US};
    struct sim_ring *host = sim_ring_new(sim_rt_host(rt), "serial port", &options);
    struct rt_ring_config config = {.host = sim_ring_seam(host),
            .runtime = sim_rt_runtime(rt),
            .places = recorder->places,
            .entries = recorder->entries,
            .capacity = PLACES};
    recorder->world = world;
    recorder->fixed = fixed;
    recorder->line = sim_ring_device(host, "line", TEXT, SIZE, 6, 300 * RT_US, 3 * RT_MS);
    rt_err err = rt_ring_init(&recorder->ring, &config);
    SIM_ALWAYS(err == RT_OK);
    rt_op_init(&recorder->op);
    rt_task_init(&recorder->task, recorder_poll, NULL, "recorder");
    sim_spawn(rt, &recorder->task);
}

static void
set_up_broken(struct sim_world *world)
{
    set_up(world, false);
}

static void
set_up_fixed(struct sim_world *world)
{
    set_up(world, true);
}

SIM_SCENARIO(broken, .name = "s16/idle/broken", .about = "A serial line that is idle at times.",
        .setup = set_up_broken, .expect = SIM_VERDICT_INVARIANT);
SIM_SCENARIO(fixed, .name = "s16/idle/fixed", .about = "A serial line that is idle at times.",
        .setup = set_up_fixed);

/* SPDX-License-Identifier: Apache-2.0 */
