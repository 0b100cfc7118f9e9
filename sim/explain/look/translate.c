/*
 * translate.c -- the copies of instructions, and how control comes from one to the next.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "sim/explain/look/translate.h"

#include <link.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <ucontext.h>
#include <unistd.h>

#include "runtime/base/assert.h"

#if defined(__x86_64__)

#include <cpuid.h>

#define REGIONS_MAX 8u
#define REGION_SIZE (UINT32_C(4) << 20)
#define REACH (INT64_C(1) << 30) /* Of four bytes, with what is in between. */
#define SLOTS_MAX 65536u
#define TABLE_SIZE 131072u
#define STOPS_MAX 24576u
#define STOPS_SIZE 32768u
#define SLOT_BYTES 64u /* At most: what calls, a copy, and a jump. */
#define TRAP_FLAG 0x100

/* A region: a page of code, one of data, space for registers, a stack, and then the copies. Data
 * lies on other pages than code, as the processor starts again where it finds both in one. */
#define DATA 4096u
#define STACK_TOP (DATA + 65536u)
#define COPIES STACK_TOP

struct data {
    uint64_t stack;  /* The program's stack pointer. */
    uint64_t target; /* Where to go on. */
    void (*look)(long long *registers);
};

/* The instruction at `pc`. */
struct slot {
    uintptr_t pc;
    uint8_t *entry; /* It is looked at, and executed; */
    uint8_t *body;  /* its copy alone; NULL: it has none; */
    uint8_t *last;  /* of one that repeats: that of the last time. */
    uint32_t region;
    struct sim_decoded decoded;
};

/* In shared memory. */
struct copies {
    uint8_t *regions[REGIONS_MAX];
    uint32_t used[REGIONS_MAX]; /* Bytes of each. */
    uint32_t region_count;
    uint32_t slot_count;
    struct slot slots[SLOTS_MAX];
    uint32_t table[TABLE_SIZE]; /* By pc: 1 and the index; 0: free. */
};

/* A breakpoint. */
struct stop {
    uintptr_t pc; /* 0: free. */
    uint8_t byte; /* What it hides. */
};

/* Of the process. */
static struct copies *copies;
static pid_t owner; /* Of `copies`. */

static struct {
    const struct sim_translate_user *user; /* NULL: none. */
    struct slot slot; /* Of which the stack is looked at, or that is executed where it stands. */
    bool stack;
    bool in_place;
    uint32_t stop_count;
    struct stop stops[STOPS_SIZE]; /* By pc. */
    struct sigaction before;
} now;

/* ---- The way out of a copy, and back. -------------------------------------------------------- */

/*
 * A copy of this stands at the beginning of each region, with struct data a page (DATA) later, and
 * space for registers of vectors 64 bytes behind its beginning. It is jumped
 * to with the program's stack pointer put aside, another stack in use, and on it the flags and the
 * index of the slot. With what it pushes there these are registers as gregs has them. Of the
 * registers of vectors those are kept that a program may use without asking the system.
 */
__asm__(".text\n"
        ".balign 64\n"
        "sim__translate_way:\n"
        "pushq sim__translate_way+4096(%rip)\n"
        "pushq %rcx; pushq %rax; pushq %rdx; pushq %rbx; pushq %rbp\n"
        "pushq %rsi; pushq %rdi; pushq %r15; pushq %r14; pushq %r13\n"
        "pushq %r12; pushq %r11; pushq %r10; pushq %r9; pushq %r8\n"
        "movq %rsp, %rbx\n"
        "movl $0xe7, %eax\n"
        "xorl %edx, %edx\n"
        "xsave64 sim__translate_way+4096+64(%rip)\n"
        "cld\n"
        "movq %rsp, %rdi\n"
        "andq $-16, %rsp\n"
        "call *sim__translate_way+4096+16(%rip)\n"
        "movl $0xe7, %eax\n"
        "xorl %edx, %edx\n"
        "xrstor64 sim__translate_way+4096+64(%rip)\n"
        "movq %rbx, %rsp\n"
        "popq %r8; popq %r9; popq %r10; popq %r11; popq %r12; "
        "popq %r13\n"
        "popq %r14; popq %r15; popq %rdi; popq %rsi; popq %rbp; "
        "popq %rbx\n"
        "popq %rdx; popq %rax; popq %rcx\n"
        "popq sim__translate_way+4096(%rip)\n"
        "leaq 8(%rsp), %rsp\n"
        "popfq\n"
        "movq sim__translate_way+4096(%rip), %rsp\n"
        "jmpq *sim__translate_way+4096+8(%rip)\n"
        "sim__translate_trap:\n"
        "int3\n"
        "sim__translate_end:\n");
