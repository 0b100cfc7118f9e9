/*
 * audit.c -- what must be true of an executor and its tasks between any two steps.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "runtime/task/internal.h"

#include "runtime/base/banned.h"

/* Counts over the tasks; the executor's own must equal these. */
struct census {
    const struct rt_executor *executor;
    uint32_t posted;
    uint32_t foreground;
    uint32_t queued;
    uint32_t running;
};

static void
audit_slots(const struct rt_task *task)
{
    const struct rt_list *prev = &task->slots;
    rt_list_each(node, &task->slots)
    {
        const struct rt_slot *slot = rt_container_of(node, struct rt_slot, task_link);
        rt_check(&slot->object, RT__SLOT_MAGIC);
        rt_assert(!rt_slot_empty(slot));
        rt_assert(node->prev == prev);
        prev = node;
    }
    rt_assert(task->slots.prev == prev);
}

static bool
is_queued(const struct rt_executor *executor, const struct rt_task *task)
{
    return task->state == RT_TASK_WOKEN ||
           (task->state == RT_TASK_RUNNING_WOKEN && executor->self_wake == RT_SELF_WAKE_AT_WAKE);
}

static void
audit_task(const struct rt_task *task, void *argument)
{
    struct census *census = argument;
    const struct rt_executor *executor = census->executor;
    rt_check(&task->object, RT__TASK_MAGIC);
    rt_assert(task->target.executor == executor);
    rt_assert(rt_slab_get(&executor->targets, task->target.key) == &task->target);
    rt_assert(rt_task_posted(task));
    rt_assert(task->end == RT_TASK_NOT_ENDED);
    audit_slots(task);
    bool running = task->state != RT_TASK_WOKEN && task->state != RT_TASK_SLEEPING;
    rt_assert(!running || task == executor->current);
    census->running += running ? 1 : 0;
    census->posted++;
    census->foreground += task->background ? 0 : 1;
    census->queued += is_queued(executor, task) ? 1 : 0;
}

/* The built-in policy holds exactly the woken tasks. */
static void
audit_fifo(const struct rt_executor *executor)
{
    uint32_t count = 0;
    uint32_t id = executor->fifo.head;
    while (id != RT_SCHED_NONE) {
        const struct rt_task *task = rt_executor_task(executor, id);
        rt_assert(task != NULL);
        rt_assert(is_queued(executor, task));
        rt_assert(++count <= executor->woken);
        id = executor->fifo.links[id].next;
    }
    rt_assert(count == executor->woken);
}

void
rt_executor_audit(const struct rt_executor *executor)
{
    rt_check(executor, RT__EXECUTOR_MAGIC);
    rt_slab_audit(&executor->targets);
    struct census census = {.executor = executor};
    rt_executor_each(executor, audit_task, &census);
    rt_assert(census.posted == executor->posted);
    rt_assert(census.foreground == executor->foreground);
    rt_assert(census.queued == executor->woken);
    rt_assert(census.running == (executor->current != NULL ? 1u : 0u));
    rt_assert(executor->counters.returned <= executor->counters.clones);
    if (executor->sched == &executor->fifo.sched) {
        audit_fifo(executor);
    }
}
