/*
 * memory.c -- mappings: memory of the run, so that they end with it.
 *
 * An anonymous mapping is pages of the arena; a private mapping of a file is a copy of it, a shared
 * one is its bytes, and a file that is mapped so cannot become larger than its mapping.
 * Protection is not simulated: a guard page can be written to. *Rejected*: real mappings, of which
 * each run that forgets one would leave one behind.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <fcntl.h>
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

/* The bytes of the file themselves: who maps them, and who reads and writes the file, see one. */
static void *
map_shared(size_t size, int fd, off_t place, int access)
{
    struct sim__posix_file *file = sim__posix_file(fd);
    if (file == NULL || place < 0 || place % PAGE != 0) {
        return failed(file == NULL ? EBADF : EINVAL);
    }
    if ((access & PROT_WRITE) != 0 && (file->flags & O_ACCMODE) != O_RDWR) {
        return failed(EACCES);
    }
    if (size + (size_t)place > MAPPING_MAX || file->inode->kind != SIM__POSIX_REGULAR) {
        return failed(file->inode->kind != SIM__POSIX_REGULAR ? ENODEV : ENOMEM);
    }
    sim__posix_inode_map(file->inode, size + (size_t)place);
    return file->inode->bytes + place;
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
    return shared ? map_shared(size, fd, place, access) : map_file(size, fd, place);
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

/* Whether it is a shared mapping, which keeps what was written to it. */
static bool
is_file(const char *at)
{
    rt_list_each(node, &sim__posix_state()->inodes)
    {
        const struct sim__posix_inode *inode = rt_container_of(node, struct sim__posix_inode, link);
        if (inode->mapped && at >= inode->bytes && at < inode->bytes + inode->capacity) {
            return true;
        }
    }
    return false;
}

int
sim__posix_madvise(void *at, size_t size, int advice)
{
    if (is_of_run(at) && advice == MADV_DONTNEED && !is_file(at)) {
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
