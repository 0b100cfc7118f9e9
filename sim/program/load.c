/*
 * load.c -- the copy of a program that dlopen accepts, and what the loader then has of it.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "sim/program/load.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "runtime/base/assert.h"
#include "sim/base/heap.h"
#include "sim/core/code/symbols.h"

#define START "__libc_start_main"
#define OURS "sim__program_main"
#define HIGH 400 /* A number of a descriptor that no debugger has. */

_Static_assert(sizeof(START) == sizeof(OURS), "one name takes the place of the other");

/* ---- The copy. ------------------------------------------------------------------------------- */

/* The value of one entry of the dynamic section; 0: there is none. */
static uint64_t
value_of(const struct sim_elf_file *file, int64_t tag)
{
    size_t count = 0;
    const ElfW(Dyn) *entries = sim_elf_dynamic(file, &count);
    for (size_t i = 0; i < count; i++) {
        if (entries[i].d_tag == tag) {
            return entries[i].d_un.d_val;
        }
    }
    return 0;
}

/* Where the symbol's name is in the file; NULL: there is no such symbol. */
static char *
find_name(const struct sim_elf_file *file, const char *name)
{
    size_t size = value_of(file, DT_STRSZ);
    char *names = sim_elf_at(file, value_of(file, DT_STRTAB), size);
    return names != NULL ? memmem(names, size, name, strlen(name) + 1) : NULL;
}

/* An entry that the loader ignores takes the place of a constructor. */
static void
change_entry(ElfW(Dyn) * entry)
{
    switch (entry->d_tag) {
    case DT_FLAGS_1:
        entry->d_un.d_val &= ~(ElfW(Xword))DF_1_PIE;
        break;
    case DT_INIT:
    case DT_INIT_ARRAY:
    case DT_INIT_ARRAYSZ:
    case DT_PREINIT_ARRAY:
    case DT_PREINIT_ARRAYSZ:
    case DT_FINI:
    case DT_FINI_ARRAY:
    case DT_FINI_ARRAYSZ:
        entry->d_tag += DT_LOOS;
        break;
    default:
        break;
    }
}

/* Whether a debugger has begun this process. */
static bool
is_traced(void)
{
    char line[128];
    int tracer = 0;
    FILE *status = fopen("/proc/self/status", "re");
    while (status != NULL && fgets(line, sizeof(line), status) != NULL) {
        (void)sscanf(line, "TracerPid: %d", &tracer);
    }
    if (status != NULL) {
        (void)fclose(status);
    }
    return tracer != 0;
}

/*
 * A debugger opens the file as well, and reads its symbols. For one that is there as the program is
 * loaded the name says of which process: "self" would be the debugger's own, whose descriptor of
 * that number may be a pipe, from which it would read forever. One that comes later finds no such
 * number. No other process has the first name: a run may not depend on a number of the system's.
 */
static char *
name_copy(int fd)
{
    if (is_traced()) {
        return sim_heap_printf(SIM_PLACES_COPY "%d/fd/%d", (int)getpid(), fd);
    }
    int high = fcntl(fd, F_DUPFD, HIGH);
    if (high >= 0) {
        (void)close(fd);
    }
    return sim_heap_printf(SIM_PLACES_COPY "self/fd/%d", high >= 0 ? high : fd);
}

/* The path of a file in memory with the bytes of `file`; from malloc. NULL: there is no memory. */
static char *
write_copy(const struct sim_elf_file *file)
{
    /* It stays open: the debug information is read from it. */
    int fd = memfd_create("program", 0);
    size_t written = 0;
    while (fd >= 0 && written < file->size) {
        ssize_t more = write(fd, file->bytes + written, file->size - written);
        if (more <= 0) {
            (void)close(fd);
            return NULL;
        }
        written += (size_t)more;
    }
    return fd >= 0 ? name_copy(fd) : NULL;
}

/* NULL, or why there is no copy. */
static const char *
make_copy(const struct sim_elf_file *file, char **ret_name)
{
    size_t count = 0;
    char *start = find_name(file, START);
    if (file->kind == SIM_ELF_PROGRAM && start == NULL) {
        return "the program does not start as one of the C library does (it calls no "
               "__libc_start_main): rewake has only that way into it";
    }
    if (start != NULL) {
        /* No other name ends as this one does, but for "main", as ours does too. */
        memcpy(start, OURS, sizeof(OURS));
    }
    ElfW(Dyn) *entries = sim_elf_dynamic(file, &count);
    for (size_t i = 0; i < count; i++) {
        change_entry(&entries[i]);
    }
    *ret_name = write_copy(file);
    return *ret_name == NULL ? "there is no memory for a copy of the program" : NULL;
}

