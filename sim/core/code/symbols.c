/*
 * symbols.c -- debug information by libdw.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "sim/core/code/symbols.h"

#include <ctype.h>
#include <dwarf.h>
#include <elfutils/libdwfl.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "sim/base/heap.h"
#include "sim/base/sort.h"
#include "sim/core/code/lambda.h"
#include "sim/core/code/scopes.h"

struct sim_places {
    Dwfl *dwfl;
    Dwfl_Callbacks callbacks;
    struct sim_scopes *scopes;
    struct entry *entries; /* Of the functions that were read last, by address. */
    uint32_t entry_count;
    uint32_t entry_capacity;
    Dwfl_Module *read;    /* They are those of this module; NULL: none. */
    Dwarf_Die *read_unit; /* ... and of this unit; NULL: of all. */
    Dwarf_Die *unit;      /* The last that was found, and the address of its module. */
    Dwarf_Addr unit_bias;
    char root[256]; /* With a slash at its end; "": not known. */
    char home[256]; /* The folder in which this file was compiled, as its unit has it. */
    char seen[256]; /* The last path in the debug information. */
};

/* Where a function begins. The strings are in the debug information. */
struct entry {
    uintptr_t pc;
    uintptr_t end;
    const char *function;
    const char *file;
    uint32_t line;
    Dwarf_Die *unit;
    Dwarf_Addr bias;
};

static Dwarf_Die *find_unit(struct sim_places *places, uintptr_t pc, Dwarf_Addr *ret_bias);
static const char *folder_of(Dwarf_Die *unit);

/* The folder in which this file was compiled: paths below it are relative to it. */
static void
find_root(struct sim_places *places)
{
    struct sim_place self;
    Dwarf_Addr bias = 0;
    Dwarf_Die *unit = find_unit(places, (uintptr_t)find_root, &bias);
    (void)snprintf(places->home, sizeof(places->home), "%s", unit != NULL ? folder_of(unit) : "");
    (void)snprintf(places->root, sizeof(places->root), "%s", "");
    if (sim_places_at(places, (uintptr_t)find_root, false, &self, 1) == 0) {
        return;
    }
    char *found = strstr(places->seen, __FILE__);
    if (found != NULL) {
        *found = '\0';
        (void)snprintf(places->root, sizeof(places->root), "%s", places->seen);
    }
}

/* The patched copies of the runtime are in the build folder. */
static const char *
without_copy(const char *file)
{
    static const char *const copied[] = {"/runtime/", "/sim/bind/"};
    for (size_t i = 0; i < sizeof(copied) / sizeof(*copied); i++) {
        const char *found = strncmp(file, "build/", 6) == 0 ? strstr(file, copied[i]) : NULL;
        if (found != NULL) {
            return found + 1;
        }
    }
    return file;
}

/* The folder in which the unit was compiled; of a distribution's library, whose folder is not on
 * this machine, the one that says so. */
static const char *
folder_of(Dwarf_Die *unit)
{
    Dwarf_Attribute attribute;
    const char *folder = dwarf_formstring(dwarf_attr(unit, DW_AT_comp_dir, &attribute));
    return folder != NULL && folder[0] == '/' ? folder : "/build";
}

/* A folder of this tree; programs have some of these names, too. */
static bool
is_named_as_ours(const char *name)
{
    return strncmp(name, "sim/", 4) == 0 || strncmp(name, "runtime/", 8) == 0 ||
           strncmp(name, "reports/", 8) == 0;
}

/* "./x.c" is "x.c"; "../x.c", and what a distribution has compiled, is given its folder; so is what
 * would be taken for a file of ours. */
static const char *
with_folder(const struct sim_places *places, Dwarf_Die *unit, const char *name, char *joined,
        size_t size)
{
    bool named = is_named_as_ours(name);
    const char *folder = name[0] == '.' || named ? folder_of(unit) : "";
    bool known = strcmp(folder, "/build") != 0;
    bool below = strncmp(name, "./", 2) == 0 && known;
    bool alike = named && known && strcmp(folder, places->home) != 0;
    if ((name[0] != '.' && !alike) || below) {
        return name + (below ? 2 : 0);
    }
    int length = snprintf(joined, size, "%s/%s", folder, name);
    return length > 0 && (size_t)length < size ? joined : name;
}

