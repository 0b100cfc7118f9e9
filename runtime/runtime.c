/*
 * runtime.c -- one turn, and the two loops built on it.
 *
 * The order inside a round decides (runtime.h numbers its steps). The runtimes
 * that this one learned from had the order wrong: the host was asked to block
 * although a task had woken itself (B1), or although a timer had just been fired
 * (D4); the host was never polled while a task kept waking itself (B2). So
 * rt_runtime_turn decides itself whether to block, after the timers, from what
 * is woken then.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "runtime/runtime.h"

#include <stddef.h>

#include "runtime/base/assert.h"

#include "runtime/base/banned.h"

#define RUNTIME_MAGIC 0x5252544du
#define EVENT_INTERVAL 61u /* Tokio's; a prime, to stay out of step with periods of the tasks. */

static void
check_runtime(const struct rt_runtime *runtime)
{
    rt_check(runtime, RUNTIME_MAGIC);
}

/* ---- What a sleep waits for besides pollables. ----------------------------------------------- */

static rt_err
subscribe_notify(struct rt_runtime *runtime)
{
    if (runtime->notify.host != NULL) {
        return RT_OK;
    }
    return rt_host_subscribe(runtime->host, RT_SUBSCRIBE_NOTIFY, 0, &runtime->notify);
}

/* Makes the deadline pollable that of the earliest deadline, or drops it. */
static rt_err
subscribe_deadline(struct rt_runtime *runtime)
{
    uint64_t deadline_ns = rt_timers_next(&runtime->timers);
    if (deadline_ns == runtime->deadline_ns) {
        return RT_OK;
    }
    rt_pollable_drop(&runtime->deadline);
    runtime->deadline_ns = RT_NEVER;
    if (deadline_ns == RT_NEVER) {
        return RT_OK;
    }
    rt_err err = rt_subscribe_instant(runtime->host, deadline_ns, &runtime->deadline);
    if (err == RT_OK) {
        runtime->deadline_ns = deadline_ns;
    }
    return err;
}

struct extras {
    struct rt_pollable *list[RT_POLLER_EXTRA - 1];
    uint32_t count;
};

/* The runtime's entries for the next list: the deadline, the network's events where a task waits
 * for one, and notify where there is a holder (D5). */
static rt_err
collect_extras(struct rt_runtime *runtime, struct extras *ret_extras)
{
    struct rt_pollable *fetchable = NULL;
    ret_extras->count = 0;
    rt_err err = subscribe_deadline(runtime);
    if (err != RT_OK) {
        return err;
    }
    if (runtime->deadline_ns != RT_NEVER) {
        ret_extras->list[ret_extras->count++] = &runtime->deadline;
    }
    err = rt_io_pollable(&runtime->io, &fetchable);
    if (err != RT_OK) {
        return err;
    }
    if (fetchable != NULL) {
        ret_extras->list[ret_extras->count++] = fetchable;
    }
    if (runtime->foreign_handles == 0) {
        return RT_OK;
    }
    err = subscribe_notify(runtime);
    if (err == RT_OK) {
        ret_extras->list[ret_extras->count++] = &runtime->notify;
    }
    return err;
}

/* ---- One turn. ------------------------------------------------------------------------------- */

/* Whether this runtime is running and will poll what is woken by itself. Inside the host's poll it
 * is not: it sleeps. */
static bool
at_work(const struct rt_runtime *runtime)
{
    bool waking = runtime->firing || runtime->letting || runtime->reactor.waking != NULL ||
                  runtime->io.turning;
    return waking || (runtime->in_loop && !runtime->reactor.turning);
}

/* The executor's notify (D7). Notifying the host of a runtime that is running would only end the
 * next sleep in vain. */
static void
notify_host(void *argument)
{
    struct rt_runtime *runtime = argument;
    check_runtime(runtime);
    runtime->unnotified = at_work(runtime);
    if (!runtime->unnotified) {
        rt_host_notify(runtime->host);
    }
}

/* Step 3. */
static uint32_t
fire_timers(struct rt_runtime *runtime)
{
    if (runtime->timers.armed == 0) {
        return 0;
    }
    runtime->firing = true;
    uint32_t fired = rt_timers_process(&runtime->timers, rt_host_now(runtime->host));
    runtime->firing = false;
    return fired;
}

