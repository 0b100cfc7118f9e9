/*
 * sys.c -- system calls on any descriptor: numbers, bytes, blocking, poll.
 *
 * A kind's functions never block: they return -EAGAIN. Whether the caller waits is decided here, in
 * one place, so that loops and threads wait in the same way.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "sim/host/sys.h"

#include <errno.h>

#include "sim/host/sys_priv.h"

/* ---- Errors. --------------------------------------------------------------------------------- */

static const struct {
    rt_err rt;
    int error;
} errors[] = {{RT_E_AGAIN, EAGAIN}, {RT_E_STALE, EBADF}, {RT_E_CLOSED, EPIPE},
        {RT_E_INVALID, EINVAL}, {RT_E_NO_DESCRIPTOR, EMFILE}, {RT_E_FULL, EMFILE},
        {RT_E_RESET, ECONNRESET}, {RT_E_REFUSED, ECONNREFUSED}, {RT_E_ABORTED, ECONNABORTED},
        {RT_E_TIMED_OUT, ETIMEDOUT}, {RT_E_ADDRESS_IN_USE, EADDRINUSE}};

#define ERRORS (sizeof(errors) / sizeof(errors[0]))

int64_t
sim__sys_errno(int64_t result)
{
    for (size_t i = 0; result < 0 && i < ERRORS; i++) {
        if (errors[i].rt == result) {
            return -errors[i].error;
        }
    }
    return result < 0 ? -EINVAL : result;
}

int64_t
sim__sys_rt(int64_t result)
{
    for (size_t i = 0; result < 0 && i < ERRORS; i++) {
        if (-errors[i].error == result) {
            return errors[i].rt;
        }
    }
    return result < 0 ? RT_E_INVALID : result;
}

/* ---- Descriptions. --------------------------------------------------------------------------- */

void
sim__sys_init(struct sim__description *description, struct sim_fds *fds,
        const struct sim__description_ops *ops, const char *name)
{
    rt_assert(ops->sys != NULL);
    sim__description_init(description, fds, ops, name);
}

int
sim__sys_available(struct sim_fds *fds, uint32_t count)
{
    return sim__fd_available(fds, count) == RT_OK ? 0 : -EMFILE;
}

void
sim__sys_changed(struct sim__description *description, uint32_t events, uint64_t amount)
{
    struct sim_source *source = description->source;
    struct sim_world *world = source->host->world;
    uint32_t read_ends = SIM_FD_IN | SIM_FD_HUP | SIM_FD_ERR;
    sim__description_edge(description, events);
    sim__source_level(source, (sim__description_events(description) & read_ends) != 0);
    if (amount > 0) {
        source->spurious = 0;
        if (world->recorder.texts_on) {
            rt_probe_reason(sim__fds_silence(source));
        }
        sim_world_event(world, SIM_EVENT_READY, source->object, 0, 0, amount);
        sim_world_progress(world);
    }
    sim__host_changed(source->host);
}

/* epoll(7): who moves fewer bytes than asked for can be sure that there are, or fit, no more. */
void
sim__sys_short(struct sim__description *description, uint32_t events, uint64_t moved, uint64_t full)
{
    if (moved < full) {
        sim__description_edge(description, events);
        sim__host_changed(description->source->host);
    }
}

/* ---- Blocking. ------------------------------------------------------------------------------- */

static bool
condition_holds(struct sim__blocked *blocked)
{
    const struct sim__poller *poller = rt_container_of(blocked, struct sim__poller, blocked);
    return poller->condition(poller->argument);
}

void
sim__sys_check_block(const struct sim_fds *fds, const char *reason)
{
    struct sim_world *world = fds->host->world;
    if (sim__host_blocking(fds->host) == NULL) {
        sim_fail(world, SIM_VERDICT_CONTRACT, SIM_ORACLE_HOST, world->current, 0,
                "a call would block (%s), and its caller cannot: only a loop or a thread can wait "
                "in the host",
                reason);
    }
}

/* What a caller waits for. */
struct condition {
    bool (*holds)(const void *argument);
    const void *argument;
    uint64_t due_ns;
    uint32_t object; /* In reports, as `reason`. */
    const char *reason;
    const struct rt_site *await;
    uint32_t reports; /* As of struct sim_blocking's block. */
    bool outside;     /* As there. */
};

