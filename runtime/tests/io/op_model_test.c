/*
 * op_model_test.c -- operations against an array, over long random histories.
 *
 * The model keeps a row an operation: what its owner has not received yet. Each row gets its
 * results in order, each once, and its buffer back once, on any path; operations are
 * started, cancelled, dropped, completed, refused, overflown or held in between.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <string.h>

#include "runtime/tests/bed.h"
#include "runtime/tests/io/dumb_ring.h"

#define ROWS 16u

struct row {
    struct rt_op op;
    bool started;
    bool dropped;
    bool multi;
    bool asked;   /* Cancelled. */
    int32_t next; /* The next result of the row: they are numbered. */
    int32_t made; /* Results that the host has made. */
    bool final;   /* The host has made the last. */
    bool back;    /* The buffer is its owner's. */
};

static struct model {
    struct dumb_driver driver;
    struct row rows[ROWS];
    struct rt_task task;
    uint64_t random;
    uint32_t deed;
    uint32_t seen_held;
    uint32_t seen_queued;
    uint32_t seen_released;
    uint32_t seen_cancelled;
} model;

static uint32_t
below(uint32_t end)
{
    return bed_below(&model.random, end);
}

/* A result of `row` has reached its owner, on either path. */
static void
arrived(struct row *row, int32_t result, bool more)
{
    EXPECT(!row->back);
    row->back = !more;
    if (result == RT_E_CANCELLED) {
        EXPECT(!more);
        EXPECT(row->asked || row->dropped);
        model.seen_cancelled++;
        return;
    }
    EXPECT_EQ(result, row->next);
    EXPECT(row->next < row->made);
    row->next++;
    EXPECT(more || (row->final && row->next == row->made));
}

static void
on_release(void *argument, int32_t result, bool more)
{
    struct row *row = argument;
    EXPECT(row->dropped);
    model.seen_released++;
    arrived(row, result, more);
}

static void
start(struct row *row)
{
    if (row->started && !row->back) {
        return;
    }
    *row = (struct row){.started = true, .multi = below(3) == 0};
    rt_op_init(&row->op);
    struct rt_op_request request = {.submission = {.opcode = RT_OPCODE_READ,
                                            .multi = row->multi,
                                            .target = (int32_t)(row - model.rows)},
            .release = on_release,
            .argument = row};
    rt_op_start(&row->op, &model.driver.ring, &request);
}

static void
poll_row(struct row *row, struct rt_cx *cx)
{
    struct rt_op_result result;
    if (!row->started || row->dropped || row->back) {
        return;
    }
    if (rt_op_poll(&row->op, cx, &result) == RT_READY) {
        arrived(row, result.result, result.more);
    }
    model.seen_queued += rt_op_state(&row->op) == RT_OP_QUEUED;
}

static void
cancel(struct row *row)
{
    if (row->started && !row->dropped && !row->back) {
        row->asked = true;
        rt_op_cancel(&row->op);
    }
}

static void
drop(struct row *row)
{
    if (row->started && !row->dropped && !row->back) {
        row->dropped = true;
        rt_op_drop(&row->op);
        memset(&row->op, 0xee, sizeof(row->op));
    }
}

/* The host does one thing: a result, the last one, or an answer to a cancel. */
static void
host_step(void)
{
    struct dumb_ring *host = &model.driver.host;
    if (host->live_count == 0) {
        return;
    }
    uint32_t index = below(host->live_count);
    const struct rt_submission *live = &host->live[index];
    if (live->opcode == RT_OPCODE_CANCEL) {
        static const int32_t answers[] = {0, RT_E_STALE, RT_E_BUSY};
        dumb_complete(host, index, answers[below(3)], false);
        return;
    }
    struct row *row = &model.rows[live->target];
    bool more = row->multi && below(4) != 0;
    if ((row->asked || row->dropped) && below(2) == 0) {
        row->final = true;
        dumb_complete(host, index, RT_E_CANCELLED, false);
        return;
    }
    row->final = !more;
    dumb_complete(host, index, row->made++, more);
}

static void
deed(struct rt_cx *cx)
{
    struct row *row = &model.rows[below(ROWS)];
    switch (below(8)) {
    case 0:
    case 1:
        start(row);
        return;
    case 2:
    case 3:
        poll_row(row, cx);
        return;
    case 4:
        cancel(row);
        return;
    case 5:
        if (below(3) == 0) {
            drop(row);
        }
        return;
    case 6:
        model.driver.host.refuses = below(4) == 0 && model.driver.host.live_count > 0;
        model.driver.host.queue_room = 1 + below(3);
        return;
    default:
        for (uint32_t i = below(4); i > 0; i--) {
            host_step();
        }
        if (below(2) == 0) {
            rt_ring_turn(&model.driver.ring);
        }
    }
}

static rt_poll
model_poll(struct rt_task *task, struct rt_cx *cx)
{
    (void)task;
    deed(cx);
    const char *wrong = rt_ring_audit(&model.driver.ring);
    ck_assert_msg(wrong == NULL, "deed %u: %s", model.deed, wrong);
    model.seen_held += model.driver.ring.holding;
    rt_cx_reenqueue(cx);
    return RT_PENDING;
}

/* Everything is dropped and completed: every buffer is back, every place free. */
static void
finish(void)
{
    struct dumb_ring *host = &model.driver.host;
    host->refuses = false;
    rt_task_cancel(&model.task);
    for (uint32_t i = 0; i < ROWS; i++) {
        drop(&model.rows[i]);
    }
    for (uint32_t i = 0; rt_ring_used(&model.driver.ring) > 0; i++) {
        ck_assert_msg(i < 10000, "places stay taken");
        host_step();
        rt_ring_turn(&model.driver.ring);
    }
    for (uint32_t i = 0; i < ROWS; i++) {
        EXPECT(!model.rows[i].started || model.rows[i].back);
    }
}

/* Holds U1, U2, U3, U4, U5, U7, U8: 200 histories of 2,000 steps. */
TEST(op_agrees_with_its_model)
{
    for (uint64_t seed = 1; seed <= 200; seed++) {
        memset(model.rows, 0, sizeof(model.rows));
        model.random = seed;
        dumb_driver_init(&model.driver, 1 + below(DUMB_RING_PLACES), below(4));
        model.driver.host.done_room = 1 + below(4);
        rt_task_init(&model.task, model_poll, NULL, "model");
        EXPECT_EQ(rt_post(&model.driver.dumb.runtime.executor, &model.task), RT_OK);
        for (model.deed = 0; model.deed < 2000; model.deed++) {
            EXPECT(rt_run_one(&model.driver.dumb.runtime.executor));
        }
        finish();
        dumb_driver_fini(&model.driver);
    }
    EXPECT(model.seen_held > 100);
    EXPECT(model.seen_queued > 100);
    EXPECT(model.seen_released > 100);
    EXPECT(model.seen_cancelled > 100);
}
