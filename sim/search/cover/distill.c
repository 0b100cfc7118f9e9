/*
 * distill.c -- greedy set cover.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "sim/search/cover/distill.h"

#include <stdlib.h>

#include "runtime/base/assert.h"

/* Ids that are covered: open addressing, 0 is free (no id is 0). */
struct covered {
    uint64_t *ids;
    uint64_t mask;
    uint32_t count;
};

static void
covered_init(struct covered *covered, const struct sim_cover_set *sets, uint32_t count)
{
    uint64_t most = 8;
    for (uint32_t i = 0; i < count; i++) {
        most += sets[i].count;
    }
    uint64_t size = 16;
    while (size < 2 * most) {
        size *= 2;
    }
    *covered = (struct covered){calloc(size, sizeof(uint64_t)), size - 1, 0};
    rt_assert(covered->ids != NULL);
}

static uint64_t *
place_of(const struct covered *covered, uint64_t id)
{
    uint64_t at = id * UINT64_C(0x9e3779b97f4a7c15) >> 20;
    while (covered->ids[at & covered->mask] != 0 && covered->ids[at & covered->mask] != id) {
        at++;
    }
    return &covered->ids[at & covered->mask];
}

static uint32_t
adds(const struct covered *covered, const struct sim_cover_set *set)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < set->count; i++) {
        count += *place_of(covered, set->ids[i]) == 0;
    }
    return count;
}

static void
take(struct covered *covered, const struct sim_cover_set *set)
{
    for (uint32_t i = 0; i < set->count; i++) {
        uint64_t *place = place_of(covered, set->ids[i]);
        covered->count += *place == 0;
        *place = set->ids[i];
    }
}

uint32_t
sim_distill(const struct sim_cover_set *sets, uint32_t count, struct sim_taken *ret)
{
    struct covered covered;
    uint32_t taken = 0;
    covered_init(&covered, sets, count);
    for (;;) {
        struct sim_taken best = {0, 0, 0};
        for (uint32_t i = 0; i < count; i++) {
            /* A set that is not larger cannot add more. */
            uint32_t more = sets[i].count > best.adds ? adds(&covered, &sets[i]) : 0;
            if (more > best.adds) {
                best = (struct sim_taken){i, more, 0};
            }
        }
        if (best.adds == 0) {
            break;
        }
        rt_assert(taken < count);
        take(&covered, &sets[best.set]);
        best.covered = covered.count;
        ret[taken++] = best;
    }
    free(covered.ids);
    return taken;
}
