/*
 * elf.c -- headers of files, tables of modules.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "sim/program/elf.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "runtime/base/assert.h"

/* ---- Files. ---------------------------------------------------------------------------------- */

static bool
refuse(struct sim_elf_file *file, const char *why)
{
    sim_elf_close(file);
    file->kind = SIM_ELF_NONE;
    file->refusal = why;
    return false;
}

static bool
map(const char *path, struct sim_elf_file *file)
{
    struct stat status;
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0) {
        return refuse(file, strerror(errno));
    }
    bool known = fstat(fd, &status) == 0;
    bool regular = known && S_ISREG(status.st_mode);
    void *bytes =
            regular && status.st_size > 0
                    ? mmap(NULL, (size_t)status.st_size, PROT_READ | PROT_WRITE, MAP_PRIVATE, fd, 0)
                    : MAP_FAILED;
    (void)close(fd);
    if (bytes == MAP_FAILED) {
        return refuse(file, "this is no file that can be loaded");
    }
    file->bytes = bytes;
    file->size = (size_t)status.st_size;
    if ((status.st_mode & (S_ISUID | S_ISGID)) != 0) {
        return refuse(file,
                "the file is set-user-ID or set-group-ID: rewake gives a program no other rights; "
                "run a copy of it");
    }
    return true;
}

static const ElfW(Ehdr) * header_of(const struct sim_elf_file *file)
{
    return (const ElfW(Ehdr) *)(const void *)file->bytes;
}

/* The n-th segment; NULL: it is outside of the file. */
static const ElfW(Phdr) * segment_at(const struct sim_elf_file *file, uint32_t n)
{
    const ElfW(Ehdr) *header = header_of(file);
    size_t offset = header->e_phoff + (size_t)n * sizeof(ElfW(Phdr));
    bool inside = n < header->e_phnum && header->e_phoff < file->size &&
                  offset + sizeof(ElfW(Phdr)) <= file->size && offset % _Alignof(ElfW(Phdr)) == 0;
    return inside ? (const ElfW(Phdr) *)(const void *)(file->bytes + offset) : NULL;
}

static const ElfW(Phdr) * segment_of(const struct sim_elf_file *file, uint32_t type)
{
    const ElfW(Phdr) *segment = NULL;
    for (uint32_t i = 0; (segment = segment_at(file, i)) != NULL; i++) {
        if (segment->p_type == type) {
            return segment;
        }
    }
    return NULL;
}

ElfW(Dyn) * sim_elf_dynamic(const struct sim_elf_file *file, size_t *ret_count)
{
    const ElfW(Phdr) *segment = segment_of(file, PT_DYNAMIC);
    *ret_count = 0;
    if (segment == NULL || segment->p_offset > file->size ||
            segment->p_filesz > file->size - segment->p_offset ||
            segment->p_offset % _Alignof(ElfW(Dyn)) != 0) {
        return NULL;
    }
    ElfW(Dyn) *entries = (ElfW(Dyn) *)(void *)(file->bytes + segment->p_offset);
    size_t most = segment->p_filesz / sizeof(*entries);
    while (*ret_count < most && entries[*ret_count].d_tag != DT_NULL) {
        (*ret_count)++;
    }
    return entries;
}

char *
sim_elf_at(const struct sim_elf_file *file, uint64_t address, size_t size)
{
    const ElfW(Phdr) *segment = NULL;
    for (uint32_t i = 0; (segment = segment_at(file, i)) != NULL; i++) {
        uint64_t inside = address - segment->p_vaddr;
        if (segment->p_type == PT_LOAD && inside < segment->p_filesz &&
                size <= segment->p_filesz - inside && segment->p_offset <= file->size &&
                segment->p_filesz <= file->size - segment->p_offset) {
            return file->bytes + segment->p_offset + inside;
        }
    }
    return NULL;
}

/* Why a file of this machine's format cannot be loaded; NULL: it can. */
static const char *
refusal_of(const struct sim_elf_file *file)
{
    const ElfW(Ehdr) *header = header_of(file);
    bool interpreted = segment_of(file, PT_INTERP) != NULL;
    if (header->e_type == ET_EXEC && !interpreted) {
        return "the program is statically linked: rewake plays the calls that go through shared "
               "libraries; link it dynamically";
    }
    if (header->e_type == ET_EXEC) {
        return "the program is not position independent: compile it with -fPIE and link it with "
               "-pie";
    }
    if (header->e_type != ET_DYN || segment_of(file, PT_DYNAMIC) == NULL) {
        return "this is neither a program nor a shared library: link it";
    }
    return NULL;
}

