/*
 * executed.c -- breakpoints at the reader's functions, the trap flag inside of them.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "sim/explain/look/executed.h"

#include <dlfcn.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <ucontext.h>
#include <unistd.h>

#include "runtime/base/assert.h"
#include "sim/base/own.h"
#include "sim/core/scenario.h"
#include "sim/core/world.h"
#include "sim/program/program.h"

#if defined(SIM_CAPSTONE) && defined(__x86_64__)
#include <capstone/capstone.h>
#endif

#define FUNCTIONS_MAX 8192u
#define STOPS_SIZE 32768u /* Of a hash table. */
#define OPERANDS_SIZE 32768u
#define STEPS_MAX UINT64_C(1000)
#define TRAP_FLAG 0x100

/* Instructions that are walked count as so many steps of the budget. */
#define STEPS_EACH 10u

/* A function of the reader's. */
struct function {
    uintptr_t from;
    uintptr_t to;
};

/* A breakpoint: at an entry, or where a call returns to. */
struct stop {
    uintptr_t pc; /* 0: free. */
    uint8_t byte;
};

/* The memory operand of an instruction, in terms of registers. */
struct operand {
    uintptr_t pc; /* 0: free. */
    int64_t displacement;
    int16_t base; /* Of gregs; -1: none. */
    int16_t index;
    uint8_t scale;
    uint8_t size; /* 0: it has none that counts. */
    uint8_t length;
    bool reads;
    bool writes;
    bool next; /* Relative to the next instruction: `displacement` has it. */
};

struct sim_code {
    struct function functions[FUNCTIONS_MAX]; /* By address. */
    uint32_t function_count;
    struct stop stops[STOPS_SIZE]; /* By pc. */
    uint32_t stop_count;
    struct operand operands[OPERANDS_SIZE];
    uint32_t operand_count;
};

/* ---- Which functions. ------------------------------------------------------------------------ */

struct origin {
    uintptr_t at; /* In its module. */
    struct sim_place setup;
    bool one_file;
    bool whole; /* All of it: what a header has made into functions calls the reader's. */
};

static bool
is_of(const struct origin *origin, const struct sim_place *place)
{
    return origin->whole ||
           (sim_place_is_readers(place) && !sim_place_is_runtime(place) &&
                   (!origin->one_file || strcmp(place->file, origin->setup.file) == 0));
}

static bool
find_origin(struct sim_places *places, const struct sim_scenario *scenario, struct origin *ret)
{
    uintptr_t setup = (uintptr_t)scenario->setup;
    const struct sim_program *program = sim_program_loaded();
    if (sim_program_is(scenario)) {
        *ret = (struct origin){.whole = true,
                .at = program->entry != 0 ? program->entry : (uintptr_t)program->main};
        return ret->at != 0;
    }
    *ret = (struct origin){.at = setup, .one_file = sim_is_own(setup)};
    return sim_places_at(places, setup, false, &ret->setup, 1) > 0;
}

struct sim_code *
sim_code_new(struct sim_places *places, const struct sim_scenario *scenario)
{
    struct origin origin;
    struct sim_function next = {.from = 0};
    if (places == NULL || !find_origin(places, scenario, &origin)) {
        return NULL;
    }
    struct sim_code *code = sim_results_new(sizeof(*code));
    while (code != NULL && code->function_count < FUNCTIONS_MAX &&
            sim_places_next(places, origin.at, origin.one_file, &next)) {
        if (is_of(&origin, &next.place)) {
            code->functions[code->function_count++] = (struct function){next.from, next.to};
        }
    }
    return code;
}

void
sim_code_free(struct sim_code **code)
{
    sim_results_free(code);
}

static const struct function *
function_at(const struct sim_code *code, uintptr_t pc)
{
    uint32_t low = 0;
    uint32_t high = code->function_count;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (code->functions[middle].to <= pc) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    bool within = low < code->function_count && code->functions[low].from <= pc;
    return within ? &code->functions[low] : NULL;
}

