/*
 * thread.c -- the thread as an actor: how it is made, entered, left, and how it ends.
 *
 * A step that ends on a thread's stack is followed there by the next one of another thread, without
 * a return to the world's stack (give_way). Code on both sides of a switch of stacks is in this
 * file alone: a compiler may keep the address of errno, which the C library declares constant.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "sim/thread/thread.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "runtime/base/assert.h"
#include "runtime/base/list.h"
#include "runtime/fiber/switch.h"
#include "runtime/task/task.h"
#include "sim/core/process/stack.h"
#include "sim/core/scenario.h"
#include "sim/thread/priv.h"

struct sim_thread *sim_thread_now;
volatile char sim_thread_guarded;
void (*sim_thread_on_spawn)(struct sim_thread *thread);
bool (*sim_thread_on_signal)(bool may_wait);

/* Waits of a run that their time ended, after which they are no progress any more. */
#define TIMEOUTS_MOST 250000u

static const struct sim_actor_ops thread_ops;

static struct sim_thread *
thread_of(const struct sim_actor *actor)
{
    return rt_container_of(actor, struct sim_thread, actor);
}

/* ---- Entering and leaving. ------------------------------------------------------------------- */

/* A wait is over, or the thread begins: in the ledger a poll. */
__attribute__((noinline)) static void
wake_up(struct sim_thread *thread)
{
    rt_assert(thread->asleep);
    thread->asleep = false;
    thread->entered = true;
    if (thread->actor.due_ns != SIM_NEVER) {
        sim_actor_due(&thread->actor, SIM_NEVER);
    }
    rt_probe_emit(RT_PROBE_POLL, thread->object, NULL, NULL, 0);
    thread->actor.cause = 0;
}

/* The processor is about to run `thread`. */
static inline void
arrive(struct sim_thread *thread)
{
    if (thread->asleep) {
        wake_up(thread);
    }
    sim_thread_now = thread;
    sim_thread_guarded = 1;
    if (thread->pointer != 0) {
        sim__pointer_set(thread->pointer);
    }
}

/* The processor runs no thread any more. */
static inline void
depart(const struct sim_thread *thread)
{
    sim_thread_now = NULL;
    sim_thread_guarded = 0;
    if (thread->pointer != 0) {
        sim__pointer_set(sim__pointer_of_world);
    }
}

void
sim_thread_leave(void)
{
    if (sim_thread_now != NULL) {
        sim_thread_now->left = true;
        depart(sim_thread_now);
    }
}

static void
end(struct sim_thread *thread)
{
    struct sim_world *world = thread->actor.world;
    rt_assert(thread->fiber.context.finished);
    sim_world_news(world);
    rt_probe_emit(RT_PROBE_POLLED, thread->object, NULL, NULL, RT_READY);
    rt_probe_emit(RT_PROBE_COMPLETE, thread->object, NULL, NULL, 0);
    sim_actor_finish(&thread->actor);
    if (thread->end.first != NULL) {
        (void)sim_thread_wake_all(world, &thread->end, NULL);
    }
    struct rt_stack stack = {thread->fiber.context.stack, thread->fiber.context.size};
    rt_stack_free(sim_stacks(world), &stack);
    if (thread->detached) {
        sim__pointer_take(thread);
    }
}

/* Runs `thread`, and all that it passes the processor to, until one of them needs the world. */
static void
run(struct sim_thread *thread)
{
    int error = errno;
    rt_assert(sim_thread_now == NULL);
    errno = thread->error;
    arrive(thread);
    (void)rt__context_resume(&thread->fiber.context);
    struct sim_thread *last = sim_thread_now;
    depart(last);
    last->error = errno;
    errno = error;
    if (last->fiber.context.finished) {
        end(last);
    }
}

static void
thread_step(struct sim_actor *actor)
{
    run(thread_of(actor));
}

/* Where the thread that is entered next writes its stack instead of continuing; NULL: nowhere. */
static struct sim_stack *stack_wanted;

