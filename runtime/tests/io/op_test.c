/*
 * op_test.c -- operations over a dumb ring: the owner of the buffer, at each point.
 *
 * An asker is a task with one operation; its answers are kept in `results`. Completions of a
 * dropped operation go to `released`. The test is the host.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "runtime/io/op.h"

#include <string.h>

#include "runtime/tests/io/dumb_ring.h"

struct asker {
    struct rt_task task;
    struct dumb_driver *driver;
    struct rt_op op;
    struct rt_op_request request;
    char buffer[8];
    int32_t results[8];
    uint32_t count;
    bool done; /* The last result was taken. */
    int32_t released[8];
    uint32_t releases;
    bool given_back; /* `release` was called without `more`. */
};

static void
on_release(void *argument, int32_t result, bool more)
{
    struct asker *asker = argument;
    EXPECT(!asker->given_back);
    EXPECT(!asker->done);
    asker->released[asker->releases++] = result;
    asker->given_back = !more;
}

static rt_poll
asker_poll(struct rt_task *task, struct rt_cx *cx)
{
    struct asker *asker = rt_container_of(task, struct asker, task);
    while (!asker->done) {
        struct rt_op_result result = {77, true};
        RT_AWAIT(rt_op_poll(&asker->op, cx, &result));
        asker->results[asker->count++] = result.result;
        asker->done = !result.more;
    }
    dumb_log(&asker->driver->dumb, task->name);
    return RT_READY;
}

static void
asker_init(struct asker *asker, struct dumb_driver *driver, const char *name, int32_t target)
{
    memset(asker, 0, sizeof(*asker));
    asker->driver = driver;
    rt_op_init(&asker->op);
    asker->request = (struct rt_op_request){.submission = {.opcode = RT_OPCODE_READ,
                                                    .target = target,
                                                    .buffer = asker->buffer,
                                                    .size = sizeof(asker->buffer)},
            .release = on_release,
            .argument = asker};
    rt_task_init(&asker->task, asker_poll, NULL, name);
}

/* Starts its operation and posts it; not polled yet. */
static void
asker_post(struct asker *asker)
{
    rt_op_start(&asker->op, &asker->driver->ring, &asker->request);
    EXPECT_EQ(rt_post(&asker->driver->dumb.runtime.executor, &asker->task), RT_OK);
}

/* An asker of READ on `target`, which has been polled once. */
static void
asker_start(struct asker *asker, struct dumb_driver *driver, const char *name, int32_t target)
{
    asker_init(asker, driver, name, target);
    asker_post(asker);
    dumb_run(&driver->dumb);
}

/* One turn of the reactor, which wakes the ring; then the woken tasks. */
static void
turn(struct dumb_driver *driver)
{
    uint32_t woken = 0;
    EXPECT_EQ(rt_reactor_turn(&driver->dumb.runtime.reactor, RT_TURN_POLL, NULL, 0, &woken), RT_OK);
    dumb_run(&driver->dumb);
    EXPECT(rt_ring_audit(&driver->ring) == NULL);
}

static void
complete(struct dumb_driver *driver, enum rt_opcode opcode, int32_t target, int32_t result)
{
    dumb_complete(&driver->host, dumb_live(&driver->host, opcode, target), result, false);
}

/*
 * The tutorial: a read is started, sent when it is polled, and its task sleeps. The
 * host completes it, the reactor wakes the ring, the ring the task.
 */
TEST(op_read_is_sent_completed_and_taken)
{
    struct dumb_driver driver;
    struct asker asker;
    dumb_driver_init(&driver, 4, 0);
    asker_init(&asker, &driver, "a", 5);
    EXPECT_EQ(rt_op_state(&asker.op), RT_OP_IDLE);
    asker_post(&asker);
    EXPECT_EQ(rt_op_state(&asker.op), RT_OP_SUBMITTED);
    EXPECT_EQ(driver.host.enters, 0);

    dumb_run(&driver.dumb);
    EXPECT_EQ(rt_op_state(&asker.op), RT_OP_WAITING);
    EXPECT_EQ(driver.host.live_count, 1);
    EXPECT(driver.host.live[0].buffer == asker.buffer);
    EXPECT_EQ(rt_reactor_waiting(&driver.dumb.runtime.reactor), 1);

    complete(&driver, RT_OPCODE_READ, 5, 3);
    turn(&driver);
    EXPECT(asker.done);
    EXPECT_EQ(asker.results[0], 3);
    EXPECT_EQ(rt_op_state(&asker.op), RT_OP_IDLE);
    EXPECT_EQ(rt_ring_used(&driver.ring), 0);
    EXPECT_EQ(rt_reactor_waiting(&driver.dumb.runtime.reactor), 0);
    dumb_driver_fini(&driver);
}

