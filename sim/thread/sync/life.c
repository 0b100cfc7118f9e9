/*
 * life.c -- threads by their POSIX names: made, joined, named, canceled.
 *
 * Cancellation acts at the cancellation points of POSIX, those that sim/posix plays among them, and
 * wakes a thread that is blocked there; with PTHREAD_CANCEL_ASYNCHRONOUS at each decision point.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <string.h>

#include "sim/thread/sync/priv.h"

struct sim_thread *
sim_thread_of(pthread_t id)
{
    struct sim_thread *at = sim_thread_first(sim__thread_world());
    while (at != NULL && (sim__thread_id(at) != id || at->joined)) {
        at = at->next;
    }
    return at;
}

static size_t
stack_of(const pthread_attr_t *attributes)
{
    size_t given = 0;
    size_t usual = 0;
    pthread_attr_t plain;
    if (attributes == NULL || pthread_attr_getstacksize(attributes, &given) != 0 ||
            pthread_attr_init(&plain) != 0) {
        return 0;
    }
    (void)pthread_attr_getstacksize(&plain, &usual);
    (void)pthread_attr_destroy(&plain);
    return given != usual ? (given + 4095) & ~(size_t)4095 : 0;
}

static bool
is_detached(const pthread_attr_t *attributes)
{
    int state = PTHREAD_CREATE_JOINABLE;
    if (attributes != NULL) {
        (void)pthread_attr_getdetachstate(attributes, &state);
    }
    return state == PTHREAD_CREATE_DETACHED;
}

int
sim__create(
        pthread_t *ret_id, const pthread_attr_t *attributes, void *(*fn)(void *), void *argument)
{
    const struct sim_thread_start start = {.fn = fn,
            .argument = argument,
            .stack = stack_of(attributes),
            .detached = is_detached(attributes)};
    *ret_id = sim__thread_id(sim_thread_spawn(sim__thread_world(), &start));
    /* The thread may run before its creator continues, which may next set what it looks at. */
    sim_thread_point();
    return 0;
}

int
sim__pthread_create(pthread_t *ret_thread, const pthread_attr_t *attributes, void *(*fn)(void *),
        void *argument)
{
    const struct rt_site *site = sim__thread_line();
    sim_thread_point();
    int error = sim_thread_call_error(SIM_CALL_FAULT_pthread_create, site);
    return error != 0 ? error : sim__create(ret_thread, attributes, fn, argument);
}

/* ---- Joining. -------------------------------------------------------------------------------- */

static int
may_join(const struct sim_thread *thread)
{
    if (thread == NULL) {
        return ESRCH;
    }
    if (thread == sim_thread_now) {
        return EDEADLK;
    }
    return thread->detached || thread->joining ? EINVAL : 0;
}

int
sim__join(pthread_t id, void **ret_result, uint64_t due_ns, const struct rt_site *site)
{
    struct sim_thread *thread = sim_thread_of(id);
    int error = may_join(thread);
    void *result = NULL;
    if (error == 0 && !sim_thread_join_until(thread, due_ns, site, &result)) {
        error = ETIMEDOUT;
    }
    if (error == 0 && ret_result != NULL) {
        *ret_result = result;
    }
    return error;
}

int
sim__pthread_join(pthread_t id, void **ret_result)
{
    const struct rt_site *site = sim__thread_line();
    sim_thread_point();
    sim_thread_cancel_point();
    return sim__join(id, ret_result, SIM_NEVER, site);
}

int
sim__pthread_tryjoin_np(pthread_t id, void **ret_result)
{
    const struct rt_site *site = sim__thread_line();
    sim_thread_point();
    const struct sim_thread *thread = sim_thread_of(id);
    bool busy = thread != NULL && !thread->actor.done && may_join(thread) == 0;
    return busy ? EBUSY : sim__join(id, ret_result, SIM_NEVER, site);
}

int
sim__pthread_clockjoin_np(
        pthread_t id, void **ret_result, clockid_t clock, const struct timespec *until)
{
    const struct rt_site *site = sim__thread_line();
    uint64_t due_ns = SIM_NEVER;
    sim_thread_point();
    sim_thread_cancel_point();
    int error = until != NULL ? sim__deadline(clock, until, &due_ns) : 0;
    return error != 0 ? error : sim__join(id, ret_result, due_ns, site);
}

int
sim__pthread_timedjoin_np(pthread_t id, void **ret_result, const struct timespec *until)
{
    return sim__pthread_clockjoin_np(id, ret_result, CLOCK_REALTIME, until);
}

