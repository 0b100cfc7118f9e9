/*
 * variables.c -- variables and their types, out of debug information by libdw.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "sim/core/code/variables.h"

#include <dwarf.h>
#include <elfutils/libdwfl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/base/assert.h"
#include "sim/base/heap.h"
#include "sim/base/sort.h"
#include "sim/core/code/symbols.h"

/* How deep types are followed: a list that contains itself by value does not exist, but debug
 * information is untrusted. */
#define DEPTH_MAX 16u
#define MEMBERS_MAX 512u
#define NONE UINT32_MAX

/* A member of a struct, or the element of an array; a base class has no name. */
struct member {
    const char *name;
    uint64_t offset;
    uint64_t size;
    uint32_t type; /* Index; NONE: nothing is in it. */
};

/* What an aggregate consists of. */
struct type {
    uint32_t first; /* Of its members. */
    uint32_t count;
    bool array; /* It has one member, again and again. */
};

/* Of those at one address the first one added comes first: it has a type, a symbol has none. */
struct variable {
    uintptr_t address;
    uint64_t size;
    const char *name;
    uint32_t type;
};

/* Of the process: filled while programs are loaded, then only read. */
static struct {
    struct member *members;
    struct type *types;
    struct variable *variables;
    uint32_t member_count, member_capacity;
    uint32_t type_count, type_capacity;
    uint32_t variable_count, variable_capacity;
} known;

/* ---- Types. ---------------------------------------------------------------------------------- */

static bool
follow_type(Dwarf_Die *die, Dwarf_Die *ret_type)
{
    Dwarf_Attribute attribute;
    Dwarf_Die type;
    return dwarf_attr_integrate(die, DW_AT_type, &attribute) != NULL &&
           dwarf_formref_die(&attribute, &type) != NULL && dwarf_peel_type(&type, ret_type) == 0;
}

static uint64_t
size_of(Dwarf_Die *type)
{
    Dwarf_Word size = 0;
    return dwarf_aggregate_size(type, &size) == 0 ? size : 0;
}

static uint32_t add_type(Dwarf_Die *die, uint32_t depth);

static uint32_t
add_members(const struct member *members, uint32_t count, bool array)
{
    uint32_t first = known.member_count;
    for (uint32_t i = 0; i < count; i++) {
        sim_heap_grow(
                &known.members, known.member_count, &known.member_capacity, sizeof(*known.members));
        known.members[known.member_count++] = members[i];
    }
    sim_heap_grow(&known.types, known.type_count, &known.type_capacity, sizeof(*known.types));
    known.types[known.type_count] = (struct type){first, count, array};
    return known.type_count++;
}

/* The elements of all dimensions in a row. */
static uint32_t
add_array(Dwarf_Die *die, uint32_t depth)
{
    Dwarf_Die element;
    if (!follow_type(die, &element) || size_of(&element) == 0) {
        return NONE;
    }
    struct member member = {NULL, 0, size_of(&element), add_type(&element, depth + 1)};
    return add_members(&member, 1, true);
}

static bool
read_member(Dwarf_Die *die, uint32_t depth, struct member *ret_member)
{
    Dwarf_Attribute attribute;
    Dwarf_Word offset = 0;
    Dwarf_Die type;
    int tag = dwarf_tag(die);
    bool placed =
            dwarf_formudata(dwarf_attr(die, DW_AT_data_member_location, &attribute), &offset) == 0;
    if ((tag != DW_TAG_member && tag != DW_TAG_inheritance) || !follow_type(die, &type) ||
            dwarf_hasattr(die, DW_AT_external) != 0) {
        return false;
    }
    char *name = tag == DW_TAG_member ? sim_heap_text(dwarf_diename(die)) : NULL;
    *ret_member = (struct member){name, placed ? offset : 0, size_of(&type), NONE};
    ret_member->type = add_type(&type, depth + 1);
    return ret_member->size > 0;
}

static uint32_t
add_struct(Dwarf_Die *die, uint32_t depth)
{
    struct member *members = sim_heap_new(MEMBERS_MAX, sizeof(*members));
    uint32_t count = 0;
    Dwarf_Die child;
    if (dwarf_child(die, &child) == 0) {
        do {
            count += read_member(&child, depth, &members[count]);
        } while (count < MEMBERS_MAX && dwarf_siblingof(&child, &child) == 0);
    }
    uint32_t type = count > 0 ? add_members(members, count, false) : NONE;
    free(members);
    return type;
}

/* NONE: there is nothing in it. */
static uint32_t
add_type(Dwarf_Die *die, uint32_t depth)
{
    if (depth == DEPTH_MAX) {
        return NONE;
    }
    switch (dwarf_tag(die)) {
    case DW_TAG_array_type:
        return add_array(die, depth);
    case DW_TAG_structure_type:
    case DW_TAG_class_type:
    case DW_TAG_union_type:
        return add_struct(die, depth);
    default:
        return NONE;
    }
}

/* ---- Variables. ------------------------------------------------------------------------------ */

static void
add_variable(uintptr_t address, uint64_t size, const char *name, uint32_t type)
{
    sim_heap_grow(&known.variables, known.variable_count, &known.variable_capacity,
            sizeof(*known.variables));
    known.variables[known.variable_count] =
            (struct variable){address, size, sim_heap_text(name), type};
    known.variable_count++;
}

