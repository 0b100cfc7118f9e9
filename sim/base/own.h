/*
 * own.h -- what lies in the program itself.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

/* Of the linker: where the executable begins, and where it ends. */
extern const char __executable_start[];
extern const char _end[];

/* Whether it is in rewake (or the test that it is linked into), and in no library. dladdr answers
 * that too, and reads the thousands of names that rewake exports. */
static inline bool
sim_is_own(uintptr_t address)
{
    return address >= (uintptr_t)__executable_start && address < (uintptr_t)_end;
}
