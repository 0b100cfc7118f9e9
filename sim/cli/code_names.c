/*
 * code_names.c -- names and numbers of the edges of a build.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#define XXH_INLINE_ALL
#include "sim/cli/coverage.h"

#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

#include "sim/base/heap.h"
#include "sim/core/code/symbols.h"
#include "sim/search/cover/edges.h"

/* Of the process, as the numbers are; never freed. */
static struct {
    struct sim_code_edge *edges;
    uint32_t *numbers; /* Of each edge that was announced. */
    uint32_t *index;   /* Open addressing by id; number plus 1, 0: free. */
    size_t slots;      /* A power of two. */
    uint32_t count;
} names;

/* The function whose edges are being named. */
struct function {
    struct sim_place place;
    char *file;
    char *name;
    uint32_t edges; /* So many are named. */
};

static uint64_t
id_of(const struct function *function)
{
    XXH64_state_t state;
    (void)XXH64_reset(&state, 0);
    (void)XXH64_update(&state, function->file, strlen(function->file) + 1);
    (void)XXH64_update(&state, function->name, strlen(function->name) + 1);
    (void)XXH64_update(&state, &function->edges, sizeof(function->edges));
    return XXH64_digest(&state) >> 1; /* 63 bits: a number that is not below zero. */
}

/* Its slot in the index: taken by it, or free. */
static uint32_t *
slot_of(uint64_t id)
{
    size_t slot = (size_t)id & (names.slots - 1);
    while (names.index[slot] != 0 && names.edges[names.index[slot] - 1].id != id) {
        slot = (slot + 1) & (names.slots - 1);
    }
    return &names.index[slot];
}

/* An edge of a header's macro, or of no line, has the line of its function. */
static uint32_t
line_of(struct sim_places *places, const struct function *function, uintptr_t pc)
{
    struct sim_place place = {.line = 0};
    bool known = function->edges > 0 && sim_places_line(places, pc, &place) && place.line > 0 &&
                 strcmp(place.file, function->place.file) == 0;
    return known ? place.line : function->place.line;
}

static uint32_t
number_of(struct sim_places *places, const struct function *function, uintptr_t pc)
{
    uint64_t id = id_of(function);
    uint32_t *slot = slot_of(id);
    if (*slot == 0) {
        uint32_t line = line_of(places, function, pc);
        names.edges[names.count] = (struct sim_code_edge){
                .id = id,
                .file = function->file,
                .function = function->name,
                .line = line,
                .nth = function->edges,
        };
        *slot = ++names.count;
    }
    return *slot - 1;
}

static void
begin_function(struct sim_places *places, uintptr_t pc, struct function *function)
{
    function->place = (struct sim_place){.line = 0};
    if (!sim_places_entry(places, pc, &function->place)) {
        (void)sim_places_at(places, pc, false, &function->place, 1);
    }
    /* Shared by its edges, never freed. A header that is found by -I. is called ./it. */
    const char *file = function->place.file;
    function->file = sim_heap_text(strncmp(file, "./", 2) == 0 ? file + 2 : file);
    function->name = sim_heap_text(function->place.function);
    function->edges = 0;
}

static void
name_all(struct sim_places *places, size_t announced)
{
    struct function function = {.file = sim_heap_text(""), .name = sim_heap_text("")};
    for (size_t i = 0; i < announced; i++) {
        bool entry = false;
        uintptr_t pc = sim_edges_pc(i, &entry);
        if (entry) {
            begin_function(places, pc, &function);
        }
        names.numbers[i] = number_of(places, &function, pc);
        function.edges++;
    }
}

uint32_t
sim_code_names(const struct sim_code_edge **ret_edges)
{
    size_t announced = sim_edges_announced();
    struct sim_places *places = NULL;
    if (announced > 0 && names.edges == NULL) {
        places = sim_places_new();
    }
    if (places != NULL) {
        for (names.slots = 1024; names.slots < announced * 2; names.slots *= 2) {
        }
        names.edges = sim_heap_new(announced, sizeof(*names.edges));
        names.numbers = sim_heap_new(announced, sizeof(*names.numbers));
        names.index = sim_heap_new(names.slots, sizeof(*names.index));
        name_all(places, announced);
        sim_places_free(&places);
        sim_edges_number(names.numbers, names.count);
    }
    *ret_edges = names.edges;
    return names.count;
}
