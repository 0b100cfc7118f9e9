/*
 * walk.c -- the trap flag, and its handler.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "sim/explain/look/walk.h"

#include <execinfo.h>
#include <signal.h>
#include <stddef.h>
#include <ucontext.h>

#include "runtime/base/assert.h"
#include "runtime/fiber/context.h"
#include "sim/core/world.h"

#define TRAP_FLAG 0x100

/* An instruction that is walked costs about as much as so many steps; counted one by one, so that
 * no watcher takes a long walk for a step that hangs. */
#define STEPS_EACH 10u

/* Of the process: a signal has one handler. */
static struct {
    struct sim_watch *watches;
    uint32_t count;
    struct sim_path *path;
    uint64_t left;
    uintptr_t last; /* The instruction that is done when the next trap comes. */
    struct sigaction before;
    bool walking;
} walk;

#if defined(__x86_64__)

/* The frames from `pc` outwards. The handler's own stand before it; it is on a stack of its own,
 * and the unwinder finds its way through the signal's frame. */
static void
note_stop(uintptr_t pc, uintptr_t done, struct sim_walk_stop *ret)
{
    rt_assert(ret != NULL);
    void *frames[SIM_WALK_FRAMES + 6];
    int count = backtrace(frames, (int)(sizeof(frames) / sizeof(*frames)));
    int from = 0;
    while (from < count && (uintptr_t)frames[from] != pc) {
        from++;
    }
    ret->frame_count = 0;
    ret->frames[ret->frame_count++] = done;
    for (int i = from + 1; i < count && ret->frame_count < SIM_WALK_FRAMES; i++) {
        ret->frames[ret->frame_count++] = (uintptr_t)frames[i];
    }
}

static void
note_path(struct sim_path *path, uintptr_t pc)
{
    rt_assert(path->used <= SIM_PATH_SLOTS);
    uint32_t slot = (uint32_t)((pc * UINT64_C(0x9e3779b97f4a7c15)) >> 51);
    uint32_t now = path->walked++;
    while (path->slots[slot].pc != 0 && path->slots[slot].pc != pc) {
        slot = (slot + 1) % SIM_PATH_SLOTS;
    }
    if (path->slots[slot].pc == 0) {
        if (path->used >= SIM_PATH_SLOTS / 4 * 3) {
            return;
        }
        path->slots[slot] = (struct sim_path_slot){pc, now, now};
        path->used++;
    }
    path->slots[slot].last = now;
}

static void
note_call(struct sim_path *path, uintptr_t pc)
{
    rt_assert(path->call_count <= SIM_PATH_CALLS);
    for (uint32_t i = 0; i < path->mark_count; i++) {
        if (path->marks[i] == pc && path->call_count < SIM_PATH_CALLS) {
            note_stop(pc, pc, &path->calls[path->call_count++]);
        }
    }
}

static void
on_trap(int number, siginfo_t *info, void *argument)
{
    ucontext_t *context = argument;
    greg_t *registers = context->uc_mcontext.gregs;
    uintptr_t pc = (uintptr_t)registers[REG_RIP];
    (void)number;
    (void)info;
    if (sim_world_current != NULL) {
        sim_world_spend(sim_world_current, STEPS_EACH);
    }
    for (uint32_t i = 0; i < walk.count; i++) {
        struct sim_watch *watch = &walk.watches[i];
        uint64_t before = watch->seen;
        uint64_t differ = *watch->word ^ before;
        if (differ != 0) {
            watch->seen ^= differ;
            if ((differ & (watch->mask != 0 ? watch->mask : UINT64_MAX)) != 0 &&
                    (!watch->first || watch->writer->frame_count == 0)) {
                if (watch->earlier != NULL) {
                    *watch->earlier = *watch->writer;
                    watch->value = before;
                }
                note_stop(pc, walk.last, watch->writer);
            }
        }
    }
    if (walk.path != NULL && walk.walking) {
        note_path(walk.path, pc);
        note_call(walk.path, pc);
        if (pc == (uintptr_t)rt_context_suspend) {
            note_stop(pc, pc, &walk.path->blocked);
        }
    }
    walk.last = pc;
    if (!walk.walking || walk.left-- == 0) {
        registers[REG_EFL] &= ~(greg_t)TRAP_FLAG;
    }
}

static void
set_flag(void)
{
    __asm__ volatile("pushfq\n\torq $0x100, (%%rsp)\n\tpopfq" ::: "memory", "cc");
}

#endif

__attribute__((noinline)) void
sim_walk_stop_here(struct sim_walk_stop *ret)
{
    void *frames[SIM_WALK_FRAMES + 1]; /* The first is here. */
    int count = backtrace(frames, (int)SIM_WALK_FRAMES + 1);
    ret->frame_count = 0;
    for (int i = 1; i < count; i++) {
        ret->frames[ret->frame_count++] = (uintptr_t)frames[i];
    }
    rt_assert(ret->frame_count <= SIM_WALK_FRAMES);
}

bool
sim_walk_begin(struct sim_watch *watches, uint32_t count, struct sim_path *path, uint64_t most)
{
    rt_assert(watches != NULL || count == 0);
#if defined(__x86_64__)
    struct sigaction action = {.sa_sigaction = on_trap, .sa_flags = SA_SIGINFO | SA_ONSTACK};
    rt_assert(!walk.walking);
    (void)sigemptyset(&action.sa_mask);
    walk.watches = watches;
    walk.count = count;
    walk.path = path;
    walk.left = most;
    walk.last = 0;
    for (uint32_t i = 0; i < count; i++) {
        watches[i].seen = *watches[i].word;
    }
    if (sigaction(SIGTRAP, &action, &walk.before) != 0) {
        return false;
    }
    walk.walking = true;
    set_flag();
    return true;
#else
    (void)watches;
    (void)count;
    (void)path;
    (void)most;
    return false;
#endif
}

void
sim_walk_end(void)
{
    if (walk.walking) {
        /* The next trap sees it and takes the flag away; it has come by the end of this line. */
        walk.walking = false;
        __asm__ volatile("nop\n\tnop" ::: "memory");
        (void)sigaction(SIGTRAP, &walk.before, NULL);
    }
}
