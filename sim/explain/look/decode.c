/*
 * decode.c -- what capstone says of an instruction, in the few words that are needed.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "sim/explain/look/decode.h"

#include <dlfcn.h>
#include <string.h>
#include <ucontext.h>

#include "runtime/base/assert.h"

#if defined(SIM_CAPSTONE) && defined(__x86_64__)
#include <capstone/capstone.h>
#endif

#if defined(__x86_64__)

/* ---- A jump. --------------------------------------------------------------------------------- */

bool
sim_jump_taken(uintptr_t pc, uint8_t first, uint64_t flags)
{
    uint8_t condition = first == 0x0f ? ((const uint8_t *)pc)[1] & 0xf : first & 0xf;
    bool carry = (flags & 0x1) != 0;
    bool parity = (flags & 0x4) != 0;
    bool zero = (flags & 0x40) != 0;
    bool sign = (flags & 0x80) != 0;
    bool overflow = (flags & 0x800) != 0;
    const bool table[8] = {overflow, carry, zero, carry || zero, sign, parity, sign != overflow,
            zero || sign != overflow};
    return table[condition >> 1] != ((condition & 1) != 0);
}

uintptr_t
sim_jump_target(uintptr_t pc, uint8_t first, bool taken)
{
    const uint8_t *code = (const uint8_t *)pc;
    int32_t far = 0;
    if (first != 0x0f) {
        return pc + 2 + (taken ? (uintptr_t)(intptr_t)(int8_t)code[1] : 0);
    }
    memcpy(&far, code + 2, sizeof(far));
    return pc + 6 + (taken ? (uintptr_t)(intptr_t)far : 0);
}

uintptr_t
sim_operand_address(const struct sim_operand *operand, const long long *registers)
{
    rt_assert(operand->size > 0);
    uint64_t address = (uint64_t)operand->displacement;
    address += operand->base >= 0 ? (uint64_t)registers[operand->base] : 0;
    address += operand->index >= 0 ? (uint64_t)registers[operand->index] * operand->scale : 0;
    return address;
}

#else

bool
sim_jump_taken(uintptr_t pc, uint8_t first, uint64_t flags)
{
    (void)pc, (void)first, (void)flags;
    return false;
}

uintptr_t
sim_jump_target(uintptr_t pc, uint8_t first, bool taken)
{
    (void)first, (void)taken;
    return pc;
}

uintptr_t
sim_operand_address(const struct sim_operand *operand, const long long *registers)
{
    (void)operand, (void)registers;
    return 0;
}

#endif

#if defined(SIM_CAPSTONE) && defined(__x86_64__)

/* ---- Capstone. ------------------------------------------------------------------------------- */

/* The one whose header this is compiled with. */
#define TEXT_OF(number) #number
#define SO_OF(major) "libcapstone.so." TEXT_OF(major)
#define CAPSTONE_SO SO_OF(CS_API_MAJOR)

/* Of the process, and of those forked from it. */
static struct {
    void *library; /* NULL: not loaded. */
    __typeof__(cs_open) *open;
    __typeof__(cs_option) *option;
    __typeof__(cs_malloc) *malloc;
    __typeof__(cs_disasm_iter) *disassemble;
    __typeof__(cs_regs_access) *registers;
    csh handle;
    cs_insn *insn; /* NULL: it cannot be used. */
} capstone;

static void *
symbol_of(const char *name)
{
    void *symbol = capstone.library != NULL ? dlsym(capstone.library, name) : NULL;
    if (symbol == NULL) {
        capstone.library = NULL;
    }
    return symbol;
}

bool
sim_decode_open(void)
{
    if (capstone.library == NULL) {
        capstone.library = dlopen(CAPSTONE_SO, RTLD_NOW | RTLD_LOCAL);
        *(void **)&capstone.open = symbol_of("cs_open");
        *(void **)&capstone.option = symbol_of("cs_option");
        *(void **)&capstone.malloc = symbol_of("cs_malloc");
        *(void **)&capstone.disassemble = symbol_of("cs_disasm_iter");
        *(void **)&capstone.registers = symbol_of("cs_regs_access");
    }
    if (capstone.library != NULL && capstone.insn == NULL &&
            capstone.open(CS_ARCH_X86, CS_MODE_64, &capstone.handle) == CS_ERR_OK) {
        const uint8_t nop = 0x90;
        const uint8_t *from = &nop;
        size_t size = sizeof(nop);
        uint64_t address = 0;
        (void)capstone.option(capstone.handle, CS_OPT_DETAIL, CS_OPT_ON);
        capstone.insn = capstone.malloc(capstone.handle);
        /* The first one takes memory for a table, which in a run would be the run's. */
        (void)capstone.disassemble(capstone.handle, &from, &size, &address, capstone.insn);
    }
    return capstone.insn != NULL;
}

