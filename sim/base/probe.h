/*
 * probe.h -- where a number is in a hash table of fixed size.
 *
 * The table is an array of 2^bits keys; what belongs to a key is in the caller's own arrays, at the
 * same place. A key with another stamp than the table's is free, so a new stamp empties the table.
 * Open addressing; nothing is allocated, and nothing depends on an address.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SIM_BASE_PROBE_H
#define SIM_BASE_PROBE_H

#include <stdbool.h>
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

/* The place of `key`, or the free one for it. UINT32_MAX: it is at none of the first `tries` places
 * for it, and none of them is free. */
static inline uint32_t
sim_probe(const struct sim_key *keys, uint32_t bits, uint32_t tries, uint32_t stamp, uint32_t key)
{
    uint32_t start = sim_probe_start(bits, key);
    for (uint32_t i = 0; i < tries; i++) {
        uint32_t place = (start + i) & ((UINT32_C(1) << bits) - 1);
        if (keys[place].stamp != stamp || keys[place].key == key) {
            return place;
        }
    }
    return UINT32_MAX;
}

/* As sim_probe, in a table that is never full. */
static inline uint32_t
sim_probe_all(const struct sim_key *keys, uint32_t bits, uint32_t stamp, uint32_t key)
{
    return sim_probe(keys, bits, UINT32_MAX, stamp, key);
}

/* Sets the key of a place that sim_probe has returned for it. True: the place was free. */
static inline bool
sim_probe_set(struct sim_key *keys, uint32_t place, uint32_t stamp, uint32_t key)
{
    bool was_free = keys[place].stamp != stamp;
    keys[place] = (struct sim_key){key, stamp};
    return was_free;
}

#endif
