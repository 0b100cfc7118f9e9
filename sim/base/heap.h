/*
 * heap.h -- memory that is there.
 *
 * One rule for lack of memory: the process ends with status 70 and one line on stderr. In the
 * parent that is rewake's exit status; a worker's is a verdict of its run. So no function of rewake
 * returns "no memory". Free with free().
 *
 * Not for memory of a run: that is the arena's (sim_alloc), where lack of it is the scenario's.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#pragma once

#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* The exit status of a process that has no memory. */
#define SIM_EXIT_NO_MEMORY 70

/* Ends the process with that status: for memory that was not got by the functions below. */
__attribute__((noreturn, cold)) void sim_no_memory(void);

/* `memory`, which may not be NULL. */
static inline void *
sim_heap_must(void *memory)
{
    if (memory == NULL) {
        sim_no_memory();
    }
    return memory;
}

/* `count` zeroed items of `size` bytes; of none, memory that may only be freed. */
static inline void *
sim_heap_new(size_t count, size_t size)
{
    return sim_heap_must(calloc(count != 0 ? count : 1, size));
}

/* `items` (NULL: none yet) with space for `count` (> 0) of `size` bytes; the new ones are not
 * cleared. */
static inline void *
sim_heap_resize(void *items, size_t count, size_t size)
{
    return sim_heap_must(reallocarray(items, count, size));
}

/* A copy of `text`, which may be NULL: then there is none. */
static inline char *
sim_heap_text(const char *text)
{
    return text != NULL ? sim_heap_must(strdup(text)) : NULL;
}

/* A formatted text. */
__attribute__((format(printf, 1, 2))) char *sim_heap_printf(const char *format, ...);

/* Zeroed pages, of which none is touched: near `hint`, if that is not NULL; or shared with the
 * processes that are forked from now on. */
void *sim_heap_map(void *hint, size_t size);
void *sim_heap_map_shared(size_t size);

/* NULL: no-op. */
void sim_heap_unmap(void *memory, size_t size);

/* Makes space for item `count` of `*items` (a pointer to any array, from malloc), and clears it. */
void sim_heap_grow(void *items, uint32_t count, uint32_t *capacity, size_t size);
