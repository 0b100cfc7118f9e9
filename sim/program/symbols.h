/*
 * symbols.h -- which function of a module an address is in, by its table of dynamic symbols.
 *
 * dladdr answers that too, and reads the whole table each time: for the thousands of calls in a
 * library that took half of the time until the first run.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#pragma once

#include "sim/program/elf.h"

struct sim_named {
    uintptr_t start;
    uintptr_t end;
    uintptr_t reach;  /* The greatest end up to this one. */
    const char *name; /* In the module. */
};

/* In order of address. All zero: none, and nothing has to be freed. */
struct sim_symbols {
    struct sim_named *all;
    uint32_t count;
    uint32_t capacity;
};

/* Those that `module` defines, with a size. Of a module without DT_GNU_HASH there are none. */
void sim_symbols_read(const struct sim_module *module, struct sim_symbols *ret_symbols);
void sim_symbols_free(struct sim_symbols *symbols);

/* The symbol around `address` that begins last, and of those that begin there the one that is first
 * in the module; borrowed until sim_symbols_free. NULL: there is none. */
const struct sim_named *sim_symbols_at(const struct sim_symbols *symbols, uintptr_t address);
