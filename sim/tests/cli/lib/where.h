/*
 * where.h -- what where.c has in its second file, deep/where_deep.c.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#pragma once

#include "runtime/task/task.h"

struct where_target {
    char before[0x1d8];
    volatile int value;
};

extern struct where_target *volatile where_nothing;
extern struct rt_task *where_running;

void where_write(struct where_target *target);
void where_call(struct where_target *target);
void where_assert(int good);
void where_end(struct rt_task *task);
