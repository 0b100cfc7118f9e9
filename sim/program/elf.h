/*
 * elf.h -- what a file is, and a loaded module's tables.
 *
 * Only what loading a program needs of <elf.h>: this machine's own format. What is read of a file
 * is untrusted: every offset is checked against the file's size.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#pragma once

#include <elf.h>
#include <link.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum sim_elf_kind {
    SIM_ELF_NONE,    /* No file that could be loaded: see `refusal`. */
    SIM_ELF_LIBRARY, /* A shared object without an interpreter. */
    SIM_ELF_PROGRAM  /* A position-independent executable, dynamically linked. */
};

/* A file in memory, which may be written without changing the file. */
struct sim_elf_file {
    enum sim_elf_kind kind;
    const char *refusal; /* Without a kind: why, and what to do; a static sentence. */
    char *bytes;
    size_t size;
};

/* Reads the file at `path`. On false `refusal` says why, and nothing has to be closed. */
bool sim_elf_open(const char *path, struct sim_elf_file *ret_file);
void sim_elf_close(struct sim_elf_file *file);

/* The entries of the dynamic section, up to one with DT_NULL or the end of the file: *ret_count. */
ElfW(Dyn) * sim_elf_dynamic(const struct sim_elf_file *file, size_t *ret_count);

/* The bytes of the file that are loaded at `address`, at least `size` of them; NULL: there are
 * none. */
char *sim_elf_at(const struct sim_elf_file *file, uint64_t address, size_t size);

/* A module as the loader has it; borrowed, and never unloaded. */
struct sim_module {
    uintptr_t base;
    const ElfW(Phdr) * segments;
    uint32_t segment_count;
    const ElfW(Sym) * symbols;
    const char *names;
    const uint32_t *hash;         /* DT_GNU_HASH: finds a symbol by its name. */
    const ElfW(Rela) * tables[2]; /* Relocations: of data, of the procedure linkage table. */
    size_t counts[2];
};

/* Fills *ret_module from the dynamic section that is loaded at `dynamic`. */
void sim_module_read(uintptr_t base, const ElfW(Phdr) * segments, uint32_t segment_count,
        struct sim_module *ret_module);

/* As sim_module_read, for the module around `address`. False: there is none. */
bool sim_module_of(uintptr_t address, struct sim_module *ret_module);

/* The symbol `name` that `module` defines; NULL: it does not. */
const ElfW(Sym) * sim_module_symbol(const struct sim_module *module, const char *name);

/* How many symbols there are up to the last one that `module` defines; 0 without DT_GNU_HASH. */
uint32_t sim_module_symbol_count(const struct sim_module *module);

/* Whether the loader has made `address` in `module` read-only: constants that were relocated. */
bool sim_module_is_sealed(const struct sim_module *module, uintptr_t address);

/* Calls `put` with each relocation of `module` that names a symbol. */
void sim_module_relocations(const struct sim_module *module,
        void (*put)(void *argument, const ElfW(Rela) * relocation, const ElfW(Sym) * symbol,
                const char *name),
        void *argument);
