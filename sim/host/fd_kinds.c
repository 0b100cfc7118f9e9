/*
 * fd_kinds.c -- the kinds of descriptions: a pair's end, an eventfd, a listener; ends in general.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <string.h>

#include "sim/host/fd_priv.h"

/* Bytes that one direction of a pair holds, with those in flight. */
#define PIPE_SIZE 4096u

/* ---- Ends of a connection. ------------------------------------------------------------------- */

uint32_t
sim__end_space(const struct sim__end *end)
{
    return end->peer != NULL ? sim__pipe_space(&end->peer->in) : end->space_left;
}

bool
sim__end_writable(const struct sim__end *end)
{
    uint32_t least = end->least > 0 ? end->least : 1;
    return sim__end_space(end) >= least;
}

void
sim__end_unlink(struct sim__end *end)
{
    struct sim__end *peer = end->peer;
    if (peer != NULL) {
        peer->space_left = sim__pipe_space(&end->in);
        peer->peer = NULL;
        end->peer = NULL;
    }
}

void
sim__end_land(struct sim__end *end, uint64_t amount)
{
    bool was_readable = end->in.there > 0;
    sim__pipe_land(&end->in, amount);
    sim__description_readable(&end->description, was_readable);
}

int64_t
sim__end_read(struct sim__end *end, void *buffer, size_t size, const struct rt_site *await)
{
    struct sim_source *source = end->description.source;
    if (end->in.there == 0) {
        return end->ended ? 0 : RT_E_AGAIN;
    }
    bool was_full = end->peer != NULL && !sim__end_writable(end->peer);
    size_t full = end->in.there < size ? end->in.there : size;
    uint32_t moved = (uint32_t)sim_actor_length(&source->actor, full);
    sim__pipe_take(&end->in, buffer, moved);
    sim__source_moved(source, SIM_EVENT_READ, await, moved);
    sim__source_level(source, end->in.there > 0 || end->ended);
    if (was_full && sim__end_writable(end->peer)) {
        sim__description_edge(&end->peer->description, SIM_FD_OUT);
        sim__host_changed(end->peer->description.fds->host);
    }
    return (int64_t)moved;
}

int64_t
sim__end_write(struct sim__end *end, const void *buffer, size_t size, const struct rt_site *await)
{
    struct sim_source *source = end->description.source;
    size_t space = sim__end_space(end);
    if (!sim__end_writable(end)) {
        return RT_E_AGAIN;
    }
    uint64_t moved = sim_actor_length(&source->actor, space < size ? space : size);
    sim__source_moved(source, SIM_EVENT_WRITE, await, moved);
    if (end->peer != NULL) {
        sim__pipe_put(&end->peer->in, buffer, (uint32_t)moved);
    } else {
        end->space_left -= (uint32_t)moved;
    }
    return (int64_t)moved;
}

/* ---- Pairs. ---------------------------------------------------------------------------------- */

struct pair_end {
    struct sim__end end;
    uint64_t min_ns;
    uint64_t max_ns;
    bool broken; /* The peer closed without having read everything. */
    bool silent; /* This end has no number, and stays open. */
};

static struct pair_end *
pair_end_of(const struct sim__description *description)
{
    return rt_container_of(description, struct pair_end, end.description);
}

static uint32_t
pair_end_events(const struct sim__description *description)
{
    const struct pair_end *pair = pair_end_of(description);
    const struct sim__end *end = &pair->end;
    uint32_t events = 0;
    if (end->in.there > 0 || end->ended) {
        events |= SIM_FD_IN;
    }
    if (end->ended || sim__end_space(end) > 0) {
        events |= SIM_FD_OUT;
    }
    if (end->ended) {
        events |= pair->broken ? SIM_FD_HUP | SIM_FD_ERR : SIM_FD_HUP;
    }
    return events;
}

static void
pair_end_arrived(void *argument, uint64_t amount)
{
    struct sim__end *end = &pair_end_of(argument)->end;
    if (amount > 0) {
        sim__end_land(end, amount);
        return;
    }
    end->ended = true;
    sim__description_edge(&end->description, SIM_FD_IN | SIM_FD_OUT | SIM_FD_HUP);
    sim__source_level(end->description.source, true);
}

/* To the other end of `pair`, which is open; 0: this end is closed. */
static void
pair_end_send(const struct pair_end *to, uint64_t amount)
{
    sim__source_arrive_in(to->end.description.source, amount, to->min_ns, to->max_ns);
}

static int64_t
pair_end_read(struct sim__description *description, void *buffer, size_t size,
        const struct rt_site *await)
{
    return sim__end_read(&pair_end_of(description)->end, buffer, size, await);
}

