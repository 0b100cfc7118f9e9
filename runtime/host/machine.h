/*
 * machine.h -- a runtime with all the memory that it borrows, over a real host.
 *
 *      struct rt_epoll epoll;                   the host, or another one
 *      struct rt_machine machine;
 *      rt_epoll_init(&epoll, NULL);
 *      rt_machine_init(&machine, &(struct rt_machine_config){&epoll.base.host, &epoll.base.net});
 *      rt_block_on(&machine.runtime, &task);
 *
 * Ownership. rt_machine_init allocates one block, rt_machine_fini frees it; memory that no task or
 * socket has used yet costs address space only. Host and network are borrowed.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef RT_HOST_MACHINE_H
#define RT_HOST_MACHINE_H

#include "runtime/runtime.h"

#ifdef __cplusplus
extern "C" {
#endif

#define RT_MACHINE_TASKS 1024u
#define RT_MACHINE_SOCKETS 1024u
#define RT_MACHINE_WAITS 64u
#define RT_MACHINE_EVENTS 256u

struct rt_machine_config {
    struct rt_host *host;
    struct rt_net *net;     /* NULL: no network, whatever `sockets` says. */
    uint32_t tasks;         /* Posted at a time; 0: RT_MACHINE_TASKS. */
    uint32_t sockets;       /* Registered at a time; 0: RT_MACHINE_SOCKETS. */
    uint32_t waits;         /* For pollables, at a time; 0: RT_MACHINE_WAITS. */
    uint64_t tick_ns;       /* Of the timers; 0: 1 ms. */
    uint64_t task_quota_ns; /* As in struct rt_runtime_config. */
};

struct rt_machine {
    struct rt_runtime runtime;
    void *memory;
};

/* Makes one; `config` is copied. RT_E_FULL: there is no memory, and nothing to end. */
RT_MUST_CHECK rt_err rt_machine_init(
        struct rt_machine *machine, const struct rt_machine_config *config);

/* Ends it; faults as rt_runtime_fini. */
void rt_machine_fini(struct rt_machine *machine);

#ifdef __cplusplus
}
#endif
#endif