bool
sim_code_make_writable(const struct sim_code *code)
{
    uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);
    uintptr_t done = 0;
    rt_assert(page > 0);
    for (uint32_t i = 0; i < code->function_count; i++) {
        const struct function *function = &code->functions[i];
        uintptr_t from = function->from & ~(page - 1);
        from = from < done ? done : from;
        uintptr_t to = (function->to + page - 1) & ~(page - 1);
        if (from < to &&
                mprotect((void *)from, to - from, PROT_READ | PROT_WRITE | PROT_EXEC) != 0) {
            return false;
        }
        done = to > done ? to : done;
    }
    return true;
}

#if defined(__x86_64__)

/* ---- A jump. --------------------------------------------------------------------------------- */

/* 0x70 to 0x7f, and 0x0f 0x80 to 0x0f 0x8f: the low bits are the condition. */
bool
sim_jump_is(const uint8_t *pc)
{
    rt_assert(pc != NULL);
    return (pc[0] & 0xf0) == 0x70 || (pc[0] == 0x0f && (pc[1] & 0xf0) == 0x80);
}

/* 0xe8, or 0xff with 2 in the middle of its second byte. */
bool
sim_call_is(const uint8_t *pc)
{
    rt_assert(pc != NULL);
    return pc[0] == 0xe8 || (pc[0] == 0xff && (pc[1] & 0x38) == 0x10);
}

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

/* ---- The memory that an instruction means. --------------------------------------------------- */

/* Of the process: set while a run is walked. */
static struct {
    struct sim_code *code;
    struct sim_executed *executed;
    struct sim_instruction *open; /* Executed when the next trap comes. */
    const struct stop *again;     /* Its breakpoint is put back after one instruction. */
    struct sigaction before;
#if defined(SIM_CAPSTONE)
    csh capstone;
    cs_insn *insn;
#endif
} walk;

#if defined(SIM_CAPSTONE)

/* The one whose header this is compiled with. */
#define TEXT_OF(number) #number
#define SO_OF(major) "libcapstone.so." TEXT_OF(major)
#define CAPSTONE_SO SO_OF(CS_API_MAJOR)

/* Of libcapstone; NULL: it is not there. Of the process, and of those forked from it. */
static struct {
    void *handle;
    __typeof__(cs_open) *open;
    __typeof__(cs_close) *close;
    __typeof__(cs_option) *option;
    __typeof__(cs_malloc) *malloc;
    __typeof__(cs_free) *free;
    __typeof__(cs_disasm_iter) *disassemble;
    __typeof__(cs_regs_access) *registers;
} capstone;

static void *
symbol_of(const char *name)
{
    void *symbol = capstone.handle != NULL ? dlsym(capstone.handle, name) : NULL;
    if (symbol == NULL) {
        capstone.handle = NULL;
    }
    return symbol;
}

static void
load_capstone(void)
{
    if (capstone.handle == NULL) {
        capstone.handle = dlopen(CAPSTONE_SO, RTLD_NOW | RTLD_LOCAL);
        *(void **)&capstone.open = symbol_of("cs_open");
        *(void **)&capstone.close = symbol_of("cs_close");
        *(void **)&capstone.option = symbol_of("cs_option");
        *(void **)&capstone.malloc = symbol_of("cs_malloc");
        *(void **)&capstone.free = symbol_of("cs_free");
        *(void **)&capstone.disassemble = symbol_of("cs_disasm_iter");
        *(void **)&capstone.registers = symbol_of("cs_regs_access");
    }
}

static bool
open_capstone(void)
{
    walk.insn = NULL;
    if (capstone.handle != NULL &&
            capstone.open(CS_ARCH_X86, CS_MODE_64, &walk.capstone) == CS_ERR_OK) {
        (void)capstone.option(walk.capstone, CS_OPT_DETAIL, CS_OPT_ON);
        walk.insn = capstone.malloc(walk.capstone);
    }
    return walk.insn != NULL;
}

static void
close_capstone(void)
{
    if (walk.insn != NULL) {
        capstone.free(walk.insn, 1);
        (void)capstone.close(&walk.capstone);
    }
}

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

/* The first operand in memory; none of an instruction that only computes its address, and none that
 * is relative to the thread pointer. */
