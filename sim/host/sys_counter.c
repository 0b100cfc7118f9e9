/*
 * sys_counter.c -- descriptors that count: eventfd, timerfd; and signalfd, a queue.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <errno.h>
#include <string.h>

#include "sim/host/sys_priv.h"

/* ---- eventfd. -------------------------------------------------------------------------------- */

struct event {
    struct sim__description description;
    uint64_t count;
    bool semaphore;
};

static struct event *
event_of(const struct sim__description *description)
{
    return rt_container_of(description, struct event, description);
}

/* UINT64_MAX is never reached by a write: there is space up to one less. */
#define EVENT_MAX (UINT64_MAX - 1)

static uint32_t
event_events(const struct sim__description *description)
{
    uint64_t count = event_of(description)->count;
    return (count > 0 ? SIM_FD_IN : 0) | (count < EVENT_MAX ? SIM_FD_OUT : 0);
}

static int64_t
event_read(struct sim__description *description, void *buffer, size_t size, uint32_t flags,
        const struct rt_site *await)
{
    struct event *event = event_of(description);
    uint64_t taken = event->semaphore ? 1 : event->count;
    rt_assert(flags == 0);
    if (size < sizeof(taken)) {
        return -EINVAL;
    }
    if (event->count == 0) {
        return -EAGAIN;
    }
    event->count -= taken;
    memcpy(buffer, &taken, sizeof(taken));
    if (!event->semaphore) {
        sim__description_taken(description);
    }
    sim__source_moved(description->source, SIM_EVENT_READ, await, sizeof(taken));
    sim__sys_changed(description, SIM_FD_OUT, 0);
    return (int64_t)sizeof(taken);
}

static int64_t
event_write(struct sim__description *description, const void *buffer, size_t size,
        const struct rt_site *await)
{
    struct event *event = event_of(description);
    uint64_t amount = 0;
    if (size != sizeof(amount)) {
        return -EINVAL;
    }
    memcpy(&amount, buffer, sizeof(amount));
    if (amount == UINT64_MAX) {
        return -EINVAL;
    }
    if (amount > EVENT_MAX - event->count) {
        return -EAGAIN;
    }
    event->count += amount;
    description->writes++;
    sim__source_moved(description->source, SIM_EVENT_WRITE, await, sizeof(amount));
    sim__sys_changed(description, SIM_FD_IN, amount);
    return (int64_t)sizeof(amount);
}

static void
event_repeat(struct sim__description *description, uint32_t times)
{
    struct event *event = event_of(description);
    event->semaphore = true;
    event->count += times;
    sim__sys_changed(description, SIM_FD_IN, times);
}

static const struct sim__sys_ops event_sys = {.read = event_read, .write = event_write};
static const struct sim__description_ops event_ops = {
        .sys = &event_sys, .events = event_events, .repeat = event_repeat};

int
sim_sys_eventfd(struct sim_fds *fds, const char *name, uint64_t count, bool semaphore)
{
    sim__fds_call(fds, "eventfd");
    int err = sim__sys_available(fds, 1);
    if (err != 0) {
        return err;
    }
    struct event *event = sim_new(fds->host->world, struct event);
    sim__sys_init(&event->description, fds, &event_ops, name);
    event->count = count;
    event->semaphore = semaphore;
    sim__source_level(event->description.source, count > 0);
    return sim__fd_open(&event->description);
}

/* ---- timerfd. -------------------------------------------------------------------------------- */

/* An interrupt is not later than that: who looks then finds the timer expired. */
#define INTERRUPT_NS_MAX 100000u

struct timer {
    struct sim__description description;
    struct rt_list link; /* In host->timers, while it is armed. */
    struct sim_sys_timer next;
    struct sim_sys_timer undone; /* `next`, before the last change. */
    uint64_t expirations;        /* Not read yet. */
};

static struct timer *
timer_of(const struct sim__description *description)
{
    return rt_container_of(description, struct timer, description);
}

static uint32_t
timer_events(const struct sim__description *description)
{
    return timer_of(description)->expirations > 0 ? SIM_FD_IN : 0;
}

