/*
 * invented-close.c -- a worker ends at the close of its queue while a job waits for a retry.
 *
 * A relative of H06 and H03, invented: no public issue.
 *
 * The bug. A closed queue takes no new jobs, and its worker ends when the jobs that it took before
 * are done. It takes an empty queue for that. A job that has failed is not in the queue while its
 * caller waits before the next try; that try is put into a queue that no worker serves.
 *
 * The fix. The worker checks that all jobs that were taken are done: may_stop() below.
 *
 * Here. Three callers have one job each, of which some fail at first; an operator closes the queue
 * at some time.
 *
 * Cause: never-fired in job_try or worker_poll or may_stop
 * Must end in: deadlock of a caller. Fails on the baseline run: no.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "sim/rewake.h"

#define BACKOFF_NS RT_MS

enum { CALLERS = 3 };

/* ---- The queue and its worker. --------------------------------------------------------------- */

struct queue {
    bool broken;
    bool closed;
    uint32_t taken; /* Jobs that were taken and are not done. */
    struct rt_list jobs;
    struct rt_slot filled;
    struct rt_task worker;
    struct rt_task operator;
    struct rt_sleep opening_hours;
};

enum answer { NO_ANSWER, FAILED, DONE };

struct job {
    struct rt_list node;
    uint32_t failures; /* Failures that are still to occur. */
    enum answer answer;
    struct rt_slot slot;
};

static void
queue_put(struct queue *queue, struct job *job)
{
    job->answer = NO_ANSWER;
    rt_list_push_back(&queue->jobs, &job->node);
    rt_slot_wake(&queue->filled);
}

static bool
may_stop(const struct queue *queue)
{
    return queue->closed && (queue->broken ? rt_list_empty(&queue->jobs) : queue->taken == 0);
}

static void
job_try(struct job *job, struct queue *queue)
{
    if (job->failures > 0) {
        job->failures--;
        job->answer = FAILED;
    } else {
        queue->taken--;
        job->answer = DONE;
    }
    SIM_PROGRESS();
    rt_slot_wake(&job->slot);
}

static rt_poll
worker_poll(struct rt_task *task, struct rt_cx *cx)
{
    struct queue *queue = rt_container_of(task, struct queue, worker);
    struct rt_list *node;
    while ((node = rt_list_pop_front(&queue->jobs)) != NULL) {
        job_try(rt_container_of(node, struct job, node), queue);
    }
    if (may_stop(queue)) {
        return RT_READY;
    }
    rt_slot_replace(&queue->filled, cx, "a job");
    return RT_PENDING;
}

static rt_poll
operator_poll(struct rt_task *task, struct rt_cx *cx)
{
    struct queue *queue = rt_container_of(task, struct queue, operator);
    RT_AWAIT(rt_sleep_poll(&queue->opening_hours, cx));
    queue->closed = true;
    rt_slot_wake(&queue->filled);
    return RT_READY;
}

/* ---- The callers. ---------------------------------------------------------------------------- */

struct caller {
    struct rt_task task;
    uint32_t at;
    struct queue *queue;
    struct job job;
    struct rt_sleep arrival;
    struct rt_sleep backoff;
};

static rt_poll
answer_poll(struct job *job, struct rt_cx *cx)
{
    if (job->answer != NO_ANSWER) {
        return RT_READY;
    }
    rt_slot_replace(&job->slot, cx, "an answer");
    return RT_PENDING;
}

static rt_poll
caller_poll(struct rt_task *task, struct rt_cx *cx)
{
    struct caller *caller = rt_container_of(task, struct caller, task);
    RT_BEGIN(caller->at);
    RT_AWAIT_HERE(caller->at, rt_sleep_poll(&caller->arrival, cx));
    if (caller->queue->closed) {
        return RT_READY; /* Refused. */
    }
    caller->queue->taken++;
    queue_put(caller->queue, &caller->job);
    RT_AWAIT_HERE(caller->at, answer_poll(&caller->job, cx));
    while (caller->job.answer == FAILED) {
        rt_sleep_init(&caller->backoff, BACKOFF_NS);
        RT_AWAIT_HERE(caller->at, rt_sleep_poll(&caller->backoff, cx));
        queue_put(caller->queue, &caller->job);
        RT_AWAIT_HERE(caller->at, answer_poll(&caller->job, cx));
    }
    RT_END(caller->at);
}

static void
begin(struct sim_world *world, bool broken)
{
    static const char *const names[CALLERS] = {"ann", "bob", "cem"};
    struct sim_rt *rt = sim_rt_new(world, NULL);
    struct queue *queue = sim_new(world, struct queue);
    queue->broken = broken;
    rt_list_init(&queue->jobs);
    rt_slot_init(&queue->filled);
    rt_sleep_init(&queue->opening_hours, sim_range(world, 0, 3 * RT_MS));
    rt_task_init(&queue->worker, worker_poll, NULL, "worker");
    rt_task_init(&queue->operator, operator_poll, NULL, "operator");
    sim_spawn(rt, &queue->worker);
    sim_spawn(rt, &queue->operator);
    for (uint32_t i = 0; i < CALLERS; i++) {
        struct caller *caller = sim_new(world, struct caller);
        caller->queue = queue;
        caller->job.failures = sim_pick(world, 4) == 3 ? 1 : 0;
        rt_list_init(&caller->job.node);
        rt_slot_init(&caller->job.slot);
        rt_sleep_init(&caller->arrival, sim_range(world, 0, 2 * RT_MS));
        rt_task_init(&caller->task, caller_poll, NULL, names[i]);
        sim_spawn(rt, &caller->task);
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

SIM_SCENARIO(zoo_invented_close_broken, .name = "zoo/invented-close/broken", .bug = "R05",
        .reference = "relative of H06, H03",
        .about = "A worker ends with an empty queue, while a job waits for its retry.",
        .setup = setup_broken, .expect = SIM_VERDICT_DEADLOCK);
SIM_SCENARIO(zoo_invented_close_fixed, .name = "zoo/invented-close/fixed",
        .about = "A worker ends when every job that was taken is done.", .setup = setup_fixed);
