/*
 * executed.h -- what the reader's own code executes in a run, instruction by instruction, and the
 * memory that each of them reads or writes.
 *
 * Functions of the reader's are executed one instruction at a time (translate.h); all else at full
 * speed: a breakpoint stands at the entry of each function of the reader's, and where a call from
 * there returns to. So the simulator and libraries cost nothing, and what they read and write is
 * not known. Where nothing can be translated nothing is known.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#pragma once

#include "sim/core/code/symbols.h"
#include "sim/explain/look/decode.h"
#include "sim/explain/look/experiment.h"

#define SIM_EXECUTED_MAX 100000u

struct sim_instruction {
    uintptr_t pc;
    uintptr_t stack;   /* The pointer to it, before; 0: of an event. */
    uintptr_t address; /* Of the memory that it reads or writes; 0: none, or not known. */
    uint64_t before;   /* What was there, … */
    uint64_t after;    /* … and what was there when it was done. */
    uint64_t result;   /* In the register of results, before: what a call has returned. */
    uint64_t step;
    uint32_t actor_id; /* Whose step: the stable id. */
    uint32_t events;   /* So many events were recorded before it. */
    uint8_t size;      /* Of that memory, 1 to 8 bytes. */
    uint8_t length;    /* Of one that writes memory: its own bytes. */
    bool reads;
    bool writes;
    bool jump;  /* A conditional one, … */
    bool taken; /* … that was taken. */
    bool call;
    bool piece;  /* A word of a block (block.h), before its instruction; or MOVED. */
    bool copied; /* PIECE: what it writes is what the one before it has read. */
    bool moved;  /* PIECE: of a message, which the call before it sends or receives. */
    bool leaves; /* What follows is not the reader's, until it returns: a call of it, mostly. */
};

/* A word that a call of what is not the reader's has changed (fills.h). */
struct sim_filled_word {
    uintptr_t address;
    uint32_t call;
    uint32_t back; /* The first instruction after it. */
};

#define SIM_FILLED_MAX 16384u

/* In the order in which they were executed; what does not fit is left out. */
struct sim_executed {
    bool done;  /* The run was walked, … */
    bool whole; /* … to its end, and all of it is here. */
    uint32_t count;
    struct sim_instruction all[SIM_EXECUTED_MAX];
    uint32_t filled_count;
    struct sim_filled_word filled[SIM_FILLED_MAX];
};

/* The functions of the reader's in the program of a scenario. In memory that workers share. */
struct sim_code;

/* Where the function at `pc` begins; 0: it is none of the reader's, or `code` is NULL. */
uintptr_t sim_code_function(const struct sim_code *code, uintptr_t pc);

/* What belongs to the program of this scenario: a program's own file, or the scenario's library; of
 * what is part of the simulator's own program the scenario's file alone. NULL: nothing is known of
 * it. */
struct sim_code *sim_code_new(struct sim_places *places, const struct sim_scenario *scenario);
void sim_code_free(struct sim_code **code);

/* Makes `tape`'s run once more in a process of its own; `checked`: with what checks it at its end.
 * `dies` (0: it does not) is a step after the end of that run in which the process may die.
 * NULL: the system has no memory. Freed by sim_executed_free. */
struct sim_executed *sim_executed_run(const struct sim_runs *runs, const struct sim_tape *tape,
        struct sim_code *code, bool checked, uint64_t dies);
void sim_executed_free(struct sim_executed **executed);

/*
 * The first instruction of `actor_id` here after which it goes on with another one than there: all
 * before are the same, one by one. UINT32_MAX: one of the two has no more.
 */
uint32_t sim_executed_parts(
        const struct sim_executed *here, const struct sim_executed *there, uint32_t actor_id);

/* The call that the function of the `index`-th instruction was entered by, as far as that is known;
 * UINT32_MAX. */
uint32_t sim_executed_caller(const struct sim_executed *executed, uint32_t index);

/* Which instruction of its actor has left what is in that register (a bit) before the `index`-th
 * one; a call stands for what it has returned. UINT32_MAX: not known. */
uint32_t sim_executed_register(const struct sim_code *code, const struct sim_executed *executed,
        uint32_t index, uint64_t bit);

/* The instruction of that actor during which event `event` was recorded: a call of what is not the
 * reader's, mostly; of a task that a loop of the reader's runs, the last one of all. UINT32_MAX:
 * none was executed. */
uint32_t sim_executed_of_event(
        const struct sim_executed *executed, uint32_t actor_id, uint64_t event);

/* Makes the pages of that code writable, in this process alone. False: the system refuses. */
bool sim_code_make_writable(const struct sim_code *code);