extern const uint8_t sim__translate_way[];
extern const uint8_t sim__translate_trap[];
extern const uint8_t sim__translate_end[];

static struct data *
data_of(uint32_t region)
{
    rt_assert(region < copies->region_count);
    return (struct data *)(void *)(copies->regions[region] + DATA);
}

/* The breakpoint of a region. */
static uint8_t *
trap_of(uint32_t region)
{
    return copies->regions[region] + (sim__translate_trap - sim__translate_way);
}

/* ---- Space. ---------------------------------------------------------------------------------- */

static bool
reaches(uintptr_t from, uintptr_t to)
{
    int64_t distance = (int64_t)to - (int64_t)from;
    return distance > -REACH && distance < REACH;
}

/* The region from which all that is near `pc` is reached; the count: there is none. */
static uint32_t
region_near(uintptr_t pc)
{
    uint32_t i = 0;
    while (i < copies->region_count && !reaches((uintptr_t)copies->regions[i], pc)) {
        i++;
    }
    return i;
}

static void on_instruction(long long *registers);

static void
add_region(uint8_t *region)
{
    size_t size = (size_t)(sim__translate_end - sim__translate_way);
    rt_assert(size < DATA);
    copies->regions[copies->region_count++] = region;
    memcpy(region, sim__translate_way, size);
    data_of(copies->region_count - 1)->look = on_instruction;
}

/* Maps a region near `at`, below it if there is space; what grows upwards from a program, its heap,
 * is left alone. */
