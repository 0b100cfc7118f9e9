/*
 * watchdog.c -- a background task that replaces another task's poll function for one poll.
 *
 * The task to be checked is woken and its `poll` replaced; so the executor polls it in the ordinary
 * way, in its own context, and `watched_poll` sees what the poll does. To find out whether a slot
 * was emptied and filled again meanwhile, its `whose` is marked: a kept store leaves it, another
 * one overwrites it (slot.c).
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "runtime/host/watchdog.h"

#include <stdarg.h>
#include <stdio.h>

#include "runtime/base/assert.h"

#define MARK 0x57444f47u

/* Where the clock stands while a task is checked, and the watchdog that has replaced its poll. */
static _Thread_local uint64_t frozen_ns;
static _Thread_local struct rt_watchdog *checking;

static uint64_t
frozen_now(struct rt_host *host)
{
    (void)host;
    return frozen_ns;
}

static bool
frozen_ready(struct rt_host *host, const struct rt_pollable *pollable)
{
    (void)host;
    (void)pollable;
    return false;
}

/* What one poll did that others can see. */
struct effect {
    rt_poll answer;
    uint32_t slots;   /* How many slots hold a waker of the task … */
    uint32_t renewed; /* … and how many of them were filled in this poll. */
    rt_count wakes;
};

static struct rt_slot *
slot_of(struct rt_list *link)
{
    return rt_container_of(link, struct rt_slot, task_link);
}

static void
mark_slots(struct rt_task *task)
{
    rt_list_each(link, &task->slots)
    {
        slot_of(link)->whose = MARK;
    }
}

/* Takes the marks away again, and counts. */
static void
inspect_slots(struct rt_task *task, struct effect *effect)
{
    rt_list_each(link, &task->slots)
    {
        struct rt_slot *slot = slot_of(link);
        effect->slots++;
        effect->renewed += slot->whose != MARK ? 1 : 0;
        slot->whose = slot->whose == MARK ? 0 : slot->whose;
    }
}

/* Polls `task` once, and observes it. */
static struct effect
observe(struct rt_watchdog *watchdog, struct rt_task *task, struct rt_cx *cx)
{
    const struct rt_executor_counters *counters = &watchdog->config.runtime->executor.counters;
    rt_count before = counters->wakes + counters->completed + counters->cancelled;
    mark_slots(task);
    struct effect effect = {.answer = watchdog->poll(task, cx)};
    inspect_slots(task, &effect);
    effect.wakes = counters->wakes + counters->completed + counters->cancelled - before;
    return effect;
}

/* The ledger of the wait, before the poll changes it. */
static void
describe_waits(
        struct rt_watchdog *watchdog, struct rt_task *task, struct rt_watchdog_report *report)
{
    *report = (struct rt_watchdog_report){.task = task->name,
            .waited_ns = watchdog->config.idle_ns,
            .foreign = watchdog->config.runtime->foreign_handles > 0};
    rt_list_each(link, &task->slots)
    {
        const struct rt_slot *slot = slot_of(link);
        if (report->wait_count < RT_WATCHDOG_WAITS) {
            report->waits[report->wait_count] =
                    (struct rt_watchdog_wait){slot, slot->reason, slot->site, slot->await};
        }
        report->wait_count++;
    }
}

/* ---- One spurious poll. ---------------------------------------------------------------------- */

/* Two polls in a frozen world: whether the first one made progress; *ret_answer of the last. */
static bool
makes_progress(
        struct rt_watchdog *watchdog, struct rt_task *task, struct rt_cx *cx, rt_poll *ret_answer)
{
    struct rt_runtime *runtime = watchdog->config.runtime;
    uint32_t slots = 0;
    rt_list_each(link, &task->slots)
    {
        slots++;
    }
    struct effect first = observe(watchdog, task, cx);
    *ret_answer = first.answer;
    if (first.answer != RT_PENDING) {
        return true;
    }
    if (first.wakes == 0 && first.renewed == 0 && first.slots == slots) {
        return false;
    }
    runtime->executor.budget_left = runtime->executor.budget;
    struct effect second = observe(watchdog, task, cx);
    *ret_answer = second.answer;
    return second.answer != RT_PENDING || second.wakes != first.wakes ||
           second.renewed != first.renewed || second.slots != first.slots;
}

static void
make_report(struct rt_watchdog *watchdog, const struct rt_watchdog_report *report)
{
    watchdog->found++;
    watchdog->config.report(watchdog->config.argument, report);
}