/* As struct sim_blocking's block. */
static int
block(struct sim_fds *fds, const struct condition *condition)
{
    struct sim_host *host = fds->host;
    sim__sys_check_block(fds, condition->reason);
    struct sim__poller *poller = sim__poller_current(host);
    poller->condition = condition->holds;
    poller->argument = condition->argument;
    poller->outside = condition->outside;
    sim_world_event(host->world, SIM_EVENT_BLOCK, condition->object, 0, 0, 1);
    int how = sim__poller_block(poller, condition_holds, condition->due_ns, condition->object,
            condition->reason, condition->await, condition->reports);
    sim_world_event(host->world, SIM_EVENT_UNBLOCK, condition->object, 0, 0, how == 0);
    return how;
}

int
sim__sys_block(struct sim_fds *fds, bool (*condition)(const void *argument), const void *argument,
        uint64_t due_ns, const struct sim__description *subject, const char *reason,
        const struct rt_site *await)
{
    const struct sim_world *world = fds->host->world;
    if (world->now_ns >= due_ns) {
        return -EAGAIN;
    }
    int how = block(fds, &(struct condition){.holds = condition,
                                 .argument = argument,
                                 .due_ns = due_ns,
                                 .object = subject->source->object,
                                 .reason = reason,
                                 .await = await,
                                 .outside = sim__description_outside(subject)});
    bool late = world->now_ns >= due_ns && !condition(argument);
    return how != 0 ? -EINTR : late ? -EAGAIN : 0;
}

/* ---- Numbers. -------------------------------------------------------------------------------- */

/* The place of the lowest free number from `place` on, or of one after the last. */
static uint32_t
free_place(const struct sim_fds *fds, uint32_t place)
{
    while (place < fds->capacity && fds->numbers[place] != NULL) {
        place++;
    }
    return place;
}

int
sim_sys_dup(struct sim_fds *fds, int fd, int least)
{
    sim__fds_call(fds, "dup");
    struct sim__description *description = sim__fd_get(fds, fd);
    if (description == NULL) {
        return -EBADF;
    }
    uint32_t place = free_place(fds, least > fds->first ? (uint32_t)(least - fds->first) : 0);
    if (place >= fds->limit || sim__fd_available(fds, 1) != RT_OK) {
        return -EMFILE;
    }
    return sim__fd_open_at(description, place);
}

void
sim_sys_set_limit(struct sim_fds *fds, uint32_t limit)
{
    rt_assert(fds != NULL);
    fds->limit = limit;
}

bool
sim_sys_is_full(const struct sim_fds *fds)
{
    return sim__fd_full(fds);
}

int
sim_sys_dup_to(struct sim_fds *fds, int fd, int to)
{
    sim__fds_call(fds, "dup_to");
    struct sim__description *description = sim__fd_get(fds, fd);
    if (description == NULL || to < fds->first || (uint32_t)(to - fds->first) >= fds->limit) {
        return -EBADF;
    }
    if (fd == to) {
        return to;
    }
    sim__description_hold(description);
    if (sim__fd_get(fds, to) != NULL) {
        sim__fd_free(fds, to);
    }
    int number = sim__fd_open_at(description, (uint32_t)(to - fds->first));
    sim__description_release(description);
    return number;
}

int
sim_sys_close(struct sim_fds *fds, int fd)
{
    return (int)sim__sys_errno(sim_fd_close(fds, fd));
}

int
sim_sys_status(struct sim_fds *fds, int fd)
{
    const struct sim__description *description = sim__fd_get(fds, fd);
    return description != NULL ? (int)description->status : -EBADF;
}

int
sim_sys_set_status(struct sim_fds *fds, int fd, uint32_t flags)
{
    struct sim__description *description = sim__fd_get(fds, fd);
    rt_assert((flags & ~SIM_SYS_NONBLOCK) == 0);
    if (description == NULL) {
        return -EBADF;
    }
    description->status = flags;
    return 0;
}

int
sim_sys_number_flags(struct sim_fds *fds, int fd)
{
    if (sim__fd_get(fds, fd) == NULL) {
        return -EBADF;
    }
    uint32_t place = (uint32_t)(fd - fds->first);
    return place < fds->flags_capacity ? fds->number_flags[place] : 0;
}

