/*
 * sort.c -- a merge sort.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "sim/base/sort.h"

#include <stdbool.h>
#include <string.h>

#include "sim/base/heap.h"

/* Two sorted runs, which are neighbours. */
struct runs {
    size_t first;
    size_t middle; /* Where the second one begins. */
    size_t end;
};

static void
merge(char *to, const char *from, size_t size, const struct runs *runs,
        int (*compare)(const void *, const void *))
{
    size_t a = runs->first;
    size_t b = runs->middle;
    for (size_t i = runs->first; i < runs->end; i++) {
        bool from_a = a < runs->middle &&
                      (b == runs->end || compare(from + a * size, from + b * size) <= 0);
        size_t taken = from_a ? a++ : b++;
        memcpy(to + i * size, from + taken * size, size);
    }
}

void
sim_sort(void *items, size_t count, size_t size, int (*compare)(const void *, const void *))
{
    char *merged = sim_heap_new(count, size);
    for (size_t run = 1; run < count; run *= 2) {
        for (size_t first = 0; first < count; first += 2 * run) {
            size_t middle = first + run < count ? first + run : count;
            size_t end = middle + run < count ? middle + run : count;
            merge(merged, items, size, &(struct runs){first, middle, end}, compare);
        }
        memcpy(items, merged, count * size);
    }
    free(merged);
}
