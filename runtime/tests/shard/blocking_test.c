/*
 * blocking_test.c -- a queue before one worker: by hand, and with a thread.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#define _POSIX_C_SOURCE 200809L /* A pipe. */
#include <unistd.h>

#include "runtime/host/worker_thread.h"
#include "runtime/tests/bed.h"

/* A worker that the test is. */
struct hand {
    struct rt_worker worker;
    struct rt_blocking_pool pool;
    struct rt_work *work;
    unsigned started;
};

static void
hand_start(struct rt_worker *worker, struct rt_work *work)
{
    struct hand *hand = rt_container_of(worker, struct hand, worker);
    EXPECT(hand->work == NULL);
    hand->work = work;
    hand->started++;
}

static void
hand_init(struct hand *hand)
{
    *hand = (struct hand){.worker = {hand_start}};
    rt_blocking_init(&hand->pool, &hand->worker);
}

static void
hand_finish(struct hand *hand)
{
    struct rt_work *work = hand->work;
    hand->work = NULL;
    work->run(work);
    rt_blocking_done(&hand->pool);
}

/* A task that wants something done. */
struct client {
    struct rt_task task;
    struct rt_work work;
    struct bed *bed;
    int runs;
    bool submitted;
    struct rt_blocking_pool *pool;
};

static void
client_run(struct rt_work *work)
{
    struct client *client = rt_container_of(work, struct client, work);
    client->runs++;
}

static rt_poll
client_poll(struct rt_task *task, struct rt_cx *cx)
{
    struct client *client = rt_container_of(task, struct client, task);
    if (!client->submitted) {
        client->submitted = true;
        EXPECT_EQ(rt_blocking_submit(client->pool, &client->work), RT_OK);
    }
    RT_AWAIT(rt_work_poll(&client->work, cx));
    bed_log(client->bed, "", task->name);
    return RT_READY;
}

static void
client_cleanup(struct rt_task *task)
{
    rt_work_forget(&rt_container_of(task, struct client, task)->work);
}

static void
client_start(
        struct client *client, struct bed *bed, struct rt_blocking_pool *pool, const char *name)
{
    *client = (struct client){.bed = bed, .pool = pool};
    rt_work_init(&client->work, client_run, "its work");
    rt_task_init(&client->task, client_poll, client_cleanup, name);
    EXPECT_EQ(rt_post(&bed->executor, &client->task), RT_OK);
}

/*
 * Goal: one thing at a time, first come, first served.
 * Method: three clients; the worker is given one, and the next when it is done.
 */
TEST(blocking_pool_runs_one_at_a_time_in_order)
{
    struct bed bed;
    struct hand hand;
    struct client clients[3];
    static const char *const names[3] = {"a", "b", "c"};
    bed_init(&bed);
    hand_init(&hand);
    for (unsigned i = 0; i < 3; i++) {
        client_start(&clients[i], &bed, &hand.pool, names[i]);
    }
    EXPECT_EQ(bed_run(&bed), 3);
    for (unsigned i = 0; i < 3; i++) {
        EXPECT_EQ(hand.started, i + 1);
        EXPECT(hand.work == &clients[i].work);
        EXPECT_FAULT(RT_E_IN_USE, rt_blocking_fini(&hand.pool));
        hand_finish(&hand);
        EXPECT_EQ(bed_run(&bed), 1);
        EXPECT_EQ(clients[i].runs, 1);
    }
    EXPECT_STR(bed.log, "a b c");
    EXPECT_FAULT(RT_E_INVALID, rt_blocking_done(&hand.pool));
    rt_blocking_fini(&hand.pool);
}

/*
 * Goal: a cancelled client is not waited for: queued work does not run, running work wakes no
 * task, and its memory stays in use until it ends.
 * Method: cancel the client whose work runs, and one in the queue.
 */
