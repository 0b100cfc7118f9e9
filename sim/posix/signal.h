/*
 * signal.h -- signals between the threads of a program, delivered at its calls.
 *
 * A signal that is sent is *pending* for one thread, or for the process. One for the process is
 * handled by the first thread of the run, unless that blocks it, else by one that does not, which a
 * decision chooses. A thread takes a signal at a decision point, unless a decision leaves it to a
 * later one, or in its wait, which the handler interrupts. The handler runs on the thread's stack.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#pragma once

#include <signal.h>

#include "runtime/base/list.h"
#include "sim/posix/state.h"

/* Of a thread that has made a call that is simulated. */
struct sim__posix_thread {
    struct rt_list link; /* In state->threads, by their first calls. */
    struct sim_thread *thread;
    sigset_t mask;
    sigset_t taken; /* What it waits for with sigwait; empty: nothing. */
    sigset_t sent;  /* What it has sent, to any thread or the process. */
    bool masked;    /* Waits with a mask of its own (sim__posix_mask_begin). */
};

/* Of the calling thread. */
struct sim__posix_thread *sim__posix_thread(void);

/* Sends signal `number` to a thread; NULL: to the process. False: such a signal is pending already,
 * and the two are one. */
bool sim__posix_notify(struct sim__posix_thread *to, int number, union sigval value, int code);

/* Runs the handlers of what is pending for the calling thread; how many there were. */
uint32_t sim__posix_deliver(void);

/* The same, as sim_thread_on_signal: not with a mask of its wait's own. */
bool sim__posix_deliver_at(bool may_wait);

/*
 * Around a wait with a mask of its own, as ppoll has one (NULL: none). A signal that gets through
 * it is taken in the wait, which it ends, and not before: else the wait would not know of it. What
 * is ready comes first; where the wait has found nothing, the handlers run at its end, and
 * sim__posix_mask_end returns -1 with EINTR instead of `count`.
 */
struct sim__posix_mask {
    sigset_t before;
    bool masked;
};
struct sim__posix_mask sim__posix_mask_begin(const sigset_t *during);
int sim__posix_mask_end(const struct sim__posix_mask *before, int count);

/* Whether something is pending that the thread does not block, or that it takes with sigwait. */
bool sim__posix_is_signalled(const struct sim__posix_thread *thread);

/* A write that no one reads: SIGPIPE, then EPIPE. */
int sim__posix_broken_pipe(bool silent);

/* Takes a pending signal of `set`; 0: there is none. */
int sim__posix_take_signal(const sigset_t *set, siginfo_t *ret);

/* The same, whichever thread it was sent to, and how often it was while it was pending; and
 * whether there is one. */
bool sim__posix_take_signal_of_any(const sigset_t *set, siginfo_t *ret, uint32_t *ret_sent);
bool sim__posix_any_pending(const sigset_t *set);

/* Sends it to the process so many times more; each signal is one of its own from now on. */
void sim__posix_repeat_signal(const siginfo_t *info, uint32_t times);

/* Signal `number` has become pending: those that poll a signalfd see it (signalfd.c). */
void sim__posix_signalfds_changed(int number);

/* One was taken. */
void sim__posix_signalfds_level(void);

/* The object of the first signalfd that takes it; 0: none does. */
uint32_t sim__posix_signalfd_of(int number);