static void
set_file(struct sim_places *places, struct sim_place *place, Dwarf_Die *unit, const char *name)
{
    char joined[sizeof(place->file)];
    const char *file = with_folder(places, unit, name, joined, sizeof(joined));
    size_t length = strlen(places->root);
    (void)snprintf(places->seen, sizeof(places->seen), "%s", file);
    bool below = length > 0 && strncmp(file, places->root, length) == 0;
    (void)snprintf(
            place->file, sizeof(place->file), "%s", without_copy(below ? file + length : file));
}

static const char *
name_of(Dwarf_Die *die)
{
    Dwarf_Attribute attribute;
    return dwarf_formstring(dwarf_attr_integrate(die, DW_AT_name, &attribute));
}

/* The declaration of `function`, for a member the one in its class. */
static Dwarf_Die
declaration(const Dwarf_Die *function)
{
    Dwarf_Die at = *function;
    Dwarf_Attribute attribute;
    Dwarf_Die next;
    for (int i = 0; i < 4; i++) {
        Dwarf_Attribute *found = dwarf_attr(&at, DW_AT_abstract_origin, &attribute);
        found = found != NULL ? found : dwarf_attr(&at, DW_AT_specification, &attribute);
        if (found == NULL || dwarf_formref_die(found, &next) == NULL) {
            return at;
        }
        at = next;
    }
    return at;
}

/* clang puts lambdas beside the function around them; their linkage name has it:
 * "_ZZN12_GLOBAL__N_112read_letters…", lengths and words, the last of which is the function. */
static bool
set_lambda_by_linkage(struct sim_place *place, Dwarf_Die *function)
{
    Dwarf_Attribute attribute;
    const char *at =
            dwarf_formstring(dwarf_attr_integrate(function, DW_AT_linkage_name, &attribute));
    const char *word = NULL;
    unsigned long length = 0;
    if (at == NULL || strncmp(at, "_ZZ", 3) != 0) {
        return false;
    }
    at += 3;
    at += *at == 'N' ? 1 + strspn(at + 1, "KVrRO") : 0;
    while (isdigit((unsigned char)*at) != 0) {
        char *end = NULL;
        length = strtoul(at, &end, 10);
        if (length > strlen(end)) {
            return false;
        }
        word = end;
        at = end + length;
    }
    if (word != NULL) {
        (void)snprintf(place->function, sizeof(place->function), "%.*s::lambda",
                (int)(length < 50 ? length : 50), word);
    }
    return word != NULL;
}

/* Names a lambda as its sites are named (core/code/lambda.h). False: no function is around it. */
static bool
set_lambda(struct sim_places *places, struct sim_place *place, const Dwarf_Die *function)
{
    Dwarf_Die at = declaration(function);
    bool found = false;
    while (!found && sim_scopes_around(places->scopes, &at, &at)) {
        int tag = dwarf_tag(&at);
        const char *name = name_of(&at);
        bool class = tag == DW_TAG_class_type || tag == DW_TAG_structure_type;
        bool named = name != NULL && (isalpha((unsigned char)*name) != 0 || *name == '_');
        found = named && (class || tag == DW_TAG_subprogram) && strcmp(name, SIM_LAMBDA) != 0;
        if (found) {
            (void)snprintf(place->function, sizeof(place->function), "%.50s::%s", name,
                    class ? "operator" : "lambda");
        }
    }
    return found;
}