/* Holds U1: with one of several completions the buffer stays with the host; with the last it
 * is returned, and only then is the place free. */
TEST(op_buffer_is_released_with_the_final_completion)
{
    struct dumb_driver driver;
    struct asker asker;
    dumb_driver_init(&driver, 1, 2);
    asker_init(&asker, &driver, "a", 5);
    asker.request.submission.multi = true;
    asker_post(&asker);
    dumb_run(&driver.dumb);
    dumb_complete(&driver.host, 0, 2, true);
    turn(&driver);
    EXPECT_EQ(asker.count, 1);
    EXPECT(!asker.done);
    EXPECT_EQ(rt_ring_used(&driver.ring), 1);

    rt_task_cancel(&asker.task);
    rt_op_drop(&asker.op);
    EXPECT_EQ(asker.releases, 0);
    EXPECT_EQ(rt_ring_used(&driver.ring), 1);
    complete(&driver, RT_OPCODE_READ, 5, 6);
    complete(&driver, RT_OPCODE_CANCEL, 0, RT_E_STALE);
    rt_ring_turn(&driver.ring);
    EXPECT(asker.given_back);
    EXPECT_EQ(asker.releases, 1);
    EXPECT_EQ(asker.released[0], 6);
    EXPECT_EQ(rt_ring_used(&driver.ring), 0);
    dumb_driver_fini(&driver);
}

/* Holds U2: the task goes, the handle is freed and used for something else; the host still has the
 * buffer, which is passed to `release` with the completion. */
TEST(op_dropped_waiter_leaves_the_buffer_with_the_host)
{
    struct dumb_driver driver;
    struct asker asker;
    dumb_driver_init(&driver, 4, 0);
    asker_start(&asker, &driver, "a", 5);
    rt_task_cancel(&asker.task);
    rt_op_drop(&asker.op);
    EXPECT_EQ(rt_op_state(&asker.op), RT_OP_IDLE);
    memset(&asker.op, 0xee, sizeof(asker.op));
    EXPECT_EQ(asker.releases, 0);
    EXPECT_EQ(driver.host.live_count, 1);
    EXPECT_EQ(rt_ring_used(&driver.ring), 1);
    EXPECT_EQ(rt_reactor_waiting(&driver.dumb.runtime.reactor), 1);

    complete(&driver, RT_OPCODE_READ, 5, 4);
    turn(&driver);
    EXPECT(asker.given_back);
    EXPECT_EQ(asker.released[0], 4);
    EXPECT_EQ(rt_ring_used(&driver.ring), 0);
    dumb_driver_fini(&driver);
}

/* Holds U2: a result that was there and not taken goes to `release` at the drop. */
TEST(op_dropped_with_untaken_results_releases_them_in_order)
{
    struct dumb_driver driver;
    struct asker asker;
    dumb_driver_init(&driver, 4, 4);
    asker_init(&asker, &driver, "a", 5);
    asker.request.submission.multi = true;
    rt_op_start(&asker.op, &driver.ring, &asker.request);
    rt_ring_turn(&driver.ring);
    dumb_complete(&driver.host, 0, 1, true);
    dumb_complete(&driver.host, 0, 2, true);
    dumb_complete(&driver.host, 0, 0, false);
    rt_ring_turn(&driver.ring);
    EXPECT_EQ(rt_op_state(&asker.op), RT_OP_COMPLETED);
    rt_op_drop(&asker.op);
    EXPECT_EQ(asker.releases, 3);
    EXPECT_EQ(asker.released[0], 1);
    EXPECT_EQ(asker.released[1], 2);
    EXPECT_EQ(asker.released[2], 0);
    EXPECT(asker.given_back);
    dumb_driver_fini(&driver);
}

