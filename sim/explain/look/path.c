/*
 * path.c -- instructions, by function.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "sim/explain/look/path.h"

#include <string.h>

#define INLINED_MAX 8u

static bool
is_told(const struct sim_place *place)
{
    size_t length = strlen(place->file);
    bool header = length > 2 && strcmp(place->file + length - 2, ".h") == 0;
    return sim_place_is_readers(place) && !header && strcmp(place->function, "?") != 0;
}

static struct sim_walked *
find(struct sim_walked *all, uint32_t *count, const struct sim_place *place)
{
    for (uint32_t i = 0; i < *count; i++) {
        if (strcmp(all[i].place.function, place->function) == 0 &&
                strcmp(all[i].place.file, place->file) == 0) {
            return &all[i];
        }
    }
    if (*count == SIM_PATH_FUNCTIONS) {
        return NULL;
    }
    all[*count] = (struct sim_walked){*place, UINT32_MAX, 0};
    return &all[(*count)++];
}

static void
note(struct sim_walked *all, uint32_t *count, const struct sim_place *place,
        const struct sim_path_slot *slot)
{
    struct sim_walked *walked = find(all, count, place);
    if (walked == NULL) {
        return;
    }
    if (place->entry && slot->first < walked->entered) {
        walked->entered = slot->first;
    }
    if (slot->last >= walked->last) {
        walked->last = slot->last;
        walked->place.line = place->line;
    }
}

static bool
stands_before(const struct sim_walked *a, const struct sim_walked *b)
{
    bool runtime_a = sim_place_is_runtime(&a->place);
    bool runtime_b = sim_place_is_runtime(&b->place);
    return runtime_a != runtime_b ? !runtime_a : a->last > b->last;
}

static void
sort(struct sim_walked *all, uint32_t count)
{
    for (uint32_t i = 1; i < count; i++) {
        struct sim_walked walked = all[i];
        uint32_t k = i;
        for (; k > 0 && stands_before(&walked, &all[k - 1]); k--) {
            all[k] = all[k - 1];
        }
        all[k] = walked;
    }
}

uint32_t
sim_path_functions(struct sim_places *places, const struct sim_path *path, struct sim_walked *ret)
{
    struct sim_place found[INLINED_MAX];
    uint32_t count = 0;
    for (uint32_t i = 0; i < SIM_PATH_SLOTS && places != NULL; i++) {
        const struct sim_path_slot *slot = &path->slots[i];
        /* Most of a walk is the simulator's own, and what is looked up below costs much. */
        bool worth = slot->pc != 0 && sim_places_line(places, slot->pc, &found[0]) &&
                     sim_place_is_readers(&found[0]);
        uint32_t chain = worth ? sim_places_at(places, slot->pc, false, found, INLINED_MAX) : 0;
        for (uint32_t k = 0; k < chain; k++) {
            if (is_told(&found[k])) {
                note(ret, &count, &found[k], slot);
            }
        }
    }
    sort(ret, count);
    return count;
}
