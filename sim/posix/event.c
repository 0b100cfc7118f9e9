/*
 * event.c -- epoll, eventfd, timerfd, signalfd, pipes.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <fcntl.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/timerfd.h>

#include "runtime/base/assert.h"
#include "sim/posix/file.h"
#include "sim/posix/number.h"
#include "sim/posix/signal.h"
#include "sim/posix/wait.h"

_Static_assert(EFD_NONBLOCK == O_NONBLOCK && EFD_CLOEXEC == O_CLOEXEC, "flags of open");
_Static_assert(TFD_NONBLOCK == O_NONBLOCK && TFD_CLOEXEC == O_CLOEXEC, "flags of open");
_Static_assert(EPOLL_CLOEXEC == O_CLOEXEC, "flags of open");

/* Reports that need no memory of their own. */
#define FEW 64u

/* ---- epoll. ---------------------------------------------------------------------------------- */

static const struct {
    uint32_t epoll;
    uint32_t host;
} bits[] = {{EPOLLIN, SIM_FD_IN}, {EPOLLRDNORM, SIM_FD_IN}, {EPOLLOUT, SIM_FD_OUT},
        {EPOLLWRNORM, SIM_FD_OUT}, {EPOLLPRI, SIM_FD_PRI}, {EPOLLERR, SIM_FD_ERR},
        {EPOLLHUP, SIM_FD_HUP}, {EPOLLRDHUP, SIM_FD_RDHUP}, {EPOLLET, SIM_FD_EDGE},
        {EPOLLONESHOT, SIM_FD_ONESHOT}, {EPOLLEXCLUSIVE, SIM_FD_EXCLUSIVE}};

static uint32_t
to_host(uint32_t events)
{
    uint32_t all = 0;
    for (size_t i = 0; i < sizeof(bits) / sizeof(bits[0]); i++) {
        all |= (events & bits[i].epoll) != 0 ? bits[i].host : 0;
    }
    return all;
}

static uint32_t
from_host(uint32_t events)
{
    static const uint32_t reported =
            EPOLLIN | EPOLLOUT | EPOLLPRI | EPOLLERR | EPOLLHUP | EPOLLRDHUP;
    uint32_t all = 0;
    for (size_t i = 0; i < sizeof(bits) / sizeof(bits[0]); i++) {
        all |= (events & bits[i].host) != 0 ? bits[i].epoll & reported : 0;
    }
    return all;
}

int
sim__posix_epoll_create1(int flags)
{
    (void)sim__posix_begin(-1);
    if ((flags & ~EPOLL_CLOEXEC) != 0) {
        return sim__posix_error(EINVAL);
    }
    return sim__posix_opened(sim_sys_epoll(sim__posix_fds(), "epoll"), flags);
}

int
sim__posix_epoll_create(int size)
{
    return size > 0 ? sim__posix_epoll_create1(0) : sim__posix_error(EINVAL);
}

/* What is always ready cannot be waited for. */
static bool
is_stored(int fd)
{
    int error = errno;
    const struct sim__posix_file *file = sim__posix_file(fd);
    errno = error;
    return file != NULL &&
           (file->inode->kind == SIM__POSIX_REGULAR || file->inode->kind == SIM__POSIX_DIRECTORY);
}

