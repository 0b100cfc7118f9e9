/*
 * place.c -- asking libdw.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "sim/explain/look/place.h"

#include <dwarf.h>
#include <elfutils/libdwfl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "runtime/base/assert.h"

struct sim_places {
    Dwfl *dwfl;
    Dwfl_Callbacks callbacks;
    char root[256]; /* With a slash at its end; "": not known. */
    char seen[256]; /* The last path, as it stands in the debug information. */
};

/* Where this very file was compiled: what lies below is told relative to it. */
static void
find_root(struct sim_places *places)
{
    struct sim_place self;
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

/* The planted copies of the runtime lie in the folder of what is built. */
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

static void
set_file(struct sim_places *places, struct sim_place *place, const char *file)
{
    size_t length = strlen(places->root);
    (void)snprintf(places->seen, sizeof(places->seen), "%s", file);
    bool below = length > 0 && strncmp(file, places->root, length) == 0;
    (void)snprintf(
            place->file, sizeof(place->file), "%s", without_copy(below ? file + length : file));
}

static void
set_function(struct sim_place *place, Dwarf_Die *function)
{
    Dwarf_Attribute attribute;
    const char *name = dwarf_formstring(dwarf_attr_integrate(function, DW_AT_name, &attribute));
    (void)snprintf(place->function, sizeof(place->function), "%s", name != NULL ? name : "?");
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
    set_file(places, place, path != NULL ? path : "");
    place->line = (uint32_t)line;
}

static bool
set_line(struct sim_places *places, struct sim_place *place, Dwfl_Module *module, Dwarf_Addr pc)
{
    Dwfl_Line *at = dwfl_module_getsrc(module, pc);
    int line = 0;
    const char *path = at != NULL ? dwfl_lineinfo(at, NULL, &line, NULL, NULL, NULL) : NULL;
    if (path == NULL) {
        return false;
    }
    set_file(places, place, path);
    place->line = line > 0 ? (uint32_t)line : 0;
    return true;
}

bool
sim_places_line(struct sim_places *places, uintptr_t pc, struct sim_place *ret_place)
{
    Dwfl_Module *module = dwfl_addrmodule(places->dwfl, pc);
    *ret_place = (struct sim_place){.line = 0};
    return module != NULL && set_line(places, ret_place, module, pc);
}

/* What is put around the innermost scope of `pc`: dwarf_getscopes goes on with what stands around
 * the text of an inlined function, and so leaves its callers out. */
static int
get_callers(Dwarf_Die *unit, Dwarf_Addr pc, Dwarf_Die **ret_scopes)
{
    Dwarf_Die *at = NULL;
    int count = dwarf_getscopes(unit, pc, &at);
    count = count > 0 ? dwarf_getscopes_die(&at[0], ret_scopes) : 0;
    free(at);
    return count;
}

uint32_t
sim_places_at(
        struct sim_places *places, uintptr_t pc, bool called, struct sim_place *ret, uint32_t max)
{
    Dwarf_Addr address = pc - (called ? 1 : 0);
    Dwarf_Addr bias = 0;
    Dwfl_Module *module = dwfl_addrmodule(places->dwfl, address);
    Dwarf_Die *unit = module != NULL ? dwfl_module_addrdie(module, address, &bias) : NULL;
    if (unit == NULL || max == 0 || !set_line(places, &ret[0], module, address)) {
        return 0;
    }
    Dwarf_Die *scopes = NULL;
    int scope_count = get_callers(unit, address - bias, &scopes);
    uint32_t count = 0;
    for (int i = 0; i < scope_count; i++) {
        int tag = dwarf_tag(&scopes[i]);
        if (tag != DW_TAG_subprogram && tag != DW_TAG_inlined_subroutine) {
            continue;
        }
        Dwarf_Addr entry = 0;
        ret[count].entry = dwarf_entrypc(&scopes[i], &entry) == 0 && entry + bias == address;
        set_function(&ret[count++], &scopes[i]);
        if (tag == DW_TAG_subprogram || count == max) {
            break;
        }
        set_call(places, &ret[count], unit, &scopes[i]);
    }
    free(scopes);
    return count;
}

struct sim_places *
sim_places_new(void)
{
    struct sim_places *places = calloc(1, sizeof(*places));
    if (places == NULL) {
        return NULL;
    }
    /* No path for separate debug files, and no server of them: what is not there is not there. */
    places->callbacks = (Dwfl_Callbacks){
            .find_elf = dwfl_linux_proc_find_elf,
            .find_debuginfo = dwfl_standard_find_debuginfo,
    };
    places->dwfl = dwfl_begin(&places->callbacks);
    if (places->dwfl == NULL || dwfl_linux_proc_report(places->dwfl, getpid()) != 0 ||
            dwfl_report_end(places->dwfl, NULL, NULL) != 0) {
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
        free(*places);
        *places = NULL;
    }
}

bool
sim_place_is_runtime(const struct sim_place *place)
{
    return strncmp(place->file, "runtime/", 8) == 0;
}

/* The C library names its files from the folder that it was built in. */
bool
sim_place_is_readers(const struct sim_place *place)
{
    static const char *const others[] = {"sim/", "reports/", "./", "../", "/usr/", "/build/"};
    for (size_t i = 0; i < sizeof(others) / sizeof(*others); i++) {
        if (strncmp(place->file, others[i], strlen(others[i])) == 0) {
            return false;
        }
    }
    return place->file[0] != '\0';
}

const char *
sim_place_file(const struct sim_place *place)
{
    const char *slash = strrchr(place->file, '/');
    return slash != NULL ? slash + 1 : place->file;
}
