/*
 * ticker.c -- names, marks, events, and the four steps of a tick.
 *
 * Nothing is kept across a call out: marking calls the policy, and polls may do
 * anything, so the lists are read again after each.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "runtime/tick/ticker.h"

#include "runtime/base/assert.h"
#include "runtime/tick/internal.h"

#include "runtime/base/banned.h"

static void
check_ticker(const struct rt_ticker *ticker)
{
    rt_check(ticker, RT_TICKER_MAGIC);
}

static void
verify(const struct rt_ticker *ticker)
{
#ifdef RT_VERIFY
    rt_ticker_audit(ticker);
#else
    (void)ticker;
#endif
}

/* ---- Activities. ----------------------------------------------------------------------------- */

struct rt_activity *
rt_upgrade(const struct rt_ticker *ticker, struct rt_key id)
{
    check_ticker(ticker);
    return rt_slab_get(&ticker->activities, id);
}

void
rt__ticker_forget(struct rt_activity *activity)
{
    void *gone = rt_slab_remove(&activity->ticker->activities, activity->id);
    rt_assert(gone == activity);
    activity->id = (struct rt_key){0, 0};
}

rt_err
rt_spawn_at(struct rt_ticker *ticker, struct rt_activity *activity, const struct rt_site *await)
{
    check_ticker(ticker);
    if (rt_activity_alive(activity)) {
        return RT_E_POSTED;
    }
    struct rt_key id;
    rt_err err = rt_slab_insert(&ticker->activities, activity, &id);
    if (err != RT_OK) {
        return err;
    }
    err = rt_post_at(ticker->executor, &activity->task, await);
    if (err != RT_OK) {
        (void)rt_slab_remove(&ticker->activities, id);
        return err;
    }
    activity->ticker = ticker;
    activity->id = id;
    rt_scope_init(&activity->scope);
    RT_PROBE_AUDIT(&activity->sink.object, rt__activity_audit);
    return RT_OK;
}

/* A parked one has left the executor. */
static void
mark(struct rt_ticker *ticker, struct rt_activity *activity, const struct rt_site *await)
{
    if (rt_task_posted(&activity->task)) {
        rt_task_wake_at(&activity->task, await);
        return;
    }
    rt_assert(activity->task.end == RT_TASK_PARKED);
    rt_err err = rt_post_at(ticker->executor, &activity->task, await);
    if (err != RT_OK) {
        rt_fault(err, activity->task.name, "an activity was marked, and its executor refuses it");
    }
}

bool
rt_mark_ready_at(struct rt_ticker *ticker, struct rt_key id, const struct rt_site *await)
{
    struct rt_activity *activity = rt_upgrade(ticker, id);
    if (activity != NULL) {
        mark(ticker, activity, await);
    }
    return activity != NULL;
}

bool
rt_cancel_at(struct rt_ticker *ticker, struct rt_key id, const struct rt_site *await)
{
    struct rt_activity *activity = rt_upgrade(ticker, id);
    if (activity != NULL) {
        rt_activity_drop_at(activity, await);
    }
    return activity != NULL;
}

uint32_t
rt_ticker_alive(const struct rt_ticker *ticker)
{
    check_ticker(ticker);
    return ticker->activities.used;
}

void
rt_ticker_drop_all_at(struct rt_ticker *ticker, const struct rt_site *await)
{
    check_ticker(ticker);
    for (uint32_t i = 0; i < ticker->activities.touched; i++) {
        struct rt_activity *activity = rt_slab_at(&ticker->activities, i, NULL);
        if (activity != NULL) {
            rt_activity_drop_at(activity, await);
        }
    }
    verify(ticker);
}

/* ---- Events. --------------------------------------------------------------------------------- */

static rt_err
push(struct rt_ticker *ticker, struct rt_key id, const struct rt_event *event,
        const struct rt_site *await)
{
    struct rt_activity *activity = rt_upgrade(ticker, id);
    if (activity == NULL) {
        return RT_E_STALE;
    }
    rt_err err = rt_event_sink_push_at(&activity->sink, event, await);
    mark(ticker, activity, await);
    return err;
}

rt_err
rt_event_push_at(struct rt_ticker *ticker, struct rt_key id, const struct rt_event *event,
        const struct rt_site *await)
{
    rt_assert(event != NULL);
    return push(ticker, id, event, await);
}

rt_err
rt_event_post_at(
        struct rt_ticker *ticker, const struct rt_event *event, const struct rt_site *await)
{
    check_ticker(ticker);
    return rt_event_sink_push_at(&ticker->posted, event, await);
}

static struct rt_subscription *
subscription_at(struct rt_list *link)
{
    return rt_container_of(link, struct rt_subscription, link);
}

static bool
wants(const struct rt_subscription *subscription, const struct rt_event *event)
{
    rt_assert(event->kind < 64);
    return subscription->subject == event->subject && (subscription->kinds >> event->kind & 1) != 0;
}