/* Another thread, or the world, has entered it: to continue, or only to tell where it is. */
static inline void
continue_from(struct sim_thread *thread)
{
    while (__builtin_expect(stack_wanted != NULL, 0)) {
        sim_stack_take(stack_wanted);
        rt__context_suspend(&thread->fiber.context);
    }
}

/* The step of `thread` ends; it returns when its next one begins. */
__attribute__((always_inline)) static inline void
give_way(struct sim_thread *thread)
{
    struct sim_world *world = thread->actor.world;
    sim_stack_left(&thread->fiber.context, __builtin_frame_address(0));
    struct sim_actor *next = sim__world_next(world, &thread_ops);
    if (next == &thread->actor) {
        arrive(thread);
        return;
    }
    if (next == NULL) {
        uint64_t step = world->step;
        bool alone = world->enabled.count == 0;
        rt__context_suspend(&thread->fiber.context);
        continue_from(thread);
        /* Whether the world was asked in between changes nothing. */
        bool at_once = !alone && world->step == step + 1;
        thread->row = at_once ? thread->row : 0;
        return;
    }
    thread->row = 0;
    struct sim_thread *other = thread_of(next);
    if (thread->pointer == 0) { /* Else each has an errno of its own. */
        thread->error = errno;
        errno = other->error;
    }
    arrive(other);
    world->inner = &other->fiber.context;
    rt__context_pass(&thread->fiber.context, &other->fiber.context);
    continue_from(thread);
}

/* It is suspended in give_way: neither new, nor left in the midst of something. */
static bool
is_parked(const struct sim_thread *thread)
{
    return thread->entered && !thread->left && !thread->actor.done &&
           !thread->fiber.context.finished;
}

static void
record_stacks(struct sim_world *world)
{
    struct sim_stack stack;
    for (struct sim_thread *at = sim_thread_first(world); at != NULL; at = at->next) {
        if (is_parked(at)) {
            stack_wanted = &stack;
            (void)rt__context_resume(&at->fiber.context);
            stack_wanted = NULL;
            sim_record_text(&world->recorder, SIM_TEXT_STACK, at->actor.index, (const char *)&stack,
                    sizeof(stack));
        }
    }
}

/* What happens to a thread from outside does so where others may have run: a signal comes, or it is
 * canceled, and has asked that it ends at once. */
static void
befall(struct sim_thread *thread)
{
    if (thread->signaled) {
        (void)sim_thread_on_signal(true);
    }
    if (thread->cancels_at_once) {
        sim_thread_cancel_point();
    }
}

static inline bool
is_befallen(const struct sim_thread *thread)
{
    return __builtin_expect(thread->signaled | thread->cancels_at_once, 0);
}

void
sim_thread_yield(void)
{
    struct sim_thread *thread = sim_thread_now;
    rt_assert(thread != NULL);
    thread->row = 0;
    sim_actor_enable(&thread->actor);
    give_way(thread);
    if (is_befallen(thread)) {
        befall(thread);
    }
}

/* The oracle's poll is no step: nothing else runs meanwhile, as long as it is short. */
static bool
is_asked(const struct sim_thread *thread)
{
    const struct sim_world *world = thread->actor.world;
    return !world->direct && world->spurious_polling;
}

void
sim_thread_point(void)
{
    struct sim_thread *thread = sim_thread_now;
    thread->woke = false;
    if (++thread->row > SIM_THREAD_ROW) {
        sim_thread_yield();
        return;
    }
    if (is_asked(thread)) {
        return;
    }
    sim__actor_enable_front(&thread->actor);
    give_way(thread);
    if (is_befallen(thread)) {
        befall(thread);
    }
}

/* ---- Blocking. ------------------------------------------------------------------------------- */

static void
note_wait(struct sim_thread *thread)
{
    const struct sim_thread_wait *wait = &thread->wait;
    uint32_t object = sim_sync_object(thread->actor.world, wait->sync);
    rt_probe_reason(wait->reason);
    rt_probe_emit(RT_PROBE_STORE, object, NULL, wait->site, thread->object);
    rt_probe_emit(RT_PROBE_POLLED, thread->object, NULL, NULL, RT_PENDING);
}

