/*
 * heap.c -- memory that is there.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "sim/base/heap.h"

#include <stdarg.h>
#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

/* Nothing is flushed: a worker has its parent's buffers. */
void
sim_no_memory(void)
{
    static const char line[] = "rewake: there is no memory\n";
    ssize_t ignored = write(STDERR_FILENO, line, sizeof(line) - 1);
    (void)ignored;
    _exit(SIM_EXIT_NO_MEMORY);
}

static void *
map(void *hint, size_t size, int flags)
{
    void *memory = mmap(hint, size, PROT_READ | PROT_WRITE, MAP_ANONYMOUS | flags, -1, 0);
    return sim_heap_must(memory != MAP_FAILED ? memory : NULL);
}

void *
sim_heap_map(void *hint, size_t size)
{
    return map(hint, size, MAP_PRIVATE | MAP_NORESERVE);
}

void *
sim_heap_map_shared(size_t size)
{
    return map(NULL, size, MAP_SHARED | MAP_NORESERVE);
}

void
sim_heap_unmap(void *memory, size_t size)
{
    if (memory != NULL) {
        (void)munmap(memory, size);
    }
}

char *
sim_heap_printf(const char *format, ...)
{
    char *text = NULL;
    va_list arguments;
    va_start(arguments, format);
    int length = vasprintf(&text, format, arguments);
    va_end(arguments);
    return sim_heap_must(length >= 0 ? text : NULL);
}

void
sim_heap_grow(void *items, uint32_t count, uint32_t *capacity, size_t size)
{
    char *bytes = NULL;
    memcpy(&bytes, items, sizeof(bytes)); /* A void ** would be another type than the array's. */
    if (count == *capacity) {
        *capacity = *capacity != 0 ? *capacity * 2 : 64;
        bytes = sim_heap_resize(bytes, *capacity, size);
        memcpy(items, &bytes, sizeof(bytes));
    }
    memset(bytes + count * size, 0, size);
}
