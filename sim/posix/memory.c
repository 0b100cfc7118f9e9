/*
 * memory.c -- mappings: memory of the run, so that they end with it.
 *
 * An anonymous mapping is pages of the arena; a private mapping of a file is a copy of it.
 * Protection is not simulated: a guard page can be written to. *Rejected*: real mappings, of which
 * each run that forgets one would leave one behind.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <string.h>
#include <sys/mman.h>

#include "runtime/base/assert.h"
#include "sim/posix/file.h"

#define PAGE 4096u
/* Larger ones are address space reserved for later: ENOMEM. */
#define MAPPING_MAX ((size_t)64 << 20)

static size_t
whole_pages(size_t size)
{
    return (size + PAGE - 1) / PAGE * PAGE;
}

static void *
failed(int error)
{
    errno = error;
    return MAP_FAILED;
}

static void *
pages(size_t size)
{
    uintptr_t block = (uintptr_t)sim_zalloc(sim_world_current, whole_pages(size) + PAGE);
    return (void *)((block + PAGE - 1) / PAGE * PAGE);
}

static void *
map_file(size_t size, int fd, off_t place)
{
    const struct sim__posix_file *file = sim__posix_file(fd);
    if (file == NULL || place < 0) {
        return failed(file == NULL ? EBADF : EINVAL);
    }
    char *block = pages(size);
    uint64_t from = (uint64_t)place;
    uint64_t left = from < file->inode->size ? file->inode->size - from : 0;
    size_t part = size < left ? size : (size_t)left;
    if (part > 0) {
        memcpy(block, file->inode->bytes + from, part);
    }
    return block;
}

void *
sim__posix_mmap(void *at, size_t size, int access, int flags, int fd, off_t place)
{
    bool shared = (flags & MAP_TYPE) != MAP_PRIVATE;
    if (size == 0) {
        return failed(EINVAL);
    }
    if ((flags & MAP_FIXED) != 0 || size > MAPPING_MAX) {
        (void)at;
        return failed(ENOMEM);
    }
    if ((flags & MAP_ANONYMOUS) != 0) {
        return pages(size);
    }
    if (shared && (access & PROT_WRITE) != 0) {
        sim__posix_refuse("mmap of a file that is written to");
    }
    return map_file(size, fd, place);
}

/* Whether it is memory of the run, which ends with the run. */
static bool
is_of_run(const void *at)
{
    return sim_arena_holds(&sim_world_current->arena, at);
}

int
sim__posix_munmap(void *at, size_t size)
{
    if (is_of_run(at)) {
        return 0;
    }
    struct sim_thread *paused = sim_thread_pause();
    int result = sim__real.munmap(at, size);
    sim_thread_resume(paused);
    return result;
}

int
sim__posix_mprotect(void *at, size_t size, int access)
{
    if (is_of_run(at)) {
        return 0;
    }
    struct sim_thread *paused = sim_thread_pause();
    int result = sim__real.mprotect(at, size, access);
    sim_thread_resume(paused);
    return result;
}

int
sim__posix_madvise(void *at, size_t size, int advice)
{
    if (is_of_run(at) && advice == MADV_DONTNEED) {
        memset(at, 0, size);
    }
    return 0;
}

void *
sim__posix_mremap(void *at, size_t size, size_t new_size, int flags, void *to)
{
    (void)to;
    if (!is_of_run(at) || (flags & MREMAP_FIXED) != 0 || new_size > MAPPING_MAX) {
        return failed(ENOMEM);
    }
    if (whole_pages(new_size) <= whole_pages(size)) {
        return at;
    }
    return (flags & MREMAP_MAYMOVE) != 0 ? memcpy(pages(new_size), at, size) : failed(ENOMEM);
}
