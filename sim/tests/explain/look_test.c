/*
 * look_test.c -- addresses with names, and steps taken one instruction at a time.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/tests/test.h"
#include "sim/base/own.h"
#include "sim/explain/look/path.h"

/* ---- Places. --------------------------------------------------------------------------------- */

__attribute__((noinline)) static uint32_t
named_function(volatile uint32_t *value)
{
    return *value + 1;
}

TEST(place_of_a_function_is_its_name_file_and_line)
{
    struct sim_places *places = sim_places_new();
    struct sim_place found[SIM_INLINED_MAX];
    EXPECT(places != NULL);
    uint32_t count =
            sim_places_at(places, (uintptr_t)named_function, false, found, SIM_INLINED_MAX);
    EXPECT_EQ(count, 1);
    EXPECT_STR(found[0].function, "named_function");
    EXPECT_STR(sim_place_file(&found[0]), "look_test.c");
    EXPECT(found[0].entry);
    EXPECT(found[0].line > 0 && found[0].line < 40);
    EXPECT(!sim_place_is_readers(&found[0])); /* It lies below sim/. */
    EXPECT_EQ(
            sim_places_at(places, (uintptr_t)named_function + 1, false, found, SIM_INLINED_MAX), 1);
    EXPECT(!found[0].entry);
    EXPECT_EQ(sim_places_at(places, 1, false, found, SIM_INLINED_MAX), 0);
    /* In the C library, whose debug information may be installed; no sanitizer has its own. */
    EXPECT_EQ(sim_places_at(places, (uintptr_t)labs, false, found, SIM_INLINED_MAX), 0);
    sim_places_free(&places);
    EXPECT(places == NULL);
}

/* Of a unit, its functions alone, by address and each with its end; of a module, all. */
TEST(place_of_each_function_of_a_unit_and_of_a_module)
{
    struct sim_places *places = sim_places_new();
    const uintptr_t here = (uintptr_t)named_function;
    struct sim_function next = {.from = 0};
    uintptr_t end = 0;
    uint32_t in_unit = 0;
    uint32_t in_module = 0;
    bool found = false;
    for (; sim_places_next(places, here, true, &next); in_unit++) {
        EXPECT(next.from >= end && next.from < next.to);
        /* What is inline in a header is a function of the unit, too. */
        EXPECT(strstr(sim_place_file(&next.place), ".h") != NULL ||
                strcmp(sim_place_file(&next.place), "look_test.c") == 0);
        found |= next.from == here && strcmp(next.place.function, "named_function") == 0;
        end = next.to;
    }
    EXPECT(found);
    next.from = 0;
    for (; sim_places_next(places, here, false, &next); in_module++) {
        EXPECT(sim_is_own(next.from));
    }
    EXPECT(in_module > 10 * in_unit);
    EXPECT(!sim_places_next(places, 1, true, &next)); /* Nothing is known there. */
    sim_places_free(&places);
}

TEST(place_is_a_readers_by_its_file)
{
    struct sim_place place = {.file = "mine/program.c"};
    EXPECT(sim_place_is_readers(&place));
    EXPECT(!sim_place_is_runtime(&place));
    place = (struct sim_place){.file = "runtime/sync/notify.c"};
    EXPECT(sim_place_is_readers(&place));
    EXPECT(sim_place_is_runtime(&place));
    /* Headers lie where they are installed; a reader's folder may have the same name. */
    place = (struct sim_place){.file = "/opt/include/runtime/cpp/coroutine.hpp"};
    EXPECT(sim_place_is_runtime(&place));
    place = (struct sim_place){.file = "/opt/runtime/base/list.h", .function = "rt_list_init"};
    EXPECT(sim_place_is_runtime(&place));
    place = (struct sim_place){.file = "/mine/runtime/loop.c", .function = "turn"};
    EXPECT(!sim_place_is_runtime(&place));
    place = (struct sim_place){.file = "sim/core/step.c"};
    EXPECT(!sim_place_is_readers(&place));
    place = (struct sim_place){.file = "/usr/include/stdio.h"};
    EXPECT(!sim_place_is_readers(&place));
    place = (struct sim_place){.file = ""};
    EXPECT(!sim_place_is_readers(&place));
    /* Folders of containers; and where a distribution has built. */
    static const char *const mine[] = {
            "/usr/src/app/main.c", "/build/main.c", "/build/my-server/main.c", "/build/a/sim/b.c"};
    static const char *const theirs[] = {"/usr/lib/gcc/x86_64-linux-gnu/12/include/immintrin.h",
            "/build/glibc-eX1tMB/glibc-2.31/nptl/x.c", "/build/../sysdeps/x.c",
            "/build/reproducible-path/glibc-2.41/nptl/x.c", "/usr/src/debug/glibc-2.36/x.c"};
    for (size_t i = 0; i < sizeof(mine) / sizeof(*mine); i++) {
        (void)snprintf(place.file, sizeof(place.file), "%s", mine[i]);
        EXPECT(sim_place_is_readers(&place));
    }
    for (size_t i = 0; i < sizeof(theirs) / sizeof(*theirs); i++) {
        (void)snprintf(place.file, sizeof(place.file), "%s", theirs[i]);
        EXPECT(!sim_place_is_readers(&place));
    }
}