static void
map_region(uintptr_t at)
{
    const uintptr_t distance = UINT32_C(16) << 20;
    at &= ~(uintptr_t)4095;
    for (uint32_t i = 1; i <= 64 && copies->region_count < REGIONS_MAX; i++) {
        uintptr_t far = i <= 32 ? (uintptr_t)0 - i * distance : i * distance;
        void *region = mmap((void *)(at + far), REGION_SIZE, PROT_READ | PROT_WRITE | PROT_EXEC,
                MAP_SHARED | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
        if (region != MAP_FAILED) {
            add_region(region);
            return;
        }
    }
}

/* For dl_iterate_phdr. */
static int
map_for(struct dl_phdr_info *info, size_t size, void *argument)
{
    (void)size, (void)argument;
    for (uint32_t i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *segment = &info->dlpi_phdr[i];
        bool code = segment->p_type == PT_LOAD && (segment->p_flags & PF_X) != 0;
        uintptr_t at = info->dlpi_addr + segment->p_vaddr;
        if (code && region_near(at) == copies->region_count) {
            map_region(at);
        }
    }
    return 0;
}

static bool
has_xsave(void)
{
    unsigned int a = 0;
    unsigned int b = 0;
    unsigned int c = 0;
    unsigned int d = 0;
    return __get_cpuid(1, &a, &b, &c, &d) != 0 && (c & bit_OSXSAVE) != 0;
}

static void
forget(void)
{
    memset(copies->table, 0, sizeof(copies->table));
    copies->slot_count = 0;
    for (uint32_t i = 0; i < copies->region_count; i++) {
        copies->used[i] = COPIES;
    }
}

void
sim_translate_prepare(void)
{
    if (copies != NULL && owner != getpid()) {
        copies = NULL; /* Those of the parent, which may use them. */
    }
    if (copies == NULL && has_xsave() && sim_decode_open()) {
        void *space = mmap(
                NULL, sizeof(*copies), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
        copies = space != MAP_FAILED ? space : NULL;
    }
    if (copies != NULL) {
        owner = getpid();
        (void)dl_iterate_phdr(map_for, NULL);
        forget();
    }
}

/* ---- Stops. ---------------------------------------------------------------------------------- */

static uint32_t
hash_of(uintptr_t pc)
{
    return (uint32_t)((pc * UINT64_C(0x9e3779b97f4a7c15)) >> 40);
}

static struct stop *
stop_at(uintptr_t pc)
{
    uint32_t place = hash_of(pc) % STOPS_SIZE;
    while (now.stops[place].pc != 0 && now.stops[place].pc != pc) {
        place = (place + 1) % STOPS_SIZE;
    }
    return &now.stops[place];
}

static void
put_byte(uintptr_t pc, uint8_t byte)
{
    *(volatile uint8_t *)pc = byte;
}

void
sim_translate_stop(uintptr_t pc)
{
    struct stop *stop = stop_at(pc);
    if (stop->pc == 0 && now.stop_count < STOPS_MAX) {
        *stop = (struct stop){pc, *(const uint8_t *)pc};
        now.stop_count++;
        put_byte(pc, 0xcc);
    }
}

/* What stands at `pc` without them. */
static void
read_bytes(uintptr_t pc, uint8_t *ret)
{
    memcpy(ret, (const void *)pc, SIM_INSTRUCTION_BYTES);
    for (uint32_t i = 0; i < SIM_INSTRUCTION_BYTES && now.stop_count > 0; i++) {
        const struct stop *stop = ret[i] == 0xcc ? stop_at(pc + i) : NULL;
        ret[i] = stop != NULL && stop->pc != 0 ? stop->byte : ret[i];
    }
}

/* ---- Copies. --------------------------------------------------------------------------------- */

/* Where the slot of `pc` is noted, or would be. */
static uint32_t *
place_of(uintptr_t pc)
{
    uint32_t place = hash_of(pc) % TABLE_SIZE;
    while (copies->table[place] != 0 && copies->slots[copies->table[place] - 1].pc != pc) {
        place = (place + 1) % TABLE_SIZE;
    }
    return &copies->table[place];
}

static uint8_t *
emit(uint8_t *at, const void *bytes, size_t size)
{
    memcpy(at, bytes, size);
    return at + size;
}

/* Four bytes, relative to what follows them. */
static uint8_t *
emit_relative(uint8_t *at, const uint8_t *target)
{
    int64_t distance = target - (at + sizeof(int32_t));
    int32_t relative = (int32_t)distance;
    rt_assert(relative == distance);
    return emit(at, &relative, sizeof(relative));
}

/* What looks at the slot: changes no flag, and nothing on the program's stack. */
static uint8_t *
emit_look(uint8_t *at, uint8_t *region, uint32_t index)
{
    at = emit(at, "\x48\x89\x25", 3); /* mov %rsp, data->stack(%rip) */
    at = emit_relative(at, region + DATA);
    at = emit(at, "\x48\x8d\x25", 3); /* lea top(%rip), %rsp */
    at = emit_relative(at, region + STACK_TOP);
    at = emit(at, "\x9c\x68", 2); /* pushf; push $index */
    at = emit(at, &index, sizeof(index));
    at = emit(at, "\xe9", 1); /* jmp */
    return emit_relative(at, region);
}

/* The instruction at another place: what is relative in it is corrected. False: too far. */
static bool
emit_copy(uint8_t *at, const struct slot *slot, const uint8_t *bytes)
{
    const struct sim_decoded *decoded = &slot->decoded;
    memcpy(at, bytes, decoded->length);
    if (decoded->relative != 0) {
        int32_t relative = 0;
        memcpy(&relative, bytes + decoded->relative, sizeof(relative));
        int64_t moved = relative + ((int64_t)slot->pc - (int64_t)(uintptr_t)at);
        relative = (int32_t)moved;
        memcpy(at + decoded->relative, &relative, sizeof(relative));
        return relative == moved;
    }
    return true;
}

/* Adds the slot of `pc`, where there is none. True: the next instruction follows it in the code. */
static bool
add_slot(uintptr_t pc, uint32_t region)
{
    uint8_t bytes[SIM_INSTRUCTION_BYTES];
    uint8_t *at = copies->regions[region] + copies->used[region];
    uint32_t index = copies->slot_count++;
    struct slot *slot = &copies->slots[index];
    *slot = (struct slot){.pc = pc, .entry = at, .region = region};
    *place_of(pc) = index + 1;
    read_bytes(pc, bytes);
    sim_decode(pc, bytes, &slot->decoded);
    at = emit_look(at, copies->regions[region], index);
    if (slot->decoded.repeats) {
        slot->body = at;
        at = emit(at, bytes + 1, slot->decoded.length - 1u);
        at = emit(at, "\xe9", 1); /* It is looked at each time. */
        at = emit_relative(at, slot->entry);
        slot->last = at;
        at = emit(at, bytes + 1, slot->decoded.length - 1u);
    } else if (slot->decoded.flow == SIM_FLOW_NEXT) {
        if (emit_copy(at, slot, bytes)) {
            slot->body = at;
            at += slot->decoded.length;
        } else {
            slot->decoded.flow = SIM_FLOW_UNKNOWN;
        }
    }
    copies->used[region] = (uint32_t)(at - copies->regions[region]);
    return slot->body != NULL;
}

/* Where what was emitted last continues: at the slot of `pc`. */
static void
emit_jump(uint32_t region, const struct slot *slot)
{
    uint8_t *at = copies->regions[region] + copies->used[region];
    uint8_t *const entry = slot->entry;
    if (slot->region == region) {
        at = emit(at, "\xe9", 1);
        at = emit_relative(at, entry);
    } else {
        at = emit(at, "\xff\x25\0\0\0", 6); /* jmp *0(%rip) */
        at = emit(at, &entry, sizeof(entry));
    }
    copies->used[region] = (uint32_t)(at - copies->regions[region]);
}

/* From `pc` up to where control may go elsewhere, or what is known. */
static void
translate(uintptr_t pc, uint32_t region)
{
    while (add_slot(pc, region)) {
        pc += copies->slots[copies->slot_count - 1].decoded.length;
        uint32_t known = *place_of(pc);
        if (known != 0) {
            emit_jump(region, &copies->slots[known - 1]);
            return;
        }
        rt_assert(copies->slot_count < SLOTS_MAX);
    }
}

/* Where a walk continues that is at `pc`; `pc` itself: nothing can be copied near it. */
static uintptr_t
entry_of(uintptr_t pc)
{
    uint32_t region = region_near(pc);
    uint32_t known = *place_of(pc);
    if (known == 0 && region < copies->region_count) {
        bool full = copies->slot_count > SLOTS_MAX / 2 ||
                    copies->used[region] + SLOTS_MAX / 2 * SLOT_BYTES > REGION_SIZE;
        if (full) {
            forget();
        }
        translate(pc, region);
        known = *place_of(pc);
    }
    return known != 0 ? (uintptr_t)copies->slots[known - 1].entry : pc;
}

/* ---- The walk. ------------------------------------------------------------------------------- */

static uint64_t
memory_at(uintptr_t address)
{
    uint64_t value = 0;
    memcpy(&value, (const void *)address, sizeof(value));
    return value;
}

static uintptr_t
target_of(const struct slot *slot, const long long *registers)
{
    const struct sim_decoded *decoded = &slot->decoded;
    return decoded->target != 0 ? decoded->target
           : decoded->by >= 0   ? (uintptr_t)registers[decoded->by]
                                : memory_at(sim_operand_address(&decoded->operand, registers));
}

/* Does what the jump, call or return would, and returns where to go on. */
static uintptr_t
execute_flow(const struct slot *slot, long long *registers)
{
    const struct sim_decoded *decoded = &slot->decoded;
    uintptr_t next = slot->pc + decoded->length;
    uintptr_t target = 0;
    uint8_t bytes[SIM_INSTRUCTION_BYTES];
    bool taken = false;
    if (decoded->flow == SIM_FLOW_IF) {
        read_bytes(slot->pc, bytes);
        taken = sim_jump_taken(slot->pc, bytes[0], (uint64_t)registers[REG_EFL]);
        target = sim_jump_target(slot->pc, bytes[0], taken);
    } else if (decoded->flow == SIM_FLOW_RETURN) {
        target = memory_at((uintptr_t)registers[REG_RSP]);
        registers[REG_RSP] += (long long)(sizeof(target) + decoded->popped);
    } else {
        target = target_of(slot, registers);
    }
    if (decoded->flow == SIM_FLOW_CALL) {
        registers[REG_RSP] -= (long long)sizeof(next);
        memcpy((void *)(uintptr_t)registers[REG_RSP], &next, sizeof(next));
    }
    return entry_of(target);
}

/* Once more, and counted; or, where nothing is to be done, with the next one. */
static uintptr_t
repeat(const struct slot *slot, long long *registers)
{
    if (registers[REG_RCX] == 0) {
        return entry_of(slot->pc + slot->decoded.length);
    }
    return (uintptr_t)(--registers[REG_RCX] != 0 ? slot->body : slot->last);
}

/* Where to go on, so that the instruction is executed. */
static uintptr_t
execute(const struct slot *slot, long long *registers)
{
    if (slot->decoded.flow == SIM_FLOW_UNKNOWN) {
        now.in_place = true;
        now.slot = *slot;
        return (uintptr_t)trap_of(slot->region);
    }
    if (slot->decoded.repeats) {
        return repeat(slot, registers);
    }
    return slot->body != NULL ? (uintptr_t)slot->body : execute_flow(slot, registers);
}

/* Called by each copy, on a stack of its own. */
static void
on_instruction(long long *registers)
{
    const struct slot *slot = &copies->slots[registers[REG_RIP]];
    uint64_t *target = &data_of(slot->region)->target;
    registers[REG_RIP] = (long long)slot->pc;
    enum sim_look look = SIM_LOOK_LEAVE;
    if (now.user != NULL) {
        look = now.user->look(slot->pc, &slot->decoded, registers);
    }
    if (look == SIM_LOOK_LEAVE) {
        *target = slot->pc;
    } else if (look == SIM_LOOK_STACK) {
        now.stack = true;
        now.slot = *slot;
        *target = (uintptr_t)trap_of(slot->region);
    } else {
        *target = execute(slot, registers);
    }
}

/* From the breakpoint of a region. */
static void
on_own_trap(greg_t *registers)
{
    const struct slot slot = now.slot;
    registers[REG_RIP] = (greg_t)slot.pc;
    if (now.stack) {
        now.stack = false;
        now.user->look_at_stack(slot.pc);
        registers[REG_RIP] = (greg_t)execute(&slot, registers);
    }
    if (now.in_place) {
        registers[REG_RIP] = (greg_t)slot.pc;
        registers[REG_EFL] |= TRAP_FLAG;
    }
}

static void
on_trap(int number, siginfo_t *info, void *argument)
{
    greg_t *registers = ((ucontext_t *)argument)->uc_mcontext.gregs;
    uintptr_t pc = (uintptr_t)registers[REG_RIP];
    bool own = false;
    (void)number;
    if (info->si_code == TRAP_TRACE) {
        now.in_place = false;
        registers[REG_EFL] &= ~(greg_t)TRAP_FLAG;
        registers[REG_RIP] = (greg_t)(now.user != NULL ? entry_of(pc) : pc);
        return;
    }
    for (uint32_t i = 0; i < copies->region_count; i++) {
        own = own || pc - 1 == (uintptr_t)trap_of(i);
    }
    if (own) {
        on_own_trap(registers);
    } else if (stop_at(pc - 1)->pc != 0) {
        registers[REG_RIP] = (greg_t)entry_of(pc - 1);
    }
}

bool
sim_translate_begin(const struct sim_translate_user *user)
{
    struct sigaction action = {.sa_sigaction = on_trap, .sa_flags = SA_SIGINFO | SA_ONSTACK};
    rt_assert(now.user == NULL);
    (void)sigemptyset(&action.sa_mask);
    if (copies == NULL) {
        sim_translate_prepare();
    }
    if (copies == NULL || sigaction(SIGTRAP, &action, &now.before) != 0) {
        return false;
    }
    rt_assert(now.stop_count == 0);
    now.in_place = false;
    now.stack = false;
    now.user = user;
    return true;
}

void
sim_translate_here(void)
{
    rt_assert(now.user != NULL);
    __asm__ volatile("pushfq\n\torq $0x100, (%%rsp)\n\tpopfq" ::: "memory", "cc");
}

void
sim_translate_end(void)
{
    rt_assert(now.user != NULL);
    now.user = NULL;
    /* The next instruction of a walk sees it, and leaves; it has come by the end of this line. */
    __asm__ volatile("nop\n\tnop" ::: "memory");
    for (uint32_t i = 0; i < STOPS_SIZE && now.stop_count > 0; i++) {
        if (now.stops[i].pc != 0) {
            put_byte(now.stops[i].pc, now.stops[i].byte);
            now.stops[i].pc = 0;
            now.stop_count--;
        }
    }
    (void)sigaction(SIGTRAP, &now.before, NULL);
}

#else

void
sim_translate_prepare(void)
{
}

bool
sim_translate_begin(const struct sim_translate_user *user)
{
    (void)user;
    return false;
}

void
sim_translate_here(void)
{
}

void
sim_translate_end(void)
{
}

void
sim_translate_stop(uintptr_t pc)
{
    (void)pc;
}

#endif
