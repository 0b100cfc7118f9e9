/*
 * poll.c -- the host's `poll`, and blocking in it.
 *
 *   1. The list is copied; its entries count as checked.
 *   2. A loop pauses once, also when something is ready: readiness may change
 *      between the call and its return.
 *   3. Under `hostile`, one entry that is not ready may be drawn for a spurious report.
 *   4. With nothing ready or drawn, the loop blocks until something is ready.
 *   5. Some of the ready ones are reported, in some order (SUBSET, ORDER).
 *
 * On the world's stack a call cannot block, so something must be ready.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "sim/host/fd_priv.h"

#define NO_ENTRY UINT32_MAX

/* A thread that the oracle polls takes no step. */
static struct sim_actor *
asking(const struct sim_world *world)
{
    bool polled = world->spurious_polling && world->current->ops->interrupt != NULL;
    return polled ? world->current : world->stepping;
}

struct sim__poller *
sim__poller_current(struct sim_host *host)
{
    struct sim_actor *actor = asking(host->world);
    rt_list_each(node, &host->pollers)
    {
        struct sim__poller *poller = rt_container_of(node, struct sim__poller, link);
        if (poller->actor == actor) {
            return poller;
        }
    }
    struct sim__poller *poller = sim_new(host->world, struct sim__poller);
    poller->actor = actor;
    poller->host = host;
    poller->is_loop = sim_loop_current(host->world) != NULL;
    rt_list_init(&poller->blocked.link);
    rt_list_push_back(&host->pollers, &poller->link);
    return poller;
}

static int
block_loop(struct sim_world *world, uint64_t due_ns, uint32_t object, const char *reason,
        const struct rt_site *await, uint32_t reports, bool outside)
{
    (void)outside; /* A scenario has its clients in it. */
    struct sim_loop *loop = sim_loop_current(world);
    sim_actor_due(sim_loop_actor(loop), due_ns);
    sim_loop_block_in_host(world, object, reason, await, reports);
    sim_actor_due(sim_loop_actor(loop), SIM_NEVER);
    uint32_t nth = sim_loop_spurious_report(loop);
    return sim_loop_was_interrupted(loop) && nth == 0 ? SIM_BLOCK_INTERRUPTED : (int)nth;
}

static void
wake_loop(struct sim_actor *actor)
{
    sim_loop_wake(sim_loop_of(actor));
}

static const struct sim_blocking loops = {.block = block_loop, .wake = wake_loop};

const struct sim_blocking *
sim__host_blocking(const struct sim_host *host)
{
    return sim_loop_current(host->world) != NULL ? &loops : host->blocking;
}

int
sim__poller_block(struct sim__poller *poller, bool (*ready)(struct sim__blocked *blocked),
        uint64_t due_ns, uint32_t object, const char *reason, const struct rt_site *await,
        uint32_t reports)
{
    struct sim_host *host = poller->host;
    struct sim__blocked *blocked = &poller->blocked;
    const struct sim_blocking *by = sim__host_blocking(host);
    rt_assert(rt_list_empty(&blocked->link));
    rt_assert(by != NULL);
    if (by->interrupted != NULL && by->interrupted()) {
        return SIM_BLOCK_INTERRUPTED;
    }
    blocked->actor = poller->actor;
    blocked->by = by;
    blocked->ready = ready;
    rt_list_push_back(&host->blocked, &blocked->link);
    int how = by->block(host->world, due_ns, object, reason, await, reports, poller->outside);
    rt_list_unlink(&blocked->link);
    sim__timers_expire(host);
    return by->interrupted != NULL && by->interrupted() ? SIM_BLOCK_INTERRUPTED : how;
}

/* ---- The list. ------------------------------------------------------------------------------- */

static void
keep_list(struct sim__poller *poller, struct rt_pollable *const *in, uint32_t count)
{
    struct sim_host *host = poller->host;
    sim__reserve(host->world, &poller->handles, count, &poller->capacity, sizeof(*poller->handles));
    poller->count = count;
    poller->turn++;
    for (uint32_t i = 0; i < count; i++) {
        struct sim__record *record = sim__record_of(host, in[i]);
        record->poller = poller;
        record->poller_turn = poller->turn;
        poller->handles[i] = in[i]->handle;
    }
}

