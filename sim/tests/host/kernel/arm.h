/*
 * arm.h -- one program, run by the kernel and by the fake host.
 *
 * A program is a list of calls. It runs once natively, and its results are a record, a line each:
 * sizes, errors, readiness reports in their order. Then the fake host runs it, and a search over
 * its decisions looks for a run with the same record. Where there is none, the fake host cannot do
 * what the kernel did, and the test fails.
 *
 *      arm.c      records, the search, programs as text
 *      native.c   the kernel         fake.c   the fake host
 *
 * Descriptors are numbered from 0 on, the lowest free one next, in both worlds. All are
 * non-blocking, and nothing leaves the process.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define KERNEL_BASE 400 /* The number of descriptor 0. */
#define KERNEL_NUMBERS 24
#define KERNEL_EVENTS 16
#define KERNEL_BYTES 100000u /* That a call moves at most. */

/* X(name, parameters as they are printed). `fd` and `epoll` are descriptors. */
#define KERNEL_CALLS(X) \
    X(EPOLL, "") \
    X(PIPE, "") \
    X(STREAM, "") \
    X(DGRAM, "") \
    X(EVENT, "count, semaphore") \
    X(TIMER, "") \
    X(SET, "fd, first_ms, interval_ms") \
    X(ADD, "epoll, fd, events") \
    X(MODIFY, "epoll, fd, events") \
    X(REMOVE, "epoll, fd") \
    X(WAIT, "epoll, max, timeout_ms") \
    X(POLL, "fd, events") \
    X(READ, "fd, size") \
    X(PEEK, "fd, size") \
    X(WRITE, "fd, size") \
    X(POST, "fd, value") \
    X(SHUTDOWN, "fd, how") \
    X(DUP, "fd") \
    X(DUP_TO, "fd, to") \
    X(CLOSE, "fd") \
    X(ERROR, "fd") \
    X(READABLE, "fd") \
    X(SLEEP, "ms") \
    X(FILL, "fd, size: writes until that fails") \
    X(DRAIN, "fd: reads until that fails") \
    X(SOCKET, "kind: enum kernel_socket") \
    X(BIND, "fd, address") \
    X(LISTEN, "fd, backlog") \
    X(CONNECT, "fd, address") \
    X(ACCEPT, "fd") \
    X(ACCEPT_FULL, "fd: while no number is free") \
    X(SEND_TO, "fd, address, size") \
    X(SETTLE, "what is on its way arrives")

enum kernel_call {
#define KERNEL_ENUM(name, parameters) KERNEL_##name,
    KERNEL_CALLS(KERNEL_ENUM)
#undef KERNEL_ENUM
            KERNEL_CALLS_COUNT
};

enum kernel_socket { KERNEL_TCP, KERNEL_UDP, KERNEL_UNIX, KERNEL_UNIX_DGRAM };

/* Addresses have numbers: of each kind of socket its own. An internet socket that is bound to one
 * gets a port of the system's choice, which the number stands for from then on. */
#define KERNEL_ADDRESSES 4

#ifdef AF_UNIX
/* The address `number` for a socket of `kind`, at *ret; returns its size. `port`: of internet
 * sockets, in network order. */
socklen_t kernel_address(
        enum kernel_socket kind, int number, in_port_t port, struct sockaddr_storage *ret);

int kernel_domain(enum kernel_socket kind);
int kernel_type(enum kernel_socket kind);
#endif

struct kernel_step {
    enum kernel_call call;
    int64_t a;
    int64_t b;
    uint64_t c;
};

struct kernel_result {
    int64_t value;   /* As the system call's; a negative errno. */
    uint64_t number; /* What was read from an eventfd or timerfd; else a hash of the bytes. */
    uint32_t events_count;
    struct {
        int fd;
        uint32_t events;
    } events[KERNEL_EVENTS];
};

/* A world: does `step`, and fills *ret, which is zero. */
typedef void (*kernel_do)(const struct kernel_step *step, struct kernel_result *ret);

void kernel_native(const struct kernel_step *step, struct kernel_result *ret);
void kernel_native_begin(void);
void kernel_native_end(void);

/* The bytes of a write: each differs from the one before. */
const char *kernel_bytes(size_t size);
/* A hash of bytes that were read. */
uint64_t kernel_hash(const char *bytes, size_t size);

/* Whether the fake host can do what the kernel did; *ret_runs: in how many runs that was found. */
bool kernel_same(const struct kernel_step *steps, size_t count, uint32_t *ret_runs);

/* The same, and fails the test where it cannot: the message has the steps that are necessary for
 * that, with the kernel's results. */
void kernel_check(const struct kernel_step *steps, size_t count, const char *name);

/* fake.c: the fake host runs the steps; after each, `seen` gets its result, and the run ends where
 * that returns false. The next decisions are those of kernel_choose. */
void kernel_fake(const struct kernel_step *steps, size_t count,
        int (*seen)(size_t index, const struct kernel_result *result));
uint32_t kernel_choose(uint32_t n);
