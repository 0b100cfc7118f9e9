/*
 * block_test.c -- which memory an instruction, or a call, moves as a whole.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "sim/explain/look/block.h"

#include <string.h>
#include <ucontext.h>

#include "runtime/tests/test.h"

#if defined(__x86_64__)

#define BYTES_MAX 32u

/* `bytes` as code, with addresses and a count in the registers that mean them. */
static void
look(const char *bytes, size_t size, struct sim_block *ret)
{
    static uint8_t code[BYTES_MAX];
    long long registers[NGREG] = {[REG_RDI] = 0x10000,
            [REG_RSI] = 0x20000,
            [REG_RDX] = 24,
            [REG_RCX] = 3,
            [REG_RAX] = 0x11};
    struct sim_decoded decoded;
    memset(code, 0x90, sizeof(code));
    memcpy(code, bytes, size);
    sim_block_prepare();
    sim_decode((uintptr_t)code, code, &decoded);
    sim_block_of((uintptr_t)code, &decoded, registers, ret);
}

TEST(block_of_instructions)
{
    struct sim_block block;
    if (!sim_decode_open()) {
        return;
    }
    look("\xf3\x48\xa5", 3, &block); /* rep movsq */
    EXPECT(block.to == 0x10000 && block.from == 0x20000 && block.size == 24);
    look("\xf3\xa4", 2, &block); /* rep movsb */
    EXPECT(block.to == 0x10000 && block.from == 0x20000 && block.size == 3);
    look("\xf3\xab", 2, &block); /* rep stosd */
    EXPECT(block.to == 0x10000 && block.from == 0 && block.size == 12 && block.filled);
    EXPECT_EQ(block.fill, UINT64_C(0x1100000011));
    look("\xf3\x66\xab", 3, &block); /* rep stosw */
    EXPECT(block.size == 6 && block.fill == UINT64_C(0x11001100110011));
    look("\x0f\x11\x07", 3, &block); /* movups %xmm0, (%rdi) */
    EXPECT(block.to == 0x10000 && block.from == 0 && block.size == 16 && !block.filled);
    look("\x0f\x10\x06", 3, &block); /* movups (%rsi), %xmm0 */
    EXPECT(block.to == 0 && block.from == 0x20000 && block.size == 16);
    look("\x48\x89\x07", 3, &block); /* mov %rax, (%rdi) */
    EXPECT_EQ(block.size, 0u);
}

/* call *(%rip), of what stands behind it. */
TEST(block_of_calls)
{
    struct sim_block block;
    char call[14] = "\xff\x15\x00\x00\x00\x00";
    void *(*copy)(void *, const void *, size_t) = memmove;
    void *(*fill)(void *, int, size_t) = memset;
    if (!sim_decode_open()) {
        return;
    }
    memcpy(call + 6, &copy, sizeof(copy));
    look(call, sizeof(call), &block);
    EXPECT(block.to == 0x10000 && block.from == 0x20000 && block.size == 24);
    memcpy(call + 6, &fill, sizeof(fill));
    look(call, sizeof(call), &block);
    EXPECT(block.to == 0x10000 && block.from == 0 && block.filled);
    memset(call + 6, 0, sizeof(fill));
    look(call, sizeof(call), &block);
    EXPECT_EQ(block.size, 0u);
}

#endif