/* Dead activities are passed over, full sinks have counted what they refused. */
static void
deliver(struct rt_ticker *ticker, const struct rt_event *event, const struct rt_site *await)
{
    bool heard = false;
    rt_list_each(link, &ticker->subscriptions)
    {
        const struct rt_subscription *subscription = subscription_at(link);
        if (wants(subscription, event)) {
            (void)push(ticker, subscription->id, event, await);
            heard = true;
        }
    }
    if (!heard) {
        RT_PROBE(UNHEARD, ticker->posted.object.id, RT_HERE, await, event->subject);
    }
}

static uint32_t
deliver_posted(struct rt_ticker *ticker, const struct rt_site *await)
{
    uint32_t taken = 0;
    struct rt_event event;
    while (rt_event_sink_pop_at(&ticker->posted, &event, await)) {
        deliver(ticker, &event, await);
        taken++;
    }
    return taken;
}

static void
cancel_subscription(struct rt_defer *defer)
{
    rt_list_unlink(&rt_container_of(defer, struct rt_subscription, cancel)->link);
}

void
rt_subscription_init(struct rt_subscription *subscription)
{
    rt_assert(subscription != NULL);
    *subscription = (struct rt_subscription){.subject = 0};
    rt_list_init(&subscription->link);
    rt_defer_init(&subscription->cancel, cancel_subscription);
}

void
rt_subscribe_at(struct rt_subscription *subscription, const struct rt_activity *activity,
        struct rt_scope *scope, uint32_t subject, uint64_t kinds, const struct rt_site *await)
{
    rt_assert(subscription != NULL);
    rt_assert(rt_activity_alive(activity));
    rt_scope_defer(scope, &subscription->cancel);
    subscription->id = activity->id;
    subscription->subject = subject;
    subscription->kinds = kinds;
    subscription->posted = activity->ticker->posted.object.id;
    rt_list_push_back(&activity->ticker->subscriptions, &subscription->link);
    RT_PROBE(LISTEN, subscription->posted, RT_HERE, await, subject);
}

bool
rt_unsubscribe_at(struct rt_subscription *subscription, const struct rt_site *await)
{
    rt_assert(subscription != NULL);
    bool made = rt_defer_now(&subscription->cancel);
    if (made) {
        RT_PROBE(UNLISTEN, subscription->posted, RT_HERE, await, subscription->subject);
    }
    return made;
}

/* ---- The tick. ------------------------------------------------------------------------------- */

static uint32_t
poll_batch(struct rt_ticker *ticker)
{
    uint32_t polled = 0;
    rt_sched_batch_begin(ticker->batch);
    while (!rt_sched_batch_done(ticker->batch)) {
        polled += rt_run_one(ticker->executor) ? 1 : 0;
    }
    return polled;
}

rt_err
rt_tick_at(struct rt_ticker *ticker, struct rt_tick_result *ret_result, const struct rt_site *await)
{
    check_ticker(ticker);
    if (ticker->ticking || ticker->executor->running) {
        return RT_E_REENTERED;
    }
    struct rt_tick_result result;
    ticker->ticking = true;
    ticker->tick++;
    result.elapsed = rt__tick_timers_fire(ticker, await);
    result.events = deliver_posted(ticker, await);
    result.polled = poll_batch(ticker);
    ticker->ticking = false;
    verify(ticker);
    if (ret_result != NULL) {
        *ret_result = result;
    }
    return RT_OK;
}

void
rt_ticker_init(struct rt_ticker *ticker, const struct rt_ticker_config *config)
{
    rt_assert(ticker != NULL);
    rt_assert(config != NULL);
    rt_assert(config->executor != NULL && config->batch != NULL);
    rt_assert(config->capacity <= config->executor->targets.capacity);
    *ticker = (struct rt_ticker){
            .magic = RT_TICKER_MAGIC,
            .executor = config->executor,
            .batch = config->batch,
    };
    rt_slab_init(&ticker->activities, config->entries, config->capacity);
    rt_event_sink_init(&ticker->posted, config->events, config->events_capacity, RT_SINK_DROP_NEW);
    rt_list_init(&ticker->subscriptions);
    rt__tick_timers_init(&ticker->timers);
}

bool
rt_ticker_idle(const struct rt_ticker *ticker)
{
    check_ticker(ticker);
    return ticker->activities.used == 0 && rt_list_empty(&ticker->subscriptions) &&
           rt_list_empty(&ticker->timers.started);
}

void
rt_ticker_fini(struct rt_ticker *ticker)
{
    if (!rt_ticker_idle(ticker)) {
        rt_fault(RT_E_IN_USE, NULL, "a ticker was ended that activities still use");
    }
    ticker->magic = 0;
}

void
rt_ticker_audit(const struct rt_ticker *ticker)
{
    check_ticker(ticker);
    rt_slab_audit(&ticker->activities);
    for (uint32_t i = 0; i < ticker->activities.touched; i++) {
        struct rt_key id;
        const struct rt_activity *activity = rt_slab_at(&ticker->activities, i, &id);
        if (activity != NULL) {
            rt_assert(activity->ticker == ticker);
            rt_assert(activity->id.index == id.index);
            rt_assert(activity->id.generation == id.generation);
            rt_assert(rt_task_posted(&activity->task) || activity->task.end == RT_TASK_PARKED);
            rt_assert(rt__activity_audit(&activity->sink.object) == NULL);
        }
    }
}
