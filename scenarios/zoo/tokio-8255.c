/*
 * tokio-8255.c -- the entry of an operation is removed although the kernel gets the operation.
 *
 * tokio-rs/tokio#8255, fix proposed in #8185; foyer-rs/foyer#1286 is related.
 *
 * The bug. A driver over io_uring keeps its operations in a slab; the index is the user_data. To
 * start one it inserts an entry, pushes the submission, and submits. If the submit fails, it
 * removes the entry and returns the error, and the caller frees the buffer. But the submission is
 * in the queue by then, and the next submit, for any operation, passes it to the kernel: with a
 * buffer that has another owner and the index of another operation.
 *
 * The fix. Once the submission is pushed, the entry stays, orphaned, and keeps the buffer until its
 * completion: driver_submit_failed below.
 *
 * Here. Three writers append lines to a journal, one operation at a time, each line in a buffer of
 * a small pool. The queues are short, so a submit fails now and then because completions are not
 * reaped yet; the writer sleeps, and tries again.
 *
 * Cause: not-a-wake in driver_submit_failed or driver_start
 * Must end in: contract (the host is given one user_data twice, or finds the buffer of an operation
 * in flight changed). Fails on the baseline run: no.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <string.h>

#include "sim/rewake.h"

#define ENTRIES 8
#define BUFFERS 8
#define LINE 16
#define WRITERS 3
#define LINES 4
#define NOTHING UINT32_MAX

/* ---- The driver. ----------------------------------------------------------------------------- */

enum lifecycle { FREE, WAITING, COMPLETED, ORPHANED };

struct entry {
    enum lifecycle state;
    int32_t result;
    uint32_t buffer; /* ORPHANED: released at completion. */
    struct rt_slot waker;
};

struct pool {
    char buffers[BUFFERS][LINE];
    uint32_t free[BUFFERS];
    uint32_t free_count;
};

struct driver {
    bool broken;
    struct rt_completion_host *host;
    struct rt_task task;
    struct rt_pollable pollable;
    struct rt_wait wait;
    struct pool pool;
    struct entry entries[ENTRIES];
    uint32_t free[ENTRIES]; /* A stack: last freed, first reused. */
    uint32_t free_count;
};

static uint32_t
take_last(uint32_t *free, uint32_t *count)
{
    return *count > 0 ? free[--*count] : NOTHING;
}

static void
entry_remove(struct driver *driver, uint32_t index)
{
    driver->entries[index].state = FREE;
    driver->free[driver->free_count++] = index;
}

static void
buffer_free(struct driver *driver, uint32_t buffer)
{
    driver->pool.free[driver->pool.free_count++] = buffer;
}

/* The submission of `index` was pushed, and the submit failed. */
static void
driver_submit_failed(struct driver *driver, uint32_t index, uint32_t buffer)
{
    if (driver->broken) {
        entry_remove(driver, index);
        buffer_free(driver, buffer);
        return;
    }
    driver->entries[index].state = ORPHANED;
    driver->entries[index].buffer = buffer;
}

/* RT_E_AGAIN: the kernel took nothing; try later. RT_OK: *ret_index is under way. */
static rt_err
driver_start(struct driver *driver, struct rt_submission *submission, uint32_t buffer,
        uint32_t *ret_index)
{
    const struct rt_completion_ops *ops = driver->host->ops;
    uint32_t index = take_last(driver->free, &driver->free_count);
    if (index == NOTHING) {
        buffer_free(driver, buffer);
        return RT_E_AGAIN;
    }
    driver->entries[index].state = WAITING;
    submission->user_data = index;
    while (ops->push(driver->host, submission) == RT_E_FULL) {
        if (ops->enter(driver->host) != RT_OK) {
            entry_remove(driver, index); /* Nothing refers to it yet. */
            buffer_free(driver, buffer);
            return RT_E_AGAIN;
        }
    }
    if (ops->enter(driver->host) != RT_OK) {
        driver_submit_failed(driver, index, buffer);
        return RT_E_AGAIN;
    }
    *ret_index = index;
    return RT_OK;
}

static void
driver_complete(struct driver *driver, const struct rt_completion *completion)
{
    struct entry *entry = &driver->entries[completion->user_data];
    if (entry->state == ORPHANED) {
        buffer_free(driver, entry->buffer);
        entry_remove(driver, (uint32_t)completion->user_data);
    } else if (entry->state == WAITING) {
        entry->state = COMPLETED;
        entry->result = completion->result;
        rt_slot_wake(&entry->waker);
    }
}

static rt_poll
driver_poll(struct rt_task *task, struct rt_cx *cx)
{
    struct driver *driver = rt_container_of(task, struct driver, task);
    for (;;) {
        struct rt_completion completion;
        while (driver->host->ops->reap(driver->host, &completion, 1) > 0) {
            driver_complete(driver, &completion);
        }
        (void)driver->host->ops->enter(driver->host);
        RT_AWAIT(rt_wait_for(&driver->wait, &driver->pollable, cx));
    }
}

