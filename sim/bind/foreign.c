/*
 * foreign.c -- tasks of another runtime as actors that a loop steps.
 *
 * Such an actor is never enabled: its polls are part of the loop's steps. It provides
 * a name, waits, and spurious polls.
 *
 * Addresses are looked up in hash chains, and nothing is done in the order of a
 * chain, so addresses do not affect a run.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "sim/bind/foreign.h"

#include "runtime/base/assert.h"
#include "runtime/base/list.h"
#include "runtime/task/task.h"
#include "sim/bind/bind_priv.h"
#include "sim/core/record/event.h"
#include "sim/core/record/site.h"
#include "sim/core/world.h"

#define CHAINS 64u

struct task {
    struct sim_actor actor;
    struct sim_foreign *foreign;
    struct task *next; /* In its chain; the latest of an address is first. */
    const void *address;
    struct rt_list link;     /* In foreign->tasks. */
    struct rt_list slots;    /* Slots that hold its waker, in the order of the stores. */
    struct sim_waiting last; /* The slot of the last store or fire, whichever was later. */
    const char *event;       /* A watcher: what it is called for. NULL: a task with wakers. */
    const struct rt_site *line;
    uint32_t object;
    bool woken;   /* Since its last poll began. */
    bool polling; /* Its poll is in progress. */
};

struct slot {
    struct slot *next;
    const void *address;
    struct rt_list link; /* In the slots of `waiter`. */
    struct task *waiter; /* NULL: empty. */
    const char *reason;
    uint32_t object;
    uint32_t line;
    const struct rt_site *freed; /* The line that freed its memory; NULL: it is alive. */
};

/* Memory that was freed. */
struct freed {
    const struct freed *next;
    const char *memory;
    size_t size;
    const struct rt_site *line;
};

struct sim_foreign {
    struct sim_world *world;
    struct sim_loop *loop;
    void (*again)(void *runtime, void *task);
    void *runtime;
    struct rt_list tasks; /* That have not ended, in the order of creation. */
    struct task *last;    /* Polled in this step. */
    struct sim_binding binding;
};

/* All of one run. */
struct sim__foreigners {
    struct task *tasks[CHAINS];
    struct slot *slots[CHAINS];
    const struct freed *freed; /* The latest first. */
};

/* ---- By address. ----------------------------------------------------------------------------- */

static uint32_t
chain_of(const void *address)
{
    return (uint32_t)((uintptr_t)address >> 4) % CHAINS;
}

static struct task *
task_find(const struct sim_world *world, const void *address)
{
    struct task *task =
            world->foreigners != NULL ? world->foreigners->tasks[chain_of(address)] : NULL;
    while (task != NULL && task->address != address) {
        task = task->next;
    }
    return task;
}

static struct task *
task_of(struct sim_world *world, const void *address, const struct rt_site *line)
{
    struct task *task = task_find(world, address);
    if (task == NULL) {
        sim_fail(world, SIM_VERDICT_CONTRACT, SIM_ORACLE_USER, world->current,
                line != NULL ? line->id : 0,
                "a sim_foreign call names a task that was not spawned (sim_foreign_spawn)");
    }
    return task;
}

/* The line that freed the memory at `address`, or NULL. Called once for each slot. */
static const struct rt_site *
freed_at(const struct sim_world *world, const void *address)
{
    for (const struct freed *at = world->foreigners->freed; at != NULL; at = at->next) {
        if ((uintptr_t)address - (uintptr_t)at->memory < at->size) {
            return at->line;
        }
    }
    return NULL;
}

/* Slots are created at their first use. */
static struct slot *
slot_at(struct sim_world *world, const void *address)
{
    if (world->foreigners == NULL) {
        world->foreigners = sim_new(world, struct sim__foreigners);
    }
    struct slot **chain = &world->foreigners->slots[chain_of(address)];
    struct slot *slot = *chain;
    while (slot != NULL && slot->address != address) {
        slot = slot->next;
    }
    if (slot == NULL) {
        slot = sim_new(world, struct slot);
        slot->address = address;
        slot->object = sim_world_object(world, RT_OBJECT_SLOT);
        slot->freed = freed_at(world, address);
        slot->next = *chain;
        rt_list_init(&slot->link);
        *chain = slot;
    }
    return slot;
}

