/*
 * fiber.h -- a function that can stop in the middle, however deep its calls are.
 *
 *                    resume                     suspend
 *      NEW ────────────────────▶ RUNNING ─────────────────────▶ SUSPENDED
 *       │                        │    ▲                          │     │
 *       │ drop                   │    └───────── resume ─────────┘     │ drop: resumed with
 *       ▼                        ▼ it returns                          ▼ RT_E_CANCELLED
 *      FINISHED ◀────────────────┴─────────────────────────────── RUNNING, until it returns
 *
 * A stack with live frames is never thrown away (F12): a frame may hold a lock,
 * a buffer, a registration. A fiber that is dropped is resumed instead, with
 * RT_E_CANCELLED from its suspend, and has to return without suspending once
 * more.
 *
 * Fibers nest: one may resume another, and is RUNNING meanwhile. Only the code on its
 * stack suspends a fiber (F13).
 *
 * Ownership. Borrows the stack until it has FINISHED. Pinned from init to there.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef RT_FIBER_FIBER_H
#define RT_FIBER_FIBER_H

#include "runtime/base/error.h"
#include "runtime/base/probe.h"
#include "runtime/fiber/context.h"
#include "runtime/fiber/stack.h"

#ifdef __cplusplus
extern "C" {
#endif

enum rt_fiber_state { RT_FIBER_NEW, RT_FIBER_RUNNING, RT_FIBER_SUSPENDED, RT_FIBER_FINISHED };

/* Why it suspends; the argument of the SUSPEND probe. */
enum rt_suspend { RT_SUSPEND_USER, RT_SUSPEND_FUEL, RT_SUSPEND_EPOCH, RT_SUSPEND_HOST };

struct rt_fiber {
    struct rt_object object;
    enum rt_fiber_state state;
    bool cancelled; /* It is being dropped. */
    struct rt_context context;
};

/* Prepares fn(argument) to run on `stack`, which must hold nothing. `fiber` must be no fiber, or a
 * FINISHED one. */
void rt_fiber_init(struct rt_fiber *fiber, const struct rt_stack *stack, void (*fn)(void *argument),
        void *argument);

/*
 * Runs it until it suspends (false) or returns (true). Of one that has finished: fault
 * RT_E_FINISHED; of one that runs, itself or one that it was resumed by: RT_E_REENTERED (F13).
 */
#define rt_fiber_resume(fiber) rt_fiber_resume_at((fiber), RT_HERE)
bool rt_fiber_resume_at(struct rt_fiber *fiber, const struct rt_site *await);

/*
 * Back to its resumer, until it is resumed again: RT_OK; or dropped: RT_E_CANCELLED (F12).
 * From anywhere but its own stack: fault RT_E_INVALID (F13). Once more while it is being dropped:
 * fault RT_E_CANCELLED (F12).
 */
#define rt_fiber_suspend(fiber, why) rt_fiber_suspend_at((fiber), (why), RT_HERE)
RT_MUST_CHECK rt_err rt_fiber_suspend_at(
        struct rt_fiber *fiber, enum rt_suspend why, const struct rt_site *await);

/* Ends it: a SUSPENDED one by resuming it with RT_E_CANCELLED (F12), a NEW one without running it.
 * FINISHED already: no-op. RUNNING: fault RT_E_REENTERED. */
#define rt_fiber_drop(fiber) rt_fiber_drop_at((fiber), RT_HERE)
void rt_fiber_drop_at(struct rt_fiber *fiber, const struct rt_site *await);

#ifdef __cplusplus
}
#endif
#endif