/* ---- Registers. ------------------------------------------------------------------------------ */

static int16_t
greg_of(x86_reg name)
{
    static const struct {
        x86_reg name;
        int16_t greg;
    } table[] = {{X86_REG_RAX, REG_RAX}, {X86_REG_RBX, REG_RBX}, {X86_REG_RCX, REG_RCX},
            {X86_REG_RDX, REG_RDX}, {X86_REG_RSI, REG_RSI}, {X86_REG_RDI, REG_RDI},
            {X86_REG_RBP, REG_RBP}, {X86_REG_RSP, REG_RSP}, {X86_REG_R8, REG_R8},
            {X86_REG_R9, REG_R9}, {X86_REG_R10, REG_R10}, {X86_REG_R11, REG_R11},
            {X86_REG_R12, REG_R12}, {X86_REG_R13, REG_R13}, {X86_REG_R14, REG_R14},
            {X86_REG_R15, REG_R15}};
    for (size_t i = 0; i < sizeof(table) / sizeof(*table); i++) {
        if (table[i].name == name) {
            return table[i].greg;
        }
    }
    return -1;
}

/* The bit of a register, by whichever part of it; 0: of one that is not followed. */
static uint64_t
register_bit(x86_reg name)
{
    static const x86_reg parts[][5] = {
            {X86_REG_RAX, X86_REG_EAX, X86_REG_AX, X86_REG_AL, X86_REG_AH},
            {X86_REG_RCX, X86_REG_ECX, X86_REG_CX, X86_REG_CL, X86_REG_CH},
            {X86_REG_RDX, X86_REG_EDX, X86_REG_DX, X86_REG_DL, X86_REG_DH},
            {X86_REG_RBX, X86_REG_EBX, X86_REG_BX, X86_REG_BL, X86_REG_BH},
            {X86_REG_RSP, X86_REG_ESP, X86_REG_SP, X86_REG_SPL, X86_REG_RSP},
            {X86_REG_RBP, X86_REG_EBP, X86_REG_BP, X86_REG_BPL, X86_REG_RBP},
            {X86_REG_RSI, X86_REG_ESI, X86_REG_SI, X86_REG_SIL, X86_REG_RSI},
            {X86_REG_RDI, X86_REG_EDI, X86_REG_DI, X86_REG_DIL, X86_REG_RDI},
            {X86_REG_R8, X86_REG_R8D, X86_REG_R8W, X86_REG_R8B, X86_REG_R8},
            {X86_REG_R9, X86_REG_R9D, X86_REG_R9W, X86_REG_R9B, X86_REG_R9},
            {X86_REG_R10, X86_REG_R10D, X86_REG_R10W, X86_REG_R10B, X86_REG_R10},
            {X86_REG_R11, X86_REG_R11D, X86_REG_R11W, X86_REG_R11B, X86_REG_R11},
            {X86_REG_R12, X86_REG_R12D, X86_REG_R12W, X86_REG_R12B, X86_REG_R12},
            {X86_REG_R13, X86_REG_R13D, X86_REG_R13W, X86_REG_R13B, X86_REG_R13},
            {X86_REG_R14, X86_REG_R14D, X86_REG_R14W, X86_REG_R14B, X86_REG_R14},
            {X86_REG_R15, X86_REG_R15D, X86_REG_R15W, X86_REG_R15B, X86_REG_R15},
            {X86_REG_EFLAGS, X86_REG_EFLAGS, X86_REG_EFLAGS, X86_REG_EFLAGS, X86_REG_EFLAGS}};
    for (uint32_t i = 0; i < sizeof(parts) / sizeof(*parts); i++) {
        for (uint32_t k = 0; k < 5; k++) {
            if (parts[i][k] == name) {
                return UINT64_C(1) << i;
            }
        }
    }
    return name >= X86_REG_XMM0 && name <= X86_REG_XMM15
                   ? UINT64_C(1) << (17 + (uint32_t)name - (uint32_t)X86_REG_XMM0)
                   : 0;
}

