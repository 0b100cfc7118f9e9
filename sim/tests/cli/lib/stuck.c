/*
 * stuck.c -- two threads that block in a function of a function.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "sim/rewake.h"
#include "sim/thread/thread.h"

static int gate;

/* What follows the call keeps it from being the last one, which would be a jump. */
#define CALL(call) \
    do { \
        call; \
        __asm__ volatile(""); \
    } while (0)

__attribute__((noinline)) static void
inner(struct sim_world *world)
{
    struct sim_thread_wait wait = {
            .sync = sim_sync_at(world, &gate, SIM_SYNC_BARRIER), .due_ns = SIM_NEVER};
    CALL((void)sim_thread_block(&wait));
}

__attribute__((noinline)) static void
outer(struct sim_world *world)
{
    CALL(inner(world));
}

static void *
thread_main(void *argument)
{
    CALL(outer(argument));
    return argument;
}

static void
setup(struct sim_world *world)
{
    for (int i = 0; i < 2; i++) {
        const struct sim_thread_start start = {.fn = thread_main, .argument = world};
        (void)sim_thread_spawn(world, &start);
    }
}

SIM_SCENARIO(scenario, .name = "stuck/two", .about = "Two threads wait.", .setup = setup);