int
sim__pthread_detach(pthread_t id)
{
    sim_thread_point();
    struct sim_thread *thread = sim_thread_of(id);
    if (thread == NULL) {
        return ESRCH;
    }
    if (thread->detached || thread->joining) {
        return EINVAL;
    }
    thread->detached = true;
    if (thread->actor.done) {
        sim__pointer_take(thread);
    }
    return 0;
}

/* ---- What a thread is. ----------------------------------------------------------------------- */

pthread_t
sim__pthread_self(void)
{
    return sim__thread_id(sim_thread_now);
}

int
sim__pthread_setname_np(pthread_t id, const char *name)
{
    struct sim_thread *thread = sim_thread_of(id);
    if (thread == NULL) {
        return ESRCH;
    }
    if (strlen(name) >= sizeof(thread->name)) {
        return ERANGE;
    }
    memcpy(thread->name, name, strlen(name) + 1);
    return 0;
}

int
sim__pthread_getname_np(pthread_t id, char *ret_name, size_t size)
{
    const struct sim_thread *thread = sim_thread_of(id);
    if (thread == NULL) {
        return ESRCH;
    }
    if (size < sizeof(thread->name)) {
        return ERANGE;
    }
    memcpy(ret_name, thread->name, sizeof(thread->name));
    return 0;
}

int
sim__pthread_getattr_np(pthread_t id, pthread_attr_t *ret_attributes)
{
    const struct sim_thread *thread = sim_thread_of(id);
    if (thread == NULL) {
        return ESRCH;
    }
    int error = pthread_attr_init(ret_attributes);
    if (error == 0) {
        (void)pthread_attr_setdetachstate(ret_attributes,
                thread->detached ? PTHREAD_CREATE_DETACHED : PTHREAD_CREATE_JOINABLE);
        error = pthread_attr_setstack(
                ret_attributes, thread->fiber.context.stack, thread->fiber.context.size);
    }
    return error;
}

int
sim__pthread_setconcurrency(int level)
{
    return level < 0 ? EINVAL : 0;
}

/* ---- Cancellation. --------------------------------------------------------------------------- */

void
sim_thread_cancel_point(void)
{
    struct sim_thread *thread = sim_thread_now;
    if (sim_thread_is_canceled(thread)) {
        sim_thread_exit(PTHREAD_CANCELED);
    }
}

/* Whether a thread that is blocked there notices that it was canceled. */
static bool
wakes(const struct sim_thread *thread)
{
    uint32_t kind = thread->listed ? thread->wait.sync->kind : SIM_SYNC_KINDS;
    bool acts = kind == SIM_SYNC_COND || kind == SIM_SYNC_SEMAPHORE || kind == SIM_SYNC_JOIN ||
                kind == SIM_SYNC_SLEEP || kind == SIM_SYNC_HOST;
    return (acts || thread->cancels_at_once) && sim_thread_is_canceled(thread);
}

int
sim__pthread_cancel(pthread_t id)
{
    const struct rt_site *site = sim__thread_line();
    sim_thread_point();
    struct sim_thread *thread = sim_thread_of(id);
    if (thread == NULL) {
        return ESRCH;
    }
    thread->canceled = true;
    if (wakes(thread)) {
        sim_thread_wake(thread, site);
    }
    if (sim_thread_now->cancels_at_once) {
        sim_thread_cancel_point();
    }
    return 0;
}

void
sim__pthread_testcancel(void)
{
    sim_thread_point();
    sim_thread_cancel_point();
}

int
sim__pthread_setcancelstate(int state, int *ret_before)
{
    struct sim_thread *thread = sim_thread_now;
    if (state != PTHREAD_CANCEL_ENABLE && state != PTHREAD_CANCEL_DISABLE) {
        return EINVAL;
    }
    if (ret_before != NULL) {
        *ret_before = thread->uncancelable ? PTHREAD_CANCEL_DISABLE : PTHREAD_CANCEL_ENABLE;
    }
    thread->uncancelable = state == PTHREAD_CANCEL_DISABLE;
    if (thread->cancels_at_once) {
        sim_thread_cancel_point();
    }
    return 0;
}

int
sim__pthread_setcanceltype(int type, int *ret_before)
{
    if (type != PTHREAD_CANCEL_DEFERRED && type != PTHREAD_CANCEL_ASYNCHRONOUS) {
        return EINVAL;
    }
    struct sim_thread *thread = sim_thread_now;
    if (ret_before != NULL) {
        *ret_before =
                thread->cancels_at_once ? PTHREAD_CANCEL_ASYNCHRONOUS : PTHREAD_CANCEL_DEFERRED;
    }
    thread->cancels_at_once = type == PTHREAD_CANCEL_ASYNCHRONOUS;
    if (thread->cancels_at_once) {
        sim_thread_cancel_point();
    }
    return 0;
}
