/*
 * path.c -- instructions, by function.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "sim/explain/look/path.h"

#include <string.h>

#include "runtime/base/assert.h"

static bool
is_shown(const struct sim_place *place)
{
    size_t length = strlen(place->file);
    bool header = length > 2 && strcmp(place->file + length - 2, ".h") == 0;
    return sim_place_is_readers(place) && !header && strcmp(place->function, "?") != 0;
}

static struct sim_walked *
find(struct sim_walked *all, uint32_t *count, const struct sim_place *place)
{
    rt_assert(*count <= SIM_PATH_FUNCTIONS);
    for (uint32_t i = 0; i < *count; i++) {
        if (strcmp(all[i].place.function, place->function) == 0 &&
                strcmp(all[i].place.file, place->file) == 0) {
            return &all[i];
        }
    }
    if (*count == SIM_PATH_FUNCTIONS) {
        return NULL;
    }
    all[*count] = (struct sim_walked){.place = *place, .entered = UINT32_MAX, .first = UINT32_MAX};
    return &all[(*count)++];
}

static void
note(struct sim_walked *all, uint32_t *count, const struct sim_place *place,
        const struct sim_path_slot *slot, uint32_t depth, bool within)
{
    struct sim_walked *walked = find(all, count, place);
    if (walked == NULL) {
        return;
    }
    walked->within = walked->within || within;
    walked->first = slot->first < walked->first ? slot->first : walked->first;
    if (place->entry && slot->first < walked->entered) {
        walked->entered = slot->first;
    }
    if (slot->last >= walked->last) {
        if (place->line != walked->place.line) {
            walked->before = walked->place.line;
            walked->before_last = walked->last;
        }
        walked->last = slot->last;
        walked->depth = depth;
        walked->place.line = place->line;
    } else if (place->line != walked->place.line && slot->last >= walked->before_last) {
        walked->before = place->line;
        walked->before_last = slot->last;
    }
}

/* What is part of another function has no beginning of its own: it was entered where it was come to
 * first, unless the walk began there. */
static void
enter_within(struct sim_walked *all, uint32_t count)
{
    rt_assert(count <= SIM_PATH_FUNCTIONS);
    uint32_t begin = UINT32_MAX;
    for (uint32_t i = 0; i < count; i++) {
        bool own = !sim_place_is_runtime(&all[i].place);
        begin = own && all[i].first < begin ? all[i].first : begin;
    }
    for (uint32_t i = 0; i < count; i++) {
        if (all[i].within && all[i].entered == UINT32_MAX && all[i].first > begin) {
            all[i].entered = all[i].first;
        }
    }
}

/* It gave its stack up, and has not returned. */
static bool
is_suspended(struct sim_places *places, const struct sim_path *path, const struct sim_place *place)
{
    struct sim_place found[SIM_INLINED_MAX];
    for (uint32_t i = 0; i < path->blocked.frame_count && i < SIM_WALK_FRAMES; i++) {
        uint32_t count =
                sim_places_at(places, path->blocked.frames[i], i > 0, found, SIM_INLINED_MAX);
        for (uint32_t k = 0; k < count; k++) {
            if (strcmp(found[k].function, place->function) == 0) {
                return true;
            }
        }
    }
    return false;
}

static bool
stands_before(const struct sim_walked *a, const struct sim_walked *b)
{
    bool runtime_a = sim_place_is_runtime(&a->place);
    bool runtime_b = sim_place_is_runtime(&b->place);
    /* Of functions that share an instruction, the innermost first; not as the table happens to have
     * them, whose order depends on where the program was loaded. */
    return runtime_a != runtime_b ? !runtime_a
           : a->last != b->last   ? a->last > b->last
                                  : a->depth < b->depth;
}

static void
sort(struct sim_walked *all, uint32_t count)
{
    rt_assert(count <= SIM_PATH_FUNCTIONS);
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
    rt_assert(ret != NULL);
    struct sim_place found[SIM_INLINED_MAX];
    uint32_t count = 0;
    for (uint32_t i = 0; i < SIM_PATH_SLOTS && places != NULL; i++) {
        const struct sim_path_slot *slot = &path->slots[i];
        /* Most of a walk is the simulator's own, and what is looked up below costs much. */
        bool worth = slot->pc != 0 && sim_places_line(places, slot->pc, &found[0]) &&
                     sim_place_is_readers(&found[0]);
        uint32_t chain = worth ? sim_places_at(places, slot->pc, false, found, SIM_INLINED_MAX) : 0;
        for (uint32_t k = 0; k < chain; k++) {
            if (is_shown(&found[k])) {
                note(ret, &count, &found[k], slot, k, k + 1 < chain);
            }
        }
    }
    enter_within(ret, count);
    for (uint32_t i = 0; i < count; i++) {
        struct sim_walked *walked = &ret[i];
        bool returned = walked->entered != UINT32_MAX && walked->before > 0 &&
                        walked->before < walked->place.line &&
                        !is_suspended(places, path, &walked->place);
        walked->place.line = returned ? walked->before : walked->place.line;
    }
    sort(ret, count);
    return count;
}

uintptr_t
sim_path_last(struct sim_places *places, const struct sim_path *path, const struct sim_place *place)
{
    rt_assert(place != NULL);
    struct sim_place found[SIM_INLINED_MAX];
    const struct sim_path_slot *last = NULL;
    for (uint32_t i = 0; i < SIM_PATH_SLOTS && places != NULL; i++) {
        const struct sim_path_slot *slot = &path->slots[i];
        bool worth = slot->pc != 0 && sim_places_line(places, slot->pc, &found[0]) &&
                     found[0].line == place->line && (last == NULL || slot->last > last->last);
        uint32_t chain = worth ? sim_places_at(places, slot->pc, false, found, SIM_INLINED_MAX) : 0;
        if (chain > 0 && strcmp(found[0].function, place->function) == 0) {
            last = slot;
        }
    }
    return last != NULL ? last->pc : 0;
}
