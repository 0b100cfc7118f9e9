/*
 * call.h -- the calls of a program that are events, with their arguments and results.
 *
 * An event CALL is recorded when a call returns that was a step: which one (`flags`), up to two
 * descriptors and the error (`cause`), one more number (`argument`), the description that the
 * first descriptor names (`object`), and the line (`site`). Where there is no third argument to
 * show, that number is the result.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "sim/base/page.h"
#include "sim/core/record/event.h"

/*
 * X(name, words): the words after its name. The numbers are part of traces: append only.
 *
 *      %d, %D  the descriptor that it is about; another, or a small number
 *      %v      the value, as a number
 *      %e      … as events of epoll, %t as a timeout, %a as what a timer is armed with
 *      %f      … as SIM_FD_… (sim/host/fd.h)
 *      %s      … as a signal
 *      %m      the small number is 1 where such a signal is pending already: the two are one
 *      %o      the small number, as what a ring is to do (enum rt_opcode)
 *
 * Where the call failed the error is in the place of what follows ` = `. From `sim_fd_add`
 * on they are calls of a scenario, whose lines are not recorded, and the error is a rt_err, without
 * its sign; from `kill` on, of a program again. `complete` is the ring's own: the value is the
 * operation's user_data; of a CANCEL, that of what it cancels.
 */
#define SIM_CALL_LIST(X) \
    X(none, "") \
    X(read, "(%d) = %v") \
    X(readv, "(%d) = %v") \
    X(write, "(%d) = %v") \
    X(writev, "(%d) = %v") \
    X(recv, "(%d) = %v") \
    X(recvfrom, "(%d) = %v") \
    X(recvmsg, "(%d) = %v") \
    X(recvmmsg, "(%d) = %v") \
    X(send, "(%d) = %v") \
    X(sendto, "(%d) = %v") \
    X(sendmsg, "(%d) = %v") \
    X(sendmmsg, "(%d) = %v") \
    X(sendfile, "(%d) = %v") \
    X(eventfd_read, "(%d)") \
    X(eventfd_write, "(%d)") \
    X(close, "(%d)") \
    X(dup, "(%d) = %v") \
    X(dup2, "(%d, %D)") \
    X(dup3, "(%d, %D)") \
    X(fcntl, "(%d)") \
    X(ioctl, "(%d)") \
    X(epoll_create, "() = %v") \
    X(epoll_create1, "() = %v") \
    X(epoll_ctl_add, "(%D, ADD, %d, %e)") \
    X(epoll_ctl_mod, "(%D, MOD, %d, %e)") \
    X(epoll_ctl_del, "(%D, DEL, %d)") \
    X(epoll_wait, "(%d, %t) = %D") \
    X(epoll_pwait, "(%d, %t) = %D") \
    X(poll, "(%d descriptors, %t) = %D") \
    X(ppoll, "(%d descriptors, %t) = %D") \
    X(select, "(%d descriptors, %t) = %D") \
    X(pselect, "(%d descriptors, %t) = %D") \
    X(eventfd, "() = %v") \
    X(timerfd_create, "() = %v") \
    X(timerfd_settime, "(%d, %a)") \
    X(timerfd_gettime, "(%d)") \
    X(signalfd, "() = %v") \
    X(pipe, "(%d, %D)") \
    X(pipe2, "(%d, %D)") \
    X(socket, "() = %v") \
    X(socketpair, "(%d, %D)") \
    X(shutdown, "(%d)") \
    X(bind, "(%d)") \
    X(listen, "(%d)") \
    X(connect, "(%d)") \
    X(accept, "(%d) = %v") \
    X(accept4, "(%d) = %v") \
    X(getsockopt, "(%d)") \
    X(sim_fd_add, "(%d, %f)") \
    X(sim_fd_modify, "(%d, %f)") \
    X(sim_fd_remove, "(%d)") \
    X(sim_fd_notify, "(%d)") \
    X(push, "(%o, %v)") \
    X(enter, "() = %v") \
    X(reap, "() = %v") \
    X(complete, "(%o, %v)") \
    X(kill, "(%s)%m") \
    X(raise, "(%s)%m") \
    X(pthread_kill, "(%s)%m") \
    X(tgkill, "(%s)%m") \
    X(sigqueue, "(%s)%m") \
    X(pthread_sigqueue, "(%s)%m")

enum sim_call_number {
#define SIM_CALL_ENUM(name, words) SIM_CALL_##name,
    SIM_CALL_LIST(SIM_CALL_ENUM)
#undef SIM_CALL_ENUM
            SIM_CALLS
};

/* The first one of a scenario. */
#define SIM_CALL_OF_SCENARIO SIM_CALL_sim_fd_add
/* The first one that sends a signal; all that follow do. */
#define SIM_CALL_OF_SIGNAL SIM_CALL_kill

/* Descriptors are below this; SIM_CALL_NO_FD: there is none. */
#define SIM_CALL_FDS 0x1000u
#define SIM_CALL_NO_FD (SIM_CALL_FDS - 1)

struct sim_call {
    uint64_t value; /* Events, a time, or the result. */
    uint32_t fd;
    uint32_t second; /* The other descriptor, or how many are ready. */
    uint32_t number; /* enum sim_call_number */
    uint32_t error;  /* An errno; 0: it succeeded. */
};

static inline uint32_t
sim_call_pack(const struct sim_call *call)
{
    return (call->fd & SIM_CALL_NO_FD) | (call->second & SIM_CALL_NO_FD) << 12 |
           (call->error & 0xff) << 24;
}

/* What an event CALL says; any other event: `number` is SIM_CALL_none. */
struct sim_call sim_call_of(const struct sim_event *event);

/* The call of that name, also of one that checks the size of a buffer (__read_chk);
 * SIM_CALL_none: it is no event. */
enum sim_call_number sim_call_find(const char *name);

/* Adds "epoll_ctl(3, MOD, 6, IN|OUT)", "write(6) = EAGAIN". */
void sim_call_put(struct sim_page *page, const struct sim_call *call);