static void
decode(struct operand *ret)
{
    const uint8_t *bytes = (const uint8_t *)ret->pc;
    size_t size = 16;
    uint64_t address = ret->pc;
    if (walk.insn == NULL ||
            !capstone.disassemble(walk.capstone, &bytes, &size, &address, walk.insn) ||
            walk.insn->id == X86_INS_LEA || walk.insn->id == X86_INS_NOP) {
        return;
    }
    const cs_x86 *detail = &walk.insn->detail->x86;
    for (uint8_t i = 0; i < detail->op_count && ret->size == 0; i++) {
        const cs_x86_op *op = &detail->operands[i];
        bool plain = op->type == X86_OP_MEM && op->mem.segment == X86_REG_INVALID &&
                     op->size >= 1 && op->size <= 8;
        if (plain) {
            ret->next = op->mem.base == X86_REG_RIP;
            ret->base = ret->next ? -1 : greg_of(op->mem.base);
            ret->index = greg_of(op->mem.index);
            ret->scale = (uint8_t)op->mem.scale;
            ret->displacement = op->mem.disp + (ret->next ? (int64_t)address : 0);
            ret->size = op->size;
            ret->length = (uint8_t)walk.insn->size;
            ret->reads = (op->access & CS_AC_READ) != 0;
            ret->writes = (op->access & CS_AC_WRITE) != 0;
        }
    }
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
    size_t size = 16;
    uint64_t address = pc;
    cs_regs read;
    cs_regs written;
    uint8_t reads = 0;
    uint8_t writes = 0;
    *ret = (struct sim_registers){0};
    load_capstone();
    if ((walk.insn == NULL && !open_capstone()) ||
            !capstone.disassemble(walk.capstone, &bytes, &size, &address, walk.insn) ||
            capstone.registers(walk.capstone, walk.insn, read, &reads, written, &writes) !=
                    CS_ERR_OK) {
        return false;
    }
    const cs_detail *detail = walk.insn->detail;
    uint64_t all = 0;
    for (uint8_t i = 0; i < reads; i++) {
        all |= register_bit((x86_reg)read[i]);
    }
    for (uint8_t i = 0; i < writes; i++) {
        ret->writes |= register_bit((x86_reg)written[i]);
    }
    for (uint8_t i = 0; i < detail->x86.op_count; i++) {
        const cs_x86_op *op = &detail->x86.operands[i];
        if (op->type == X86_OP_MEM && walk.insn->id != X86_INS_LEA) {
            ret->address |= register_bit(op->mem.base) | register_bit(op->mem.index);
        } else if (op->type == X86_OP_REG && (op->access & CS_AC_READ) != 0) {
            ret->reads |= register_bit(op->reg);
        }
    }
    ret->reads |= all & ~ret->address;
    return true;
}

#else

bool
sim_registers_of(uintptr_t pc, struct sim_registers *ret)
{
    (void)pc;
    *ret = (struct sim_registers){0};
    return false;
}

static void
load_capstone(void)
{
}

static bool
open_capstone(void)
{
    return false;
}

static void
close_capstone(void)
{
}

static void
decode(struct operand *ret)
{
    ret->size = 0;
}

#endif

/* NULL: there is no room for one more. */
static const struct operand *
operand_at(struct sim_code *code, uintptr_t pc)
{
    uint32_t slot = (uint32_t)((pc * UINT64_C(0x9e3779b97f4a7c15)) >> 49);
    while (code->operands[slot].pc != 0 && code->operands[slot].pc != pc) {
        slot = (slot + 1) % OPERANDS_SIZE;
    }
    if (code->operands[slot].pc == 0) {
        if (code->operand_count >= OPERANDS_SIZE / 4 * 3) {
            return NULL;
        }
        code->operands[slot] = (struct operand){.pc = pc, .base = -1, .index = -1};
        code->operand_count++;
        decode(&code->operands[slot]);
    }
    return &code->operands[slot];
}