int
sim__posix_epoll_ctl(int epoll, int operation, int fd, struct epoll_event *event)
{
    struct sim_fds *fds = sim__posix_fds();
    (void)sim__posix_begin(fd);
    uint32_t events = operation != EPOLL_CTL_DEL && event != NULL ? to_host(event->events) : 0;
    uint64_t data = operation != EPOLL_CTL_DEL && event != NULL ? event->data.u64 : 0;
    struct sim_called *called = &sim_thread_now->called;
    called->call.number = operation == EPOLL_CTL_ADD   ? SIM_CALL_epoll_ctl_add
                          : operation == EPOLL_CTL_MOD ? SIM_CALL_epoll_ctl_mod
                                                       : SIM_CALL_epoll_ctl_del;
    sim__posix_note((uint32_t)epoll, event != NULL ? event->events : 0);
    switch (operation) {
    case EPOLL_CTL_ADD:
        if (is_stored(fd)) {
            return sim__posix_error(EPERM);
        }
        return sim__posix_result(sim_sys_epoll_add(fds, epoll, fd, events, data));
    case EPOLL_CTL_MOD:
        return sim__posix_result(sim_sys_epoll_modify(fds, epoll, fd, events, data));
    case EPOLL_CTL_DEL:
        return sim__posix_result(sim_sys_epoll_remove(fds, epoll, fd));
    default:
        return sim__posix_error(EINVAL);
    }
}

/* Space for `count` reports. Other threads use it while this one waits, none between the reports
 * and their copy for the program. */
static struct sim_fd_event *
space_for(uint32_t count)
{
    struct sim__posix *state = sim__posix_state();
    if (state->events_capacity < count) {
        state->events_capacity = 2 * count;
        state->events = sim_alloc(state->world, 2 * count * sizeof(*state->events));
    }
    return state->events;
}

static int
wait_events(int epoll, struct epoll_event *ret, int max, uint64_t timeout_ns)
{
    struct sim_fd_event few[FEW]; /* The kernel reports all that is ready. */
    struct sim__posix *state = sim__posix_state();
    uint32_t looks = state->clock_reads;
    const struct rt_site *site = sim__posix_begin(epoll);
    if (max <= 0) {
        return sim__posix_error(EINVAL);
    }
    if (timeout_ns == 0) {
        state->clock_reads = looks;
        (void)sim__posix_busy();
    }
    uint32_t most = sim_sys_epoll_length(sim__posix_fds(), epoll);
    most = most > FEW ? most : FEW;
    most = (uint32_t)max < most ? (uint32_t)max : most;
    struct sim_fd_event *events = most > FEW ? space_for(most) : few;
    int count = sim_sys_epoll_wait(sim__posix_fds(), epoll, events, most, timeout_ns, site);
    sim__posix_note(count > 0 ? (uint32_t)count : 0, timeout_ns);
    for (int i = 0; i < count; i++) {
        ret[i].events = from_host(events[i].events);
        ret[i].data.u64 = events[i].data;
    }
    return sim__posix_result(count);
}

int
sim__posix_epoll_pwait(
        int epoll, struct epoll_event *ret, int max, int timeout_ms, const sigset_t *mask)
{
    const struct sim__posix_mask before = sim__posix_mask_begin(mask);
    uint64_t ns = timeout_ms < 0 ? SIM_NEVER : (uint64_t)timeout_ms * 1000000;
    return sim__posix_mask_end(&before, wait_events(epoll, ret, max, ns));
}

int
sim__posix_epoll_wait(int epoll, struct epoll_event *ret, int max, int timeout_ms)
{
    return sim__posix_epoll_pwait(epoll, ret, max, timeout_ms, NULL);
}

/* A kernel before 5.11: the callers have another way. */
int
sim__posix_epoll_pwait2(int epoll, struct epoll_event *ret, int max, const struct timespec *time,
        const sigset_t *mask)
{
    (void)epoll;
    (void)ret;
    (void)max;
    (void)time;
    (void)mask;
    return sim__posix_error(ENOSYS);
}

/* ---- eventfd. -------------------------------------------------------------------------------- */

int
sim__posix_eventfd(unsigned value, int flags)
{
    (void)sim__posix_begin(-1);
    bool semaphore = (flags & EFD_SEMAPHORE) != 0;
    return sim__posix_opened(sim_sys_eventfd(sim__posix_fds(), "eventfd", value, semaphore), flags);
}

int
sim__posix_eventfd_read(int fd, eventfd_t *ret)
{
    return sim__posix_read(fd, ret, sizeof(*ret)) == (ssize_t)sizeof(*ret) ? 0 : -1;
}

