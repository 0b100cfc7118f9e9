/*
 * litmus.c -- what two to four threads may see of each other's stores, one scenario a row.
 *
 * Compiled by `rewake cc`, so that each access is a decision point. Memory is sequentially
 * consistent: the outcome of each row, which all or some weaker memories have, must not happen.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <stdatomic.h>

#include "sim/rewake.h"
#include "sim/thread/thread.h"

static atomic_int x, y;
static int r[4];

#define READ(variable) atomic_load_explicit(&(variable), memory_order_relaxed)
#define WRITE(variable, value) atomic_store_explicit(&(variable), (value), memory_order_relaxed)

/* Name, what its threads do (nothing: there is none), the outcome that is forbidden. */
#define TABLE(X) \
    X(sb, (WRITE(x, 1), r[0] = READ(y)), (WRITE(y, 1), r[1] = READ(x)), , , \
            r[0] == 0 && r[1] == 0) \
    X(mp, (WRITE(x, 1), WRITE(y, 1)), (r[0] = READ(y), r[1] = READ(x)), , , \
            r[0] == 1 && r[1] == 0) \
    X(lb, (r[0] = READ(y), WRITE(x, 1)), (r[1] = READ(x), WRITE(y, 1)), , , \
            r[0] == 1 && r[1] == 1) \
    X(s, (WRITE(x, 2), WRITE(y, 1)), (r[0] = READ(y), WRITE(x, 1)), , , r[0] == 1 && READ(x) == 2) \
    X(r, (WRITE(x, 1), WRITE(y, 1)), (WRITE(y, 2), r[0] = READ(x)), , , READ(y) == 2 && r[0] == 0) \
    X(two_plus_two_w, (WRITE(x, 1), WRITE(y, 2)), (WRITE(y, 1), WRITE(x, 2)), , , \
            READ(x) == 1 && READ(y) == 1) \
    X(corr, WRITE(x, 1), (r[0] = READ(x), r[1] = READ(x)), , , r[0] == 1 && r[1] == 0) \
    X(wrc, WRITE(x, 1), (r[0] = READ(x), WRITE(y, 1)), (r[1] = READ(y), r[2] = READ(x)), , \
            r[0] == 1 && r[1] == 1 && r[2] == 0) \
    X(iriw, WRITE(x, 1), WRITE(y, 1), (r[0] = READ(x), r[1] = READ(y)), \
            (r[2] = READ(y), r[3] = READ(x)), r[0] == 1 && r[1] == 0 && r[2] == 1 && r[3] == 0) \
    X(add, atomic_fetch_add(&x, 1), atomic_fetch_add(&x, 1), atomic_fetch_sub(&x, 3), , \
            READ(x) != -1) \
    X(lost_add, (r[0] = READ(x), WRITE(x, r[0] + 1)), (r[1] = READ(x), WRITE(x, r[1] + 1)), , , \
            READ(x) != 2)

/* `lost_add` is not forbidden: the one row whose outcome a search has to find. */

#define THREAD(number, what) \
    if ((uintptr_t)argument == (number)) { \
        what; \
    }
#define COUNT_OF(what) (sizeof(#what) > 1)
#define SCENARIO(id, one, two, three, four, forbidden) \
    static void *id##_thread(void *argument) \
    { \
        THREAD(0, one) THREAD(1, two) THREAD(2, three) THREAD(3, four) return argument; \
    } \
    static void id##_setup(struct sim_world *world) \
    { \
        for (uintptr_t i = 0; i < 2 + COUNT_OF(three) + COUNT_OF(four); i++) { \
            const struct sim_thread_start start = {.fn = id##_thread, .argument = (void *)i}; \
            (void)sim_thread_spawn(world, &start); \
        } \
    } \
    static void id##_check(struct sim_world *world, void *state) \
    { \
        (void)world; \
        (void)state; \
        SIM_ALWAYS(!(forbidden)); \
    } \
    SIM_SCENARIO(id##_scenario, .name = "litmus/" #id, .about = "A litmus test.", \
            .setup = id##_setup, .check = id##_check, .declared = true);
TABLE(SCENARIO)
