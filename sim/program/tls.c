/*
 * tls.c -- a reserve of thread-local memory.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "sim/program/tls.h"

#include <string.h>

#include "runtime/base/assert.h"

/* The only thread-local variable of this executable. The alignment leaves no gap above it. */

static const ElfW(Phdr) * block_of(const struct sim_program *program)
{
    for (uint32_t i = 0; program->entry != 0 && i < program->module.segment_count; i++) {
        if (program->module.segments[i].p_type == PT_TLS) {
            return &program->module.segments[i];
        }
    }
    return NULL;
}

/* From the block's beginning to the thread pointer. */
static size_t
offset_of(const ElfW(Phdr) * block)
{
    size_t align = block->p_align > 1 ? block->p_align : 1;
    return (block->p_memsz + align - 1) & ~(align - 1);
}

bool
sim_tls_fits(const struct sim_program *program)
{
    const ElfW(Phdr) *block = block_of(program);
    return block == NULL || (block->p_align <= 4096 && offset_of(block) <= SIM_TLS_RESERVE);
}

uintptr_t
sim_tls_pointer(void)
{
    uintptr_t pointer = (uintptr_t)__builtin_thread_pointer();
    return pointer;
}

void
sim_tls_fill(const struct sim_program *program, uintptr_t pointer)
{
    const ElfW(Phdr) *block = block_of(program);
    if (block == NULL) {
        return;
    }
    rt_assert(sim_tls_fits(program));
    char *memory = (char *)pointer - offset_of(block);
    memcpy(memory, (const char *)program->module.base + block->p_vaddr, block->p_filesz);
    memset(memory + block->p_filesz, 0, block->p_memsz - block->p_filesz);
}
