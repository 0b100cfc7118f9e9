/*
 * call_stack.c -- taking a call stack.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "sim/core/code/call_stack.h"

#include <execinfo.h>
#include <stddef.h>

/* Of the process. */
static bool prepared;

void
sim_stack_prepare(void)
{
    void *here = NULL;
    (void)backtrace(&here, 1);
    prepared = true;
}

void
sim_stack_take(struct sim_stack *ret_stack)
{
    void *frames[SIM_STACK_FRAMES];
    int count = prepared ? backtrace(frames, (int)SIM_STACK_FRAMES) : 0;
    ret_stack->count = 0;
    ret_stack->returns = true;
    ret_stack->function = false;
    for (int i = 0; i < count; i++) {
        ret_stack->pc[ret_stack->count++] = (uintptr_t)frames[i];
    }
}

void
sim_stack_of(struct sim_stack *ret_stack, uintptr_t pc)
{
    ret_stack->count = pc != 0 ? 1 : 0;
    ret_stack->returns = false;
    ret_stack->function = true;
    ret_stack->pc[0] = pc;
}
