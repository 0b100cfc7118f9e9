/*
 * freed.c -- memory that a scenario frees, and what it must not contain.
 *
 * A slot that holds a waker is linked into the task that stored it: when it is freed, the end of
 * the task would still write to it, and the wake is lost. So the block is searched for slots and
 * tasks before it is overwritten; both begin with a magic word. Slots get another magic word, by
 * which a later use is detected.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <string.h>

#include "runtime/base/assert.h"
#include "runtime/task/internal.h"
#include "sim/bind/bind_priv.h"
#include "sim/core/memory/arena.h"
#include "sim/core/record/site.h"
#include "sim/core/scenario.h"

#define WORD sizeof(uint64_t)

static uint32_t
magic_at(const char *memory)
{
    uint32_t magic;
    memcpy(&magic, memory, sizeof(magic));
    return magic;
}

/* ---- Names. ---------------------------------------------------------------------------------- */

void
sim_slot_name(struct sim_world *world, const struct rt_slot *slot, const char *name)
{
    sim_world_name(world, slot->owner != 0 ? slot->owner : slot->object.id, name);
}

void
sim_target_name(struct sim_world *world, struct rt_target *target, const char *name)
{
    if (target->name == 0) {
        target->name = sim_world_object(world, RT_OBJECT_USER);
    }
    sim_world_name(world, target->name, name);
}

/* ---- The content of the block. --------------------------------------------------------------- */

/* A copy of a slot is not linked. */
static bool
is_linked(const struct rt_slot *slot)
{
    return !rt_slot_empty(slot) && slot->task_link.next != NULL &&
           slot->task_link.next->prev == &slot->task_link;
}

/* The task in whose list `slot` is; its head is the one link that is not in a slot. The words read
 * may be in a gap between two blocks, which the address sanitizer guards. */
#if defined(__SANITIZE_ADDRESS__) || defined(__clang__)
__attribute__((no_sanitize("address")))
#endif
static const struct rt_task *
task_of(const struct rt_slot *slot)
{
    const struct rt_list *link = slot->task_link.next;
    while (link != &slot->task_link) {
        const struct rt_task *task = rt_container_of(link, struct rt_task, slots);
        if (task->object.magic == RT__TASK_MAGIC) {
            return task;
        }
        link = link->next;
    }
    return NULL;
}

void
sim__fail_freed(struct sim_world *world, const struct sim__lost_waker *lost)
{
    const char *name = sim_world_object_name(world, lost->object);
    const struct rt_site *stored = lost->stored;
    const struct rt_site *line = lost->freed;
    sim_world_event(
            world, SIM_EVENT_FREE, lost->object, 0, line != NULL ? line->id : 0, lost->whose);
    sim_fail(world, SIM_VERDICT_LEAK, SIM_ORACLE_BALANCE, world->current,
            line != NULL ? line->id : 0,
            "the memory of \"%s\" was freed at %s:%u with the waker of '%s' in it, stored at %s:%u",
            name != NULL           ? name
            : lost->reason != NULL ? lost->reason
                                   : "a slot",
            line != NULL ? sim_site_file(line) : "?", line != NULL ? line->line : 0,
            lost->task != NULL ? lost->task : "a task",
            stored != NULL ? sim_site_file(stored) : "?", stored != NULL ? stored->line : 0);
}

static void
check_slot(struct sim_world *world, const struct rt_slot *slot, const struct rt_site *line)
{
    if (!is_linked(slot)) {
        return;
    }
    const struct rt_task *task = task_of(slot);
    const struct sim__lost_waker lost = {
            .object = slot->owner != 0 ? slot->owner : slot->object.id,
            .whose = slot->whose,
            .reason = slot->reason,
            .task = task != NULL ? task->name : NULL,
            .stored = slot->await != NULL ? slot->await : slot->site,
            .freed = line,
    };
    sim__fail_freed(world, &lost);
}

static void
check_task(struct sim_world *world, const struct rt_task *task, const struct rt_site *line)
{
    if (rt_task_posted(task)) {
        sim_fail(world, SIM_VERDICT_CONTRACT, SIM_ORACLE_USER, world->current,
                line != NULL ? line->id : 0,
                "the memory of task '%s' was freed before the task had ended", task->name);
    }
}

static void
check_block(struct sim_world *world, const char *memory, size_t size, const struct rt_site *line)
{
    for (size_t at = 0; at + WORD <= size; at += WORD) {
        uint32_t magic = magic_at(memory + at);
        if (magic == RT__SLOT_MAGIC && size - at >= sizeof(struct rt_slot)) {
            check_slot(world, (const void *)(memory + at), line);
        } else if (magic == RT__TASK_MAGIC && size - at >= sizeof(struct rt_task)) {
            check_task(world, (const void *)(memory + at), line);
        }
    }
    sim__foreign_freed(world, memory, size, line);
}

/* As uninitialized memory, so that replica runs differ where it is read. */
static void
overwrite(const struct sim_world *world, char *memory, size_t size)
{
    const uint32_t freed = RT__SLOT_FREED;
    for (size_t at = 0; at < size; at += WORD) {
        size_t length = size - at < WORD ? size - at : WORD;
        bool slot = length == WORD && magic_at(memory + at) == RT__SLOT_MAGIC;
        memset(memory + at, world->arena.fill, length);
        if (slot) {
            memcpy(memory + at, &freed, sizeof(freed));
        }
    }
}

void
sim_free_at(struct sim_world *world, void *memory, const struct rt_site *line)
{
    size_t size = 0;
    if (memory == NULL) {
        return;
    }
    enum sim_block_state state = sim_block_state(&world->arena, memory, &size);
    if (state != SIM_BLOCK_USED) {
        sim_fail(world, SIM_VERDICT_CONTRACT, SIM_ORACLE_USER, world->current,
                line != NULL ? line->id : 0, "sim_free at %s:%u: %s",
                line != NULL ? sim_site_file(line) : "?", line != NULL ? line->line : 0,
                state == SIM_BLOCK_FREED ? "this memory was freed before"
                                         : "this is not memory of sim_alloc or sim_new");
    }
    check_block(world, memory, size, line);
    sim_block_free(memory);
    overwrite(world, memory, size);
}