const char *
sim_program_prepare(const char *path, struct sim_program_file *ret_file)
{
    struct sim_elf_file file;
    *ret_file = (struct sim_program_file){.path = path};
    if (!sim_elf_open(path, &file)) {
        return file.refusal;
    }
    const char *refusal = NULL;
    ret_file->executable = file.kind == SIM_ELF_PROGRAM;
    ret_file->program = ret_file->executable || find_name(&file, "rewake_library") == NULL;
    if (ret_file->program) {
        refusal = make_copy(&file, &ret_file->name);
    } else {
        /* dlopen would search the system's folders for a name without a slash. */
        ret_file->name = sim_heap_printf("%s%s", strchr(path, '/') != NULL ? "" : "./", path);
    }
    sim_elf_close(&file);
    return refusal;
}

bool
sim_program_is_file(const char *path)
{
    struct sim_elf_file file;
    bool opened = sim_elf_open(path, &file);
    bool program =
            opened && (file.kind == SIM_ELF_PROGRAM || find_name(&file, "rewake_library") == NULL);
    if (opened) {
        sim_elf_close(&file);
    }
    return program;
}

/* ---- What was loaded. ------------------------------------------------------------------------ */

static void
read_calls(struct sim_program *program, const ElfW(Dyn) * entry)
{
    uintptr_t address = program->module.base + entry->d_un.d_ptr;
    switch (entry->d_tag - DT_LOOS) {
    case DT_INIT:
        program->init.single = (void (*)(void))address;
        break;
    case DT_FINI:
        program->fini.single = (void (*)(void))address;
        break;
    case DT_PREINIT_ARRAY:
        program->preinit.all = (void (**)(void))address;
        break;
    case DT_PREINIT_ARRAYSZ:
        program->preinit.count = entry->d_un.d_val / sizeof(void *);
        break;
    case DT_INIT_ARRAY:
        program->init.all = (void (**)(void))address;
        break;
    case DT_INIT_ARRAYSZ:
        program->init.count = entry->d_un.d_val / sizeof(void *);
        break;
    case DT_FINI_ARRAY:
        program->fini.all = (void (**)(void))address;
        break;
    case DT_FINI_ARRAYSZ:
        program->fini.count = entry->d_un.d_val / sizeof(void *);
        break;
    default:
        break;
    }
}

bool
sim_program_read(void *handle, const struct sim_program_file *file, struct sim_program *ret_program)
{
    struct link_map *link = NULL;
    void *symbol = dlsym(handle, "main");
    *ret_program = (struct sim_program){.path = file->path, .handle = handle};
    if (dlinfo(handle, RTLD_DI_LINKMAP, &link) != 0 || (!file->executable && symbol == NULL) ||
            !sim_module_of((uintptr_t)link->l_ld, &ret_program->module)) {
        return false;
    }
    const ElfW(Ehdr) *header = (const ElfW(Ehdr) *)link->l_addr;
    if (file->executable) {
        ret_program->entry = link->l_addr + header->e_entry;
    } else {
        memcpy(&ret_program->main, &symbol, sizeof(symbol));
    }
    for (const ElfW(Dyn) *entry = link->l_ld; entry->d_tag != DT_NULL; entry++) {
        read_calls(ret_program, entry);
    }
    return true;
}

/* ---- Copies of variables. -------------------------------------------------------------------- */

struct copies {
    const struct sim_module *module;
    void (*put)(void *argument, const char *name, void *memory, size_t size);
    void *argument;
};

static void
put_copy(void *argument, const ElfW(Rela) * relocation, const ElfW(Sym) * symbol, const char *name)
{
    const struct copies *copies = argument;
    if (ELF64_R_TYPE(relocation->r_info) == R_X86_64_COPY) {
        uintptr_t address = copies->module->base + relocation->r_offset;
        copies->put(copies->argument, name, (void *)address, symbol->st_size);
    }
}

void
sim_program_copies(const struct sim_module *module,
        void (*put)(void *argument, const char *name, void *memory, size_t size), void *argument)
{
    struct copies copies = {module, put, argument};
    sim_module_relocations(module, put_copy, &copies);
}

/* One copy, and where the loader did not find what belongs into it. */
struct empty {
    const char *name;
    void *memory;
    size_t size;
    bool filled;
};

