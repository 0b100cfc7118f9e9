/*
 * crash.c -- signal handlers of a worker, and the sentence about what they saw.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "sim/engine/worker/crash.h"

#include <execinfo.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <ucontext.h>
#include <unistd.h>

#include "runtime/base/assert.h"
#include "sim/core/code/frames.h"
#include "sim/core/process/stack.h"
#include "sim/engine/worker/exit_flush.h"
#include "sim/thread/thread.h"

#define HANDLER_STACK ((size_t)64 << 10)
/* An access this near the stack pointer, and not to be had, has run off the stack's end. */
#define STACK_REACH ((uintptr_t)64 << 10)
#define NULL_REACH ((uintptr_t)64 << 10)

/* A report of the sanitizers is a crash like any other, and leaks are counted by the world. */
const char *__asan_default_options(void);
const char *__ubsan_default_options(void);

const char *
__asan_default_options(void)
{
    return "abort_on_error=1:detect_leaks=0:detect_stack_use_after_return=0:"
           "allocator_may_return_null=1:handle_abort=0";
}

const char *
__ubsan_default_options(void)
{
    return "abort_on_error=1:print_stacktrace=1";
}

static const int caught[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT, SIGTRAP, SIGSYS};

/* Of the worker's process. */
static struct sim_crash *crash_record;

/* What the processor was doing; zeros where reading it is not implemented. */
struct machine {
    uintptr_t pc;
    uintptr_t sp;
    uint8_t access; /* enum sim_crash_access */
};

#if defined(__x86_64__)
/* Bits of a page fault's error code. */
#define FAULT_WRITE 2
#define FAULT_FETCH 16

static struct machine
read_machine(const ucontext_t *context)
{
    const greg_t *registers = context->uc_mcontext.gregs;
    greg_t error = registers[REG_ERR];
    return (struct machine){
            .pc = (uintptr_t)registers[REG_RIP],
            .sp = (uintptr_t)registers[REG_RSP],
            .access = (error & FAULT_FETCH) != 0   ? SIM_CRASH_CALL
                      : (error & FAULT_WRITE) != 0 ? SIM_CRASH_WRITE
                                                   : SIM_CRASH_READ,
    };
}

/* A call of NULL has left the return address on the stack, and no unwinder can start at NULL: it
 * starts at the call. */
static void
step_back(ucontext_t *context)
{
    greg_t *registers = context->uc_mcontext.gregs;
    registers[REG_RIP] = *(const greg_t *)registers[REG_RSP];
    registers[REG_RSP] += (greg_t)sizeof(greg_t);
}
#elif defined(__aarch64__)
static struct machine
read_machine(const ucontext_t *context)
{
    uintptr_t pc = (uintptr_t)context->uc_mcontext.pc;
    return (struct machine){
            .pc = pc,
            .sp = (uintptr_t)context->uc_mcontext.sp,
            .access = context->uc_mcontext.fault_address == pc ? SIM_CRASH_CALL : SIM_CRASH_ANY,
    };
}

static void
step_back(ucontext_t *context)
{
    context->uc_mcontext.pc = context->uc_mcontext.regs[30];
}
#else
static struct machine
read_machine(const ucontext_t *context)
{
    (void)context;
    return (struct machine){.pc = 0};
}

static void
step_back(ucontext_t *context)
{
    (void)context;
}
#endif

/* Last of all: where the stack is spoilt this is one more crash, which ends what has ended. */
static void
note_frames(struct sim_crash *crash)
{
    void *frames[SIM_CRASH_FRAMES];
    int count = backtrace(frames, SIM_CRASH_FRAMES);
    for (int i = 0; i < count; i++) {
        crash->frames[i] = (uintptr_t)frames[i];
    }
    crash->frame_count = count > 0 ? (uint32_t)count : 0;
}

static void
note_access(struct sim_crash *crash, const siginfo_t *info, const struct machine *machine)
{
    uintptr_t address = (uintptr_t)info->si_addr;
    bool near_stack = address + STACK_REACH > machine->sp && address < machine->sp + STACK_REACH;
    crash->address = address;
    crash->access = machine->access;
    crash->unknown = info->si_code == SI_KERNEL;
    crash->overflow = !crash->unknown && (near_stack || sim_stack_guard(info->si_addr));
    crash->near_null = !crash->unknown && address < NULL_REACH;
}

/* SA_RESETHAND: the signal comes again when we return, and kills. */
static void
on_signal(int number, siginfo_t *info, void *argument)
{
    ucontext_t *context = argument;
    const struct machine machine = read_machine(context);
    /* What the handler calls is the C library's, also where a simulated thread has crashed. */
    sim_thread_leave();
    crash_record->pc = machine.pc;
    if (number == SIGSEGV || number == SIGBUS) {
        note_access(crash_record, info, &machine);
    }
    crash_record->signal = number;
    bool called = crash_record->access == SIM_CRASH_CALL && !crash_record->overflow;
    if (called) {
        step_back(context);
        crash_record->pc = read_machine(context).pc;
    }
    note_frames(crash_record);
    sim_exit_flush();
    (void)raise(number);
}

