/*
 * frames.h -- a call stack (sim/core/code/call_stack.h) as functions and lines.
 *
 * Only the user's frames are kept: those of scenarios and libraries of scenarios, with functions
 * that the compiler inlined into them, not those of rewake, the C library and the sanitizers.
 * Without debug information a frame has the function of the dynamic symbols, or the offset in the
 * module.
 *
 * Called in the process that starts workers: it has the same modules at the same addresses.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "sim/core/code/call_stack.h"

#define SIM_FRAMES_MAX 16u

struct sim_frame {
    char function[136]; /* "server_poll", "Server::poll"; "": not known. */
    char file[256];     /* Absolute, or as the compiler was given it; "": not known. */
    uint32_t line;      /* 0: not known. */
    uint32_t times;     /* Equal frames of a recursion are one; 1: no recursion. */
    char module[64];    /* "mine.so" */
    uint64_t offset;    /* In the module. */
};

struct sim_frames {
    uint32_t count;
    char via[64]; /* The runtime function in which it happened, called by all[0]; "": none. */
    struct sim_frame all[SIM_FRAMES_MAX]; /* Innermost first. */
};

/* Without a frame of the user's, count is 0. */
void sim_frames_find(const struct sim_stack *stack, struct sim_frames *ret);

/* " in crash_main (executor.c:218)", " in rt_slot_put, called from f (a.c:3)", " in name()",
 * " at mine.so+0x1234"; "" without frames. */
void sim_frames_where(const struct sim_frames *frames, char *ret_text, size_t size);

/* "crash_main executor.c:218", "name mine.so+0x12": one frame of a stack. */
void sim_frame_text(const struct sim_frame *frame, char *ret_text, size_t size);