/* Fetches the network's events, if a task waits for one. */
static rt_err
fetch(struct rt_runtime *runtime, uint32_t *ret_woken)
{
    uint32_t woken = 0;
    if (!rt_io_waited_for(&runtime->io)) {
        return RT_OK;
    }
    rt_err err = rt_io_turn(&runtime->io, &woken);
    *ret_woken += woken;
    return err;
}

/* Step 4 with a task woken. Deadline and notify are not in the list: no timer is due, and a notify
 * only matters to a sleep. */
static rt_err
check_host(struct rt_runtime *runtime, uint32_t *ret_woken)
{
    rt_err err = rt_reactor_turn(&runtime->reactor, RT_TURN_POLL, NULL, 0, ret_woken);
    return err != RT_OK ? err : fetch(runtime, ret_woken);
}

/* Step 4, with nothing left to do but wait. */
static rt_err
go_to_sleep(struct rt_runtime *runtime, uint32_t *ret_woken)
{
    struct extras extras;
    rt_err err = collect_extras(runtime, &extras);
    if (err != RT_OK) {
        return err;
    }
    err = rt_reactor_turn(&runtime->reactor, RT_TURN_BLOCK, extras.list, extras.count, ret_woken);
    if (err != RT_OK) {
        return err;
    }
    runtime->executor.counters.sleeps++;
    return fetch(runtime, ret_woken);
}

static bool
busy(const struct rt_runtime *runtime)
{
    bool waking = runtime->firing || runtime->letting || runtime->io.turning;
    return runtime->executor.running || waking || runtime->reactor.turning;
}

bool
rt_runtime_defer_at(
        struct rt_runtime *runtime, const struct rt_waker *waker, const struct rt_site *await)
{
    check_runtime(runtime);
    if (runtime->deferred_count == runtime->deferred_capacity) {
        return false;
    }
    struct rt_waker clone = rt_waker_clone_at(waker, await);
    runtime->deferred[runtime->deferred_count++] = clone;
    return true;
}

/* Step 5. A waker from outside may do anything, but no task can yield while none is polled. */
static void
let_go_on(struct rt_runtime *runtime)
{
    uint32_t count = runtime->deferred_count;
    runtime->turns++;
    if (count == 0) {
        return;
    }
    runtime->letting = true;
    for (uint32_t i = 0; i < count; i++) {
        rt_waker_wake_at(&runtime->deferred[i], NULL);
    }
    runtime->letting = false;
    rt_assert(runtime->deferred_count == count);
    runtime->deferred_count = 0;
}

rt_err
rt_runtime_turn(struct rt_runtime *runtime, enum rt_turn_mode mode, uint32_t *ret_woken)
{
    check_runtime(runtime);
    if (busy(runtime)) {
        return RT_E_REENTERED;
    }
    uint32_t fired = fire_timers(runtime);
    bool to_do = fired != 0 || runtime->executor.woken != 0 || runtime->deferred_count != 0;
    uint32_t woken = 0;
    rt_err err = mode == RT_TURN_POLL || to_do ? check_host(runtime, &woken)
                                               : go_to_sleep(runtime, &woken);
    if (err != RT_OK) {
        return err;
    }
    if (ret_woken != NULL) {
        *ret_woken = fired + woken;
    }
    let_go_on(runtime);
    return RT_OK;
}

bool
rt_runtime_turn_useful(const struct rt_runtime *runtime)
{
    check_runtime(runtime);
    if (runtime->deferred_count != 0) {
        return true;
    }
    uint64_t next_ns = rt_timers_next(&runtime->timers);
    if (next_ns != RT_NEVER && next_ns <= rt_host_now(runtime->host)) {
        return true;
    }
    return rt_reactor_ready(&runtime->reactor) || rt_io_useful(&runtime->io);
}

/* ---- The loops. ------------------------------------------------------------------------------ */

/*
 * The condition that ends a loop. The root is compared by its key: `cleanup` may have freed it
 * (T10), and a root posted again is another life.
 */
struct question {
    bool about_root;
    struct rt_key root;
};

static bool
done(const struct rt_runtime *runtime, const struct question *question)
{
    const struct rt_executor *executor = &runtime->executor;
    if (question->about_root) {
        return rt_slab_get(&executor->targets, question->root) == NULL;
    }
    return executor->foreground == 0;
}

