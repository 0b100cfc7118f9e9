/*
 * image.c -- copies of writable segments, by dl_iterate_phdr.
 *
 * A part is owned by the program under test, and its copy was taken when it was loaded; or it is
 * shared with rewake (the C library's variables), and its copy is taken when a run is entered.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "sim/core/memory/image.h"

#include <link.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include <sys/auxv.h>
#include <unistd.h>

#include "runtime/base/assert.h"
#include "sim/base/heap.h"
#include "sim/core/memory/shadow.h"

#define MODULES_MAX 256u
#define PARTS_MAX 4096u
#define TLS_MAX 64u

/* A piece of memory, and what was in it. */
struct part {
    char *start;
    char *copy;
    size_t size;
    bool shared;
};

/* Of the process: filled while libraries are loaded, then only read. */
static struct {
    uintptr_t modules[MODULES_MAX]; /* Addresses of those loaded before. */
    uint32_t module_count;
    struct part parts[PARTS_MAX];
    uint32_t part_count;
    uint32_t shared_count;
    bool inside; /* A run may have written to shared parts, and their copies are up to date. */
    size_t size;
    size_t tls[TLS_MAX]; /* The loader's numbers of the program's modules with such variables. */
    uint32_t tls_count;
    rt_err err;
} images;

/* Of the loader: returns the calling thread's block of a module, and allocates it when missing. */
struct tls_index {
    unsigned long module;
    unsigned long offset;
};
extern void *__tls_get_addr(struct tls_index *index);

static void
add_part(uintptr_t start, uintptr_t end, bool shared)
{
    if (start >= end || images.err != RT_OK) {
        return;
    }
    if (images.part_count == PARTS_MAX) {
        images.err = RT_E_FULL;
        return;
    }
    size_t size = end - start;
    char *copy = sim_heap_new(size, 1);
    struct part *part = &images.parts[images.part_count++];
    /* An address from the loader. */
    *part = (struct part){(char *)start, copy, size, shared};
    images.shared_count += shared ? 1 : 0;
    sim_shadow_memcpy(copy, part->start, size);
    images.size += size;
}

static bool
is_known(uintptr_t module)
{
    for (uint32_t i = 0; i < images.module_count; i++) {
        if (images.modules[i] == module) {
            return true;
        }
    }
    return false;
}

static int
note_module(struct dl_phdr_info *info, size_t size, void *argument)
{
    (void)size;
    (void)argument;
    if (images.module_count == MODULES_MAX) {
        images.err = RT_E_FULL;
        return 1;
    }
    images.modules[images.module_count++] = (uintptr_t)info->dlpi_phdr;
    return 0;
}

/* One writable segment, without the part that is read-only now. */
static void
take_segment(const struct dl_phdr_info *info, const ElfW(Phdr) * segment, bool shared)
{
    uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);
    uintptr_t start = info->dlpi_addr + segment->p_vaddr;
    uintptr_t end = start + segment->p_memsz;
    for (uint32_t i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *relro = &info->dlpi_phdr[i];
        uintptr_t relro_start = (info->dlpi_addr + relro->p_vaddr) & ~(page - 1);
        uintptr_t relro_end = (info->dlpi_addr + relro->p_vaddr + relro->p_memsz) & ~(page - 1);
        if (relro->p_type == PT_GNU_RELRO && relro_start < end && relro_end > start) {
            add_part(start, relro_start, shared);
            start = relro_end;
        }
    }
    add_part(start, end, shared);
}

static void
take_segments(const struct dl_phdr_info *info, bool shared)
{
    for (uint32_t i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *segment = &info->dlpi_phdr[i];
        if (segment->p_type == PT_LOAD && (segment->p_flags & PF_W) != 0) {
            take_segment(info, segment, shared);
        }
    }
}

static void
note_tls(size_t module)
{
    if (images.tls_count == TLS_MAX) {
        images.err = RT_E_FULL;
    } else {
        images.tls[images.tls_count++] = module;
    }
}

/* The thread-local variables of this thread. The block is allocated now, so that it is not
 * allocated inside a run, from the arena. */
static void
take_thread_block(const struct dl_phdr_info *info, size_t size, bool shared)
{
    bool numbered = size >= offsetof(struct dl_phdr_info, dlpi_tls_data);
    for (uint32_t i = 0; numbered && info->dlpi_tls_modid != 0 && i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *segment = &info->dlpi_phdr[i];
        if (segment->p_type == PT_TLS) {
            struct tls_index index = {info->dlpi_tls_modid, 0};
            uintptr_t block = (uintptr_t)__tls_get_addr(&index);
            add_part(block, block + segment->p_memsz, shared);
            if (!shared) {
                note_tls(info->dlpi_tls_modid);
            }
        }
    }
}

