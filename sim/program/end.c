/*
 * end.c -- the ways in which a program ends, and what it wants to be called then.
 *
 * The functions of the C library are defined here, for the executable is first in the order of
 * symbol lookup. Where the caller is no code of the program they are the C library's.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <dlfcn.h>
#include <err.h>
#include <errno.h>
#include <error.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "runtime/base/assert.h"
#include "sim/base/heap.h"
#include "sim/core/memory/malloc.h"
#include "sim/core/process/output.h"
#include "sim/core/scenario.h"
#include "sim/program/program.h"
#include "sim/program/start.h"
#include "sim/thread/thread.h"

/* ---- What is called at the end. -------------------------------------------------------------- */

/* Of the process: of the libraries that were loaded with the program. */
static struct {
    bool loading;
    struct sim__handler *handlers;
} load;

void
sim_program_load_begin(void)
{
    load.loading = true;
}

void
sim_program_load_end(void)
{
    load.loading = false;
}

/* False: the caller is neither the program nor a library that is loaded with it. */
static bool
add_handler(void (*fn)(void *, int), void *argument, void *owner, bool quick)
{
    struct sim__program_run *run = sim__program_here();
    if (run == NULL && !load.loading) {
        return false;
    }
    struct sim__handler *handler = run != NULL ? sim_new(sim_world_current, struct sim__handler)
                                               : sim_heap_new(1, sizeof(struct sim__handler));
    struct sim__handler **list = run == NULL ? &load.handlers
                                 : quick     ? &run->quick_handlers
                                             : &run->handlers;
    *handler = (struct sim__handler){*list, fn, argument, owner, false};
    *list = handler;
    return true;
}

