/*
 * signals.h -- signals and children that tasks wait for: signalfd, pidfd.
 *
 * Neither interrupts anything: a signal that is blocked stays pending until its descriptor is read.
 *
 *      rt_signals_init(&signals, &epoll.base, numbers, 2);      before any thread begins
 *      RT_AWAIT(rt_signals_poll(&signals, cx, &number));
 *
 * Ownership. Both own their descriptor, and are pinned from init to fini. One task waits for one of
 * them at a time; it cancels (rt_wait_cancel of `wait`) before its memory goes, in its cleanup.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef RT_HOST_SIGNALS_H
#define RT_HOST_SIGNALS_H

#include <sys/types.h>

#include "runtime/host/linux.h"
#include "runtime/runtime.h"

#ifdef __cplusplus
extern "C" {
#endif

struct rt_signals {
    int descriptor;
    struct rt_pollable pollable;
    struct rt_wait wait;
};

/*
 * Blocks `numbers` in the calling thread, which makes threads inherit that, and waits for them from
 * now on. Errors of rt_linux_subscribe, RT_E_NO_DESCRIPTOR, RT_E_SYSTEM (a number that is none):
 * nothing is left to end; they stay blocked.
 */
RT_MUST_CHECK rt_err rt_signals_init(
        struct rt_signals *signals, struct rt_linux *host, const int *numbers, uint32_t count);

/* READY with a signal that has arrived; equal ones that were pending together are one. */
rt_poll rt_signals_poll(struct rt_signals *signals, struct rt_cx *cx, int *ret_number);

/* Ends it; the signals stay blocked. No task may wait. */
void rt_signals_fini(struct rt_signals *signals);

struct rt_process {
    int descriptor;
    struct rt_pollable pollable;
    struct rt_wait wait;
};

/* Waits for the end of `pid`, a child of this process. RT_E_SYSTEM: it is none (ESRCH), or was
 * waited for already; else as rt_signals_init. */
RT_MUST_CHECK rt_err rt_process_init(struct rt_process *process, struct rt_linux *host, pid_t pid);

/*
 * READY, once, when the child has ended: *ret_status is its exit status, or minus the signal that
 * ended it. The child is waited for (waitid); its number may be another's from then on.
 */
rt_poll rt_process_poll(struct rt_process *process, struct rt_cx *cx, int *ret_status);

/* Ends it; a process that runs goes on. */
void rt_process_fini(struct rt_process *process);

#ifdef __cplusplus
}
#endif
#endif