int
sim_sys_set_number_flags(struct sim_fds *fds, int fd, uint32_t flags)
{
    rt_assert((flags & ~SIM_SYS_CLOEXEC) == 0);
    if (sim__fd_get(fds, fd) == NULL) {
        return -EBADF;
    }
    uint32_t place = (uint32_t)(fd - fds->first);
    sim__reserve(fds->host->world, &fds->number_flags, place + 1, &fds->flags_capacity, 1);
    fds->number_flags[place] = (uint8_t)flags;
    return 0;
}

/* ---- Bytes. ---------------------------------------------------------------------------------- */

static bool
is_socket(const struct sim__description *description)
{
    const struct sim__sys_ops *sys = description->ops->sys;
    return sys != NULL && sys->error != NULL;
}

static int64_t
read_now(struct sim__description *description, void *buffer, size_t size, uint32_t flags,
        const struct rt_site *await)
{
    const struct sim__description_ops *ops = description->ops;
    bool receives = (flags & (SIM_SYS_PEEK | SIM_SYS_RECEIVE)) != 0;
    if (receives && !is_socket(description)) {
        return -ENOTSOCK;
    }
    if (ops->sys != NULL && ops->sys->read != NULL) {
        return ops->sys->read(description, buffer, size, flags & ~SIM_SYS_DONTWAIT, await);
    }
    if (ops->read == NULL) {
        return -EINVAL;
    }
    return size == 0 ? 0 : sim__sys_errno(ops->read(description, buffer, size, await));
}

static int64_t
try_write(struct sim__description *description, const void *buffer, size_t size,
        const struct rt_site *await)
{
    const struct sim__description_ops *ops = description->ops;
    if (ops->sys != NULL && ops->sys->write != NULL) {
        return ops->sys->write(description, buffer, size, await);
    }
    if (ops->write == NULL) {
        return -EINVAL;
    }
    return size == 0 ? 0 : sim__sys_errno(ops->write(description, buffer, size, await));
}

static int64_t
write_now(struct sim__description *description, const void *buffer, size_t size,
        const struct rt_site *await)
{
    int64_t moved = try_write(description, buffer, size, await);
    description->refused = moved == -EAGAIN || (moved >= 0 && (size_t)moved < size);
    return moved;
}

int64_t
sim__sys_read_as_fd(struct sim__description *description, void *buffer, size_t size,
        const struct rt_site *await)
{
    return sim__sys_rt(read_now(description, buffer, size, 0, await));
}

int64_t
sim__sys_write_as_fd(struct sim__description *description, const void *buffer, size_t size,
        const struct rt_site *await)
{
    return sim__sys_rt(write_now(description, buffer, size, await));
}

static bool
can_read(const void *argument)
{
    uint32_t events = sim__description_events(argument);
    return (events & (SIM_FD_IN | SIM_FD_HUP | SIM_FD_ERR | SIM_FD_RDHUP)) != 0;
}

/* A write that waits: how much is left of it. */
struct rest {
    const struct sim__description *description;
    size_t size;
};

static bool
can_write(const void *argument)
{
    const struct rest *rest = argument;
    const struct sim__sys_ops *sys = rest->description->ops->sys;
    if (sys != NULL && sys->writable != NULL) {
        return sys->writable(rest->description, rest->size);
    }
    uint32_t events = sim__description_events(rest->description);
    return (events & (SIM_FD_OUT | SIM_FD_HUP | SIM_FD_ERR)) != 0;
}

static bool
blocks(const struct sim__description *description, uint32_t flags)
{
    return ((description->status & SIM_SYS_NONBLOCK) | (flags & SIM_SYS_DONTWAIT)) == 0;
}

static int64_t
read_all(struct sim__description *description, void *buffer, size_t size, uint32_t flags,
        const struct rt_site *await)
{
    uint64_t due_ns = sim__sys_due(description, description->read_wait_ns);
    for (;;) {
        int64_t moved = read_now(description, buffer, size, flags, await);
        if (moved != -EAGAIN || !blocks(description, flags)) {
            return moved;
        }
        int err = sim__sys_block(description->fds, can_read, description, due_ns, description,
                description->source->name, await);
        if (err != 0) {
            return err;
        }
    }
}

