/*
 * cores.h -- a shard on each core: threads, pinned, each with a host, a runtime and their memory.
 *
 *      rt_cores_init(&cores, &config)      allocates; the hosts exist, nothing runs
 *      rt_cores_start(&cores)              the threads begin: `begin` on each, then its loop
 *      rt_cores_close(&cores)              from anywhere: the shutdown of shard/shard.h
 *      rt_cores_join(&cores)               when all loops have returned; then rt_cores_fini
 *
 * The hosts are over epoll, or over io_uring: `kind`. Their listeners have SO_REUSEPORT where there
 * are several: each core accepts on its own, and the kernel spreads the connections.
 *
 * The executor, the timers, the sockets and the descriptors subscribed to the host of a core belong
 * to its thread, where `begin` and `end` run; `here` of its shard checks it (W4, X1). What other
 * threads may use: rt_cores_close, messages, remote wakers.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef RT_HOST_CORES_H
#define RT_HOST_CORES_H

#include <pthread.h>

#include "runtime/host/epoll.h"
#include "runtime/host/machine.h"
#include "runtime/shard/shard.h"

#ifdef __cplusplus
extern "C" {
#endif

struct rt_cores;

struct rt_core {
    struct rt_shard shard;
    struct rt_linux *host;
    struct rt_machine machine;
    struct rt_cores *cores;
    struct rt_remote_cell *cells;
    uint32_t number;
    int processor;           /* Pinned to it; -1: to none. */
    pthread_t joins;         /* For the thread that started it. */
    pthread_t thread;        /* For itself … */
    RT_ATOMIC(bool) started; /* … while this is true. */
    rt_err result;           /* Of `begin` or the loop. */
    void *data;              /* The caller's. */
};

struct rt_cores_config {
    const struct rt_linux_kind *kind; /* Of the hosts; NULL: rt_epoll_kind. */
    uint32_t count;                   /* 0: one for each processor that this process may use. */
    uint32_t tasks;   /* Of each core; as in struct rt_machine_config, and the next two. */
    uint32_t sockets; /* 0: RT_MACHINE_SOCKETS */
    uint64_t task_quota_ns;
    bool unpinned; /* Leave the choice of processors to the kernel. */
    /* On the core's thread, before its loop: posts the first tasks. An error ends all cores. */
    rt_err (*begin)(struct rt_core *core, void *argument);
    /* On it, after its loop: ends what `begin` has made. NULL: nothing. */
    void (*end)(struct rt_core *core, void *argument);
    void *argument;
};

struct rt_cores {
    struct rt_shards shards;
    struct rt_cores_config config;
    uint32_t count;
    struct rt_core *all;
    uint32_t running;     /* Threads that were started. */
    pthread_mutex_t gate; /* Held while threads are created. */
    bool given_up;        /* Under the gate: not all could be. */
    void *memory;         /* Of the shards: members, pipes, places. */
    struct rt_failure failure;
};

/* How many processors this process may use, at least 1. */
uint32_t rt_processors(void);

/* Allocates and makes all of it. RT_E_FULL, RT_E_NO_DESCRIPTOR, RT_E_SYSTEM: `failure` says more,
 * and nothing is left to end. */
RT_MUST_CHECK rt_err rt_cores_init(struct rt_cores *cores, const struct rt_cores_config *config);

/* Starts the threads, all or none. RT_E_FULL: the system has no thread left. */
RT_MUST_CHECK rt_err rt_cores_start(struct rt_cores *cores);

/* Starts the shutdown. Any thread, and signal handlers; again: no-op. */
void rt_cores_close(struct rt_cores *cores);

/* Waits for all threads. The first error of `begin` or of a loop, by number; `failure` is that
 * core's. */
RT_MUST_CHECK rt_err rt_cores_join(struct rt_cores *cores);

/* Ends and frees all of it; the threads have been joined, or were never started. */
void rt_cores_fini(struct rt_cores *cores);

#ifdef __cplusplus
}
#endif
#endif
