/*
 * block.c -- which memory a block is.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "sim/explain/look/block.h"

#include <dlfcn.h>
#include <string.h>
#include <ucontext.h>

#if defined(__x86_64__)

/* As the program calls them. */
static struct {
    const char *name;
    bool fills;
    uintptr_t at; /* 0: there is none. */
} functions[] = {
        {.name = "memcpy"},
        {.name = "memmove"},
        {.name = "mempcpy"},
        {.name = "__memcpy_chk"},
        {.name = "__memmove_chk"},
        {.name = "memset", .fills = true},
        {.name = "__memset_chk", .fills = true},
};
#define FUNCTION_COUNT (sizeof(functions) / sizeof(*functions))

void
sim_block_prepare(void)
{
    for (size_t i = 0; i < FUNCTION_COUNT; i++) {
        functions[i].at = (uintptr_t)dlsym(RTLD_DEFAULT, functions[i].name);
    }
}

static uint64_t
of_bytes(uint64_t byte)
{
    return (byte & 0xff) * UINT64_C(0x0101010101010101);
}

/* Where a call leads, through an entry of a procedure linkage table: jmp *offset(%rip). */
static uintptr_t
target_of(const struct sim_decoded *decoded, const long long *registers)
{
    uintptr_t target = decoded->target;
    if (target == 0 && decoded->by >= 0) {
        target = (uintptr_t)registers[decoded->by];
    } else if (target == 0 && decoded->operand.size == sizeof(target)) {
        memcpy(&target, (const void *)sim_operand_address(&decoded->operand, registers),
                sizeof(target));
        return target;
    }
    static const uint8_t mark[] = {0xf3, 0x0f, 0x1e, 0xfa}; /* endbr64 */
    const uint8_t *entry = (const uint8_t *)target;
    if (memcmp(entry, mark, sizeof(mark)) == 0) {
        entry += sizeof(mark);
    }
    entry += *entry == 0xf2;
    if (entry[0] == 0xff && entry[1] == 0x25) {
        int32_t offset;
        memcpy(&offset, entry + 2, sizeof(offset));
        memcpy(&target, entry + 6 + offset, sizeof(target));
    }
    return target;
}

static void
of_call(const struct sim_decoded *decoded, const long long *registers, struct sim_block *ret)
{
    uintptr_t target = target_of(decoded, registers);
    for (size_t i = 0; i < FUNCTION_COUNT && target != 0; i++) {
        if (functions[i].at == target) {
            *ret = (struct sim_block){.to = (uintptr_t)registers[REG_RDI],
                    .from = functions[i].fills ? 0 : (uintptr_t)registers[REG_RSI],
                    .size = (size_t)registers[REG_RDX],
                    .fill = of_bytes((uint64_t)registers[REG_RSI]),
                    .filled = functions[i].fills};
            return;
        }
    }
}

/* rep movs and rep stos, of bytes, words, and what is larger. */
static void
of_repeated(uintptr_t pc, const long long *registers, struct sim_block *ret)
{
    const uint8_t *bytes = (const uint8_t *)pc + 1;
    uint8_t prefix = *bytes == 0x48 || *bytes == 0x66 ? *bytes++ : 0;
    bool moves = *bytes == 0xa4 || *bytes == 0xa5;
    size_t each = (*bytes & 1) == 0 ? 1 : prefix == 0x48 ? 8 : prefix == 0x66 ? 2 : 4;
    uint64_t value = (uint64_t)registers[REG_RAX];
    *ret = (struct sim_block){.to = (uintptr_t)registers[REG_RDI],
            .from = moves ? (uintptr_t)registers[REG_RSI] : 0,
            .size = (size_t)registers[REG_RCX] * each,
            .fill = each == 1   ? of_bytes(value)
                    : each == 2 ? (value & UINT16_MAX) * UINT64_C(0x1000100010001)
                    : each == 4 ? (value & UINT32_MAX) * UINT64_C(0x100000001)
                                : value,
            .filled = !moves};
}

void
sim_block_of(uintptr_t pc, const struct sim_decoded *decoded, const long long *registers,
        struct sim_block *ret)
{
    const struct sim_operand *operand = &decoded->operand;
    *ret = (struct sim_block){.size = 0};
    if (decoded->flow == SIM_FLOW_CALL) {
        of_call(decoded, registers, ret);
    } else if (decoded->repeats) {
        of_repeated(pc, registers, ret);
    } else if (operand->wide > 0) {
        uintptr_t address = sim_operand_address(operand, registers);
        *ret = (struct sim_block){.to = operand->writes ? address : 0,
                .from = operand->writes ? 0 : address,
                .size = operand->wide};
    }
}

#else

void
sim_block_prepare(void)
{
}

void
sim_block_of(uintptr_t pc, const struct sim_decoded *decoded, const long long *registers,
        struct sim_block *ret)
{
    (void)pc, (void)decoded, (void)registers;
    *ret = (struct sim_block){.size = 0};
}

#endif
