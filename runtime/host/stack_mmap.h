/*
 * stack_mmap.h -- stacks from the operating system, each with a guard page below.
 *
 * A provider (fiber/stack.h) without state. Each alloc is three system calls, so
 * put a pool in front of it.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef RT_HOST_STACK_MMAP_H
#define RT_HOST_STACK_MMAP_H

#include "runtime/fiber/stack.h"

#ifdef __cplusplus
extern "C" {
#endif

/* How many bytes below a stack's base cannot be touched. */
#define RT_STACK_GUARD ((size_t)4096)

/* Makes one. Sizes are rounded up to pages; RT_E_FULL when the system has no memory. */
void rt_stack_mmap_init(struct rt_stack_provider *provider);

#ifdef __cplusplus
}
#endif
#endif
