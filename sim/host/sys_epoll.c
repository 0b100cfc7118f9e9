/*
 * sys_epoll.c -- epoll instances that have numbers, and so can be watched by others.
 *
 * Its registrations are those of fd_wait.c. It is readable while one of them would be reported.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <errno.h>

#include "sim/host/sys_priv.h"

/* Instances in a row, one watching the next. */
#define NESTED_MAX 5u

#define EXCLUSIVE_OK \
    (SIM_FD_IN | SIM_FD_OUT | SIM_FD_ERR | SIM_FD_HUP | SIM_FD_EDGE | SIM_FD_EXCLUSIVE)

struct instance {
    struct sim__description description;
    struct sim__epoll epoll;
};

static struct instance *
instance_of(const struct sim__description *description)
{
    return rt_container_of(description, struct instance, description);
}

static uint32_t
instance_events(const struct sim__description *description)
{
    return sim__epoll_ready(&instance_of(description)->epoll) ? SIM_FD_IN : 0;
}

static void
instance_closed(struct sim__description *description)
{
    sim__epoll_fini(&instance_of(description)->epoll);
}

/* Its ioctl knows other requests than FIONREAD. */
static int64_t
instance_readable(const struct sim__description *description)
{
    (void)description;
    return -EINVAL;
}

static bool
instance_outside(const struct sim__description *description)
{
    return sim__epoll_outside(&instance_of(description)->epoll);
}

static const struct sim__sys_ops instance_sys = {
        .readable = instance_readable, .outside = instance_outside};
static const struct sim__description_ops instance_ops = {
        .sys = &instance_sys, .events = instance_events, .closed = instance_closed};

int
sim_sys_epoll(struct sim_fds *fds, const char *name)
{
    sim__fds_call(fds, "epoll");
    int err = sim__sys_available(fds, 1);
    if (err != 0) {
        return err;
    }
    struct instance *instance = sim_new(fds->host->world, struct instance);
    sim__sys_init(&instance->description, fds, &instance_ops, name);
    sim__epoll_init(&instance->epoll, fds, instance->description.source->object);
    instance->epoll.description = &instance->description;
    return sim__fd_open(&instance->description);
}

/* ---- Nesting. -------------------------------------------------------------------------------- */

static bool
is_instance(const struct sim__description *description)
{
    return description->ops == &instance_ops;
}

/* How many instances are in the longest row that begins with `instance`, watching downwards; more
 * than the maximum where the row leads to `forbidden`. */
static uint32_t
depth_down(const struct instance *instance, const struct instance *forbidden, uint32_t left)
{
    uint32_t deepest = 0;
    if (instance == forbidden || left == 0) {
        return NESTED_MAX + 1;
    }
    rt_list_each(node, &instance->epoll.registrations)
    {
        const struct sim__registration *registration = sim__registration_of(node);
        if (is_instance(registration->description)) {
            uint32_t depth =
                    depth_down(instance_of(registration->description), forbidden, left - 1);
            deepest = depth > deepest ? depth : deepest;
        }
    }
    return deepest + 1;
}

static bool
watches(const struct sim__epoll *epoll, const struct sim__description *description)
{
    rt_list_each(node, &epoll->registrations)
    {
        if (sim__registration_of(node)->description == description) {
            return true;
        }
    }
    return false;
}

bool
sim__epoll_watches(const struct sim__epoll *epoll, const struct sim__description *description)
{
    bool found = watches(epoll, description);
    rt_list_each(node, &epoll->registrations)
    {
        const struct sim__description *inner = sim__registration_of(node)->description;
        found = found ||
                (is_instance(inner) && sim__epoll_watches(&instance_of(inner)->epoll, description));
    }
    return found;
}

/* How many instances are in the longest row that ends with `instance`. There is no circle. */
static uint32_t
depth_up(const struct instance *instance)
{
    uint32_t deepest = 0;
    rt_list_each(node, &instance->epoll.fds->interests)
    {
        const struct sim__epoll *epoll = sim__epoll_of(node);
        if (epoll->description != NULL && watches(epoll, &instance->description)) {
            uint32_t depth = depth_up(instance_of(epoll->description));
            deepest = depth > deepest ? depth : deepest;
        }
    }
    return deepest + 1;
}

static bool
nests_too_deep(const struct instance *outer, const struct sim__description *inner)
{
    return is_instance(inner) &&
           depth_up(outer) + depth_down(instance_of(inner), outer, NESTED_MAX + 1) > NESTED_MAX;
}

/* ---- Interest. ------------------------------------------------------------------------------- */