static bool
is_static_pie(const struct sim_elf_file *file)
{
    size_t count = 0;
    const ElfW(Dyn) *entries = sim_elf_dynamic(file, &count);
    for (size_t i = 0; i < count; i++) {
        if (entries[i].d_tag == DT_FLAGS_1 && (entries[i].d_un.d_val & DF_1_PIE) != 0) {
            return segment_of(file, PT_INTERP) == NULL;
        }
    }
    return false;
}

/* The header of a file that can be loaded into this very process. */
static bool
check_machine(struct sim_elf_file *file)
{
    const ElfW(Ehdr) *own = NULL;
    struct sim_module self;
    bool known = sim_module_of((uintptr_t)&check_machine, &self);
    rt_assert(known);
    own = (const ElfW(Ehdr) *)self.base;
    const ElfW(Ehdr) *header = header_of(file);
    if (file->size >= 2 && memcmp(file->bytes, "#!", 2) == 0) {
        return refuse(file, "this is a script: give the program that it starts");
    }
    if (file->size < sizeof(*header) || memcmp(file->bytes, ELFMAG, SELFMAG) != 0) {
        return refuse(file, "this is no program and no library");
    }
    if (memcmp(header->e_ident, own->e_ident, EI_DATA + 1) != 0 ||
            header->e_machine != own->e_machine) {
        return refuse(
                file, "the file was made for another kind of machine: compile it for this one");
    }
    return true;
}

bool
sim_elf_open(const char *path, struct sim_elf_file *ret_file)
{
    *ret_file = (struct sim_elf_file){.kind = SIM_ELF_NONE};
    if (!map(path, ret_file) || !check_machine(ret_file)) {
        return false;
    }
    const char *why = refusal_of(ret_file);
    if (why == NULL && is_static_pie(ret_file)) {
        why = "the program is statically linked: rewake plays the calls that go through shared "
              "libraries; link it dynamically";
    }
    if (why != NULL) {
        return refuse(ret_file, why);
    }
    bool program = segment_of(ret_file, PT_INTERP) != NULL;
    ret_file->kind = program ? SIM_ELF_PROGRAM : SIM_ELF_LIBRARY;
    return true;
}

void
sim_elf_close(struct sim_elf_file *file)
{
    if (file->bytes != NULL) {
        (void)munmap(file->bytes, file->size);
    }
    file->bytes = NULL;
}

/* ---- Modules. -------------------------------------------------------------------------------- */

/* The loader writes addresses into the dynamic sections of libraries, but not of the vdso. */
static uintptr_t
address_in(const struct sim_module *module, ElfW(Addr) value)
{
    return value < module->base ? module->base + value : value;
}

static void
read_entry(struct sim_module *module, const ElfW(Dyn) * entry)
{
    uintptr_t address = address_in(module, entry->d_un.d_ptr);
    switch (entry->d_tag) {
    case DT_SYMTAB:
        module->symbols = (const ElfW(Sym) *)address;
        break;
    case DT_STRTAB:
        module->names = (const char *)address;
        break;
    case DT_GNU_HASH:
        module->hash = (const uint32_t *)address;
        break;
    case DT_RELA:
        module->tables[0] = (const ElfW(Rela) *)address;
        break;
    case DT_RELASZ:
        module->counts[0] = entry->d_un.d_val / sizeof(ElfW(Rela));
        break;
    case DT_JMPREL:
        module->tables[1] = (const ElfW(Rela) *)address;
        break;
    case DT_PLTRELSZ:
        module->counts[1] = entry->d_un.d_val / sizeof(ElfW(Rela));
        break;
    default:
        break;
    }
}

void
sim_module_read(uintptr_t base, const ElfW(Phdr) * segments, uint32_t segment_count,
        struct sim_module *ret_module)
{
    *ret_module =
            (struct sim_module){.base = base, .segments = segments, .segment_count = segment_count};
    for (uint32_t i = 0; i < segment_count; i++) {
        if (segments[i].p_type != PT_DYNAMIC) {
            continue;
        }
        const ElfW(Dyn) *entry = (const ElfW(Dyn) *)(base + segments[i].p_vaddr);
        for (; entry->d_tag != DT_NULL; entry++) {
            read_entry(ret_module, entry);
        }
    }
}

