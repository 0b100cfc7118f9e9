/*
 * sort.c -- a sort that keeps the order of what is equal: merging, from the bottom up.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "reports/base/sort.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/base/assert.h"

/* items[first .. middle) and items[middle .. last) are in order; then all of them are. */
static void
merge(const void **items, const void **buffer, size_t first, size_t middle, size_t last,
        int (*order)(const void *a, const void *b))
{
    size_t left = first;
    size_t right = middle;
    for (size_t i = first; i < last; i++) {
        bool take_left = left < middle && (right == last || order(items[left], items[right]) <= 0);
        buffer[i] = items[take_left ? left++ : right++];
    }
    memcpy(items + first, buffer + first, (last - first) * sizeof(*items));
}

void
report_sort(const void **items, size_t count, int (*order)(const void *a, const void *b))
{
    const void **buffer = calloc(count + 1, sizeof(*buffer));
    rt_assert(buffer != NULL);
    for (size_t width = 1; width < count; width *= 2) {
        for (size_t first = 0; first + width < count; first += 2 * width) {
            size_t last = first + 2 * width;
            merge(items, buffer, first, first + width, last < count ? last : count, order);
        }
    }
    free(buffer);
}