/* Fills the host's candidates with what is ready and returns how many. */
static uint32_t
collect(struct sim__poller *poller)
{
    struct sim_host *host = poller->host;
    /* One more than the length of the list: for a spurious report. */
    struct sim__candidate *candidates = sim__candidates(host, poller->count + 1);
    uint32_t count = 0;
    for (uint32_t i = 0; i < poller->count; i++) {
        struct sim__record *record = sim__record_at(host, poller->handles[i]);
        if (sim__record_check(host, record)) {
            candidates[count++] = (struct sim__candidate){i, &record->left_out};
        }
    }
    return count;
}

static bool
list_ready(struct sim__blocked *blocked)
{
    struct sim__poller *poller = rt_container_of(blocked, struct sim__poller, blocked);
    for (uint32_t i = 0; i < poller->count; i++) {
        struct sim__record *record = sim__record_find(poller->host, poller->handles[i]);
        /* For one that was dropped meanwhile the loop fails, in its step. */
        if (record == NULL || sim__record_ready(poller->host, record)) {
            return true;
        }
    }
    return false;
}

bool
sim__list_waits_for(const struct sim__blocked *blocked, const struct sim__description *description,
        const struct sim_source *source)
{
    const struct sim__poller *poller = rt_container_of(blocked, struct sim__poller, blocked);
    for (uint32_t i = 0; blocked->ready == list_ready && i < poller->count; i++) {
        const struct sim__record *record = sim__record_find(poller->host, poller->handles[i]);
        bool events = record != NULL && record->kind == SIM__RECORD_EVENTS && description != NULL;
        if ((record != NULL && record->source == source) ||
                (events && sim__epoll_watches(&record->fds->own, description))) {
            return true;
        }
    }
    return false;
}

static uint64_t
list_deadline(struct sim__poller *poller)
{
    uint64_t due_ns = SIM_NEVER;
    for (uint32_t i = 0; i < poller->count; i++) {
        const struct sim__record *record = sim__record_at(poller->host, poller->handles[i]);
        if (record->kind == SIM__RECORD_CLOCK && record->deadline_ns < due_ns) {
            due_ns = record->deadline_ns;
        }
    }
    return due_ns;
}

/* What a loop waits for in reports: the first source, else the first entry. */
static const struct sim__record *
list_subject(struct sim__poller *poller)
{
    for (uint32_t i = 0; i < poller->count; i++) {
        const struct sim__record *record = sim__record_at(poller->host, poller->handles[i]);
        if (record->kind == SIM__RECORD_SOURCE) {
            return record;
        }
    }
    return sim__record_at(poller->host, poller->handles[0]);
}

/* ---- Spurious reports. ----------------------------------------------------------------------- */

static bool
may_report_spuriously(const struct sim__record *record)
{
    return record->kind == SIM__RECORD_SOURCE && record->source->events == 0 &&
           sim__source_may_report_spuriously(record->source);
}

/* The place in the list of the `nth` entry that may be reported spuriously, or NO_ENTRY. */
static uint32_t
find_spurious(struct sim__poller *poller, uint32_t nth)
{
    for (uint32_t i = 0; i < poller->count; i++) {
        if (may_report_spuriously(sim__record_at(poller->host, poller->handles[i])) && nth-- == 0) {
            return i;
        }
    }
    return NO_ENTRY;
}

static uint32_t
draw_spurious(struct sim__poller *poller)
{
    struct sim_host *host = poller->host;
    uint64_t one_in = host->world->options.spurious_one_in;
    if (!sim__host_hostile(host) || one_in == 0) {
        return NO_ENTRY;
    }
    uint32_t n = 1;
    while (n < SIM_ALTERNATIVES_MAX && find_spurious(poller, n - 1) != NO_ENTRY) {
        n++;
    }
    uint32_t index = sim__perturb(&host->actor, SIM_KIND_SPURIOUS, n, one_in);
    return index == 0 ? NO_ENTRY : find_spurious(poller, index - 1);
}

static void
add_spurious(struct sim__poller *poller, uint32_t place, uint32_t count)
{
    struct sim__record *record = sim__record_at(poller->host, poller->handles[place]);
    record->source->spurious++;
    poller->host->candidates[count] = (struct sim__candidate){place, &record->left_out};
    sim_world_event(poller->host->world, SIM_EVENT_SPURIOUS, record->object, 0, 0, place);
}

