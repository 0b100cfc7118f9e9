/*
 * scope.h -- clean-ups in a fixed order, whatever happens: destructors for C.
 *
 *      rt_scope_defer(&scope, &path->give_back);     // the path is ours
 *      rt_scope_defer(&scope, &timer->give_back);    // so is the timer
 *      ...
 *      rt_scope_end(&scope);                   // timer, then path; each exactly once
 *
 * A scope is a stack of clean-ups. Code that takes something pushes its clean-up; the end of the
 * scope runs them last in, first out, each exactly once (G10). What was given back earlier is
 * removed from the stack (rt_undefer). An inner scope is a clean-up of the outer one: the end of
 * the outer one ends it in its turn, so that what an inner activity holds goes before what was
 * pushed earlier.
 *
 *      outer:  [entity] [ inner:  [path] [timer] ]       ends: timer, path, entity
 *
 * A clean-up may do anything: cancel tasks, remove other clean-ups, push new ones (they run
 * next), even end the scope that is ending. It may free itself, but not its scope.
 *
 * Ownership. Scopes and clean-ups are embedded in what they clean up; a clean-up is pinned while it
 * is on a stack, a scope while it is inside another one or holds anything. Nothing here allocates.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef RT_TASK_SCOPE_H
#define RT_TASK_SCOPE_H

#include <stdbool.h>
#include <stdint.h>

#include "runtime/base/error.h"
#include "runtime/base/list.h"

#ifdef __cplusplus
extern "C" {
#endif

struct rt_defer;

typedef void (*rt_defer_fn)(struct rt_defer *defer);

/* One clean-up: what to call. Its owner is found with rt_container_of. */
struct rt_defer {
    uint32_t magic;
    struct rt_list link; /* In its scope, the newest first; in no list while it is on no stack. */
    rt_defer_fn run;
};

struct rt_scope {
    uint32_t magic;
    bool ended;
    struct rt_list stack;
    struct rt_defer in_outer; /* On the stack of the scope around this one. */
};

/* Makes a clean-up that is on no stack. One that is on a stack must not be initialised again. */
void rt_defer_init(struct rt_defer *defer, rt_defer_fn run);

/*
 * Pushes `defer` on `scope`. On a stack already: fault RT_E_IN_USE. The scope has ended: fault
 * RT_E_FINISHED, because it would never run.
 */
void rt_scope_defer(struct rt_scope *scope, struct rt_defer *defer);

/* Removes it from its stack without running it. True iff it was on one. */
bool rt_undefer(struct rt_defer *defer);

/* Runs it now instead of at the end of its scope. On no stack: no-op. True iff it ran. */
bool rt_defer_now(struct rt_defer *defer);

/* Makes an empty scope; one that has ended may be initialised again. */
void rt_scope_init(struct rt_scope *scope);

/* Puts `scope`, which is in no other, on top of `outer`: it ends with it. Faults as rt_defer. */
void rt_scope_enter(struct rt_scope *scope, struct rt_scope *outer);

/*
 * Runs all clean-ups, the newest first, and leaves the scope around this one. Ended before: no-op;
 * called from one of its clean-ups it runs the others at once.
 */
void rt_scope_end(struct rt_scope *scope);

static inline bool
rt_scope_ended(const struct rt_scope *scope)
{
    return scope->ended;
}

#ifdef __cplusplus
}
#endif
#endif