static int
take_module(struct dl_phdr_info *info, size_t size, void *argument)
{
    (void)argument;
    if (is_known((uintptr_t)info->dlpi_phdr)) {
        return 0;
    }
    take_segments(info, false);
    take_thread_block(info, size, false);
    return images.err != RT_OK;
}

/* Of the modules that were there before the program was: libraries, but neither rewake itself,
 * whose name is empty, nor the loader. */
static int
take_shared_module(struct dl_phdr_info *info, size_t size, void *argument)
{
    (void)argument;
    bool library = strstr(info->dlpi_name, ".so") != NULL && info->dlpi_addr != getauxval(AT_BASE);
    if (library && is_known((uintptr_t)info->dlpi_phdr)) {
        take_segments(info, true);
        take_thread_block(info, size, true);
    }
    return images.err != RT_OK;
}

rt_err
sim_images_before_load(void)
{
    images.module_count = 0;
    images.err = RT_OK;
    (void)dl_iterate_phdr(note_module, NULL);
    return images.err;
}

rt_err
sim_images_take(void)
{
    rt_assert(images.module_count > 0);
    (void)dl_iterate_phdr(take_module, NULL);
    return images.err;
}

rt_err
sim_images_add(void *start, size_t size, bool shared)
{
    add_part((uintptr_t)start, (uintptr_t)start + size, shared);
    return images.err;
}

rt_err
sim_images_share(void)
{
    rt_assert(images.module_count > 0);
    (void)dl_iterate_phdr(take_shared_module, NULL);
    return images.err;
}

bool
sim_images_have_tls(void)
{
    return images.tls_count > 0;
}

bool
sim_images_have_tls_of(size_t module)
{
    for (uint32_t i = 0; i < images.tls_count; i++) {
        if (images.tls[i] == module) {
            return true;
        }
    }
    return false;
}

uint32_t
sim_images_count(void)
{
    return images.part_count;
}

/* Before the memory of a run is put in place: what is shared now belongs to rewake. */
static void
enter(void)
{
    for (uint32_t i = 0; images.shared_count > 0 && !images.inside && i < images.part_count; i++) {
        const struct part *part = &images.parts[i];
        if (part->shared) {
            sim_shadow_memcpy(part->copy, part->start, part->size);
        }
    }
    images.inside = true;
}

void
sim_images_restore_some(struct sim_image_range range)
{
    rt_assert(range.first + range.count <= images.part_count);
    for (uint32_t i = range.first; i < range.first + range.count; i++) {
        const struct part *part = &images.parts[i];
        if (!part->shared) {
            sim_shadow_memcpy(part->start, part->copy, part->size);
        }
    }
}

void
sim_images_restore(void)
{
    enter();
    sim_images_restore_some((struct sim_image_range){0, images.part_count});
}

void
sim_images_leave(void)
{
    for (uint32_t i = 0; images.shared_count > 0 && images.inside && i < images.part_count; i++) {
        const struct part *part = &images.parts[i];
        if (part->shared) {
            sim_shadow_memcpy(part->start, part->copy, part->size);
        }
    }
    images.inside = false;
}

char *
sim_images_copy_out(char *to)
{
    memcpy(to, &images.part_count, sizeof(images.part_count));
    to += sizeof(size_t);
    for (uint32_t i = 0; i < images.part_count; i++) {
        sim_shadow_memcpy(to, images.parts[i].start, images.parts[i].size);
        to += images.parts[i].size;
    }
    return to;
}

const char *
sim_images_copy_back(const char *from)
{
    uint32_t count;
    memcpy(&count, from, sizeof(count));
    from += sizeof(size_t);
    rt_assert(count <= images.part_count);
    enter();
    for (uint32_t i = 0; i < count; i++) {
        sim_shadow_memcpy(images.parts[i].start, from, images.parts[i].size);
        from += images.parts[i].size;
    }
    return from;
}

void
sim_images_each(void (*visit)(void *argument, const char *memory, size_t size), void *argument)
{
    for (uint32_t i = 0; i < images.part_count; i++) {
        visit(argument, images.parts[i].start, images.parts[i].size);
    }
}

bool
sim_images_find(const void *address, size_t *ret_offset)
{
    size_t before = 0;
    for (uint32_t i = 0; i < images.part_count; i++) {
        size_t offset = (size_t)((const char *)address - images.parts[i].start);
        if (offset < images.parts[i].size) {
            *ret_offset = before + offset;
            return true;
        }
        before += images.parts[i].size;
    }
    return false;
}

size_t
sim_images_size(void)
{
    return sizeof(size_t) + images.size;
}
