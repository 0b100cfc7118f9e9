/*
 * symbols.c -- sorts a module's symbols, and finds the one around an address.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "sim/program/symbols.h"

#include <stdlib.h>

#include "runtime/base/assert.h"
#include "sim/base/heap.h"
#include "sim/base/sort.h"

static void
note(const struct sim_module *module, const ElfW(Sym) * symbol, struct sim_symbols *ret)
{
    if (symbol->st_shndx == SHN_UNDEF || symbol->st_size == 0 ||
            ELF64_ST_TYPE(symbol->st_info) == STT_TLS) {
        return;
    }
    uintptr_t start = module->base + symbol->st_value;
    sim_heap_grow(&ret->all, ret->count, &ret->capacity, sizeof(*ret->all));
    ret->all[ret->count++] = (struct sim_named){.start = start,
            .end = start + symbol->st_size,
            .name = module->names + symbol->st_name};
}

static int
by_start(const void *a, const void *b)
{
    const struct sim_named *first = a;
    const struct sim_named *second = b;
    return (first->start > second->start) - (first->start < second->start);
}

/* Of those that begin at one address the first of the module comes last, for they are searched from
 * the end. */
void
sim_symbols_read(const struct sim_module *module, struct sim_symbols *ret_symbols)
{
    rt_assert(ret_symbols != NULL);
    *ret_symbols = (struct sim_symbols){.all = NULL};
    uint32_t count = sim_module_symbol_count(module);
    for (uint32_t i = count; i > 0; i--) {
        note(module, &module->symbols[i - 1], ret_symbols);
    }
    sim_sort(ret_symbols->all, ret_symbols->count, sizeof(*ret_symbols->all), by_start);
    uintptr_t reach = 0;
    for (uint32_t i = 0; i < ret_symbols->count; i++) {
        struct sim_named *each = &ret_symbols->all[i];
        reach = each->end > reach ? each->end : reach;
        each->reach = reach;
    }
}

void
sim_symbols_free(struct sim_symbols *symbols)
{
    free(symbols->all);
    *symbols = (struct sim_symbols){.all = NULL};
}

const struct sim_named *
sim_symbols_at(const struct sim_symbols *symbols, uintptr_t address)
{
    uint32_t low = 0;
    uint32_t high = symbols->count;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (symbols->all[middle].start <= address) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    rt_assert(low <= symbols->count);
    for (; low > 0 && symbols->all[low - 1].reach > address; low--) {
        if (symbols->all[low - 1].end > address) {
            return &symbols->all[low - 1];
        }
    }
    return NULL;
}
