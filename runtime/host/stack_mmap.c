/*
 * stack_mmap.c -- stacks from the operating system, each with a guard page below.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "runtime/host/stack_mmap.h"

#include <stdlib.h>
#include <sys/mman.h>

static size_t
in_pages(size_t size)
{
    return (size + RT_STACK_GUARD - 1) & ~(RT_STACK_GUARD - 1);
}

static rt_err
map(struct rt_stack_provider *provider, size_t size, struct rt_stack *ret_stack)
{
    (void)provider;
    size = in_pages(size);
    char *memory = mmap(NULL, RT_STACK_GUARD + size, PROT_READ | PROT_WRITE,
            MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_STACK, -1, 0);
    if (memory == MAP_FAILED) {
        return RT_E_FULL;
    }
    if (mprotect(memory, RT_STACK_GUARD, PROT_NONE) != 0) {
        (void)munmap(memory, RT_STACK_GUARD + size);
        return RT_E_FULL;
    }
    *ret_stack = (struct rt_stack){memory + RT_STACK_GUARD, size};
    return RT_OK;
}

static void
unmap(struct rt_stack_provider *provider, struct rt_stack stack)
{
    (void)provider;
    if (munmap(stack.base - RT_STACK_GUARD, RT_STACK_GUARD + stack.size) != 0) {
        abort(); /* The stack is not one that was allocated. */
    }
}

void
rt_stack_mmap_init(struct rt_stack_provider *provider)
{
    *provider = (struct rt_stack_provider){map, unmap};
}
