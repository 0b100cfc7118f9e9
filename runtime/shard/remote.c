/*
 * remote.c -- wakes and cancels by name.
 *
 * `asked` holds the generation of the task above two request bits. Generations of
 * an entry only grow (slab.h retires an entry instead of starting again), so of two
 * names of one entry the task of the smaller one is certainly gone.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "runtime/shard/remote.h"

#include "runtime/shard/internal.h"

#include "runtime/base/banned.h"

#define WAKE UINT64_C(1)
#define CANCEL UINT64_C(2)
#define BITS 2

static uint64_t
generation_of(uint64_t asked)
{
    return asked >> BITS;
}

/* The cell after a request of `what` for generation `generation`; `asked`: nothing new. */
static uint64_t
asked_also(uint64_t asked, uint64_t generation, uint64_t what)
{
    if (generation_of(asked) > generation) {
        return asked; /* X6: a younger task has the entry. */
    }
    uint64_t before = generation_of(asked) == generation ? asked : generation << BITS;
    return before | what;
}

static void
ask(struct rt_shard *shard, struct rt_key key, uint64_t what)
{
    rt_check(&shard->object, RT__SHARD_MAGIC);
    rt_assert(key.index < shard->runtime->executor.targets.capacity);
    struct rt_remote_cell *cell = &shard->cells[key.index];
    uint64_t asked = atomic_load_explicit(&cell->asked, memory_order_relaxed);
    /* Release, also where nothing changes: the shard that takes the cell sees what we did before
     * the wake. Acquire: a taken cell is read out of its list before we push it again. */
    while (!atomic_compare_exchange_weak_explicit(&cell->asked, &asked,
            asked_also(asked, key.generation, what), memory_order_acq_rel, memory_order_relaxed)) {
    }
    if (asked != 0) {
        return; /* Coalesced: the thread that made it nonzero pushes it, and notifies. */
    }
    if (rt_inbox_push(&shard->wakes, &cell->link)) {
        rt__shard_tell(shard);
    }
}

struct rt_remote
rt_remote_of(struct rt_shard *shard, const struct rt_task *task)
{
    rt_check(&shard->object, RT__SHARD_MAGIC);
    rt__shard_check_here(shard, "a task was named on a thread that is not its shard's");
    rt_assert(task != NULL);
    if (!rt_task_posted(task) || task->target.executor != &shard->runtime->executor) {
        rt_fault(RT_E_NOT_POSTED, task->name, "a task was named that is not posted on this shard");
    }
    return (struct rt_remote){shard, task->target.key};
}

void
rt_remote_wake(const struct rt_remote *remote)
{
    rt_assert(remote != NULL);
    ask(remote->shard, remote->key, WAKE);
}

void
rt_remote_cancel(const struct rt_remote *remote)
{
    rt_assert(remote != NULL);
    ask(remote->shard, remote->key, CANCEL);
}

/* ---- As a waker. ----------------------------------------------------------------------------- */

static struct rt_shard *
shard_of(const struct rt_waker *waker)
{
    /* Through an integer, because the vtable is const outside its shard. */
    uintptr_t address = (uintptr_t)waker->vt - offsetof(struct rt_shard, remote_vt);
    return (struct rt_shard *)address;
}

static struct rt_waker
remote_clone(const struct rt_waker *waker, const struct rt_site *await)
{
    (void)await;
    return *waker;
}

static void
remote_wake(struct rt_waker waker, const struct rt_site *await)
{
    (void)await;
    ask(shard_of(&waker), rt_key_unpack(waker.data), WAKE);
}

static void
remote_wake_by_ref(const struct rt_waker *waker, const struct rt_site *await)
{
    remote_wake(*waker, await);
}

static void
remote_drop(struct rt_waker waker, const struct rt_site *await)
{
    (void)waker;
    (void)await;
}

struct rt_waker
rt_remote_wait_at(struct rt_shard *shard, struct rt_slot *slot, struct rt_cx *cx,
        const char *reason, const struct rt_site *await)
{
    rt_cx_check(cx);
    struct rt_remote remote = rt_remote_of(shard, cx->task);
    rt_slot_replace_at(slot, cx, reason, RT_HERE, await);
    return (struct rt_waker){&shard->remote_vt, rt_key_pack(remote.key)};
}

/* ---- On the shard. --------------------------------------------------------------------------- */

static void
do_asked(struct rt_shard *shard, uint32_t index, uint64_t asked)
{
    struct rt_executor *executor = &shard->runtime->executor;
    struct rt_key key = {index, (uint32_t)generation_of(asked)};
    const struct rt_target *target = rt_slab_get(&executor->targets, key);
    struct rt_task *task = target != NULL ? rt_executor_task(executor, index) : NULL;
    if (task == NULL) {
        RT_PROBE(WAKE_DEAD, 0, RT_HERE, NULL, asked); /* X6 */
        return;
    }
    if ((asked & CANCEL) != 0) {
        rt_task_cancel(task);
    } else {
        rt_task_wake(task);
    }
}

bool
rt__remote_take_in(struct rt_shard *shard)
{
    struct rt_inbox_link *link = rt_inbox_take_all(&shard->wakes);
    bool any = link != NULL;
    while (link != NULL) {
        struct rt_remote_cell *cell = rt_container_of(link, struct rt_remote_cell, link);
        link = link->next; /* Before the cell is 0, and may be pushed again. */
        /* Acquire: what was done before the wake. Release: we have read the link. */
        uint64_t asked = atomic_exchange_explicit(&cell->asked, 0, memory_order_acq_rel);
        do_asked(shard, (uint32_t)(cell - shard->cells), asked);
    }
    return any;
}

void
rt__remote_init(struct rt_shard *shard)
{
    rt_inbox_init(&shard->wakes);
    uint32_t capacity = shard->runtime->executor.targets.capacity;
    for (uint32_t i = 0; i < capacity; i++) {
        shard->cells[i].link.next = NULL;
        atomic_init(&shard->cells[i].asked, 0);
    }
    shard->remote_vt =
            (struct rt_waker_vt){remote_clone, remote_wake, remote_wake_by_ref, remote_drop};
}
