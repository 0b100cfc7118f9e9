/*
 * sync.c -- from an address to what is there, its waiting list, and who is woken.
 *
 * Addresses are hashed into a table of the run, and nothing is done in its order.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <string.h>

#include "runtime/base/assert.h"
#include "sim/core/memory/image.h"
#include "sim/core/scenario.h"
#include "sim/thread/priv.h"

#define TABLE_BITS 8u

bool (*sim_thread_name_of)(const void *address, char *buffer, size_t size);
const struct rt_site *(*sim_thread_site_of)(const void *pc);

static const struct {
    const char *name;
    uint32_t object;
} kinds[] = {
#define SIM_SYNC_ROW(name, object, text) {text, RT_OBJECT_##object},
        SIM_SYNC_LIST(SIM_SYNC_ROW)
#undef SIM_SYNC_ROW
};

const char *
sim_sync_name(uint32_t kind)
{
    rt_assert(kind < SIM_SYNC_KINDS);
    return kinds[kind].name;
}

/* ---- The table. ------------------------------------------------------------------------------ */

struct sim_threads *
sim__threads(struct sim_world *world)
{
    if (world->threads == NULL) {
        struct sim_threads *threads = sim_new(world, struct sim_threads);
        threads->end = &threads->first;
        threads->bits = TABLE_BITS;
        threads->table = sim_zalloc(world, sizeof(*threads->table) << TABLE_BITS);
        threads->slots = sim__pointers_are_wanted() ? sim_zalloc(world, SIM__SLOTS) : NULL;
        world->threads = threads;
    }
    return world->threads;
}

/* Where a table of so many places begins to look for `address`. */
static uint32_t
first_place(uintptr_t address, uint32_t bits)
{
    return (uint32_t)((uint64_t)(address >> 2) * UINT64_C(0x9e3779b97f4a7c15) >> (64 - bits));
}

/* Where `address` is in the table, or belongs. */
static struct sim_sync **
place_of(const struct sim_threads *threads, uintptr_t address)
{
    uint32_t mask = (UINT32_C(1) << threads->bits) - 1;
    uint32_t i = first_place(address, threads->bits);
    while (threads->table[i] != NULL && threads->table[i]->address != address) {
        i = (i + 1) & mask;
    }
    return &threads->table[i];
}

/* At least half of the places stay free. */
static void
grow(struct sim_world *world, struct sim_threads *threads)
{
    const struct sim_threads before = *threads;
    threads->bits++;
    threads->table = sim_zalloc(world, sizeof(*threads->table) << threads->bits);
    for (uint32_t i = 0; i < UINT32_C(1) << before.bits; i++) {
        if (before.table[i] != NULL) {
            *place_of(threads, before.table[i]->address) = before.table[i];
        }
    }
}

static void
renew(struct sim_sync *sync, enum sim_sync_kind kind)
{
    *sync = (struct sim_sync){.address = sync->address, .kind = kind};
}

static struct sim_sync *
make(struct sim_world *world, uintptr_t address, enum sim_sync_kind kind)
{
    struct sim_threads *threads = world->threads;
    if (2 * ++threads->used > UINT32_C(1) << threads->bits) {
        grow(world, threads);
    }
    struct sim_sync *sync = sim_new(world, struct sim_sync);
    *sync = (struct sim_sync){.address = address, .kind = kind};
    *place_of(threads, address) = sync;
    return sync;
}

static struct sim_sync *
find(struct sim_world *world, const volatile void *address, enum sim_sync_kind kind)
{
    struct sim_threads *threads = sim__threads(world);
    struct sim_sync *sync = *place_of(threads, (uintptr_t)address);
    if (sync == NULL) {
        return make(world, (uintptr_t)address, kind);
    }
    if (sync->kind != (uint32_t)kind && sync->first == NULL) {
        renew(sync, kind);
    }
    return sync;
}

struct sim_sync *
sim_sync_at(struct sim_world *world, const volatile void *address, enum sim_sync_kind kind)
{
    sim_thread_check_freed(address, kinds[kind].name);
    return find(world, address, kind);
}

struct sim_sync *
sim_sync_of_address(struct sim_world *world, const volatile void *address, enum sim_sync_kind kind)
{
    return find(world, address, kind);
}