/* ---- Waiting and answering. ------------------------------------------------------------------ */

/* As struct sim_blocking's block. */
static int
block(struct sim__poller *poller)
{
    struct sim_host *host = poller->host;
    const struct sim__record *subject = list_subject(poller);
    sim_world_event(host->world, SIM_EVENT_BLOCK, subject->object, 0, 0, poller->count);
    return sim__poller_block(poller, list_ready, list_deadline(poller), subject->object,
            subject->name, RT_HERE, poller->count);
}

__attribute__((noreturn)) static void
fail_blocked(struct sim__poller *poller)
{
    sim_fail(poller->host->world, SIM_VERDICT_CONTRACT, SIM_ORACLE_HOST, poller->actor, 0,
            "\"%s\" was called to poll %u pollables of which none is ready, and the caller cannot "
            "block: the first is \"%s\"",
            poller->host->name, poller->count, list_subject(poller)->name);
}

/* Blocks until something is ready; returns how many are. */
static uint32_t
wait_ready(struct sim__poller *poller)
{
    uint32_t ready = 0;
    if (sim_loop_current(poller->host->world) == NULL) {
        /* The first check was made: those with `unready_once` are ready now. */
        ready = collect(poller);
        if (ready == 0) {
            fail_blocked(poller);
        }
        return ready;
    }
    while (ready == 0) {
        int how = block(poller);
        ready = collect(poller);
        uint32_t spurious = NO_ENTRY;
        if (ready == 0 && how != 0) {
            /* This host has no EINTR: something is reported in any case. */
            spurious = find_spurious(poller, how > 0 ? (uint32_t)how - 1 : 0);
        }
        if (spurious != NO_ENTRY) {
            add_spurious(poller, spurious, ready++);
        }
    }
    sim_world_event(poller->host->world, SIM_EVENT_UNBLOCK, 0, 0, 0, ready);
    return ready;
}

static void
report(struct sim__poller *poller, uint32_t count, uint32_t *ret_indices)
{
    struct sim_host *host = poller->host;
    bool notify_taken = false;
    for (uint32_t i = 0; i < count; i++) {
        uint32_t index = host->candidates[i].index;
        struct sim__record *record = sim__record_at(host, poller->handles[index]);
        record->poller = NULL; /* Reported. */
        sim_world_event(host->world, SIM_EVENT_REPORT, record->object, 0, 0, index);
        notify_taken = notify_taken || record->kind == SIM__RECORD_NOTIFY;
        ret_indices[i] = index;
    }
    if (notify_taken) {
        host->notified = false;
        sim_world_event(host->world, SIM_EVENT_UNREADY, host->notify_object, 0, 0, 0);
    }
}

/* Strict WASI traps (P3); a host of descriptors has an error for it. */
static rt_err
refuse_empty(struct sim_host *host)
{
    if (host->profile != SIM_PROFILE_FD) {
        sim_fail(host->world, SIM_VERDICT_CONTRACT, SIM_ORACLE_HOST, host->world->current, 0,
                "the host was called to poll an empty list; a loop with nothing to wait for must "
                "not poll (P3)");
    }
    return RT_E_EMPTY_POLL;
}

rt_err
sim__poll(struct rt_host *seam, struct rt_pollable *const *in, uint32_t count,
        uint32_t *ret_indices, uint32_t *ret_ready)
{
    rt_check(seam, RT_HOST_MAGIC);
    struct sim_host *host = rt_container_of(seam, struct sim_host, seam);
    rt_check(host, SIM__HOST_MAGIC);
    sim__watch(host);
    if (count == 0) {
        return refuse_empty(host);
    }
    struct sim__poller *poller = sim__poller_current(host);
    keep_list(poller, in, count);
    sim_loop_pause(host->world);
    uint32_t spurious = draw_spurious(poller);
    uint32_t ready = collect(poller);
    if (spurious != NO_ENTRY) {
        add_spurious(poller, spurious, ready++);
    } else if (ready == 0) {
        ready = wait_ready(poller);
    }
    uint32_t reported = sim__batch(host, host->candidates, ready, ready);
    rt_assert(reported >= 1);
    rt_assert(reported <= count);
    report(poller, reported, ret_indices);
    *ret_ready = reported;
    return RT_OK;
}
