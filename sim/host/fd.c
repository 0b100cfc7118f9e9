/*
 * fd.c -- descriptors: numbers, their descriptions, and the calls on any of them.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "sim/host/fd.h"

#include <string.h>

#include "sim/host/sys_priv.h"

/* Numbers of one table. */
#define NUMBERS_MAX 1024u

/* Tables are those of processes on one machine. */
static struct sim__sockets *
sockets_of(struct sim_world *world)
{
    if (world->sockets == NULL) {
        world->sockets = sim_new(world, struct sim__sockets);
        rt_list_init(&world->sockets->all);
    }
    return world->sockets;
}

struct sim_fds *
sim_fds_new(struct sim_host *host, int first)
{
    rt_check(host, SIM__HOST_MAGIC);
    rt_assert(first >= 0);
    struct sim_fds *fds = sim_new(host->world, struct sim_fds);
    fds->magic = SIM__FDS_MAGIC;
    fds->first = first;
    fds->host = host;
    fds->limit = NUMBERS_MAX;
    rt_list_init(&fds->interests);
    rt_list_init(&fds->spare);
    fds->sockets = sockets_of(host->world);
    sim__epoll_init(&fds->own, fds, sim_world_object(host->world, RT_OBJECT_SOURCE));
    rt_list_push_back(&host->tables, &fds->link);
    sim__fds_name(fds, "descriptors");
    return fds;
}

void
sim__fds_name(struct sim_fds *fds, const char *name)
{
    fds->name = name;
    sim_record_text(
            &fds->host->world->recorder, SIM_TEXT_OBJECT, fds->own.object, name, strlen(name));
}

/* ---- Numbers. -------------------------------------------------------------------------------- */

struct sim__description *
sim__fd_get(const struct sim_fds *fds, int fd)
{
    rt_check(fds, SIM__FDS_MAGIC);
    if (fd < fds->first || (uint32_t)(fd - fds->first) >= fds->capacity) {
        return NULL;
    }
    return fds->numbers[fd - fds->first];
}

static uint32_t
count_free(const struct sim_fds *fds)
{
    uint32_t free_count = fds->limit;
    for (uint32_t i = 0; i < fds->capacity && i < fds->limit; i++) {
        free_count -= fds->numbers[i] != NULL;
    }
    return free_count;
}

bool
sim__fd_full(const struct sim_fds *fds)
{
    return count_free(fds) == 0;
}

rt_err
sim__fd_available(struct sim_fds *fds, uint32_t count)
{
    rt_check(fds, SIM__FDS_MAGIC);
    if (count_free(fds) < count || sim__fault(fds->host, SIM_FAULT_CAPACITY)) {
        return RT_E_FULL;
    }
    return RT_OK;
}

int
sim__fd_open_at(struct sim__description *description, uint32_t place)
{
    struct sim_fds *fds = description->fds;
    struct sim_world *world = fds->host->world;
    rt_assert(place < fds->limit);
    sim__reserve(world, &fds->numbers, place + 1, &fds->capacity, sizeof(*fds->numbers));
    rt_assert(fds->numbers[place] == NULL);
    fds->numbers[place] = description;
    description->numbers++;
    int number = fds->first + (int)place;
    sim_world_event(world, SIM_EVENT_OPEN, description->source->object, 0, 0, (uint64_t)number);
    return number;
}

int
sim__fd_open(struct sim__description *description)
{
    const struct sim_fds *fds = description->fds;
    uint32_t place = 0;
    while (place < fds->capacity && fds->numbers[place] != NULL) {
        place++;
    }
    return sim__fd_open_at(description, place);
}

void
sim__fd_free(struct sim_fds *fds, int fd)
{
    struct sim__description *description = sim__fd_get(fds, fd);
    rt_assert(description != NULL);
    uint32_t place = (uint32_t)(fd - fds->first);
    fds->numbers[place] = NULL;
    if (place < fds->flags_capacity) {
        fds->number_flags[place] = 0;
    }
    sim_world_event(
            fds->host->world, SIM_EVENT_CLOSE, description->source->object, 0, 0, (uint64_t)fd);
    sim__description_release(description);
}

/* ---- Descriptions. --------------------------------------------------------------------------- */

