/*
 * call.c -- the exported names, and the C library's functions behind them.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "sim/posix/call.h"

#include <dlfcn.h>
#include <stddef.h>
#include <string.h>
#include <unistd.h>

#include "runtime/base/assert.h"
#include "sim/core/process/process.h"

struct sim__posix_real sim__real;
struct sim__posix_call sim__posix_now;

/* ---- The C library's. ------------------------------------------------------------------------ */

static const struct {
    const char *name;
    size_t place; /* In sim__real. */
} found[] = {
#define FOUND(type, name, parameters, arguments) {#name, offsetof(struct sim__posix_real, name)},
#define FOUND_ALIAS(type, alias, name, parameters, arguments) \
    FOUND(type, alias, parameters, arguments)
#define FOUND_WORDS(name) {#name, offsetof(struct sim__posix_real, name)},
#define FOUND_FAILING(name, error) FOUND_WORDS(name)
#define FOUND_VOID(name, parameters, arguments) FOUND(void, name, parameters, arguments)
        {"syscall", offsetof(struct sim__posix_real, syscall)},
        SIM_POSIX_CALLS(FOUND) SIM_POSIX_ALIASES(FOUND_ALIAS) SIM_POSIX_VOIDS(FOUND_VOID)
                SIM_POSIX_REFUSED(FOUND_WORDS) SIM_POSIX_FAILING(FOUND_FAILING)
                        SIM_POSIX_NOTHING(FOUND_WORDS)
#undef FOUND_WORDS
#undef FOUND_FAILING
#undef FOUND
#undef FOUND_ALIAS
#undef FOUND_VOID
};

static long
lacks(void)
{
    errno = ENOSYS;
    return -1;
}

/* The number that a call has in traces. */
enum place {
#define PLACE(type, name, parameters, arguments) PLACE_##name,
    SIM_POSIX_CALLS(PLACE) PLACES
#undef PLACE
};
static uint8_t numbers[PLACES];