static struct slot *
slot_of(struct sim_world *world, const void *address, const struct rt_site *line)
{
    struct slot *slot = slot_at(world, address);
    if (slot->freed != NULL) {
        const char *name = sim_world_object_name(world, slot->object);
        sim_fail(world, SIM_VERDICT_CONTRACT, SIM_ORACLE_USER, world->current,
                line != NULL ? line->id : 0, "\"%s\" was used after its memory was freed at %s:%u",
                name != NULL           ? name
                : slot->reason != NULL ? slot->reason
                                       : "a slot",
                sim_site_file(slot->freed), slot->freed->line);
    }
    return slot;
}

/* ---- Slots. ---------------------------------------------------------------------------------- */

/* Takes the waker out and returns its task. */
static struct task *
empty(struct slot *slot, enum rt_probe_kind kind, const struct rt_site *line)
{
    struct task *task = slot->waiter;
    rt_assert(task != NULL);
    rt_list_unlink(&slot->link);
    slot->waiter = NULL;
    rt_probe_emit(kind, slot->object, NULL, line, task->object);
    return task;
}

static struct sim_waiting
waiting_in(const struct slot *slot)
{
    return (struct sim_waiting){slot->object, slot->line, slot->reason};
}

void
sim_foreign_store_at(
        const void *task, const void *slot, const char *reason, const struct rt_site *line)
{
    struct sim_world *world = sim_world_current;
    if (world == NULL) {
        return;
    }
    struct task *found = task_of(world, task, line);
    struct slot *where = slot_of(world, slot, line);
    bool same = where->waiter == found;
    if (where->waiter != NULL && !same) {
        (void)empty(where, RT_PROBE_REPLACE, line);
    }
    rt_list_unlink(&where->link);
    rt_list_push_back(&found->slots, &where->link);
    where->waiter = found;
    where->reason = reason;
    where->line = line != NULL ? line->id : 0;
    found->last = waiting_in(where);
    if (reason != NULL) {
        rt_probe_reason(reason);
    }
    rt_probe_emit(same ? RT_PROBE_KEEP : RT_PROBE_STORE, where->object, NULL, line, found->object);
}

/* The state of the task at the wake: the numbers of RT_PROBE_WAKE. */
static uint64_t
wake(struct sim_world *world, struct task *task)
{
    bool coalesced = task->woken;
    task->woken = true;
    if (coalesced) {
        return 1;
    }
    task->actor.cause = (uint32_t)world->step;
    return task->polling ? 2 : 0;
}

void
sim_foreign_fire_at(const void *slot, const struct rt_site *line)
{
    struct sim_world *world = sim_world_current;
    if (world == NULL) {
        return;
    }
    struct slot *where = slot_of(world, slot, line);
    if (where->waiter == NULL) {
        rt_probe_emit(RT_PROBE_FIRE_EMPTY, where->object, NULL, line, 0);
        return;
    }
    struct task *task = empty(where, RT_PROBE_FIRE, line);
    if (!task->woken) {
        task->last = waiting_in(where);
    }
    rt_probe_emit(RT_PROBE_WAKE, task->object, NULL, line, wake(world, task));
}

void
sim_foreign_erase_at(const void *slot, const struct rt_site *line)
{
    struct sim_world *world = sim_world_current;
    if (world == NULL) {
        return;
    }
    struct slot *where = slot_of(world, slot, line);
    if (where->waiter != NULL) {
        (void)empty(where, RT_PROBE_ERASE, line);
    }
}

void
sim_foreign_name(const void *slot, const char *name)
{
    struct sim_world *world = sim_world_current;
    if (world != NULL) {
        sim_world_name(world, slot_of(world, slot, NULL)->object, name);
    }
}

/* ---- What is held. --------------------------------------------------------------------------- */

static void
report(const void *resource, enum sim_event_kind kind, const struct rt_site *line, uint32_t whose)
{
    struct sim_world *world = sim_world_current;
    rt_assert(world != NULL);
    sim_world_event(world, kind, slot_of(world, resource, line)->object, 0,
            line != NULL ? line->id : 0, whose);
}

void
sim_wanted_at(const void *resource, const struct rt_site *line)
{
    if (sim_world_current != NULL) {
        report(resource, SIM_EVENT_WANTED, line, 0);
    }
}

void
sim_granted_at(const void *resource, const void *task, const struct rt_site *line)
{
    struct sim_world *world = sim_world_current;
    if (world != NULL) {
        uint32_t whose = task != NULL ? task_of(world, task, line)->object : 0;
        report(resource, SIM_EVENT_GRANTED, line, whose);
    }
}

void
sim_released_at(const void *resource, const struct rt_site *line)
{
    if (sim_world_current != NULL) {
        report(resource, SIM_EVENT_RELEASED, line, 0);
    }
}