/* With holders in other threads a wake may be under way: wait whether it comes. */
static void
judge(struct rt_watchdog *watchdog, struct rt_task *task, struct rt_watchdog_report *report)
{
    if (!report->foreign || report->finished) {
        make_report(watchdog, report);
        return;
    }
    watchdog->held = true;
    watchdog->pending = *report;
    watchdog->key = task->target.key;
    watchdog->polls = task->polls;
}

/*
 * Both polls, with clock, pollables and completions as they are. The clock stands at the tick that
 * the timers have reached: a deadline after it lies in the future, though it may have passed by
 * less than a tick.
 */
static bool
check_frozen(
        struct rt_watchdog *watchdog, struct rt_task *task, struct rt_cx *cx, rt_poll *ret_answer)
{
    struct rt_runtime *runtime = watchdog->config.runtime;
    struct rt_timers *timers = &runtime->timers;
    static const struct rt_host_ops frozen = {.now = frozen_now, .ready = frozen_ready};
    uint64_t last_ns = timers->last_ns;
    frozen_ns = timers->elapsed * timers->tick_ns;
    rt_assert(frozen_ns <= last_ns);
    timers->last_ns = frozen_ns; /* A sleep takes the later of both. */
    runtime->host->frozen = &frozen;
    runtime->frozen = true;
    bool progress = makes_progress(watchdog, task, cx, ret_answer);
    runtime->frozen = false;
    runtime->host->frozen = NULL;
    timers->last_ns = last_ns;
    return progress;
}

/* Wakes that any task of this executor has had. */
static rt_count
wakes_of(const struct rt_executor *executor)
{
    return executor->counters.wakes + executor->counters.coalesced;
}

/* The poll of the task that is checked. If another ran before it, or was woken (the watchdog wakes
 * itself), this is no check: what woke it may concern this one. */
static rt_poll
watched_poll(struct rt_task *task, struct rt_cx *cx)
{
    struct rt_watchdog *watchdog = checking;
    const struct rt_executor *executor = &watchdog->config.runtime->executor;
    struct rt_watchdog_report report;
    rt_poll answer;
    rt_assert(watchdog->watched == task);
    watchdog->watched = NULL;
    task->poll = watchdog->poll;
    bool alone = executor->counters.polled == watchdog->polled + 1 &&
                 wakes_of(executor) == watchdog->wakes + 1;
    if (!alone || rt_task_cancel_asked(task)) {
        return task->poll(task, cx);
    }
    watchdog->checked++;
    describe_waits(watchdog, task, &report);
    if (check_frozen(watchdog, task, cx, &answer)) {
        rt_task_wake(task); /* What it began in the frozen world it polls again now. */
        report.finished = answer != RT_PENDING;
        judge(watchdog, task, &report);
    }
    return answer;
}

/* ---- The scan. ------------------------------------------------------------------------------- */

/* The task in entry `index`, where it has been asleep since the last scan. */
static struct rt_task *
idle_task(struct rt_watchdog *watchdog, uint32_t index)
{
    struct rt_watchdog_seen *seen = &watchdog->config.seen[index];
    struct rt_task *task = rt_executor_task(&watchdog->config.runtime->executor, index);
    if (task == NULL || task->state != RT_TASK_SLEEPING || task == &watchdog->task) {
        seen->generation = 0;
        return NULL;
    }
    bool same = seen->generation == task->target.key.generation && seen->polls == task->polls;
    *seen = (struct rt_watchdog_seen){task->target.key.generation, task->polls};
    return same ? task : NULL;
}

/* Has `task` polled by watched_poll, next. */
static void
check_task(struct rt_watchdog *watchdog, uint32_t index, struct rt_task *task)
{
    watchdog->config.seen[index].polls++; /* That of the check does not count. */
    watchdog->watched = task;
    watchdog->poll = task->poll;
    watchdog->polled = watchdog->config.runtime->executor.counters.polled;
    checking = watchdog;
    task->poll = watched_poll;
    rt_task_wake(task);
    watchdog->wakes = wakes_of(&watchdog->config.runtime->executor);
}

/* Inspects entries until a task is to be checked. False: the scan is over. */
static bool
scan(struct rt_watchdog *watchdog)
{
    const struct rt_slab *targets = &watchdog->config.runtime->executor.targets;
    while (watchdog->next < targets->touched) {
        uint32_t index = watchdog->next++;
        struct rt_task *task = idle_task(watchdog, index);
        if (task != NULL) {
            check_task(watchdog, index, task);
            return true;
        }
    }
    return false;
}

