/*
 * library.c -- dlopen, for libraries that are loaded already.
 *
 * The loader is asked for nothing within a run: it would open files and take memory. Each library
 * that the program, or one of these, is linked with is opened once more after the program was
 * loaded, so its handle is valid in all runs, whatever they close. One that only rewake is linked
 * with is not among them. A library is found by what the loader calls it, by its DT_SONAME, or by
 * its real path.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "sim/program/library.h"

#include <dlfcn.h>
#include <link.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/base/assert.h"
#include "sim/base/heap.h"
#include "sim/program/refuse.h"
#include "sim/program/start.h"

#define WHY_MAX 512u

struct library {
    void *handle;
    const char *name;   /* The loader's; it never unloads it. */
    const char *soname; /* NULL: it has none. */
    char *path;         /* Without links; NULL: it has no file. From malloc. */
};

static struct {
    void *program;
    struct library *all; /* In the order of DT_NEEDED, breadth first. */
    uint32_t count;
    uint32_t capacity;
} libraries;

/* The text of the `index`-th entry `tag` of the module; NULL: it has no more. */
static const char *
text_of(const struct link_map *map, ElfW(Sxword) tag, uint32_t index)
{
    const char *texts = NULL;
    const ElfW(Dyn) *found = NULL;
    for (const ElfW(Dyn) *entry = map->l_ld; entry->d_tag != DT_NULL; entry++) {
        if (entry->d_tag == DT_STRTAB) {
            texts = (const char *)entry->d_un.d_ptr; /* The loader has made an address of it. */
        } else if (entry->d_tag == tag && found == NULL && index-- == 0) {
            found = entry;
        }
    }
    return texts != NULL && found != NULL ? texts + found->d_un.d_val : NULL;
}

/* The loaded library that an entry of DT_NEEDED names; NULL: the loader knows it by another name.
 * `map` is any module. */
static struct link_map *
find_needed(struct link_map *map, const char *name)
{
    while (map->l_prev != NULL) {
        map = map->l_prev;
    }
    for (; map != NULL; map = map->l_next) {
        /* What has no slash has no file: it is the kernel's, or rewake. */
        bool filed = strchr(map->l_name, '/') != NULL;
        const char *soname = filed ? text_of(map, DT_SONAME, 0) : NULL;
        if (filed &&
                (strcmp(map->l_name, name) == 0 || (soname != NULL && strcmp(soname, name) == 0))) {
            return map;
        }
    }
    return NULL;
}

static bool
is_noted(const void *handle)
{
    bool noted = handle == libraries.program;
    for (uint32_t i = 0; i < libraries.count && !noted; i++) {
        noted = libraries.all[i].handle == handle;
    }
    return noted;
}

/* Opens what `map` is linked with. */
static void
note_needed(struct link_map *map)
{
    const char *name;
    for (uint32_t i = 0; (name = text_of(map, DT_NEEDED, i)) != NULL; i++) {
        struct link_map *needed = find_needed(map, name);
        void *handle = needed != NULL ? dlopen(needed->l_name, RTLD_LAZY | RTLD_NOLOAD) : NULL;
        if (handle == NULL || is_noted(handle)) {
            continue;
        }
        sim_heap_grow(&libraries.all, libraries.count, &libraries.capacity, sizeof(*libraries.all));
        libraries.all[libraries.count++] = (struct library){
                .handle = handle,
                .name = needed->l_name,
                .soname = text_of(needed, DT_SONAME, 0),
                .path = realpath(needed->l_name, NULL),
        };
    }
}

/* With the C library a handle is the loader's entry. */
void
sim_program_note_libraries(const struct sim_program *program)
{
    rt_assert(libraries.program == NULL);
    libraries.program = program->handle;
    note_needed(program->handle);
    for (uint32_t i = 0; i < libraries.count; i++) {
        note_needed(libraries.all[i].handle);
    }
}

static bool
is_named(const struct library *library, const char *path)
{
    return strcmp(library->name, path) == 0 ||
           (library->soname != NULL && strcmp(library->soname, path) == 0) ||
           (library->path != NULL && strcmp(library->path, path) == 0);
}

/* NULL: no library of this name is loaded. */
static void *
find(const char *path)
{
    void *found = NULL;
    for (uint32_t i = 0; i < libraries.count && found == NULL; i++) {
        found = is_named(&libraries.all[i], path) ? libraries.all[i].handle : NULL;
    }
    return found;
}

void *
dlopen(const char *path, int how)
{
    void *(*next)(const char *path, int how) = NULL;
    if (sim__program_here() != NULL) {
        void *found = path == NULL || path[0] == '\0' ? libraries.program : find(path);
        if (found == NULL && (how & RTLD_NOLOAD) == 0) {
            char why[WHY_MAX];
            (void)snprintf(why, sizeof(why),
                    "all libraries are loaded before the first run: link the program with %s",
                    path);
            sim_program_refuse("dlopen", why);
        }
        return found;
    }
    void *symbol = dlsym(RTLD_NEXT, "dlopen");
    memcpy(&next, &symbol, sizeof(next));
    return next != NULL ? next(path, how) : NULL;
}

/* What is loaded stays so. */
int
dlclose(void *handle)
{
    int (*next)(void *handle) = NULL;
    if (sim__program_here() != NULL && is_noted(handle)) {
        return 0;
    }
    void *symbol = dlsym(RTLD_NEXT, "dlclose");
    memcpy(&next, &symbol, sizeof(next));
    return next != NULL ? next(handle) : -1;
}
