/*
 * sites.c -- finds the calls, and looks them up.
 *
 * x86-64 calls another module in two forms: `call entry`, where the entry is `jmp *slot(%rip)`, and
 * `call *slot(%rip)`; the loader has written into the slot what it found. A byte that looks like a
 * call and is none has to name the very address of an entry to be mistaken.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "sim/program/sites.h"

#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

#include "runtime/base/assert.h"
#include "sim/base/heap.h"
#include "sim/core/code/symbols.h"
#include "sim/core/code/variables.h"
#include "sim/core/record/site.h"
#include "sim/program/elf.h"
#include "sim/program/symbols.h"

/* Functions that only jump to one another: how deep that is followed. */
#define ROUNDS_MAX 4u

/* ---- A set of addresses, with a number each. ------------------------------------------------- */

struct entry {
    uintptr_t address; /* 0: none. */
    uint32_t value;
};

struct table {
    struct entry *entries; /* NULL: empty. */
    uint32_t bits;
    uint32_t count;
};

static struct entry *
find(const struct table *table, uintptr_t address)
{
    uint64_t hash = (uint64_t)address * UINT64_C(0x9e3779b97f4a7c15);
    uint32_t mask = (UINT32_C(1) << table->bits) - 1;
    uint32_t i = (uint32_t)(hash >> (64 - table->bits));
    while (table->entries[i].address != 0 && table->entries[i].address != address) {
        i = (i + 1) & mask;
    }
    return &table->entries[i];
}

static void
grow(struct table *table)
{
    struct table larger = {.bits = table->entries != NULL ? table->bits + 1 : 8};
    larger.entries = sim_heap_new((size_t)1 << larger.bits, sizeof(*larger.entries));
    for (uint32_t i = 0; table->entries != NULL && i < UINT32_C(1) << table->bits; i++) {
        if (table->entries[i].address != 0) {
            *find(&larger, table->entries[i].address) = table->entries[i];
        }
    }
    free(table->entries);
    table->entries = larger.entries;
    table->bits = larger.bits;
}

/* True: it was not there before. */
static bool
add(struct table *table, uintptr_t address, uint32_t value)
{
    if (table->entries == NULL || table->count * 2 >= UINT32_C(1) << table->bits) {
        grow(table);
    }
    struct entry *entry = find(table, address);
    bool fresh = entry->address == 0;
    *entry = (struct entry){address, value};
    table->count += fresh;
    return fresh;
}

static bool
has(const struct table *table, uintptr_t address)
{
    return table->entries != NULL && find(table, address)->address != 0;
}

/* ---- Calls in the code of a module. ---------------------------------------------------------- */

struct link {
    uintptr_t slot;
    uintptr_t target;
};

struct transfer;

/* An instruction that may be a call or a jump to an address in the module. */
struct candidate {
    const uint8_t *at;
    uintptr_t target;
    const struct transfer *transfer;
};

struct search {
    struct sim_module module;
    struct candidate *candidates; /* In order of address. */
    uint32_t candidate_count;
    uint32_t candidate_capacity;
    struct table slots;    /* Which hold the address of a function of ours. */
    struct table callable; /* Entries of the linkage table, functions that end in a jump. */
    struct link *links;    /* Slots of functions of the module itself. */
    uint32_t link_count;
    uint32_t link_capacity;
    uintptr_t *found; /* Return addresses. */
    uint32_t found_count;
    uint32_t found_capacity;
    bool grew; /* There are new ones in `callable`. */
};

static bool
in_module(const struct sim_module *module, uintptr_t address)
{
    for (uint32_t i = 0; i < module->segment_count; i++) {
        const ElfW(Phdr) *segment = &module->segments[i];
        if (segment->p_type == PT_LOAD &&
                address - (module->base + segment->p_vaddr) < segment->p_memsz) {
            return true;
        }
    }
    return false;
}

/* Of the process: where rewake's own code is. */
static struct sim_module own;