/* Starts, cancels, and completes target and cancel in one of the two orders. */
static void
cancel_pair(bool cancel_first, int32_t target_result, int32_t cancel_result)
{
    struct dumb_driver driver;
    struct asker asker;
    dumb_driver_init(&driver, 1, 0);
    asker_start(&asker, &driver, "a", 5);
    rt_op_cancel(&asker.op);
    rt_op_cancel(&asker.op);
    EXPECT_EQ(driver.host.live_count, 2);
    EXPECT(!asker.done);
    if (cancel_first) {
        complete(&driver, RT_OPCODE_CANCEL, 0, cancel_result);
        turn(&driver);
        EXPECT(!asker.done);
        EXPECT_EQ(rt_op_state(&asker.op), RT_OP_WAITING);
    }
    complete(&driver, RT_OPCODE_READ, 5, target_result);
    turn(&driver);
    EXPECT(asker.done);
    EXPECT_EQ(asker.results[0], target_result);
    if (!cancel_first) {
        /* The name is not reused while the host may still send it. */
        EXPECT_EQ(rt_ring_used(&driver.ring), 1);
        EXPECT_EQ(rt_reactor_waiting(&driver.dumb.runtime.reactor), 1);
        complete(&driver, RT_OPCODE_CANCEL, 0, cancel_result);
        turn(&driver);
    }
    EXPECT_EQ(rt_ring_used(&driver.ring), 0);
    dumb_driver_fini(&driver);
}

/* Holds U3: two completions for a cancel, in both orders, with every pair of answers. */
TEST(op_cancel_is_answered_twice_in_any_order)
{
    for (int first = 0; first < 2; first++) {
        cancel_pair(first != 0, RT_E_CANCELLED, 0);
        cancel_pair(first != 0, 3, RT_E_STALE);
        cancel_pair(first != 0, 3, RT_E_BUSY);
        cancel_pair(first != 0, RT_E_CANCELLED, RT_E_BUSY);
    }
}

/* Holds U3: what the host has never seen is cancelled here, with a place or queued for one, and
 * the host is not called. */
TEST(op_cancel_before_the_host_saw_it_ends_at_once)
{
    struct dumb_driver driver;
    struct asker first;
    struct asker second;
    dumb_driver_init(&driver, 1, 0);
    asker_init(&first, &driver, "a", 5);
    asker_post(&first);
    rt_op_cancel(&first.op);
    EXPECT_EQ(rt_op_state(&first.op), RT_OP_COMPLETED);
    EXPECT_EQ(rt_ring_used(&driver.ring), 0);
    dumb_run(&driver.dumb);
    EXPECT_EQ(first.results[0], RT_E_CANCELLED);
    EXPECT_EQ(driver.host.enters, 0);

    asker_start(&first, &driver, "a", 5);
    asker_start(&second, &driver, "b", 6);
    EXPECT_EQ(rt_op_state(&second.op), RT_OP_QUEUED);
    rt_op_cancel(&second.op);
    dumb_run(&driver.dumb);
    EXPECT_EQ(second.results[0], RT_E_CANCELLED);
    EXPECT_EQ(driver.host.live_count, 1);
    complete(&driver, RT_OPCODE_READ, 5, 1);
    turn(&driver);
    EXPECT_EQ(driver.host.live_count, 0);
    dumb_driver_fini(&driver);
}

/* Holds U4: three operations, completed backwards; each task gets its own result. */
TEST(op_completions_come_in_any_order)
{
    struct dumb_driver driver;
    struct asker askers[3];
    static const char *const names[] = {"a", "b", "c"};
    dumb_driver_init(&driver, 4, 0);
    for (int32_t i = 0; i < 3; i++) {
        asker_start(&askers[i], &driver, names[i], 5);
    }
    for (int32_t i = 3; i-- > 0;) {
        dumb_complete(&driver.host, (uint32_t)i, 100 + i, false);
    }
    turn(&driver);
    for (int32_t i = 0; i < 3; i++) {
        EXPECT(askers[i].done);
        EXPECT_EQ(askers[i].results[0], 100 + i);
    }
    EXPECT_STR(driver.dumb.log, "c b a");
    dumb_driver_fini(&driver);
}