static void
begin_round(struct rt_runtime *runtime)
{
    if (runtime->task_quota_ns != RT_NEVER) {
        runtime->round_began_ns = rt_host_now(runtime->host);
    }
}

void
rt_runtime_begin_round(struct rt_runtime *runtime)
{
    if (!runtime->in_loop) {
        begin_round(runtime);
    }
}

/* X8. Checked after a poll, so that each round has one. */
static bool
quota_used_up(struct rt_runtime *runtime)
{
    if (runtime->task_quota_ns == RT_NEVER) {
        return false;
    }
    uint64_t now_ns = rt_host_now(runtime->host);
    uint64_t began_ns = runtime->round_began_ns;
    if (now_ns < began_ns || now_ns - began_ns < runtime->task_quota_ns) {
        return false;
    }
    if (runtime->executor.woken > RT_TASK_BACKLOG_MAX) {
        runtime->round_began_ns = now_ns;
        return false;
    }
    return true;
}

void
rt_runtime_poll_woken(struct rt_runtime *runtime)
{
    check_runtime(runtime);
    bool in_loop = runtime->in_loop;
    begin_round(runtime);
    runtime->in_loop = true;
    for (uint32_t i = 0; i < runtime->event_interval; i++) {
        if (!rt_run_one(&runtime->executor) || quota_used_up(runtime)) {
            break;
        }
    }
    runtime->in_loop = in_loop;
}

/* Step 1, and step 2 after each poll: tasks woken after the root stay posted (B5). */
static bool
poll_woken(struct rt_runtime *runtime, const struct question *question)
{
    begin_round(runtime);
    for (uint32_t i = 0; i < runtime->event_interval; i++) {
        if (done(runtime, question) || !rt_run_one(&runtime->executor)) {
            break;
        }
        if (quota_used_up(runtime)) {
            break;
        }
    }
    return done(runtime, question);
}

static void
begin_loop(struct rt_runtime *runtime)
{
    rt_assert(!runtime->in_loop);
    runtime->in_loop = true;
}

/*
 * The queue may have become empty without a poll: the next wake must notify the host (D7). Tasks
 * left woken in it (B5), whose wake came while the loop was running, must be notified now.
 */
static void
end_loop(struct rt_runtime *runtime)
{
    struct rt_executor *executor = &runtime->executor;
    rt_assert(runtime->in_loop);
    runtime->in_loop = false;
    if (executor->woken == 0) {
        executor->notified = false;
    } else if (!executor->notified || runtime->unnotified) {
        executor->notified = true;
        executor->notify(executor->notify_argument);
    }
}

static rt_err
run_loop(struct rt_runtime *runtime, const struct question *question)
{
    rt_err err = RT_OK;
    while (err == RT_OK && !poll_woken(runtime, question)) {
        err = rt_runtime_turn(runtime, RT_TURN_BLOCK, NULL);
    }
    return err;
}

rt_err
rt_block_on_at(struct rt_runtime *runtime, struct rt_task *root, const struct rt_site *await)
{
    check_runtime(runtime);
    rt_assert(root != NULL);
    if (runtime->in_loop || busy(runtime)) {
        return RT_E_REENTERED;
    }
    begin_loop(runtime);
    rt_err err = rt_post_at(&runtime->executor, root, await);
    if (err == RT_OK) {
        struct question question = {.about_root = true, .root = root->target.key};
        runtime->root = &question.root;
        err = run_loop(runtime, &question);
        runtime->root = NULL;
    }
    end_loop(runtime);
    return err;
}

rt_err
rt_run_to_completion(struct rt_runtime *runtime)
{
    check_runtime(runtime);
    if (runtime->in_loop || busy(runtime)) {
        return RT_E_REENTERED;
    }
    begin_loop(runtime);
    rt_err err = run_loop(runtime, &(struct question){.about_root = false});
    end_loop(runtime);
    return err;
}

/* ---- Beginning and end. ---------------------------------------------------------------------- */

