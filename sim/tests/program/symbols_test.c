/*
 * symbols_test.c -- the function around an address is the one that dladdr names.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <dlfcn.h>
#include <stdlib.h>

#include "runtime/tests/test.h"
#include "sim/program/symbols.h"

#define STEP 3001u /* Bytes between two addresses that are compared. */

static uintptr_t
start_by_dladdr(uintptr_t address)
{
    Dl_info info;
    void *symbol = NULL;
    bool found = dladdr1((const void *)address, &info, &symbol, RTLD_DL_SYMENT) != 0;
    bool covered = found && symbol != NULL &&
                   address - (uintptr_t)info.dli_saddr < ((const ElfW(Sym) *)symbol)->st_size;
    return covered ? (uintptr_t)info.dli_saddr : 0;
}

/* The code of `module`: how many addresses are in a function, or differ. */
static void
compare(const struct sim_module *module, uint32_t *ret_named, uint32_t *ret_differ)
{
    struct sim_symbols symbols;
    sim_symbols_read(module, &symbols);
    for (uint32_t i = 0; i < module->segment_count; i++) {
        const ElfW(Phdr) *segment = &module->segments[i];
        bool code = segment->p_type == PT_LOAD && (segment->p_flags & PF_X) != 0;
        for (size_t k = 0; code && k < segment->p_memsz; k += STEP) {
            uintptr_t address = module->base + segment->p_vaddr + k;
            const struct sim_named *found = sim_symbols_at(&symbols, address);
            *ret_named += found != NULL;
            *ret_differ += (found != NULL ? found->start : 0) != start_by_dladdr(address);
        }
    }
    sim_symbols_free(&symbols);
}

/*
 * Goal: a call in a library without debug information has the name that it had.
 * Method: addresses all over the C library, compared with dladdr.
 */
TEST(symbols_are_those_of_dladdr)
{
    struct sim_module module;
    uint32_t named = 0;
    uint32_t differ = 0;
    EXPECT(sim_module_of((uintptr_t)dlsym(RTLD_NEXT, "strtol"), &module));
    compare(&module, &named, &differ);
    EXPECT(named > 50);
    EXPECT_EQ(differ, 0);
}

/*
 * Goal: where functions have two names, the one that the module lists first.
 * Method: a table by hand: two names at one address, one symbol in another, a gap, no size.
 */
TEST(symbols_of_one_address_and_gaps)
{
    static const char names[] = "\0outer\0inner\0alias\0after";
    static const ElfW(Sym) table[] = {
            {0},
            {.st_name = 1, .st_shndx = 1, .st_value = 0x100, .st_size = 0x100},
            {.st_name = 7, .st_shndx = 1, .st_value = 0x140, .st_size = 0x10},
            {.st_name = 13, .st_shndx = 1, .st_value = 0x140, .st_size = 0x20},
            {.st_name = 19, .st_shndx = 1, .st_value = 0x300, .st_size = 0},
    };
    /* One bucket, that begins at symbol 1; one word of the bloom filter; the last hash is odd. */
    static const uint32_t hash[] = {1, 1, 1, 0, 0, 0, 1, 2, 2, 2, 1};
    const struct sim_module module = {.symbols = table, .names = names, .hash = hash};
    struct sim_symbols symbols;
    EXPECT_EQ(sim_module_symbol_count(&module), 5);
    sim_symbols_read(&module, &symbols);
    EXPECT_EQ(symbols.count, 3);
    EXPECT(sim_symbols_at(&symbols, 0xff) == NULL);
    EXPECT_STR(sim_symbols_at(&symbols, 0x100)->name, "outer");
    EXPECT_STR(sim_symbols_at(&symbols, 0x140)->name, "inner");
    EXPECT_STR(sim_symbols_at(&symbols, 0x158)->name, "alias");
    EXPECT_STR(sim_symbols_at(&symbols, 0x170)->name, "outer");
    EXPECT(sim_symbols_at(&symbols, 0x200) == NULL);
    EXPECT(sim_symbols_at(&symbols, 0x300) == NULL);
    sim_symbols_free(&symbols);
}
