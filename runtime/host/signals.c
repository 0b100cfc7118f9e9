/*
 * signals.c -- signalfd and pidfd as pollables.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "runtime/host/signals.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include "runtime/base/assert.h"
#include "runtime/host/libc_internal.h"

/* Subscribes `descriptor` (ours; -1: it could not be made), or closes it. */
static rt_err
begin(struct rt_linux *host, int descriptor, const char *operation, struct rt_pollable *pollable)
{
    if (descriptor < 0) {
        return rt_failed(&host->failure, operation);
    }
    rt_err err = rt_linux_subscribe(host, descriptor, RT_DESCRIPTOR_READABLE, pollable);
    if (err != RT_OK) {
        rt_socket_close(descriptor);
    }
    return err;
}

static void
end(struct rt_wait *wait, struct rt_pollable *pollable, int descriptor)
{
    rt_wait_cancel(wait);
    rt_pollable_drop(pollable);
    rt_socket_close(descriptor);
}

/* ---- Signals. -------------------------------------------------------------------------------- */

rt_err
rt_signals_init(
        struct rt_signals *signals, struct rt_linux *host, const int *numbers, uint32_t count)
{
    sigset_t set;
    rt_assert(sigemptyset(&set) == 0);
    for (uint32_t i = 0; i < count; i++) {
        if (sigaddset(&set, numbers[i]) != 0) {
            return rt_failed(&host->failure, "sigaddset");
        }
    }
    rt_assert(pthread_sigmask(SIG_BLOCK, &set, NULL) == 0);
    rt_wait_init(&signals->wait);
    signals->descriptor = signalfd(-1, &set, SFD_NONBLOCK | SFD_CLOEXEC);
    return begin(host, signals->descriptor, "signalfd", &signals->pollable);
}

rt_poll
rt_signals_poll(struct rt_signals *signals, struct rt_cx *cx, int *ret_number)
{
    struct signalfd_siginfo info;
    rt_assert(ret_number != NULL);
    for (;;) {
        ssize_t size = read(signals->descriptor, &info, sizeof(info));
        if (size == (ssize_t)sizeof(info)) {
            *ret_number = (int)info.ssi_signo;
            rt_wait_cancel(&signals->wait);
            return RT_READY;
        }
        rt_assert(size < 0 && (errno == EAGAIN || errno == EINTR));
        RT_AWAIT(rt_wait_for(&signals->wait, &signals->pollable, cx));
    }
}

void
rt_signals_fini(struct rt_signals *signals)
{
    end(&signals->wait, &signals->pollable, signals->descriptor);
}

/* ---- Children. ------------------------------------------------------------------------------- */

rt_err
rt_process_init(struct rt_process *process, struct rt_linux *host, pid_t pid)
{
    rt_wait_init(&process->wait);
    process->descriptor = pidfd_open(pid, PIDFD_NONBLOCK);
    return begin(host, process->descriptor, "pidfd_open", &process->pollable);
}

rt_poll
rt_process_poll(struct rt_process *process, struct rt_cx *cx, int *ret_status)
{
    siginfo_t info = {.si_pid = 0};
    rt_assert(ret_status != NULL);
    RT_AWAIT(rt_wait_for(&process->wait, &process->pollable, cx));
    rt_assert(waitid(P_PIDFD, (id_t)process->descriptor, &info, WEXITED) == 0);
    *ret_status = info.si_code == CLD_EXITED ? info.si_status : -info.si_status;
    return RT_READY;
}

void
rt_process_fini(struct rt_process *process)
{
    end(&process->wait, &process->pollable, process->descriptor);
}
