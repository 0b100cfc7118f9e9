/*
 * bind_priv.h -- what the files of this folder share.
 *
 * Everything here is hidden in a patched copy of the runtime, as the runtime itself is.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#pragma once

#include "sim/bind/runtime.h"
#include "sim/core/world.h"

/* A spawned task and its actor. */
struct sim_bound {
    struct sim_actor actor;
    struct sim_rt *rt;
    struct rt_task *task; /* Its memory may be gone once the key is stale. */
    struct rt_key key;
    uint32_t object;        /* The task's number: another task at this address has another. */
    struct rt_list parked;  /* In the runtime's list while the task is parked. */
    bool runnable;          /* In the policy, … */
    uint64_t runnable_step; /* … since this step of the world, … */
    uint64_t runnable_pops; /* … and this value of the runtime's `pops`. */
};

struct sim_rt {
    struct sim_world *world;
    const char *name;
    struct rt_runtime runtime;
    struct sim_host *host;
    struct sim_node *node; /* NULL: no network. */
    uint32_t capacity;
    bool by_loop;
    enum sim_order order;
    struct sim_bound **bound; /* By index in the executor's slab. */
    uint32_t bound_count;
    uint64_t quota_ns; /* Of one poll; RT_NEVER: no limit. */
    uint64_t ended;    /* Ends of tasks that were seen, … */
    uint64_t parks;    /* … and parks. */
    struct rt_list parked;
    struct sim_actor loop;
    struct sim_binding binding;
    const struct sim_actor *driver; /* The loop that polled last, where one does. */
    struct sim_bound *late;      /* Polled last before the loop blocked; its fault is deferred. */
    struct sim_bound *migrating; /* Its task gets a new key now. */

    /* pick.c */
    struct rt_sched sched;
    struct sim_actor *executor; /* Where the runtime picks and the world drives. */
    struct sim_bound *last;     /* Polled last through pop. */
    struct rt_sched *inner;     /* One of the runtime's; NULL: every pick is a decision. */
    uint16_t *runnable;         /* Under `any` by a loop: indices, longest woken first. */
    uint32_t runnable_count;
    uint64_t pops;        /* Tasks polled so far. */
    uint64_t useful_step; /* Since when a turn would be useful; 0: it would not. */
    uint64_t useful_pops; /* `pops` then. */
};

/* An array of `type` in the arena, for as many entries as the runtime has. */
#define sim__array(rt, type) ((type *)sim_alloc((rt)->world, (rt)->capacity * sizeof(type)))

/* Whether the task of `bound` has left the executor. Its memory may be gone. */
static inline bool
sim__has_left(const struct sim_bound *bound)
{
    const struct rt_slab_entry *entry =
            &bound->rt->runtime.executor.targets.entries[bound->key.index];
    return !entry->taken || entry->generation != bound->key.generation;
}

/* runtime.c */
struct sim_bound *sim__bind(struct sim_rt *rt, uint32_t index); /* A new actor for a new task. */
void sim__after_poll(struct sim_bound *bound);
void sim__reap(struct sim_rt *rt);    /* Ends the actors of tasks that ended in others' steps. */
void sim__refresh(struct sim_rt *rt); /* The loop's due time. */
void sim__enable_useful(
        void *argument); /* Enables the loop if a turn is useful; argument: the rt. */

/* pick.c */
void sim__pick_init(struct sim_rt *rt);
void sim__after_step(void *argument); /* After any actor's step; argument: the rt. */

/* spurious_poll.c: the oracle's operations on a task. */
enum sim_spurious_poll sim__task_spurious_poll(struct sim_actor *actor);
uint32_t sim__task_waiting(const struct sim_actor *actor, struct sim_waiting *ret, uint32_t max);
void sim__task_fire_derived(struct sim_actor *actor);

/* perturb.c: freedoms and faults around a poll. */
void sim__perturb_task(struct sim_bound *bound);
void sim__perturb_late(void *argument); /* After a loop's turn; argument: the rt. */
void sim__disturb_parked(struct sim_bound *bound);
bool sim__cancelled_instead(struct sim_bound *bound);

bool sim__may_cancel(const struct sim_world *world); /* Whether that fault may strike. */
void sim__cancel(struct sim_bound *bound); /* The fault: cancels the task and ends its actor. */

/* reentrancy.c: faults inside a wake or a cleanup. */
void sim__reenter(void *argument); /* Argument: the rt. */

/* close.c: leaks and balances. */
void sim__close(void *argument);
uint64_t sim__lost(void *argument); /* Clones that no memory holds; argument: the rt. */

/* freed.c, foreign.c: memory that a scenario frees. */

/* A waker whose slot was freed. */
struct sim__lost_waker {
    uint32_t object; /* The slot, … */
    uint32_t whose;
    const char *reason; /* … NULL: none. */
    const char *task;   /* The task that stored it; NULL: not known. */
    const struct rt_site *stored;
    const struct rt_site *freed;
};

/* Writes the event, and ends the run with verdict leak. */
__attribute__((noreturn)) void sim__fail_freed(
        struct sim_world *world, const struct sim__lost_waker *lost);

/* foreign.c: fails where a slot in this memory holds a waker; else its slots are dead. */
void sim__foreign_freed(
        struct sim_world *world, const char *memory, size_t size, const struct rt_site *line);
