/*
 * signalfd.c -- a descriptor that is readable while a signal of its set is pending.
 *
 * A read takes signals as sigwait does. One that was sent to a single thread is taken by whichever
 * thread reads; in Linux it is there for that thread alone.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <fcntl.h>
#include <string.h>
#include <sys/signalfd.h>

#include "runtime/base/assert.h"
#include "sim/host/sys_priv.h"
#include "sim/posix/number.h"
#include "sim/posix/signal.h"

_Static_assert(SFD_NONBLOCK == O_NONBLOCK && SFD_CLOEXEC == O_CLOEXEC, "flags of open");

struct signals {
    struct sim__description description;
    struct rt_list link; /* In state->signalfds. */
    sigset_t set;
    siginfo_t merged; /* Of the last read: sent most often before it. */
};

static struct signals *
signals_of(const struct sim__description *description)
{
    return rt_container_of(description, struct signals, description);
}

static uint32_t
signals_events(const struct sim__description *description)
{
    return sim__posix_any_pending(&signals_of(description)->set) ? SIM_FD_IN : 0;
}

static struct signalfd_siginfo
told(const siginfo_t *info)
{
    struct signalfd_siginfo told = {.ssi_signo = (uint32_t)info->si_signo,
            .ssi_code = info->si_code,
            .ssi_pid = (uint32_t)sim__posix_getpid(),
            .ssi_uid = sim__posix_getuid(),
            .ssi_int = info->si_value.sival_int,
            .ssi_ptr = (uint64_t)(uintptr_t)info->si_value.sival_ptr};
    return told;
}

static int64_t
signals_read(struct sim__description *description, void *buffer, size_t size, uint32_t flags,
        const struct rt_site *await)
{
    struct signals *signals = signals_of(description);
    size_t room = size / sizeof(struct signalfd_siginfo);
    size_t count = 0;
    siginfo_t info;
    uint32_t sent = 0;
    rt_assert(flags == 0);
    while (count < room && sim__posix_take_signal_of_any(&signals->set, &info, &sent)) {
        struct signalfd_siginfo one = told(&info);
        memcpy((char *)buffer + sizeof(one) * count++, &one, sizeof(one));
        if (sent > description->writes) {
            description->writes = sent;
            signals->merged = info;
        }
    }
    if (count == 0) {
        return room == 0 ? -EINVAL : -EAGAIN;
    }
    int64_t moved = (int64_t)(count * sizeof(struct signalfd_siginfo));
    sim__description_taken(description);
    sim__source_moved(description->source, SIM_EVENT_READ, await, (uint64_t)moved);
    return moved;
}

static void
signals_closed(struct sim__description *description)
{
    rt_list_unlink(&signals_of(description)->link);
}

static void
signals_repeat(struct sim__description *description, uint32_t times)
{
    sim__posix_repeat_signal(&signals_of(description)->merged, times);
}

static const struct sim__sys_ops signals_sys = {.read = signals_read};
static const struct sim__description_ops signals_ops = {.sys = &signals_sys,
        .events = signals_events,
        .closed = signals_closed,
        .repeat = signals_repeat};

uint32_t
sim__posix_signalfd_of(int number)
{
    rt_list_each(node, &sim__posix_state()->signalfds)
    {
        const struct signals *signals = rt_container_of(node, struct signals, link);
        if (sigismember(&signals->set, number) == 1) {
            return signals->description.source->object;
        }
    }
    return 0;
}

void
sim__posix_signalfds_changed(int number)
{
    rt_list_each(node, &sim__posix_state()->signalfds)
    {
        struct signals *signals = rt_container_of(node, struct signals, link);
        if (sigismember(&signals->set, number) == 1) {
            sim__sys_changed(&signals->description, SIM_FD_IN, 1);
        }
    }
}

void
sim__posix_signalfds_level(void)
{
    rt_list_each(node, &sim__posix_state()->signalfds)
    {
        const struct signals *signals = rt_container_of(node, struct signals, link);
        sim__source_level(signals->description.source, sim__posix_any_pending(&signals->set));
    }
}

static int
open_new(const sigset_t *set, int flags)
{
    struct sim_fds *fds = sim__posix_fds();
    if (sim__sys_available(fds, 1) != 0) {
        return sim__posix_error(EMFILE);
    }
    struct signals *signals = sim_new(sim_world_current, struct signals);
    sim__sys_init(&signals->description, fds, &signals_ops, "signalfd");
    signals->set = *set;
    rt_list_init(&signals->link);
    rt_list_push_back(&sim__posix_state()->signalfds, &signals->link);
    sim__source_level(signals->description.source, sim__posix_any_pending(set));
    return sim__posix_opened(sim__fd_open(&signals->description), flags);
}

int
sim__posix_signalfd(int fd, const sigset_t *set, int flags)
{
    (void)sim__posix_begin(fd);
    if ((flags & ~(SFD_NONBLOCK | SFD_CLOEXEC)) != 0) {
        return sim__posix_error(EINVAL);
    }
    if (fd == -1) {
        return open_new(set, flags);
    }
    struct sim__description *description = sim__posix_description(fd);
    if (description == NULL || description->ops != &signals_ops) {
        return sim__posix_error(description == NULL ? EBADF : EINVAL);
    }
    signals_of(description)->set = *set;
    sim__sys_changed(description, SIM_FD_IN, 0);
    return fd;
}