/* Before those that expire later. */
static void
timer_link(struct timer *timer)
{
    struct rt_list *timers = &timer->description.fds->host->timers;
    struct rt_list *next = timers->next;
    while (next != timers &&
            rt_container_of(next, struct timer, link)->next.due_ns <= timer->next.due_ns) {
        next = next->next;
    }
    rt_list_push_back(next, &timer->link);
}

/* Its source is the clock's interrupt: what is in flight is the next expiry. */
static void
timer_send(struct timer *timer)
{
    struct sim_source *source = timer->description.source;
    uint64_t now_ns = sim_now(source->host->world);
    rt_list_unlink(&timer->link);
    if (timer->next.due_ns != SIM_NEVER) {
        uint64_t left_ns = timer->next.due_ns > now_ns ? timer->next.due_ns - now_ns : 0;
        timer_link(timer);
        sim__source_arrive_in(source, 1, left_ns, left_ns);
    }
}

void
sim__timers_expire(struct sim_host *host)
{
    const struct rt_list *timers = &host->timers;
    while (!rt_list_empty(timers)) {
        const struct timer *first = rt_container_of(timers->next, struct timer, link);
        if (sim__later(first->next.due_ns, INTERRUPT_NS_MAX) > host->world->now_ns) {
            return;
        }
        sim__source_arrive_at_once(first->description.source);
    }
}

/* Counts what has come due; an interrupt may be late. */
static void
timer_arrived(void *argument, uint64_t amount)
{
    struct timer *timer = timer_of(argument);
    struct sim_sys_timer *next = &timer->next;
    uint64_t late_ns = sim_now(timer->description.fds->host->world) - next->due_ns;
    rt_assert(amount == 1);
    rt_assert(next->due_ns != SIM_NEVER);
    uint64_t periods = next->interval_ns > 0 ? late_ns / next->interval_ns + 1 : 1;
    timer->expirations += periods;
    next->due_ns = next->interval_ns > 0 ? sim__later(next->due_ns, periods * next->interval_ns)
                                         : SIM_NEVER;
    sim__description_edge(&timer->description, SIM_FD_IN);
    sim__source_level(timer->description.source, true);
    timer_send(timer);
}

static int64_t
timer_read(struct sim__description *description, void *buffer, size_t size, uint32_t flags,
        const struct rt_site *await)
{
    struct timer *timer = timer_of(description);
    rt_assert(flags == 0);
    if (size < sizeof(timer->expirations)) {
        return -EINVAL;
    }
    if (timer->expirations == 0) {
        return -EAGAIN;
    }
    memcpy(buffer, &timer->expirations, sizeof(timer->expirations));
    timer->expirations = 0;
    sim__source_moved(description->source, SIM_EVENT_READ, await, sizeof(timer->expirations));
    sim__source_level(description->source, false);
    return (int64_t)sizeof(timer->expirations);
}

static bool
timer_disarmed(const struct sim__description *description)
{
    const struct timer *timer = timer_of(description);
    return timer->next.due_ns == SIM_NEVER && timer->expirations == 0;
}

static void
timer_rearm(struct sim__description *description)
{
    struct timer *timer = timer_of(description);
    timer->next = timer->undone;
    if (timer->next.due_ns == SIM_NEVER) {
        timer->next.due_ns = sim_now(description->fds->host->world);
    }
    timer_send(timer);
}

static void
timer_closed(struct sim__description *description)
{
    rt_list_unlink(&timer_of(description)->link);
}

static const struct sim__sys_ops timer_sys = {
        .read = timer_read, .disarmed = timer_disarmed, .rearm = timer_rearm};
static const struct sim__description_ops timer_ops = {.sys = &timer_sys,
        .arrived = timer_arrived,
        .events = timer_events,
        .closed = timer_closed};

int
sim_sys_timerfd(struct sim_fds *fds, const char *name)
{
    sim__fds_call(fds, "timerfd");
    int err = sim__sys_available(fds, 1);
    if (err != 0) {
        return err;
    }
    struct timer *timer = sim_new(fds->host->world, struct timer);
    sim__sys_init(&timer->description, fds, &timer_ops, name);
    rt_list_init(&timer->link);
    timer->next.due_ns = SIM_NEVER;
    timer->undone.due_ns = SIM_NEVER;
    return sim__fd_open(&timer->description);
}

