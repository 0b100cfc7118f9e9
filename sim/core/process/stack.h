/*
 * stack.h -- stacks for the loops and guests of a run.
 *
 * Mapped once with a guard page each, kept by the process, and taken back when the
 * run is over: whatever stood on them is forgotten, as all memory of a run is.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SIM_CORE_PROCESS_STACK_H
#define SIM_CORE_PROCESS_STACK_H

#include <stdbool.h>

#include "runtime/fiber/stack.h"

#ifdef __cplusplus
extern "C" {
#endif

struct sim_world;

/* The provider of the run in progress, for an engine (fiber/store.h). More than 1,024 stacks at a
 * time: RT_E_FULL. */
struct rt_stack_provider *sim_stacks(struct sim_world *world);

/* True when `address` lies in the guard page of a stack: an overflow. Callable by a signal's
 * handler. */
bool sim_stack_guard(const void *address);

/* Takes all stacks back: the run is over. */
void sim__stacks_drop(void);

/*
 * What stands on the stacks that are given out, copied and put back: for a run that is kept in its
 * middle (memory/checkpoint.h). Of each stack the used end is copied, from where its context stands
 * on; none of them may be running.
 *
 * The size is SIZE_MAX where it is not known which end is used (contexts made of ucontext). A copy
 * that is put back also takes back the stacks that were given out since.
 */
size_t sim__stacks_size(void);
char *sim__stacks_copy_out(char *to);
const char *sim__stacks_copy_back(const char *from);

#ifdef __cplusplus
}
#endif
#endif