struct around {
    uintptr_t address;
    struct sim_module *module;
};

static int
check_around(struct dl_phdr_info *info, size_t size, void *argument)
{
    struct around *around = argument;
    (void)size;
    for (uint32_t i = 0; i < info->dlpi_phnum; i++) {
        uintptr_t start = info->dlpi_addr + info->dlpi_phdr[i].p_vaddr;
        if (info->dlpi_phdr[i].p_type == PT_LOAD && around->address >= start &&
                around->address - start < info->dlpi_phdr[i].p_memsz) {
            sim_module_read(info->dlpi_addr, info->dlpi_phdr, info->dlpi_phnum, around->module);
            return 1;
        }
    }
    return 0;
}

bool
sim_module_of(uintptr_t address, struct sim_module *ret_module)
{
    struct around around = {address, ret_module};
    return dl_iterate_phdr(check_around, &around) != 0;
}

bool
sim_module_is_sealed(const struct sim_module *module, uintptr_t address)
{
    for (uint32_t i = 0; i < module->segment_count; i++) {
        const ElfW(Phdr) *segment = &module->segments[i];
        if (segment->p_type == PT_GNU_RELRO &&
                address - (module->base + segment->p_vaddr) < segment->p_memsz) {
            return true;
        }
    }
    return false;
}

/* Of DT_GNU_HASH: the symbols of a bucket follow each other, the last one has bit 0 of its hash. */
static const ElfW(Sym) * find_in_bucket(const struct sim_module *module, const uint32_t *chain,
                                 uint32_t first, uint32_t hash, const char *name)
{
    for (uint32_t i = first;; i++) {
        const ElfW(Sym) *symbol = &module->symbols[i];
        if ((chain[i] | 1) == (hash | 1) && symbol->st_shndx != SHN_UNDEF &&
                strcmp(module->names + symbol->st_name, name) == 0) {
            return symbol;
        }
        if ((chain[i] & 1) != 0) {
            return NULL;
        }
    }
}

/* Where the first symbol of each bucket is; from `module->hash[0]` on, the hash of each symbol. */
static const uint32_t *
buckets_of(const struct sim_module *module)
{
    uint32_t bloom_words = module->hash[2] * (uint32_t)(sizeof(uintptr_t) / sizeof(uint32_t));
    return module->hash + 4 + bloom_words;
}

uint32_t
sim_module_symbol_count(const struct sim_module *module)
{
    if (module->hash == NULL || module->hash[0] == 0 || module->symbols == NULL) {
        return 0;
    }
    const uint32_t *buckets = buckets_of(module);
    const uint32_t *chain = buckets + module->hash[0] - module->hash[1];
    uint32_t last = 0;
    for (uint32_t i = 0; i < module->hash[0]; i++) {
        last = buckets[i] > last ? buckets[i] : last;
    }
    while (last != 0 && (chain[last] & 1) == 0) {
        last++;
    }
    return last != 0 ? last + 1 : 0;
}

const ElfW(Sym) * sim_module_symbol(const struct sim_module *module, const char *name)
{
    if (module->hash == NULL || module->hash[0] == 0) {
        return NULL;
    }
    uint32_t hash = 5381;
    for (const char *at = name; *at != '\0'; at++) {
        hash = 33 * hash + (unsigned char)*at;
    }
    const uint32_t *buckets = buckets_of(module);
    uint32_t first = buckets[hash % module->hash[0]];
    const uint32_t *chain = buckets + module->hash[0] - module->hash[1]; /* By symbol. */
    return first != 0 ? find_in_bucket(module, chain, first, hash, name) : NULL;
}

void
sim_module_relocations(const struct sim_module *module,
        void (*put)(void *argument, const ElfW(Rela) * relocation, const ElfW(Sym) * symbol,
                const char *name),
        void *argument)
{
    for (uint32_t table = 0; table < 2; table++) {
        for (size_t i = 0; i < module->counts[table]; i++) {
            const ElfW(Rela) *relocation = &module->tables[table][i];
            size_t symbol = ELF64_R_SYM(relocation->r_info);
            if (symbol != 0) {
                put(argument, relocation, &module->symbols[symbol],
                        module->names + module->symbols[symbol].st_name);
            }
        }
    }
}