/* What it names as an operand, and uses by itself; what stands in an address apart. */
bool
sim_registers_of(uintptr_t pc, struct sim_registers *ret)
{
    const uint8_t *bytes = (const uint8_t *)pc;
    size_t size = SIM_INSTRUCTION_BYTES;
    uint64_t address = pc;
    cs_regs read;
    cs_regs written;
    uint8_t reads = 0;
    uint8_t writes = 0;
    *ret = (struct sim_registers){0};
    if (!sim_decode_open() ||
            !capstone.disassemble(capstone.handle, &bytes, &size, &address, capstone.insn) ||
            capstone.registers(capstone.handle, capstone.insn, read, &reads, written, &writes) !=
                    CS_ERR_OK) {
        return false;
    }
    const cs_detail *detail = capstone.insn->detail;
    uint64_t all = 0;
    for (uint8_t i = 0; i < reads; i++) {
        all |= register_bit((x86_reg)read[i]);
    }
    for (uint8_t i = 0; i < writes; i++) {
        ret->writes |= register_bit((x86_reg)written[i]);
    }
    for (uint8_t i = 0; i < detail->x86.op_count; i++) {
        const cs_x86_op *op = &detail->x86.operands[i];
        if (op->type == X86_OP_MEM && capstone.insn->id != X86_INS_LEA) {
            ret->address |= register_bit(op->mem.base) | register_bit(op->mem.index);
        } else if (op->type == X86_OP_REG && (op->access & CS_AC_READ) != 0) {
            ret->reads |= register_bit(op->reg);
        }
    }
    ret->reads |= all & ~ret->address;
    return true;
}

/* ---- An instruction. ------------------------------------------------------------------------- */

static void
decode_operand(const cs_x86 *detail, uint64_t next, struct sim_operand *ret)
{
    for (uint8_t i = 0; i < detail->op_count && ret->size == 0; i++) {
        const cs_x86_op *op = &detail->operands[i];
        bool plain = op->type == X86_OP_MEM && op->mem.segment == X86_REG_INVALID &&
                     ((op->size >= 1 && op->size <= 8) || op->size == 16 || op->size == 32);
        if (plain) {
            bool relative = op->mem.base == X86_REG_RIP;
            *ret = (struct sim_operand){.base = relative ? (int16_t)-1 : greg_of(op->mem.base),
                    .index = greg_of(op->mem.index),
                    .scale = (uint8_t)op->mem.scale,
                    .displacement = op->mem.disp + (relative ? (int64_t)next : 0),
                    .size = op->size > 8 ? 8 : op->size,
                    .wide = op->size > 8 ? op->size : 0,
                    .reads = (op->access & CS_AC_READ) != 0,
                    .writes = (op->access & CS_AC_WRITE) != 0};
            /* Of stores of vectors it says that they read. */
            if (ret->wide > 0) {
                ret->writes = i == 0 && detail->op_count > 1;
                ret->reads = !ret->writes;
            }
        }
    }
}

/* Notes where the bytes are that are relative. False: they are not found. */
static bool
find_relative(const cs_x86 *detail, const uint8_t *bytes, struct sim_decoded *ret)
{
    for (uint8_t i = 0; i < detail->op_count; i++) {
        const cs_x86_op *op = &detail->operands[i];
        if (op->type == X86_OP_MEM && op->mem.base == X86_REG_RIP) {
            int32_t there = 0;
            ret->relative = detail->encoding.disp_offset;
            if (ret->relative == 0 || ret->relative + sizeof(there) > ret->length) {
                return false;
            }
            memcpy(&there, bytes + ret->relative, sizeof(there));
            return there == op->mem.disp;
        }
    }
    return true;
}

