/*
 * sys_inet.c -- sockets with addresses: how they are found, connected, and what flies between them.
 *
 *      connect ── ASK in flight ──▶ arrived: is there a listener?  ── queue ──▶ accept
 *                                        └─ no: refused
 *
 * What is on its way to a socket is an arrival of its source: a number of bytes, or one of the
 * signs of sys_inet_priv.h. Arrivals of one source keep their order.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <errno.h>
#include <string.h>

#include "sim/host/sys_inet_priv.h"

#define LATENCY_MIN_NS 20000u
#define LATENCY_MAX_NS 200000u
#define BUFFER_BYTES (SIM__PIPE_BYTES / 2) /* Of one end, for what it sends, or receives. */
#define OUT_SPACE(size) ((size) / 3)       /* From here on it is writable. */
#define LOCAL_WHOLE 32768u                 /* As in sys_unix.c. */
#define SENT_WHOLE 4096u /* A TCP socket has so much memory in any case: net.ipv4.tcp_wmem. */
#define DATAGRAM_MAX 65507u
#define DATAGRAMS_MAX 64u
#define TRIES_MAX 6u /* net.ipv4.tcp_syn_retries */
#define RETRY_NS UINT64_C(1000000000)

static const struct sim__description_ops inet_ops;
static void inet_arrived(void *argument, uint64_t amount);

struct sim__inet *
sim__inet_at(const struct sim_fds *fds, int fd, int *ret_err)
{
    struct sim__description *description = sim__fd_get(fds, fd);
    bool found = description != NULL && description->ops == &inet_ops;
    *ret_err = description == NULL ? -EBADF : found ? 0 : -ENOTSOCK;
    return found ? sim__inet_of(description) : NULL;
}

/* ---- What flies. ----------------------------------------------------------------------------- */

void
sim__inet_fly(struct sim__inet *to, uint64_t what)
{
    if (to->domain == AF_UNIX) {
        inet_arrived(&to->description, what);
    } else {
        sim__source_arrive_in(to->description.source, what, LATENCY_MIN_NS, LATENCY_MAX_NS);
    }
}

struct sim__inet *
sim__inet_new(struct sim_fds *fds, int domain, int type, const char *name)
{
    struct sim__inet *inet = sim_new(fds->host->world, struct sim__inet);
    sim__sys_init(&inet->description, fds, &inet_ops, name);
    inet->domain = domain;
    inet->type = type;
    inet->receive_size = SIM__PIPE_BYTES;
    inet->send_bytes = domain == AF_UNIX ? SIM__PIPE_BYTES : BUFFER_BYTES;
    inet->keep_bytes = domain == AF_UNIX ? 0 : BUFFER_BYTES;
    rt_list_init(&inet->link);
    rt_list_init(&inet->queue);
    rt_list_init(&inet->queue_link);
    rt_list_init(&inet->flying);
    rt_list_init(&inet->there);
    rt_list_push_back(&fds->sockets->all, &inet->link);
    return inet;
}

/* Bytes of a connection; a server that makes thousands, one after the other, needs few of them. */
static char *
take_bytes(struct sim_fds *fds, uint32_t size)
{
    char *bytes = fds->sockets->spare;
    if (size != SIM__PIPE_BYTES || bytes == NULL) {
        return sim_alloc(fds->host->world, size);
    }
    memcpy(&fds->sockets->spare, bytes, sizeof(fds->sockets->spare)); /* The next one. */
    return bytes;
}

static void
give_bytes_back(struct sim__inet *inet)
{
    struct sim__sockets *sockets = inet->description.fds->sockets;
    if (inet->in.bytes != NULL && inet->in.size == SIM__PIPE_BYTES) {
        memcpy(inet->in.bytes, &sockets->spare, sizeof(sockets->spare));
        sockets->spare = inet->in.bytes;
        inet->in = (struct sim__pipe){NULL, 0, 0, 0, 0};
    }
}

static void
connect_ends(struct sim__inet *a, struct sim__inet *b)
{
    struct sim__inet *both[2] = {a, b};
    for (int i = 0; i < 2; i++) {
        uint32_t size = both[i]->receive_size;
        both[i]->in.bytes = take_bytes(a->description.fds, size);
        both[i]->in.size = size;
        both[i]->state = SIM__INET_CONNECTED;
        both[i]->peer = both[1 - i];
    }
}

static void
fail(struct sim__inet *inet, int error)
{
    inet->state = SIM__INET_FAILED;
    inet->error = error;
    sim__sys_changed(&inet->description, SIM__ANYTHING, 1);
}

