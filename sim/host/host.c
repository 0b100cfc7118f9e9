/*
 * host.c -- the seam: the vtable that a runtime sees, and the host's own step.
 *
 * The host's actor is its clock. It steps only to end the `unready_once` of a clock
 * pollable (P10). Deadlines need no step: a loop that blocks in `poll` is enabled at
 * its deadline directly (poll.c), and a binding that drives a runtime without a loop
 * calls sim_host_next_instant.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <string.h>

#include "sim/host/fd_priv.h"
#include "sim/host/priv.h"

static struct sim_host *
host_of(struct rt_host *seam)
{
    rt_check(seam, RT_HOST_MAGIC);
    struct sim_host *host = rt_container_of(seam, struct sim_host, seam);
    rt_check(host, SIM__HOST_MAGIC);
    return host;
}

void
sim__host_changed(struct sim_host *host)
{
    rt_check(host, SIM__HOST_MAGIC);
    rt_list_each(node, &host->blocked)
    {
        struct sim__blocked *blocked = rt_container_of(node, struct sim__blocked, link);
        /* A loop that was cancelled remains in the list: this struct outlives its stack. */
        if (!blocked->actor->done && blocked->ready(blocked)) {
            blocked->by->wake(blocked->actor);
        }
    }
    if (host->listener != NULL) {
        host->listener(host->listener_argument);
    }
}

/* ---- The clock's step. ----------------------------------------------------------------------- */

void
sim__host_unready_once(struct sim_host *host)
{
    sim_actor_enable(&host->actor);
}

static void
clock_step(struct sim_actor *actor)
{
    struct sim_host *host = rt_container_of(actor, struct sim_host, actor);
    rt_check(host, SIM__HOST_MAGIC);
    for (uint32_t i = 0; i < host->records_count; i++) {
        host->records[i]->unready_once = false;
    }
    sim__watch(host);
    sim__host_changed(host);
}

static const struct sim_actor_ops clock_ops = {.kind = SIM_ACTOR_SOURCE, .step = clock_step};

/* ---- The seam. ------------------------------------------------------------------------------- */

/* How much a reading may lag under fault `clock`. */
#define BACK_NS_MAX UINT64_C(10000000)

/* Fault `clock`: this reading is older than one before it. The clock itself does not go back. */
static uint64_t
stepped_back(struct sim_host *host, uint64_t now_ns)
{
    if (now_ns == 0 || !sim__fault(host, SIM_FAULT_CLOCK)) {
        return now_ns;
    }
    uint64_t most_ns = now_ns < BACK_NS_MAX ? now_ns : BACK_NS_MAX;
    /* A timer started from this reading may be due within the last jump of the clock, which is not
     * a late wake. */
    host->world->jumped_from_ns = host->world->jumped_to_ns;
    return now_ns - sim_actor_range(&host->actor, SIM_KIND_FAULT, 1, most_ns);
}

static uint64_t
host_now(struct rt_host *seam)
{
    struct sim_host *host = host_of(seam);
    sim__host_call(host, "now");
    sim__watch(host);
    return stepped_back(host, sim_now(host->world));
}

static rt_err
host_subscribe(struct rt_host *seam, enum rt_subscribe what, uint64_t argument,
        struct rt_pollable *pollable)
{
    struct sim_host *host = host_of(seam);
    sim__host_call(host, "subscribe");
    switch (what) {
    case RT_SUBSCRIBE_INSTANT:
        return sim__record_open(host, SIM__RECORD_CLOCK, NULL, argument, pollable);
    case RT_SUBSCRIBE_NOTIFY:
        return sim__record_open(host, SIM__RECORD_NOTIFY, NULL, SIM_NEVER, pollable);
    }
    return RT_E_INVALID;
}

static bool
host_ready(struct rt_host *seam, const struct rt_pollable *pollable)
{
    struct sim_host *host = host_of(seam);
    sim__host_call(host, "ready");
    struct sim__record *record = sim__record_of(host, pollable);
    return sim__record_check(host, record);
}

static void
host_drop(struct rt_host *seam, struct rt_pollable *pollable)
{
    struct sim_host *host = host_of(seam);
    sim__host_call(host, "drop");
    sim__record_close(host, sim__record_of(host, pollable));
}