struct sim_sync *
sim_sync_init(struct sim_world *world, const volatile void *address, enum sim_sync_kind kind)
{
    struct sim_sync *sync = find(world, address, kind);
    if (sync->first == NULL) {
        uint32_t object = sync->object;
        renew(sync, kind);
        sync->object = object;
    }
    return sync;
}

/* ---- Identity. ------------------------------------------------------------------------------- */

/* The thread on whose stack `address` is; *ret_depth is how far below its top, in words. */
static const struct sim_thread *
thread_at(const struct sim_world *world, uintptr_t address, size_t *ret_depth)
{
    for (const struct sim_thread *at = sim_thread_first(world); at != NULL; at = at->next) {
        uintptr_t base = (uintptr_t)at->fiber.context.stack;
        if (address - base < at->fiber.context.size) {
            *ret_depth = (base + at->fiber.context.size - address) / sizeof(uint64_t);
            return at;
        }
    }
    return NULL;
}

#define NTH_MAX 0xffffu

static uint32_t
number_of(struct sim_world *world, uintptr_t address, uint32_t kind)
{
    size_t offset;
    if (sim_images_find((const void *)address, &offset) && offset / 4 < NTH_MAX) {
        return SIM_OBJECT(kind, 0, offset / 4 + 1);
    }
    const struct sim_thread *thread = thread_at(world, address, &offset);
    if (thread != NULL && offset < SIM_STACK_NTH) {
        return SIM_OBJECT(kind, thread->actor.index, SIM_STACK_NTH | offset);
    }
    return sim_world_object(world, kind);
}

static void
record_name(struct sim_world *world, uintptr_t address, uint32_t object)
{
    char text[80];
    struct sim_thread *paused = sim_thread_pause();
    bool named = sim_thread_name_of != NULL &&
                 sim_thread_name_of((const void *)address, text, sizeof(text));
    sim_thread_resume(paused);
    if (named) {
        sim_record_text(&world->recorder, SIM_TEXT_OBJECT, object, text, strlen(text));
    }
}

static uint32_t
number(struct sim_world *world, uintptr_t address, uint32_t kind)
{
    uint32_t object = number_of(world, address, kind);
    if (world->recorder.texts_on) {
        record_name(world, address, object);
    }
    return object;
}

uint32_t
sim_sync_object(struct sim_world *world, struct sim_sync *sync)
{
    if (sync->object == 0) {
        sync->object = number(world, sync->address, kinds[sync->kind].object);
    }
    return sync->object;
}

/*
 * Variables have a table of their own, as they are numbered for events only: in a run without them
 * the program's memory must lie where it does in one with them.
 */
#define VARIABLE_BITS 6u

struct variable {
    uintptr_t address; /* 0: none. */
    uint32_t object;
};

struct sim__variables {
    uint32_t bits;
    uint32_t used;
    struct variable all[];
};

static struct sim__variables *
new_variables(struct sim_world *world, uint32_t bits)
{
    struct sim__variables *variables = sim_arena_zalloc_aside(
            &world->arena, sizeof(*variables) + (sizeof(struct variable) << bits));
    if (variables == NULL) {
        sim_fail(world, SIM_VERDICT_CONTRACT, SIM_ORACLE_LIMIT, world->current, 0,
                "the run reads and writes more variables than its arena has memory for");
    }
    variables->bits = bits;
    return variables;
}

/* Where `address` is, or belongs. */
static struct variable *
variable_at(struct sim__variables *variables, uintptr_t address)
{
    uint32_t mask = (UINT32_C(1) << variables->bits) - 1;
    uint32_t i = first_place(address, variables->bits);
    while (variables->all[i].address != 0 && variables->all[i].address != address) {
        i = (i + 1) & mask;
    }
    return &variables->all[i];
}

/* At least half of the places stay free. */
static struct sim__variables *
grow_variables(struct sim_world *world, struct sim__variables *before)
{
    struct sim__variables *variables = new_variables(world, before->bits + 1);
    variables->used = before->used;
    for (uint32_t i = 0; i < UINT32_C(1) << before->bits; i++) {
        if (before->all[i].address != 0) {
            *variable_at(variables, before->all[i].address) = before->all[i];
        }
    }
    return variables;
}

