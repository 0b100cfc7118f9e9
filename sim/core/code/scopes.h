/*
 * scopes.h -- the functions of a unit of debug information, and what is around each.
 *
 * To find the scopes around an address, or around a declaration, libdw walks all of the unit each
 * time: milliseconds in a unit of C++ with large headers. This walks a unit once.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#pragma once

#include <elfutils/libdw.h>
#include <stdbool.h>
#include <stdint.h>

/* Opaque: the functions, classes and namespaces of the units that were asked for. */
struct sim_scopes;

struct sim_scopes *sim_scopes_new(void);
void sim_scopes_free(struct sim_scopes **scopes); /* NULL there: no-op. */

/*
 * The functions at `pc` (without the bias of its module), innermost first: those that were inlined
 * there, and last the one whose code it is. `unit` is theirs. Returns how many were written to
 * `ret`, at most `max` (> 0); 0: none is known.
 */
uint32_t sim_scopes_at(
        struct sim_scopes *scopes, Dwarf_Die *unit, Dwarf_Addr pc, Dwarf_Die *ret, uint32_t max);

/* The function, class or namespace around `die`, which is one itself; false: its unit is. `ret` may
 * be `die`. */
bool sim_scopes_around(struct sim_scopes *scopes, Dwarf_Die *die, Dwarf_Die *ret);