/* The first slot in this memory that holds a waker, or NULL; all are marked as freed. */
static const struct slot *
free_slots(struct sim__foreigners *all, const struct freed *freed)
{
    const struct slot *first = NULL;
    for (uint32_t i = 0; i < CHAINS; i++) {
        for (struct slot *slot = all->slots[i]; slot != NULL; slot = slot->next) {
            if ((uintptr_t)slot->address - (uintptr_t)freed->memory >= freed->size) {
                continue;
            }
            slot->freed = freed->line;
            bool lower = first == NULL || (uintptr_t)slot->address < (uintptr_t)first->address;
            first = slot->waiter != NULL && lower ? slot : first;
        }
    }
    return first;
}

void
sim__foreign_freed(
        struct sim_world *world, const char *memory, size_t size, const struct rt_site *line)
{
    struct sim__foreigners *all = world->foreigners;
    if (all == NULL) {
        return;
    }
    struct freed *freed = sim_new(world, struct freed);
    *freed = (struct freed){all->freed, memory, size, line};
    all->freed = freed;
    const struct slot *slot = free_slots(all, freed);
    if (slot != NULL) {
        const struct sim__lost_waker lost = {
                .object = slot->object,
                .whose = slot->waiter->object,
                .reason = slot->reason,
                .task = slot->waiter->actor.name,
                .stored = sim_site_find(slot->line),
                .freed = line,
        };
        sim__fail_freed(world, &lost);
    }
}

/* ---- Tasks as actors. ------------------------------------------------------------------------ */

static struct task *
task_of_actor(const struct sim_actor *actor)
{
    return rt_container_of(actor, struct task, actor);
}

static void
task_step(struct sim_actor *actor)
{
    (void)actor;
    rt_unreached("a foreign task is polled by its own loop");
}

static uint32_t
task_waiting(const struct sim_actor *actor, struct sim_waiting *ret, uint32_t max)
{
    uint32_t count = 0;
    rt_list_each(link, &task_of_actor(actor)->slots)
    {
        const struct slot *slot = rt_container_of(link, struct slot, link);
        if (count < max) {
            ret[count++] = waiting_in(slot);
        }
    }
    return count;
}

/* For a woken task the slot whose waker was fired, even where others still hold its waker. */
static bool
task_waited(const struct sim_actor *actor, struct sim_waiting *ret)
{
    const struct task *task = task_of_actor(actor);
    if (task->last.object == 0 || (!task->woken && !rt_list_empty(&task->slots))) {
        return false;
    }
    *ret = task->last;
    return true;
}

static enum sim_spurious_poll
task_spurious_poll(struct sim_actor *actor)
{
    struct task *task = task_of_actor(actor);
    struct sim_foreign *foreign = task->foreign;
    if (foreign->again == NULL || task->polling) {
        return SIM_SPURIOUS_POLL_UNSUPPORTED;
    }
    foreign->again(foreign->runtime, (void *)(uintptr_t)task->address);
    return actor->done ? SIM_SPURIOUS_POLL_MOVED : SIM_SPURIOUS_POLL_STILL;
}

static void
erase_all(struct task *task)
{
    while (!rt_list_empty(&task->slots)) {
        (void)empty(rt_container_of(task->slots.next, struct slot, link), RT_PROBE_ERASE, NULL);
    }
}

static void
task_end(struct task *task)
{
    if (task->actor.done) {
        return;
    }
    erase_all(task);
    rt_list_unlink(&task->link);
    sim_actor_finish(&task->actor);
}

static void
task_cancel(struct sim_actor *actor)
{
    task_end(task_of_actor(actor));
}

static const struct sim_actor_ops task_ops = {
        .kind = SIM_ACTOR_TASK,
        .step = task_step,
        .spurious_poll = task_spurious_poll,
        .waiting = task_waiting,
        .waited = task_waited,
        .cancel = task_cancel,
};

static struct task *
spawn(struct sim_foreign *foreign, const void *address, const char *name, bool waited_for)
{
    struct sim_world *world = foreign->world;
    const struct task *old = task_find(world, address);
    rt_assert(address != NULL);
    if (old != NULL && !old->actor.done) {
        sim_fail(world, SIM_VERDICT_CONTRACT, SIM_ORACLE_USER, world->current, 0,
                "task '%s' is spawned where task '%s' has not ended (sim_foreign_end)", name,
                old->actor.name);
    }
    struct task *task = sim_new(world, struct task);
    struct task **chain = &world->foreigners->tasks[chain_of(address)];
    task->foreign = foreign;
    task->address = address;
    task->next = *chain;
    *chain = task;
    rt_list_init(&task->link);
    rt_list_init(&task->slots);
    rt_list_push_back(&foreign->tasks, &task->link);
    sim_actor_init(&task->actor, world, &task_ops, sim_loop_actor(foreign->loop), name, waited_for);
    task->object = sim_world_object(world, RT_OBJECT_TASK);
    sim_actor_announce(&task->actor, task->object);
    return task;
}

