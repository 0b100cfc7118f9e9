/*
 * symbols.h -- from an address in this program to function, file and line.
 *
 * A probe has its source line; code between two probes has only its address. This reads the debug
 * information of the program, and of the library of scenarios that is loaded (elfutils' libdw),
 * with inlined functions, innermost first. Without debug information (a stripped library) nothing
 * is found.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct sim_place {
    char function[64];
    char scope[64]; /* The class, or else the namespace, of a C++ function; "": none. */
    char file[256]; /* As the compiler was given it; relative to where rewake was built where it is
                     * below that: "sim/core/step.c"; "/build/…": of a distribution's package. */
    uint32_t line;  /* 0: not known. */
    uint32_t declared; /* The line on which the function begins; 0: not known. */
    bool entry;        /* The address is where the function begins. */
};

/* So many functions at an address are reported, the innermost. */
#define SIM_INLINED_MAX 8u

/* Opaque: the modules of this process with their debug information. */
struct sim_places;

/* A program is loaded from a copy in memory, under a name that begins so (sim/program/load.h). Its
 * debug information, and its name in reports, are those of the file at `path`, which is borrowed.
 */
#define SIM_PLACES_COPY "/proc/"
void sim_places_set_original(const char *path);

/* The file of a module, from the name under which it was loaded. */
const char *sim_places_module(const char *loaded);

/* Reads the modules that are loaded now. NULL: it failed. */
struct sim_places *sim_places_new(void);
void sim_places_free(struct sim_places **places);

/* libdw's handle, for core/code alone; borrowed. */
struct Dwfl *sim_places_dwfl(const struct sim_places *places);

/*
 * The functions at `pc`, innermost first: the one that an instruction belongs to, then those into
 * which it was inlined. `called`: pc is a return address, and the call before it is meant. Returns
 * how many were written to `ret`, at most `max` and SIM_INLINED_MAX; 0: nothing is known.
 */
uint32_t sim_places_at(
        struct sim_places *places, uintptr_t pc, bool called, struct sim_place *ret, uint32_t max);

/* The file and line alone, which is cheap; false: nothing is known. */
bool sim_places_line(struct sim_places *places, uintptr_t pc, struct sim_place *ret_place);

/* The function that begins at `pc`; false: none that is known. The first call reads all those of
 * its module, so that thousands of calls are cheap. */
bool sim_places_entry(struct sim_places *places, uintptr_t pc, struct sim_place *ret_place);

struct sim_function {
    uintptr_t from;
    uintptr_t to;
    struct sim_place place;
};

/* The next function by address after function->from: of the module around `around`, or of its unit
 * (its source file) alone. False: there is none. */
bool sim_places_next(
        struct sim_places *places, uintptr_t around, bool in_unit, struct sim_function *function);

/* True for the user's code: not the simulator, not the C library. */
bool sim_place_is_readers(const struct sim_place *place);

/* True for the runtime's own files. */
bool sim_place_is_runtime(const struct sim_place *place);

/* The last component of place->file. */
const char *sim_place_file(const struct sim_place *place);
