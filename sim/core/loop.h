/*
 * loop.h -- code that wants to be the loop, as an actor.
 *
 * rt_block_on, an event loop of the reader's own, a test's main: code that calls
 * into the host and expects to be blocked there. It runs on a fiber, and gives
 * way to the world whenever it blocks (in the host's poll or in
 * sim_loop_pause), so the world stays the driver and may hold several loops.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SIM_CORE_LOOP_H
#define SIM_CORE_LOOP_H

#include "sim/core/actor.h"
#include "sim/core/scenario.h"

#ifdef __cplusplus
extern "C" {
#endif

struct sim_loop;

/* Makes a loop that runs fn(world, argument) on a fiber of its own, from its first step on. The run
 * is not over before it has returned. `name` is borrowed. */
struct sim_loop *sim_loop_new(struct sim_world *world, const char *name,
        void (*fn)(struct sim_world *world, void *argument), void *argument);

/* As sim_loop_new; nobody waits for it. */
struct sim_loop *sim_loop_new_background(struct sim_world *world, const char *name,
        void (*fn)(struct sim_world *world, void *argument), void *argument);

/* The loop on whose fiber we are, or NULL: the world's own stack. */
struct sim_loop *sim_loop_current(struct sim_world *world);

/* A step ends here and another one begins when this loop is picked again: others may run between.
 * On the world's own stack: no-op. */
void sim_loop_pause(struct sim_world *world);

/*
 * The calling loop is about to call the host. By a decision (SWITCH) its step ends here, as with
 * sim_loop_pause: others run between what it did last and the call, as between two threads. Never
 * more than four calls in a row.
 *
 * No-op on the world's own stack (setup, a question of the judge, a closer), on a guest's stack,
 * and while a task is polled whose polls are one step (sim_actor_ops.undivided).
 *
 * `call` is the name of what is called, for people: "read".
 */
void sim_loop_switch(struct sim_world *world, const char *call);

/* As sim_loop_pause, but it is enabled again only by sim_loop_wake. `object` and `reason` are what
 * it waits for, for people. On the world's own stack this ends the run with verdict contract: only
 * a loop can block. */
void sim_loop_block(
        struct sim_world *world, uint32_t object, const char *reason, const struct rt_site *await);
void sim_loop_wake(struct sim_loop *loop);

/* As sim_loop_block, by the host that the loop waits in. `reports`: so many of the things that it
 * asked its host for may be reported for nothing, as a host may at any time. */
void sim_loop_block_in_host(struct sim_world *world, uint32_t object, const char *reason,
        const struct rt_site *await, uint32_t reports);

/* For who blocks on a loop's behalf: its last sim_loop_block ended for nothing, by a question that
 * was put to it. What it blocked in is to come back, and to say that nothing came. */
bool sim_loop_was_interrupted(const struct sim_loop *loop);

/* … and what the host is to report for nothing then: the n-th of what may be, from 1 on. 0: nothing
 * at all, as after EINTR. */
uint32_t sim_loop_report_for_nothing(const struct sim_loop *loop);

struct sim_actor *sim_loop_actor(struct sim_loop *loop);

/* The test's own clock (S4's mock time): pauses the calling loop for `ns` of virtual time while the
 * rest of the world goes on. */
void sim_sleep(struct sim_world *world, uint64_t ns);

#ifdef __cplusplus
}
#endif
#endif