static int64_t
write_all(struct sim__description *description, const char *bytes, size_t size, uint32_t flags,
        const struct rt_site *await)
{
    size_t done = 0;
    uint64_t due_ns = sim__sys_due(description, description->write_wait_ns);
    for (;;) {
        int64_t moved = write_now(description, bytes + done, size - done, await);
        done += moved > 0 ? (size_t)moved : 0;
        if (done == size || !blocks(description, flags)) {
            return done > 0 ? (int64_t)done : moved;
        }
        const struct rest rest = {description, size - done};
        if (moved == -EAGAIN) {
            moved = sim__sys_block(description->fds, can_write, &rest, due_ns, description,
                    description->source->name, await);
        }
        if (moved < 0) {
            return done > 0 ? (int64_t)done : moved;
        }
    }
}

int64_t
sim_sys_read(struct sim_fds *fds, int fd, void *buffer, size_t size, uint32_t flags,
        const struct rt_site *await)
{
    sim__fds_call(fds, "read");
    struct sim__description *description = sim__fd_get(fds, fd);
    if (description == NULL) {
        return -EBADF;
    }
    sim__description_hold(description);
    int64_t moved = read_all(description, buffer, size, flags, await);
    sim__description_release(description);
    return moved;
}

int64_t
sim_sys_write(struct sim_fds *fds, int fd, const void *buffer, size_t size, uint32_t flags,
        const struct rt_site *await)
{
    sim__fds_call(fds, "write");
    struct sim__description *description = sim__fd_get(fds, fd);
    if (description == NULL) {
        return -EBADF;
    }
    sim__description_hold(description);
    int64_t moved = write_all(description, buffer, size, flags, await);
    sim__description_release(description);
    return moved;
}

int64_t
sim_sys_readable(struct sim_fds *fds, int fd)
{
    const struct sim__description *description = sim__fd_get(fds, fd);
    if (description == NULL) {
        return -EBADF;
    }
    const struct sim__sys_ops *sys = description->ops->sys;
    return sys != NULL && sys->readable != NULL ? sys->readable(description) : -ENOTTY;
}

int
sim_sys_shutdown(struct sim_fds *fds, int fd, enum sim_sys_shut how)
{
    sim__fds_call(fds, "shutdown");
    struct sim__description *description = sim__fd_get(fds, fd);
    if (description == NULL) {
        return -EBADF;
    }
    const struct sim__sys_ops *sys = description->ops->sys;
    return sys != NULL && sys->shutdown != NULL ? sys->shutdown(description, how) : -ENOTSOCK;
}

int
sim_sys_set_socket_wait(struct sim_fds *fds, int fd, enum sim_sys_shut way, uint64_t wait_ns)
{
    struct sim__description *description = sim__fd_get(fds, fd);
    if (description == NULL || !is_socket(description)) {
        return description == NULL ? -EBADF : -ENOTSOCK;
    }
    uint64_t *wait =
            way == SIM_SYS_SHUT_READ ? &description->read_wait_ns : &description->write_wait_ns;
    *wait = wait_ns;
    return 0;
}

int
sim_sys_set_buffer(struct sim_fds *fds, int fd, enum sim_sys_shut way, uint32_t bytes)
{
    struct sim__description *description = sim__fd_get(fds, fd);
    if (description == NULL || !is_socket(description)) {
        return description == NULL ? -EBADF : -ENOTSOCK;
    }
    uint32_t given = bytes < SIM_SYS_BUFFER_MIN ? SIM_SYS_BUFFER_MIN : bytes;
    description->ops->sys->set_buffer(description, way, given);
    return 0;
}

uint64_t
sim_sys_socket_wait(const struct sim_fds *fds, int fd, enum sim_sys_shut way)
{
    const struct sim__description *description = sim__fd_get(fds, fd);
    return description == NULL        ? SIM_NEVER
           : way == SIM_SYS_SHUT_READ ? description->read_wait_ns
                                      : description->write_wait_ns;
}

int
sim_sys_socket_error(struct sim_fds *fds, int fd)
{
    sim__fds_call(fds, "socket_error");
    struct sim__description *description = sim__fd_get(fds, fd);
    if (description == NULL) {
        return -EBADF;
    }
    return is_socket(description) ? description->ops->sys->error(description) : -ENOTSOCK;
}

/* ---- Waiting for several. -------------------------------------------------------------------- */

int64_t
sim_sys_events(struct sim_fds *fds, int fd)
{
    const struct sim__description *description = sim__fd_get(fds, fd);
    return description != NULL ? (int64_t)sim__description_events(description) : -EBADF;
}

