/*
 * record.h -- records of what a real host did, and the fake network as what it could have been.
 *
 * A recorder is a network between a runtime and its host's. It keeps each call with its answer:
 * errors, sizes, bytes, events in their order. The same calls are then made on a simulated
 * network, by a loop, and a search over its decisions looks for a run with the same answers. Where
 * there is none, the simulated network cannot do what the machine did, and the test fails.
 *
 *      record.c    a call on either network, and the recorder
 *      possible.c  the simulated network, and the search
 *      epoll_test.c, uring_test.c: the tests of runtime/tests/host, recorded, on either host
 *
 * What differs is left out: numbers of descriptors, and the port that the system gives to a
 * connection.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#pragma once

#include "runtime/io/net.h"

#define RECORD_STEPS 4096u
#define RECORD_SOCKETS 512u
#define RECORD_EVENTS 16u
#define RECORD_PATH 128u

enum record_kind {
    RECORD_LISTEN,
    RECORD_LISTEN_FINISH,
    RECORD_CONNECT,
    RECORD_CONNECT_FINISH,
    RECORD_ACCEPT,
    RECORD_READ,
    RECORD_WRITE,
    RECORD_SHUTDOWN,
    RECORD_LOCAL_LISTEN,
    RECORD_LOCAL_CONNECT,
    RECORD_LOCAL_FORGET,
    RECORD_PIPE,
    RECORD_UDP_BIND,
    RECORD_UDP_CONNECT,
    RECORD_SEND_TO,
    RECORD_RECEIVE_FROM,
    RECORD_CLOSE,
    RECORD_WATCH,
    RECORD_UNWATCH,
    RECORD_FETCH
};

struct record_call {
    enum record_kind kind;
    uint32_t socket;               /* Sockets are numbered as they are made. */
    struct rt_net_address address; /* Port 0: to the peer. */
    const struct rt_net_part *parts;
    uint32_t count; /* Of parts; the backlog; the most events. */
    void *buffer;   /* For bytes that are received … */
    size_t size;    /* … at most this many. */
    uint64_t token; /* Of a watch. */
    const char *path;
};

struct record_answer {
    rt_err err;
    uint32_t made; /* Sockets. */
    size_t size;
    size_t full_size; /* Of a datagram. */
    uint16_t port;    /* It is from; the socket's own. */
    uint64_t hash;    /* Of bytes that were received. */
    uint32_t events_count;
    struct rt_net_event events[RECORD_EVENTS];
};

/* A network, and the numbers that its sockets have there. */
struct record_place {
    struct rt_net *net;
    int sockets[RECORD_SOCKETS];
    uint32_t sockets_count;
};

struct record_step {
    struct record_call call; /* With a copy of parts and path; no buffer. */
    struct record_answer answer;
};

struct record {
    struct record_step steps[RECORD_STEPS];
    uint32_t count;
};

/* Makes the call, and fills *ret. */
void record_call(
        struct record_place *place, const struct record_call *call, struct record_answer *ret);

/* The recorder over `inner`: one at a time. Its record begins empty. */
struct rt_net *record_begin(struct rt_net *inner);

/* The record is ended: fails the test where the simulated network cannot have it. Returns how many
 * calls it has. */
uint32_t record_check(void);

/* possible.c. Whether there is a run of the simulated network with this record. If there is none,
 * *ret_step is the one that no run has got past, and *ret_nearest an answer that it had instead. */
bool record_possible(const struct record *record, uint32_t *ret_step,
        struct record_answer *ret_nearest, uint32_t *ret_runs);
