/*
 * sort.h -- a sort that keeps the order of equal items.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#pragma once

#include <stddef.h>

/* Sorts `count` items of `size` bytes. `compare`: below 0 where the first comes first, 0 where they
 * are equal. Takes memory for a copy of them. */
void sim_sort(void *items, size_t count, size_t size, int (*compare)(const void *, const void *));