/* It is still in the list: no thread has woken it. */
static enum sim_woken
unwait(struct sim_thread *thread)
{
    const struct sim_thread_wait *wait = &thread->wait;
    sim__sync_leave(thread);
    rt_probe_emit(RT_PROBE_ERASE, wait->sync->object, NULL, wait->site, thread->object);
    return thread->asked ? SIM_WOKEN_SPURIOUS : SIM_WOKEN_TIMEOUT;
}

/* That the time of a wait came is progress, as a program may work by the clock; for one that looks
 * for something in vain from time to time that has an end. */
static void
note_timeout(struct sim_world *world)
{
    if (sim__threads(world)->timeouts++ < TIMEOUTS_MOST) {
        sim_world_progress(world);
    }
}

void
sim_thread_let_time_pass(void)
{
    struct sim_world *world = sim_thread_now->actor.world;
    if (world->enabled.count == 0) {
        note_timeout(world);
    }
}

/* A signal, where the waiting call does not look for one itself: whether a handler has run. */
static bool
is_interrupted(struct sim_thread *thread, const struct sim_thread_wait *wait)
{
    bool looks = wait->sync->kind == SIM_SYNC_SLEEP || wait->sync->kind == SIM_SYNC_HOST;
    return !looks && !thread->asked && thread->signaled && sim_thread_on_signal(false);
}

static enum sim_woken
block(struct sim_thread *thread, const struct sim_thread_wait *wait)
{
    rt_assert(!thread->listed);
    thread->wait = *wait;
    if (wait->reason == NULL) {
        thread->wait.reason = sim_sync_name(wait->sync->kind);
    }
    thread->report = 0;
    sim__sync_enter(thread);
    note_wait(thread);
    thread->blocked = true;
    thread->asleep = true;
    thread->actor.asks_host |= wait->reports > 0;
    if (wait->due_ns != SIM_NEVER) {
        sim_actor_due(&thread->actor, wait->due_ns);
    }
    give_way(thread);
    thread->blocked = false;
    return thread->listed ? unwait(thread) : SIM_WOKEN;
}

enum sim_woken
sim_thread_block(const struct sim_thread_wait *wait)
{
    struct sim_thread *thread = sim_thread_now;
    rt_assert(thread != NULL);
    thread->asked = false;
    if (is_interrupted(thread, wait)) {
        return SIM_WOKEN_SIGNAL;
    }
    enum sim_woken woken = block(thread, wait);
    if (woken == SIM_WOKEN_TIMEOUT) {
        note_timeout(thread->actor.world);
    }
    bool interrupted = is_interrupted(thread, wait);
    if (thread->cancels_at_once) {
        sim_thread_cancel_point();
    }
    return interrupted && woken == SIM_WOKEN ? SIM_WOKEN_SIGNAL : woken;
}

/* ---- The actor. ------------------------------------------------------------------------------ */

static uint32_t
thread_waiting(const struct sim_actor *actor, struct sim_waiting *ret, uint32_t max)
{
    const struct sim_thread *thread = thread_of(actor);
    const struct sim_thread_wait *wait = &thread->wait;
    if (!thread->blocked || !thread->listed || max == 0) {
        return 0;
    }
    uint32_t site = wait->site != NULL ? wait->site->id : 0;
    ret[0] = (struct sim_waiting){wait->sync->object, site, wait->reason};
    return 1;
}

/* Woken, and not entered yet. */
static bool
thread_waited(const struct sim_actor *actor, struct sim_waiting *ret)
{
    const struct sim_thread *thread = thread_of(actor);
    const struct sim_thread_wait *wait = &thread->wait;
    if (wait->sync == NULL || thread->listed) {
        return false;
    }
    uint32_t site = wait->site != NULL ? wait->site->id : 0;
    *ret = (struct sim_waiting){wait->sync->object, site, wait->reason};
    return true;
}

