/*
 * hang.h -- where a step is that does not return.
 *
 * Before the parent ends a process whose step counter stands still it asks it some times where it
 * is, by a signal. The handler runs on the stack of the crash handlers, and writes the stack of
 * calls that it finds into the mapping. What all samples have in common is where the step spins:
 * the callers that never returned, and the innermost function that it was in each time.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "sim/engine/worker/crash.h"

#define SIM_HANG_SAMPLES 8u

/* One stack of calls: the instruction, then addresses of return, innermost first. */
struct sim_hang_sample {
    uintptr_t frames[SIM_CRASH_FRAMES];
    uint32_t frame_count;
};

struct sim_hang {
    uint32_t wanted;         /* Written by the parent: after so many samples the process stays. */
    volatile uint32_t count; /* Written by the handler, last. */
    struct sim_hang_sample samples[SIM_HANG_SAMPLES];
};

/* In the worker, after sim_crash_catch: answers from now on. False: the system refused. */
bool sim_hang_catch(struct sim_hang *hang);

/* In the parent: asks the child `pid`, which is about to be killed, and does not continue after
 * this. One that does not answer within some 100 ms is left without samples. */
void sim_hang_ask(struct sim_hang *hang, pid_t pid);

/* In the parent, which has the same modules at the same places: what the samples have in common, as
 * frames and pc of `ret`, as a crash has them, without a signal. No samples: no frames. */
void sim_hang_find(const struct sim_hang *hang, struct sim_crash *ret);
