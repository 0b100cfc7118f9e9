/*
 * poll.c -- poll and select, over one wait of the host.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <poll.h>
#include <string.h>
#include <sys/select.h>

#include "runtime/base/assert.h"
#include "sim/posix/number.h"
#include "sim/posix/signal.h"
#include "sim/posix/wait.h"

static const struct {
    short poll;
    uint32_t host;
} bits[] = {{POLLIN, SIM_FD_IN}, {POLLRDNORM, SIM_FD_IN}, {POLLOUT, SIM_FD_OUT},
        {POLLWRNORM, SIM_FD_OUT}, {POLLPRI, SIM_FD_PRI}, {POLLERR, SIM_FD_ERR},
        {POLLHUP, SIM_FD_HUP}, {POLLRDHUP, SIM_FD_RDHUP}, {POLLNVAL, SIM_SYS_INVALID}};
#define BITS (sizeof(bits) / sizeof(bits[0]))

static uint32_t
to_host(short events)
{
    uint32_t all = 0;
    for (size_t i = 0; i < BITS; i++) {
        all |= (events & bits[i].poll) != 0 ? bits[i].host : 0;
    }
    return all;
}

static short
from_host(uint32_t events, short asked)
{
    int all = 0;
    for (size_t i = 0; i < BITS; i++) {
        bool unasked =
                bits[i].poll == POLLERR || bits[i].poll == POLLHUP || bits[i].poll == POLLNVAL;
        bool wanted = unasked || (asked & bits[i].poll) != 0;
        all |= wanted && (events & bits[i].host) != 0 ? bits[i].poll : 0;
    }
    return (short)all;
}

/* A wait without waiting, again and again, must not hold the time still. */
static void
note_look(uint64_t timeout_ns, uint32_t looks)
{
    if (timeout_ns == 0) {
        sim__posix_state()->clock_reads = looks;
        (void)sim__posix_busy();
    }
}

static int
wait_for(struct sim_sys_poll *polls, uint32_t count, uint64_t timeout_ns)
{
    uint32_t looks = sim__posix_state()->clock_reads;
    const struct rt_site *site = sim__posix_begin(-1);
    note_look(timeout_ns, looks);
    int ready = sim_sys_poll(sim__posix_fds(), polls, count, timeout_ns, site);
    sim_thread_now->called.call.fd = count;
    sim__posix_note(ready > 0 ? (uint32_t)ready : 0, timeout_ns);
    return sim__posix_result(ready);
}

/* ---- poll. ----------------------------------------------------------------------------------- */

static int
poll_for(struct pollfd *list, nfds_t count, uint64_t timeout_ns)
{
    if (count > 1024) {
        return sim__posix_error(EINVAL);
    }
    struct sim_sys_poll polls[1024];
    for (nfds_t i = 0; i < count; i++) {
        polls[i] = (struct sim_sys_poll){.fd = list[i].fd, .events = to_host(list[i].events)};
    }
    int ready = wait_for(polls, (uint32_t)count, timeout_ns);
    for (nfds_t i = 0; i < count && ready >= 0; i++) {
        list[i].revents = from_host(polls[i].ret_events, list[i].events);
    }
    return ready;
}

static uint64_t
ns_of_ms(int ms)
{
    return ms < 0 ? SIM_NEVER : (uint64_t)ms * 1000000;
}

int
sim__posix_poll(struct pollfd *list, nfds_t count, int timeout_ms)
{
    return poll_for(list, count, ns_of_ms(timeout_ms));
}

int
sim__posix___poll_chk(struct pollfd *list, nfds_t count, int timeout_ms, size_t room)
{
    rt_assert(room / sizeof(*list) >= count);
    return sim__posix_poll(list, count, timeout_ms);
}

/* With `mask` in force during the wait; NULL: the thread's own. */
static int
poll_masked(struct pollfd *list, nfds_t count, uint64_t timeout_ns, const sigset_t *mask)
{
    const struct sim__posix_mask before = sim__posix_mask_begin(mask);
    return sim__posix_mask_end(&before, poll_for(list, count, timeout_ns));
}

