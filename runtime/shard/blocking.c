/*
 * blocking.c -- the queue before one worker, and the waits for its work.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "runtime/shard/blocking.h"

#include "runtime/base/assert.h"

#include "runtime/base/banned.h"

#define POOL_MAGIC 0x52424c50u
#define WORK_MAGIC 0x52574f52u

static struct rt_work *
work_of(struct rt_list *link)
{
    return rt_container_of(link, struct rt_work, link);
}

static const char *
pool_audit(const struct rt_object *object)
{
    const struct rt_blocking_pool *pool = rt_container_of(object, struct rt_blocking_pool, object);
    if (pool->running == NULL && !rt_list_empty(&pool->queued)) {
        return "work is queued while the worker has nothing to do";
    }
    return NULL;
}

void
rt_blocking_init(struct rt_blocking_pool *pool, struct rt_worker *worker)
{
    rt_assert(pool != NULL);
    rt_assert(worker != NULL);
    *pool = (struct rt_blocking_pool){
            .object = {POOL_MAGIC, RT_PROBE_OBJECT(USER)},
            .worker = worker,
    };
    rt_list_init(&pool->queued);
    RT_PROBE_AUDIT(&pool->object, pool_audit);
}

void
rt_blocking_fini(struct rt_blocking_pool *pool)
{
    rt_check(&pool->object, POOL_MAGIC);
    if (pool->running != NULL || !rt_list_empty(&pool->queued)) {
        rt_fault(RT_E_IN_USE, "a blocking pool", "it is ended while it has work");
    }
    RT_PROBE_AUDIT(&pool->object, NULL);
    pool->object.magic = 0;
}

void
rt_work_init(struct rt_work *work, void (*run)(struct rt_work *work), const char *what)
{
    rt_assert(work != NULL);
    rt_assert(run != NULL);
    *work = (struct rt_work){
            .object = {WORK_MAGIC, RT_PROBE_OBJECT(OPERATION)},
            .run = run,
            .what = what,
    };
    rt_list_init(&work->link);
    rt_slot_init(&work->slot);
    work->slot.owner = work->object.id;
}

/* Gives the worker the first of the queue, if it has nothing. */
static void
start_next(struct rt_blocking_pool *pool)
{
    if (pool->running != NULL) {
        return;
    }
    struct rt_list *link = rt_list_pop_front(&pool->queued);
    if (link == NULL) {
        return;
    }
    struct rt_work *work = work_of(link);
    rt_assert(work->state == RT_WORK_QUEUED);
    work->state = RT_WORK_RUNNING;
    pool->running = work;
    pool->worker->start(pool->worker, work);
}

rt_err
rt_blocking_submit_at(
        struct rt_blocking_pool *pool, struct rt_work *work, const struct rt_site *await)
{
    rt_check(&pool->object, POOL_MAGIC);
    rt_check(&work->object, WORK_MAGIC);
    if (work->state != RT_WORK_IDLE) {
        return RT_E_BUSY;
    }
    RT_PROBE(SUBMIT, work->object.id, RT_HERE, await, 0);
    work->state = RT_WORK_QUEUED;
    work->forgotten = false;
    rt_list_push_back(&pool->queued, &work->link);
    start_next(pool);
    return RT_OK;
}

rt_poll
rt_work_poll_at(struct rt_work *work, struct rt_cx *cx, const struct rt_site *await)
{
    rt_check(&work->object, WORK_MAGIC);
    if (work->state == RT_WORK_IDLE || work->forgotten) {
        rt_fault(RT_E_FINISHED, work->what, "work was polled that was not submitted");
    }
    if (work->state == RT_WORK_DONE) {
        RT_PROBE(CONSUME, work->object.id, RT_HERE, await, 1);
        (void)rt_slot_clear_at(&work->slot, await);
        work->state = RT_WORK_IDLE;
        return RT_READY;
    }
    rt_slot_replace_at(&work->slot, cx, work->what, RT_HERE, await);
    return RT_PENDING;
}

void
rt_work_forget_at(struct rt_work *work, const struct rt_site *await)
{
    rt_check(&work->object, WORK_MAGIC);
    (void)rt_slot_clear_at(&work->slot, await);
    if (work->state == RT_WORK_RUNNING) {
        work->forgotten = true;
        return;
    }
    rt_list_unlink(&work->link);
    work->state = RT_WORK_IDLE;
}

void
rt_blocking_done_at(struct rt_blocking_pool *pool, const struct rt_site *await)
{
    rt_check(&pool->object, POOL_MAGIC);
    struct rt_work *work = pool->running;
    if (work == NULL) {
        rt_fault(RT_E_INVALID, "a blocking pool", "its worker is done with nothing");
    }
    RT_PROBE(DONE, work->object.id, RT_HERE, await, 0);
    rt_assert(work->state == RT_WORK_RUNNING);
    pool->running = NULL;
    work->state = work->forgotten ? RT_WORK_IDLE : RT_WORK_DONE;
    work->forgotten = false;
    /* Before the wake: the woken task may submit again, and finds the worker busy. */
    start_next(pool);
    (void)rt_slot_wake_at(&work->slot, await);
}
