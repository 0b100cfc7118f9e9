/*
 * loop.h -- an event loop as an actor.
 *
 * rt_block_on, a user's event loop, a test's main: code that calls into the host
 * and expects to block there. It runs on a fiber, and switches to the world
 * whenever it blocks (in the host's poll or in sim_loop_pause), so one world may
 * drive several loops.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#pragma once

#include "sim/core/actor.h"
#include "sim/core/scenario.h"

#ifdef __cplusplus
extern "C" {
#endif

struct sim_loop;

/* Makes a loop that runs fn(world, argument) on a separate fiber, from its first step on. The run
 * is not over before it has returned. `name` is borrowed. */
struct sim_loop *sim_loop_new(struct sim_world *world, const char *name,
        void (*fn)(struct sim_world *world, void *argument), void *argument);

/* As sim_loop_new, but the run does not wait for it. */
struct sim_loop *sim_loop_new_background(struct sim_world *world, const char *name,
        void (*fn)(struct sim_world *world, void *argument), void *argument);

/* The loop whose fiber is running, or NULL: the world's stack. */
struct sim_loop *sim_loop_current(struct sim_world *world);

/* A step ends here and another one begins when this loop is picked again: others may run between.
 * On the world's stack: no-op. */
void sim_loop_pause(struct sim_world *world);

/*
 * The calling loop is about to call the host. By a decision (SWITCH) its step ends here, as with
 * sim_loop_pause: others run before the call takes effect, as with two threads. Never before more
 * than four calls in a row.
 *
 * No-op on the world's stack (setup, a replay of the judge, a closer), on a guest's stack, and
 * while a task is polled whose polls are one step (sim_actor_ops.undivided).
 *
 * `call` is the name of the function, for reports: "read".
 */
void sim_loop_switch(struct sim_world *world, const char *call);

/* As sim_loop_pause, but it is enabled again only by sim_loop_wake. `object` and `reason` are what
 * it waits for, for reports. On the world's stack this ends the run with verdict contract: only a
 * loop can block. */
void sim_loop_block(
        struct sim_world *world, uint32_t object, const char *reason, const struct rt_site *await);
void sim_loop_wake(struct sim_loop *loop);

/* As sim_loop_block, by the host that the loop waits in. `reports`: how many of the things that it
 * asked its host for may be reported spuriously. */
void sim_loop_block_in_host(struct sim_world *world, uint32_t object, const char *reason,
        const struct rt_site *await, uint32_t reports);

/* For the caller of sim_loop_block: the last one was interrupted by the oracle. The call in which
 * the loop blocked must return, and report nothing. */
bool sim_loop_was_interrupted(const struct sim_loop *loop);

/* … and what the host has to report spuriously then: the n-th thing, from 1 on. 0: nothing
 * at all, as after EINTR. */
uint32_t sim_loop_spurious_report(const struct sim_loop *loop);

struct sim_actor *sim_loop_actor(struct sim_loop *loop);

/* The loop that `actor` is. */
struct sim_loop *sim_loop_of(struct sim_actor *actor);

/* The test's own clock (S4's mock time): pauses the calling loop for `ns` of virtual time while the
 * rest of the world continues. */
void sim_sleep(struct sim_world *world, uint64_t ns);

#ifdef __cplusplus
}
#endif
