/*
 * freed.c -- what is said of memory that was used after it was freed.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <stdio.h>
#include <string.h>

#include "runtime/base/assert.h"
#include "sim/core/code/call_stack.h"
#include "sim/core/memory/malloc.h"
#include "sim/core/scenario.h"
#include "sim/thread/thread.h"

#define WHERE_MAX (SIM_MESSAGE_MAX / 2)

/* " at FILE:LINE", or nothing. */
static void
put_where(uintptr_t freed, char ret[WHERE_MAX])
{
    const struct rt_site *site = sim_thread_site((const void *)freed);
    ret[0] = '\0';
    if (site != NULL && site->line != 0) {
        const char *slash = strrchr(site->file, '/');
        (void)snprintf(
                ret, WHERE_MAX, " at %s:%u", slash != NULL ? slash + 1 : site->file, site->line);
    }
}

__attribute__((noreturn, cold)) static void
refuse(const char *what, uintptr_t freed)
{
    struct sim_world *world = sim_thread_now->actor.world;
    char where[WHERE_MAX];
    put_where(freed, where);
    sim_stack_take(&world->outcome.stack);
    sim_fail(world, SIM_VERDICT_USE_AFTER_FREE, SIM_ORACLE_MEMORY, world->current, 0,
            "%s is used in memory that was freed%s", what, where);
}

void
sim_thread_check_freed(const volatile void *address, const char *what)
{
    rt_assert(what != NULL);
    uintptr_t freed = sim_malloc_freed(address);
    if (freed != 0) {
        refuse(what, freed);
    }
}

void
sim_thread_put_written(char ret[SIM_MESSAGE_MAX])
{
    struct sim_written written;
    char where[WHERE_MAX];
    ret[0] = '\0';
    if (sim_malloc_written(&written)) {
        put_where(written.freed, where);
        (void)snprintf(ret, SIM_MESSAGE_MAX,
                "; before that, a block of %u bytes that was freed%s was written at offset %zu",
                written.size, where, written.at);
    }
}
