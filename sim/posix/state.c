/*
 * state.c -- finding and making the state of a run.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "sim/posix/state.h"

#include "runtime/base/assert.h"

static const struct sim_binding_ops ops;

static struct sim__posix *
make(struct sim_world *world)
{
    struct sim__posix *state = sim_new(world, struct sim__posix);
    state->world = world;
    state->umask = 022;
    rt_list_init(&state->inodes);
    rt_list_init(&state->threads);
    rt_list_init(&state->pending);
    rt_list_init(&state->signalfds);
    rt_list_init(&state->semaphores);
    rt_list_init(&state->streams);
    for (size_t i = 0; i < RLIM_NLIMITS; i++) {
        state->limits[i] = (struct rlimit){RLIM_INFINITY, RLIM_INFINITY};
    }
    state->limits[RLIMIT_NOFILE] = (struct rlimit){SIM__POSIX_NUMBERS, SIM__POSIX_NUMBERS};
    state->limits[RLIMIT_STACK].rlim_cur = SIM_THREAD_STACK;
    sim_world_bind(world, &state->binding, &ops, state, "posix");
    return state;
}

struct sim__posix *
sim__posix_state_made(void)
{
    struct sim_world *world = sim_world_current;
    rt_assert(world != NULL);
    struct sim_binding *binding = world->bindings;
    while (binding != NULL && binding->ops != &ops) {
        binding = binding->next;
    }
    return binding != NULL ? binding->argument : NULL;
}

struct sim__posix *
sim__posix_state(void)
{
    struct sim__posix *state = sim__posix_state_made();
    return state != NULL ? state : make(sim_world_current);
}
