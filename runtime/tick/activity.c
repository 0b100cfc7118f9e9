/*
 * activity.c -- the life of an activity, from its first poll to its last clean-up.
 *
 * The end has one order: its id is dead, then its scope ends, then its owner's
 * cleanup is called, after which the memory may be reused. So a clean-up that
 * looks its own activity up finds none, and may cancel any other.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "runtime/tick/activity.h"

#include "runtime/base/assert.h"
#include "runtime/tick/internal.h"

#include "runtime/base/banned.h"

static struct rt_activity *
activity_of(struct rt_task *task)
{
    return rt_container_of(task, struct rt_activity, task);
}

static rt_poll
activity_poll(struct rt_task *task, struct rt_cx *cx)
{
    struct rt_activity *activity = activity_of(task);
    activity->heard = activity->sink.pushed;
    return activity->poll(activity, cx);
}

static void
activity_cleanup(struct rt_task *task)
{
    struct rt_activity *activity = activity_of(task);
    rt__ticker_forget(activity);
    RT_PROBE_AUDIT(&activity->sink.object, NULL);
    rt_scope_end(&activity->scope);
    if (activity->cleanup != NULL) {
        activity->cleanup(activity);
    }
}

/* An activity that is parked has seen every event that was sent to it (G5). */
const char *
rt__activity_audit(const struct rt_object *object)
{
    const struct rt_event_sink *sink = rt_container_of(object, struct rt_event_sink, object);
    const struct rt_activity *activity = rt_container_of(sink, struct rt_activity, sink);
    bool parked = activity->task.end == RT_TASK_PARKED;
    if (parked && activity->heard != sink->pushed) {
        return "an event came to an activity that is parked, and it was not marked";
    }
    return NULL;
}

void
rt_activity_init(struct rt_activity *activity, rt_activity_fn poll, rt_activity_cleanup_fn cleanup,
        const char *name)
{
    rt_assert(activity != NULL);
    rt_assert(poll != NULL);
    *activity = (struct rt_activity){.poll = poll, .cleanup = cleanup};
    rt_task_init(
            &activity->task, activity_poll, activity_cleanup, name != NULL ? name : "activity");
    rt_scope_init(&activity->scope);
    rt_event_sink_init(&activity->sink, NULL, 0, RT_SINK_DROP_NEW);
}

void
rt_activity_lend_events(struct rt_activity *activity, struct rt_event *events, uint32_t capacity,
        enum rt_sink_full full)
{
    rt_assert(activity != NULL);
    rt_assert(!rt_activity_alive(activity));
    rt_event_sink_init(&activity->sink, events, capacity, full);
    activity->heard = 0;
}

void
rt_activity_fini(struct rt_activity *activity)
{
    rt_assert(activity != NULL);
    if (rt_activity_alive(activity)) {
        rt_fault(RT_E_IN_USE, activity->task.name, "an activity was ended while it was alive");
    }
    rt_task_fini(&activity->task);
}

void
rt_activity_drop_at(struct rt_activity *activity, const struct rt_site *await)
{
    rt_assert(activity != NULL);
    rt_task_cancel_at(&activity->task, await);
}

struct rt_activity *
rt_activity_of(const struct rt_cx *cx)
{
    rt_cx_check(cx);
    if (cx->task->poll != activity_poll) {
        rt_fault(RT_E_INVALID, cx->task->name, "a task that is no activity waits like one");
    }
    return activity_of(cx->task);
}

rt_poll
rt_next_event_at(struct rt_cx *cx, struct rt_event *ret_event, const struct rt_site *await)
{
    struct rt_activity *activity = rt_activity_of(cx);
    if (rt_event_sink_pop_at(&activity->sink, ret_event, await)) {
        return RT_READY;
    }
    return rt_cx_park(cx);
}

rt_poll
rt_park_poll(struct rt_park *park, struct rt_cx *cx)
{
    rt_assert(park != NULL);
    const struct rt_activity *activity = rt_activity_of(cx);
    park->polls++;
    if (park->polls > 2) {
        rt_fault(RT_E_FINISHED, activity->task.name, "a park was polled that has ended");
    }
    return park->polls == 1 ? rt_cx_park(cx) : RT_READY;
}

void
rt_sub_init(struct rt_subactivity *sub, rt_subactivity_fn poll, const char *name)
{
    rt_assert(sub != NULL);
    rt_assert(poll != NULL);
    *sub = (struct rt_subactivity){
            .poll = poll,
            .name = name != NULL ? name : "sub-activity",
            .error = RT_OK,
    };
    rt_scope_init(&sub->scope);
}

rt_poll
rt_sub_poll(struct rt_subactivity *sub, struct rt_scope *outer, struct rt_cx *cx)
{
    rt_assert(sub != NULL);
    rt_cx_check(cx);
    if (rt_scope_ended(&sub->scope)) {
        rt_fault(RT_E_FINISHED, sub->name, "a sub-activity was polled that has ended");
    }
    if (!sub->begun) {
        sub->begun = true;
        rt_scope_enter(&sub->scope, outer);
    }
    rt_poll answer = sub->poll(sub, cx);
    if (answer == RT_READY) {
        rt_scope_end(&sub->scope);
    }
    return answer;
}

rt_poll
rt_sub_fail(struct rt_subactivity *sub, rt_err error)
{
    rt_assert(sub != NULL);
    rt_assert(error != RT_OK);
    sub->error = error;
    return RT_READY;
}

void
rt_sub_drop(struct rt_subactivity *sub)
{
    rt_assert(sub != NULL);
    rt_scope_end(&sub->scope);
}