/* Holds U5: results with more keep it live, whatever they say; the one without is the last. */
TEST(op_with_more_is_live_until_a_result_without)
{
    struct dumb_driver driver;
    struct asker asker;
    dumb_driver_init(&driver, 2, 2);
    asker_init(&asker, &driver, "a", 5);
    asker.request.submission.opcode = RT_OPCODE_ACCEPT;
    asker.request.submission.multi = true;
    asker_post(&asker);
    dumb_run(&driver.dumb);
    for (int32_t i = 0; i < 5; i++) {
        dumb_complete(&driver.host, 0, i == 3 ? RT_E_FULL : 40 + i, true);
        turn(&driver);
        EXPECT_EQ(asker.count, (uint32_t)i + 1);
        EXPECT(!asker.done);
        EXPECT_EQ(rt_op_state(&asker.op), RT_OP_WAITING);
    }
    dumb_complete(&driver.host, 0, 45, false);
    turn(&driver);
    EXPECT(asker.done);
    EXPECT_EQ(asker.results[3], RT_E_FULL);
    EXPECT_EQ(asker.results[5], 45);
    dumb_driver_fini(&driver);
}

/* Results that are not taken hold the queue up and lose nothing; taking one lets it continue. */
TEST(op_results_without_capacity_wait_in_the_queue)
{
    struct dumb_driver driver;
    struct asker asker;
    dumb_driver_init(&driver, 2, 1);
    asker_init(&asker, &driver, "a", 5);
    asker.request.submission.multi = true;
    rt_op_start(&asker.op, &driver.ring, &asker.request);
    rt_ring_turn(&driver.ring);
    for (int32_t i = 0; i < 3; i++) {
        dumb_complete(&driver.host, 0, i, true);
    }
    dumb_complete(&driver.host, 0, 3, false);
    rt_ring_turn(&driver.ring);
    EXPECT(driver.ring.holding);
    EXPECT_EQ(rt_reactor_waiting(&driver.dumb.runtime.reactor), 0);
    EXPECT_EQ(rt_post(&driver.dumb.runtime.executor, &asker.task), RT_OK);
    dumb_run(&driver.dumb);
    EXPECT_EQ(asker.count, 4);
    for (int32_t i = 0; i < 4; i++) {
        EXPECT_EQ(asker.results[i], i);
    }
    EXPECT(asker.done);
    dumb_driver_fini(&driver);
}

/* Holds U6: the target is closed and its number given to another; the operation is still live and
 * completes by its own name. */
TEST(op_outlives_its_closed_target)
{
    struct dumb_driver driver;
    struct asker before;
    struct asker after;
    dumb_driver_init(&driver, 4, 0);
    asker_start(&before, &driver, "before", 5);
    asker_start(&after, &driver, "after", 5); /* The number was reused. */
    EXPECT_EQ(driver.host.live_count, 2);
    EXPECT(driver.host.live[0].user_data != driver.host.live[1].user_data);
    dumb_complete(&driver.host, 1, 2, false);
    turn(&driver);
    EXPECT(after.done);
    EXPECT(!before.done);
    dumb_complete(&driver.host, 0, 1, false);
    turn(&driver);
    EXPECT_EQ(before.results[0], 1);
    dumb_driver_fini(&driver);
}

/* Holds U7: a full submission queue is entered and pushed again, in the order of asking. */
TEST(op_full_submission_queue_is_flushed_and_retried)
{
    struct dumb_driver driver;
    struct asker askers[4];
    dumb_driver_init(&driver, 4, 0);
    driver.host.queue_room = 1;
    for (int32_t i = 0; i < 4; i++) {
        asker_init(&askers[i], &driver, "a", 10 + i);
        asker_post(&askers[i]);
    }
    rt_ring_turn(&driver.ring); /* One is enough for all. */
    EXPECT_EQ(driver.host.live_count, 4);
    EXPECT(driver.host.fulls >= 3);
    dumb_run(&driver.dumb);
    for (int32_t i = 0; i < 4; i++) {
        EXPECT_EQ(driver.host.live[i].target, 10 + i);
    }
    for (int32_t i = 0; i < 4; i++) {
        dumb_complete(&driver.host, 0, 1, false);
    }
    turn(&driver);
    EXPECT(askers[3].done);
    dumb_driver_fini(&driver);
}