/* The class or namespace around it. */
static void
set_scope(struct sim_places *places, struct sim_place *place, const Dwarf_Die *function)
{
    Dwarf_Die at = declaration(function);
    place->scope[0] = '\0';
    if (sim_scopes_around(places->scopes, &at, &at) && dwarf_tag(&at) != DW_TAG_subprogram &&
            dwarf_tag(&at) != DW_TAG_union_type && name_of(&at) != NULL) {
        (void)snprintf(place->scope, sizeof(place->scope), "%s", name_of(&at));
    }
}

static void
set_function(struct sim_places *places, struct sim_place *place, Dwarf_Die *function)
{
    int declared = 0;
    (void)dwarf_decl_line(function, &declared);
    place->declared = declared > 0 ? (uint32_t)declared : 0;
    set_scope(places, place, function);
    const char *name = name_of(function);
    bool lambda = name != NULL && strcmp(name, SIM_LAMBDA) == 0;
    if (!lambda ||
            (!set_lambda(places, place, function) && !set_lambda_by_linkage(place, function))) {
        (void)snprintf(place->function, sizeof(place->function), "%s", name != NULL ? name : "?");
    }
}

/* The line from which `inlined` was called. */
static void
set_call(struct sim_places *places, struct sim_place *place, Dwarf_Die *unit, Dwarf_Die *inlined)
{
    Dwarf_Attribute attribute;
    Dwarf_Word file = 0;
    Dwarf_Word line = 0;
    Dwarf_Files *files = NULL;
    (void)dwarf_formudata(dwarf_attr(inlined, DW_AT_call_file, &attribute), &file);
    (void)dwarf_formudata(dwarf_attr(inlined, DW_AT_call_line, &attribute), &line);
    const char *path = NULL;
    if (dwarf_getsrcfiles(unit, &files, NULL) == 0) {
        path = dwarf_filesrc(files, file, NULL, NULL);
    }
    set_file(places, place, unit, path != NULL ? path : "");
    place->line = (uint32_t)line;
}

/* None of its lines is a reader's; and to unpack its debug information, where that is installed,
 * takes a tenth of a second. */
static bool
is_c_library(Dwfl_Module *module)
{
    const char *name = dwfl_module_info(module, NULL, NULL, NULL, NULL, NULL, NULL, NULL);
    return name != NULL && strncmp(basename(name), "libc.so.", 8) == 0;
}

/* The unit of `pc`. libdw uses a table that clang does not write: then all units are searched, the
 * last one first. */
static Dwarf_Die *
find_unit(struct sim_places *places, uintptr_t pc, Dwarf_Addr *ret_bias)
{
    if (places->unit != NULL && dwarf_haspc(places->unit, pc - places->unit_bias) > 0) {
        *ret_bias = places->unit_bias;
        return places->unit;
    }
    Dwfl_Module *module = dwfl_addrmodule(places->dwfl, pc);
    if (module == NULL || is_c_library(module)) {
        return NULL;
    }
    Dwarf_Die *unit = dwfl_module_addrdie(module, pc, ret_bias);
    if (unit != NULL) {
        return unit;
    }
    while ((unit = dwfl_module_nextcu(module, unit, ret_bias)) != NULL) {
        if (dwarf_haspc(unit, pc - *ret_bias) > 0) {
            places->unit = unit;
            places->unit_bias = *ret_bias;
            return unit;
        }
    }
    return NULL;
}

static bool
set_line(struct sim_places *places, struct sim_place *place, Dwarf_Die *unit, Dwarf_Addr pc)
{
    Dwarf_Line *at = dwarf_getsrc_die(unit, pc);
    int line = 0;
    const char *path = at != NULL ? dwarf_linesrc(at, NULL, NULL) : NULL;
    if (path == NULL || dwarf_lineno(at, &line) != 0) {
        return false;
    }
    set_file(places, place, unit, path);
    place->line = line > 0 ? (uint32_t)line : 0;
    return true;
}

bool
sim_places_line(struct sim_places *places, uintptr_t pc, struct sim_place *ret_place)
{
    Dwarf_Addr bias = 0;
    Dwarf_Die *unit = find_unit(places, pc, &bias);
    *ret_place = (struct sim_place){.line = 0};
    return unit != NULL && set_line(places, ret_place, unit, pc - bias);
}