static void
host_notify(struct rt_host *seam)
{
    struct sim_host *host = host_of(seam);
    sim__host_call(host, "notify");
    if (host->notified) {
        return;
    }
    host->notified = true;
    sim_world_event(host->world, SIM_EVENT_READY, host->notify_object, 0, 0, 1);
    sim__host_changed(host);
}

static const struct rt_host_ops host_ops = {.now = host_now,
        .subscribe = host_subscribe,
        .ready = host_ready,
        .poll = sim__poll,
        .drop = host_drop,
        .notify = host_notify};

/* ---- Stage 2. -------------------------------------------------------------------------------- */

/*
 * Reports everything ready again. A notify too when a loop is blocked: a loop that is blocked
 * although it has work was not notified, and would then continue.
 */
static void
renew(void *argument)
{
    struct sim_host *host = argument;
    rt_check(host, SIM__HOST_MAGIC);
    if (!rt_list_empty(&host->blocked)) {
        host->notified = true;
    }
    sim__fds_renew(host);
    sim__host_changed(host);
}

static const struct sim_binding_ops binding_ops = {
        .close = sim__watch_close,
        .renew = renew,
        .silences = sim__fds_silences,
        .ask_again = sim__fds_ask_again,
        .pretend = sim__fds_pretend,
};

/* ---- Public. --------------------------------------------------------------------------------- */

static uint32_t
named_object(struct sim_world *world, const char *name)
{
    uint32_t object = sim_world_object(world, RT_OBJECT_SOURCE);
    sim_record_text(&world->recorder, SIM_TEXT_OBJECT, object, name, strlen(name));
    return object;
}

struct sim_host *
sim_host_new(struct sim_world *world, const char *name, enum sim_profile profile)
{
    rt_assert(world != NULL);
    rt_assert(profile <= SIM_PROFILE_FD);
    struct sim_host *host = sim_new(world, struct sim_host);
    host->seam.magic = RT_HOST_MAGIC;
    host->seam.ops = &host_ops;
    host->magic = SIM__HOST_MAGIC;
    host->profile = profile != SIM_PROFILE_DEFAULT ? profile : (enum sim_profile)world->profile;
    host->terse = sim__host_hostile(host);
    host->world = world;
    host->name = name == NULL ? "host" : name;
    rt_list_init(&host->pollers);
    rt_list_init(&host->blocked);
    rt_list_init(&host->tables);
    rt_list_init(&host->timers);
    sim_actor_init(&host->actor, world, &clock_ops, NULL, host->name, false);
    host->clock_object = named_object(world, "clock");
    host->notify_object = named_object(world, "notify");
    sim_world_bind(world, &host->binding, &binding_ops, host, host->name);
    return host;
}

struct rt_host *
sim_host_seam(struct sim_host *host)
{
    rt_check(host, SIM__HOST_MAGIC);
    return &host->seam;
}

void
sim_host_undivided(struct sim_host *host)
{
    rt_check(host, SIM__HOST_MAGIC);
    host->undivided = true;
}

void
sim_host_listen(struct sim_host *host, void (*fn)(void *argument), void *argument)
{
    rt_check(host, SIM__HOST_MAGIC);
    rt_assert(fn != NULL);
    rt_assert(host->listener == NULL);
    host->listener = fn;
    host->listener_argument = argument;
}

void
sim_host_block_by(struct sim_host *host, const struct sim_blocking *blocking)
{
    rt_check(host, SIM__HOST_MAGIC);
    rt_assert(blocking->block != NULL);
    rt_assert(blocking->wake != NULL);
    host->blocking = blocking;
}

uint64_t
sim_host_next_instant(const struct sim_host *host)
{
    rt_check(host, SIM__HOST_MAGIC);
    /* When the step began: what it was charged moves the clock only after it. */
    uint64_t now_ns = host->world->now_ns;
    uint64_t next_ns = SIM_NEVER;
    for (uint32_t i = 0; i < host->records_count; i++) {
        const struct sim__record *record = host->records[i];
        if (record->pollable != NULL && record->kind == SIM__RECORD_CLOCK &&
                record->deadline_ns > now_ns && record->deadline_ns < next_ns) {
            next_ns = record->deadline_ns;
        }
    }
    return next_ns;
}
