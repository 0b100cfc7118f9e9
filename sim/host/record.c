/*
 * record.c -- the host's records of pollables.
 *
 * A pollable's memory is its owner's; the host has a record of it, found through the
 * pollable's handle. A handle is (generation, index + 1), and the record has the
 * pollable's address: so the use of a pollable that was dropped, copied or moved is
 * detected.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "sim/host/fd_priv.h"
#include "sim/host/priv.h"

static uint64_t
handle_of(const struct sim__record *record)
{
    return (uint64_t)record->generation << 32 | (record->index + 1);
}

static struct sim__record *
place(struct sim_host *host)
{
    if (host->free_count > 0) {
        return host->records[host->free_records[--host->free_count]];
    }
    sim__reserve(host->world, &host->records, host->records_count + 1, &host->records_capacity,
            sizeof(*host->records));
    sim__reserve(host->world, &host->free_records, host->records_count + 1, &host->free_capacity,
            sizeof(*host->free_records));
    struct sim__record *record = sim_new(host->world, struct sim__record);
    record->index = host->records_count;
    host->records[host->records_count++] = record;
    return record;
}

static void
name_record(const struct sim_host *host, struct sim__record *record)
{
    switch (record->kind) {
    case SIM__RECORD_CLOCK:
        record->object = host->clock_object;
        record->name = "clock";
        return;
    case SIM__RECORD_NOTIFY:
        record->object = host->notify_object;
        record->name = "notify";
        return;
    case SIM__RECORD_SOURCE:
        record->object = record->source->object;
        record->name = record->source->name;
        return;
    case SIM__RECORD_EVENTS:
        record->object = record->fds->own.object;
        record->name = record->fds->name;
        return;
    }
    rt_unreached("every kind of record has a name");
}

/* A clock pollable that is past at once may be not ready at the first check (P10). */
static bool
draw_unready_once(struct sim_host *host, uint64_t deadline_ns)
{
    if (host->profile == SIM_PROFILE_FD || deadline_ns > sim_now(host->world)) {
        return false;
    }
    return sim__one_in(&host->actor, SIM_KIND_SPURIOUS, host->world->options.spurious_one_in);
}

/* Whether a task is being polled: the pollable is then the user's, not the runtime's. */
static bool
task_asks(const struct sim_host *host)
{
    return host->world->current->ops->kind == SIM_ACTOR_TASK;
}

/* The clock, notify and ring pollables of a runtime are spared: it cannot work without them. */
static bool
refused(struct sim_host *host, enum sim__record_kind kind, const struct sim_source *source)
{
    bool spared = kind == SIM__RECORD_NOTIFY || (kind == SIM__RECORD_CLOCK && !task_asks(host)) ||
                  (kind == SIM__RECORD_SOURCE && source->spared);
    return !spared && sim__fault(host, SIM_FAULT_CAPACITY);
}

static struct sim__record *
record_new(struct sim_host *host, enum sim__record_kind kind)
{
    struct sim__record *record = place(host);
    *record = (struct sim__record){.owner = host->world->current,
            .deadline_ns = SIM_NEVER,
            .index = record->index,
            .generation = record->generation + 1,
            .kind = kind,
            .of_task = task_asks(host)};
    return record;
}

/* The record is complete: sets the handle in `pollable`. */
static void
record_begin(struct sim_host *host, struct sim__record *record, struct rt_pollable *pollable)
{
    record->pollable = pollable;
    name_record(host, record);
    pollable->object.magic = RT_POLLABLE_MAGIC;
    pollable->object.id = record->object;
    pollable->host = &host->seam;
    pollable->handle = handle_of(record);
    sim_world_event(host->world, SIM_EVENT_SUBSCRIBE, record->object, 0, 0, pollable->handle);
}