bool
sim_crash_catch(struct sim_crash *crash)
{
    rt_assert(crash != NULL);
    void *memory =
            mmap(NULL, HANDLER_STACK, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    stack_t stack = {.ss_sp = memory, .ss_size = HANDLER_STACK};
    if (memory == MAP_FAILED || sigaltstack(&stack, NULL) != 0) {
        return false;
    }
    /* Not in a handler. */
    sim_stack_prepare();
    *crash = (struct sim_crash){.signal = 0};
    crash_record = crash;
    struct sigaction action = {
            .sa_sigaction = on_signal, .sa_flags = SA_SIGINFO | SA_ONSTACK | (int)SA_RESETHAND};
    (void)sigemptyset(&action.sa_mask);
    for (size_t i = 0; i < sizeof(caught) / sizeof(*caught); i++) {
        if (sigaction(caught[i], &action, NULL) != 0) {
            return false;
        }
    }
    return true;
}

/* ---- In the parent. -------------------------------------------------------------------------- */

void
sim_crash_stack(const struct sim_crash *crash, struct sim_stack *ret_stack)
{
    uint32_t count = crash->frame_count <= SIM_CRASH_FRAMES ? crash->frame_count : 0;
    uint32_t from = 0;
    while (from < count && crash->frames[from] != crash->pc) {
        from++;
    }
    /* Without an unwinder only the instruction is known. */
    sim_stack_of(ret_stack, crash->pc);
    ret_stack->function = false;
    ret_stack->returns = crash->access == SIM_CRASH_CALL;
    for (uint32_t i = from + 1; i < count && ret_stack->count < SIM_STACK_FRAMES; i++) {
        ret_stack->pc[ret_stack->count++] = crash->frames[i];
    }
}

static const char *
done_to(const struct sim_crash *crash)
{
    static const char *const words[] = {
            [SIM_CRASH_ANY] = "accessed",
            [SIM_CRASH_READ] = "read",
            [SIM_CRASH_WRITE] = "written",
            [SIM_CRASH_CALL] = "called as a function",
    };
    rt_assert(crash->access <= SIM_CRASH_CALL);
    return words[crash->access];
}

static void
put_access(const struct sim_crash *crash, char *ret_text, size_t size)
{
    rt_assert(size > 0);
    if (crash->overflow) {
        (void)snprintf(ret_text, size, "the stack overflowed");
    } else if (crash->near_null && crash->address != 0) {
        (void)snprintf(ret_text, size, "NULL + 0x%llx %s", (unsigned long long)crash->address,
                done_to(crash));
    } else if (crash->near_null) {
        (void)snprintf(ret_text, size, "NULL %s", done_to(crash));
    } else {
        (void)snprintf(ret_text, size, "an invalid address %s",
                crash->unknown ? "accessed" : done_to(crash));
    }
}

static void
put_what(const struct sim_crash *crash, char *ret_text, size_t size)
{
    rt_assert(crash->signal != 0);
    if (crash->signal == SIGSEGV || crash->signal == SIGBUS) {
        put_access(crash, ret_text, size);
        return;
    }
    const char *what = crash->signal == SIGFPE
                               ? "a division by zero, or one whose result does not fit"
                       : crash->signal == SIGILL || crash->signal == SIGTRAP
                               ? "a trap instruction was executed"
                       : crash->signal == SIGABRT ? "abort() was called"
                                                  : "a system call was refused";
    (void)snprintf(ret_text, size, "%s", what);
}

void
sim_crash_where(const struct sim_crash *crash, char *ret_text, size_t size)
{
    rt_assert(size > 0);
    struct sim_stack stack;
    struct sim_frames frames;
    sim_crash_stack(crash, &stack);
    sim_frames_find(&stack, &frames);
    sim_frames_where(&frames, ret_text, size);
}

void
sim_crash_tell(const struct sim_crash *crash, int status, char *ret_text, size_t size)
{
    rt_assert(size > 0);
    char what[80];
    char where[160];
    if (WIFEXITED(status)) {
        (void)snprintf(ret_text, size, "exit(%d) was called inside the run", WEXITSTATUS(status));
        return;
    }
    rt_assert(WIFSIGNALED(status));
    if (crash->signal == 0) {
        const char *name = sigabbrev_np(WTERMSIG(status));
        (void)snprintf(ret_text, size, "the process was killed from outside by SIG%s",
                name != NULL ? name : " of real time");
        return;
    }
    const char *name = sigabbrev_np(crash->signal);
    put_what(crash, what, sizeof(what));
    sim_crash_where(crash, where, sizeof(where));
    (void)snprintf(ret_text, size, "SIG%s, %s%s", name != NULL ? name : "?", what, where);
}