/* The instance, where `fd` is open too; else a negative errno. */
static int
find_both(struct sim_fds *fds, int epoll, int fd, struct instance **ret)
{
    struct sim__description *outer = sim__fd_get(fds, epoll);
    const struct sim__description *inner = sim__fd_get(fds, fd);
    if (outer == NULL || inner == NULL) {
        return -EBADF;
    }
    if (outer == inner || !is_instance(outer)) {
        return -EINVAL;
    }
    *ret = instance_of(outer);
    return 0;
}

int
sim_sys_epoll_add(struct sim_fds *fds, int epoll, int fd, uint32_t events, uint64_t data)
{
    struct instance *instance = NULL;
    sim__fds_call(fds, "epoll_add");
    int err = find_both(fds, epoll, fd, &instance);
    if (err != 0) {
        return err;
    }
    const struct sim__description *inner = sim__fd_get(fds, fd);
    if ((events & SIM_FD_EXCLUSIVE) != 0 && (is_instance(inner) || (events & ~EXCLUSIVE_OK) != 0)) {
        return -EINVAL;
    }
    if (nests_too_deep(instance, inner)) {
        return -ELOOP;
    }
    rt_err added = sim__epoll_add(&instance->epoll, fd, events, data);
    return added == RT_E_BUSY ? -EEXIST : added == RT_E_FULL ? -ENOSPC : 0;
}

/* The result of sim__epoll_modify and sim__epoll_remove, on numbers that are open. */
static int
changed(rt_err err)
{
    return err == RT_E_INVALID ? -ENOENT : err == RT_E_BUSY ? -EINVAL : 0;
}

int
sim_sys_epoll_modify(struct sim_fds *fds, int epoll, int fd, uint32_t events, uint64_t data)
{
    struct instance *instance = NULL;
    sim__fds_call(fds, "epoll_modify");
    int err = find_both(fds, epoll, fd, &instance);
    if (err == 0 && (events & SIM_FD_EXCLUSIVE) != 0) {
        err = -EINVAL;
    }
    return err != 0 ? err : changed(sim__epoll_modify(&instance->epoll, fd, events, data));
}

int
sim_sys_epoll_remove(struct sim_fds *fds, int epoll, int fd)
{
    struct instance *instance = NULL;
    sim__fds_call(fds, "epoll_remove");
    int err = find_both(fds, epoll, fd, &instance);
    return err != 0 ? err : changed(sim__epoll_remove(&instance->epoll, fd));
}

uint32_t
sim_sys_epoll_length(struct sim_fds *fds, int epoll)
{
    const struct sim__description *description = sim__fd_get(fds, epoll);
    bool is = description != NULL && is_instance(description);
    return is ? instance_of(description)->epoll.length : 0;
}

/* ---- Waiting. -------------------------------------------------------------------------------- */

/* Fetches until there is something, `due_ns` has come, or an interruption. */
static int
wait_until(struct instance *instance, struct sim_fd_event *ret_events, uint32_t max,
        uint64_t due_ns, const struct rt_site *await)
{
    struct sim__epoll *epoll = &instance->epoll;
    const struct sim_fds *fds = epoll->fds;
    uint32_t fetched = sim__epoll_fetch(epoll, ret_events, max, true);
    while (fetched == 0 && sim_now(fds->host->world) < due_ns) {
        sim__sys_check_block(fds, "descriptors");
        int how = sim__epoll_block(epoll, due_ns, await);
        fetched = sim__epoll_fetch(epoll, ret_events, max, true);
        if (fetched == 0 && how > 0) {
            fetched = sim__epoll_report_nth(epoll, (uint32_t)how - 1, ret_events);
        }
        if (fetched == 0 && how == SIM_BLOCK_INTERRUPTED) {
            return -EINTR;
        }
        sim_world_event(fds->host->world, SIM_EVENT_UNBLOCK, epoll->object, 0, 0, fetched);
    }
    return (int)fetched;
}

int
sim_sys_epoll_wait(struct sim_fds *fds, int epoll, struct sim_fd_event *ret_events, uint32_t max,
        uint64_t timeout_ns, const struct rt_site *await)
{
    sim__fds_call(fds, "epoll_wait");
    struct sim__description *description = sim__fd_get(fds, epoll);
    if (description == NULL) {
        return -EBADF;
    }
    if (!is_instance(description) || max == 0) {
        return -EINVAL;
    }
    sim__watch(fds->host);
    uint64_t due_ns = sim__later(sim_now(fds->host->world), timeout_ns);
    if (timeout_ns != 0 && sim__fault(fds->host, SIM_FAULT_EINTR)) {
        return -EINTR;
    }
    sim__description_hold(description);
    sim_loop_pause(fds->host->world);
    int fetched = wait_until(instance_of(description), ret_events, max, due_ns, await);
    sim__description_release(description);
    return fetched;
}
