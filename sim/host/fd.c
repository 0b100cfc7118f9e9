/*
 * fd.c -- descriptors: numbers, what they stand for, and moving bytes.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "sim/host/fd.h"

#include <string.h>

#include "sim/host/fd_priv.h"

/* Numbers of one table. */
#define NUMBERS_MAX 1024u

struct sim_fds *
sim_fds_new(struct sim_host *host, int first)
{
    rt_check(host, SIM__HOST_MAGIC);
    rt_assert(first >= 0);
    struct sim_fds *fds = sim_new(host->world, struct sim_fds);
    fds->magic = SIM__FDS_MAGIC;
    fds->first = first;
    fds->host = host;
    fds->object = sim_world_object(host->world, RT_OBJECT_SOURCE);
    rt_list_init(&fds->registrations);
    rt_list_init(&fds->spare);
    rt_list_push_back(&host->tables, &fds->link);
    sim_record_text(&host->world->recorder, SIM_TEXT_OBJECT, fds->object, "descriptors",
            strlen("descriptors"));
    return fds;
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

static void
grow(struct sim_fds *fds)
{
    uint32_t capacity = fds->capacity == 0 ? 16 : 2 * fds->capacity;
    struct sim__description **numbers = sim_zalloc(fds->host->world, capacity * sizeof *numbers);
    if (fds->capacity > 0) {
        memcpy(numbers, fds->numbers, fds->capacity * sizeof *numbers);
    }
    fds->numbers = numbers;
    fds->capacity = capacity;
}

/* Whether `count` more numbers can be had. */
static rt_err
room_for(struct sim_fds *fds, uint32_t count)
{
    rt_check(fds, SIM__FDS_MAGIC);
    uint32_t free_count = NUMBERS_MAX;
    for (uint32_t i = 0; i < fds->capacity; i++) {
        free_count -= fds->numbers[i] != NULL;
    }
    if (free_count < count || sim__fault(fds->host, SIM_FAULT_CAPACITY)) {
        return RT_E_FULL;
    }
    return RT_OK;
}

/* Gives `description` the lowest free number. There must be one (room_for). */
static int
number_open(struct sim__description *description)
{
    struct sim_fds *fds = description->fds;
    uint32_t place = 0;
    while (place < fds->capacity && fds->numbers[place] != NULL) {
        place++;
    }
    if (place == fds->capacity) {
        grow(fds);
    }
    rt_assert(place < NUMBERS_MAX);
    fds->numbers[place] = description;
    description->numbers++;
    int number = fds->first + (int)place;
    sim_world_event(
            fds->host->world, SIM_EVENT_OPEN, description->source->object, 0, 0, (uint64_t)number);
    return number;
}

/* ---- Descriptions. --------------------------------------------------------------------------- */

static struct sim__description *
description_new(struct sim_fds *fds, enum sim__description_kind kind, const char *name,
        void (*arrived)(void *argument, uint64_t amount), uint64_t min_ns, uint64_t max_ns)
{
    rt_check(fds, SIM__FDS_MAGIC);
    rt_assert(min_ns <= max_ns);
    struct sim__description *description = sim_new(fds->host->world, struct sim__description);
    description->kind = kind;
    description->fds = fds;
    description->min_ns = min_ns;
    description->max_ns = max_ns;
    description->source = sim__source_new(fds->host, name, arrived, description);
    return description;
}

static uint32_t
pair_events(const struct sim__description *end)
{
    const struct sim__description *peer = end->peer;
    uint32_t events = 0;
    if (end->there > 0 || end->ended) {
        events |= SIM_FD_IN;
    }
    if (peer == NULL || peer->there + peer->flying < SIM__PIPE_ROOM) {
        events |= SIM_FD_OUT;
    }
    if (end->ended) {
        events |= SIM_FD_HUP;
    }
    if (end->broken && end->ended) {
        events |= SIM_FD_ERR;
    }
    return events;
}

uint32_t
sim__description_events(const struct sim__description *description)
{
    switch (description->kind) {
    case SIM__PAIR:
        return pair_events(description);
    case SIM__EVENT:
        return description->counter > 0 ? SIM_FD_IN | SIM_FD_OUT : SIM_FD_OUT;
    case SIM__LISTENER:
        return description->waiting > 0 ? SIM_FD_IN : 0;
    }
    rt_unreached("every kind of description has its events");
}

/* More of what was there already: an edge in epoll, but not everywhere, and nobody may rely on it
 * (B11). LATE: the edge is one with the earlier one. */
static bool
coalesced(struct sim__description *description)
{
    struct sim_host *host = description->fds->host;
    return host->profile != SIM_PROFILE_WASI &&
           sim__one_in(
                   &description->source->actor, SIM_KIND_LATE, host->world->options.late_one_in);
}

static void
became_readable(struct sim__description *description, bool was_readable)
{
    if (!was_readable || !coalesced(description)) {
        sim__description_edge(description, SIM_FD_IN);
    }
    sim__source_level(description->source, true);
}

/* ---- Pairs. ---------------------------------------------------------------------------------- */

static void
pair_arrived(void *argument, uint64_t amount)
{
    struct sim__description *end = argument;
    if (amount == 0) {
        end->ended = true;
        sim__description_edge(end, SIM_FD_IN | SIM_FD_OUT | SIM_FD_HUP);
        sim__source_level(end->source, true);
        return;
    }
    rt_assert(amount <= end->flying);
    bool was_readable = end->there > 0;
    end->flying -= (uint32_t)amount;
    end->there += (uint32_t)amount;
    became_readable(end, was_readable);
}

static struct sim__description *
end_new(struct sim_fds *fds, const char *name, uint64_t min_ns, uint64_t max_ns)
{
    struct sim__description *end =
            description_new(fds, SIM__PAIR, name, pair_arrived, min_ns, max_ns);
    end->bytes = sim_alloc(fds->host->world, SIM__PIPE_ROOM);
    return end;
}

static void
ends_connect(struct sim__description *a, struct sim__description *b)
{
    a->peer = b;
    b->peer = a;
}

rt_err
sim_fd_pair(struct sim_fds *fds, const char *name, uint64_t min_ns, uint64_t max_ns, int ret_fd[2])
{
    rt_assert(ret_fd != NULL);
    rt_err err = room_for(fds, 2);
    if (err != RT_OK) {
        return err;
    }
    struct sim__description *a = end_new(fds, name, min_ns, max_ns);
    struct sim__description *b =
            end_new(fds, sim__name_join(fds->host->world, name, ", other end"), min_ns, max_ns);
    ends_connect(a, b);
    ret_fd[0] = number_open(a);
    ret_fd[1] = number_open(b);
    return RT_OK;
}

/* Copies `size` bytes behind all others of `end`. */
static void
pipe_put(struct sim__description *end, const char *from, uint32_t size)
{
    rt_assert(end->there + end->flying + size <= SIM__PIPE_ROOM);
    uint32_t tail = end->head + end->there + end->flying;
    for (uint32_t i = 0; i < size; i++) {
        end->bytes[(tail + i) % SIM__PIPE_ROOM] = from[i];
    }
    end->flying += size;
}

static void
pipe_take(struct sim__description *end, char *to, uint32_t size)
{
    rt_assert(size <= end->there);
    for (uint32_t i = 0; i < size; i++) {
        to[i] = end->bytes[(end->head + i) % SIM__PIPE_ROOM];
    }
    end->head = (end->head + size) % SIM__PIPE_ROOM;
    end->there -= size;
}

static int64_t
pair_read(struct sim__description *end, char *buffer, size_t size, const struct rt_site *await)
{
    if (end->there == 0) {
        return end->ended ? 0 : RT_E_AGAIN;
    }
    struct sim__description *peer = end->peer;
    bool was_full = end->there + end->flying == SIM__PIPE_ROOM;
    size_t full = end->there < size ? end->there : size;
    uint32_t moved = (uint32_t)sim_actor_length(&end->source->actor, full);
    pipe_take(end, buffer, moved);
    sim__source_moved(end->source, SIM_EVENT_READ, await, moved);
    sim__source_level(end->source, end->there > 0 || end->ended);
    if (was_full && peer != NULL) {
        sim__description_edge(peer, SIM_FD_OUT);
        sim__host_stir(end->fds->host);
    }
    return (int64_t)moved;
}

static int64_t
pair_write(
        struct sim__description *end, const char *buffer, size_t size, const struct rt_site *await)
{
    struct sim__description *peer = end->peer;
    if (end->ended) {
        return RT_E_CLOSED;
    }
    size_t room = peer == NULL ? size : SIM__PIPE_ROOM - peer->there - peer->flying;
    if (room == 0) {
        return RT_E_AGAIN;
    }
    size_t full = room < size ? room : size;
    uint64_t moved = sim_actor_length(&end->source->actor, full);
    sim__source_moved(end->source, SIM_EVENT_WRITE, await, moved);
    /* Nobody knows yet that the peer has closed: what is written is lost on the way. */
    if (peer != NULL) {
        pipe_put(peer, buffer, (uint32_t)moved);
        sim__source_arrive_in(peer->source, moved, peer->min_ns, peer->max_ns);
    }
    return (int64_t)moved;
}

static void
pair_close(struct sim__description *end)
{
    struct sim__description *peer = end->peer;
    if (peer == NULL) {
        return;
    }
    peer->peer = NULL;
    end->peer = NULL;
    if (!peer->silent) {
        peer->broken = end->there + end->flying > 0;
        sim__source_arrive_in(peer->source, 0, peer->min_ns, peer->max_ns);
    }
}

/* ---- Eventfds. ------------------------------------------------------------------------------- */

static void
counter_arrived(void *argument, uint64_t amount)
{
    struct sim__description *event = argument;
    bool was_readable = event->counter > 0;
    event->counter = sim__later(event->counter, amount);
    became_readable(event, was_readable);
}

rt_err
sim_fd_event_open(struct sim_fds *fds, const char *name, int *ret_fd)
{
    rt_assert(ret_fd != NULL);
    rt_err err = room_for(fds, 1);
    if (err != RT_OK) {
        return err;
    }
    *ret_fd = number_open(description_new(fds, SIM__EVENT, name, counter_arrived, 0, 0));
    return RT_OK;
}

static int64_t
counter_read(struct sim__description *event, void *buffer, size_t size, const struct rt_site *await)
{
    if (size < sizeof event->counter) {
        return RT_E_INVALID;
    }
    if (event->counter == 0) {
        return RT_E_AGAIN;
    }
    memcpy(buffer, &event->counter, sizeof event->counter);
    event->counter = 0;
    sim__source_moved(event->source, SIM_EVENT_READ, await, sizeof event->counter);
    sim__source_level(event->source, false);
    return (int64_t)sizeof event->counter;
}

static int64_t
counter_write(struct sim__description *event, const void *buffer, size_t size)
{
    uint64_t amount = 0;
    if (size != sizeof amount) {
        return RT_E_INVALID;
    }
    memcpy(&amount, buffer, sizeof amount);
    if (amount > 0) {
        sim__source_arrive_now(event->source, amount);
    }
    return (int64_t)sizeof amount;
}

rt_err
sim_fd_notify(struct sim_fds *fds, int fd)
{
    struct sim__description *description = sim__fd_get(fds, fd);
    if (description == NULL) {
        return RT_E_STALE;
    }
    if (description->kind != SIM__EVENT) {
        return RT_E_INVALID;
    }
    sim__source_arrive_now(description->source, 1);
    return RT_OK;
}

/* ---- Listeners. ------------------------------------------------------------------------------ */

static void
connection_arrived(void *argument, uint64_t amount)
{
    struct sim__description *listener = argument;
    rt_assert(amount == 1);
    rt_assert(listener->to_come > 0);
    bool was_readable = listener->waiting++ > 0;
    if (--listener->to_come > 0) {
        sim__source_arrive_in(listener->source, 1, listener->min_ns, listener->max_ns);
    }
    became_readable(listener, was_readable);
}

rt_err
sim_fd_listen(struct sim_fds *fds, const char *name, uint32_t count, uint64_t min_ns,
        uint64_t max_ns, int *ret_fd)
{
    rt_assert(ret_fd != NULL);
    rt_err err = room_for(fds, 1);
    if (err != RT_OK) {
        return err;
    }
    struct sim__description *listener =
            description_new(fds, SIM__LISTENER, name, connection_arrived, min_ns, max_ns);
    listener->to_come = count;
    if (count > 0) {
        sim__source_arrive_in(listener->source, 1, min_ns, max_ns);
    }
    *ret_fd = number_open(listener);
    return RT_OK;
}

static struct sim__description *
accepted_end(const struct sim__description *listener, const char *suffix)
{
    struct sim_fds *fds = listener->fds;
    const char *name = sim__name_join(fds->host->world, listener->source->name, suffix);
    return end_new(fds, name, listener->min_ns, listener->max_ns);
}

rt_err
sim_fd_accept(struct sim_fds *fds, int listener, int *ret_fd, int *ret_peer)
{
    rt_assert(ret_fd != NULL);
    struct sim__description *from = sim__fd_get(fds, listener);
    if (from == NULL) {
        return RT_E_STALE;
    }
    if (from->kind != SIM__LISTENER) {
        return RT_E_INVALID;
    }
    if (from->waiting == 0) {
        return RT_E_AGAIN;
    }
    /* Before the connection is taken: no number is no reason to lose it. */
    rt_err err = room_for(fds, ret_peer != NULL ? 2 : 1);
    if (err != RT_OK) {
        return err;
    }
    from->waiting--;
    struct sim__description *near = accepted_end(from, ", accepted");
    struct sim__description *far = accepted_end(from, ", peer");
    ends_connect(near, far);
    sim__source_moved(from->source, 0, NULL, 1);
    sim__source_level(from->source, from->waiting > 0);
    *ret_fd = number_open(near);
    far->silent = ret_peer == NULL;
    if (ret_peer != NULL) {
        *ret_peer = number_open(far);
    }
    return RT_OK;
}

/* ---- Calls on any descriptor. ---------------------------------------------------------------- */

rt_err
sim_fd_dup(struct sim_fds *fds, int fd, int *ret_fd)
{
    rt_assert(ret_fd != NULL);
    struct sim__description *description = sim__fd_get(fds, fd);
    if (description == NULL) {
        return RT_E_STALE;
    }
    rt_err err = room_for(fds, 1);
    if (err != RT_OK) {
        return err;
    }
    *ret_fd = number_open(description);
    return RT_OK;
}

rt_err
sim_fd_close(struct sim_fds *fds, int fd)
{
    struct sim__description *description = sim__fd_get(fds, fd);
    if (description == NULL) {
        return RT_E_STALE;
    }
    rt_assert(description->numbers > 0);
    fds->numbers[fd - fds->first] = NULL;
    sim_world_event(
            fds->host->world, SIM_EVENT_CLOSE, description->source->object, 0, 0, (uint64_t)fd);
    if (--description->numbers > 0) {
        return RT_OK;
    }
    sim__description_forget(description);
    if (description->kind == SIM__PAIR) {
        pair_close(description);
    }
    sim__source_end(description->source);
    return RT_OK;
}

int64_t
sim_fd_read_at(struct sim_fds *fds, int fd, void *buffer, size_t size, const struct rt_site *await)
{
    rt_assert(buffer != NULL);
    struct sim__description *description = sim__fd_get(fds, fd);
    if (description == NULL) {
        return RT_E_STALE;
    }
    if (size == 0 || description->kind == SIM__LISTENER) {
        return RT_E_INVALID;
    }
    return description->kind == SIM__PAIR ? pair_read(description, buffer, size, await)
                                          : counter_read(description, buffer, size, await);
}

int64_t
sim_fd_write_at(
        struct sim_fds *fds, int fd, const void *buffer, size_t size, const struct rt_site *await)
{
    rt_assert(buffer != NULL);
    struct sim__description *description = sim__fd_get(fds, fd);
    if (description == NULL) {
        return RT_E_STALE;
    }
    if (size == 0 || description->kind == SIM__LISTENER) {
        return RT_E_INVALID;
    }
    return description->kind == SIM__PAIR ? pair_write(description, buffer, size, await)
                                          : counter_write(description, buffer, size);
}
