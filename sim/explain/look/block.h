/*
 * block.h -- memory that is moved or filled by more than a word at a time.
 *
 * An instruction for vectors, one that is repeated, and a call of memcpy, memmove or memset. Of
 * what else libraries read and write nothing is known.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#pragma once

#include <signal.h>
#include <stddef.h>

#include "sim/explain/look/decode.h"

struct sim_block {
    uintptr_t to;   /* 0: nothing is written. */
    uintptr_t from; /* 0: nothing is read. */
    size_t size;    /* In bytes; 0: it is no block. */
    uint64_t fill;  /* FILLED: what each word of `to` is then. */
    bool filled;    /* `from` is 0. Where this is false, too, a register of vectors is stored. */
};

/* Finds those functions; not in a run. */
void sim_block_prepare(void);

/* What the instruction at `pc` is about to do with these registers (a ucontext_t's gregs). */
void sim_block_of(uintptr_t pc, const struct sim_decoded *decoded, const long long *registers,
        struct sim_block *ret);
