/*
 * machine.c -- the memory of a runtime, cut from one block.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "runtime/host/machine.h"

#include <stdlib.h>

#include "runtime/base/assert.h"

/* The next piece of a block; without one, only its size is counted. */
struct cutter {
    char *block;
    size_t used;
};

#define PIECE_ALIGN 64u

static void *
cut(struct cutter *cutter, size_t count, size_t size)
{
    void *piece = cutter->block != NULL ? cutter->block + cutter->used : NULL;
    cutter->used += (count * size + PIECE_ALIGN - 1) / PIECE_ALIGN * PIECE_ALIGN;
    return piece;
}

static struct rt_reactor_config
cut_reactor(struct cutter *cutter, uint32_t waits)
{
    size_t list = waits + RT_POLLER_EXTRA;
    return (struct rt_reactor_config){
            .poller =
                    {
                            .entries = cut(cutter, waits, sizeof(struct rt_slab_entry)),
                            .list = cut(cutter, list, sizeof(struct rt_pollable *)),
                            .list_keys = cut(cutter, list, sizeof(struct rt_key)),
                            .ready = cut(cutter, list, sizeof(uint32_t)),
                            .capacity = waits,
                    },
            .keys = cut(cutter, waits, sizeof(struct rt_key)),
    };
}

static struct rt_io_config
cut_io(struct cutter *cutter, struct rt_net *net, uint32_t sockets)
{
    if (net == NULL) {
        return (struct rt_io_config){.net = NULL};
    }
    return (struct rt_io_config){
            .net = net,
            .entries = cut(cutter, sockets, sizeof(struct rt_slab_entry)),
            .capacity = sockets,
            .events = cut(cutter, RT_MACHINE_EVENTS, sizeof(struct rt_net_event)),
            .events_max = RT_MACHINE_EVENTS,
    };
}

static uint32_t
or_usual(uint32_t value, uint32_t usual)
{
    return value != 0 ? value : usual;
}

static struct rt_runtime_config
cut_all(struct cutter *cutter, const struct rt_machine_config *config)
{
    uint32_t tasks = or_usual(config->tasks, RT_MACHINE_TASKS);
    size_t slots = RT_TIMERS_SLOTS(RT_TIMERS_LEVELS, RT_TIMERS_BITS);
    return (struct rt_runtime_config){
            .host = config->host,
            .executor = {.entries = cut(cutter, tasks, sizeof(struct rt_slab_entry)),
                    .capacity = tasks,
                    .links = cut(cutter, tasks, sizeof(struct rt_sched_link))},
            .timers = {.slots = cut(cutter, slots, sizeof(struct rt_list *)),
                    .tick_ns = config->tick_ns != 0 ? config->tick_ns : RT_MS},
            .reactor = cut_reactor(cutter, or_usual(config->waits, RT_MACHINE_WAITS)),
            .io = cut_io(cutter, config->net, or_usual(config->sockets, RT_MACHINE_SOCKETS)),
            .task_quota_ns = config->task_quota_ns,
            .deferred = cut(cutter, tasks, sizeof(struct rt_waker)),
            .deferred_capacity = tasks,
    };
}

rt_err
rt_machine_init(struct rt_machine *machine, const struct rt_machine_config *config)
{
    struct cutter cutter = {NULL, 0};
    rt_assert(machine != NULL);
    (void)cut_all(&cutter, config);
    size_t total = cutter.used;
    cutter = (struct cutter){aligned_alloc(PIECE_ALIGN, total), 0};
    if (cutter.block == NULL) {
        return RT_E_FULL;
    }
    struct rt_runtime_config runtime = cut_all(&cutter, config);
    rt_assert(cutter.used == total);
    machine->memory = cutter.block;
    rt_runtime_init(&machine->runtime, &runtime);
    return RT_OK;
}

void
rt_machine_fini(struct rt_machine *machine)
{
    rt_assert(machine != NULL);
    rt_runtime_fini(&machine->runtime);
    free(machine->memory);
}
