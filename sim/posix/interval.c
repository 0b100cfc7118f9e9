/*
 * interval.c -- timers that send a signal: alarm, setitimer, timer_create.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <string.h>

#include "runtime/base/assert.h"
#include "sim/posix/signal.h"
#include "sim/posix/wait.h"

#define TIMERS_MAX 32

struct timer {
    struct sim_actor actor;
    clockid_t clock;
    int number; /* Of the signal; 0: it sends none. */
    union sigval value;
    int code;
    uint64_t interval_ns;
    bool used;
};

struct sim__posix_timers {
    struct timer all[TIMERS_MAX]; /* The first is the process's own (alarm, ITIMER_REAL). */
};

static struct timer *
timer_of(struct sim_actor *actor)
{
    return rt_container_of(actor, struct timer, actor);
}

static void
expire(struct sim_actor *actor)
{
    struct timer *timer = timer_of(actor);
    sim_actor_due(
            actor, timer->interval_ns > 0 ? actor->world->now_ns + timer->interval_ns : SIM_NEVER);
    if (timer->used && timer->number != 0) {
        (void)sim__posix_notify(NULL, timer->number, timer->value, timer->code);
    }
}

static const struct sim_actor_ops timer_ops = {.kind = SIM_ACTOR_SOURCE, .step = expire};

static struct timer *
timer_at(int place)
{
    struct sim__posix *state = sim__posix_state();
    if (state->timers == NULL) {
        state->timers = sim_new(state->world, struct sim__posix_timers);
    }
    struct timer *timer = &state->timers->all[place];
    if (timer->actor.ops == NULL) {
        sim_actor_init(&timer->actor, state->world, &timer_ops, NULL, "a timer", false);
        timer->actor.due_ns = SIM_NEVER;
    }
    return timer;
}

/* ---- Setting and reading. -------------------------------------------------------------------- */

static uint64_t
left_ns(const struct timer *timer)
{
    uint64_t now_ns = sim_now(sim_world_current);
    uint64_t due_ns = timer->actor.due_ns;
    return due_ns == SIM_NEVER ? 0 : due_ns > now_ns ? due_ns - now_ns : 1;
}

static struct timespec
timespec_of(uint64_t ns)
{
    struct timespec time = {(time_t)(ns / SIM__SECOND_NS), (long)(ns % SIM__SECOND_NS)};
    return time;
}

static struct itimerspec
read_timer(const struct timer *timer)
{
    struct itimerspec value = {timespec_of(timer->interval_ns), timespec_of(left_ns(timer))};
    return value;
}

/* 0, or EINVAL. */
static int
set_timer(struct timer *timer, bool absolute, const struct itimerspec *value)
{
    if (!sim__posix_valid(&value->it_value) || !sim__posix_valid(&value->it_interval)) {
        return EINVAL;
    }
    bool armed = value->it_value.tv_sec != 0 || value->it_value.tv_nsec != 0;
    timer->interval_ns = sim__posix_ns(&value->it_interval);
    sim_actor_due(&timer->actor,
            armed ? sim__posix_due(timer->clock, absolute, &value->it_value) : SIM_NEVER);
    return 0;
}

/* ---- The process's own. ---------------------------------------------------------------------- */

static struct timer *
own_timer(void)
{
    struct timer *timer = timer_at(0);
    timer->used = true;
    timer->clock = CLOCK_MONOTONIC;
    timer->number = SIGALRM;
    timer->code = SI_KERNEL;
    return timer;
}

static struct itimerval
itimerval_of(const struct itimerspec *value)
{
    struct itimerval from = {{value->it_interval.tv_sec, value->it_interval.tv_nsec / 1000},
            {value->it_value.tv_sec, value->it_value.tv_nsec / 1000}};
    return from;
}

int
sim__posix_getitimer(int which, struct itimerval *ret)
{
    if (which != ITIMER_REAL) {
        return sim__posix_error(EINVAL);
    }
    struct itimerspec now = read_timer(own_timer());
    *ret = itimerval_of(&now);
    return 0;
}

/* Of processor time none is simulated: EINVAL. */
int
sim__posix_setitimer(int which, const struct itimerval *value, struct itimerval *ret_old)
{
    struct itimerval old;
    if (sim__posix_getitimer(which, &old) != 0) {
        return -1;
    }
    struct itimerspec asked = {{value->it_interval.tv_sec, value->it_interval.tv_usec * 1000},
            {value->it_value.tv_sec, value->it_value.tv_usec * 1000}};
    int error = set_timer(own_timer(), false, &asked);
    if (error == 0 && ret_old != NULL) {
        *ret_old = old;
    }
    return error != 0 ? sim__posix_error(error) : 0;
}

unsigned
sim__posix_alarm(unsigned s)
{
    struct timer *timer = own_timer();
    uint64_t before_ns = left_ns(timer);
    const struct itimerspec asked = {.it_value = {.tv_sec = (time_t)s}};
    int error = set_timer(timer, false, &asked);
    rt_assert(error == 0);
    return (unsigned)((before_ns + SIM__SECOND_NS - 1) / SIM__SECOND_NS);
}

/* ---- timer_create. --------------------------------------------------------------------------- */

/* NULL: errno is set. */
static struct timer *
created(timer_t id)
{
    uintptr_t place = (uintptr_t)id;
    struct timer *timer = place > 0 && place < TIMERS_MAX ? timer_at((int)place) : NULL;
    if (timer == NULL || !timer->used) {
        errno = EINVAL;
        return NULL;
    }
    return timer;
}

int
sim__posix_timer_create(clockid_t clock, struct sigevent *event, timer_t *ret)
{
    int place = 1;
    if (!sim__posix_waits_on(clock)) {
        return sim__posix_error(EINVAL);
    }
    if (event != NULL && event->sigev_notify == SIGEV_THREAD) {
        sim__posix_refuse("timer_create with SIGEV_THREAD");
    }
    while (place < TIMERS_MAX && timer_at(place)->used) {
        place++;
    }
    if (place == TIMERS_MAX) {
        return sim__posix_error(EAGAIN);
    }
    struct timer *timer = timer_at(place);
    bool silent = event != NULL && event->sigev_notify == SIGEV_NONE;
    timer->used = true;
    timer->clock = clock;
    timer->code = SI_TIMER;
    timer->number = silent ? 0 : event != NULL ? event->sigev_signo : SIGALRM;
    timer->value = event != NULL ? event->sigev_value : (union sigval){.sival_int = place};
    *ret = (timer_t)(uintptr_t)place;
    return 0;
}

int
sim__posix_timer_settime(
        timer_t id, int flags, const struct itimerspec *value, struct itimerspec *ret_old)
{
    struct timer *timer = created(id);
    if (timer == NULL) {
        return -1;
    }
    struct itimerspec old = read_timer(timer);
    int error = set_timer(timer, (flags & TIMER_ABSTIME) != 0, value);
    if (error == 0 && ret_old != NULL) {
        *ret_old = old;
    }
    return error != 0 ? sim__posix_error(error) : 0;
}

int
sim__posix_timer_gettime(timer_t id, struct itimerspec *ret)
{
    const struct timer *timer = created(id);
    if (timer == NULL) {
        return -1;
    }
    *ret = read_timer(timer);
    return 0;
}

int
sim__posix_timer_getoverrun(timer_t id)
{
    return created(id) != NULL ? 0 : -1;
}

int
sim__posix_timer_delete(timer_t id)
{
    struct timer *timer = created(id);
    if (timer == NULL) {
        return -1;
    }
    timer->used = false;
    sim_actor_due(&timer->actor, SIM_NEVER);
    return 0;
}