uint32_t
sim_places_at(
        struct sim_places *places, uintptr_t pc, bool called, struct sim_place *ret, uint32_t max)
{
    Dwarf_Addr address = pc - (called ? 1 : 0);
    Dwarf_Addr bias = 0;
    Dwarf_Die *unit = find_unit(places, address, &bias);
    if (unit == NULL || max == 0 || !set_line(places, &ret[0], unit, address - bias)) {
        return 0;
    }
    Dwarf_Die functions[SIM_INLINED_MAX];
    max = max < SIM_INLINED_MAX ? max : SIM_INLINED_MAX;
    uint32_t count = sim_scopes_at(places->scopes, unit, address - bias, functions, max);
    for (uint32_t i = 0; i < count; i++) {
        Dwarf_Addr entry = 0;
        ret[i].entry = dwarf_entrypc(&functions[i], &entry) == 0 && entry + bias == address;
        set_function(places, &ret[i], &functions[i]);
        if (i + 1 < count) {
            set_call(places, &ret[i + 1], unit, &functions[i]);
        }
    }
    return count;
}

/* ---- All functions. -------------------------------------------------------------------------- */

struct gathering {
    struct sim_places *places;
    Dwarf_Die *unit;
    Dwarf_Addr bias;
};

static int
gather_function(Dwarf_Die *function, void *argument)
{
    struct gathering *gathering = argument;
    struct sim_places *places = gathering->places;
    Dwarf_Addr base = 0;
    Dwarf_Addr from = 0;
    Dwarf_Addr to = 0;
    int line = 0;
    const char *name = dwarf_diename(function);
    /* File number 0, which clang uses for the unit's file, is none for libdw. */
    const char *file = dwarf_decl_file(function);
    file = file != NULL ? file : dwarf_diename(gathering->unit);
    /* It begins in the first part; what is seldom executed may be another. */
    if (name == NULL || file == NULL || dwarf_ranges(function, 0, &base, &from, &to) <= 0) {
        return DWARF_CB_OK;
    }
    sim_heap_grow(&places->entries, places->entry_count, &places->entry_capacity,
            sizeof(*places->entries));
    (void)dwarf_decl_line(function, &line);
    places->entries[places->entry_count++] =
            (struct entry){from + gathering->bias, to + gathering->bias, name, file,
                    line > 0 ? (uint32_t)line : 0, gathering->unit, gathering->bias};
    return DWARF_CB_OK;
}

static void
gather_module(struct gathering *gathering, Dwfl_Module *module)
{
    Dwarf_Die *unit = NULL;
    while ((unit = dwfl_module_nextcu(module, unit, &gathering->bias)) != NULL) {
        gathering->unit = unit;
        (void)dwarf_getfuncs(unit, gather_function, gathering, 0);
    }
}

static int
by_address(const void *a, const void *b)
{
    const struct entry *one = a;
    const struct entry *other = b;
    return one->pc < other->pc ? -1 : one->pc > other->pc;
}

/* The first entry at `pc` or after it; entry_count: none. */
static size_t
entry_from(const struct sim_places *places, uintptr_t pc)
{
    size_t low = 0;
    size_t high = places->entry_count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (places->entries[middle].pc < pc) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low;
}

/* Those of the module around `pc`, or of its unit: to read all of rewake's takes a quarter of the
 * time of an explanation. */
static void
read_entries(struct sim_places *places, uintptr_t pc, bool in_unit)
{
    struct gathering gathering = {.places = places};
    Dwfl_Module *module = dwfl_addrmodule(places->dwfl, pc);
    Dwarf_Die *unit = in_unit ? find_unit(places, pc, &gathering.bias) : NULL;
    if (places->read == module && places->read_unit == unit) {
        return;
    }
    places->read = module;
    places->read_unit = unit;
    places->entry_count = 0;
    gathering.unit = unit;
    if (unit != NULL) {
        (void)dwarf_getfuncs(unit, gather_function, &gathering, 0);
    } else if (module != NULL && !in_unit) {
        gather_module(&gathering, module);
    }
    sim_sort(places->entries, places->entry_count, sizeof(*places->entries), by_address);
}

