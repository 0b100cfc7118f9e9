/*
 * dumb_net.h -- a network without an outside: sockets are flags, and the test makes the events.
 *
 * A socket is a number below DUMB_SOCKETS, lowest free first. The answers of its calls are in its
 * struct and are the test's to change; the test also reports the change (dumb_event), so that
 * an edge can be lost, doubled, or false. Each call of the network
 * is counted.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef RT_TESTS_IO_DUMB_NET_H
#define RT_TESTS_IO_DUMB_NET_H

#include "runtime/tests/io/dumb_host.h"

#define DUMB_SOCKETS 32u
#define DUMB_EVENTS 64u
#define DUMB_IO_SOURCES 8u
#define DUMB_BATCH 8u
#define DUMB_NET_SOURCE 63u /* The host's source for "there are events". */

struct dumb_socket {
    bool open;
    bool watched;
    uint64_t token;
    uint32_t waiting;  /* Connections to accept. */
    rt_err refusal;    /* What the next accept says instead; RT_OK: nothing. Taken by it. */
    rt_err start;      /* What a finish says. */
    bool writable;     /* WRITABLE was said: a finish may be asked (N4). */
    uint32_t readable; /* Bytes there. */
    uint32_t at_once;  /* Bytes that one call moves at most; 0: all. */
    bool no_bytes;     /* The next read is RT_OK without a byte. Taken by it. */
    rt_err read_end;   /* What a read says when there are no bytes. */
    uint32_t space;
    rt_err write_end; /* What a write answers when there is no space. */
    bool shut;
    uint32_t accepts;
    uint32_t finishes;
    uint32_t reads;
    uint32_t writes;
};

struct dumb_net {
    struct rt_net seam;
    struct dumb_host *host;
    struct rt_io *io;
    struct dumb_socket sockets[DUMB_SOCKETS];
    struct rt_net_event events[DUMB_EVENTS];
    uint32_t events_count;
    uint32_t fetches;
    uint32_t fetch_nothing; /* So many fetches find nothing, whatever there is (E6). */
    rt_err watch;           /* What the next watch says; taken by it. */
    rt_err start;           /* The same for listen_start and connect_start. */
    struct rt_slab_entry entries[DUMB_IO_SOURCES];
    struct rt_net_event batch[DUMB_BATCH];
};

/* Makes the network, and the runtime of `dumb` again with it. */
void dumb_net_init(struct dumb_net *net, struct dumb_runtime *dumb);

/* Ends both; no socket is open or watched any more. */
void dumb_net_fini(struct dumb_net *net, struct dumb_runtime *dumb);

/* A socket that no call has made: to be registered by hand. */
int dumb_open(struct dumb_net *net);

/* The network has something to say about `socket`, which is watched. */
void dumb_event(struct dumb_net *net, int socket, uint32_t events);

/* One turn of the I/O alone; how many waits it woke. */
uint32_t dumb_turn(struct dumb_net *net);

#endif
