/*
 * crash.c -- signal handlers of a worker, and the sentence about what they saw.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "sim/explore/worker/crash.h"

#include <dlfcn.h>
#include <execinfo.h>
#include <link.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <ucontext.h>
#include <unistd.h>

#include "runtime/base/assert.h"
#include "sim/explore/worker/last_words.h"
#include "sim/world/stack/stack.h"

#define HANDLER_STACK ((size_t)64 << 10)
/* An access this near the stack pointer, and not to be had, has run off the stack's end. */
#define STACK_REACH ((uintptr_t)64 << 10)
#define FROM_OUTSIDE "the process was killed from outside by SIG"
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

/* Program counter and stack pointer at the time of the signal; zeros where we do not know how. */
static void
registers(const ucontext_t *context, uintptr_t *ret_pc, uintptr_t *ret_sp)
{
#if defined(__x86_64__)
    *ret_pc = (uintptr_t)context->uc_mcontext.gregs[REG_RIP];
    *ret_sp = (uintptr_t)context->uc_mcontext.gregs[REG_RSP];
#elif defined(__aarch64__)
    *ret_pc = (uintptr_t)context->uc_mcontext.pc;
    *ret_sp = (uintptr_t)context->uc_mcontext.sp;
#else
    (void)context;
    *ret_pc = 0;
    *ret_sp = 0;
#endif
}

/* Last of all: where the stack is spoilt this is one more crash, which ends what has ended. */
static void
note_frames(struct sim_crash *crash)
{
    void *frames[SIM_CRASH_FRAMES];
    int count = crash->overflow ? 0 : backtrace(frames, SIM_CRASH_FRAMES);
    for (int i = 0; i < count; i++) {
        crash->frames[i] = (uintptr_t)frames[i];
    }
    crash->frame_count = count > 0 ? (uint32_t)count : 0;
}

/* SA_RESETHAND: the signal comes again when we return, and kills. */
static void
on_signal(int number, siginfo_t *info, void *context)
{
    uintptr_t sp = 0;
    uintptr_t address = (uintptr_t)info->si_addr;
    registers(context, &crash_record->pc, &sp);
    bool is_access = number == SIGSEGV || number == SIGBUS;
    bool near_stack = address + STACK_REACH > sp && address < sp + STACK_REACH;
    crash_record->overflow = is_access && (near_stack || sim_stack_guard(info->si_addr));
    crash_record->near_null = is_access && address < NULL_REACH;
    crash_record->signal = number;
    note_frames(crash_record);
    sim_last_words();
    (void)raise(number);
}

bool
sim_crash_catch(struct sim_crash *crash)
{
    void *memory =
            mmap(NULL, HANDLER_STACK, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    stack_t stack = {.ss_sp = memory, .ss_size = HANDLER_STACK};
    if (memory == MAP_FAILED || sigaltstack(&stack, NULL) != 0) {
        return false;
    }
    /* The first call loads the unwinder, which takes memory: not in a handler. */
    void *here = NULL;
    (void)backtrace(&here, 1);
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
sim_crash_place(uintptr_t pc, char *ret_text, size_t size)
{
    Dl_info info;
    const ElfW(Sym) *symbol = NULL;
    void *found = NULL;
    *ret_text = '\0';
    if (pc == 0 || dladdr1((const void *)pc, &info, &found, RTLD_DL_SYMENT) == 0) {
        return;
    }
    symbol = found;
    /* The nearest symbol before may be another function's: a static one has none. */
    if (info.dli_sname != NULL && symbol != NULL &&
            pc - (uintptr_t)info.dli_saddr < symbol->st_size) {
        (void)snprintf(ret_text, size, " in %s()", info.dli_sname);
        return;
    }
    const char *slash = strrchr(info.dli_fname, '/');
    (void)snprintf(ret_text, size, " at %s+0x%llx", slash != NULL ? slash + 1 : info.dli_fname,
            (unsigned long long)(pc - (uintptr_t)info.dli_fbase));
}

static const char *
what_happened(const struct sim_crash *crash)
{
    if (crash->overflow) {
        return "the stack overflowed";
    }
    if (crash->near_null) {
        return "a null pointer was followed";
    }
    switch (crash->signal) {
    case SIGSEGV:
    case SIGBUS:
        return "memory was touched that is not there";
    case SIGFPE:
        return "a division by zero, or one that does not fit";
    case SIGILL:
    case SIGTRAP:
        return "an instruction was reached that traps";
    case SIGABRT:
        return "abort() was called";
    default:
        return "a system call was refused";
    }
}

void
sim_crash_tell(const struct sim_crash *crash, int status, char *ret_text, size_t size)
{
    if (WIFEXITED(status)) {
        (void)snprintf(ret_text, size, "exit(%d) was called inside the run", WEXITSTATUS(status));
        return;
    }
    rt_assert(WIFSIGNALED(status));
    if (crash->signal == 0) {
        const char *name = sigabbrev_np(WTERMSIG(status));
        (void)snprintf(ret_text, size, FROM_OUTSIDE "%s", name != NULL ? name : " of real time");
        return;
    }
    char place[160] = "";
    /* The place of an abort is the C library's own. */
    if (crash->signal != SIGABRT) {
        sim_crash_place(crash->pc, place, sizeof(place));
    }
    const char *name = sigabbrev_np(crash->signal);
    (void)snprintf(
            ret_text, size, "%s%s (SIG%s)", what_happened(crash), place, name != NULL ? name : "?");
}

bool
sim_crash_from_outside(const char *message)
{
    return strncmp(message, FROM_OUTSIDE, sizeof(FROM_OUTSIDE) - 1) == 0;
}