static void
place_of_entry(struct sim_places *places, const struct entry *found, struct sim_place *ret_place)
{
    *ret_place = (struct sim_place){.line = found->line, .entry = true};
    places->unit = found->unit; /* The next search is mostly in the same. */
    places->unit_bias = found->bias;
    set_file(places, ret_place, found->unit, found->file);
    (void)snprintf(ret_place->function, sizeof(ret_place->function), "%s", found->function);
}

bool
sim_places_entry(struct sim_places *places, uintptr_t pc, struct sim_place *ret_place)
{
    read_entries(places, pc, false);
    size_t at = entry_from(places, pc);
    if (at == places->entry_count || places->entries[at].pc != pc) {
        return false;
    }
    place_of_entry(places, &places->entries[at], ret_place);
    return true;
}

bool
sim_places_next(
        struct sim_places *places, uintptr_t around, bool in_unit, struct sim_function *function)
{
    read_entries(places, around, in_unit);
    size_t at = entry_from(places, function->from + 1);
    if (at == places->entry_count) {
        return false;
    }
    function->from = places->entries[at].pc;
    function->to = places->entries[at].end;
    place_of_entry(places, &places->entries[at], &function->place);
    return true;
}

/* ---- A module that was loaded from a copy in memory. ----------------------------------------- */

/* Of the process. */
static const char *original;

void
sim_places_set_original(const char *path)
{
    original = path;
}

const char *
sim_places_module(const char *loaded)
{
    bool copy = strncmp(loaded, SIM_PLACES_COPY, sizeof(SIM_PLACES_COPY) - 1) == 0 ||
                strncmp(loaded, "/memfd:", 7) == 0;
    return copy && original != NULL ? original : loaded;
}

static int
find_elf(Dwfl_Module *module, void **data, const char *name, Dwarf_Addr base, char **ret_file,
        Elf **ret_elf)
{
    const char *file = sim_places_module(name);
    if (file == name) {
        return dwfl_linux_proc_find_elf(module, data, name, base, ret_file, ret_elf);
    }
    int fd = open(file, O_RDONLY | O_CLOEXEC);
    *ret_file = fd >= 0 ? sim_heap_text(file) : NULL;
    return fd;
}

/* Whether a separate file that the module at `file` names is where libdw looks for it. */
static bool
has_link(const char *file, const char *link)
{
    static const char *const around[][2] = {{"", ""}, {"", "/.debug"}, {"/usr/lib/debug", ""}};
    const char *slash = strrchr(file, '/');
    bool found = false;
    for (size_t i = 0; slash != NULL && !found && i < sizeof(around) / sizeof(*around); i++) {
        char path[PATH_MAX];
        (void)snprintf(path, sizeof(path), "%s%.*s%s/%s", around[i][0], (int)(slash - file), file,
                around[i][1], link);
        found = access(path, R_OK) == 0;
    }
    return found;
}

/* As libdw does, but without asking a server for it: to find that there is none it loads 30
 * libraries, which took a third of the time until the first run. */
static int
find_debuginfo(Dwfl_Module *module, void **data, const char *name, Dwarf_Addr base,
        const char *file, const char *link, GElf_Word check, char **ret_file)
{
    int fd = dwfl_build_id_find_debuginfo(module, data, name, base, file, link, check, ret_file);
    if (fd < 0 && file != NULL && link != NULL && has_link(file, link)) {
        fd = dwfl_standard_find_debuginfo(module, data, name, base, file, link, check, ret_file);
    }
    return fd;
}

/* ---- Modules. -------------------------------------------------------------------------------- */

struct Dwfl *
sim_places_dwfl(const struct sim_places *places)
{
    return places->dwfl;
}