rt_err
sim__record_open(struct sim_host *host, enum sim__record_kind kind, struct sim_source *source,
        uint64_t deadline_ns, struct rt_pollable *pollable)
{
    rt_check(host, SIM__HOST_MAGIC);
    rt_assert(pollable != NULL);
    rt_assert((kind == SIM__RECORD_SOURCE) == (source != NULL));
    if (refused(host, kind, source)) {
        return RT_E_FULL;
    }
    struct sim__record *record = record_new(host, kind);
    record->source = source;
    record->deadline_ns = deadline_ns;
    record->unready_once = kind == SIM__RECORD_CLOCK && draw_unready_once(host, deadline_ns);
    if (source != NULL) {
        source->pollables++;
    }
    record_begin(host, record, pollable);
    if (record->unready_once) {
        sim__host_unready_once(host);
    }
    return RT_OK;
}

void
sim__record_open_events(struct sim_host *host, struct sim_fds *fds, struct rt_pollable *pollable)
{
    rt_check(host, SIM__HOST_MAGIC);
    rt_assert(pollable != NULL);
    struct sim__record *record = record_new(host, SIM__RECORD_EVENTS);
    record->fds = fds;
    record_begin(host, record, pollable);
}

struct sim__record *
sim__record_find(const struct sim_host *host, uint64_t handle)
{
    uint32_t place = (uint32_t)handle;
    if (place == 0 || place > host->records_count) {
        return NULL;
    }
    struct sim__record *record = host->records[place - 1];
    bool alive = record->pollable != NULL && record->generation == (uint32_t)(handle >> 32);
    return alive ? record : NULL;
}

struct sim__record *
sim__record_at(struct sim_host *host, uint64_t handle)
{
    rt_check(host, SIM__HOST_MAGIC);
    struct sim__record *record = sim__record_find(host, handle);
    if (record == NULL) {
        sim_fail(host->world, SIM_VERDICT_CONTRACT, SIM_ORACLE_HOST, host->world->current, 0,
                "a pollable was dropped while a poll of \"%s\" was waiting for it", host->name);
    }
    return record;
}

struct sim__record *
sim__record_of(struct sim_host *host, const struct rt_pollable *pollable)
{
    rt_check(host, SIM__HOST_MAGIC);
    rt_assert(pollable != NULL);
    struct sim__record *record = sim__record_find(host, pollable->handle);
    if (record == NULL || pollable->host != &host->seam) {
        sim_fail(host->world, SIM_VERDICT_CONTRACT, SIM_ORACLE_HOST, host->world->current, 0,
                "\"%s\" was called with a pollable that is not subscribed", host->name);
    }
    if (record->pollable != pollable) {
        sim_fail(host->world, SIM_VERDICT_CONTRACT, SIM_ORACLE_HOST, host->world->current, 0,
                "a pollable of \"%s\" was moved in memory, or copied, while it was subscribed",
                record->name);
    }
    return record;
}

void
sim__record_close(struct sim_host *host, struct sim__record *record)
{
    rt_assert(record->pollable != NULL);
    rt_assert(host->free_count < host->records_count);
    sim_world_event(
            host->world, SIM_EVENT_UNSUBSCRIBE, record->object, 0, 0, record->pollable->handle);
    if (record->source != NULL) {
        rt_assert(record->source->pollables > 0);
        record->source->pollables--;
    }
    record->pollable->host = NULL;
    record->pollable->handle = 0;
    record->pollable = NULL;
    host->free_records[host->free_count++] = record->index;
}

bool
sim__record_ready(const struct sim_host *host, const struct sim__record *record)
{
    rt_assert(record->pollable != NULL);
    switch (record->kind) {
    case SIM__RECORD_CLOCK:
        return sim_now(host->world) >= record->deadline_ns && !record->unready_once;
    case SIM__RECORD_NOTIFY:
        return host->notified;
    case SIM__RECORD_SOURCE:
        return record->source->events > 0;
    case SIM__RECORD_EVENTS:
        return sim__epoll_ready(&record->fds->own);
    }
    rt_unreached("every kind of record has a readiness");
}

bool
sim__record_check(struct sim_host *host, struct sim__record *record)
{
    bool ready = sim__record_ready(host, record);
    record->asked_step = host->world->step;
    record->checked_ns = sim_now(host->world);
    record->unready_once = false;
    return ready;
}