/* Libraries that rewake uses were found by the loader. */
static int
fill_from(struct dl_phdr_info *info, size_t size, void *argument)
{
    struct empty *empty = argument;
    struct sim_module module;
    (void)size;
    sim_module_read(info->dlpi_addr, info->dlpi_phdr, info->dlpi_phnum, &module);
    const ElfW(Sym) *symbol = sim_module_symbol(&module, empty->name);
    const void *original = symbol != NULL ? (const char *)module.base + symbol->st_value : NULL;
    empty->filled = original != NULL && original != empty->memory;
    if (empty->filled) {
        memcpy(empty->memory, original,
                symbol->st_size < empty->size ? symbol->st_size : empty->size);
    }
    return empty->filled;
}

static void
fill_copy(void *argument, const char *name, void *memory, size_t size)
{
    struct empty empty = {.name = name, .memory = memory, .size = size};
    (void)argument;
    if (dlsym(RTLD_DEFAULT, name) == NULL) {
        (void)dl_iterate_phdr(fill_from, &empty);
    }
}

static int
fill_module(struct dl_phdr_info *info, size_t size, void *argument)
{
    struct sim_module module;
    (void)size;
    (void)argument;
    if (info->dlpi_name[0] != '\0') { /* Not rewake itself. */
        sim_module_read(info->dlpi_addr, info->dlpi_phdr, info->dlpi_phnum, &module);
        sim_program_copies(&module, fill_copy, NULL);
    }
    return 0;
}

void
sim_program_fill_copies(void)
{
    (void)dl_iterate_phdr(fill_module, NULL);
}

/* One variable that the program has a copy of: the address to which others were bound, and the
 * copy's. */
struct moved {
    uintptr_t from;
    uintptr_t size;
    uintptr_t to;
};

#define MOVED_MAX 64u

struct binding {
    const struct sim_program *program;
    struct moved moved[MOVED_MAX];
    uint32_t count;
    const struct sim_module *module; /* In which entries are changed. */
    bool failed;
};

static void
note_moved(void *argument, const char *name, void *memory, size_t size)
{
    struct binding *binding = argument;
    bool stream = strcmp(name, "stdin") == 0 || strcmp(name, "stdout") == 0 ||
                  strcmp(name, "stderr") == 0;
    uintptr_t from = (uintptr_t)dlsym(RTLD_DEFAULT, name);
    if (from != 0 && !stream && from != (uintptr_t)memory && binding->count < MOVED_MAX) {
        binding->moved[binding->count++] = (struct moved){from, size, (uintptr_t)memory};
    }
}

/* The page is read-only where the loader has sealed it. */
static bool
write_word(uintptr_t address, uintptr_t value)
{
    uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);
    void *start = (void *)(address & ~(page - 1));
    if (mprotect(start, page, PROT_READ | PROT_WRITE) != 0) {
        return false;
    }
    *(uintptr_t *)address = value;
    return true;
}

static void
bind(void *argument, const ElfW(Rela) * relocation, const ElfW(Sym) * symbol, const char *name)
{
    struct binding *binding = argument;
    (void)symbol;
    (void)name;
    uint64_t type = ELF64_R_TYPE(relocation->r_info);
    if (type != R_X86_64_GLOB_DAT && type != R_X86_64_64) {
        return;
    }
    uintptr_t address = binding->module->base + relocation->r_offset;
    uintptr_t bound = *(const uintptr_t *)address;
    for (uint32_t i = 0; i < binding->count; i++) {
        const struct moved *moved = &binding->moved[i];
        if (bound >= moved->from && bound - moved->from < moved->size) {
            binding->failed |= !write_word(address, moved->to + (bound - moved->from));
        }
    }
}

/* Libraries alone: rewake has its own variables, and the loader uses none of these. */
static int
bind_module(struct dl_phdr_info *info, size_t size, void *argument)
{
    struct binding *binding = argument;
    struct sim_module module;
    (void)size;
    sim_module_read(info->dlpi_addr, info->dlpi_phdr, info->dlpi_phnum, &module);
    if (strstr(info->dlpi_name, ".so") != NULL && module.symbols != NULL &&
            info->dlpi_addr != binding->program->module.base) {
        binding->module = &module;
        sim_module_relocations(&module, bind, binding);
    }
    return 0;
}

rt_err
sim_program_bind(const struct sim_program *program)
{
    struct binding binding = {.program = program};
    sim_program_copies(&program->module, note_moved, &binding);
    if (binding.count > 0) {
        (void)dl_iterate_phdr(bind_module, &binding);
    }
    return binding.failed ? RT_E_INVALID : RT_OK;
}