TEST(blocking_work_forgotten_wakes_no_task)
{
    struct bed bed;
    struct hand hand;
    struct client clients[3];
    bed_init(&bed);
    hand_init(&hand);
    client_start(&clients[0], &bed, &hand.pool, "a");
    client_start(&clients[1], &bed, &hand.pool, "b");
    client_start(&clients[2], &bed, &hand.pool, "c");
    EXPECT_EQ(bed_run(&bed), 3);
    rt_task_cancel(&clients[0].task);
    rt_task_cancel(&clients[1].task);
    EXPECT(rt_work_busy(&clients[0].work));
    EXPECT(!rt_work_busy(&clients[1].work));
    EXPECT_EQ(rt_blocking_submit(&hand.pool, &clients[0].work), RT_E_BUSY);
    hand_finish(&hand);
    EXPECT(!rt_work_busy(&clients[0].work));
    EXPECT_EQ(bed_run(&bed), 0);
    EXPECT(hand.work == &clients[2].work);
    hand_finish(&hand);
    EXPECT_EQ(bed_run(&bed), 1);
    EXPECT_STR(bed.log, "c");
    EXPECT_EQ(clients[0].runs, 1);
    EXPECT_EQ(clients[1].runs, 0);
    rt_blocking_fini(&hand.pool);
}

/*
 * Goal: a work has one use at a time.
 * Method: poll it before it is submitted, submit it twice, poll it after READY.
 */
TEST(blocking_work_misused_is_refused)
{
    struct bed bed;
    struct hand hand;
    struct client client;
    struct rt_cx cx;
    bed_init(&bed);
    hand_init(&hand);
    client_start(&client, &bed, &hand.pool, "a");
    rt_cx_init(&cx, &bed.executor, &client.task, rt_waker_noop());
    EXPECT_FAULT(RT_E_FINISHED, (void)rt_work_poll(&client.work, &cx));
    EXPECT_EQ(bed_run(&bed), 1);
    EXPECT_EQ(rt_blocking_submit(&hand.pool, &client.work), RT_E_BUSY);
    hand_finish(&hand);
    EXPECT_EQ(rt_blocking_submit(&hand.pool, &client.work), RT_E_BUSY);
    EXPECT_EQ(bed_run(&bed), 1);
    EXPECT_EQ(client.work.state, RT_WORK_IDLE);
    EXPECT_FAULT(RT_E_FINISHED, (void)rt_work_poll(&client.work, &cx));
    rt_blocking_fini(&hand.pool);
}

/* ---- A thread. ------------------------------------------------------------------------------- */

static void
notify(void *argument)
{
    const int *pipe_in = argument;
    EXPECT_EQ(write(*pipe_in, "!", 1), 1);
}

/*
 * Goal: a real thread runs the work, notifies, and is collected.
 * Method: eight clients; sleep in a pipe until notified, collect, run. With thread sanitizer this
 * shows that the work's words are handed over in order.
 */
TEST(blocking_pool_with_a_thread_runs_everything)
{
    struct bed bed;
    struct rt_worker_thread worker;
    struct rt_blocking_pool pool;
    struct client clients[8];
    int ends[2];
    bed_init(&bed);
    EXPECT_EQ(pipe(ends), 0);
    EXPECT_EQ(rt_worker_thread_init(&worker, notify, &ends[1]), RT_OK);
    rt_blocking_init(&pool, &worker.worker);
    EXPECT(!rt_worker_thread_collect(&worker, &pool));
    for (unsigned i = 0; i < 8; i++) {
        client_start(&clients[i], &bed, &pool, "c");
    }
    (void)bed_run(&bed);
    for (unsigned i = 0; i < 8; i++) {
        char byte;
        EXPECT_EQ(read(ends[0], &byte, 1), 1);
        EXPECT(rt_worker_thread_collect(&worker, &pool));
        EXPECT_EQ(bed_run(&bed), 1);
        EXPECT_EQ(clients[i].runs, 1);
    }
    rt_blocking_fini(&pool);
    rt_worker_thread_fini(&worker);
}
