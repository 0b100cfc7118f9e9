/*
 * sort_test.c -- a sort that keeps the order of equal items.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "sim/base/sort.h"

#include <stdint.h>

#include "runtime/tests/test.h"

struct item {
    uint32_t key;
    uint32_t place;
};

static int
by_key(const void *left, const void *right)
{
    const struct item *a = left;
    const struct item *b = right;
    return (a->key > b->key) - (a->key < b->key);
}

/* Method: every length up to some blocks of merging, keys from a small range, so that many are
 * equal; in the end keys never fall, and equal ones stand as they stood. */
TEST(sort_keeps_the_order_of_what_is_equal)
{
    struct item items[70];
    uint32_t next = 1;
    for (size_t count = 0; count <= 70; count++) {
        for (size_t i = 0; i < count; i++) {
            next = next * 1103515245u + 12345u;
            items[i] = (struct item){next >> 16 & 7, (uint32_t)i};
        }
        sim_sort(items, count, sizeof(*items), by_key);
        for (size_t i = 1; i < count; i++) {
            const struct item *a = &items[i - 1];
            const struct item *b = &items[i];
            EXPECT(a->key < b->key || (a->key == b->key && a->place < b->place));
        }
    }
}
