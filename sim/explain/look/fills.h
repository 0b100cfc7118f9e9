/*
 * fills.h -- memory that a call of what is not the reader's has written, as read() does.
 *
 * What a library does is not looked at. So where the reader's code calls it, memory that an
 * argument points to is remembered, a few words of it, and compared when the call has returned.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define SIM_FILLS_MAX 48u

/* Forgets all; `pc` is in the module whose variables are meant, beside the heap and the stack. */
void sim_fills_begin(uintptr_t pc);

/* The actor leaves by a call, the `index`-th instruction, which is to return to `back`, to this
 * stack; with the registers of its arguments, as a ucontext_t's gregs has them. */
void sim_fills_leave(uint32_t actor_id, uint32_t index, uintptr_t back, uintptr_t stack,
        const long long *registers);

/* The actor is about to execute `pc`. Where a call has returned there: its index, and
 * where words differ, *ret_count of them. UINT32_MAX: none has. */
uint32_t sim_fills_back(uint32_t actor_id, uintptr_t pc, uintptr_t stack,
        uintptr_t ret[SIM_FILLS_MAX], uint32_t *ret_count);