/* Holds U7: what the host refuses now is pushed when its next completion comes. */
TEST(op_refused_submissions_are_retried_with_the_next_completion)
{
    struct dumb_driver driver;
    struct asker askers[3];
    dumb_driver_init(&driver, 4, 0);
    driver.host.queue_room = 1;
    asker_start(&askers[0], &driver, "a", 10);
    driver.host.refuses = true;
    asker_start(&askers[1], &driver, "b", 11);
    asker_start(&askers[2], &driver, "c", 12);
    EXPECT_EQ(driver.host.live_count, 1);
    driver.host.refuses = false;
    complete(&driver, RT_OPCODE_READ, 10, 1);
    turn(&driver);
    EXPECT_EQ(driver.host.live_count, 2);
    complete(&driver, RT_OPCODE_READ, 11, 1);
    complete(&driver, RT_OPCODE_READ, 12, 1);
    turn(&driver);
    EXPECT(askers[2].done);
    dumb_driver_fini(&driver);
}

/* Holds U7: completions that did not fit are brought by an enter, although nothing is pushed. */
TEST(op_completion_overflow_is_flushed)
{
    struct dumb_driver driver;
    struct asker askers[4];
    dumb_driver_init(&driver, 4, 0);
    driver.host.done_room = 1;
    for (int32_t i = 0; i < 4; i++) {
        asker_start(&askers[i], &driver, "a", 10 + i);
    }
    for (int32_t i = 0; i < 4; i++) {
        dumb_complete(&driver.host, 0, i, false);
    }
    turn(&driver);
    for (int32_t i = 0; i < 4; i++) {
        EXPECT(askers[i].done);
        EXPECT_EQ(askers[i].results[0], i);
    }
    dumb_driver_fini(&driver);
}

/* Holds U7: an operation without a place queues, and a new one does not pass it. */
TEST(op_slots_are_given_first_come_first_served)
{
    struct dumb_driver driver;
    struct asker askers[4];
    dumb_driver_init(&driver, 1, 0);
    for (int32_t i = 0; i < 4; i++) {
        asker_start(&askers[i], &driver, "a", 10 + i);
    }
    EXPECT_EQ(rt_op_state(&askers[1].op), RT_OP_QUEUED);
    rt_task_cancel(&askers[1].task);
    rt_op_drop(&askers[1].op);
    EXPECT(askers[1].given_back);
    EXPECT_EQ(askers[1].released[0], RT_E_CANCELLED);
    for (int32_t i = 0; i < 4; i++) {
        if (i != 1) {
            EXPECT_EQ(driver.host.live_count, 1);
            complete(&driver, RT_OPCODE_READ, 10 + i, i);
            turn(&driver);
            EXPECT(askers[i].done);
        }
    }
    dumb_driver_fini(&driver);
}

/* Holds U8: each state in the trace, and user_data is index and generation: the next owner of a
 * place has another name. */
TEST(op_lifecycle_is_traced_and_names_are_not_reused)
{
    struct dumb_driver driver;
    struct asker asker;
    dumb_driver_init(&driver, 1, 0);
    asker_init(&asker, &driver, "a", 5);
    rt_op_start(&asker.op, &driver.ring, &asker.request);
    EXPECT_EQ(rt_op_state(&asker.op), RT_OP_SUBMITTED);
    EXPECT_EQ(rt_post(&driver.dumb.runtime.executor, &asker.task), RT_OK);
    dumb_run(&driver.dumb);
    EXPECT_EQ(rt_op_state(&asker.op), RT_OP_WAITING);
    uint64_t first = driver.host.live[0].user_data;
    EXPECT_EQ((uint32_t)first, 0);
    EXPECT(first >> 32 > 0);
    rt_task_cancel(&asker.task);
    EXPECT_EQ(rt_op_state(&asker.op), RT_OP_SUBMITTED);
    dumb_complete(&driver.host, 0, 1, false);
    rt_ring_turn(&driver.ring);
    EXPECT_EQ(rt_op_state(&asker.op), RT_OP_COMPLETED);
    rt_op_drop(&asker.op);

    asker_start(&asker, &driver, "a", 5);
    EXPECT_EQ((uint32_t)driver.host.live[0].user_data, 0);
    EXPECT(driver.host.live[0].user_data != first);
    /* A completion of the old name is an error of the host, and reaches no operation. */
    driver.host.live[1] = (struct rt_submission){.user_data = first};
    driver.host.live_count = 2;
    dumb_complete(&driver.host, 1, 9, false);
    EXPECT_FAULT(RT_E_STALE, rt_ring_turn(&driver.ring));
    EXPECT_EQ(asker.count, 0);
}

