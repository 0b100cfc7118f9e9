/*
 * rewake.h -- the API for scenarios, in one include.
 *
 *      runtime/runtime.h    tasks, wakers, slots, timers, pollables, streams, TCP; join, race,
 *                           select, groups, timeouts
 *      runtime/sync/        channel, semaphore, mutex, oneshot, notify, broadcast
 *      runtime/fiber/       call.h, reply.h: guests on separate stacks, and what they wait for
 *      runtime/io/          op.h, ring.h: operations that a completion host does itself
 *      runtime/shard/       shards, messages, blocking work (C only, through sim/bind/shard.h)
 *      runtime/tick/        activities, events, tick timers (through sim/bind/ticker.h)
 *      runtime/compose/callback.h, runtime/task/atomic_waker.h, runtime/sched/
 *                           callbacks; a waker that others may fire; policies
 *
 *      sim/core/scenario.h  SIM_SCENARIO, sim_new, sim_free, sim_pick, sim_range, SIM_ALWAYS
 *      sim/bind/runtime.h   sim_rt_new, sim_spawn: a runtime in the world; sim_slot_name
 *      sim/bind/foreign.h   sim_foreign_new: another runtime, on a loop, which reports its wakes
 *      sim/bind/shard.h     sim_shard_group_new: shards, each an actor (C only)
 *      sim/bind/ticker.h    sim_ticker_new: a game that ticks
 *      sim/bind/guest.h     sim_engine_new: guests on fibers
 *      sim/bind/worker.h    sim_blocking_pool_new: a thread for blocking work
 *      sim/host/            host.h: sources, streams, requests; fd.h: descriptors; sys.h: system
 *                           calls on them (epoll, pipe, timerfd); completion.h: sim_ring_new
 *      sim/host/net.h       sim_net_new: a network between runtimes
 *      sim/core/            loop.h: sim_loop_new, an event loop; mock.h: time moved by the test;
 *                           cell.h: sim_cell_get, sim_cell_set, numbers with recorded accesses
 *
 * Headers that none of these includes, and files named priv or internal, are not public.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#pragma once

#include "runtime/compose/callback.h"
#include "runtime/fiber/call.h"
#include "runtime/fiber/reply.h"
#include "runtime/io/ring.h"
#include "runtime/runtime.h"
#include "runtime/sched/fair.h"
#include "runtime/sched/ranked.h"
#include "runtime/sync/broadcast.h"
#include "runtime/sync/channel.h"
#include "runtime/sync/mutex.h"
#include "runtime/sync/notify.h"
#include "runtime/sync/oneshot.h"
#include "runtime/sync/semaphore.h"
#include "runtime/task/atomic_waker.h"
#include "sim/bind/foreign.h"
#include "sim/bind/guest.h"
#include "sim/bind/runtime.h"
#include "sim/bind/shard.h"
#include "sim/bind/ticker.h"
#include "sim/bind/worker.h"
#include "sim/core/cell.h"
#include "sim/core/loop.h"
#include "sim/core/mock.h"
#include "sim/core/scenario.h"
#include "sim/host/completion.h"
#include "sim/host/fd.h"
#include "sim/host/host.h"
#include "sim/host/net.h"
#include "sim/host/sys.h"

#ifdef __cplusplus
extern "C" {
#endif

/*
 * What a shared library of scenarios exports: defined by every file that includes this one, kept
 * once by the linker. In the program itself it is not used.
 */
extern const struct sim_library rewake_library __attribute__((weak, visibility("default")));
const struct sim_library rewake_library = {SIM_LIBRARY_VERSION, sizeof(struct sim_scenario),
        __start_rewake_scenarios, __stop_rewake_scenarios, __start_rt_sites, __stop_rt_sites};

#ifdef __cplusplus
}
#endif
