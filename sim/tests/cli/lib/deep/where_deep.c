/*
 * where_deep.c -- the second file of where.c, in which things go wrong.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <assert.h>
#include <string.h>

#include "where.h"

struct where_target *volatile where_nothing;
struct rt_task *where_running;

static __attribute__((noinline)) void
write_it(struct where_target *target)
{
    target->value = 1;
    __asm__ volatile("");
}

__attribute__((noinline)) void
where_write(struct where_target *target)
{
    write_it(target);
    __asm__ volatile("");
}

__attribute__((noinline)) void
where_call(struct where_target *target)
{
    void (*function)(void) = NULL;
    memcpy(&function, &target, sizeof(function));
    function();
    __asm__ volatile("");
}

__attribute__((noinline)) void
where_assert(int good)
{
    assert(good == 1);
    __asm__ volatile("");
}

__attribute__((noinline)) void
where_end(struct rt_task *task)
{
    rt_task_fini(task);
    __asm__ volatile("");
}
