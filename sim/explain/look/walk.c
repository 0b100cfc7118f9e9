/*
 * walk.c -- what is noted of each instruction.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "sim/explain/look/walk.h"

#include <execinfo.h>
#include <stddef.h>

#include "runtime/base/assert.h"
#include "runtime/fiber/context.h"
#include "sim/core/world.h"
#include "sim/explain/look/translate.h"
#include "sim/thread/thread.h"

/* An instruction that is walked costs about as much as so many steps; counted one by one, so that
 * no watcher takes a long walk for a step that hangs. */
#define STEPS_EACH 1u

/* Of the process: a signal has one handler. */
static struct {
    struct sim_watch *watches;
    uint32_t count;
    struct sim_path *path;
    uint64_t left;
    uintptr_t last; /* The instruction that is done when the next one is looked at. */
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

/* Whether that word has changed. */
static bool
differs(const struct sim_watch *watch)
{
    return *watch->word != watch->seen;
}

static bool
is_marked(const struct sim_path *path, uintptr_t pc)
{
    bool is = pc == (uintptr_t)rt_context_suspend;
    for (uint32_t i = 0; i < path->mark_count; i++) {
        is = is || path->marks[i] == pc;
    }
    return is;
}

static enum sim_look
look(uintptr_t pc, const struct sim_decoded *decoded, const long long *registers)
{
    bool stack = walk.path != NULL && is_marked(walk.path, pc);
    (void)decoded, (void)registers;
    if (sim_world_current != NULL) {
        sim_world_spend(sim_world_current, STEPS_EACH);
    }
    for (uint32_t i = 0; i < walk.count; i++) {
        stack = stack || differs(&walk.watches[i]);
    }
    if (walk.path != NULL) {
        note_path(walk.path, pc);
    }
    if (!stack) {
        walk.last = pc;
    }
    bool leaves = walk.left-- == 0;
    return leaves ? SIM_LOOK_LEAVE : stack ? SIM_LOOK_STACK : SIM_LOOK_NEXT;
}

static void
note_change(struct sim_watch *watch, uintptr_t pc)
{
    uint64_t before = watch->seen;
    uint64_t differ = *watch->word ^ before;
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

static void
look_at_stack(uintptr_t pc)
{
    struct sim_thread *paused =
            sim_thread_pause(); /* What backtrace() calls is not the program's. */
    for (uint32_t i = 0; i < walk.count; i++) {
        if (differs(&walk.watches[i])) {
            note_change(&walk.watches[i], pc);
        }
    }
    if (walk.path != NULL) {
        note_call(walk.path, pc);
        if (pc == (uintptr_t)rt_context_suspend) {
            note_stop(pc, pc, &walk.path->blocked);
        }
    }
    sim_thread_resume(paused);
    walk.last = pc;
}

static const struct sim_translate_user user = {.look = look, .look_at_stack = look_at_stack};

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
    walk.watches = watches;
    walk.count = count;
    walk.path = path;
    walk.left = most;
    walk.last = 0;
    for (uint32_t i = 0; i < count; i++) {
        watches[i].seen = *watches[i].word;
    }
    walk.walking = sim_translate_begin(&user);
    void *first[1];
    (void)backtrace(first, 1); /* The first one takes memory, which is not the run's. */
    if (walk.walking) {
        sim_translate_here();
    }
    return walk.walking;
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
        walk.walking = false;
        sim_translate_end();
    }
}