void
sim__description_init(struct sim__description *description, struct sim_fds *fds,
        const struct sim__description_ops *ops, const char *name)
{
    rt_check(fds, SIM__FDS_MAGIC);
    description->ops = ops;
    description->fds = fds;
    description->source = sim__source_new(fds->host, name, ops->arrived, description);
    description->read_wait_ns = SIM_NEVER;
    description->write_wait_ns = SIM_NEVER;
}

void
sim__description_hold(struct sim__description *description)
{
    rt_assert(description->numbers > 0);
    description->numbers++;
}

void
sim__description_release(struct sim__description *description)
{
    rt_assert(description->numbers > 0);
    if (--description->numbers > 0) {
        return;
    }
    sim__description_forget(description);
    if (description->ops->closed != NULL) {
        description->ops->closed(description);
    }
    sim__source_end(description->source);
}

uint32_t
sim__description_events(const struct sim__description *description)
{
    return description->ops->events(description);
}

/* More bytes for a readable descriptor: an edge in epoll, but not everywhere, so programs must not
 * rely on it (epoll(7) promises an edge only from none to some). LATE: there is no new edge. */
static bool
coalesced(struct sim__description *description)
{
    struct sim_host *host = description->fds->host;
    return host->profile != SIM_PROFILE_WASI &&
           sim__one_in(
                   &description->source->actor, SIM_KIND_LATE, host->world->options.late_one_in);
}

void
sim__description_readable(struct sim__description *description, bool was_readable)
{
    if (!was_readable || !coalesced(description)) {
        sim__description_edge(description, SIM_FD_IN);
    }
    sim__source_level(description->source, true);
}

void
sim__description_taken(struct sim__description *description)
{
    const struct sim__merged merged = {description->writes, description->fds->host->world->step};
    if (merged.writes > 1) {
        bool first = description->first_merged.writes == 0;
        description->first_merged = first ? merged : description->first_merged;
        description->last_merged = merged;
    }
    description->writes = 0;
}

/* ---- Calls on any descriptor. ---------------------------------------------------------------- */

rt_err
sim_fd_dup(struct sim_fds *fds, int fd, int *ret_fd)
{
    rt_assert(ret_fd != NULL);
    sim__fds_call(fds, "dup");
    struct sim__description *description = sim__fd_get(fds, fd);
    if (description == NULL) {
        return RT_E_STALE;
    }
    rt_err err = sim__fd_available(fds, 1);
    if (err != RT_OK) {
        return err;
    }
    *ret_fd = sim__fd_open(description);
    return RT_OK;
}

rt_err
sim_fd_close(struct sim_fds *fds, int fd)
{
    sim__fds_call(fds, "close");
    struct sim__description *description = sim__fd_get(fds, fd);
    if (description == NULL) {
        return RT_E_STALE;
    }
    sim__fd_free(fds, fd);
    return RT_OK;
}

int64_t
sim_fd_read_at(struct sim_fds *fds, int fd, void *buffer, size_t size, const struct rt_site *await)
{
    rt_assert(buffer != NULL);
    sim__fds_call(fds, "read");
    struct sim__description *description = sim__fd_get(fds, fd);
    if (description == NULL) {
        return RT_E_STALE;
    }
    if (description->ops->sys != NULL) {
        return sim__sys_read_as_fd(description, buffer, size, await);
    }
    if (size == 0 || description->ops->read == NULL) {
        return RT_E_INVALID;
    }
    return description->ops->read(description, buffer, size, await);
}

int64_t
sim_fd_write_at(
        struct sim_fds *fds, int fd, const void *buffer, size_t size, const struct rt_site *await)
{
    rt_assert(buffer != NULL);
    sim__fds_call(fds, "write");
    struct sim__description *description = sim__fd_get(fds, fd);
    if (description == NULL) {
        return RT_E_STALE;
    }
    if (description->ops->sys != NULL) {
        return sim__sys_write_as_fd(description, buffer, size, await);
    }
    if (size == 0 || description->ops->write == NULL) {
        return RT_E_INVALID;
    }
    int64_t moved = description->ops->write(description, buffer, size, await);
    description->refused = moved == RT_E_AGAIN || (moved >= 0 && (size_t)moved < size);
    return moved;
}
