/*
 * guard.c -- the handler of SIGSYS, on the stack of the thread that called.
 *
 * The handler may give way to other threads, or end the run: its frame is one of the thread's stack
 * like any other, and no signal is blocked in it. The text of rewake itself is never stopped, so
 * that the handler can return: with instructions of its own, as those of the C library would be.
 *
 * *Rejected*: a filter by place of the instruction (seccomp), which cannot know whether the C
 * library was called by rewake or by the program.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "sim/posix/guard.h"

#include <errno.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <ucontext.h>
#include <unistd.h>

#include "runtime/base/assert.h"
#include "sim/posix/call.h"

#ifndef PR_SET_SYSCALL_USER_DISPATCH
#define PR_SET_SYSCALL_USER_DISPATCH 59
#endif
#define OFF 0ul
#define ON 1ul
#define BY_DISPATCH 2 /* SYS_USER_DISPATCH: why SIGSYS was sent. */

#if defined(__x86_64__) && SIM_THREAD_PLAYS

/* Of the linker: the text of the executable. */
extern const char __executable_start[];
extern const char etext[];

/* The kernel's structure, which has the end of a handler in it. */
struct kernel_action {
    void (*handler)(int number, siginfo_t *info, void *context);
    unsigned long flags;
    void (*restorer)(void);
    unsigned long mask;
};
#define RESTORER 0x04000000ul /* SA_RESTORER */

/* The end of a handler. An unwinder knows a signal's frame by these very bytes, which no entry of
 * the unwind tables may cover. */
void sim__guard_return(void);
__asm__(".text\n"
        "nop\n"
        ".globl sim__guard_return\n"
        ".hidden sim__guard_return\n"
        "sim__guard_return:\n"
        "mov $15, %rax\n"
        "syscall\n");

static bool
dispatch(unsigned long mode)
{
    size_t size = mode == ON ? (size_t)(etext - __executable_start) : 0;
    return prctl(PR_SET_SYSCALL_USER_DISPATCH, mode, mode == ON ? __executable_start : NULL, size,
                   mode == ON ? &sim_thread_guarded : NULL) == 0;
}

/* What to call for a SIGSYS of other origin. */
static struct sigaction before;

/* ---- The counter of the processor. ----------------------------------------------------------- */

/*
 * rdtsc faults (PR_SET_TSC), on the stack of the handlers, where no thread can give way. So the
 * fault is passed on as a SIGSYS, which arrives on the thread's own stack.
 */
static struct kernel_action on_crash;
static bool counter_read;

/* The bytes of rdtsc or rdtscp, which has faulted; 0: another fault. */
static int
counter_length(const siginfo_t *info, uintptr_t at)
{
    const unsigned char *code = (const unsigned char *)at; /* NOLINT(performance-no-int-to-ptr) */
    if (info->si_code != SI_KERNEL || at >> 47 != 0 || code[0] != 0x0f) {
        return 0;
    }
    return code[1] == 0x31 ? 2 : code[1] == 0x01 && code[2] == 0xf9 ? 3 : 0;
}

static void
put_counter(ucontext_t *context, uint64_t value)
{
    context->uc_mcontext.gregs[REG_RAX] = (greg_t)(value & UINT32_MAX);
    context->uc_mcontext.gregs[REG_RDX] = (greg_t)(value >> 32);
}

static uint64_t
read_counter(void)
{
    (void)prctl(PR_SET_TSC, PR_TSC_ENABLE, 0, 0, 0);
    uint64_t value = __builtin_ia32_rdtsc();
    (void)prctl(PR_SET_TSC, PR_TSC_SIGSEGV, 0, 0, 0);
    return value;
}

/* A tick is a nanosecond; a look at it is a look at the clock. */
static void
play_counter(ucontext_t *context)
{
    int kept = errno;
    struct timespec now = {.tv_sec = 0};
    counter_read = false;
    (void)sim__posix_clock_gettime(CLOCK_MONOTONIC, &now);
    put_counter(context, (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec);
    errno = kept;
}

static void
on_fault(int number, siginfo_t *info, void *argument)
{
    ucontext_t *context = argument;
    greg_t *registers = context->uc_mcontext.gregs;
    int length = counter_length(info, (uintptr_t)registers[REG_RIP]);
    struct sim_thread *paused = sim_thread_pause();
    if (length == 0) { /* It comes again, and to the handler of crashes. */
        (void)syscall(SYS_rt_sigaction, number, &on_crash, NULL, sizeof(on_crash.mask));
    } else if (paused == NULL) { /* The C library of rewake itself reads its clock. */
        put_counter(context, read_counter());
    } else {
        counter_read = true;
        (void)raise(SIGSYS);
    }
    registers[REG_RIP] += length;
    registers[REG_RCX] = length == 3 ? 0 : registers[REG_RCX]; /* The number of the processor. */
    sim_thread_resume(paused);
}

static void
watch_counter(void)
{
    const struct kernel_action action = {.handler = on_fault,
            .flags = SA_SIGINFO | SA_ONSTACK | SA_NODEFER | RESTORER,
            .restorer = sim__guard_return,
            .mask = 1ul << (SIGSYS - 1)};
    if (syscall(SYS_rt_sigaction, SIGSEGV, &action, &on_crash, sizeof(action.mask)) == 0) {
        (void)prctl(PR_SET_TSC, PR_TSC_SIGSEGV, 0, 0, 0);
    }
}

/* ---- Calls. ---------------------------------------------------------------------------------- */

static long
play(const ucontext_t *context)
{
    const greg_t *registers = context->uc_mcontext.gregs;
    const long arguments[6] = {registers[REG_RDI], registers[REG_RSI], registers[REG_RDX],
            registers[REG_R10], registers[REG_R8], registers[REG_R9]};
    int kept = errno;
    errno = 0;
    sim__posix_now = (struct sim__posix_call){"a system call",
            (const void *)registers[REG_RIP]}; /* NOLINT(performance-no-int-to-ptr) */
    long result = sim__posix_by_number(registers[REG_RAX], arguments);
    result = result == -1 ? -errno : result;
    errno = kept;
    return result;
}

static void
on_call(int number, siginfo_t *info, void *argument)
{
    ucontext_t *context = argument;
    if (counter_read) {
        play_counter(context);
    } else if (info->si_code != BY_DISPATCH) {
        before.sa_sigaction(number, info, argument);
    } else if (context->uc_mcontext.gregs[REG_RAX] == SYS_rt_sigreturn) {
        /* Another handler's end. */
        context->uc_mcontext.gregs[REG_RIP] = (greg_t)(uintptr_t)sim__guard_return;
    } else {
        context->uc_mcontext.gregs[REG_RAX] = play(context);
    }
}

bool
sim_guard_possible(void)
{
    bool was = dispatch(ON);
    return was && dispatch(OFF);
}

bool
sim_guard_begin(void)
{
    const struct kernel_action action = {.handler = on_call,
            .flags = SA_SIGINFO | SA_NODEFER | RESTORER,
            .restorer = sim__guard_return};
    rt_assert(sim_thread_guarded == 0);
    watch_counter();
    if (sigaction(SIGSYS, NULL, &before) != 0) {
        return false;
    }
    return syscall(SYS_rt_sigaction, SIGSYS, &action, NULL, sizeof(action.mask)) == 0 &&
           dispatch(ON);
}

#else

bool
sim_guard_possible(void)
{
    return false;
}

bool
sim_guard_begin(void)
{
    return false;
}

#endif
