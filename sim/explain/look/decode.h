/*
 * decode.h -- what an instruction does, as far as that is asked: the memory and the registers that
 * it means, and where it leads.
 *
 * By capstone, which is loaded when the first explanation needs it. Without it, and on other
 * processors than x86-64, nothing is known of any instruction.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define SIM_INSTRUCTION_BYTES 16u /* More than the longest one has. */

enum sim_flow {
    SIM_FLOW_UNKNOWN, /* All that is not below, or means memory in a way that is not known. */
    SIM_FLOW_NEXT,    /* To the next instruction, wherever it is executed. */
    SIM_FLOW_IF,      /* A conditional jump. */
    SIM_FLOW_JUMP,
    SIM_FLOW_CALL,
    SIM_FLOW_RETURN
};

/* The first operand in memory that counts; none of an instruction that only computes its address,
 * and none that is relative to the thread pointer. */
struct sim_operand {
    int64_t displacement;
    int16_t base; /* Of a ucontext_t's gregs; -1: none. */
    int16_t index;
    uint8_t scale;
    uint8_t size; /* In bytes, 1 to 8, of a larger one its first 8; 0: there is none. */
    uint8_t wide; /* Of a larger one all its bytes, 16 or 32; else 0. */
    bool reads;
    bool writes;
};

struct sim_decoded {
    struct sim_operand operand;
    uintptr_t target; /* JUMP, CALL: where to; 0: to what `by` or the operand holds. */
    int16_t by;       /* JUMP, CALL: the register that holds it; -1: none. */
    uint16_t popped;  /* RETURN: beside the address. */
    uint8_t flow;     /* enum sim_flow */
    uint8_t length;   /* In bytes. */
    uint8_t relative; /* Where it has four bytes that are relative to the next one; 0: nowhere. */
    bool repeats;     /* Its first byte repeats the rest so often as the register of counts says. */
};

/* Loads capstone; not in a run, whose memory it would take. False: it is not there. What a process
 * has loaded those forked from it have. */
bool sim_decode_open(void);

/* The instruction at `pc` of which the bytes (SIM_INSTRUCTION_BYTES) are these: others may stand
 * there while a breakpoint is set. */
void sim_decode(uintptr_t pc, const uint8_t *bytes, struct sim_decoded *ret);

/* The address that an operand means with these registers (a ucontext_t's gregs). */
uintptr_t sim_operand_address(const struct sim_operand *operand, const long long *registers);

/* Registers, a bit each: those of addresses and numbers, the flags, and those of vectors. */
struct sim_registers {
    uint64_t reads;   /* What it computes with, … */
    uint64_t address; /* … and which memory it means by. */
    uint64_t writes;
};
#define SIM_REGISTER_STACK (UINT64_C(1) << 4)
/* What a function keeps for its caller; all others are gone after a call. */
#define SIM_REGISTERS_KEPT UINT64_C(0xf028)
/* What is passed to a function. */
#define SIM_REGISTERS_PASSED UINT64_C(0x3c6)

/* Of the instruction at `pc`. False: not known. */
bool sim_registers_of(uintptr_t pc, struct sim_registers *ret);

/* Where the conditional jump at `pc` leads: with `flags` (the processor's), taken or not. `first`
 * is its first byte, which a breakpoint may hide. */
bool sim_jump_taken(uintptr_t pc, uint8_t first, uint64_t flags);
uintptr_t sim_jump_target(uintptr_t pc, uint8_t first, bool taken);
