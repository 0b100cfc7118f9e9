/*
 * spurious_poll.c -- the oracle's spurious poll of a blocked task.
 *
 * The task is polled directly, not by the executor: its state there, and the run
 * queue, do not change. It gets its usual waker, so that a slot which it stores in
 * compares equal to the waker stored before.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "runtime/base/assert.h"
#include "sim/bind/bind_priv.h"

static struct sim_bound *
bound_of(const struct sim_actor *actor)
{
    return rt_container_of(actor, struct sim_bound, actor);
}

/*
 * The task if it can be spuriously polled: spawned, and not being polled. A parked one is not
 * spawned (T13). A woken one is blocked too, if the run queue has lost it. While another is being
 * polled, and the run was stopped inside of that poll, it only waits for its turn
 * (zoo/futures-rs-2047).
 */
static struct rt_task *
waiter(const struct sim_bound *bound)
{
    const struct rt_executor *executor = &bound->rt->runtime.executor;
    struct rt_task *task = rt_executor_task(executor, bound->key.index);
    if (bound->actor.done || task == NULL || task->target.key.generation != bound->key.generation) {
        return NULL;
    }
    bool forgotten = task->state == RT_TASK_WOKEN && executor->current == NULL;
    return task->state == RT_TASK_SLEEPING || forgotten ? task : NULL;
}

enum sim_spurious_poll
sim__task_spurious_poll(struct sim_actor *actor)
{
    struct sim_bound *bound = bound_of(actor);
    struct rt_task *task = waiter(bound);
    if (task == NULL) {
        return SIM_SPURIOUS_POLL_UNSUPPORTED;
    }
    struct rt_cx cx;
    rt_cx_init(&cx, &bound->rt->runtime.executor, task, rt_target_waker(&task->target));
    rt_poll answer = task->poll(task, &cx);
    rt_cx_poison(&cx);
    sim__refresh(bound->rt); /* It may have armed timers. */
    return answer == RT_PENDING  ? SIM_SPURIOUS_POLL_STILL
           : answer == RT_PARKED ? SIM_SPURIOUS_POLL_PARKED
                                 : SIM_SPURIOUS_POLL_MOVED;
}

uint32_t
sim__task_waiting(const struct sim_actor *actor, struct sim_waiting *ret, uint32_t max)
{
    const struct rt_task *task = waiter(bound_of(actor));
    uint32_t count = 0;
    if (task == NULL) {
        return 0;
    }
    rt_list_each(link, &task->slots)
    {
        const struct rt_slot *slot = rt_container_of(link, struct rt_slot, task_link);
        const struct rt_site *line = slot->await != NULL ? slot->await : slot->site;
        if (count < max) {
            ret[count] = (struct sim_waiting){
                    .object = slot->owner != 0 ? slot->owner : slot->object.id,
                    .site = line != NULL ? line->id : 0,
                    .reason = slot->reason,
            };
        }
        count++;
    }
    return count < max ? count : max;
}

/* Wakes the wakers that were stored for the task and are not its own: a combinator's. */
void
sim__task_fire_derived(struct sim_actor *actor)
{
    struct rt_task *task = waiter(bound_of(actor));
    if (task == NULL) {
        return;
    }
    struct rt_waker own = rt_target_waker(&task->target);
    bool fired = true;
    while (fired) {
        fired = false;
        rt_list_each(link, &task->slots)
        {
            struct rt_slot *slot = rt_container_of(link, struct rt_slot, task_link);
            if (!rt_waker_will_wake(&slot->waker, &own)) {
                /* The wake may change the list: start over. */
                fired = rt_slot_wake(slot);
                break;
            }
        }
    }
}
