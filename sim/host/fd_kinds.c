/*
 * fd_kinds.c -- the kinds of descriptions: a pair's end, an eventfd, a listener.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <string.h>

#include "sim/host/fd_priv.h"
#include "sim/host/pipe.h"

/* Bytes that one direction of a pair holds, with those in flight. */
#define PIPE_SIZE 4096u

/* ---- Pairs. ---------------------------------------------------------------------------------- */

struct end {
    struct sim__description description;
    struct end *peer;      /* NULL: closed. */
    uint32_t space_left;   /* With no peer: what could be written then, less what was since. */
    struct sim__pipe pipe; /* Bytes to read here, some still in flight. */
    uint64_t min_ns;
    uint64_t max_ns;
    bool ended;  /* It is known here that the peer has closed. */
    bool broken; /* It closed without having read everything. */
    bool silent; /* This end has no number, and stays open. */
};

static struct end *
end_of(const struct sim__description *description)
{
    return rt_container_of(description, struct end, description);
}

/* As known here: until the close of the peer has arrived, its space does not grow. */
static uint32_t
end_space(const struct end *end)
{
    return end->peer != NULL ? sim__pipe_space(&end->peer->pipe) : end->space_left;
}

static uint32_t
end_events(const struct sim__description *description)
{
    const struct end *end = end_of(description);
    uint32_t events = 0;
    if (end->pipe.there > 0 || end->ended) {
        events |= SIM_FD_IN;
    }
    if (end->ended || end_space(end) > 0) {
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

static void
end_arrived(void *argument, uint64_t amount)
{
    struct end *end = end_of(argument);
    if (amount == 0) {
        end->ended = true;
        sim__description_edge(&end->description, SIM_FD_IN | SIM_FD_OUT | SIM_FD_HUP);
        sim__source_level(end->description.source, true);
        return;
    }
    bool was_readable = end->pipe.there > 0;
    sim__pipe_land(&end->pipe, amount);
    sim__description_readable(&end->description, was_readable);
}

static int64_t
end_read(struct sim__description *description, void *buffer, size_t size,
        const struct rt_site *await)
{
    struct end *end = end_of(description);
    if (end->pipe.there == 0) {
        return end->ended ? 0 : RT_E_AGAIN;
    }
    struct sim_source *source = description->source;
    bool was_full = sim__pipe_space(&end->pipe) == 0;
    size_t full = end->pipe.there < size ? end->pipe.there : size;
    uint32_t moved = (uint32_t)sim_actor_length(&source->actor, full);
    sim__pipe_take(&end->pipe, buffer, moved);
    sim__source_moved(source, SIM_EVENT_READ, await, moved);
    sim__source_level(source, end->pipe.there > 0 || end->ended);
    if (was_full && end->peer != NULL) {
        sim__description_edge(&end->peer->description, SIM_FD_OUT);
        sim__host_changed(description->fds->host);
    }
    return (int64_t)moved;
}

static int64_t
end_write(struct sim__description *description, const void *buffer, size_t size,
        const struct rt_site *await)
{
    struct end *end = end_of(description);
    struct end *peer = end->peer;
    if (end->ended) {
        return RT_E_CLOSED;
    }
    size_t space = end_space(end);
    if (space == 0) {
        return RT_E_AGAIN;
    }
    size_t full = space < size ? space : size;
    uint64_t moved = sim_actor_length(&description->source->actor, full);
    sim__source_moved(description->source, SIM_EVENT_WRITE, await, moved);
    /* It is not yet known here that the peer has closed: the bytes are lost. */
    if (peer != NULL) {
        sim__pipe_put(&peer->pipe, buffer, (uint32_t)moved);
        sim__source_arrive_in(peer->description.source, moved, peer->min_ns, peer->max_ns);
    } else {
        end->space_left -= (uint32_t)moved;
    }
    return (int64_t)moved;
}

static void
end_closed(struct sim__description *description)
{
    struct end *end = end_of(description);
    struct end *peer = end->peer;
    if (peer == NULL) {
        return;
    }
    peer->space_left = sim__pipe_space(&end->pipe);
    peer->peer = NULL;
    end->peer = NULL;
    if (!peer->silent) {
        peer->broken = end->pipe.there + end->pipe.flying > 0;
        sim__source_arrive_in(peer->description.source, 0, peer->min_ns, peer->max_ns);
    }
}

static const struct sim__description_ops end_ops = {.arrived = end_arrived,
        .events = end_events,
        .read = end_read,
        .write = end_write,
        .closed = end_closed};

static struct end *
end_new(struct sim_fds *fds, const char *name, uint64_t min_ns, uint64_t max_ns)
{
    rt_assert(min_ns <= max_ns);
    struct end *end = sim_new(fds->host->world, struct end);
    sim__description_init(&end->description, fds, &end_ops, name);
    end->pipe.bytes = sim_alloc(fds->host->world, PIPE_SIZE);
    end->pipe.size = PIPE_SIZE;
    end->min_ns = min_ns;
    end->max_ns = max_ns;
    return end;
}

static void
ends_connect(struct end *a, struct end *b)
{
    a->peer = b;
    b->peer = a;
}

rt_err
sim_fd_pair(struct sim_fds *fds, const char *name, uint64_t min_ns, uint64_t max_ns, int ret_fd[2])
{
    rt_assert(ret_fd != NULL);
    sim__fds_call(fds, "pair");
    rt_err err = sim__fd_available(fds, 2);
    if (err != RT_OK) {
        return err;
    }
    struct end *a = end_new(fds, name, min_ns, max_ns);
    struct end *b =
            end_new(fds, sim__name_join(fds->host->world, name, ", other end"), min_ns, max_ns);
    ends_connect(a, b);
    ret_fd[0] = sim__fd_open(&a->description);
    ret_fd[1] = sim__fd_open(&b->description);
    return RT_OK;
}

/* ---- Eventfds. ------------------------------------------------------------------------------- */

struct counter {
    struct sim__description description;
    uint64_t count;
};

static struct counter *
counter_of(const struct sim__description *description)
{
    return rt_container_of(description, struct counter, description);
}

static uint32_t
counter_events(const struct sim__description *description)
{
    return counter_of(description)->count > 0 ? SIM_FD_IN | SIM_FD_OUT : SIM_FD_OUT;
}

static void
counter_arrived(void *argument, uint64_t amount)
{
    struct counter *counter = counter_of(argument);
    bool was_readable = counter->count > 0;
    counter->count = sim__later(counter->count, amount);
    sim__description_readable(&counter->description, was_readable);
}

static int64_t
counter_read(struct sim__description *description, void *buffer, size_t size,
        const struct rt_site *await)
{
    struct counter *counter = counter_of(description);
    if (size < sizeof counter->count) {
        return RT_E_INVALID;
    }
    if (counter->count == 0) {
        return RT_E_AGAIN;
    }
    memcpy(buffer, &counter->count, sizeof counter->count);
    counter->count = 0;
    sim__source_moved(description->source, SIM_EVENT_READ, await, sizeof counter->count);
    sim__source_level(description->source, false);
    return (int64_t)sizeof counter->count;
}

static int64_t
counter_write(struct sim__description *description, const void *buffer, size_t size,
        const struct rt_site *await)
{
    uint64_t amount = 0;
    (void)await;
    if (size != sizeof amount) {
        return RT_E_INVALID;
    }
    memcpy(&amount, buffer, sizeof amount);
    if (amount > 0) {
        sim__source_arrive_now(description->source, amount);
    }
    return (int64_t)sizeof amount;
}

static const struct sim__description_ops counter_ops = {.arrived = counter_arrived,
        .events = counter_events,
        .read = counter_read,
        .write = counter_write};

rt_err
sim_fd_event_open(struct sim_fds *fds, const char *name, int *ret_fd)
{
    rt_assert(ret_fd != NULL);
    sim__fds_call(fds, "event_open");
    rt_err err = sim__fd_available(fds, 1);
    if (err != RT_OK) {
        return err;
    }
    struct counter *counter = sim_new(fds->host->world, struct counter);
    sim__description_init(&counter->description, fds, &counter_ops, name);
    *ret_fd = sim__fd_open(&counter->description);
    return RT_OK;
}

rt_err
sim_fd_notify(struct sim_fds *fds, int fd)
{
    sim__fds_call(fds, "notify");
    struct sim__description *description = sim__fd_get(fds, fd);
    if (description == NULL) {
        return RT_E_STALE;
    }
    if (description->ops != &counter_ops) {
        return RT_E_INVALID;
    }
    sim__source_arrive_now(description->source, 1);
    return RT_OK;
}

/* ---- Listeners. ------------------------------------------------------------------------------ */

struct listener {
    struct sim__description description;
    uint32_t waiting;
    uint32_t to_come;
    uint64_t min_ns;
    uint64_t max_ns;
};

static struct listener *
listener_of(const struct sim__description *description)
{
    return rt_container_of(description, struct listener, description);
}

static uint32_t
listener_events(const struct sim__description *description)
{
    return listener_of(description)->waiting > 0 ? SIM_FD_IN : 0;
}

static void
listener_arrived(void *argument, uint64_t amount)
{
    struct listener *listener = listener_of(argument);
    rt_assert(amount == 1);
    rt_assert(listener->to_come > 0);
    struct sim_source *source = listener->description.source;
    bool was_readable = listener->waiting++ > 0;
    if (--listener->to_come > 0) {
        sim__source_arrive_in(source, 1, listener->min_ns, listener->max_ns);
    }
    sim__description_readable(&listener->description, was_readable);
}

static const struct sim__description_ops listener_ops = {
        .arrived = listener_arrived, .events = listener_events};

rt_err
sim_fd_listen(struct sim_fds *fds, const char *name, uint32_t count, uint64_t min_ns,
        uint64_t max_ns, int *ret_fd)
{
    rt_assert(ret_fd != NULL);
    rt_assert(min_ns <= max_ns);
    sim__fds_call(fds, "listen");
    rt_err err = sim__fd_available(fds, 1);
    if (err != RT_OK) {
        return err;
    }
    struct listener *listener = sim_new(fds->host->world, struct listener);
    sim__description_init(&listener->description, fds, &listener_ops, name);
    listener->min_ns = min_ns;
    listener->max_ns = max_ns;
    listener->to_come = count;
    if (count > 0) {
        sim__source_arrive_in(listener->description.source, 1, min_ns, max_ns);
    }
    *ret_fd = sim__fd_open(&listener->description);
    return RT_OK;
}

static struct end *
accepted_end(const struct listener *listener, const char *suffix)
{
    struct sim_fds *fds = listener->description.fds;
    const char *name = sim__name_join(fds->host->world, listener->description.source->name, suffix);
    return end_new(fds, name, listener->min_ns, listener->max_ns);
}

/* Takes a waiting connection. There is one, and there are free numbers. */
static void
take_connection(struct listener *listener, int *ret_fd, int *ret_peer)
{
    struct sim_source *source = listener->description.source;
    listener->waiting--;
    struct end *near = accepted_end(listener, ", accepted");
    struct end *far = accepted_end(listener, ", peer");
    ends_connect(near, far);
    sim__source_moved(source, 0, NULL, 1);
    sim__source_level(source, listener->waiting > 0);
    *ret_fd = sim__fd_open(&near->description);
    far->silent = ret_peer == NULL;
    if (ret_peer != NULL) {
        *ret_peer = sim__fd_open(&far->description);
    }
}

rt_err
sim_fd_accept(struct sim_fds *fds, int listener, int *ret_fd, int *ret_peer)
{
    rt_assert(ret_fd != NULL);
    sim__fds_call(fds, "accept");
    struct sim__description *from = sim__fd_get(fds, listener);
    if (from == NULL) {
        return RT_E_STALE;
    }
    if (from->ops != &listener_ops) {
        return RT_E_INVALID;
    }
    if (listener_of(from)->waiting == 0) {
        return RT_E_AGAIN;
    }
    /* Checked before the connection is taken: without a number it remains in the backlog. */
    rt_err err = sim__fd_available(fds, ret_peer != NULL ? 2 : 1);
    if (err == RT_OK) {
        take_connection(listener_of(from), ret_fd, ret_peer);
    }
    return err;
}