static uint64_t
memory_at(uintptr_t address, uint8_t size)
{
    uint64_t value = 0;
    rt_assert(size <= sizeof(value));
    memcpy(&value, (const void *)address, size);
    return value;
}

static void
note_memory(struct sim_instruction *instruction, const greg_t *registers)
{
    const struct operand *operand = operand_at(walk.code, instruction->pc);
    if (operand == NULL || operand->size == 0) {
        return;
    }
    uint64_t address = (uint64_t)operand->displacement;
    address += operand->base >= 0 ? (uint64_t)registers[operand->base] : 0;
    address += operand->index >= 0 ? (uint64_t)registers[operand->index] * operand->scale : 0;
    if (address >= 4096) {
        instruction->address = address;
        instruction->size = operand->size;
        instruction->length = operand->length;
        instruction->reads = operand->reads;
        instruction->writes = operand->writes;
        instruction->before = memory_at(address, operand->size);
        instruction->after = instruction->before;
    }
}

/* ---- The walk. ------------------------------------------------------------------------------- */

static struct stop *
stop_at(struct sim_code *code, uintptr_t pc)
{
    uint32_t slot = (uint32_t)((pc * UINT64_C(0x9e3779b97f4a7c15)) >> 49);
    while (code->stops[slot].pc != 0 && code->stops[slot].pc != pc) {
        slot = (slot + 1) % STOPS_SIZE;
    }
    return &code->stops[slot];
}

static void
put_byte(uintptr_t pc, uint8_t byte)
{
    *(volatile uint8_t *)pc = byte;
}

static void
add_stop(struct sim_code *code, uintptr_t pc)
{
    struct stop *stop = stop_at(code, pc);
    if (stop->pc == 0 && code->stop_count < STOPS_SIZE / 4 * 3) {
        *stop = (struct stop){pc, *(const uint8_t *)pc};
        code->stop_count++;
        put_byte(pc, 0xcc);
    }
}

/* The instruction before is done. */
static void
close_instruction(uintptr_t pc)
{
    struct sim_instruction *done = walk.open;
    walk.open = NULL;
    /* Some that write are said to read only (cmpxchg). */
    if (done != NULL && done->address != 0) {
        done->after = memory_at(done->address, done->size);
        done->writes = done->writes || done->after != done->before;
    }
    if (done != NULL && done->jump) {
        const uint8_t *code = (const uint8_t *)done->pc;
        done->taken = pc != sim_jump_target(done->pc, code[0], false);
    }
}

static void
open_instruction(uintptr_t pc, const greg_t *registers)
{
    struct sim_executed *executed = walk.executed;
    const struct sim_world *world = sim_world_current;
    if (executed->count == SIM_EXECUTED_MAX || world == NULL || world->stepping == NULL) {
        return;
    }
    walk.open = &executed->all[executed->count++];
    *walk.open = (struct sim_instruction){.pc = pc,
            .stack = (uintptr_t)registers[REG_RSP],
            .result = (uint64_t)registers[REG_RAX],
            .step = world->step,
            .actor_id = world->closing ? world->current->id : world->stepping->id,
            .jump = sim_jump_is((const uint8_t *)pc),
            .call = sim_call_is((const uint8_t *)pc)};
    note_memory(walk.open, registers);
}

/* Before an instruction. True: continue one by one. */
static bool
look_at(uintptr_t pc, const greg_t *registers)
{
    const uintptr_t *stack = (const uintptr_t *)registers[REG_RSP];
    close_instruction(pc);
    if (function_at(walk.code, pc) != NULL) {
        open_instruction(pc, registers);
        return true;
    }
    if (function_at(walk.code, stack[0]) != NULL) {
        add_stop(walk.code, stack[0]); /* It was called from there, and will return. */
    }
    return false;
}

