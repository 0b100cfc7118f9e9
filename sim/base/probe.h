/*
 * probe.h -- where a number is in a hash table of fixed size.
 *
 * The table is an array of 2^bits entries, each of which begins with a struct sim_key. An entry
 * with another stamp than the table's is free, so a new stamp empties the table. Open addressing;
 * nothing is allocated, and nothing depends on an address.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct sim_key {
    uint32_t key;
    uint32_t stamp; /* Zeroed: free in a table whose stamp is not 0. */
};

/* The first place for `key`. */
static inline uint32_t
sim_probe_start(uint32_t bits, uint32_t key)
{
    return key * UINT32_C(0x9e3779b1) >> (32 - bits);
}

/* The place of `key` among entries of `size` bytes, or the free one for it. UINT32_MAX: it is at
 * none of the first `tries` places for it, and none of them is free. */
static inline uint32_t
sim_probe(const void *entries, size_t size, uint32_t bits, uint32_t tries, uint32_t stamp,
        uint32_t key)
{
    uint32_t start = sim_probe_start(bits, key);
    for (uint32_t i = 0; i < tries; i++) {
        uint32_t place = (start + i) & ((UINT32_C(1) << bits) - 1);
        const struct sim_key *at = (const void *)((const char *)entries + place * size);
        if (at->stamp != stamp || at->key == key) {
            return place;
        }
    }
    return UINT32_MAX;
}

/* As sim_probe, in a table that is never full. */
static inline uint32_t
sim_probe_all(const void *entries, size_t size, uint32_t bits, uint32_t stamp, uint32_t key)
{
    return sim_probe(entries, size, bits, UINT32_MAX, stamp, key);
}
