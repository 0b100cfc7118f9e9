/*
 * edges.c -- the bytes that instrumented code sets, as sets of edges.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "sim/search/cover/edges.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "runtime/base/assert.h"

#define MODULES_MAX 64u

/* The compiler calls these when a program or a library is loaded: for the bytes, then for their
 * addresses. Weak: a fuzzer or a sanitizer that is linked defines its own. */
void __sanitizer_cov_bool_flag_init(char *start, char *stop);
void __sanitizer_cov_8bit_counters_init(char *start, char *stop);
void __sanitizer_cov_pcs_init(const uintptr_t *start, const uintptr_t *stop);

/* Of the compiler's table of addresses: the flag of the edge by which a function is entered. */
#define FLAG_ENTRY 1u

struct module {
    char *bytes;
    size_t count;
    const uintptr_t *places; /* Two words for each byte: where, and flags. */
};

/* Of the process: filled while programs and libraries are loaded, then only read. */
static struct {
    struct module modules[MODULES_MAX];
    uint32_t module_count;
    size_t announced;
    const uint32_t *numbers;
    uint32_t count;
} edges;

/* Of the run in progress, in a worker. */
static struct {
    uint64_t *sets;  /* Output for its two sets; NULL: written already, or not wanted. */
    uint64_t *known; /* What was reached before; as many words as a set has. */
    bool faulted;
} current;

static void
announce(char *start, char *stop)
{
    /* Each object of a module announces all of the module's. */
    for (uint32_t i = 0; i < edges.module_count; i++) {
        if (edges.modules[i].bytes == start) {
            return;
        }
    }
    if (start == stop || edges.module_count == MODULES_MAX) {
        return;
    }
    edges.modules[edges.module_count++] = (struct module){start, (size_t)(stop - start), NULL};
}

__attribute__((weak)) void
__sanitizer_cov_bool_flag_init(char *start, char *stop)
{
    announce(start, stop);
}

__attribute__((weak)) void
__sanitizer_cov_8bit_counters_init(char *start, char *stop)
{
    announce(start, stop);
}

__attribute__((weak)) void
__sanitizer_cov_pcs_init(const uintptr_t *start, const uintptr_t *stop)
{
    struct module *module = NULL;
    if (edges.module_count > 0) {
        module = &edges.modules[edges.module_count - 1];
    }
    /* Called right after the bytes were announced; a module without addresses is left out. */
    if (module != NULL && module->places == NULL && (size_t)(stop - start) == 2 * module->count) {
        module->places = start;
        edges.announced += module->count;
    }
}

size_t
sim_edges_announced(void)
{
    return edges.announced;
}

uintptr_t
sim_edges_pc(size_t nth, bool *ret_entry)
{
    for (uint32_t i = 0; i < edges.module_count; i++) {
        const struct module *module = &edges.modules[i];
        if (module->places == NULL) {
            continue;
        }
        if (nth < module->count) {
            *ret_entry = (module->places[2 * nth + 1] & FLAG_ENTRY) != 0;
            return module->places[2 * nth];
        }
        nth -= module->count;
    }
    rt_unreached("there are no more edges than were announced");
}

void
sim_edges_number(const uint32_t *numbers, uint32_t count)
{
    rt_assert(edges.numbers == NULL);
    edges.numbers = numbers;
    edges.count = count;
    current.known = calloc((size_t)sim_edges_words() + 1, sizeof(*current.known));
    rt_assert(current.known != NULL);
}

uint32_t
sim_edges_count(void)
{
    return edges.count;
}

uint32_t
sim_edges_words(void)
{
    return (edges.count + 63) / 64;
}

/* ---- A run. ---------------------------------------------------------------------------------- */

void
sim_edges_forget(void)
{
    if (edges.count > 0) {
        memset(current.known, 0, sim_edges_words() * sizeof(*current.known));
    }
}

void
sim_edges_begin(uint64_t *sets)
{
    current.faulted = false;
    current.sets = sets;
    if (edges.count == 0 || sets == NULL) {
        return;
    }
    memset(sets, 0, (size_t)sim_edges_words() * 2 * sizeof(*sets));
    for (uint32_t i = 0; i < edges.module_count; i++) {
        if (edges.modules[i].places != NULL) {
            memset(edges.modules[i].bytes, 0, edges.modules[i].count);
        }
    }
}

static void
collect(const struct module *module, const uint32_t *numbers, uint64_t *set)
{
    uint64_t eight = 0;
    for (size_t i = 0; i < module->count; i += sizeof(eight)) {
        size_t size = module->count - i < sizeof(eight) ? module->count - i : sizeof(eight);
        eight = 0;
        memcpy(&eight, module->bytes + i, size);
        for (size_t j = i; eight != 0 && j < i + size; j++) {
            if (module->bytes[j] != 0) {
                rt_assert(numbers[j] < edges.count);
                set[numbers[j] / 64] |= UINT64_C(1) << numbers[j] % 64;
            }
        }
    }
}

static void
collect_all(uint64_t *ret_set)
{
    const uint32_t *numbers = edges.numbers;
    memset(ret_set, 0, sim_edges_words() * sizeof(*ret_set));
    for (uint32_t i = 0; i < edges.module_count; i++) {
        if (edges.modules[i].places != NULL) {
            collect(&edges.modules[i], numbers, ret_set);
            numbers += edges.modules[i].count;
        }
    }
}

void
sim_edges_fault(void)
{
    if (current.sets != NULL && !current.faulted) {
        collect_all(current.sets + sim_edges_words());
        current.faulted = true;
    }
}

static bool
add_to_known(const uint64_t *reached)
{
    uint64_t added = 0;
    for (uint32_t i = 0; i < sim_edges_words(); i++) {
        added |= reached[i] & ~current.known[i];
        current.known[i] |= reached[i];
    }
    return added != 0;
}

bool
sim_edges_end(void)
{
    uint64_t *reached = current.sets;
    if (edges.count == 0 || reached == NULL) {
        return false;
    }
    current.sets = NULL;
    collect_all(reached);
    if (!current.faulted) {
        memcpy(reached + sim_edges_words(), reached, sim_edges_words() * sizeof(*reached));
    }
    return add_to_known(reached);
}

/* ---- The log. -------------------------------------------------------------------------------- */

static size_t
log_size(uint32_t runs)
{
    return (size_t)runs * 2 * sim_edges_words() * sizeof(uint64_t);
}

uint64_t *
sim_edges_log_new(uint32_t runs)
{
    if (edges.count == 0) {
        return NULL;
    }
    void *log = mmap(NULL, log_size(runs), PROT_READ | PROT_WRITE,
            MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    return log != MAP_FAILED ? log : NULL;
}

void
sim_edges_log_free(uint64_t **log, uint32_t runs)
{
    if (*log != NULL) {
        (void)munmap(*log, log_size(runs));
        *log = NULL;
    }
}
