/*
 * load.h -- a program's file becomes a module of this process, without its code being run.
 *
 * An executable, or a library with main(), is loaded from a copy in memory (memfd) that differs
 * in this:
 *
 *      DF_1_PIE is cleared      dlopen refuses an executable
 *      no constructors          as with the C library, they are run by what the program's _start
 *                               calls, so that they belong to the run (start.h)
 *      __libc_start_main        has another name of the same length: that of ours (start.h), so
 *                               that main() is known of a stripped program too
 *
 * Constructors of its libraries run now, as the loader calls them; what they take from malloc
 * becomes an image (core/memory/malloc.h).
 *
 * Variables of libraries that the executable has copies of (R_X86_64_COPY: optind, environ, stdout)
 * are elsewhere in rewake, which comes first in the order of lookup. So every library is bound to
 * the program's copies, as it would be natively, but for the three standard streams, which in
 * rewake's process are rewake's.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "runtime/base/error.h"
#include "sim/program/elf.h"

#define SIM_PROGRAM_ERROR_MAX 256u

/* Functions that the loader would have called. */
struct sim_program_calls {
    void (*single)(void); /* DT_INIT, DT_FINI; NULL: none. */
    void (**all)(void);   /* DT_PREINIT_ARRAY, DT_INIT_ARRAY, DT_FINI_ARRAY. */
    size_t count;
};

/* Of the process: there is one. */
struct sim_program {
    const char *path; /* As it was named. */
    void *handle;     /* Of dlopen. */
    struct sim_module module;
    uintptr_t entry; /* Of an executable; 0: of a library, which has `main`. */
    int (*main)(int, char **, char **);
    struct sim_program_calls preinit;
    struct sim_program_calls init;
    struct sim_program_calls fini;
};

/* What can be loaded. */
struct sim_program_file {
    const char *path; /* As it was named; borrowed. */
    char *name;       /* What dlopen takes: of a program the copy. From malloc. */
    bool executable;
    bool program; /* An executable, or a library with main(). Else it exports rewake_library. */
};

/* Prepares the file at `path`. NULL, or why it cannot be loaded: a static sentence. */
const char *sim_program_prepare(const char *path, struct sim_program_file *ret_file);

/* Whether the file at `path` is a program, as sim_program_prepare says. */
bool sim_program_is_file(const char *path);

/* What was loaded from there, which is `handle`. False: it is no program, as it has no main(). */
bool sim_program_read(
        void *handle, const struct sim_program_file *file, struct sim_program *ret_program);

/*
 * Fills the program's copies of variables of libraries that rewake does not use. The loader leaves
 * these empty: it takes the original from the first module that has the name, but for the process'
 * own executable, and in the order of a dlopen that is the program itself. Called while the loader
 * relocates the program (start.c): before the constructors of libraries, which change the copies.
 */
void sim_program_fill_copies(void);

/* Binds libraries to the program's copies of their variables. RT_E_INVALID: the system forbids it.
 */
RT_MUST_CHECK rt_err sim_program_bind(const struct sim_program *program);

/* Calls put(argument, name, memory, size) for each variable of a library of which `module` has the
 * copy. */
void sim_program_copies(const struct sim_module *module,
        void (*put)(void *argument, const char *name, void *memory, size_t size), void *argument);