/* The address that a variable has for the whole run. False: it has none, or several. */
static bool
read_address(Dwarf_Die *die, Dwarf_Addr *ret_address)
{
    Dwarf_Attribute attribute;
    Dwarf_Attribute indirect;
    Dwarf_Op *location = NULL;
    size_t length = 0;
    Dwarf_Attribute *found = dwarf_attr(die, DW_AT_location, &attribute);
    if (found == NULL || dwarf_getlocation(found, &location, &length) != 0 || length != 1) {
        return false;
    }
    if (location[0].atom == DW_OP_addrx) {
        return dwarf_getlocation_attr(found, location, &indirect) == 0 &&
               dwarf_formaddr(&indirect, ret_address) == 0;
    }
    *ret_address = location[0].number;
    return location[0].atom == DW_OP_addr;
}

static void
read_variable(Dwarf_Die *die, Dwarf_Addr bias)
{
    Dwarf_Attribute attribute;
    Dwarf_Addr address = 0;
    Dwarf_Die type;
    if (!read_address(die, &address) || !follow_type(die, &type)) {
        return;
    }
    const char *name = dwarf_formstring(dwarf_attr_integrate(die, DW_AT_name, &attribute));
    if (name != NULL && size_of(&type) > 0) {
        add_variable(address + bias, size_of(&type), name, add_type(&type, 0));
    }
}

/* Those of a unit, of its namespaces, and those of functions that are static. */
static void
read_variables(Dwarf_Die *around, Dwarf_Addr bias, uint32_t depth)
{
    Dwarf_Die child;
    if (depth == DEPTH_MAX || dwarf_child(around, &child) != 0) {
        return;
    }
    do {
        int tag = dwarf_tag(&child);
        if (tag == DW_TAG_variable) {
            read_variable(&child, bias);
        } else if (tag == DW_TAG_namespace || tag == DW_TAG_subprogram ||
                   tag == DW_TAG_lexical_block) {
            read_variables(&child, bias, depth + 1);
        }
    } while (dwarf_siblingof(&child, &child) == 0);
}

static void
read_symbols(Dwfl_Module *module)
{
    int count = dwfl_module_getsymtab(module);
    for (int i = 1; i < count; i++) {
        GElf_Sym symbol;
        GElf_Addr address = 0;
        const char *name = dwfl_module_getsym_info(module, i, &symbol, &address, NULL, NULL, NULL);
        if (name != NULL && GELF_ST_TYPE(symbol.st_info) == STT_OBJECT && symbol.st_size > 0 &&
                symbol.st_shndx != SHN_UNDEF) {
            add_variable(address, symbol.st_size, name, NONE);
        }
    }
}

static int
by_address(const void *a, const void *b)
{
    const struct variable *one = a;
    const struct variable *other = b;
    return one->address < other->address ? -1 : one->address > other->address;
}

void
sim_variables_add(struct sim_places *places, uintptr_t address)
{
    Dwfl_Module *module = dwfl_addrmodule(sim_places_dwfl(places), address);
    Dwarf_Addr bias = 0;
    Dwarf_Die *unit = NULL;
    while (module != NULL && (unit = dwfl_module_nextcu(module, unit, &bias)) != NULL) {
        read_variables(unit, bias, 0);
    }
    if (module != NULL) {
        read_symbols(module);
    }
    sim_sort(known.variables, known.variable_count, sizeof(*known.variables), by_address);
}

/* ---- Names. ---------------------------------------------------------------------------------- */

struct text {
    char *at;
    size_t size;
};

__attribute__((format(printf, 2, 3))) static void
put(struct text *text, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    int length = vsnprintf(text->at, text->size, format, arguments);
    va_end(arguments);
    size_t used = length > 0 ? (size_t)length : 0;
    used = used < text->size ? used : text->size - 1;
    text->at += used;
    text->size -= used;
}

/* The member around `offset`; NULL: it is between two. */
static const struct member *
member_at(const struct type *type, uint64_t offset)
{
    for (uint32_t i = 0; i < type->count; i++) {
        const struct member *member = &known.members[type->first + i];
        if (type->array || offset - member->offset < member->size) {
            return member;
        }
    }
    return NULL;
}

static bool
is_hidden(const char *name)
{
    return name == NULL || strncmp(name, "_M_", 3) == 0 || strncmp(name, "__", 2) == 0;
}

static void
put_path(struct text *text, uint32_t index, uint64_t offset)
{
    while (index != NONE) {
        const struct type *type = &known.types[index];
        const struct member *member = member_at(type, offset);
        if (member == NULL) {
            break;
        }
        if (type->array) {
            put(text, "[%llu]", (unsigned long long)(offset / member->size));
            offset %= member->size;
        } else {
            offset -= member->offset;
            if (!is_hidden(member->name)) {
                put(text, ".%s", member->name);
            }
        }
        index = member->type;
    }
    if (offset > 0) {
        put(text, "+%llu", (unsigned long long)offset);
    }
}

/* The last variable that begins at or before `address`, of those the one that was added first. */
static const struct variable *
find(uintptr_t address)
{
    uint32_t low = 0;
    uint32_t high = known.variable_count;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (known.variables[middle].address <= address) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    if (low == 0) {
        return NULL;
    }
    low--;
    while (low > 0 && known.variables[low - 1].address == known.variables[low].address) {
        low--;
    }
    const struct variable *variable = &known.variables[low];
    return address - variable->address < variable->size ? variable : NULL;
}

bool
sim_variable_name(const void *address, char *ret_name, size_t size)
{
    rt_assert(size > 0);
    const struct variable *variable = find((uintptr_t)address);
    if (variable == NULL) {
        return false;
    }
    struct text text = {ret_name, size};
    put(&text, "%s", variable->name);
    put_path(&text, variable->type, (uintptr_t)address - variable->address);
    return true;
}
