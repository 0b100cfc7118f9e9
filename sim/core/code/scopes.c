/*
 * scopes.c -- an index of each unit: functions by address, scopes by where they are written.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "sim/core/code/scopes.h"

#include <dwarf.h>
#include <string.h>

#include "sim/base/heap.h"
#include "sim/base/sort.h"

#define NONE UINT32_MAX
#define DEPTH_MAX 64 /* Of namespaces, classes, functions and blocks in each other. */

struct scope {
    Dwarf_Die die;
    uint32_t around; /* NONE: the unit. */
};

/* Code of a function; it can have several such pieces. */
struct piece {
    Dwarf_Addr low;
    Dwarf_Addr high;
    uint32_t scope;
};

struct unit {
    struct Dwarf_CU *key;
    struct scope *scopes; /* By the address of the DIE, as they are written. */
    struct piece *pieces; /* By address. */
    uint32_t scope_count;
    uint32_t scope_capacity;
    uint32_t piece_count;
    uint32_t piece_capacity;
};

struct sim_scopes {
    struct unit **units;
    uint32_t count;
    uint32_t capacity;
};

/* ---- Reading a unit. ------------------------------------------------------------------------- */

static bool
is_scope(int tag)
{
    return tag == DW_TAG_subprogram || tag == DW_TAG_namespace || tag == DW_TAG_class_type ||
           tag == DW_TAG_structure_type || tag == DW_TAG_union_type;
}

static bool
is_block(int tag)
{
    return tag == DW_TAG_lexical_block || tag == DW_TAG_try_block || tag == DW_TAG_catch_block;
}

static void
add_pieces(struct unit *unit, uint32_t scope)
{
    struct piece piece = {.scope = scope};
    Dwarf_Addr base = 0;
    ptrdiff_t at = 0;
    while ((at = dwarf_ranges(&unit->scopes[scope].die, at, &base, &piece.low, &piece.high)) > 0) {
        sim_heap_grow(&unit->pieces, unit->piece_count, &unit->piece_capacity, sizeof(piece));
        unit->pieces[unit->piece_count++] = piece;
    }
}

static uint32_t
add_scope(struct unit *unit, const Dwarf_Die *die, uint32_t around)
{
    sim_heap_grow(&unit->scopes, unit->scope_count, &unit->scope_capacity, sizeof(struct scope));
    unit->scopes[unit->scope_count] = (struct scope){*die, around};
    return unit->scope_count++;
}

static void
read_scopes(struct unit *unit, Dwarf_Die *around, uint32_t index, uint32_t depth)
{
    Dwarf_Die child;
    if (depth == DEPTH_MAX || dwarf_child(around, &child) != 0) {
        return;
    }
    do {
        int tag = dwarf_tag(&child);
        uint32_t scope = is_scope(tag) ? add_scope(unit, &child, index) : index;
        if (tag == DW_TAG_subprogram) {
            add_pieces(unit, scope);
        }
        if (is_scope(tag) || is_block(tag)) {
            read_scopes(unit, &child, scope, depth + 1);
        }
    } while (dwarf_siblingof(&child, &child) == 0);
}

static int
by_address(const void *a, const void *b)
{
    const struct piece *one = a;
    const struct piece *other = b;
    return one->low < other->low ? -1 : one->low > other->low;
}

/* The unit of `die`. */
static const struct unit *
unit_of(struct sim_scopes *scopes, Dwarf_Die *die)
{
    for (uint32_t i = scopes->count; i-- > 0;) {
        if (scopes->units[i]->key == die->cu) {
            return scopes->units[i];
        }
    }
    struct unit *unit = sim_heap_new(1, sizeof(*unit));
    Dwarf_Die top;
    unit->key = die->cu;
    if (dwarf_diecu(die, &top, NULL, NULL) != NULL) {
        read_scopes(unit, &top, NONE, 0);
    }
    sim_sort(unit->pieces, unit->piece_count, sizeof(*unit->pieces), by_address);
    sim_heap_grow(&scopes->units, scopes->count, &scopes->capacity, sizeof(unit));
    scopes->units[scopes->count++] = unit;
    return unit;
}

/* ---- Looking up. ----------------------------------------------------------------------------- */

/* Of the function whose code is at `pc`; NONE: none is known. */
static uint32_t
function_at(const struct unit *unit, Dwarf_Addr pc)
{
    uint32_t low = 0; /* The first piece that begins after pc is in low .. high. */
    uint32_t high = unit->piece_count;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (unit->pieces[middle].low <= pc) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low > 0 && pc < unit->pieces[low - 1].high ? unit->pieces[low - 1].scope : NONE;
}

/* The block or inlined function in `around` that has `pc`; false: none. */
static bool
go_in(Dwarf_Die *around, Dwarf_Addr pc, Dwarf_Die *ret)
{
    Dwarf_Die child;
    if (dwarf_child(around, &child) != 0) {
        return false;
    }
    do {
        int tag = dwarf_tag(&child);
        if ((tag == DW_TAG_inlined_subroutine || is_block(tag)) && dwarf_haspc(&child, pc) > 0) {
            *ret = child;
            return true;
        }
    } while (dwarf_siblingof(&child, &child) == 0);
    return false;
}

/* Puts `die` before the `count` that are there, the last of which is lost if they are `max`. */
static uint32_t
put_first(Dwarf_Die *ret, uint32_t count, uint32_t max, const Dwarf_Die *die)
{
    count = count < max ? count : max - 1;
    memmove(&ret[1], ret, count * sizeof(*ret));
    ret[0] = *die;
    return count + 1;
}

uint32_t
sim_scopes_at(
        struct sim_scopes *scopes, Dwarf_Die *unit, Dwarf_Addr pc, Dwarf_Die *ret, uint32_t max)
{
    const struct unit *known = unit_of(scopes, unit);
    uint32_t function = function_at(known, pc);
    if (function == NONE) {
        return 0;
    }
    Dwarf_Die at = known->scopes[function].die;
    uint32_t count = put_first(ret, 0, max, &at);
    while (go_in(&at, pc, &at)) {
        if (dwarf_tag(&at) == DW_TAG_inlined_subroutine) {
            count = put_first(ret, count, max, &at);
        }
    }
    return count;
}

bool
sim_scopes_around(struct sim_scopes *scopes, Dwarf_Die *die, Dwarf_Die *ret)
{
    const struct unit *unit = unit_of(scopes, die);
    uint32_t low = 0; /* The one that is written at die->addr is in low .. high. */
    uint32_t high = unit->scope_count;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if ((const char *)unit->scopes[middle].die.addr < (const char *)die->addr) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    if (low == unit->scope_count || unit->scopes[low].die.addr != die->addr ||
            unit->scopes[low].around == NONE) {
        return false;
    }
    *ret = unit->scopes[unit->scopes[low].around].die;
    return true;
}

struct sim_scopes *
sim_scopes_new(void)
{
    return sim_heap_new(1, sizeof(struct sim_scopes));
}

void
sim_scopes_free(struct sim_scopes **scopes)
{
    for (uint32_t i = 0; *scopes != NULL && i < (*scopes)->count; i++) {
        free((*scopes)->units[i]->scopes);
        free((*scopes)->units[i]->pieces);
        free((*scopes)->units[i]);
    }
    if (*scopes != NULL) {
        free((*scopes)->units);
    }
    free(*scopes);
    *scopes = NULL;
}