/* ---- Walks. ---------------------------------------------------------------------------------- */

#if defined(__x86_64__)

static uint64_t word;

__attribute__((noinline)) static void
write_low(void)
{
    *(volatile uint64_t *)&word = (*(volatile uint64_t *)&word & ~UINT64_C(0xff)) | 7;
}

__attribute__((noinline)) static void
write_high(void)
{
    *(volatile uint64_t *)&word |= UINT64_C(1) << 40;
}

__attribute__((noinline)) static void
write_both(void)
{
    write_low();
    write_high();
    __asm__ volatile(""); /* No jump in place of the last call. */
}

static bool
is_in(const struct sim_walk_stop *stop, struct sim_places *places, const char *function)
{
    struct sim_place found[SIM_INLINED_MAX];
    return stop->frame_count > 0 &&
           sim_places_at(places, stop->frames[0], false, found, SIM_INLINED_MAX) > 0 &&
           strcmp(found[0].function, function) == 0;
}

/* Walks write_both, looking after the bits `mask` of the word. */
static void
walk(uint64_t mask, bool first, uint64_t most, struct sim_path *path, struct sim_walk_stop *ret)
{
    struct sim_watch watch = {.word = &word, .mask = mask, .first = first, .writer = ret};
    *ret = (struct sim_walk_stop){.frame_count = 0};
    word = 0;
    EXPECT(sim_walk_begin(&watch, 1, path, most));
    write_both();
    sim_walk_end();
    EXPECT_EQ(word, (UINT64_C(1) << 40) | 7);
}

/* Of two writes the last is reported, or the first; with a mask, only the write of those bits. */
TEST(walk_tells_who_wrote_a_word)
{
    struct sim_places *places = sim_places_new();
    struct sim_walk_stop writer;
    walk(0, false, 100000, NULL, &writer);
    EXPECT(is_in(&writer, places, "write_high"));
    walk(0, true, 100000, NULL, &writer);
    EXPECT(is_in(&writer, places, "write_low"));
    walk(0xff, false, 100000, NULL, &writer);
    EXPECT(is_in(&writer, places, "write_low"));
    walk(UINT64_C(0xff) << 56, false, 100000, NULL, &writer);
    EXPECT_EQ(writer.frame_count, 0);
    sim_places_free(&places);
}

/* It stops to look after so many instructions, and the program goes on. */
TEST(walk_ends_after_as_many_instructions)
{
    struct sim_walk_stop writer;
    walk(0, false, 1, NULL, &writer);
    EXPECT_EQ(writer.frame_count, 0);
}

static const struct sim_path_slot *
slot_of(const struct sim_path *path, uintptr_t pc)
{
    for (uint32_t i = 0; i < SIM_PATH_SLOTS; i++) {
        if (path->slots[i].pc == pc) {
            return &path->slots[i];
        }
    }
    return NULL;
}

/* What was executed, in its order, and the calls of functions that are marked. */
TEST(walk_notes_its_path_and_the_calls_that_are_marked)
{
    static const uintptr_t marks[] = {(uintptr_t)write_high};
    struct sim_places *places = sim_places_new();
    struct sim_path *path = calloc(1, sizeof(*path));
    struct sim_walk_stop writer;
    EXPECT(path != NULL);
    path->marks = marks;
    path->mark_count = 1;
    walk(0, false, 100000, path, &writer);
    const struct sim_path_slot *low = slot_of(path, (uintptr_t)write_low);
    const struct sim_path_slot *high = slot_of(path, (uintptr_t)write_high);
    EXPECT(low != NULL && high != NULL);
    EXPECT(low->first < high->first);
    EXPECT(slot_of(path, (uintptr_t)named_function) == NULL);
    EXPECT_EQ(path->call_count, 1);
    EXPECT(is_in(&path->calls[0], places, "write_high"));
    struct sim_place caller[SIM_INLINED_MAX];
    EXPECT(sim_places_at(places, path->calls[0].frames[1], true, caller, SIM_INLINED_MAX) > 0);
    EXPECT_STR(caller[0].function, "write_both");
    free(path);
    sim_places_free(&places);
}

#endif
