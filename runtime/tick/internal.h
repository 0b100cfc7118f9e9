/*
 * internal.h -- shared by the files of this folder only.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef RT_TICK_INTERNAL_H
#define RT_TICK_INTERNAL_H

#include "runtime/tick/ticker.h"

#define RT_TICKER_MAGIC 0x5254434bu

/* timer.c */
void rt__tick_timers_init(struct rt_tick_timers *timers);
uint32_t rt__tick_timers_fire(struct rt_ticker *ticker, const struct rt_site *await);

/* ticker.c: the id of `activity` is dead from now on. */
void rt__ticker_forget(struct rt_activity *activity);

/* activity.c: of a sink. */
const char *rt__activity_audit(const struct rt_object *object);

#endif