/* The queue of the listener is full: the request is dropped, and sent again. */
static void
ask_later(struct sim__inet *inet)
{
    if (inet->domain == AF_UNIX) {
        return; /* Its caller waits, or does not. */
    }
    if (++inet->tries > TRIES_MAX) {
        fail(inet, ETIMEDOUT);
        return;
    }
    sim__source_arrive_in(inet->description.source, SIM__ASK * SIM__INET_SIGN, RETRY_NS, RETRY_NS);
}

void
sim__inet_answer(struct sim__inet *inet)
{
    struct sim_fds *fds = inet->description.fds;
    struct sim__inet *listener = sim__inet_find(fds, &inet->peer_address, SOCK_STREAM, true);
    if (inet->state != SIM__INET_CONNECTING) {
        return; /* It was closed meanwhile. */
    }
    if (listener == NULL) {
        if (!inet->says[SIM_SYS_AWAITS_LISTENER]) {
            fail(inet, ECONNREFUSED);
        }
        return;
    }
    if (listener->queued > listener->backlog) {
        ask_later(inet);
        return;
    }
    struct sim__inet *end = sim__inet_new(
            listener->description.fds, inet->domain, SOCK_STREAM, "a connection, accepted");
    bool same = inet->domain == listener->domain;
    end->own = same ? inet->peer_address : listener->own;
    end->own_size = same ? inet->peer_size : listener->own_size;
    if (inet->domain != AF_UNIX) {
        end->description.read_wait_ns = listener->description.read_wait_ns;
        end->description.write_wait_ns = listener->description.write_wait_ns;
        end->send_bytes = listener->send_bytes;
        end->keep_bytes = listener->keep_bytes;
    }
    end->peer_address = inet->own;
    end->peer_size = inet->own_size;
    connect_ends(inet, end);
    rt_list_push_back(&listener->queue, &end->queue_link);
    listener->queued++;
    sim__sys_changed(&listener->description, SIM_FD_IN, 1);
    sim__sys_changed(&inet->description, SIM_FD_OUT, 0);
}

static void
take_sign(struct sim__inet *inet, enum sim__inet_sign sign)
{
    struct rt_list *node = NULL;
    switch (sign) {
    case SIM__ASK:
        sim__inet_answer(inet);
        return;
    case SIM__ENDED:
        inet->ended = true;
        sim__sys_changed(&inet->description, SIM__ANYTHING, 1);
        return;
    case SIM__RESETS: /* Where the peer had shut down before, a write is what it answers. */
        inet->peer = NULL;
        fail(inet, inet->ended && inet->domain != AF_UNIX ? EPIPE : ECONNRESET);
        inet->ended = true;
        return;
    case SIM__UNREACHED:
        inet->error = ECONNREFUSED;
        sim__sys_changed(&inet->description, SIM_FD_ERR, 1);
        return;
    case SIM__PACKET:
        node = rt_list_pop_front(&inet->flying);
        rt_assert(node != NULL);
        rt_list_push_back(&inet->there, node);
        inet->there_count++;
        sim__sys_changed(&inet->description, SIM_FD_IN, 1);
        return;
    }
}

static void
inet_arrived(void *argument, uint64_t amount)
{
    struct sim__inet *inet = sim__inet_of(argument);
    if (amount >= SIM__INET_SIGN) {
        take_sign(inet, (enum sim__inet_sign)(amount / SIM__INET_SIGN));
        return;
    }
    if (inet->in.flying >= amount) {
        sim__pipe_land(&inet->in, amount);
        sim__sys_changed(&inet->description, SIM_FD_IN, amount);
    }
}

/* ---- As a descriptor. ------------------------------------------------------------------------ */

/* How much of what it sends may be unread. */
static uint32_t
capacity(const struct sim__inet *inet)
{
    const struct sim__inet *peer = inet->peer;
    uint32_t bytes = inet->send_bytes + (peer != NULL ? peer->keep_bytes : BUFFER_BYTES);
    return peer != NULL && peer->in.size < bytes ? peer->in.size : bytes;
}

/* How much of what it sent is unread. */
static uint32_t
unread(const struct sim__inet *inet)
{
    const struct sim__inet *peer = inet->peer;
    return peer != NULL ? peer->in.there + peer->in.flying : inet->unanswered;
}

static uint32_t
left_of(uint32_t bytes, uint32_t used)
{
    return used < bytes ? bytes - used : 0;
}