static void
driver_cleanup(struct rt_task *task)
{
    struct driver *driver = rt_container_of(task, struct driver, task);
    rt_wait_cancel(&driver->wait);
    rt_pollable_drop(&driver->pollable);
}

static void
driver_init(struct driver *driver, struct rt_completion_host *host, bool broken)
{
    driver->broken = broken;
    driver->host = host;
    for (uint32_t i = 0; i < ENTRIES; i++) {
        rt_slot_init(&driver->entries[i].waker);
        driver->free[driver->free_count++] = ENTRIES - 1 - i;
        driver->pool.free[driver->pool.free_count++] = BUFFERS - 1 - i;
    }
    rt_wait_init(&driver->wait);
    SIM_ALWAYS(host->ops->subscribe(host, &driver->pollable) == RT_OK);
    rt_task_init(&driver->task, driver_poll, driver_cleanup, "driver");
}

/* ---- Writers. -------------------------------------------------------------------------------- */

struct writer {
    struct rt_task task;
    struct driver *driver;
    char letter;
    int32_t journal;
    uint32_t lines;
    uint32_t index; /* NOTHING: no operation is under way. */
    uint32_t buffer;
    bool resting;
    struct rt_sleep rest;
};

/* Formats the next line into a buffer of the pool, and starts its write. */
static bool
write_line(struct writer *writer)
{
    struct driver *driver = writer->driver;
    writer->buffer = take_last(driver->pool.free, &driver->pool.free_count);
    if (writer->buffer == NOTHING) {
        return false;
    }
    char *line = driver->pool.buffers[writer->buffer];
    memset(line, writer->letter, LINE);
    struct rt_submission submission = {
            .opcode = RT_OPCODE_WRITE, .target = writer->journal, .buffer = line, .size = LINE};
    return driver_start(driver, &submission, writer->buffer, &writer->index) == RT_OK;
}

static rt_poll
line_written(struct writer *writer, struct rt_cx *cx)
{
    struct driver *driver = writer->driver;
    struct entry *entry = &driver->entries[writer->index];
    if (entry->state != COMPLETED) {
        rt_slot_replace(&entry->waker, cx, "a completion");
        return RT_PENDING;
    }
    entry_remove(driver, writer->index);
    buffer_free(driver, writer->buffer);
    writer->index = NOTHING;
    writer->lines++;
    SIM_PROGRESS();
    return RT_READY;
}

static rt_poll
writer_poll(struct rt_task *task, struct rt_cx *cx)
{
    struct writer *writer = rt_container_of(task, struct writer, task);
    while (writer->lines < LINES) {
        if (writer->resting) {
            RT_AWAIT(rt_sleep_poll(&writer->rest, cx));
            writer->resting = false;
        }
        if (writer->index == NOTHING && !write_line(writer)) {
            writer->index = NOTHING;
            writer->resting = true;
            rt_sleep_init(&writer->rest, RT_MS);
            continue;
        }
        RT_AWAIT(line_written(writer, cx));
    }
    return RT_READY;
}

/* ---- Both forms. ----------------------------------------------------------------------------- */

struct state {
    struct driver driver;
    struct writer writers[WRITERS];
};

static void
begin(struct sim_world *world, bool broken)
{
    struct sim_rt *rt = sim_rt_new(world, NULL);
    struct state *state = sim_new(world, struct state);
    struct sim_ring_options small = {.submissions = 2, .completions = 1};
    struct sim_ring *ring = sim_ring_new(sim_rt_host(rt), "ring", &small);
    int32_t journal = sim_ring_device(ring, "journal", NULL, 0, 1, 0, 0);
    driver_init(&state->driver, sim_ring_seam(ring), broken);
    sim_spawn_background(rt, &state->driver.task);
    for (uint32_t i = 0; i < WRITERS; i++) {
        struct writer *writer = &state->writers[i];
        writer->driver = &state->driver;
        writer->letter = (char)('a' + (char)i);
        writer->journal = journal;
        writer->index = NOTHING;
        rt_task_init(&writer->task, writer_poll, NULL, "writer");
        sim_spawn(rt, &writer->task);
    }
}

static void
setup_broken(struct sim_world *world)
{
    begin(world, true);
}

static void
setup_fixed(struct sim_world *world)
{
    begin(world, false);
}

SIM_SCENARIO(zoo_tokio_8255_broken, .name = "zoo/tokio-8255/broken",
        .about = "A failed submit removes the entry of an operation that the kernel gets.",
        .setup = setup_broken, .expect = SIM_VERDICT_CONTRACT, .bug = "D11",
        .reference = "tokio-rs/tokio#8255", .survives = SIM_FAULT_CAPACITY);
SIM_SCENARIO(zoo_tokio_8255_fixed, .name = "zoo/tokio-8255/fixed",
        .about = "A failed submit leaves the entry, and its buffer, until the completion.",
        .setup = setup_fixed, .survives = SIM_FAULT_CAPACITY);
