/*
 * scope.c -- the stack of clean-ups.
 *
 * A clean-up is off the stack before it is called, so it cannot be found a second
 * time. The end reads the top again after each call and keeps nothing else, so a
 * clean-up may change the stack in any way.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "runtime/task/scope.h"

#include "runtime/base/assert.h"

#include "runtime/base/banned.h"

#define RT_SCOPE_MAGIC 0x5253434fu
#define RT_DEFER_MAGIC 0x52444546u

static void
end_inner(struct rt_defer *defer)
{
    rt_scope_end(rt_container_of(defer, struct rt_scope, in_outer));
}

void
rt_defer_init(struct rt_defer *defer, rt_defer_fn run)
{
    rt_assert(defer != NULL);
    rt_assert(run != NULL);
    *defer = (struct rt_defer){.magic = RT_DEFER_MAGIC, .run = run};
    rt_list_init(&defer->link);
}

void
rt_scope_defer(struct rt_scope *scope, struct rt_defer *defer)
{
    rt_check(scope, RT_SCOPE_MAGIC);
    rt_check(defer, RT_DEFER_MAGIC);
    if (!rt_list_empty(&defer->link)) {
        rt_fault(RT_E_IN_USE, NULL, "a clean-up was deferred that is on a stack already");
    }
    if (scope->ended) {
        rt_fault(RT_E_FINISHED, NULL, "a clean-up was deferred to a scope that has ended");
    }
    rt_list_push_front(&scope->stack, &defer->link);
}

bool
rt_undefer(struct rt_defer *defer)
{
    rt_check(defer, RT_DEFER_MAGIC);
    bool deferred = !rt_list_empty(&defer->link);
    rt_list_unlink(&defer->link);
    return deferred;
}

bool
rt_defer_now(struct rt_defer *defer)
{
    bool deferred = rt_undefer(defer);
    if (deferred) {
        defer->run(defer);
    }
    return deferred;
}

void
rt_scope_init(struct rt_scope *scope)
{
    rt_assert(scope != NULL);
    *scope = (struct rt_scope){.magic = RT_SCOPE_MAGIC};
    rt_list_init(&scope->stack);
    rt_defer_init(&scope->in_outer, end_inner);
}

void
rt_scope_enter(struct rt_scope *scope, struct rt_scope *outer)
{
    rt_check(scope, RT_SCOPE_MAGIC);
    rt_assert(scope != outer);
    rt_scope_defer(outer, &scope->in_outer);
}

void
rt_scope_end(struct rt_scope *scope)
{
    rt_check(scope, RT_SCOPE_MAGIC);
    (void)rt_undefer(&scope->in_outer);
    struct rt_list *link = rt_list_pop_front(&scope->stack);
    while (link != NULL) {
        struct rt_defer *defer = rt_container_of(link, struct rt_defer, link);
        rt_check(defer, RT_DEFER_MAGIC);
        defer->run(defer);
        link = rt_list_pop_front(&scope->stack);
    }
    scope->ended = true;
}