static uint32_t
space(const struct sim__inet *inet)
{
    return left_of(capacity(inet), unread(inet));
}

/* The space from which on it is writable. */
static uint32_t
enough(const struct sim__inet *inet)
{
    return OUT_SPACE(capacity(inet));
}

static uint32_t
stream_events(const struct sim__inet *inet)
{
    uint32_t events = inet->in.there > 0 || inet->ended ? SIM_FD_IN : 0;
    events |= space(inet) >= enough(inet) || inet->shut ? SIM_FD_OUT : 0;
    events |= inet->ended ? SIM_FD_RDHUP : 0;
    return events | (inet->ended && inet->shut ? SIM_FD_HUP : 0);
}

static uint32_t
inet_events(const struct sim__description *description)
{
    const struct sim__inet *inet = sim__inet_of(description);
    uint32_t error = inet->error != 0 ? SIM_FD_ERR : 0;
    if (inet->type == SOCK_DGRAM) {
        return SIM_FD_OUT | error | (inet->there_count > 0 ? SIM_FD_IN : 0);
    }
    switch (inet->state) {
    case SIM__INET_IDLE:
        return SIM_FD_OUT | SIM_FD_HUP;
    case SIM__INET_LISTENS:
        return inet->queued > 0 ? SIM_FD_IN : 0;
    case SIM__INET_CONNECTING:
        return 0;
    case SIM__INET_CONNECTED:
        return error | stream_events(inet);
    case SIM__INET_FAILED:
        return error | SIM_FD_IN | SIM_FD_OUT | SIM_FD_HUP | SIM_FD_RDHUP;
    }
    rt_unreached("every state has events");
}

int
sim__inet_take_error(struct sim__inet *inet)
{
    int error = inet->error;
    inet->error = 0;
    return error;
}

static int
inet_error(struct sim__description *description)
{
    return sim__inet_take_error(sim__inet_of(description));
}

static int64_t
inet_readable(const struct sim__description *description)
{
    const struct sim__inet *inet = sim__inet_of(description);
    if (inet->type == SOCK_STREAM) {
        return inet->in.there;
    }
    return inet->there_count > 0
                   ? (int64_t)rt_container_of(inet->there.next, struct sim__packet, link)->size
                   : 0;
}

void
sim__inet_moved(struct sim__inet *inet, enum sim_event_kind kind, const struct rt_site *await,
        uint64_t size)
{
    sim__source_moved(inet->description.source, kind, await, size > 0 ? size : 1);
    sim__source_level(inet->description.source, (inet_events(&inet->description) & SIM_FD_IN) != 0);
}

static int64_t
read_datagram(struct sim__inet *inet, void *to, size_t size, bool peek, const struct rt_site *await)
{
    if (inet->there_count == 0) {
        int error = sim__inet_take_error(inet);
        return error != 0 ? -error : -EAGAIN;
    }
    struct sim__packet *first = rt_container_of(inet->there.next, struct sim__packet, link);
    size_t part = first->size < size ? first->size : size;
    sim__receive(to, first->bytes, part);
    inet->sender = first->from;
    inet->sender_size = first->from_size;
    if (!peek) {
        rt_list_unlink(&first->link);
        inet->there_count--;
        sim__inet_moved(inet, SIM_EVENT_READ, await, part);
    }
    return (int64_t)part;
}

/* Why a stream has no bytes to read. */
static int64_t
nothing_there(struct sim__inet *inet)
{
    int error = inet->error == EPIPE
                        ? 0
                        : sim__inet_take_error(inet); /* That is for those who write. */
    if (error != 0) {
        return -error;
    }
    if (inet->state == SIM__INET_IDLE || inet->state == SIM__INET_LISTENS ||
            inet->state == SIM__INET_CONNECTING) {
        bool local = inet->domain == AF_UNIX;
        return inet->state == SIM__INET_CONNECTING ? -EAGAIN : local ? -EINVAL : -ENOTCONN;
    }
    return inet->ended || inet->state == SIM__INET_FAILED ? 0 : -EAGAIN;
}