static void
note_slot(void *argument, const ElfW(Rela) * relocation, const ElfW(Sym) * symbol, const char *name)
{
    struct search *search = argument;
    const struct sim_module *module = &search->module;
    uintptr_t slot = module->base + relocation->r_offset;
    uint32_t type = (uint32_t)ELF64_R_TYPE(relocation->r_info);
    if (type != R_X86_64_JUMP_SLOT && type != R_X86_64_GLOB_DAT) {
        return;
    }
    uintptr_t target = *(const uintptr_t *)slot;
    if (symbol->st_shndx != SHN_UNDEF) {
        target = module->base + symbol->st_value;
    } else if (in_module(module, target)) { /* It is bound at the first call. */
        target = (uintptr_t)dlsym(RTLD_DEFAULT, name);
    }
    if (in_module(&own, target)) {
        (void)add(&search->slots, slot, 1);
    } else if (symbol->st_shndx != SHN_UNDEF) {
        sim_heap_grow(
                &search->links, search->link_count, &search->link_capacity, sizeof(*search->links));
        search->links[search->link_count++] = (struct link){slot, target};
    }
}

/* An entry of the linkage table may begin with endbr64 and a prefix. */
static void
note_linkage(struct search *search, const uint8_t *at)
{
    static const uint8_t endbr64[] = {0xf3, 0x0f, 0x1e, 0xfa};
    search->grew |= add(&search->callable, (uintptr_t)at, 1);
    at -= at[-1] == 0xf2 ? 1 : 0;
    search->grew |= add(&search->callable, (uintptr_t)at, 1);
    if (memcmp(at - sizeof(endbr64), endbr64, sizeof(endbr64)) == 0) {
        search->grew |= add(&search->callable, (uintptr_t)at - sizeof(endbr64), 1);
    }
}

/* The table of .eh_frame_hdr: the beginning of each function, sorted, relative to the header. */
struct unwinding {
    uint8_t version;
    uint8_t encodings[3];
    int32_t frames;
    uint32_t count;
    struct {
        int32_t function;
        int32_t entry;
    } table[];
};

static const struct unwinding *
unwinding_of(const struct sim_module *module)
{
    static const uint8_t usual[] = {1, 0x1b, 0x03, 0x3b};
    for (uint32_t i = 0; i < module->segment_count; i++) {
        const ElfW(Phdr) *segment = &module->segments[i];
        const void *header = (const void *)(module->base + segment->p_vaddr);
        if (segment->p_type == PT_GNU_EH_FRAME && memcmp(header, usual, sizeof(usual)) == 0) {
            return header;
        }
    }
    return NULL;
}

/* Where the function around `pc` begins; 0: not known. */
static uintptr_t
function_of(const struct sim_module *module, const uint8_t *pc)
{
    const struct unwinding *known = unwinding_of(module);
    uint32_t low = 0;
    uint32_t high = known != NULL ? known->count : 0;
    intptr_t wanted = (intptr_t)((uintptr_t)pc - (uintptr_t)known);
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (known->table[middle].function <= wanted) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low > 0 ? (uintptr_t)known + (uintptr_t)(intptr_t)known->table[low - 1].function : 0;
}

static void
note_jump(struct search *search, const uint8_t *at)
{
    uintptr_t function = function_of(&search->module, at);
    if (function != 0) {
        search->grew |= add(&search->callable, function, 1);
    }
}

static void
note_call(struct search *search, const uint8_t *next)
{
    sim_heap_grow(
            &search->found, search->found_count, &search->found_capacity, sizeof(*search->found));
    search->found[search->found_count++] = (uintptr_t)next;
}

/* An instruction that calls or jumps to an address that it names, relative to the next one. */
struct transfer {
    uint8_t bytes[2]; /* With which it begins. */
    uint8_t count;
    uint8_t length; /* In all; the offset is the rest. */
    bool call;
    bool slot; /* The address is that of a slot. */
};

static const struct transfer transfers[] = {
        {{0xe8}, 1, 5, true, false},
        {{0xe9}, 1, 5, false, false},
        {{0xeb}, 1, 2, false, false},
        {{0xff, 0x15}, 2, 6, true, true},
        {{0xff, 0x25}, 2, 6, false, true},
};
#define TRANSFER_LENGTH_MAX 6u

/* NULL: it is another instruction. */
static const struct transfer *
transfer_at(const uint8_t *at)
{
    if (*at != 0xff && (*at & 0xfc) != 0xe8) { /* Nearly all. */
        return NULL;
    }
    for (size_t i = 0; i < sizeof(transfers) / sizeof(*transfers); i++) {
        const struct transfer *each = &transfers[i];
        if (at[0] == each->bytes[0] && (each->count == 1 || at[1] == each->bytes[1])) {
            return each;
        }
    }
    return NULL;
}