uint32_t
sim_variable_object(struct sim_world *world, const volatile void *address)
{
    struct sim_threads *threads = sim__threads(world);
    if (threads->variables == NULL) {
        threads->variables = new_variables(world, VARIABLE_BITS);
    }
    struct variable *variable = variable_at(threads->variables, (uintptr_t)address);
    if (variable->address == 0) {
        if (2 * ++threads->variables->used > UINT32_C(1) << threads->variables->bits) {
            threads->variables = grow_variables(world, threads->variables);
            variable = variable_at(threads->variables, (uintptr_t)address);
        }
        variable->address = (uintptr_t)address;
        variable->object = number(world, variable->address, RT_OBJECT_USER);
    }
    return variable->object;
}

/* ---- Waiting lists. -------------------------------------------------------------------------- */

void
sim__sync_enter(struct sim_thread *thread)
{
    struct sim_sync *sync = thread->wait.sync;
    rt_assert(!thread->listed);
    thread->listed = true;
    thread->behind = NULL;
    if (sync->first == NULL) {
        sync->first = thread;
    } else {
        sync->last->behind = thread;
    }
    sync->last = thread;
}

void
sim__sync_leave(struct sim_thread *thread)
{
    struct sim_sync *sync = thread->wait.sync;
    rt_assert(thread->listed);
    struct sim_thread *before = NULL;
    for (struct sim_thread *at = sync->first; at != thread; at = at->behind) {
        rt_assert(at != NULL);
        before = at;
    }
    if (before == NULL) {
        sync->first = thread->behind;
    } else {
        before->behind = thread->behind;
    }
    if (sync->last == thread) {
        sync->last = before;
    }
    thread->listed = false;
}

void
sim_thread_wake(struct sim_thread *thread, const struct rt_site *site)
{
    if (!thread->listed) {
        return;
    }
    uint32_t object = sim_sync_object(thread->actor.world, thread->wait.sync);
    sim__sync_leave(thread);
    rt_probe_emit(RT_PROBE_FIRE, object, NULL, site, thread->object);
    rt_probe_emit(RT_PROBE_WAKE, thread->object, NULL, site, thread->actor.enabled ? 1 : 0);
    sim_actor_enable(&thread->actor);
    if (sim_thread_now != NULL) {
        sim_thread_now->woke = true;
        sim_world_news(thread->actor.world);
    }
}

void
sim_thread_move(struct sim_thread *thread, struct sim_sync *to, const struct rt_site *site)
{
    struct sim_world *world = thread->actor.world;
    struct sim_actor *mover = world->current;
    uint32_t from = sim_sync_object(world, thread->wait.sync);
    uint32_t object = sim_sync_object(world, to);
    sim__sync_leave(thread);
    thread->wait.sync = to;
    sim__sync_enter(thread);
    world->current = &thread->actor; /* Its wait goes on elsewhere. */
    rt_probe_emit(RT_PROBE_ERASE, from, NULL, site, thread->object);
    rt_probe_emit(RT_PROBE_STORE, object, NULL, thread->wait.site, thread->object);
    world->current = mover;
}

static uint32_t
count(const struct sim_sync *sync)
{
    uint32_t waiting = 0;
    for (const struct sim_thread *at = sync->first; at != NULL; at = at->behind) {
        waiting++;
    }
    return waiting < SIM_ALTERNATIVES_MAX ? waiting : SIM_ALTERNATIVES_MAX;
}

struct sim_thread *
sim_thread_wake_one(
        struct sim_world *world, struct sim_sync *sync, const struct rt_site *site, bool choose)
{
    struct sim_thread *thread = sync->first;
    if (thread == NULL) {
        rt_probe_emit(RT_PROBE_FIRE_EMPTY, sim_sync_object(world, sync), NULL, site, 0);
        return NULL;
    }
    uint32_t nth =
            choose && thread->behind != NULL
                    ? sim_actor_choose(world->current, SIM_KIND_ORDER, count(sync), SIM_ODDS_EVEN)
                    : 0;
    for (; nth > 0; nth--) {
        thread = thread->behind;
    }
    sim_thread_wake(thread, site);
    return thread;
}

uint32_t
sim_thread_wake_all(struct sim_world *world, struct sim_sync *sync, const struct rt_site *site)
{
    uint32_t woken = 0;
    while (sync->first != NULL) {
        rt_assert(sync->first->listed); /* Not so where the analysis of a failure changes words. */
        sim_thread_wake(sync->first, site);
        woken++;
    }
    if (woken == 0) {
        rt_probe_emit(RT_PROBE_FIRE_EMPTY, sim_sync_object(world, sync), NULL, site, 0);
    }
    return woken;
}