static int64_t
inet_read(struct sim__description *description, void *buffer, size_t size, uint32_t flags,
        const struct rt_site *await)
{
    struct sim__inet *inet = sim__inet_of(description);
    bool peek = (flags & SIM_SYS_PEEK) != 0;
    if (inet->type == SOCK_DGRAM) {
        return read_datagram(inet, buffer, size, peek, await);
    }
    if (inet->in.there == 0 || size == 0) {
        return size == 0 ? 0 : nothing_there(inet);
    }
    uint64_t full = inet->in.there < size ? inet->in.there : size;
    uint32_t part = (uint32_t)(inet->domain == AF_UNIX
                                       ? full
                                       : sim_actor_length(&description->source->actor, full));
    struct sim__pipe before = inet->in;
    sim__pipe_take(&inet->in, buffer, part);
    if (peek) {
        inet->in = before;
        return part;
    }
    sim__inet_moved(inet, SIM_EVENT_READ, await, part);
    sim__sys_short(description, SIM_FD_IN, part, full);
    if (inet->peer != NULL) { /* An edge only where it was not writable. */
        uint32_t left = space(inet->peer);
        uint32_t least = enough(inet->peer);
        uint32_t edge = left >= least && left < least + part ? SIM_FD_OUT : 0;
        sim__sys_changed(&inet->peer->description, edge, 0);
    }
    return part;
}

int64_t
sim__inet_send_datagram(struct sim__inet *inet, const void *bytes, size_t size,
        const union sim__address *to, const struct rt_site *await)
{
    struct sim_fds *fds = inet->description.fds;
    int error = sim__inet_take_error(inet);
    if (error != 0) {
        return -error;
    }
    if (to == NULL) {
        return inet->domain == AF_UNIX ? -ENOTCONN : -EDESTADDRREQ;
    }
    if (size > DATAGRAM_MAX) {
        return -EMSGSIZE;
    }
    sim__inet_bind_to_any(inet);
    struct sim__inet *target = sim__inet_find(fds, to, SOCK_DGRAM, false);
    if (target == NULL && inet->domain == AF_UNIX) {
        inet->peer_size = to == &inet->peer_address ? 0 : inet->peer_size;
        return -ECONNREFUSED;
    }
    if (target == NULL && inet->peer_size > 0) {
        sim__inet_fly(
                inet, SIM__UNREACHED * SIM__INET_SIGN); /* Only a connected socket learns of it. */
    }
    if (target != NULL && target->there_count < DATAGRAMS_MAX) {
        struct sim__packet *datagram = sim_alloc(fds->host->world, sizeof(*datagram) + size);
        rt_list_init(&datagram->link);
        datagram->from = inet->own;
        if (inet->domain != AF_UNIX && sim__address_is_any(&inet->own)) {
            sim__address_set_local(&datagram->from);
        }
        datagram->from_size = inet->own_size;
        datagram->size = size;
        sim__send(datagram->bytes, bytes, size);
        rt_list_push_back(&target->flying, &datagram->link);
        sim__inet_fly(target, SIM__PACKET * SIM__INET_SIGN);
    }
    sim__source_moved(inet->description.source, SIM_EVENT_WRITE, await, size > 0 ? size : 1);
    return (int64_t)size;
}

/* Why nothing can be written, or 0. */
static int
refusal(struct sim__inet *inet)
{
    int error = sim__inet_take_error(inet);
    if (error != 0) {
        return -error;
    }
    if (inet->state != SIM__INET_CONNECTED || inet->shut) {
        bool unconnected = inet->domain == AF_UNIX && inet->state == SIM__INET_IDLE;
        return inet->state == SIM__INET_CONNECTING ? -EAGAIN : unconnected ? -ENOTCONN : -EPIPE;
    }
    return space(inet) == 0 ? -EAGAIN : 0;
}

/* How many of `size` bytes are written now; 0: none. A Unix socket cuts only what is much; a TCP
 * socket what goes beyond the memory that it has in any case: how much more it has is not known. */
static uint32_t
part_to_write(struct sim__inet *inet, size_t size)
{
    bool local = inet->domain == AF_UNIX;
    uint32_t left = space(inet);
    uint32_t full = left < size ? left : (uint32_t)size;
    uint32_t least = local ? LOCAL_WHOLE : left_of(SENT_WHOLE, unread(inet));
    uint32_t whole = full < least ? full : least;
    if (local && left < size && size <= enough(inet)) {
        return 0;
    }
    return full == whole ? full
                         : whole + (uint32_t)sim_actor_length(
                                           &inet->description.source->actor, full - whole);
}

