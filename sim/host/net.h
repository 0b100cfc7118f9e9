/*
 * net.h -- a simulated network: machines, listeners, connections, and their faults.
 *
 *      sim_net ──▶ node "server" (10.0.0.1) ── descriptors ──▶ listener :8080
 *              └─▶ node "client" (10.0.0.2) ── descriptors ──▶ connection 1 to :8080
 *
 * Each node implements the seam of runtime/io/net.h, with a table of descriptors on a separate fake
 * host (host/fd.h): numbers lowest first, edges, batches. A connection has two ends, and each end
 * is a source: what is sent to it (bytes, the end, a reset) arrives after a latency, in a separate
 * step. README.md lists the freedoms and the faults.
 *
 * A runtime is given its node by sim_rt_options.net (bind/runtime.h).
 *
 * Ownership. Everything lives in the arena, for the run.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#pragma once

#include "runtime/io/net.h"
#include "sim/host/host.h"

#ifdef __cplusplus
extern "C" {
#endif

struct sim_net;
struct sim_node;

struct sim_net_options {
    uint64_t latency_ns_min; /* One way. Both 0: 100 us to 2 ms. */
    uint64_t latency_ns_max;
    uint32_t capacity; /* Bytes that one direction holds, with those in flight; 0: 4096. */
    uint64_t retry_ns; /* After which a request to connect is sent again; 0: 10 ms … */
    uint32_t tries;    /* … at most this often, before it times out; 0: 5. */
};

/* Makes a network; `options` NULL: all defaults. */
struct sim_net *sim_net_new(struct sim_world *world, const struct sim_net_options *options);

/* Makes a machine whose sockets are waited for in `host`; `name` is borrowed. */
struct sim_node *sim_node_new(struct sim_net *net, struct sim_host *host, const char *name);

/* At most `count` sockets may be open on it at a time (EMFILE); by default 1024. */
void sim_node_limit(struct sim_node *node, uint32_t count);

/* Cuts it off for the next `ns`, or longer where it is already: what connections send from or to
 * it arrives afterwards; requests to connect, and datagrams, are lost. What is under way arrives.
 * Fault `partition` does so by a decision, for 1 ms to 10 s. */
void sim_node_isolate(struct sim_node *node, uint64_t ns);

/* Its seam, for a runtime, and its address with `port`: 10.0.0.n for the n-th node. */
struct rt_net *sim_node_seam(struct sim_node *node);
struct rt_net_address sim_node_address(const struct sim_node *node, uint16_t port);

#ifdef __cplusplus
}
#endif
