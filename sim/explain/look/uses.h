/*
 * uses.h -- what an actor uses that was made of something which has changed since.
 *
 * Each value is followed forward, through registers and memory, from the reads that it was made of
 * to where it is used: by a condition, as an address, or as what is written. Where the memory of
 * such a read has another value by then, the use is *outdated*: an index that was kept over a
 * wait, a length, a pointer to the next one. So is a write of what was checked before that.
 *
 * What is used may stand for something that is another one by now: an answer, by way of others, to
 * what its actor has asked again since; a reference to what was filled when it was made, and has
 * been filled again.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#pragma once

#include "sim/explain/look/executed.h"

enum sim_use { SIM_USE_OUTDATED, SIM_USE_ASKED_AGAIN, SIM_USE_REUSED };

/* Indices of instructions here are one more: 0 stands for none. */
struct sim_outdated {
    enum sim_use kind;
    uint32_t read;  /* OUTDATED; else the write that it comes from. */
    uint32_t write; /* The last change of what it has read; else the same again. */
};

#define SIM_OUTDATED_MAX 6u

struct sim_uses;

/* Borrows both. */
struct sim_uses *sim_uses_new(const struct sim_code *code, const struct sim_executed *executed);
void sim_uses_free(struct sim_uses **uses);

/* Takes the `index`-th instruction in, after those before it. Returns how many reads it uses whose
 * memory has changed. `own`: what it means is a variable of its function. */
uint32_t sim_uses_add(
        struct sim_uses *uses, uint32_t index, bool own, struct sim_outdated ret[SIM_OUTDATED_MAX]);