static enum sim_spurious_poll
thread_spurious_poll(struct sim_actor *actor)
{
    struct sim_thread *thread = thread_of(actor);
    if (!thread->blocked || !thread->listed || !thread->wait.spurious) {
        return SIM_SPURIOUS_POLL_UNSUPPORTED;
    }
    thread->asked = true;
    sim_actor_disable(actor);
    run(thread);
    return actor->done ? SIM_SPURIOUS_POLL_MOVED : SIM_SPURIOUS_POLL_STILL;
}

static bool
thread_in_host(const struct sim_actor *actor, struct sim_in_host *ret)
{
    const struct sim_thread *thread = thread_of(actor);
    *ret = (struct sim_in_host){.reports = thread->wait.reports};
    return thread->blocked && thread->listed && thread->wait.reports > 0;
}

static void
thread_interrupt(struct sim_actor *actor, uint32_t nth)
{
    struct sim_thread *thread = thread_of(actor);
    rt_assert(thread->blocked);
    thread->asked = true;
    thread->report = nth;
    sim_actor_enable(actor);
}

static void
thread_cancel(struct sim_actor *actor)
{
    sim_actor_leave(actor);
}

/* Who has to go on before `thread` can; NULL: anybody may wake it. */
static const struct sim_thread *
needs(const struct sim_thread *thread)
{
    const struct sim_sync *sync = thread->wait.sync;
    return sync->kind == SIM_SYNC_JOIN ? rt_container_of(sync, struct sim_thread, end)
                                       : sync->owner;
}

/* Threads that wait for each other in a ring are never woken. */
static enum sim_idle
thread_idle(const struct sim_actor *actor)
{
    const struct sim_thread *first = thread_of(actor);
    const struct sim_thread *at = first;
    for (uint32_t left = actor->world->actor_count; left > 0; left--) {
        if (!at->blocked || !at->listed) {
            return SIM_IDLE_NEVER;
        }
        const struct sim_thread *next = needs(at);
        if (next == NULL) {
            return first->wait.outside ? SIM_IDLE_OUTSIDE : SIM_IDLE_OTHERS;
        }
        at = next;
    }
    return SIM_IDLE_NEVER;
}

static uintptr_t
thread_code(const struct sim_actor *actor)
{
    void *(*fn)(void *) = thread_of(actor)->fn;
    uintptr_t address;
    _Static_assert(sizeof(address) == sizeof(fn), "a function's address is a word");
    memcpy(&address, &fn, sizeof(address));
    return address;
}

static const struct sim_actor_ops thread_ops = {
        .kind = SIM_ACTOR_TASK,
        .own_timeouts = true,
        .step = thread_step,
        .spurious_poll = thread_spurious_poll,
        .waiting = thread_waiting,
        .waited = thread_waited,
        .cancel = thread_cancel,
        .in_host = thread_in_host,
        .interrupt = thread_interrupt,
        .idle = thread_idle,
        .code = thread_code,
};

/* ---- Life. ----------------------------------------------------------------------------------- */

static void
call_cleanups(struct sim_thread *thread)
{
    thread->exits = true;
    while (thread->cleanups != NULL) {
        const struct sim_thread_cleanup *cleanup = thread->cleanups;
        thread->cleanups = cleanup->next;
        cleanup->fn(cleanup->argument);
    }
    sim__keys_end(thread);
    sim__mutexes_leave(thread);
}

static void
thread_main(void *argument)
{
    struct sim_thread *thread = argument;
    thread->result = thread->fn(thread->argument);
    if (thread->signaled) { /* Else no other would take what was sent to the process. */
        (void)sim_thread_on_signal(false);
    }
    call_cleanups(thread);
}

void
sim_thread_exit(void *result)
{
    struct sim_thread *thread = sim_thread_now;
    rt_assert(thread != NULL);
    thread->result = result;
    thread->exits = true;
    sim__unwind(thread);
    sim__thread_end(thread);
}

