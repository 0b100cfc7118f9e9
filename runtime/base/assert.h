/*
 * assert.h -- checks of the runtime's invariants, and what a failed check does.
 *
 * Four tiers:
 *   rt_assert(x)       cheap, in every build.
 *   rt_verify(x)       walks a structure; compiled in with RT_VERIFY (make check, fuzzing).
 *   rt_check(o, M)     opens every public function: `o` is there and carries its magic word.
 *   rt_unreached("…")  code that cannot be reached, and why.
 *
 * All of them end in rt_panic(): a bug of the runtime itself. A *fault* is a
 * rule broken by the runtime's user (a task that answers PENDING without having
 * stored a waker, T12): it ends in rt_fault(). The host of the runtime supplies
 * both: `runtime/host/panic.c` prints and aborts, the simulator ends the run
 * with a verdict. Neither returns.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef RT_BASE_ASSERT_H
#define RT_BASE_ASSERT_H

#include "runtime/base/error.h"

#ifdef __cplusplus
extern "C" {
#endif

#ifdef RT_SMALL

/* For small machines: every check stays, and traps without a message. */
#define rt_panic(file, line, what) __builtin_trap()
#define rt_fault(err, who, what) \
    do { \
        (void)sizeof(who); \
        (void)sizeof(what); \
        __builtin_trap(); \
    } while (0)

#else

/* A bug in the runtime. Never returns. `file` and `what` are static. */
__attribute__((noreturn, cold)) void rt_panic(const char *file, int line, const char *what);

/*
 * A rule broken by the runtime's user. Never returns.
 * `err` says which rule, `who` names the task or object (borrowed, may be NULL), `what` is one
 * sentence for people.
 */
__attribute__((noreturn, cold)) void rt_fault(rt_err err, const char *who, const char *what);

#endif

#define rt_assert(x) \
    do { \
        if (__builtin_expect(!(x), 0)) { \
            rt_panic(__FILE__, __LINE__, #x); \
        } \
    } while (0)

#ifdef RT_VERIFY
#define rt_verify(x) rt_assert(x)
#else
/* Never evaluated, but keeps the functions that only verify in use. */
#define rt_verify(x) \
    do { \
        if (0) { \
            (void)(x); \
        } \
    } while (0)
#endif

#ifdef RT_SMALL
/* On a small machine address 0 can be read, but holds no magic word. */
#define rt_check(object, word) rt_assert((object)->magic == (word))
#else
#define rt_check(object, word) \
    do { \
        rt_assert((object) != 0); \
        rt_assert((object)->magic == (word)); \
    } while (0)
#endif

#define rt_unreached(why) rt_panic(__FILE__, __LINE__, "reached code that cannot be reached: " why)

#ifdef __cplusplus
}
#endif
#endif
