/*
 * runtime.h -- our own runtime in the simulated world.
 *
 * sim_rt_new makes an rt_runtime (executor, timers, reactor) with a fake host in the
 * arena, and actors for its parts:
 *
 *   - each task is an actor, enabled while it is woken;
 *   - the loop (timers that are due, pollables that are ready) is one more, enabled while a turn
 *     would do something.
 *
 * So the world is the loop, and no fiber is needed. Under order `any` each woken task is one
 * alternative; under the other orders the executor is one actor, and its policy picks.
 *
 * `by_loop`: the scenario drives the runtime itself, with rt_block_on or rt_run_until_stalled
 * inside a sim_loop (core/loop.h). Tasks are then polled in that loop's steps; its picks are still
 * decisions, and other actors may run between any two polls.
 *
 * This folder is also compiled with each patched copy of the runtime (scenarios/zoo), so that a
 * bug in a copy is driven by code compiled with it; nothing else under sim/ calls the runtime.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#pragma once

#include "runtime/runtime.h"
#include "sim/core/actor.h"
#include "sim/core/scenario.h"
#include "sim/host/host.h"
#include "sim/host/net.h"

#ifdef __cplusplus
extern "C" {
#endif

struct sim_rt_options {
    const char *name;       /* NULL: "rt". */
    uint32_t capacity;      /* Tasks, sub-wakers and pollables; 0: 64. */
    enum sim_order order;   /* DEFAULT: the run's. */
    struct rt_sched *sched; /* A policy that picks in place of `order`; NULL: none. Borrowed. */
    bool by_loop;
    uint64_t tick_ns;      /* Of the timers; 0: 1. */
    uint32_t timer_levels; /* 0: the wheel's default … */
    uint32_t timer_bits;
    /* Called with a new earliest deadline (rt_timers_config); NULL: not. */
    void (*on_earliest)(void *argument, uint64_t deadline_ns);
    void *on_earliest_argument;
    uint32_t event_interval;
    enum rt_self_wake self_wake;
    struct sim_net *net; /* The runtime gets a node of it, with its name; NULL: none. */
    /* RT_TASK_QUOTA_NS, say: rt_need_preempt returns true after this much virtual time, as charged
     * by sim_work. A poll that takes more than that without a call of rt_need_preempt, or after it
     * returned true, ends the run with verdict over-budget. 0: no quota, it returns false. */
    uint64_t task_quota_ns;
    uint32_t budget; /* Units of a poll, RT_BUDGET usually; 0: no limit. */
};

struct sim_rt;

/* Makes a runtime and its fake host; `options` NULL: all defaults. Never NULL. */
struct sim_rt *sim_rt_new(struct sim_world *world, const struct sim_rt_options *options);

/* Its parts, for the calls of runtime/. */
struct rt_runtime *sim_rt_runtime(struct sim_rt *rt);
struct rt_executor *sim_rt_executor(struct sim_rt *rt);
struct sim_host *sim_rt_host(struct sim_rt *rt);
struct sim_node *sim_rt_node(struct sim_rt *rt);

/* For the calls of runtime/io: where its sockets are registered. */
struct rt_io *sim_rt_io(struct sim_rt *rt);

/* Spawns `task` (initialised; pinned). An error of rt_post ends the run with verdict contract. */
#define sim_spawn(rt, task) sim_spawn_at((rt), (task), RT_HERE)
void sim_spawn_at(struct sim_rt *rt, struct rt_task *task, const struct rt_site *await);

/* As sim_spawn, but the run does not wait for this task: it is cancelled when all others are done.
 */
#define sim_spawn_background(rt, task) sim_spawn_background_at((rt), (task), RT_HERE)
void sim_spawn_background_at(struct sim_rt *rt, struct rt_task *task, const struct rt_site *await);

/*
 * Names a slot, in the ledger, in columns and in messages, from its first store on; without it, a
 * slot is named by the reason of that store. After rt_slot_init; `name` is borrowed for the run.
 * The slot of a primitive (a channel, a timer) is that object: this names the object.
 */
void sim_slot_name(struct sim_world *world, const struct rt_slot *slot, const char *name);

/* Names a `target` that is not a task: a combinator of the scenario, or one of its children. Before
 * the first of its wakers is stored. */
void sim_target_name(struct sim_world *world, struct rt_target *target, const char *name);

#ifdef __cplusplus
}
#endif
