/*
 * crash.h -- what is known of a run whose process died.
 *
 * A worker's signal handlers run on a separate stack, write what happened into
 * the mapping shared with the parent, and let the signal kill the process. The parent
 * makes a sentence of it: "SIGSEGV, NULL + 0x1d8 written in crash_main (executor.c:218)". Where a
 * library has no debug information it has the dynamic symbol, else the offset in the module; never
 * an address.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "sim/core/code/call_stack.h"

#define SIM_CRASH_FRAMES 32u

enum sim_crash_access {
    SIM_CRASH_ANY, /* Not known on this machine. */
    SIM_CRASH_READ,
    SIM_CRASH_WRITE,
    SIM_CRASH_CALL
};

/* Written by the handler: plain numbers. */
struct sim_crash {
    volatile int signal; /* 0: no handler has run. */
    bool overflow;       /* The stack was used up. */
    bool near_null;
    bool unknown;      /* The processor does not say which address: it is no possible one. */
    uint8_t access;    /* enum sim_crash_access, of memory that cannot be accessed so. */
    uintptr_t address; /* … which; said only where it is near NULL. */
    uintptr_t pc;      /* Where; 0: not known on this machine. */
    /* Addresses of return, innermost first, the handler's among them. */
    uintptr_t frames[SIM_CRASH_FRAMES];
    uint32_t frame_count; /* 0: not known. */
};

/* In the worker: the handlers are there from now on, `crash` is what they fill. False when the
 * system has no memory for their stack. */
bool sim_crash_catch(struct sim_crash *crash);

/* In the parent, which has the same modules at the same places: a sentence about a process that
 * ended with `status` (of waitpid). Where no handler has run (`signal` 0) it was killed from
 * outside. */
void sim_crash_tell(const struct sim_crash *crash, int status, char *ret_text, size_t size);

/* In the parent: " in crash_main (executor.c:218)", " in name()" or " at mine.so+0x1234"; "" when
 * nothing is known. */
void sim_crash_where(const struct sim_crash *crash, char *ret_text, size_t size);

/* The frames from the interrupted one on. */
void sim_crash_stack(const struct sim_crash *crash, struct sim_stack *ret_stack);