static int64_t
inet_write(struct sim__description *description, const void *buffer, size_t size,
        const struct rt_site *await)
{
    struct sim__inet *inet = sim__inet_of(description);
    if (inet->type == SOCK_DGRAM) {
        return sim__inet_send_datagram(
                inet, buffer, size, inet->peer_size > 0 ? &inet->peer_address : NULL, await);
    }
    int err = refusal(inet);
    if (err != 0 || size == 0) {
        return err;
    }
    uint32_t left = space(inet);
    uint32_t part = part_to_write(inet, size);
    if (part == 0) {
        return -EAGAIN;
    }
    if (inet->peer != NULL) {
        sim__pipe_put(&inet->peer->in, buffer, part);
        sim__inet_fly(inet->peer, part);
    } else {
        inet->unanswered += part;
        sim__inet_fly(inet, SIM__RESETS * SIM__INET_SIGN); /* The peer has closed: it answers so. */
    }
    sim__source_moved(description->source, SIM_EVENT_WRITE, await, part);
    sim__sys_short(description, SIM_FD_OUT, part, left < size ? left : size);
    return part;
}

static int
inet_shutdown(struct sim__description *description, uint32_t how)
{
    struct sim__inet *inet = sim__inet_of(description);
    if (inet->state != SIM__INET_CONNECTED) {
        return -ENOTCONN;
    }
    if ((how & SIM_SYS_SHUT_WRITE) != 0 && !inet->shut) {
        inet->shut = true;
        if (inet->peer != NULL) {
            sim__inet_fly(inet->peer, SIM__ENDED * SIM__INET_SIGN);
        }
    }
    inet->ended = inet->ended || (how & SIM_SYS_SHUT_READ) != 0;
    sim__sys_changed(description, SIM__ANYTHING, 1);
    return 0;
}

/* Its peer learns that it is closed: at once for what it sends next, later for what it reads. */
static void
leave_peer(struct sim__inet *inet, bool unread)
{
    struct sim__inet *peer = inet->peer;
    inet->peer = NULL;
    if (peer == NULL) {
        return;
    }
    peer->peer = NULL;
    peer->shut = peer->shut || inet->domain == AF_UNIX;
    if (unread || !inet->shut) {
        sim__inet_fly(peer, (unread ? SIM__RESETS : SIM__ENDED) * SIM__INET_SIGN);
    }
}

static void
inet_closed(struct sim__description *description)
{
    struct sim__inet *inet = sim__inet_of(description);
    rt_list_unlink(&inet->link);
    leave_peer(inet, inet->says[SIM_SYS_CLOSE_RESETS] || inet->in.there + inet->in.flying > 0);
    while (!rt_list_empty(&inet->queue)) {
        struct rt_list *node = rt_list_pop_front(&inet->queue);
        struct sim__inet *end = rt_container_of(node, struct sim__inet, queue_link);
        rt_list_unlink(&end->link);
        leave_peer(end, true);
        give_bytes_back(end);
    }
    give_bytes_back(inet);
    inet->state = SIM__INET_FAILED;
}

static void
inet_set_buffer(struct sim__description *description, uint32_t way, uint32_t bytes)
{
    struct sim__inet *inet = sim__inet_of(description);
    struct sim__inet *sender = way == SIM_SYS_SHUT_READ ? inet->peer : inet;
    bytes = bytes < BUFFER_BYTES ? bytes : BUFFER_BYTES;
    if (way == SIM_SYS_SHUT_READ) {
        inet->keep_bytes = inet->domain == AF_UNIX ? 0 : bytes;
    } else {
        inet->send_bytes = bytes;
    }
    if (sender != NULL && space(sender) >= enough(sender)) {
        sim__sys_changed(&sender->description, SIM_FD_OUT, 0);
    }
}

/* A socket that anybody may connect or send to. */
static bool
inet_outside(const struct sim__description *description)
{
    const struct sim__inet *inet = rt_container_of(description, struct sim__inet, description);
    return inet->state == SIM__INET_LISTENS ||
           (inet->type == SOCK_DGRAM && inet->own_size > 0 && inet->peer_size == 0);
}

static uint32_t
inet_left(const struct sim__description *description)
{
    const struct sim__inet *inet = sim__inet_of(description);
    return (uint32_t)(inet->state == SIM__INET_LISTENS ? inet->queued : inet_readable(description));
}

static const struct sim__sys_ops inet_sys = {.read = inet_read,
        .write = inet_write,
        .readable = inet_readable,
        .shutdown = inet_shutdown,
        .error = inet_error,
        .set_buffer = inet_set_buffer,
        .outside = inet_outside};
static const struct sim__description_ops inet_ops = {.sys = &inet_sys,
        .arrived = inet_arrived,
        .events = inet_events,
        .closed = inet_closed,
        .left = inet_left};
