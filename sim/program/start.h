/*
 * start.h -- from a program's entry to its end.
 *
 *      _start ──▶ sim__program_main ──▶ constructors ──▶ main ──▶ exit ──▶ handlers, destructors
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#pragma once

#include "sim/core/world.h"
#include "sim/program/load.h"

/* A function that the program wants to be called at its end. */
struct sim__handler {
    struct sim__handler *next;
    void (*fn)(void *argument, int status);
    void *argument;
    void *owner; /* The module that it is of, for __cxa_finalize; NULL: of the program. */
    bool done;
};

/* Of the run in progress, in its arena: world->state. */
struct sim__program_run {
    const struct sim_program *program;
    struct sim__handler *handlers;       /* The latest first. */
    struct sim__handler *quick_handlers; /* Of at_quick_exit. */
    int *option_index;                   /* The program's `optind`. */
    bool has_options;                    /* It has called getopt. */
    bool exiting;
};

/* The run, where the caller is code of the program; NULL elsewhere: on the world's stack, in the
 * parent, between runs. */
struct sim__program_run *sim__program_here(void);

/* Enters the program on the stack of the caller, who never gets back. `words` is what the kernel
 * would have left at its top: argc, arguments, NULL, environment, NULL, auxiliary vector. */
__attribute__((noreturn)) void sim__program_enter(
        const struct sim_program *program, uintptr_t *words);

/* exit(status), as the program calls it. */
__attribute__((noreturn)) void sim__program_exit(struct sim__program_run *run, int status);

/* Ends the run without calling anything of the program. */
__attribute__((noreturn)) void sim__program_end(struct sim__program_run *run, int status);
