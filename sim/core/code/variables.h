/*
 * variables.h -- the names of global variables, and of what is in them.
 *
 *      ready   queue.head   slots[3].state   counter+2
 *
 * With debug information a name goes down to the member and the element; without it (a symbol
 * table alone) it ends with the offset. Members that a compiler's own library hides inside of a
 * type (`_M_i` of std::atomic, `__data` of a mutex) are left out.
 *
 * Everything is read when a module is added, in the process that starts workers; a look-up takes no
 * memory, so that it may be made within a run.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct sim_places;

/* Adds the variables of the module around `address`, which `places` knows. */
void sim_variables_add(struct sim_places *places, uintptr_t address);

/* Writes the name of what is at `address`, cut to `size`. False: it is in no variable. */
bool sim_variable_name(const void *address, char *ret_name, size_t size);