static uintptr_t
target_of(const struct transfer *transfer, const uint8_t *at)
{
    int32_t offset = 0;
    const uint8_t *next = at + transfer->length;
    if (transfer->length - transfer->count == 1) {
        offset = (int8_t)next[-1];
    } else {
        memcpy(&offset, next - sizeof(offset), sizeof(offset));
    }
    return (uintptr_t)next + (uintptr_t)(intptr_t)offset;
}

static void
note_candidate(struct search *search, const uint8_t *at)
{
    const struct transfer *transfer = transfer_at(at);
    if (transfer == NULL) {
        return;
    }
    uintptr_t target = target_of(transfer, at);
    if (in_module(&search->module, target)) {
        sim_heap_grow(&search->candidates, search->candidate_count, &search->candidate_capacity,
                sizeof(*search->candidates));
        search->candidates[search->candidate_count++] = (struct candidate){at, target, transfer};
    }
}

/* The code is read once; the rounds read what was found in it. */
static void
find_candidates(struct search *search)
{
    for (uint32_t i = 0; i < search->module.segment_count; i++) {
        const ElfW(Phdr) *segment = &search->module.segments[i];
        const uint8_t *code = (const uint8_t *)(search->module.base + segment->p_vaddr);
        if (segment->p_type != PT_LOAD || (segment->p_flags & PF_X) == 0) {
            continue;
        }
        /* From 8 on: an entry of the table begins before its jump. */
        for (size_t k = 8; k + TRANSFER_LENGTH_MAX <= segment->p_memsz; k++) {
            note_candidate(search, code + k);
        }
    }
}

/* `linkage`: the first pass finds those, the others find what calls them. */
static void
check_candidate(struct search *search, const struct candidate *candidate, bool linkage)
{
    const struct transfer *transfer = candidate->transfer;
    if (linkage != (transfer->slot && !transfer->call) ||
            !has(transfer->slot ? &search->slots : &search->callable, candidate->target)) {
        return;
    }
    if (transfer->call) {
        note_call(search, candidate->at + transfer->length);
        return;
    }
    if (transfer->slot) { /* An entry of the table, or the end of a function. */
        note_linkage(search, candidate->at);
    }
    note_jump(search, candidate->at);
}

static void
search_code(struct search *search, bool linkage)
{
    for (uint32_t i = 0; i < search->candidate_count; i++) {
        check_candidate(search, &search->candidates[i], linkage);
    }
}

/* A library calls its own functions through slots too. */
static void
follow_links(struct search *search)
{
    bool grew = false;
    for (uint32_t i = 0; i < search->link_count; i++) {
        if (has(&search->callable, search->links[i].target)) {
            grew |= add(&search->slots, search->links[i].slot, 1);
        }
    }
    if (grew) {
        search_code(search, true);
        search->grew = true;
    }
}

static void
search_module(struct search *search)
{
    sim_module_relocations(&search->module, note_slot, search);
    if (search->slots.count == 0) {
        return;
    }
    find_candidates(search);
    search_code(search, true);
    search->grew = true;
    for (uint32_t round = 0; search->grew && round < ROUNDS_MAX; round++) {
        search->grew = false;
        search->found_count = 0;
        search_code(search, false);
        follow_links(search);
    }
}

/* ---- Sites. ---------------------------------------------------------------------------------- */

/* Of the process: filled while programs are loaded, then only read. */
static struct {
    struct table by_pc; /* Index in `sites`. */
    struct rt_site **sites;
    uint32_t count;
    uint32_t capacity;
    uint32_t modules; /* How many have been read. */
    bool begun;
} known;

static const struct sim_place *
choose_place(const struct sim_place *places, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        if (sim_place_is_readers(&places[i])) {
            return &places[i];
        }
    }
    return count > 0 ? &places[0] : NULL;
}

static char *
text_of(const char *first, const char *second)
{
    size_t size = strlen(first) + strlen(second) + 1;
    char *text = sim_heap_new(size, 1);
    (void)snprintf(text, size, "%s%s", first, second);
    return text;
}

