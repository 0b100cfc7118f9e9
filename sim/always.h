/*
 * always.h -- what a program says about itself, checked where rewake runs it.
 *
 *      #include "always.h"
 *      SIM_ALWAYS(queue->used <= queue->size);
 *
 * For an unchanged program (`rewake run ./prog`): this header needs no other and no library, so it
 * may be copied. Elsewhere each statement does nothing, and its condition is not evaluated: what it
 * does must not be needed. Not for scenarios: these have the same words from sim/core/scenario.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#pragma once

#ifdef __cplusplus
extern "C" {
#endif

/* rewake's, where it runs the program; else NULL. `text` is borrowed for the run. */
__attribute__((weak)) void rewake_always(int holds, const char *text);
__attribute__((weak)) void rewake_progress(void);

#ifdef __cplusplus
}
#endif

/* Must be true here: else the run ends with verdict `invariant`, and this line. */
#define SIM_ALWAYS(condition) \
    (rewake_always != 0 ? rewake_always(!!(condition), #condition) : (void)0)

/* Something was achieved: a loop that does so is no livelock, and a thread that does so when the
 * oracle asks it could have continued. For what a thread takes from its own memory. */
#define SIM_PROGRESS() (rewake_progress != 0 ? rewake_progress() : (void)0)
