/*
 * always.c -- what sim/always.h calls where a program runs here.
 *
 * The program refers to these names weakly. They are exported, and the loader finds them here.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "sim/core/scenario.h"
#include "sim/thread/thread.h"

void rewake_always(int holds, const char *text);
void rewake_progress(void);

/* Constructors of libraries run once, in no run. */
void
rewake_always(int holds, const char *text)
{
    if (sim_thread_now != NULL) {
        sim_always_at(holds != 0, text, SIM_THREAD_HERE);
    }
}

void
rewake_progress(void)
{
    if (sim_thread_now != NULL) {
        sim_progress_at(SIM_THREAD_HERE);
    }
}
