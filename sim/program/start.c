/*
 * start.c -- entering a program.
 *
 * Its _start calls sim__program_main in place of the C library's __libc_start_main (load.c), with
 * the same arguments.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "sim/program/start.h"

#include <unistd.h>

#include "runtime/base/assert.h"

typedef void (*constructor_fn)(int count, char **arguments, char **environment);

typedef int start_fn(int (*main)(int, char **, char **), int count, char **arguments,
        constructor_fn init, void (*fini)(void), void (*loader_fini)(void), void *stack_end);

static void
construct(void (*fn)(void), int count, char **arguments)
{
    if (fn != NULL) {
        ((constructor_fn)fn)(count, arguments, environ);
    }
}

static void
construct_all(const struct sim_program_calls *calls, int count, char **arguments)
{
    construct(calls->single, count, arguments);
    for (size_t i = 0; i < calls->count; i++) {
        construct(calls->all[i], count, arguments);
    }
}

/* A program built with an older C library has a function `init` of its own, which does the same. */
static int
start(int (*main)(int, char **, char **), int count, char **arguments, constructor_fn init,
        void (*fini)(void), void (*loader_fini)(void), void *stack_end)
{
    struct sim__program_run *run = sim__program_here();
    (void)fini; /* It is empty where there is an array of destructors. */
    (void)loader_fini;
    (void)stack_end;
    rt_assert(run != NULL);
    construct_all(&run->program->preinit, count, arguments);
    if (init != NULL) {
        init(count, arguments, environ);
    } else {
        construct_all(&run->program->init, count, arguments);
    }
    sim__program_exit(run, main(count, arguments, environ));
}

/* Called by the loader when it relocates the program. */
__attribute__((used)) static start_fn *
find_start(void)
{
    sim_program_fill_copies();
    return start;
}

/* Called by name. */
start_fn sim__program_main __attribute__((ifunc("find_start")));

#if defined(__x86_64__)

/* The processor's state as the kernel leaves it: no frame around this one, and nothing that the
 * loader wants to be called at the end. */
static _Noreturn void
jump(uintptr_t entry, uintptr_t *words)
{
    __asm__ volatile("mov %1, %%rsp\n\t"
                     "xor %%edx, %%edx\n\t"
                     "xor %%ebp, %%ebp\n\t"
                     "jmp *%0"
                     :
                     : "r"(entry), "r"(words)
                     : "rdx", "memory");
    __builtin_unreachable();
}

void
sim__program_enter(const struct sim_program *program, uintptr_t *words)
{
    rt_assert((uintptr_t)words % 16 == 0);
    if (program->entry != 0) {
        jump(program->entry, words);
    }
    (void)start(program->main, (int)words[0], (char **)(words + 1), NULL, NULL, NULL, words);
    rt_unreached("exit has returned");
}

#else

void
sim__program_enter(const struct sim_program *program, uintptr_t *words)
{
    (void)start(program->main, (int)words[0], (char **)(words + 1), NULL, NULL, NULL, words);
    rt_unreached("exit has returned");
}

#endif