/* Copies the maps of this process to `ret`, without whole files that libelf has mapped for other
 * places: next to a library's own segments such a one would be taken for its beginning. */
static bool
copy_maps(FILE *ret)
{
    FILE *maps = fopen("/proc/self/maps", "re");
    char line[PATH_MAX + 128];
    while (maps != NULL && fgets(line, sizeof(line), maps) != NULL) {
        char access[8] = "";
        unsigned long offset = 0;
        unsigned long inode = 0;
        int read = sscanf(line, "%*s %7s %lx %*s %lu", access, &offset, &inode);
        bool whole = read == 3 && strcmp(access, "rw-p") == 0 && offset == 0 && inode != 0;
        if (!whole) {
            (void)fputs(line, ret);
        }
    }
    return maps != NULL && fclose(maps) == 0;
}

static bool
report_modules(struct Dwfl *dwfl)
{
    char *text = NULL;
    size_t size = 0;
    FILE *copy = open_memstream(&text, &size);
    bool copied = copy != NULL && copy_maps(copy);
    copied = copy != NULL && fclose(copy) == 0 && copied;
    FILE *maps = copied ? fmemopen(text, size, "r") : NULL;
    bool reported = maps != NULL && dwfl_linux_proc_maps_report(dwfl, maps) == 0 &&
                    dwfl_report_end(dwfl, NULL, NULL) == 0;
    if (maps != NULL) {
        (void)fclose(maps);
    }
    free(text);
    return reported;
}

struct sim_places *
sim_places_new(void)
{
    struct sim_places *places = sim_heap_new(1, sizeof(*places));
    places->scopes = sim_scopes_new();
    places->callbacks = (Dwfl_Callbacks){
            .find_elf = find_elf,
            .find_debuginfo = find_debuginfo,
    };
    places->dwfl = dwfl_begin(&places->callbacks);
    if (places->dwfl == NULL || !report_modules(places->dwfl)) {
        sim_places_free(&places);
        return NULL;
    }
    find_root(places);
    return places;
}

void
sim_places_free(struct sim_places **places)
{
    if (*places != NULL) {
        if ((*places)->dwfl != NULL) {
            dwfl_end((*places)->dwfl);
        }
        sim_scopes_free(&(*places)->scopes);
        free((*places)->entries);
        free(*places);
        *places = NULL;
    }
}

bool
sim_place_is_runtime(const struct sim_place *place)
{
    /* Its headers lie anywhere, with what was inlined from them. */
    const char *installed = strstr(place->file, "/runtime/");
    return strncmp(place->file, "runtime/", 8) == 0 ||
           (installed != NULL && (strncmp(installed, "/runtime/cpp/", 13) == 0 ||
                                         strncmp(place->function, "rt_", 3) == 0));
}

/* Where a distribution builds a package: "/build/glibc-eX1tMB/". */
static bool
is_of_builder(const char *file)
{
    static const char letters[] = "abcdefghijklmnopqrstuvwxyz";
    const char *folder = file + 7;
    const char *slash = strncmp(file, "/build/", 7) == 0 ? strchr(folder, '/') : NULL;
    return slash != NULL && slash - folder > 7 && slash[-7] == '-' &&
           strspn(slash - 6, letters) < 6;
}

/* Folders of users may lie in /usr/src and /build, as they do in containers. See folder_of, too. */
bool
sim_place_is_readers(const struct sim_place *place)
{
    static const char *const others[] = {"sim/", "reports/", "/usr/include/", "/usr/lib/",
            "/usr/local/include/", "/usr/src/debug/", "/build/.", "/build/reproducible-path/"};
    for (size_t i = 0; i < sizeof(others) / sizeof(*others); i++) {
        if (strncmp(place->file, others[i], strlen(others[i])) == 0) {
            return false;
        }
    }
    return place->file[0] != '\0' && !is_of_builder(place->file);
}

const char *
sim_place_file(const struct sim_place *place)
{
    return basename(place->file);
}
