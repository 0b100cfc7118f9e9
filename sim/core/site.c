/*
 * site.c -- numbering the sites of the program and of its libraries.
 *
 * Records are sorted by file name, function, line and column; records of one
 * location (a compiler may make several) share a number. The id is a hash of file
 * name, function and the location's number in its function.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#define XXH_INLINE_ALL
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

#include "runtime/base/assert.h"
#include "sim/core/lambda.h"
#include "sim/core/scenario.h"
#include "sim/core/site.h"

typedef int (*compare_fn)(const struct rt_site *a, const struct rt_site *b);

/* After the last of array[0 .. count-1] that is not greater than `site`. */
static size_t
place_for(
        struct rt_site *const *array, size_t count, const struct rt_site *site, compare_fn compare)
{
    size_t low = 0;
    size_t high = count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (compare(array[middle], site) <= 0) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low;
}

/* Stable; a few hundred records, when a program or a library is loaded. */
static void
sort(struct rt_site **array, size_t count, compare_fn compare)
{
    for (size_t i = 1; i < count; i++) {
        struct rt_site *site = array[i];
        size_t place = place_for(array, i, site, compare);
        memmove(array + place + 1, array + place, (i - place) * sizeof(*array));
        array[place] = site;
    }
}

/* Of the process: filled while programs and libraries are loaded, then only read. */
static struct {
    struct rt_site **by_id;
    size_t count;
} sites;

const char *
sim_site_file(const struct rt_site *site)
{
    const char *slash = strrchr(site->file, '/');
    return slash != NULL ? slash + 1 : site->file;
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
by_place(const struct rt_site *a, const struct rt_site *b)
{
    int order = strcmp(sim_site_file(a), sim_site_file(b));
    order = order != 0 ? order : strcmp(a->function, b->function);
    order = order != 0 ? order : compare_number(a->line, b->line);
    return order != 0 ? order : compare_number(a->counter, b->counter);
}

static int
by_id(const struct rt_site *a, const struct rt_site *b)
{
    return compare_number(a->id, b->id);
}

static bool
same_function(const struct rt_site *a, const struct rt_site *b)
{
    return strcmp(sim_site_file(a), sim_site_file(b)) == 0 && strcmp(a->function, b->function) == 0;
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

static void
number(struct rt_site **sorted, size_t count)
{
    uint32_t nth = 0;
    for (size_t i = 0; i < count; i++) {
        if (i == 0 || !same_function(sorted[i - 1], sorted[i])) {
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

static void
remember(struct rt_site **added, size_t count)
{
    struct rt_site **all = reallocarray(sites.by_id, sites.count + count, sizeof(*all));
    rt_assert(all != NULL);
    /* Equal ids are one location; among records of one program any may represent it. But a user's
     * file may have the name and the functions of one of ours, and it is theirs that runs: the last
     * added is found first. */
    memmove(all + count, all, sites.count * sizeof(*all));
    memcpy(all, added, count * sizeof(*all));
    sites.by_id = all;
    sites.count += count;
    sort(sites.by_id, sites.count, by_id);
}

void
sim_sites_add(struct rt_site *start, struct rt_site *stop)
{
    if (start == NULL || start == stop) {
        return;
    }
    size_t count = (size_t)(stop - start);
    struct rt_site **sorted = calloc(count, sizeof(*sorted));
    rt_assert(sorted != NULL);
    for (size_t i = 0; i < count; i++) {
        sorted[i] = start + i;
    }
    sort(sorted, count, by_place);
    number(sorted, count);
    name_lambdas(sorted, count);
    remember(sorted, count);
    free(sorted);
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

void
sim_sites_each(void (*visit)(const struct rt_site *site, void *argument), void *argument)
{
    for (size_t i = 0; i < sites.count; i++) {
        if (i == 0 || sites.by_id[i - 1]->id != sites.by_id[i]->id) {
            visit(sites.by_id[i], argument);
        }
    }
}
