/*
 * cell.h -- a shared number that the simulator sees.
 *
 *      struct sim_cell ready;
 *      sim_cell_init(world, &ready, "ready", 0);       in setup
 *      ...
 *      sim_cell_set(&ready, 1);                        in one task
 *      if (sim_cell_get(&ready) == 1) { ... }          in another
 *
 * Tasks of one runtime share plain memory, and the simulator does not see their accesses. It sees
 * accesses to cells: each is an event, GET or SET, with the cell as its object, the value as its
 * argument (as two's complement) and the caller's line as its site. Strategies that need to know
 * which polls conflict (`dpor`, `pos`, `surw`) and which poll read another's write (`rf`) see cells
 * as they see slots and channels.
 *
 * An access is part of its task's step, and no other actor runs within a step, so two accesses of
 * one poll are atomic. A task whose accesses are to interleave with others' yields after each
 * (rt_cx_reenqueue). A cell wakes no task.
 *
 * Ownership. The caller's memory, which sim_cell_init may be given once in a run; the name is
 * borrowed. A cell ends with its run, and need not be freed.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#pragma once

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
    int64_t value; /* For the functions below: a direct access is not recorded. */
};

/* Makes a cell that holds `value`. `name`: what reports call it; NULL: "object 1" and so on. This
 * is not an access: only the name is recorded. */
void sim_cell_init(struct sim_world *world, struct sim_cell *cell, const char *name, int64_t value);

/* Its value: one GET. */
#define sim_cell_get(cell) sim_cell_get_at((cell), RT_HERE)
int64_t sim_cell_get_at(struct sim_cell *cell, const struct rt_site *site);

/* Sets it to `value`: one SET, also where the value is the same. */
#define sim_cell_set(cell, value) sim_cell_set_at((cell), (value), RT_HERE)
void sim_cell_set_at(struct sim_cell *cell, int64_t value, const struct rt_site *site);

/* Adds `increment` (wraps) and returns the value before: a GET of that, then a SET. */
#define sim_cell_add(cell, increment) sim_cell_add_at((cell), (increment), RT_HERE)
int64_t sim_cell_add_at(struct sim_cell *cell, int64_t increment, const struct rt_site *site);

/* Compare and swap: true, a GET and a SET where it holds `expected`; else false and a GET. */
#define sim_cell_cas(cell, expected, desired) \
    sim_cell_cas_at((cell), (expected), (desired), RT_HERE)
bool sim_cell_cas_at(
        struct sim_cell *cell, int64_t expected, int64_t desired, const struct rt_site *site);

/* Its value, without an event: for `done` and `check`, which are not part of the run. */
int64_t sim_cell_peek(const struct sim_cell *cell);

#ifdef __cplusplus
}
#endif