static void
on_trap(int number, siginfo_t *info, void *argument)
{
    greg_t *registers = ((ucontext_t *)argument)->uc_mcontext.gregs;
    uintptr_t pc = (uintptr_t)registers[REG_RIP];
    const struct stop *stop = walk.again;
    (void)number;
    if (sim_world_current != NULL) {
        sim_world_spend(sim_world_current, STEPS_EACH);
    }
    walk.again = NULL;
    if (stop != NULL) {
        put_byte(stop->pc, 0xcc);
    }
    /* A function may be one byte long: what stands before `pc` does not say which of both it is. */
    if (info->si_code != TRAP_TRACE) {
        pc = stop_at(walk.code, pc - 1)->pc != 0 ? pc - 1 : pc;
    }
    stop = stop_at(walk.code, pc);
    if (stop->pc != 0) {
        registers[REG_RIP] = (greg_t)pc;
        put_byte(pc, stop->byte);
        walk.again = stop;
    }
    registers[REG_EFL] = look_at(pc, registers) ? registers[REG_EFL] | TRAP_FLAG
                                                : registers[REG_EFL] & ~(greg_t)TRAP_FLAG;
}

static bool
begin_walk(struct sim_code *code, struct sim_executed *executed)
{
    struct sigaction action = {.sa_sigaction = on_trap, .sa_flags = SA_SIGINFO | SA_ONSTACK};
    (void)sigemptyset(&action.sa_mask);
    (void)open_capstone();
    walk.code = code;
    walk.executed = executed;
    walk.open = NULL;
    walk.again = NULL;
    executed->count = 0;
    memset(code->stops, 0, sizeof(code->stops));
    code->stop_count = 0;
    return sim_code_make_writable(code) && sigaction(SIGTRAP, &action, &walk.before) == 0;
}

static void
end_walk(struct sim_code *code)
{
    rt_assert(walk.code == code);
    for (uint32_t i = 0; i < STOPS_SIZE; i++) {
        if (code->stops[i].pc != 0) {
            put_byte(code->stops[i].pc, code->stops[i].byte);
        }
    }
    (void)sigaction(SIGTRAP, &walk.before, NULL);
    close_capstone();
}

struct request {
    struct sim_code *code;
    struct sim_executed *executed;
    bool checked;
};

/* The run up to `to`; where it is to be checked, and is no longer, all of it. */
static void
run_to(struct sim_world *world, const struct sim_case *what,
        const struct sim_experiment *experiment, bool checked, uint64_t to)
{
    struct sim_outcome outcome;
    if (checked && to == experiment->outcome->steps) {
        sim_world_run(world, what->scenario, &what->options, what->seed, what->strategy,
                (struct sim_recording){false, false}, &outcome);
    } else {
        (void)sim_experiment_at(experiment, to);
        sim_world_drop(world);
    }
}

/* sim_analyze_fn. */
static void
walk_run(struct sim_world *world, const struct sim_case *what, const struct sim_outcome *outcome,
        void *argument)
{
    const struct request *request = argument;
    struct sim_experiment experiment;
    if (!begin_walk(request->code, request->executed)) {
        return;
    }
    sim_experiment_begin(&experiment, world, what, outcome);
    for (uint32_t i = 0; i < request->code->function_count; i++) {
        add_stop(request->code, request->code->functions[i].from);
    }
    uint64_t to = outcome->steps < STEPS_MAX ? outcome->steps : STEPS_MAX;
    run_to(world, what, &experiment, request->checked, to);
    end_walk(request->code);
    sim_experiment_end(&experiment);
    request->executed->done = true;
    request->executed->whole = to == outcome->steps && request->executed->count < SIM_EXECUTED_MAX;
}

#else

bool
sim_jump_is(const uint8_t *pc)
{
    (void)pc;
    return false;
}

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

#endif

struct sim_executed *
sim_executed_run(const struct sim_runs *runs, const struct sim_tape *tape, struct sim_code *code,
        bool checked)
{
    struct sim_executed *executed = sim_results_new(sizeof(*executed));
#if defined(__x86_64__)
    struct request request = {code, executed, checked};
    if (executed != NULL && code != NULL) {
        load_capstone();
        sim_runs_analyze(runs, NULL, tape, walk_run, &request);
    }
#else
    (void)runs, (void)tape, (void)code, (void)checked;
#endif
    return executed;
}

void
sim_executed_free(struct sim_executed **executed)
{
    sim_results_free(executed);
}