void
rt_runtime_init(struct rt_runtime *runtime, const struct rt_runtime_config *config)
{
    rt_assert(runtime != NULL);
    rt_check(config->host, RT_HOST_MAGIC);
    *runtime = (struct rt_runtime){
            .magic = RUNTIME_MAGIC,
            .event_interval = config->event_interval != 0 ? config->event_interval : EVENT_INTERVAL,
            .host = config->host,
            .deadline_ns = RT_NEVER,
            .task_quota_ns = config->task_quota_ns != 0 ? config->task_quota_ns : RT_TASK_QUOTA_NS,
            .deferred = config->deferred,
            .deferred_capacity = config->deferred != NULL ? config->deferred_capacity : 0,
    };
    struct rt_executor_config executor = config->executor;
    if (executor.notify == NULL) {
        executor.notify = notify_host;
        executor.notify_argument = runtime;
    }
    rt_executor_init(&runtime->executor, &executor);
    runtime->executor.runtime = runtime;
    runtime->executor.begin_round = rt_runtime_begin_round;
    struct rt_timers_config timers = config->timers;
    if (timers.start_ns == 0) {
        timers.start_ns = rt_host_now(config->host);
    }
    rt_timers_init(&runtime->timers, &timers);
    rt_reactor_init(&runtime->reactor, config->host, &config->reactor);
    rt_io_init(&runtime->io, &config->io);
}

void
rt_runtime_fini(struct rt_runtime *runtime)
{
    check_runtime(runtime);
    rt_assert(!runtime->in_loop);
    for (uint32_t i = 0; i < runtime->deferred_count; i++) {
        rt_waker_drop(&runtime->deferred[i]);
    }
    rt_executor_fini(&runtime->executor);
    rt_timers_fini(&runtime->timers);
    rt_reactor_fini(&runtime->reactor);
    rt_io_fini(&runtime->io);
    rt_pollable_drop(&runtime->deadline);
    rt_pollable_drop(&runtime->notify);
    runtime->magic = 0;
}

rt_err
rt_runtime_hold(struct rt_runtime *runtime)
{
    check_runtime(runtime);
    /* Before any notification: a host need not remember one without a subscription. */
    rt_err err = subscribe_notify(runtime);
    if (err == RT_OK) {
        rt_assert(runtime->foreign_handles < UINT32_MAX);
        runtime->foreign_handles++;
    }
    return err;
}

void
rt_runtime_release(struct rt_runtime *runtime)
{
    check_runtime(runtime);
    rt_assert(runtime->foreign_handles > 0);
    runtime->foreign_handles--;
    /* A sleep that only this holder could have ended would never end now. */
    if (runtime->reactor.turning) {
        rt_host_notify(runtime->host);
    }
}

uint64_t
rt_runtime_next_deadline(const struct rt_runtime *runtime)
{
    check_runtime(runtime);
    return rt_timers_next(&runtime->timers);
}

/* ---- The report. ----------------------------------------------------------------------------- */

struct report {
    char *text;
    uint32_t size;
    uint32_t used;
    uint32_t sleeping;
};

/* Appends as much of `word` as fits. */
static void
append(struct report *report, const char *word)
{
    rt_assert(word != NULL);
    while (*word != '\0' && report->used + 1 < report->size) {
        report->text[report->used++] = *word++;
    }
}

static void
append_reasons(struct report *report, const struct rt_task *task)
{
    const char *separator = ": ";
    rt_list_each(link, &task->slots)
    {
        const struct rt_slot *slot = rt_container_of(link, struct rt_slot, task_link);
        append(report, separator);
        append(report, slot->reason != NULL ? slot->reason : "something without a name");
        separator = ", ";
    }
    if (task->target.clones != 0) {
        append(report, separator);
        append(report, "a waker that was cloned");
    }
}

static void
report_task(const struct rt_task *task, void *argument)
{
    struct report *report = argument;
    if (task->state != RT_TASK_SLEEPING) {
        return;
    }
    report->sleeping++;
    append(report, task->name);
    append_reasons(report, task);
    append(report, task->background ? " (background)\n" : "\n");
}

uint32_t
rt_runtime_report(const struct rt_runtime *runtime, char *text, uint32_t size)
{
    check_runtime(runtime);
    rt_assert(text != NULL || size == 0);
    struct report report = {text, size, 0, 0};
    rt_executor_each(&runtime->executor, report_task, &report);
    if (size != 0) {
        text[report.used] = '\0';
    }
    return report.sleeping;
}
