/*
 * grow.h -- an array that grows by one.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SIM_BASE_GROW_H
#define SIM_BASE_GROW_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* Makes space for item `count` of `*items` (a pointer to any array, from malloc), and clears it.
 * False: no memory, nothing changed. */
static inline bool
sim_grow(void *items, uint32_t count, uint32_t *capacity, size_t size)
{
    char *bytes = NULL;
    memcpy(&bytes, items, sizeof(bytes)); /* A void ** would be another type than the array's. */
    if (count == *capacity) {
        uint32_t grown = *capacity != 0 ? *capacity * 2 : 64;
        char *more = reallocarray(bytes, grown, size);
        if (more == NULL) {
            return false;
        }
        bytes = more;
        *capacity = grown;
        memcpy(items, &bytes, sizeof(bytes));
    }
    memset(bytes + count * size, 0, size);
    return true;
}

#endif