/* The next instruction of `actor_id` from `from` on; the count: there is none. */
static uint32_t
next_of(const struct sim_executed *executed, uint32_t actor_id, uint32_t from)
{
    while (from < executed->count && executed->all[from].actor_id != actor_id) {
        from++;
    }
    return from;
}

/* A call that is in progress has its stack above all that is executed after it. */
uint32_t
sim_executed_caller(const struct sim_executed *executed, uint32_t index)
{
    rt_assert(index < executed->count);
    uintptr_t above = executed->all[index].stack;
    uint32_t actor_id = executed->all[index].actor_id;
    for (uint32_t i = index; i-- > 0;) {
        const struct sim_instruction *one = &executed->all[i];
        if (one->actor_id == actor_id && one->stack > above) {
            if (one->call && above != 0) {
                return i;
            }
            above = one->stack;
        }
    }
    return UINT32_MAX;
}

uint32_t
sim_executed_parts(
        const struct sim_executed *here, const struct sim_executed *there, uint32_t actor_id)
{
    rt_assert(here != NULL && there != NULL);
    uint32_t last = UINT32_MAX;
    uint32_t i = next_of(here, actor_id, 0);
    uint32_t k = next_of(there, actor_id, 0);
    while (i < here->count && k < there->count) {
        if (here->all[i].pc != there->all[k].pc) {
            return last;
        }
        last = i;
        i = next_of(here, actor_id, i + 1);
        k = next_of(there, actor_id, k + 1);
    }
    return UINT32_MAX;
}

/* The call that returned right before the `next`-th instruction, whose actor executed the
 * `index`-th before that; UINT32_MAX: none did. *ret_own: what it did is on record as a whole. */
static uint32_t
returned_from(const struct sim_code *code, const struct sim_executed *executed, uint32_t index,
        uint32_t next, bool *ret_own)
{
    const struct sim_instruction *after = &executed->all[next];
    uint32_t entered = next;
    for (uint32_t i = index + 1; i-- > 0;) {
        const struct sim_instruction *one = &executed->all[i];
        if (one->actor_id != after->actor_id) {
            continue;
        }
        if (one->stack >= after->stack) {
            const struct sim_instruction *first = &executed->all[entered];
            const struct function *function = function_at(code, first->pc);
            *ret_own = first->stack + sizeof(uintptr_t) == one->stack && function != NULL &&
                       function->from == first->pc;
            return one->stack == after->stack && one->call ? i : UINT32_MAX;
        }
        entered = i;
    }
    return UINT32_MAX;
}

/* Whether the function of the `next`-th instruction begins there, and none of the reader's, of
 * which the last instruction is `index`, has called it. */
static bool
enters(const struct sim_code *code, const struct sim_executed *executed, uint32_t index,
        uint32_t next)
{
    const struct sim_instruction *one = &executed->all[index];
    const struct sim_instruction *first = &executed->all[next];
    const struct function *function = function_at(code, first->pc);
    return function != NULL && function->from == first->pc &&
           !(one->call && first->stack + sizeof(uintptr_t) == one->stack);
}

uint32_t
sim_executed_register(const struct sim_code *code, const struct sim_executed *executed,
        uint32_t index, uint64_t bit)
{
    uint32_t next = index;
    for (uint32_t i = index; i-- > 0;) {
        const struct sim_instruction *one = &executed->all[i];
        struct sim_registers registers;
        if (one->actor_id != executed->all[index].actor_id || one->stack == 0) {
            continue;
        }
        if (enters(code, executed, i, next)) {
            return UINT32_MAX;
        }
        bool own = false;
        bool kept = (bit & SIM_REGISTERS_KEPT) != 0;
        uint32_t call = returned_from(code, executed, i, next, &own);
        if (call != UINT32_MAX && !kept && !own) {
            return call;
        }
        i = call != UINT32_MAX && (kept || !own) ? call : i;
        if (sim_registers_of(executed->all[i].pc, &registers) && !executed->all[i].call &&
                (registers.writes & bit) != 0) {
            return i;
        }
        next = i;
    }
    return UINT32_MAX;
}
