/*
 * hang.c -- asking a process where it is, and what its answers have in common.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "sim/engine/worker/hang.h"

#include <errno.h>
#include <execinfo.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <ucontext.h>
#include <unistd.h>

#include "runtime/base/assert.h"
#include "sim/thread/thread.h"
/* No program is known to use it; valgrind has the one above. */
#define SIGNAL (SIGRTMAX - 1)

/* The handler's own frames, and that of the signal. */
#define OWN_FRAMES 6u

#define WAIT_NS 1000000
#define WAITS_MAX 200u /* For one answer. */
#define GAP_NS 3000000 /* Between two. */

/* Of the worker's process. */
static struct sim_hang *record;

/* ---- In the worker. -------------------------------------------------------------------------- */

static uintptr_t
pc_of(const ucontext_t *context)
{
#if defined(__x86_64__)
    return (uintptr_t)context->uc_mcontext.gregs[REG_RIP];
#elif defined(__aarch64__)
    return (uintptr_t)context->uc_mcontext.pc;
#else
    (void)context;
    return 0;
#endif
}

/* Where the interrupted instruction is not found in its own stack, it stands alone. */
static void
note_stack(struct sim_hang_sample *sample, uintptr_t pc)
{
    void *frames[SIM_CRASH_FRAMES + OWN_FRAMES];
    int count = backtrace(frames, (int)(sizeof(frames) / sizeof(*frames)));
    int from = 0;
    while (from < count && (uintptr_t)frames[from] != pc) {
        from++;
    }
    sample->frame_count = 0;
    sample->frames[sample->frame_count++] = pc;
    for (int i = from + 1; i < count && sample->frame_count < SIM_CRASH_FRAMES; i++) {
        sample->frames[sample->frame_count++] = (uintptr_t)frames[i];
    }
}

static void
on_asked(int number, siginfo_t *info, void *context)
{
    int kept = errno;
    struct sim_thread *thread = sim_thread_pause();
    (void)number;
    (void)info;
    uint32_t nth = record->count;
    if (nth < SIM_HANG_SAMPLES) {
        note_stack(&record->samples[nth], pc_of(context));
        record->count = nth + 1;
    }
    /* A call of the system that was interrupted must not become the end of the hang. */
    while (record->count >= record->wanted) {
        (void)pause();
    }
    sim_thread_resume(thread);
    errno = kept;
}

bool
sim_hang_catch(struct sim_hang *hang)
{
    struct sigaction action = {
            .sa_sigaction = on_asked, .sa_flags = SA_SIGINFO | SA_ONSTACK | SA_RESTART};
    (void)sigemptyset(&action.sa_mask);
    record = hang;
    return sigaction(SIGNAL, &action, NULL) == 0;
}

/* ---- In the parent. -------------------------------------------------------------------------- */

/* Whether the process waits in a call of the system, which a signal would end. */
static bool
waits_in_system(pid_t pid)
{
    char path[32];
    char line[256];
    (void)snprintf(path, sizeof(path), "/proc/%d/stat", (int)pid);
    FILE *file = fopen(path, "re");
    if (file == NULL) {
        return true;
    }
    const char *name = fgets(line, sizeof(line), file) != NULL ? strrchr(line, ')') : NULL;
    (void)fclose(file);
    return name == NULL || strncmp(name, ") R", 3) != 0;
}

static bool
ask_once(struct sim_hang *hang, pid_t pid)
{
    uint32_t before = hang->count;
    if (kill(pid, SIGNAL) != 0) {
        return false;
    }
    for (uint32_t i = 0; i < WAITS_MAX && hang->count == before; i++) {
        (void)nanosleep(&(struct timespec){.tv_nsec = WAIT_NS}, NULL);
    }
    return hang->count != before;
}

void
sim_hang_ask(struct sim_hang *hang, pid_t pid)
{
    rt_assert(pid > 0);
    hang->count = 0;
    hang->wanted = waits_in_system(pid) ? 1 : SIM_HANG_SAMPLES;
    for (uint32_t i = 0; i < hang->wanted && ask_once(hang, pid); i++) {
        (void)nanosleep(&(struct timespec){.tv_nsec = GAP_NS}, NULL);
    }
}

/* ---- What they have in common. --------------------------------------------------------------- */

/* Of the unwinder: where the function at `pc` begins; NULL: not known. */
extern void *_Unwind_FindEnclosingFunction(void *pc);

/* Frame `nth` from the outermost one; 0: there is none. */
static uintptr_t
frame_of(const struct sim_hang_sample *sample, uint32_t nth)
{
    return nth < sample->frame_count ? sample->frames[sample->frame_count - 1 - nth] : 0;
}

/* An address in the function that runs there: a return address may lie after its end. */
static uintptr_t
inside_of(const struct sim_hang_sample *sample, uint32_t nth)
{
    uintptr_t pc = frame_of(sample, nth);
    return pc != 0 && nth + 1 < sample->frame_count ? pc - 1 : pc;
}

static uint32_t
count_of(const struct sim_hang *hang)
{
    uint32_t count = hang->count < SIM_HANG_SAMPLES ? hang->count : SIM_HANG_SAMPLES;
    for (uint32_t i = 0; i < count; i++) {
        if (hang->samples[i].frame_count == 0 || hang->samples[i].frame_count > SIM_CRASH_FRAMES) {
            return 0;
        }
    }
    return count;
}

/* How many frames all samples share, from the outermost on. */
static uint32_t
shared_frames(const struct sim_hang *hang, uint32_t count)
{
    uint32_t shared = hang->samples[0].frame_count;
    for (uint32_t i = 1; i < count; i++) {
        uint32_t like = 0;
        while (like < shared && frame_of(&hang->samples[i], like) != 0 &&
                frame_of(&hang->samples[i], like) == frame_of(&hang->samples[0], like)) {
            like++;
        }
        shared = like;
    }
    return shared;
}

/* The lowest address at which the samples stand in frame `nth`, where that is one function in all
 * of them; else 0. */
static uintptr_t
lowest_in_one_function(const struct sim_hang *hang, uint32_t count, uint32_t nth)
{
    uintptr_t lowest = 0;
    const void *function = NULL;
    for (uint32_t i = 0; i < count; i++) {
        uintptr_t pc = inside_of(&hang->samples[i], nth);
        const void *of = pc != 0 ? _Unwind_FindEnclosingFunction((void *)pc) : NULL;
        if (of == NULL || (function != NULL && of != function)) {
            return 0;
        }
        function = of;
        lowest = lowest == 0 || pc < lowest ? pc : lowest;
    }
    return lowest;
}

void
sim_hang_find(const struct sim_hang *hang, struct sim_crash *ret)
{
    uint32_t count = count_of(hang);
    uint32_t shared = count > 0 ? shared_frames(hang, count) : 0;
    uintptr_t innermost = count > 0 ? lowest_in_one_function(hang, count, shared) : 0;
    *ret = (struct sim_crash){.signal = 0};
    if (innermost == 0 && shared > 0) {
        innermost = inside_of(&hang->samples[0], --shared);
    }
    if (innermost != 0) {
        ret->pc = innermost;
        ret->frames[ret->frame_count++] = innermost;
    }
    while (shared > 0 && ret->frame_count < SIM_CRASH_FRAMES) {
        ret->frames[ret->frame_count++] = frame_of(&hang->samples[0], --shared);
    }
}
