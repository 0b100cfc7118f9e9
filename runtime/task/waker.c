/*
 * waker.c -- the calls through a waker's vtable, null and noop included.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "runtime/task/waker.h"

#include <stddef.h>

#include "runtime/base/assert.h"

#include "runtime/base/banned.h"

static struct rt_waker
noop_clone(const struct rt_waker *waker, const struct rt_site *await)
{
    (void)await;
    return *waker;
}

static void
noop_take(struct rt_waker waker, const struct rt_site *await)
{
    (void)waker;
    (void)await;
}

static void
noop_look(const struct rt_waker *waker, const struct rt_site *await)
{
    (void)waker;
    (void)await;
}

static const struct rt_waker_vt noop_vt = {noop_clone, noop_take, noop_look, noop_take};

struct rt_waker
rt_waker_noop(void)
{
    return (struct rt_waker){&noop_vt, 0};
}

struct rt_waker
rt_waker_clone_at(const struct rt_waker *waker, const struct rt_site *await)
{
    rt_assert(waker != NULL);
    if (rt_waker_is_null(waker)) {
        return RT_WAKER_NULL;
    }
    rt_assert(waker->vt->clone != NULL);
    struct rt_waker clone = waker->vt->clone(waker, await);
    rt_assert(!rt_waker_is_null(&clone));
    return clone;
}

/* Nulls `*waker` before any call, so that code that runs meanwhile finds it gone (W7). */
static struct rt_waker
take(struct rt_waker *waker)
{
    rt_assert(waker != NULL);
    struct rt_waker taken = *waker;
    *waker = RT_WAKER_NULL;
    return taken;
}

void
rt_waker_wake_at(struct rt_waker *waker, const struct rt_site *await)
{
    struct rt_waker taken = take(waker);
    if (!rt_waker_is_null(&taken)) {
        rt_assert(taken.vt->wake != NULL);
        taken.vt->wake(taken, await);
    }
}

void
rt_waker_wake_by_ref_at(const struct rt_waker *waker, const struct rt_site *await)
{
    rt_assert(waker != NULL);
    if (!rt_waker_is_null(waker)) {
        rt_assert(waker->vt->wake_by_ref != NULL);
        waker->vt->wake_by_ref(waker, await);
    }
}

void
rt_waker_drop_at(struct rt_waker *waker, const struct rt_site *await)
{
    struct rt_waker taken = take(waker);
    if (!rt_waker_is_null(&taken)) {
        rt_assert(taken.vt->drop != NULL);
        taken.vt->drop(taken, await);
    }
}