/* The timer of `fd`, or a negative errno. */
static int
find_timer(const struct sim_fds *fds, int fd, struct timer **ret)
{
    const struct sim__description *description = sim__fd_get(fds, fd);
    if (description == NULL || description->ops != &timer_ops) {
        return description == NULL ? -EBADF : -EINVAL;
    }
    *ret = timer_of(description);
    return 0;
}

int
sim_sys_timerfd_set(struct sim_fds *fds, int fd, const struct sim_sys_timer *next,
        struct sim_sys_timer *ret_old)
{
    struct timer *timer = NULL;
    sim__fds_call(fds, "timerfd_set");
    int err = find_timer(fds, fd, &timer);
    if (err != 0) {
        return err;
    }
    if (ret_old != NULL) {
        *ret_old = timer->next;
    }
    timer->undone = timer->next;
    timer->next = *next;
    timer->expirations = 0;
    sim__source_cancel(timer->description.source);
    sim__source_level(timer->description.source, false);
    timer_send(timer);
    return 0;
}

int
sim_sys_timerfd_get(struct sim_fds *fds, int fd, struct sim_sys_timer *ret)
{
    struct timer *timer = NULL;
    sim__fds_call(fds, "timerfd_get");
    int err = find_timer(fds, fd, &timer);
    if (err == 0) {
        *ret = timer->next;
    }
    return err;
}

/* ---- signalfd. ------------------------------------------------------------------------------- */

#define SIGNALS_MAX 64u

struct signals {
    struct sim__description description;
    uint32_t count;
    char queue[SIGNALS_MAX][SIM_SYS_SIGNAL_SIZE]; /* The oldest first. */
};

static struct signals *
signals_of(const struct sim__description *description)
{
    return rt_container_of(description, struct signals, description);
}

static uint32_t
signals_events(const struct sim__description *description)
{
    return signals_of(description)->count > 0 ? SIM_FD_IN : 0;
}

static int64_t
signals_read(struct sim__description *description, void *buffer, size_t size, uint32_t flags,
        const struct rt_site *await)
{
    struct signals *signals = signals_of(description);
    size_t wanted = size / SIM_SYS_SIGNAL_SIZE;
    uint32_t taken = wanted < signals->count ? (uint32_t)wanted : signals->count;
    rt_assert(flags == 0);
    if (wanted == 0 || taken == 0) {
        return wanted == 0 ? -EINVAL : -EAGAIN;
    }
    size_t moved = (size_t)taken * SIM_SYS_SIGNAL_SIZE;
    memcpy(buffer, signals->queue, moved);
    signals->count -= taken;
    memmove(signals->queue, signals->queue[taken], (size_t)signals->count * SIM_SYS_SIGNAL_SIZE);
    sim__source_moved(description->source, SIM_EVENT_READ, await, moved);
    sim__source_level(description->source, signals->count > 0);
    return (int64_t)moved;
}

static bool
signals_outside(const struct sim__description *description)
{
    (void)description;
    return true;
}

static const struct sim__sys_ops signals_sys = {.read = signals_read, .outside = signals_outside};
static const struct sim__description_ops signals_ops = {
        .sys = &signals_sys, .events = signals_events};

int
sim_sys_signalfd(struct sim_fds *fds, const char *name)
{
    sim__fds_call(fds, "signalfd");
    int err = sim__sys_available(fds, 1);
    if (err != 0) {
        return err;
    }
    struct signals *signals = sim_new(fds->host->world, struct signals);
    sim__sys_init(&signals->description, fds, &signals_ops, name);
    return sim__fd_open(&signals->description);
}

int
sim_sys_signalfd_push(struct sim_fds *fds, int fd, const void *info)
{
    struct sim__description *description = sim__fd_get(fds, fd);
    if (description == NULL || description->ops != &signals_ops) {
        return description == NULL ? -EBADF : -EINVAL;
    }
    struct signals *signals = signals_of(description);
    if (signals->count == SIGNALS_MAX) {
        return -EAGAIN;
    }
    memcpy(signals->queue[signals->count++], info, SIM_SYS_SIGNAL_SIZE);
    sim__sys_changed(description, SIM_FD_IN, 1);
    return 0;
}
