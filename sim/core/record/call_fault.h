/*
 * call_fault.h -- calls of a program that may fail by decision (fault `calls`), and with what.
 *
 * An event FAULT of one has both in its argument, so that a report can name them.
 *
 * Source of the errors: the sections ERRORS of POSIX.1-2017 and of Linux' manual. Those of wrong
 * arguments, which a decision does not make, are left out.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

/* Name, then up to three errors, the usual one first; 0: no more. The numbers are part of traces:
 * append only. malloc stands for its family. */
#define SIM_CALL_FAULT_LIST(X) \
    X(malloc, ENOMEM, 0, 0) \
    X(pthread_create, EAGAIN, 0, 0) \
    X(eventfd, EMFILE, ENFILE, ENOMEM) \
    X(epoll_create, EMFILE, ENFILE, ENOMEM) \
    X(epoll_create1, EMFILE, ENFILE, ENOMEM) \
    X(epoll_ctl, ENOMEM, ENOSPC, 0) \
    X(timerfd_create, EMFILE, ENFILE, ENOMEM) \
    X(pipe, EMFILE, ENFILE, 0) \
    X(pipe2, EMFILE, ENFILE, 0) \
    X(socket, EMFILE, ENFILE, ENOBUFS) \
    X(socketpair, EMFILE, ENFILE, ENOBUFS) \
    X(bind, EADDRINUSE, 0, 0) \
    X(accept, EMFILE, ECONNABORTED, ENOBUFS) \
    X(accept4, EMFILE, ECONNABORTED, ENOBUFS) \
    X(open, EMFILE, ENFILE, ENOMEM) \
    X(openat, EMFILE, ENFILE, ENOMEM) \
    X(creat, EMFILE, ENFILE, ENOSPC) \
    X(fopen, EMFILE, ENFILE, ENOMEM) \
    X(dup, EMFILE, 0, 0) \
    X(mmap, ENOMEM, 0, 0)

enum sim_call_fault {
#define SIM_CALL_FAULT_ENUM(name, ...) SIM_CALL_FAULT_##name,
    SIM_CALL_FAULT_LIST(SIM_CALL_FAULT_ENUM)
#undef SIM_CALL_FAULT_ENUM
            SIM_CALL_FAULTS
};

#define SIM_CALL_FAULT_ERRORS 3u

/* The call of that name; SIM_CALL_FAULTS: it does not fail by decision. */
enum sim_call_fault sim_call_fault_find(const char *name);

/* How many errors it has, at least 1; the one at `index` below that, as errno has it. */
uint32_t sim_call_fault_count(enum sim_call_fault call);
int sim_call_fault_error(enum sim_call_fault call, uint32_t index);

/* The argument of the event: SIM_FAULT_CALLS, the call, and which of its errors. */
uint64_t sim_call_fault_argument(enum sim_call_fault call, uint32_t index);

/* Writes "accept() fails with EMFILE" for that argument. False: it is of another fault. */
#define SIM_CALL_FAULT_TEXT_MAX 64u
bool sim_call_fault_text(uint64_t argument, char ret_text[SIM_CALL_FAULT_TEXT_MAX]);
