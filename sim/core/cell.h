/*
 * cell.h -- a shared number that the simulator sees.
 *
 *      struct sim_cell ready;
 *      sim_cell_init(world, &ready, "ready", 0);       in setup
 *      ...
 *      sim_cell_set(&ready, 1);                        in one task
 *      if (sim_cell_get(&ready) == 1) { ... }          in another
 *
 * Tasks of one runtime share memory without asking anybody, so who read what whom wrote is
 * known to nobody but them. What they share through cells is known: each access is an event, GET
 * or SET, with the cell as its object, the value as its argument (as two's complement) and the
 * caller's line as its site. Searches that ask which polls conflict (`dpor`, `pos`, `surw`) and who
 * read from whom (`rf`) see cells as they see slots and channels.
 *
 * An access is part of its task's step, and steps are never cut in two: two accesses of one poll
 * have nobody in between. A task whose accesses are to mix with others' gives way after each
 * (rt_cx_reenqueue). A cell wakes nobody.
 *
 * Ownership. The caller's memory, which sim_cell_init may be given once in a run; the name is
 * borrowed. Nothing is given back: a cell ends with its run.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SIM_CORE_CELL_H
#define SIM_CORE_CELL_H

#include <stdbool.h>
#include <stdint.h>

#include "runtime/base/probe.h"

#ifdef __cplusplus
extern "C" {
#endif

struct sim_world;

struct sim_cell {
    struct rt_object object;
    struct sim_world *world;
    int64_t value; /* Of the functions below alone: what is touched by hand is seen by nobody. */
};

/* Makes a cell that holds `value`. `name`: what reports call it; NULL: "object 1" and so on. That
 * is no access: only the name is written down. */
void sim_cell_init(struct sim_world *world, struct sim_cell *cell, const char *name, int64_t value);

/* What it holds: one GET. */
#define sim_cell_get(cell) sim_cell_get_at((cell), RT_HERE)
int64_t sim_cell_get_at(struct sim_cell *cell, const struct rt_site *site);

/* From now on it holds `value`: one SET, also where it held the same. */
#define sim_cell_set(cell, value) sim_cell_set_at((cell), (value), RT_HERE)
void sim_cell_set_at(struct sim_cell *cell, int64_t value, const struct rt_site *site);

/* Adds `increment` (wraps) and answers what it held before: a GET of that, then a SET. */
#define sim_cell_add(cell, increment) sim_cell_add_at((cell), (increment), RT_HERE)
int64_t sim_cell_add_at(struct sim_cell *cell, int64_t increment, const struct rt_site *site);

/* Where it holds `expected`: from now on `desired`, a GET and a SET, and true; else a GET only. */
#define sim_cell_cas(cell, expected, desired) \
    sim_cell_cas_at((cell), (expected), (desired), RT_HERE)
bool sim_cell_cas_at(
        struct sim_cell *cell, int64_t expected, int64_t desired, const struct rt_site *site);

/* What it holds, told to nobody: for `done` and `check`, which are no part of the run. */
int64_t sim_cell_peek(const struct sim_cell *cell);

#ifdef __cplusplus
}
#endif
#endif