static void
find_real(void)
{
    long (*fallback)(void) = lacks;
    for (size_t i = 0; i < sizeof(found) / sizeof(found[0]); i++) {
        void *symbol = dlsym(RTLD_NEXT, found[i].name);
        const void *from = symbol != NULL ? (const void *)&symbol : (const void *)&fallback;
        memcpy((char *)&sim__real + found[i].place, from, sizeof(symbol));
    }
#define NUMBER(type, name, parameters, arguments) \
    numbers[PLACE_##name] = (uint8_t)sim_call_find(#name);
    SIM_POSIX_CALLS(NUMBER)
#undef NUMBER
    sim__real.close = sim_process_close;
    sim__real.dup2 = sim_process_dup2;
    sim__real.dup3 = sim_process_dup3;
    sim__real.close_range = sim_process_close_range;
    sim__real.closefrom = sim_process_closefrom;
}

bool
sim__posix_is_cancellation_point(const char *call)
{
#define CANCELS(name) #name,
    static const char *const all[] = {SIM_POSIX_CANCELS(CANCELS)};
#undef CANCELS
    size_t i = 0;
    while (call != NULL && i < sizeof(all) / sizeof(all[0]) && strcmp(call, all[i]) != 0) {
        i++;
    }
    return call != NULL && i < sizeof(all) / sizeof(all[0]);
}

/* ---- The exported names. --------------------------------------------------------------------- */

#if SIM_THREAD_PLAYS

/* Before the constructors of the libraries, which may call any of the names. */
__attribute__((section(".preinit_array"), used)) static void (*const find_early)(void) = find_real;

/* Whether the call in progress fails by decision, with errno set. */
static bool
fails(void)
{
    const struct sim_world *world = sim_thread_now->actor.world;
    if (__builtin_expect((world->faults & SIM_FAULT_CALLS) == 0, 1)) {
        return false;
    }
    enum sim_call_fault call = sim_call_fault_find(sim__posix_now.name);
    int error = call == SIM_CALL_FAULTS
                        ? 0
                        : sim_thread_call_error(call, sim_thread_site(sim__posix_now.caller));
    return error != 0 && sim__posix_error(error) != 0;
}

static inline void
enter(const char *name, const void *caller)
{
    sim__posix_now = (struct sim__posix_call){name, caller};
    sim_thread_now->call = name;
    sim_thread_now->called.begun = false;
    if (__builtin_expect(sim_thread_now->canceled, 0) && sim__posix_is_cancellation_point(name)) {
        sim_thread_cancel_point();
    }
}

/* Records the call in progress, which was a step. */
static void
note_result(uint32_t number, int64_t result)
{
    struct sim_called *called = &sim_thread_now->called;
    struct sim_call *call = &called->call;
    call->number = call->number == SIM_CALL_none ? number : call->number;
    call->error = result == -1 ? (uint32_t)errno : 0;
    call->value = called->valued ? call->value : (uint64_t)result;
    called->begun = false;
    if (call->number != SIM_CALL_none) {
        sim_world_called(sim_thread_now->actor.world, call, called->object, called->site);
    }
}

/* A wait that was cut short ends the thread, which was canceled. Who was woken (by write, close,
 * kill …) may run before the caller's next statement. */
static inline void
leave(enum place place, int64_t result)
{
    if (sim_thread_now->called.begun) {
        note_result(numbers[place], result);
    }
    if (__builtin_expect(sim_thread_now->cut, 0)) {
        sim_thread_cancel_point();
    }
    sim_thread_point_if_woke();
}

/* What a call of that type returns when it fails. */
#define FAILURE(type) _Generic((type *)NULL, FILE * * : NULL, default : (type)-1)

/* Assembler names: the headers of the C library declare these functions with attributes, and some
 * define them inline. */
#define EXPORT_ALIAS(type, alias, name, parameters, arguments) \
    type sim__posix_export_##alias parameters __asm__(#alias); \
    type sim__posix_export_##alias parameters \
    { \
        if (sim_thread_now == NULL) { \
            return sim__real.alias arguments; \
        } \
        enter(#name, __builtin_return_address(0)); \
        type result = fails() ? FAILURE(type) : sim__posix_##name arguments; \
        leave(PLACE_##name, (int64_t)(intptr_t)result); \
        return result; \
    }
#define EXPORT(type, name, parameters, arguments) \
    EXPORT_ALIAS(type, name, name, parameters, arguments)
SIM_POSIX_CALLS(EXPORT)
SIM_POSIX_ALIASES(EXPORT_ALIAS)

#define EXPORT_VOID(name, parameters, arguments) \
    void sim__posix_export_##name parameters __asm__(#name); \
    void sim__posix_export_##name parameters \
    { \
        if (sim_thread_now == NULL) { \
            sim__real.name arguments; \
            return; \
        } \
        sim__posix_now = (struct sim__posix_call){#name, __builtin_return_address(0)}; \
        sim__posix_##name arguments; \
    }
SIM_POSIX_VOIDS(EXPORT_VOID)

#define EXPORT_WORDS(name, otherwise) \
    long sim__posix_export_##name(long a, long b, long c, long d, long e, long f) __asm__(#name); \
    long sim__posix_export_##name(long a, long b, long c, long d, long e, long f) \
    { \
        if (sim_thread_now == NULL) { \
            return sim__real.name(a, b, c, d, e, f); \
        } \
        otherwise; \
    }
#define EXPORT_REFUSED(name) EXPORT_WORDS(name, sim__posix_refuse(#name))
#define EXPORT_FAILING(name, error) EXPORT_WORDS(name, return sim__posix_error(error))
#define EXPORT_NOTHING(name) EXPORT_WORDS(name, return 0)
SIM_POSIX_REFUSED(EXPORT_REFUSED)
SIM_POSIX_FAILING(EXPORT_FAILING)
SIM_POSIX_NOTHING(EXPORT_NOTHING)

/* Those with arguments of any number. */
#define PRINT(name, parameters) \
    int sim__posix_export_##name parameters __asm__(#name); \
    int sim__posix_export_##name parameters \
    { \
        va_list arguments; \
        va_start(arguments, format); \
        int size = sim_thread_now == NULL ? sim__real.vdprintf(fd, format, arguments) \
                                          : sim__posix_vdprintf(fd, format, arguments); \
        va_end(arguments); \
        return size; \
    }
PRINT(dprintf, (int fd, const char *format, ...))
PRINT(__dprintf_chk, (int fd, int flag __attribute__((unused)), const char *format, ...))

#else

__attribute__((constructor)) static void
find_late(void)
{
    find_real();
}

/* What process.h watches, in every build. */
int
close(int fd)
{
    return sim_process_close(fd);
}

int
dup2(int fd, int to)
{
    return sim_process_dup2(fd, to);
}

int
dup3(int fd, int to, int flags)
{
    return sim_process_dup3(fd, to, flags);
}

int
close_range(unsigned first, unsigned last, int flags)
{
    return sim_process_close_range(first, last, flags);
}

void
closefrom(int first)
{
    sim_process_closefrom(first);
}

#endif

/* ---- Errors. --------------------------------------------------------------------------------- */

int
sim__posix_error(int error)
{
    errno = error;
    return -1;
}

int
sim__posix_result(int64_t result)
{
    return result < 0 ? sim__posix_error((int)-result) : (int)result;
}

void
sim__posix_refuse(const char *name)
{
    struct sim_world *world = sim_world_current;
    rt_assert(world != NULL);
    sim_stack_take(&world->outcome.stack);
    sim_fail(world, SIM_VERDICT_REFUSED, SIM_ORACLE_PROGRAM, world->current, 0,
            "the program calls %s, which is not simulated: its result would not be in the seed",
            name);
}