/* Declares `next`, the C library's function of this name. */
#define NEXT(name) \
    __typeof__(&(name)) next = NULL; \
    void *symbol = dlsym(RTLD_NEXT, #name); \
    memcpy(&next, &symbol, sizeof(next)); \
    rt_assert(next != NULL)

int __cxa_atexit(void (*fn)(void *), void *argument, void *owner);
int __cxa_at_quick_exit(void (*fn)(void *), void *owner);
void __cxa_finalize(void *owner);
int __register_atfork(
        void (*prepare)(void), void (*parent)(void), void (*child)(void), void *owner);

/* A handler of atexit gets one argument, and one of on_exit two: the order of registers is the
 * same with the argument first, and a status that is not asked for does no harm. */
typedef void (*handler_fn)(void *argument, int status);

int
__cxa_atexit(void (*fn)(void *), void *argument, void *owner)
{
    if (add_handler((handler_fn)(void (*)(void))fn, argument, owner, false)) {
        return 0;
    }
    NEXT(__cxa_atexit);
    return next(fn, argument, owner);
}

/* on_exit's handlers get the status first. */
struct on_exit {
    void (*fn)(int status, void *argument);
    void *argument;
};

static void
call_on_exit(void *argument, int status)
{
    const struct on_exit *handler = argument;
    handler->fn(status, handler->argument);
}

int
on_exit(void (*fn)(int, void *), void *argument)
{
    struct sim__program_run *run = sim__program_here();
    if (run == NULL) {
        NEXT(on_exit);
        return next(fn, argument);
    }
    struct on_exit *handler = sim_new(sim_world_current, struct on_exit);
    *handler = (struct on_exit){fn, argument};
    return add_handler(call_on_exit, handler, NULL, false) ? 0 : -1;
}

int
__cxa_at_quick_exit(void (*fn)(void *), void *owner)
{
    if (sim__program_here() != NULL &&
            add_handler((handler_fn)(void (*)(void))fn, NULL, owner, true)) {
        return 0;
    }
    NEXT(__cxa_at_quick_exit);
    return next(fn, owner);
}

/* No run forks. */
int
__register_atfork(void (*prepare)(void), void (*parent)(void), void (*child)(void), void *owner)
{
    if (sim__program_here() != NULL || load.loading) {
        return 0;
    }
    NEXT(__register_atfork);
    return next(prepare, parent, child, owner);
}

/* The latest that was not called; handlers may add others. */
static struct sim__handler *
take_handler(struct sim__handler *handlers, const void *owner)
{
    for (struct sim__handler *at = handlers; at != NULL; at = at->next) {
        if (!at->done && (owner == NULL || at->owner == owner)) {
            at->done = true;
            return at;
        }
    }
    return NULL;
}

static void
call_handlers(struct sim__handler **handlers, const void *owner, int status)
{
    struct sim__handler *handler = NULL;
    while ((handler = take_handler(*handlers, owner)) != NULL) {
        handler->fn(handler->argument, status);
    }
}

/* Called by a module's destructors. */
void
__cxa_finalize(void *owner)
{
    struct sim__program_run *run = sim__program_here();
    if (run != NULL) {
        call_handlers(&run->handlers, owner, 0);
        return;
    }
    NEXT(__cxa_finalize);
    next(owner);
}

/* Those that libraries registered when they were loaded: none has been called in this run. */
static void
adopt_load_handlers(struct sim__program_run *run)
{
    struct sim__handler **end = &run->handlers;
    while (*end != NULL) {
        end = &(*end)->next;
    }
    for (const struct sim__handler *at = load.handlers; at != NULL; at = at->next) {
        struct sim__handler *handler = sim_new(sim_world_current, struct sim__handler);
        *handler = *at;
        handler->next = NULL;
        *end = handler;
        end = &handler->next;
    }
}

/* ---- The end. -------------------------------------------------------------------------------- */

void
sim__program_end(struct sim__program_run *run, int status)
{
    struct sim_world *world = sim_world_current;
    rt_assert(run == world->state);
    sim_malloc_check();
    sim_output_end();
    if (status != 0) {
        sim_fail(world, SIM_VERDICT_EXIT, SIM_ORACLE_PROGRAM, world->current, 0,
                "the program ended with status %d", status & 0xff);
    }
    sim_thread_end_program();
}

static void
call_destructors(const struct sim_program *program)
{
    for (size_t i = program->fini.count; i > 0; i--) {
        program->fini.all[i - 1]();
    }
    if (program->fini.single != NULL) {
        program->fini.single();
    }
}

/* A handler that calls exit() goes on with those that are left. */
void
sim__program_exit(struct sim__program_run *run, int status)
{
    if (!run->exiting) {
        adopt_load_handlers(run);
    }
    bool first = !run->exiting;
    run->exiting = true;
    call_handlers(&run->handlers, NULL, status);
    if (first) {
        call_destructors(run->program);
    }
    (void)fflush(NULL);
    sim__program_end(run, status);
}

void
exit(int status)
{
    struct sim__program_run *run = sim__program_here();
    if (run != NULL) {
        sim__program_exit(run, status);
    }
    (void)sim_thread_pause();
    NEXT(exit);
    next(status);
}

void
quick_exit(int status)
{
    struct sim__program_run *run = sim__program_here();
    if (run != NULL) {
        call_handlers(&run->quick_handlers, NULL, status);
        sim__program_end(run, status);
    }
    (void)sim_thread_pause();
    NEXT(quick_exit);
    next(status);
}

/* What waits in the program's streams is lost, as it would be natively. */
void
_exit(int status)
{
    struct sim__program_run *run = sim__program_here();
    if (run != NULL) {
        sim__program_end(run, status);
    }
    (void)sim_thread_pause(); /* Else syscall() would call this again. */
    for (;;) {
        (void)syscall(SYS_exit_group, status);
    }
}

void
_Exit(int status)
{
    _exit(status);
}

/* ---- Failures that the program finds itself. ------------------------------------------------- */

/* Names the program's call. */
static void
take_stack(struct sim_world *world)
{
    sim_stack_take(&world->outcome.stack);
}

void
abort(void)
{
    if (sim__program_here() != NULL) {
        struct sim_world *world = sim_world_current;
        char before[SIM_MESSAGE_MAX];
        take_stack(world);
        sim_thread_put_written(before);
        sim_fail(world, SIM_VERDICT_CRASH, SIM_ORACLE_PROGRAM, world->current, 0,
                "SIGABRT, abort() was called%s", before);
    }
    NEXT(abort);
    next();
}

/* As <assert.h> declares it, which a C++ library may be compiled against as well. */
void __assert_fail(const char *text, const char *file, unsigned line, const char *function)
        __attribute__((noreturn));

void
__assert_fail(const char *text, const char *file, unsigned line, const char *function)
{
    if (sim__program_here() != NULL) {
        struct sim_world *world = sim_world_current;
        char before[SIM_MESSAGE_MAX];
        take_stack(world);
        sim_thread_put_written(before);
        sim_fail(world, SIM_VERDICT_INVARIANT, SIM_ORACLE_PROGRAM, world->current, 0,
                "assertion failed: %s (%s:%u in %s)%s", text, file, line,
                function != NULL ? function : "?", before);
    }
    NEXT(__assert_fail);
    next(text, file, line, function);
}

/* ---- Functions of the C library that call exit inside of it. --------------------------------- */

/* With `error`: and what errno says. */
__attribute__((format(printf, 1, 0))) static void
say(const char *format, va_list arguments, bool with_error, int error)
{
    (void)fflush(stdout);
    (void)fprintf(stderr, "%s: ", program_invocation_short_name);
    if (format != NULL) {
        (void)vfprintf(stderr, format, arguments);
    }
    if (with_error) {
        (void)fprintf(stderr, "%s%s", format != NULL ? ": " : "", strerror(error));
    }
    (void)fputc('\n', stderr);
}

void
verr(int status, const char *format, va_list arguments)
{
    say(format, arguments, true, errno);
    exit(status);
}

void
verrx(int status, const char *format, va_list arguments)
{
    say(format, arguments, false, 0);
    exit(status);
}

void
err(int status, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    verr(status, format, arguments);
}

void
errx(int status, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    verrx(status, format, arguments);
}

void
error(int status, int number, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    say(format, arguments, number != 0, number);
    va_end(arguments);
    if (status != 0) {
        exit(status);
    }
}