void
sim__thread_end(struct sim_thread *thread)
{
    call_cleanups(thread);
    thread->fiber.context.finished = true;
    rt__context_suspend(&thread->fiber.context);
    rt_unreached("a thread that has ended is not entered");
}

void
sim_thread_end_program(void)
{
    struct sim_world *world = sim_thread_now->actor.world;
    for (uint32_t i = 1; i < world->actor_count; i++) {
        struct sim_actor *actor = world->actors[i];
        actor->background = actor->background || actor->foreground;
        actor->foreground = false;
    }
    world->foreground = 0;
    sim_thread_now->fiber.context.finished = true;
    rt__context_suspend(&sim_thread_now->fiber.context);
    rt_unreached("a program that has ended takes no step");
}

bool
sim_thread_join_until(
        struct sim_thread *thread, uint64_t due_ns, const struct rt_site *site, void **ret_result)
{
    rt_assert(thread != sim_thread_now && !thread->detached && !thread->joining);
    while (!thread->actor.done) {
        const struct sim_thread_wait wait = {.sync = &thread->end, .site = site, .due_ns = due_ns};
        thread->joining = true;
        enum sim_woken woken = sim_thread_block(&wait);
        thread->joining = false;
        sim_thread_cancel_point();
        if (woken == SIM_WOKEN_TIMEOUT) {
            return false;
        }
    }
    thread->joined = true;
    sim__pointer_take(thread);
    sim_world_progress(thread->actor.world);
    *ret_result = thread->result;
    return true;
}

void *
sim_thread_join(struct sim_thread *thread, const struct rt_site *site)
{
    void *result = NULL;
    (void)sim_thread_join_until(thread, SIM_NEVER, site, &result);
    return result;
}

static void
name(struct sim_thread *thread, const char *name)
{
    if (name != NULL) {
        (void)snprintf(thread->name, sizeof(thread->name), "%s", name);
    } else {
        (void)snprintf(thread->name, sizeof(thread->name), "thread %u", thread->number);
    }
}

static void
append(struct sim_world *world, struct sim_thread *thread)
{
    struct sim_threads *threads = sim__threads(world);
    thread->number = threads->count++;
    *threads->end = thread;
    threads->end = &thread->next;
}

struct sim_thread *
sim_thread_spawn(struct sim_world *world, const struct sim_thread_start *start)
{
    rt_assert(start->fn != NULL);
    struct sim_thread *thread = sim_new(world, struct sim_thread);
    append(world, thread);
    sim_world_news(world);
    thread->fn = start->fn;
    thread->argument = start->argument;
    thread->detached = start->detached;
    thread->asleep = true;
    name(thread, start->name);
    sim_actor_init(&thread->actor, world, &thread_ops, NULL, thread->name, !start->background);
    thread->object = sim_world_object(world, RT_OBJECT_TASK);
    sim_actor_announce(&thread->actor, thread->object);
    thread->end = (struct sim_sync){
            .address = (uintptr_t)thread, .kind = SIM_SYNC_JOIN, .object = thread->object};
    struct sim_thread *paused = sim_thread_pause(); /* The stack is no memory of the run. */
    sim_fiber_init_sized(&thread->fiber, world, start->stack != 0 ? start->stack : SIM_THREAD_STACK,
            thread_main, thread);
    sim_thread_resume(paused);
    world->on_leave = sim_thread_leave;
    world->on_stacks = record_stacks;
    if (sim__threads(world)->slots != NULL) {
        sim__pointer_give(thread);
    }
    rt_probe_emit(RT_PROBE_POST, thread->object, NULL, NULL, 0);
    sim_actor_enable(&thread->actor);
    if (sim_thread_now != NULL && sim_thread_on_spawn != NULL) {
        sim_thread_on_spawn(thread);
    }
    return thread;
}

struct sim_thread *
sim_thread_first(const struct sim_world *world)
{
    return world->threads != NULL ? world->threads->first : NULL;
}
