/*
 * call_stack.h -- the call stack of a run at one point, as addresses of code.
 *
 * A process that runs scenarios takes it where a rule is broken or a signal arrives; nothing is
 * allocated there. The process that started it, which has the same modules at the same addresses,
 * makes functions and lines of it later (sim/core/code/frames.h). No address reaches a decision,
 * a trace or a digest.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define SIM_STACK_FRAMES 20u

/* Plain data: copied between processes as it is. */
struct sim_stack {
    uint32_t count;                 /* 0: not taken. */
    bool returns;                   /* pc[0] too is a return address, as all others are. */
    bool function;                  /* pc[0] is the entry of a function, and means all of it. */
    uintptr_t pc[SIM_STACK_FRAMES]; /* Innermost first. */
};

/* Loads the unwinder, which takes memory. Before that sim_stack_take takes nothing. */
void sim_stack_prepare(void);

/* The stack of the caller. Callable inside a run; it allocates nothing. */
void sim_stack_take(struct sim_stack *ret_stack);

/* The one function that begins at `pc`; 0: none. */
void sim_stack_of(struct sim_stack *ret_stack, uintptr_t pc);

#ifdef __cplusplus
}
#endif