/* What is asked where a call is. */
struct where {
    struct sim_places *places; /* NULL: there are none. */
    struct sim_symbols symbols;
    uintptr_t base;
    const char *file; /* Of the module. */
};

/* Without debug information. */
static void
set_by_symbol(struct rt_site *site, const struct where *where, uintptr_t pc)
{
    char offset[32];
    const struct sim_named *symbol = sim_symbols_at(&where->symbols, pc - 1);
    uintptr_t start = symbol != NULL ? symbol->start : where->base;
    (void)snprintf(offset, sizeof(offset), "+0x%llx", (unsigned long long)(pc - start));
    site->file = text_of(basename(sim_places_module(where->file)), "");
    site->function = text_of(symbol != NULL ? symbol->name : "", offset);
}

static void
set_site(struct rt_site *site, const struct where *where, uintptr_t pc)
{
    struct sim_place found[SIM_INLINED_MAX];
    uint32_t count = 0;
    if (where->places != NULL) {
        count = sim_places_at(where->places, pc, true, found, SIM_INLINED_MAX);
    }
    const struct sim_place *place = choose_place(found, count);
    *site = (struct rt_site){.file = "", .function = ""};
    if (place == NULL) {
        set_by_symbol(site, where, pc);
        return;
    }
    char scope[80] = "";
    (void)snprintf(scope, sizeof(scope), "%s%s", place->scope, *place->scope != '\0' ? "::" : "");
    site->file = text_of(place->file, "");
    site->function = text_of(scope, place->function);
    site->line = place->line;
}

static void
add_sites(const struct search *search, const struct where *where)
{
    struct rt_site *sites = sim_heap_new(search->found_count, sizeof(*sites));
    for (uint32_t i = 0; i < search->found_count; i++) {
        set_site(&sites[i], where, search->found[i]);
        sim_heap_grow(&known.sites, known.count, &known.capacity, sizeof(struct rt_site *));
        (void)add(&known.by_pc, search->found[i], known.count);
        known.sites[known.count++] = &sites[i];
    }
    sim_sites_add(sites, sites + search->found_count);
}

const struct rt_site *
sim_site_of(const void *pc)
{
    if (known.by_pc.entries == NULL) {
        return NULL;
    }
    const struct entry *entry = find(&known.by_pc, (uintptr_t)pc);
    return entry->address != 0 ? known.sites[entry->value] : NULL;
}

/* ---- Modules. -------------------------------------------------------------------------------- */

static int
count_module(struct dl_phdr_info *info, size_t size, void *argument)
{
    uint32_t *count = argument;
    (void)info;
    (void)size;
    (*count)++;
    return 0;
}

/* Those with which rewake began are its own. */
__attribute__((constructor)) static void
count_own(void)
{
    (void)dl_iterate_phdr(count_module, &known.modules);
}

struct loading {
    struct sim_places *places;
    uint32_t at; /* In the order in which modules were loaded. */
};

static int
load_module(struct dl_phdr_info *info, size_t size, void *argument)
{
    struct loading *loading = argument;
    (void)size;
    if (loading->at++ < known.modules) {
        return 0;
    }
    struct search search = {.found = NULL};
    sim_module_read(info->dlpi_addr, info->dlpi_phdr, info->dlpi_phnum, &search.module);
    search_module(&search);
    struct where where = {
            .places = loading->places, .base = info->dlpi_addr, .file = info->dlpi_name};
    sim_symbols_read(&search.module, &where.symbols);
    add_sites(&search, &where);
    sim_symbols_free(&where.symbols);
    if (loading->places != NULL) {
        sim_variables_add(loading->places, (uintptr_t)info->dlpi_phdr);
    }
    free(search.slots.entries);
    free(search.callable.entries);
    free(search.links);
    free(search.candidates);
    free(search.found);
    return 0;
}

void
sim_sites_load(void)
{
    struct loading loading = {.at = 0};
    uint32_t count = 0;
    (void)dl_iterate_phdr(count_module, &count);
    if (count == known.modules || !sim_module_of((uintptr_t)&known, &own)) {
        return;
    }
    loading.places = sim_places_new();
    (void)dl_iterate_phdr(load_module, &loading);
    known.modules = loading.at;
    sim_places_free(&loading.places);
}