/* ---- U9 -------------------------------------------------------------------------------------- */

struct watcher {
    struct rt_task task;
    struct dumb_driver *driver;
    struct rt_op op;
    uint32_t times;
};

static rt_poll
watcher_poll(struct rt_task *task, struct rt_cx *cx)
{
    struct watcher *watcher = rt_container_of(task, struct watcher, task);
    while (watcher->times < 2) {
        int32_t ready = 0;
        RT_AWAIT(rt_op_ready(&watcher->op, &watcher->driver->ring, 5, RT_READABLE, cx, &ready));
        EXPECT_EQ(ready, RT_READABLE);
        watcher->times++;
    }
    return RT_READY;
}

/* Holds U9: a one-shot poll for each of two waiters, and a new one after each READY. */
TEST(op_ready_is_one_poll_a_waiter_and_armed_again)
{
    struct dumb_driver driver;
    struct watcher watchers[2];
    dumb_driver_init(&driver, 4, 0);
    for (uint32_t i = 0; i < 2; i++) {
        watchers[i] = (struct watcher){.driver = &driver};
        rt_op_init(&watchers[i].op);
        rt_task_init(&watchers[i].task, watcher_poll, NULL, "watcher");
        EXPECT_EQ(rt_post(&driver.dumb.runtime.executor, &watchers[i].task), RT_OK);
    }
    dumb_run(&driver.dumb);
    EXPECT_EQ(driver.host.live_count, 2);
    EXPECT_EQ(driver.host.live[0].opcode, RT_OPCODE_POLL);
    EXPECT(!driver.host.live[0].multi);
    EXPECT_EQ(driver.host.live[0].interest, RT_READABLE);
    uint64_t first = driver.host.live[0].user_data;
    dumb_complete(&driver.host, 0, RT_READABLE, false);
    turn(&driver);
    EXPECT_EQ(watchers[0].times, 1);
    EXPECT_EQ(watchers[1].times, 0);
    EXPECT_EQ(driver.host.live_count, 2);
    EXPECT(driver.host.live[1].user_data != first);
    dumb_complete(&driver.host, 1, RT_READABLE, false);
    dumb_complete(&driver.host, 0, RT_READABLE, false);
    turn(&driver);
    EXPECT_EQ(watchers[0].times, 2);
    EXPECT_EQ(driver.host.live_count, 1);
    dumb_complete(&driver.host, 0, RT_READABLE, false);
    turn(&driver);
    EXPECT_EQ(watchers[1].times, 2);
    dumb_driver_fini(&driver);
}

/* ---- Misuse. --------------------------------------------------------------------------------- */

TEST(op_misuse_is_a_named_fault)
{
    struct dumb_driver driver;
    struct asker asker;
    dumb_driver_init(&driver, 1, 0);
    asker_init(&asker, &driver, "a", 5);
    EXPECT_EQ(rt_post(&driver.dumb.runtime.executor, &asker.task), RT_OK);
    EXPECT_FAULT(RT_E_FINISHED, dumb_run(&driver.dumb));

    dumb_driver_init(&driver, 1, 0);
    asker_init(&asker, &driver, "a", 5);
    rt_op_start(&asker.op, &driver.ring, &asker.request);
    EXPECT_FAULT(RT_E_BUSY, rt_op_start(&asker.op, &driver.ring, &asker.request));
    EXPECT_FAULT(RT_E_IN_USE, rt_ring_fini(&driver.ring));
    struct rt_op never;
    memset(&never, 0xa5, sizeof(never));
    EXPECT_FAULT(RT_E_INVALID, rt_op_drop(&never));
    struct rt_op_request cancel = {.submission = {.opcode = RT_OPCODE_CANCEL}};
    rt_op_init(&never);
    EXPECT_FAULT(RT_E_INVALID, rt_op_start(&never, &driver.ring, &cancel));
    rt_op_drop(&asker.op);
    rt_op_drop(&asker.op);
    rt_op_cancel(&asker.op);
    dumb_driver_fini(&driver);
}