/* Where a jump or a call leads. False: that is not known. */
static bool
decode_target(const cs_x86 *detail, struct sim_decoded *ret)
{
    const cs_x86_op *op = &detail->operands[0];
    if (op->type == X86_OP_IMM) {
        ret->target = (uintptr_t)op->imm;
    } else if (op->type == X86_OP_REG) {
        ret->by = greg_of(op->reg);
    }
    return ret->target != 0 || ret->by >= 0 || ret->operand.size == sizeof(uintptr_t);
}

/* What goes elsewhere but to the next one, and what asks the system or the debugger. */
static enum sim_flow
flow_of(const cs_insn *insn, const uint8_t *bytes, struct sim_decoded *ret)
{
    const cs_x86 *detail = &insn->detail->x86;
    bool far = insn->id == X86_INS_LCALL || insn->id == X86_INS_LJMP || insn->id == X86_INS_RETF;
    for (uint8_t i = 0; i < insn->detail->groups_count; i++) {
        switch (insn->detail->groups[i]) {
        case X86_GRP_CALL:
            return !far && decode_target(detail, ret) ? SIM_FLOW_CALL : SIM_FLOW_UNKNOWN;
        case X86_GRP_RET:
            ret->popped = detail->op_count > 0 ? (uint16_t)detail->operands[0].imm : 0;
            return !far ? SIM_FLOW_RETURN : SIM_FLOW_UNKNOWN;
        case X86_GRP_JUMP:
            if ((bytes[0] & 0xf0) == 0x70 || (bytes[0] == 0x0f && (bytes[1] & 0xf0) == 0x80)) {
                return SIM_FLOW_IF;
            }
            return insn->id == X86_INS_JMP && decode_target(detail, ret) ? SIM_FLOW_JUMP
                                                                         : SIM_FLOW_UNKNOWN;
        case X86_GRP_INT:
        case X86_GRP_IRET:
            return SIM_FLOW_UNKNOWN;
        default:
            break;
        }
    }
    return insn->id == X86_INS_SYSCALL || insn->id == X86_INS_SYSENTER ? SIM_FLOW_UNKNOWN
                                                                       : SIM_FLOW_NEXT;
}

/* Instructions for vectors of 512 bits, which capstone 4 does not know well; and xbegin. */
static bool
is_doubtful(const uint8_t *bytes)
{
    return bytes[0] == 0x62 || (bytes[0] == 0xc7 && bytes[1] == 0xf8);
}

/* Those of strings that end by their count alone. */
static bool
is_repeated(const uint8_t *bytes)
{
    uint8_t code = bytes[1] == 0x48 || bytes[1] == 0x66 ? bytes[2] : bytes[1];
    return bytes[0] == 0xf3 && (code == 0xa4 || code == 0xa5 || code == 0xaa || code == 0xab);
}

void
sim_decode(uintptr_t pc, const uint8_t *bytes, struct sim_decoded *ret)
{
    const uint8_t *from = bytes;
    size_t size = SIM_INSTRUCTION_BYTES;
    uint64_t next = pc;
    *ret = (struct sim_decoded){.by = -1, .flow = SIM_FLOW_UNKNOWN};
    if (!sim_decode_open() || is_doubtful(bytes) ||
            !capstone.disassemble(capstone.handle, &from, &size, &next, capstone.insn)) {
        return;
    }
    const cs_insn *insn = capstone.insn;
    const cs_x86 *detail = &insn->detail->x86;
    ret->length = (uint8_t)insn->size;
    ret->repeats = is_repeated(bytes);
    if (insn->id != X86_INS_LEA && insn->id != X86_INS_NOP) {
        decode_operand(detail, next, &ret->operand);
    }
    ret->flow = (uint8_t)flow_of(insn, bytes, ret);
    if (!find_relative(detail, bytes, ret)) {
        ret->flow = SIM_FLOW_UNKNOWN;
    }
}

#else

bool
sim_decode_open(void)
{
    return false;
}

void
sim_decode(uintptr_t pc, const uint8_t *bytes, struct sim_decoded *ret)
{
    (void)pc, (void)bytes;
    *ret = (struct sim_decoded){.by = -1, .flow = SIM_FLOW_UNKNOWN};
}

bool
sim_registers_of(uintptr_t pc, struct sim_registers *ret)
{
    (void)pc;
    *ret = (struct sim_registers){0};
    return false;
}

#endif