/* The report that was held for a period: dropped if its task was woken since, or has ended. */
static void
report_held(struct rt_watchdog *watchdog)
{
    const struct rt_executor *executor = &watchdog->config.runtime->executor;
    const struct rt_task *task = rt_executor_task(executor, watchdog->key.index);
    bool same = task != NULL && task->target.key.generation == watchdog->key.generation;
    if (watchdog->held && same && task->polls <= watchdog->polls + 1) {
        make_report(watchdog, &watchdog->pending);
    }
    watchdog->held = false;
}

/* One step: sleeps, waits until no other task is woken, or has the next task checked. */
static rt_poll
watchdog_poll(struct rt_task *task, struct rt_cx *cx)
{
    struct rt_watchdog *watchdog = rt_container_of(task, struct rt_watchdog, task);
    if (!watchdog->scanning) {
        if (rt_sleep_poll(&watchdog->sleep, cx) == RT_PENDING) {
            return RT_PENDING;
        }
        report_held(watchdog);
        watchdog->scanning = true;
        watchdog->next = 0;
    }
    bool quiet = cx->executor->woken == 0 && watchdog->watched == NULL;
    if (quiet && (watchdog->held || !scan(watchdog))) {
        watchdog->scanning = false;
        rt_sleep_init(&watchdog->sleep, watchdog->config.idle_ns);
        return rt_sleep_poll(&watchdog->sleep, cx);
    }
    rt_cx_reenqueue(cx);
    return RT_PENDING;
}

rt_err
rt_watchdog_start(struct rt_watchdog *watchdog, const struct rt_watchdog_config *config)
{
    rt_assert(config->runtime != NULL);
    rt_assert(config->seen != NULL);
    rt_assert(config->report != NULL);
    *watchdog = (struct rt_watchdog){.config = *config};
    watchdog->config.idle_ns = config->idle_ns != 0 ? config->idle_ns : RT_SECOND;
    for (uint32_t i = 0; i < config->runtime->executor.targets.capacity; i++) {
        config->seen[i].generation = 0;
    }
    rt_sleep_init(&watchdog->sleep, watchdog->config.idle_ns);
    rt_task_init(&watchdog->task, watchdog_poll, NULL, "watchdog");
    watchdog->task.background = true;
    return rt_post(&config->runtime->executor, &watchdog->task);
}

void
rt_watchdog_stop(struct rt_watchdog *watchdog)
{
    if (watchdog->watched != NULL) {
        watchdog->watched->poll = watchdog->poll;
        watchdog->watched = NULL;
    }
    report_held(watchdog);
    rt_task_cancel(&watchdog->task);
    rt_sleep_cancel(&watchdog->sleep);
}

/* ---- The text. ------------------------------------------------------------------------------- */

struct text {
    char *at;
    size_t size;
    size_t length;
};

static void add(struct text *text, const char *format, ...) __attribute__((format(printf, 2, 3)));

static void
add(struct text *text, const char *format, ...)
{
    va_list arguments;
    size_t used = text->length < text->size ? text->length : text->size;
    va_start(arguments, format);
    int written = vsnprintf(text->at + used, text->size - used, format, arguments);
    va_end(arguments);
    text->length += written > 0 ? (size_t)written : 0;
}

static void
add_site(struct text *text, const char *what, const struct rt_site *site)
{
    if (site != NULL) {
        add(text, "%s%s() (%s:%u)", what, site->function, site->file, site->line);
    }
}

void
rt_watchdog_describe(const struct rt_watchdog_report *report, char *text, size_t size)
{
    struct text out = {text, size, 0};
    add(&out,
            "lost wake-up: task '%s' made progress when it was polled once more, after %llu ms "
            "without a wake%s",
            report->task, (unsigned long long)(report->waited_ns / RT_MS),
            report->foreign && report->finished
                    ? " (or another thread was about to wake it: the runtime is held)"
                    : "");
    for (uint32_t i = 0; i < report->wait_count && i < RT_WATCHDOG_WAITS; i++) {
        const struct rt_watchdog_wait *wait = &report->waits[i];
        add(&out, "\n  it waited for \"%s\"", wait->reason != NULL ? wait->reason : "?");
        add_site(&out, "; waker stored in ", wait->site);
        add_site(&out, ", called from ", wait->await);
    }
    if (report->wait_count > RT_WATCHDOG_WAITS) {
        add(&out, "\n  and for %u more", report->wait_count - RT_WATCHDOG_WAITS);
    }
}