static int64_t
pair_end_write(struct sim__description *description, const void *buffer, size_t size,
        const struct rt_site *await)
{
    struct sim__end *end = &pair_end_of(description)->end;
    int64_t moved = end->ended ? RT_E_CLOSED : sim__end_write(end, buffer, size, await);
    /* Where it is not yet known here that the peer has closed, the bytes are lost. */
    if (moved > 0 && end->peer != NULL) {
        pair_end_send(pair_end_of(&end->peer->description), (uint64_t)moved);
    }
    return moved;
}

static void
pair_end_closed(struct sim__description *description)
{
    struct sim__end *end = &pair_end_of(description)->end;
    struct pair_end *peer = end->peer != NULL ? pair_end_of(&end->peer->description) : NULL;
    sim__end_unlink(end);
    if (peer != NULL && !peer->silent) {
        peer->broken = end->in.there + end->in.flying > 0;
        pair_end_send(peer, 0);
    }
}

static uint32_t
pair_end_left(const struct sim__description *description)
{
    return rt_container_of(description, struct sim__end, description)->in.there;
}

static const struct sim__description_ops pair_end_ops = {.arrived = pair_end_arrived,
        .left = pair_end_left,
        .events = pair_end_events,
        .read = pair_end_read,
        .write = pair_end_write,
        .closed = pair_end_closed};

static struct pair_end *
pair_end_new(struct sim_fds *fds, const char *name, uint64_t min_ns, uint64_t max_ns)
{
    rt_assert(min_ns <= max_ns);
    struct pair_end *pair = sim_new(fds->host->world, struct pair_end);
    sim__description_init(&pair->end.description, fds, &pair_end_ops, name);
    pair->end.in.bytes = sim_alloc(fds->host->world, PIPE_SIZE);
    pair->end.in.size = PIPE_SIZE;
    pair->min_ns = min_ns;
    pair->max_ns = max_ns;
    return pair;
}

static void
pair_connect(struct pair_end *a, struct pair_end *b)
{
    a->end.peer = &b->end;
    b->end.peer = &a->end;
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
    struct pair_end *a = pair_end_new(fds, name, min_ns, max_ns);
    struct pair_end *b = pair_end_new(
            fds, sim__name_join(fds->host->world, name, ", other end"), min_ns, max_ns);
    pair_connect(a, b);
    ret_fd[0] = sim__fd_open(&a->end.description);
    ret_fd[1] = sim__fd_open(&b->end.description);
    return RT_OK;
}

/* ---- Eventfds. ------------------------------------------------------------------------------- */

struct counter {
    struct sim__description description;
    uint64_t count;
    bool repeats; /* A read takes one only. */
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
    uint64_t taken = counter->repeats ? 1 : counter->count;
    memcpy(buffer, &taken, sizeof taken);
    counter->count -= taken;
    sim__description_taken(description);
    sim__source_moved(description->source, SIM_EVENT_READ, await, sizeof counter->count);
    sim__source_level(description->source, counter->count > 0);
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

static void
counter_repeat(struct sim__description *description, uint32_t times)
{
    counter_of(description)->repeats = true;
    sim__source_arrive_now(description->source, times);
}

static const struct sim__description_ops counter_ops = {.arrived = counter_arrived,
        .events = counter_events,
        .read = counter_read,
        .write = counter_write,
        .repeat = counter_repeat};

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
    const struct sim_call call = {.number = SIM_CALL_sim_fd_notify, .fd = (uint32_t)fd};
    sim_world_called(fds->host->world, &call, description->source->object, 0);
    description->writes++;
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

static uint32_t
listener_left(const struct sim__description *description)
{
    return listener_of(description)->waiting;
}

static const struct sim__description_ops listener_ops = {
        .arrived = listener_arrived, .events = listener_events, .left = listener_left};

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

static struct pair_end *
accepted_end(const struct listener *listener, const char *suffix)
{
    struct sim_fds *fds = listener->description.fds;
    const char *name = sim__name_join(fds->host->world, listener->description.source->name, suffix);
    return pair_end_new(fds, name, listener->min_ns, listener->max_ns);
}

/* Takes a waiting connection. There is one, and there are free numbers. */
static void
take_connection(struct listener *listener, int *ret_fd, int *ret_peer)
{
    struct sim_source *source = listener->description.source;
    listener->waiting--;
    struct pair_end *near = accepted_end(listener, ", accepted");
    struct pair_end *far = accepted_end(listener, ", peer");
    pair_connect(near, far);
    sim__source_moved(source, 0, NULL, 1);
    sim__source_level(source, listener->waiting > 0);
    *ret_fd = sim__fd_open(&near->end.description);
    far->silent = ret_peer == NULL;
    if (ret_peer != NULL) {
        *ret_peer = sim__fd_open(&far->end.description);
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