int
sim__posix_eventfd_write(int fd, eventfd_t value)
{
    return sim__posix_write(fd, &value, sizeof(value)) == (ssize_t)sizeof(value) ? 0 : -1;
}

/* ---- timerfd. -------------------------------------------------------------------------------- */

int
sim__posix_timerfd_create(clockid_t clock, int flags)
{
    (void)sim__posix_begin(-1);
    if (!sim__posix_waits_on(clock)) {
        return sim__posix_error(EINVAL);
    }
    int fd = sim_sys_timerfd(sim__posix_fds(), "timerfd");
    if (fd >= 0) {
        sim__posix_state()->timer_clocks[fd] = (uint8_t)clock;
    }
    return sim__posix_opened(fd, flags);
}

static struct timespec
timespec_of(uint64_t ns)
{
    struct timespec time = {(time_t)(ns / SIM__SECOND_NS), (long)(ns % SIM__SECOND_NS)};
    return time;
}

static struct itimerspec
itimerspec_of(const struct sim_sys_timer *timer)
{
    uint64_t now_ns = sim_now(sim_world_current);
    bool armed = timer->due_ns != SIM_NEVER;
    uint64_t left_ns = armed && timer->due_ns > now_ns ? timer->due_ns - now_ns : armed;
    struct itimerspec value = {timespec_of(timer->interval_ns), timespec_of(left_ns)};
    return value;
}

int
sim__posix_timerfd_settime(
        int fd, int flags, const struct itimerspec *value, struct itimerspec *ret_old)
{
    (void)sim__posix_begin(fd);
    if (!sim__posix_valid(&value->it_value) || !sim__posix_valid(&value->it_interval)) {
        return sim__posix_error(EINVAL);
    }
    if (sim__posix_description(fd) == NULL) {
        return sim__posix_error(EBADF);
    }
    bool armed = value->it_value.tv_sec != 0 || value->it_value.tv_nsec != 0;
    clockid_t clock = sim__posix_state()->timer_clocks[fd];
    bool absolute = (flags & TFD_TIMER_ABSTIME) != 0;
    struct sim_sys_timer old;
    struct sim_sys_timer timer = {
            .due_ns = armed ? sim__posix_due(clock, absolute, &value->it_value) : SIM_NEVER,
            .interval_ns = sim__posix_ns(&value->it_interval)};
    uint64_t now_ns = sim_now(sim_world_current);
    uint64_t left_ns = timer.due_ns > now_ns ? timer.due_ns - now_ns : 0;
    sim__posix_note(0, timer.due_ns != SIM_NEVER ? left_ns : SIM_NEVER);
    int result = sim_sys_timerfd_set(sim__posix_fds(), fd, &timer, &old);
    if (result >= 0 && ret_old != NULL) {
        *ret_old = itimerspec_of(&old);
    }
    return sim__posix_result(result);
}

int
sim__posix_timerfd_gettime(int fd, struct itimerspec *ret)
{
    struct sim_sys_timer timer;
    (void)sim__posix_begin(fd);
    int result = sim_sys_timerfd_get(sim__posix_fds(), fd, &timer);
    if (result >= 0) {
        *ret = itimerspec_of(&timer);
    }
    return sim__posix_result(result);
}

/* ---- Pipes. ---------------------------------------------------------------------------------- */

int
sim__posix_pipe2(int ret[2], int flags)
{
    int ends[2];
    (void)sim__posix_begin(-1);
    int result = sim_sys_pipe(sim__posix_fds(), "pipe", ends);
    if (result < 0) {
        return sim__posix_result(result);
    }
    ret[0] = sim__posix_opened(ends[0], flags);
    ret[1] = sim__posix_opened(ends[1], flags);
    sim__posix_note_pair(ends);
    return 0;
}

int
sim__posix_pipe(int ret[2])
{
    return sim__posix_pipe2(ret, 0);
}
