/*
 * sort.h -- a sort that keeps the order of what is equal.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#pragma once

#include <stddef.h>

/* Sorts `count` pointers; `order` answers below, at or above 0, as that of qsort does. Takes memory
 * for as many pointers while it runs. */
void report_sort(const void **items, size_t count, int (*order)(const void *a, const void *b));
