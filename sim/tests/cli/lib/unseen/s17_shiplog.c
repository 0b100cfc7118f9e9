/* Cause: log_poll(), line 70: the entry's text is handed to the ring while the write of its date is still under way; the host may do the two writes in any order, so the text can come before its date; repair: start the second write when the first one is complete. */
/*
 * A ship's log on a completion ring: each entry is a date and a text, written one after the other
 * to the same device.
 */
#include <string.h>

#include <sim/rewake.h>

#define ENTRIES 2
#define PLACES 4

struct log {
    struct rt_task task;
    struct rt_ring ring;
    struct rt_ring_place places[PLACES];
    struct rt_slab_entry entries[PLACES];
    struct sim_ring *host;
    int32_t device;
    struct rt_op date;
    struct rt_op text;
    uint32_t entry;
    uint32_t at;
    bool fixed;
};

static const char dates[ENTRIES] = {'1', '2'};
static const char texts[ENTRIES] = {'a', 'b'};

static void
log_write(struct log *log, struct rt_op *op, const char *byte)
{
    struct rt_op_request request = {.submission = {.opcode = RT_OPCODE_WRITE,
                                            .target = log->device,
                                            .size = 1,
                                            .buffer = (void *)(uintptr_t)byte}};
    rt_op_start(op, &log->ring, &request);
}

/* READY when the byte is written. */
static rt_poll
log_written(struct rt_op *op, struct rt_cx *cx)
{
    struct rt_op_result result;
    RT_AWAIT(rt_op_poll(op, cx, &result));
    SIM_ALWAYS(result.result == 1);
    return RT_READY;
}

/* Each date is followed by its text. */
static void
log_read(const struct log *log)
{
    size_t size;
    const char *written = sim_ring_written(log->host, log->device, &size);
    SIM_ALWAYS(size == 2 * ENTRIES);
    SIM_ALWAYS(memcmp(written, "1a2b", 2 * ENTRIES) == 0);
}

static rt_poll
log_poll(struct rt_task *task, struct rt_cx *cx)
{
    struct log *log = rt_container_of(task, struct log, task);
    RT_BEGIN(log->at);
    for (log->entry = 0; log->entry < ENTRIES; log->entry++) {
        log_write(log, &log->date, &dates[log->entry]);
        if (log->fixed) {
            RT_AWAIT_HERE(log->at, log_written(&log->date, cx));
        }
        log_write(log, &log->text, &texts[log->entry]);
        if (!log->fixed) {
            RT_AWAIT_HERE(log->at, log_written(&log->date, cx));
        }
        RT_AWAIT_HERE(log->at, log_written(&log->text, cx));
    }
    log_read(log);
    RT_END(log->at);
}

static void
set_up(struct sim_world *world, bool fixed)
{
    struct sim_rt *rt = sim_rt_new(world, NULL);
    struct log *log = sim_new(world, struct log);
    log->fixed = fixed;
    log->host = sim_ring_new(sim_rt_host(rt), "ring", NULL);
    log->device = sim_ring_device(log->host, "the log", "", 0, 1, 0, 0);
    struct rt_ring_config config = {.host = sim_ring_seam(log->host),
            .runtime = sim_rt_runtime(rt),
            .places = log->places,
            .entries = log->entries,
            .capacity = PLACES};
    SIM_ALWAYS(rt_ring_init(&log->ring, &config) == RT_OK);
    rt_op_init(&log->date);
    rt_op_init(&log->text);
    rt_task_init(&log->task, log_poll, NULL, "log");
    sim_spawn(rt, &log->task);
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

SIM_SCENARIO(broken, .name = "s17/shiplog/broken", .about = "The first form.", .setup = set_up_broken);
SIM_SCENARIO(fixed, .name = "s17/shiplog/fixed", .about = "The repaired form.", .setup = set_up_fixed);

/* SPDX-License-Identifier: Apache-2.0 */
