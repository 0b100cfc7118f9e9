/*
 * site.c -- numbering the sites of the program and of its libraries.
 *
 * The records of a function are sorted by line and column; records of one
 * location (a compiler may make several) share a number. The id is a hash of file
 * name, function and the location's number in its function. All of the program's thousands
 * are numbered whenever it starts, so their sorting compares numbers where it can.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#define XXH_INLINE_ALL
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

#include "runtime/base/assert.h"
#include "sim/base/heap.h"
#include "sim/core/code/lambda.h"
#include "sim/core/record/site.h"
#include "sim/core/scenario.h"

/* Lines that no probe names are numbered from here on: more than a function has sites. */
#define OF_A_LINE 0x10000u

/* Of the process: filled while programs and libraries are loaded, then only read. */
static struct {
    struct rt_site **by_id;
    size_t count;
} sites;

const char *
sim_site_file(const struct rt_site *site)
{
    return basename(site->file);
}

/* The patched copies of the runtime are compiled in the build folder. */
bool
sim_site_is_own(const struct rt_site *site)
{
    bool in_program = site >= __start_rt_sites && site < __stop_rt_sites;
    const char *file = site->file;
    bool copied = strncmp(file, "build/", 6) == 0 &&
                  (strstr(file, "/runtime/") != NULL || strstr(file, "/sim/") != NULL);
    return in_program &&
           (copied || strncmp(file, "runtime/", 8) == 0 || strncmp(file, "sim/", 4) == 0);
}

static int
compare_number(uint32_t a, uint32_t b)
{
    return a < b ? -1 : a > b;
}

static int
compare_text(const char *a, const char *b)
{
    return a == b ? 0 : strcmp(a, b);
}

static int
by_function(const struct rt_site *a, const struct rt_site *b)
{
    int order = compare_text(a->function, b->function);
    return order != 0 || a->file == b->file ? order : strcmp(sim_site_file(a), sim_site_file(b));
}

static int
by_place(const struct rt_site *a, const struct rt_site *b)
{
    int order = by_function(a, b);
    order = order != 0 ? order : compare_number(a->line, b->line);
    return order != 0 ? order : compare_number(a->counter, b->counter);
}

/* By radix: keeps the order of equals. `spare` has as many elements. */
static void
sort_by_id(struct rt_site **array, struct rt_site **spare, size_t count)
{
    for (uint32_t shift = 0; shift < 32; shift += 8) {
        size_t next[257] = {0};
        for (size_t i = 0; i < count; i++) {
            next[(array[i]->id >> shift & 0xff) + 1]++;
        }
        for (size_t i = 0; i < 256; i++) {
            next[i + 1] += next[i];
        }
        for (size_t i = 0; i < count; i++) {
            spare[next[array[i]->id >> shift & 0xff]++] = array[i];
        }
        struct rt_site **sorted = spare;
        spare = array;
        array = sorted;
    }
}

static uint32_t
place_id(const struct rt_site *site, uint32_t nth)
{
    XXH32_state_t state;
    const char *file = sim_site_file(site);
    (void)XXH32_reset(&state, 0);
    (void)XXH32_update(&state, file, strlen(file) + 1);
    (void)XXH32_update(&state, site->function, strlen(site->function) + 1);
    (void)XXH32_update(&state, &nth, sizeof(nth));
    uint32_t id = XXH32_digest(&state);
    return id != 0 ? id : 1;
}

/* By function, and in it by place. */
static void
sort_by_place(struct rt_site **array, struct rt_site **spare, size_t count)
{
    uint32_t hash_of_file = 0;
    for (size_t i = 0; i < count; i++) {
        struct rt_site *site = array[i];
        if (i == 0 || site->file != array[i - 1]->file) {
            const char *file = sim_site_file(site);
            hash_of_file = XXH32(file, strlen(file), 0);
        }
        site->id = XXH32(site->function, strlen(site->function), hash_of_file);
    }
    sort_by_id(array, spare, count);
    /* What is left are short stretches of equal hashes, most of them in order. */
    for (size_t i = 1; i < count; i++) {
        struct rt_site *site = array[i];
        size_t at = i;
        for (; at > 0 && array[at - 1]->id == site->id && by_place(array[at - 1], site) > 0; at--) {
            array[at] = array[at - 1];
        }
        array[at] = site;
    }
}