struct polls {
    struct sim_fds *fds;
    struct sim_sys_poll *all;
    uint32_t count;
};

static uint32_t
poll_events(struct sim_fds *fds, const struct sim_sys_poll *poll)
{
    if (poll->fd < 0) {
        return 0;
    }
    int64_t events = sim_sys_events(fds, poll->fd);
    uint32_t asked = poll->events | SIM_FD_ERR | SIM_FD_HUP;
    return events < 0 ? SIM_SYS_INVALID : (uint32_t)events & asked;
}

static bool
any_ready(const void *argument)
{
    const struct polls *polls = argument;
    for (uint32_t i = 0; i < polls->count; i++) {
        if (poll_events(polls->fds, &polls->all[i]) != 0) {
            return true;
        }
    }
    return false;
}

static int
collect(const struct polls *polls)
{
    int ready = 0;
    for (uint32_t i = 0; i < polls->count; i++) {
        polls->all[i].ret_events = poll_events(polls->fds, &polls->all[i]);
        ready += polls->all[i].ret_events != 0;
    }
    return ready;
}

static bool
any_outside(const struct polls *polls)
{
    for (uint32_t i = 0; i < polls->count; i++) {
        const struct sim__description *description = sim__fd_get(polls->fds, polls->all[i].fd);
        if (description != NULL && (polls->all[i].events & SIM_FD_IN) != 0 &&
                sim__description_outside(description)) {
            return true;
        }
    }
    return false;
}

/* The nth entry is reported for nothing, if a read from it would not block then. Never OUT: a
 * socket that is connecting would be taken for connected. */
static int
pretend(const struct polls *polls, uint32_t nth)
{
    struct sim_sys_poll *poll = &polls->all[nth];
    int status = sim_sys_status(polls->fds, poll->fd);
    poll->ret_events = poll->events & SIM_FD_IN;
    if (status < 0 || ((uint32_t)status & SIM_SYS_NONBLOCK) == 0 || poll->ret_events == 0) {
        poll->ret_events = 0;
        return 0;
    }
    return 1;
}

uint32_t
sim__sys_report_of(const struct sim__blocked *blocked, const struct sim__description *description)
{
    const struct sim__poller *poller = rt_container_of(blocked, struct sim__poller, blocked);
    if (blocked->ready != condition_holds || poller->condition != any_ready) {
        return 0;
    }
    const struct polls *polls = poller->argument;
    uint32_t nth = 0;
    while (nth < polls->count && sim__fd_get(polls->fds, polls->all[nth].fd) != description) {
        nth++;
    }
    return nth < polls->count ? nth + 1 : 0;
}

bool
sim__sys_waits_for(const struct sim__blocked *blocked, const struct sim__description *description)
{
    const struct sim__poller *poller = rt_container_of(blocked, struct sim__poller, blocked);
    if (blocked->ready != condition_holds || poller->condition != any_ready) {
        return blocked->ready == condition_holds && poller->argument == description;
    }
    const struct polls *polls = poller->argument;
    for (uint32_t i = 0; i < polls->count; i++) {
        if ((polls->all[i].events & SIM_FD_IN) != 0 &&
                sim__fd_get(polls->fds, polls->all[i].fd) == description) {
            return true;
        }
    }
    return false;
}

int
sim_sys_poll(struct sim_fds *fds, struct sim_sys_poll *polls, uint32_t count, uint64_t timeout_ns,
        const struct rt_site *await)
{
    const struct polls all = {fds, polls, count};
    struct sim_world *world = fds->host->world;
    sim__fds_call(fds, "poll");
    uint64_t due_ns = sim__later(sim_now(world), timeout_ns);
    int ready = collect(&all);
    while (ready == 0 && sim_now(world) < due_ns) {
        int how =
                block(fds, &(struct condition){any_ready, &all, due_ns, fds->own.object,
                                   "descriptors", await, count > 0 ? count : 1, any_outside(&all)});
        ready = collect(&all);
        if (ready == 0 && how == SIM_BLOCK_INTERRUPTED) {
            return -EINTR;
        }
        if (ready == 0 && how > 0 && (uint32_t)how <= count) {
            ready = pretend(&all, (uint32_t)how - 1);
        }
    }
    return ready;
}