int
sim__posix_ppoll(
        struct pollfd *list, nfds_t count, const struct timespec *time, const sigset_t *mask)
{
    if (time != NULL && !sim__posix_valid(time)) {
        return sim__posix_error(EINVAL);
    }
    return poll_masked(list, count, time != NULL ? sim__posix_ns(time) : SIM_NEVER, mask);
}

int
sim__posix___ppoll_chk(struct pollfd *list, nfds_t count, const struct timespec *time,
        const sigset_t *mask, size_t room)
{
    rt_assert(room / sizeof(*list) >= count);
    return sim__posix_ppoll(list, count, time, mask);
}

/* ---- select: the same, with sets of bits. ---------------------------------------------------- */

struct sets {
    fd_set *in;
    fd_set *out;
    fd_set *err;
};

static bool
has(int fd, const fd_set *set)
{
    return set != NULL && FD_ISSET(fd, set);
}

static uint32_t
polls_of(const struct sets *sets, int count, struct pollfd *ret)
{
    uint32_t used = 0;
    for (int fd = 0; fd < count; fd++) {
        int events = (has(fd, sets->in) ? POLLIN : 0) | (has(fd, sets->out) ? POLLOUT : 0) |
                     (has(fd, sets->err) ? POLLPRI : 0);
        if (events != 0) {
            ret[used++] = (struct pollfd){.fd = fd, .events = (short)events};
        }
    }
    return used;
}

/* Keeps `fd` in `set` where `ready`; 1: it is in it. */
static int
keep(int fd, fd_set *set, bool ready)
{
    if (!has(fd, set)) {
        return 0;
    }
    if (!ready) {
        FD_CLR(fd, set);
    }
    return ready ? 1 : 0;
}

static int
answer(const struct sets *sets, const struct pollfd *polls, uint32_t used)
{
    int count = 0;
    for (uint32_t i = 0; i < used; i++) {
        short events = polls[i].revents;
        count += keep(polls[i].fd, sets->in, (events & (POLLIN | POLLHUP | POLLERR)) != 0);
        count += keep(polls[i].fd, sets->out, (events & (POLLOUT | POLLERR)) != 0);
        count += keep(polls[i].fd, sets->err, (events & POLLPRI) != 0);
    }
    return count;
}

static int
select_for(int count, const struct sets *sets, uint64_t timeout_ns, const sigset_t *mask)
{
    struct pollfd polls[FD_SETSIZE];
    if (count < 0 || count > FD_SETSIZE) {
        return sim__posix_error(EINVAL);
    }
    uint32_t used = polls_of(sets, count, polls);
    int ready = poll_masked(polls, used, timeout_ns, mask);
    for (uint32_t i = 0; i < used; i++) {
        if (ready > 0 && (polls[i].revents & POLLNVAL) != 0) {
            return sim__posix_error(EBADF);
        }
        polls[i].revents = ready >= 0 ? polls[i].revents : 0;
    }
    return ready < 0 ? ready : answer(sets, polls, used);
}

int
sim__posix_select(int count, fd_set *in, fd_set *out, fd_set *err, struct timeval *time)
{
    struct sets sets = {in, out, err};
    uint64_t ns = SIM_NEVER;
    if (time != NULL) {
        struct timespec asked = {time->tv_sec, (long)time->tv_usec * 1000};
        if (!sim__posix_valid(&asked)) {
            return sim__posix_error(EINVAL);
        }
        ns = sim__posix_ns(&asked);
    }
    return select_for(count, &sets, ns, NULL);
}

int
sim__posix_pselect(int count, fd_set *in, fd_set *out, fd_set *err, const struct timespec *time,
        const sigset_t *mask)
{
    struct sets sets = {in, out, err};
    if (time != NULL && !sim__posix_valid(time)) {
        return sim__posix_error(EINVAL);
    }
    return select_for(count, &sets, time != NULL ? sim__posix_ns(time) : SIM_NEVER, mask);
}