void
sim_foreign_spawn(struct sim_foreign *foreign, const void *task, const char *name)
{
    (void)spawn(foreign, task, name, true);
}

void
sim_foreign_spawn_background(struct sim_foreign *foreign, const void *task, const char *name)
{
    (void)spawn(foreign, task, name, false);
}

/* A watcher has one slot, its own, in which it waits until it is called. */
static void
watch(const struct task *task)
{
    if (task->event != NULL) {
        sim_foreign_store_at(task->address, task->address, task->event, task->line);
    }
}

void
sim_foreign_watch_at(struct sim_foreign *foreign, const void *watcher, const char *name,
        const char *event, const struct rt_site *line)
{
    rt_assert(event != NULL);
    struct task *task = spawn(foreign, watcher, name, true);
    task->event = event;
    task->line = line;
    /* The watcher waits, not the actor that adds it to the loop. */
    struct sim_actor *current = foreign->world->current;
    foreign->world->current = &task->actor;
    watch(task);
    foreign->world->current = current;
}

void
sim_foreign_end(const void *task)
{
    struct sim_world *world = sim_world_current;
    if (world == NULL) {
        return;
    }
    struct task *found = task_of(world, task, NULL);
    if (!found->actor.done) {
        rt_probe_emit(RT_PROBE_CANCEL, found->object, NULL, NULL, 0);
        task_end(found);
    }
}

/* ---- Polls. ---------------------------------------------------------------------------------- */

void
sim_foreign_poll(const void *task)
{
    struct sim_world *world = sim_world_current;
    if (world == NULL) {
        return;
    }
    struct task *found = task_of(world, task, NULL);
    if (found->actor.done) {
        world->outcome.reason = SIM_REASON_NAMED;
        sim_fail(world, SIM_VERDICT_CONTRACT, SIM_ORACLE_USER, &found->actor, 0,
                "task '%s' is polled after it has finished", found->actor.name);
    }
    if (found->event != NULL) {
        sim_foreign_fire_at(task, found->line);
    }
    world->current = &found->actor;
    found->woken = false;
    found->polling = true;
    rt_probe_emit(RT_PROBE_POLL, found->object, NULL, NULL, 0);
    found->actor.cause = 0;
}

void
sim_foreign_polled(const void *task, bool finished)
{
    struct sim_world *world = sim_world_current;
    if (world == NULL) {
        return;
    }
    struct task *found = task_of(world, task, NULL);
    found->polling = false;
    found->foreign->last = found;
    if (!finished) {
        watch(found);
    }
    rt_probe_emit(RT_PROBE_POLLED, found->object, NULL, NULL, finished ? RT_READY : RT_PENDING);
    world->current = world->stepping;
    if (finished) {
        erase_all(found);
        rt_probe_emit(RT_PROBE_COMPLETE, found->object, NULL, NULL, 0);
        task_end(found);
    }
    sim_loop_pause(world);
}

/* ---- The runtime. ---------------------------------------------------------------------------- */

static void
after_step(void *argument)
{
    struct sim_foreign *foreign = argument;
    struct task *last = foreign->last;
    if (last != NULL) {
        foreign->last = NULL;
        sim__actor_stepped(&last->actor); /* The step was the loop's. */
    }
    while (sim_loop_actor(foreign->loop)->done && !rt_list_empty(&foreign->tasks)) {
        task_end(rt_container_of(foreign->tasks.next, struct task, link));
    }
}

static const struct sim_binding_ops binding_ops = {.after_step = after_step};

struct sim_foreign *
sim_foreign_new(struct sim_loop *loop, void (*again)(void *runtime, void *task), void *runtime)
{
    rt_assert(loop != NULL);
    struct sim_world *world = sim_loop_actor(loop)->world;
    struct sim_foreign *foreign = sim_new(world, struct sim_foreign);
    sim_loop_actor(loop)->hosts = true;
    if (world->foreigners == NULL) {
        world->foreigners = sim_new(world, struct sim__foreigners);
    }
    foreign->world = world;
    foreign->loop = loop;
    foreign->again = again;
    foreign->runtime = runtime;
    rt_list_init(&foreign->tasks);
    sim_world_bind(world, &foreign->binding, &binding_ops, foreign, NULL);
    sim_world_loop_polls(world);
    return foreign;
}