static void
number(struct rt_site **sorted, size_t count)
{
    uint32_t nth = 0;
    for (size_t i = 0; i < count; i++) {
        if (i == 0 || by_function(sorted[i - 1], sorted[i]) != 0) {
            nth = 0;
        } else if (by_place(sorted[i - 1], sorted[i]) != 0) {
            nth++;
        }
        sorted[i]->id = place_id(sorted[i], nth);
    }
}

/* Names lambdas after the function around them. Called after the numbering, which uses the
 * compilers' common name. */
static void
name_lambdas(struct rt_site *const *all, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (all[i]->mark == 0 && all[i]->text != NULL &&
                strcmp(all[i]->function, SIM_LAMBDA) == 0) {
            char *name = sim_lambda_name(all[i]->text);
            all[i]->function = name != NULL ? name : all[i]->function;
        }
    }
}

void
sim_sites_add(struct rt_site *start, struct rt_site *stop)
{
    if (start == NULL || start == stop) {
        return;
    }
    size_t count = (size_t)(stop - start);
    size_t count_of_all = sites.count + count;
    struct rt_site **all = sim_heap_new(count_of_all, sizeof(struct rt_site *));
    struct rt_site **spare = sim_heap_new(count_of_all, sizeof(struct rt_site *));
    for (size_t i = 0; i < count; i++) {
        all[i] = start + i;
    }
    sort_by_place(all, spare, count);
    number(all, count);
    name_lambdas(all, count);
    /* Equal ids are one place; among records of one program it does not matter which stands for it.
     * But a reader's file may have the name and the functions of one of ours, and what runs then is
     * theirs: the library that is added last comes first. */
    for (size_t i = 0; i < sites.count; i++) {
        all[count + i] = sites.by_id[i];
    }
    sort_by_id(all, spare, count_of_all);
    free(sites.by_id);
    free(spare);
    sites.by_id = all;
    sites.count = count_of_all;
}

void
sim_sites_init(void)
{
    if (sites.count == 0) {
        sim_sites_add(__start_rt_sites, __stop_rt_sites);
    }
}

const struct rt_site *
sim_site_find(uint32_t id)
{
    size_t low = 0;
    size_t high = sites.count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (sites.by_id[middle]->id < id) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return id != 0 && low < sites.count && sites.by_id[low]->id == id ? sites.by_id[low] : NULL;
}

uint32_t
sim_sites_line(const char *file, const char *function, uint32_t line)
{
    rt_assert(line > 0);
    struct rt_site site = {.file = file, .function = function, .line = line};
    uint32_t nth = OF_A_LINE + line;
    uint32_t id = place_id(&site, nth);
    for (const struct rt_site *there = sim_site_find(id); there != NULL;
            there = sim_site_find(id)) {
        if (there->line == line && strcmp(there->file, file) == 0 &&
                strcmp(there->function, function) == 0) {
            return id;
        }
        nth += OF_A_LINE; /* The number of another place. */
        id = place_id(&site, nth);
    }
    struct rt_site **all = sim_heap_new(sites.count + 1, sizeof(struct rt_site *));
    struct rt_site *own = sim_heap_new(1, sizeof(*own));
    size_t at = 0;
    for (; at < sites.count && sites.by_id[at]->id < id; at++) {
        all[at] = sites.by_id[at];
    }
    for (size_t i = at; i < sites.count; i++) {
        all[i + 1] = sites.by_id[i];
    }
    *own = (struct rt_site){.file = sim_heap_text(file),
            .function = sim_heap_text(function),
            .line = line,
            .id = id};
    all[at] = own;
    free(sites.by_id);
    sites.by_id = all;
    sites.count++;
    return id;
}

void
sim_sites_each(void (*visit)(const struct rt_site *site, void *argument), void *argument)
{
    for (size_t i = 0; i < sites.count; i++) {
        if (i == 0 || sites.by_id[i - 1]->id != sites.by_id[i]->id) {
            visit(sites.by_id[i], argument);
        }
    }
}
