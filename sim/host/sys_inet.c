/*
 * sys_inet.c -- sockets with addresses: how they are found, connected, and what flies between them.
 *
 *      connect ── ASK in flight ──▶ arrived: is there a listener?  ── queue ──▶ accept
 *                                        └─ no: refused
 *
 * What is on its way to a socket is an arrival of its source: a number of bytes, or one of the
 * signs below. Arrivals of one source keep their order.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "sim/host/sys_inet.h"

#include <errno.h>
#include <netinet/in.h>
#include <string.h>
#include <sys/un.h>

#include "sim/host/sys_priv.h"

#define LATENCY_MIN_NS 20000u
#define LATENCY_MAX_NS 200000u
#define PIPE_BYTES 65536u
#define BUFFER_BYTES (PIPE_BYTES / 2) /* Of one end, for what it sends, or receives. */
#define OUT_SPACE(size) ((size) / 3)  /* From here on it is writable. */
#define LOCAL_WHOLE 32768u            /* As in sys_unix.c. */
#define SENT_WHOLE 4096u /* A TCP socket has so much memory in any case: net.ipv4.tcp_wmem. */
#define DATAGRAM_MAX 65507u
#define DATAGRAMS_MAX 64u
#define PORT_FIRST 40000u
#define BACKLOG_MAX 4096
#define TRIES_MAX 6u /* net.ipv4.tcp_syn_retries */
#define RETRY_NS UINT64_C(1000000000)

/* Arrivals that are not bytes. */
#define SIGN UINT64_C(0x100000000)
enum sign { ASK = 1, END, RESET, DATAGRAM, UNREACHED };

enum state { IDLE, LISTENS, CONNECTING, CONNECTED, FAILED };

union address {
    struct sockaddr any;
    struct sockaddr_in in;
    struct sockaddr_in6 in6;
    struct sockaddr_un un;
};

struct datagram {
    struct rt_list link;
    union address from;
    socklen_t from_size;
    size_t size;
    char bytes[];
};

struct inet {
    struct sim__description description;
    struct rt_list link; /* In fds->sockets->all. */
    int domain;
    int type;
    enum state state;
    union address own;
    socklen_t own_size; /* 0: it has none. */
    union address peer_address;
    socklen_t peer_size;
    int error;      /* Pending; 0: none. */
    uint32_t tries; /* Requests to connect that were dropped. */
    /* A listener. */
    struct rt_list queue; /* Ends that are not accepted yet. */
    int queued;
    int backlog;
    struct rt_list queue_link;
    /* A stream. */
    struct inet *peer;
    struct sim__pipe in;
    uint32_t receive_size; /* Of `in`, when it is connected. */
    uint32_t send_bytes;   /* At most so much is on the way, and unread at a peer, … */
    uint32_t keep_bytes;   /* … that adds so much to it. */
    uint32_t unanswered;   /* Sent to a peer that has closed, which will answer with a reset. */
    bool awaits;           /* A connect waits for a listener. */
    bool unreported;       /* A connect has returned before it was connected. */
    bool ended;            /* The peer writes no more, and that is known here. */
    bool shut;             /* This end writes no more. */
    bool resets;           /* Its close is a reset. */
    bool shares;           /* Its address, with others that do. */
    bool only_six;         /* Its address is of IPv6 alone. */
    /* Datagrams. */
    struct rt_list flying;
    struct rt_list there;
    uint32_t there_count;
    union address sender; /* Of the last one that was read. */
    socklen_t sender_size;
};

static const struct sim__description_ops inet_ops;
static void inet_arrived(void *argument, uint64_t amount);

static struct inet *
inet_of(const struct sim__description *description)
{
    return rt_container_of(description, struct inet, description);
}

/* NULL: no such socket; *ret_err is why, or 0. */
static struct inet *
inet_at(const struct sim_fds *fds, int fd, int *ret_err)
{
    struct sim__description *description = sim__fd_get(fds, fd);
    bool found = description != NULL && description->ops == &inet_ops;
    *ret_err = description == NULL ? -EBADF : found ? 0 : -ENOTSOCK;
    return found ? inet_of(description) : NULL;
}

static bool
is_nonblock(struct sim_fds *fds, int fd)
{
    return ((uint32_t)sim_sys_status(fds, fd) & SIM_SYS_NONBLOCK) != 0;
}

/* ---- Addresses. ------------------------------------------------------------------------------ */

/* In network order; 0 for Unix sockets. */
static uint16_t
port_of(const union address *address)
{
    return address->any.sa_family == AF_INET    ? address->in.sin_port
           : address->any.sa_family == AF_INET6 ? address->in6.sin6_port
                                                : 0;
}

static bool
is_any(const union address *address)
{
    return address->any.sa_family == AF_INET ? address->in.sin_addr.s_addr == htonl(INADDR_ANY)
                                             : IN6_IS_ADDR_UNSPECIFIED(&address->in6.sin6_addr);
}

static void
set_local(union address *address)
{
    if (address->any.sa_family == AF_INET) {
        address->in.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    } else {
        address->in6.sin6_addr = in6addr_loopback;
    }
}

/* Whether a socket of this machine, which has the loopback alone, can have it; or a group. */
static bool
is_of_machine(const union address *address)
{
    const struct in6_addr *six = &address->in6.sin6_addr;
    bool four = address->any.sa_family == AF_INET || IN6_IS_ADDR_V4MAPPED(six);
    if (address->any.sa_family == AF_UNIX || is_any(address)) {
        return true;
    }
    if (four) {
        in_addr_t of = ntohl(address->any.sa_family == AF_INET ? address->in.sin_addr.s_addr
                                                               : six->s6_addr32[3]);
        return of >> 24 == IN_LOOPBACKNET || IN_MULTICAST(of) || of == INADDR_BROADCAST;
    }
    return IN6_IS_ADDR_LOOPBACK(six) || IN6_IS_ADDR_MULTICAST(six);
}

/* Whether no stream can be connected to it: it is that of a group, or of all. */
static bool
is_of_many(const union address *address)
{
    if (address->any.sa_family == AF_INET6) {
        return IN6_IS_ADDR_MULTICAST(&address->in6.sin6_addr);
    }
    in_addr_t of = ntohl(address->in.sin_addr.s_addr);
    return address->any.sa_family == AF_INET && (IN_MULTICAST(of) || of == INADDR_BROADCAST);
}

/* Whether what is sent to `to` reaches a socket with the address `own`. */
static bool
reaches(const union address *to, const union address *own)
{
    bool unix_own = own->any.sa_family == AF_UNIX;
    if (unix_own || to->any.sa_family == AF_UNIX) {
        return unix_own && to->any.sa_family == AF_UNIX &&
               memcmp(to->un.sun_path, own->un.sun_path, sizeof(own->un.sun_path)) == 0;
    }
    if (port_of(to) != port_of(own)) {
        return false;
    }
    if (is_any(own) || is_any(to)) {
        return true; /* Of either family: an IPv6 socket takes both. */
    }
    return to->any.sa_family == own->any.sa_family &&
           (own->any.sa_family == AF_INET
                           ? to->in.sin_addr.s_addr == own->in.sin_addr.s_addr
                           : memcmp(&to->in6.sin6_addr, &own->in6.sin6_addr, 16) == 0);
}

/* An IPv6 socket takes both families, unless it says otherwise. */
static bool
is_foreign(const struct inet *inet, const union address *to)
{
    return inet->only_six && to->any.sa_family == AF_INET;
}

static struct inet *
find(const struct sim_fds *fds, const union address *to, int type, bool listens)
{
    rt_list_each(node, &fds->sockets->all)
    {
        struct inet *inet = rt_container_of(node, struct inet, link);
        bool fits = inet->type == type && (!listens || inet->state == LISTENS);
        if (fits && inet->own_size > 0 && reaches(to, &inet->own) && !is_foreign(inet, to)) {
            return inet;
        }
    }
    return NULL;
}

/* Whether another one has the address, and does not share it. */
static bool
is_taken(const struct inet *by, const union address *address)
{
    rt_list_each(node, &by->description.fds->sockets->all)
    {
        const struct inet *inet = rt_container_of(node, struct inet, link);
        if (inet->type == by->type && inet->own_size > 0 && inet->state != CONNECTED &&
                !(inet->shares && by->shares) && reaches(address, &inet->own) &&
                !is_foreign(inet, address) && !is_foreign(by, &inet->own)) {
            return true;
        }
    }
    return false;
}

/* Reads an address of the program. 0, -EINVAL or -EAFNOSUPPORT. */
static int
take_address(
        const struct inet *inet, const struct sockaddr *from, socklen_t size, union address *ret)
{
    if (from == NULL || size < sizeof(sa_family_t)) {
        return -EINVAL;
    }
    *ret = (union address){.any = {0}};
    memcpy(ret, from, size < sizeof(*ret) ? size : sizeof(*ret));
    socklen_t least = inet->domain == AF_INET ? sizeof(ret->in)
                      : inet->domain == AF_INET6
                              ? (socklen_t)offsetof(struct sockaddr_in6, sin6_scope_id)
                              : (socklen_t)sizeof(sa_family_t) + 1;
    if (ret->any.sa_family != inet->domain) {
        return -EAFNOSUPPORT;
    }
    return size < least ? -EINVAL : 0;
}

/* Gives it an address with the next free port. */
static void
bind_to_any(struct inet *inet)
{
    struct sim_fds *fds = inet->description.fds;
    if (inet->own_size > 0 || inet->domain == AF_UNIX) {
        return;
    }
    bool v4 = inet->domain == AF_INET;
    inet->own = (union address){.any = {.sa_family = (sa_family_t)inet->domain}};
    do {
        inet->own.in.sin_port = htons((uint16_t)(PORT_FIRST + fds->sockets->ports_given++ % 20000));
    } while (find(fds, &inet->own, inet->type, false) != NULL);
    inet->own_size = v4 ? sizeof(inet->own.in) : sizeof(inet->own.in6);
}

static int
give_address(
        const union address *address, socklen_t size, struct sockaddr *ret, socklen_t *ret_size)
{
    if (ret != NULL && ret_size != NULL) {
        memcpy(ret, address, size < *ret_size ? size : *ret_size);
        *ret_size = size;
    }
    return 0;
}

/* ---- What flies. ----------------------------------------------------------------------------- */

/* What goes to a Unix socket is there at once. */
static void
fly(struct inet *to, uint64_t what)
{
    if (to->domain == AF_UNIX) {
        inet_arrived(&to->description, what);
    } else {
        sim__source_arrive_in(to->description.source, what, LATENCY_MIN_NS, LATENCY_MAX_NS);
    }
}

static struct inet *
inet_new(struct sim_fds *fds, int domain, int type, const char *name)
{
    struct inet *inet = sim_new(fds->host->world, struct inet);
    sim__sys_init(&inet->description, fds, &inet_ops, name);
    inet->domain = domain;
    inet->type = type;
    inet->receive_size = PIPE_BYTES;
    inet->send_bytes = domain == AF_UNIX ? PIPE_BYTES : BUFFER_BYTES;
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
    if (size != PIPE_BYTES || bytes == NULL) {
        return sim_alloc(fds->host->world, size);
    }
    memcpy(&fds->sockets->spare, bytes, sizeof(fds->sockets->spare)); /* The next one. */
    return bytes;
}

static void
give_bytes_back(struct inet *inet)
{
    struct sim__sockets *sockets = inet->description.fds->sockets;
    if (inet->in.bytes != NULL && inet->in.size == PIPE_BYTES) {
        memcpy(inet->in.bytes, &sockets->spare, sizeof(sockets->spare));
        sockets->spare = inet->in.bytes;
        inet->in = (struct sim__pipe){NULL, 0, 0, 0, 0};
    }
}

static void
connect_ends(struct inet *a, struct inet *b)
{
    struct inet *both[2] = {a, b};
    for (int i = 0; i < 2; i++) {
        uint32_t size = both[i]->receive_size;
        both[i]->in.bytes = take_bytes(a->description.fds, size);
        both[i]->in.size = size;
        both[i]->state = CONNECTED;
        both[i]->peer = both[1 - i];
    }
}

static void
fail(struct inet *inet, int error)
{
    inet->state = FAILED;
    inet->error = error;
    sim__sys_changed(&inet->description, SIM__ANYTHING, 1);
}

/* The queue of the listener is full: the request is dropped, and sent again. */
static void
ask_later(struct inet *inet)
{
    if (inet->domain == AF_UNIX) {
        return; /* Its caller waits, or does not. */
    }
    if (++inet->tries > TRIES_MAX) {
        fail(inet, ETIMEDOUT);
        return;
    }
    sim__source_arrive_in(inet->description.source, ASK * SIGN, RETRY_NS, RETRY_NS);
}

/* The request to connect has arrived. */
static void
answer(struct inet *inet)
{
    struct sim_fds *fds = inet->description.fds;
    struct inet *listener = find(fds, &inet->peer_address, SOCK_STREAM, true);
    if (inet->state != CONNECTING) {
        return; /* It was closed meanwhile. */
    }
    if (listener == NULL) {
        if (!inet->awaits) {
            fail(inet, ECONNREFUSED);
        }
        return;
    }
    if (listener->queued > listener->backlog) {
        ask_later(inet);
        return;
    }
    struct inet *end = inet_new(
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
take_sign(struct inet *inet, enum sign sign)
{
    struct rt_list *node = NULL;
    switch (sign) {
    case ASK:
        answer(inet);
        return;
    case END:
        inet->ended = true;
        sim__sys_changed(&inet->description, SIM__ANYTHING, 1);
        return;
    case RESET: /* Where the peer had shut down before, a write is what it answers. */
        inet->peer = NULL;
        fail(inet, inet->ended && inet->domain != AF_UNIX ? EPIPE : ECONNRESET);
        inet->ended = true;
        return;
    case UNREACHED:
        inet->error = ECONNREFUSED;
        sim__sys_changed(&inet->description, SIM_FD_ERR, 1);
        return;
    case DATAGRAM:
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
    struct inet *inet = inet_of(argument);
    if (amount >= SIGN) {
        take_sign(inet, (enum sign)(amount / SIGN));
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
capacity(const struct inet *inet)
{
    const struct inet *peer = inet->peer;
    uint32_t bytes = inet->send_bytes + (peer != NULL ? peer->keep_bytes : BUFFER_BYTES);
    return peer != NULL && peer->in.size < bytes ? peer->in.size : bytes;
}

/* How much of what it sent is unread. */
static uint32_t
unread(const struct inet *inet)
{
    const struct inet *peer = inet->peer;
    return peer != NULL ? peer->in.there + peer->in.flying : inet->unanswered;
}

static uint32_t
left_of(uint32_t bytes, uint32_t used)
{
    return used < bytes ? bytes - used : 0;
}

static uint32_t
space(const struct inet *inet)
{
    return left_of(capacity(inet), unread(inet));
}

/* The space from which on it is writable. */
static uint32_t
enough(const struct inet *inet)
{
    return OUT_SPACE(capacity(inet));
}

static uint32_t
stream_events(const struct inet *inet)
{
    uint32_t events = inet->in.there > 0 || inet->ended ? SIM_FD_IN : 0;
    events |= space(inet) >= enough(inet) || inet->shut ? SIM_FD_OUT : 0;
    events |= inet->ended ? SIM_FD_RDHUP : 0;
    return events | (inet->ended && inet->shut ? SIM_FD_HUP : 0);
}

static uint32_t
inet_events(const struct sim__description *description)
{
    const struct inet *inet = inet_of(description);
    uint32_t error = inet->error != 0 ? SIM_FD_ERR : 0;
    if (inet->type == SOCK_DGRAM) {
        return SIM_FD_OUT | error | (inet->there_count > 0 ? SIM_FD_IN : 0);
    }
    switch (inet->state) {
    case IDLE:
        return SIM_FD_OUT | SIM_FD_HUP;
    case LISTENS:
        return inet->queued > 0 ? SIM_FD_IN : 0;
    case CONNECTING:
        return 0;
    case CONNECTED:
        return error | stream_events(inet);
    case FAILED:
        return error | SIM_FD_IN | SIM_FD_OUT | SIM_FD_HUP | SIM_FD_RDHUP;
    }
    rt_unreached("every state has events");
}

static int
take_error(struct inet *inet)
{
    int error = inet->error;
    inet->error = 0;
    return error;
}

static int
inet_error(struct sim__description *description)
{
    return take_error(inet_of(description));
}

static int64_t
inet_readable(const struct sim__description *description)
{
    const struct inet *inet = inet_of(description);
    if (inet->type == SOCK_STREAM) {
        return inet->in.there;
    }
    return inet->there_count > 0
                   ? (int64_t)rt_container_of(inet->there.next, struct datagram, link)->size
                   : 0;
}

static void
moved(struct inet *inet, enum sim_event_kind kind, const struct rt_site *await, uint64_t size)
{
    sim__source_moved(inet->description.source, kind, await, size > 0 ? size : 1);
    sim__source_level(inet->description.source, (inet_events(&inet->description) & SIM_FD_IN) != 0);
}

static int64_t
read_datagram(struct inet *inet, void *to, size_t size, bool peek, const struct rt_site *await)
{
    if (inet->there_count == 0) {
        int error = take_error(inet);
        return error != 0 ? -error : -EAGAIN;
    }
    struct datagram *first = rt_container_of(inet->there.next, struct datagram, link);
    size_t part = first->size < size ? first->size : size;
    sim__receive(to, first->bytes, part);
    inet->sender = first->from;
    inet->sender_size = first->from_size;
    if (!peek) {
        rt_list_unlink(&first->link);
        inet->there_count--;
        moved(inet, SIM_EVENT_READ, await, part);
    }
    return (int64_t)part;
}

/* Why a stream has no bytes to read. */
static int64_t
nothing_there(struct inet *inet)
{
    int error = inet->error == EPIPE ? 0 : take_error(inet); /* That is for those who write. */
    if (error != 0) {
        return -error;
    }
    if (inet->state == IDLE || inet->state == LISTENS || inet->state == CONNECTING) {
        bool local = inet->domain == AF_UNIX;
        return inet->state == CONNECTING ? -EAGAIN : local ? -EINVAL : -ENOTCONN;
    }
    return inet->ended || inet->state == FAILED ? 0 : -EAGAIN;
}

static int64_t
inet_read(struct sim__description *description, void *buffer, size_t size, uint32_t flags,
        const struct rt_site *await)
{
    struct inet *inet = inet_of(description);
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
    moved(inet, SIM_EVENT_READ, await, part);
    sim__sys_short(description, SIM_FD_IN, part, full);
    if (inet->peer != NULL) { /* An edge only where it was not writable. */
        uint32_t left = space(inet->peer);
        uint32_t least = enough(inet->peer);
        uint32_t edge = left >= least && left < least + part ? SIM_FD_OUT : 0;
        sim__sys_changed(&inet->peer->description, edge, 0);
    }
    return part;
}

/* As sim_sys_send_to. One to an address that no socket has is lost (UDP), or refused. */
static int64_t
send_datagram(struct inet *inet, const void *bytes, size_t size, const union address *to,
        const struct rt_site *await)
{
    struct sim_fds *fds = inet->description.fds;
    int error = take_error(inet);
    if (error != 0) {
        return -error;
    }
    if (to == NULL) {
        return inet->domain == AF_UNIX ? -ENOTCONN : -EDESTADDRREQ;
    }
    if (size > DATAGRAM_MAX) {
        return -EMSGSIZE;
    }
    bind_to_any(inet);
    struct inet *target = find(fds, to, SOCK_DGRAM, false);
    if (target == NULL && inet->domain == AF_UNIX) {
        inet->peer_size = to == &inet->peer_address ? 0 : inet->peer_size;
        return -ECONNREFUSED;
    }
    if (target == NULL && inet->peer_size > 0) {
        fly(inet, UNREACHED * SIGN); /* Only a connected socket learns of it. */
    }
    if (target != NULL && target->there_count < DATAGRAMS_MAX) {
        struct datagram *datagram = sim_alloc(fds->host->world, sizeof(*datagram) + size);
        rt_list_init(&datagram->link);
        datagram->from = inet->own;
        if (inet->domain != AF_UNIX && is_any(&inet->own)) {
            set_local(&datagram->from);
        }
        datagram->from_size = inet->own_size;
        datagram->size = size;
        sim__send(datagram->bytes, bytes, size);
        rt_list_push_back(&target->flying, &datagram->link);
        fly(target, DATAGRAM * SIGN);
    }
    sim__source_moved(inet->description.source, SIM_EVENT_WRITE, await, size > 0 ? size : 1);
    return (int64_t)size;
}

/* Why nothing can be written, or 0. */
static int
refusal(struct inet *inet)
{
    int error = take_error(inet);
    if (error != 0) {
        return -error;
    }
    if (inet->state != CONNECTED || inet->shut) {
        bool unconnected = inet->domain == AF_UNIX && inet->state == IDLE;
        return inet->state == CONNECTING ? -EAGAIN : unconnected ? -ENOTCONN : -EPIPE;
    }
    return space(inet) == 0 ? -EAGAIN : 0;
}

/* How many of `size` bytes are written now; 0: none. A Unix socket cuts only what is much; a TCP
 * socket what goes beyond the memory that it has in any case: how much more it has is not known. */
static uint32_t
part_to_write(struct inet *inet, size_t size)
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
    struct inet *inet = inet_of(description);
    if (inet->type == SOCK_DGRAM) {
        return send_datagram(
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
        fly(inet->peer, part);
    } else {
        inet->unanswered += part;
        fly(inet, RESET * SIGN); /* The peer has closed: it answers so. */
    }
    sim__source_moved(description->source, SIM_EVENT_WRITE, await, part);
    sim__sys_short(description, SIM_FD_OUT, part, left < size ? left : size);
    return part;
}

static int
inet_shutdown(struct sim__description *description, uint32_t how)
{
    struct inet *inet = inet_of(description);
    if (inet->state != CONNECTED) {
        return -ENOTCONN;
    }
    if ((how & SIM_SYS_SHUT_WRITE) != 0 && !inet->shut) {
        inet->shut = true;
        if (inet->peer != NULL) {
            fly(inet->peer, END * SIGN);
        }
    }
    inet->ended = inet->ended || (how & SIM_SYS_SHUT_READ) != 0;
    sim__sys_changed(description, SIM__ANYTHING, 1);
    return 0;
}

/* Its peer learns that it is closed: at once for what it sends next, later for what it reads. */
static void
leave_peer(struct inet *inet, bool unread)
{
    struct inet *peer = inet->peer;
    inet->peer = NULL;
    if (peer == NULL) {
        return;
    }
    peer->peer = NULL;
    peer->shut = peer->shut || inet->domain == AF_UNIX;
    if (unread || !inet->shut) {
        fly(peer, (unread ? RESET : END) * SIGN);
    }
}

static void
inet_closed(struct sim__description *description)
{
    struct inet *inet = inet_of(description);
    rt_list_unlink(&inet->link);
    leave_peer(inet, inet->resets || inet->in.there + inet->in.flying > 0);
    while (!rt_list_empty(&inet->queue)) {
        struct rt_list *node = rt_list_pop_front(&inet->queue);
        struct inet *end = rt_container_of(node, struct inet, queue_link);
        rt_list_unlink(&end->link);
        leave_peer(end, true);
        give_bytes_back(end);
    }
    give_bytes_back(inet);
    inet->state = FAILED;
}

static void
inet_set_buffer(struct sim__description *description, uint32_t way, uint32_t bytes)
{
    struct inet *inet = inet_of(description);
    struct inet *sender = way == SIM_SYS_SHUT_READ ? inet->peer : inet;
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
    const struct inet *inet = rt_container_of(description, struct inet, description);
    return inet->state == LISTENS ||
           (inet->type == SOCK_DGRAM && inet->own_size > 0 && inet->peer_size == 0);
}

static uint32_t
inet_left(const struct sim__description *description)
{
    const struct inet *inet = inet_of(description);
    return (uint32_t)(inet->state == LISTENS ? inet->queued : inet_readable(description));
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

/* It listens: those ask again that have waited for that. */
static void
ask_listener(const struct inet *listener)
{
    rt_list_each(node, &listener->description.fds->sockets->all)
    {
        struct inet *inet = rt_container_of(node, struct inet, link);
        if (inet->awaits && inet->state == CONNECTING && inet->domain != AF_UNIX &&
                reaches(&inet->peer_address, &listener->own)) {
            fly(inet, ASK * SIGN);
        }
    }
}

/* Those that wait for a listener, or for space in its queue, may be on other tables. */
static void
listener_changed(const struct inet *listener)
{
    const struct sim_host *last = NULL;
    rt_list_each(node, &listener->description.fds->sockets->all)
    {
        struct sim_host *host = rt_container_of(node, struct inet, link)->description.fds->host;
        if (host != last) {
            sim__host_changed(host);
        }
        last = host;
    }
}

/* ---- The calls. ------------------------------------------------------------------------------ */

int
sim_sys_socket(struct sim_fds *fds, int domain, int type)
{
    sim__fds_call(fds, "socket");
    if (domain != AF_INET && domain != AF_INET6 && domain != AF_UNIX) {
        return -EAFNOSUPPORT;
    }
    if (type != SOCK_STREAM && type != SOCK_DGRAM) {
        return -ESOCKTNOSUPPORT;
    }
    int err = sim__sys_available(fds, 1);
    if (err != 0) {
        return err;
    }
    struct inet *inet = inet_new(fds, domain, type, type == SOCK_STREAM ? "socket" : "UDP socket");
    return sim__fd_open(&inet->description);
}

int
sim_sys_bind(struct sim_fds *fds, int fd, const struct sockaddr *address, socklen_t size)
{
    int err = 0;
    union address asked;
    sim__fds_call(fds, "bind");
    struct inet *inet = inet_at(fds, fd, &err);
    if (inet == NULL) {
        return err;
    }
    err = take_address(inet, address, size, &asked);
    if (err != 0 || inet->own_size > 0) {
        return err != 0 ? err : -EINVAL;
    }
    if (!is_of_machine(&asked)) {
        return -EADDRNOTAVAIL;
    }
    if (inet->domain != AF_UNIX && port_of(&asked) == 0) {
        bind_to_any(inet);
        asked.in.sin_port = inet->own.in.sin_port;
    } else if (is_taken(inet, &asked)) {
        return -EADDRINUSE;
    }
    inet->own = asked;
    inet->own_size = size < sizeof(asked) ? size : sizeof(asked);
    return 0;
}

int
sim_sys_listen(struct sim_fds *fds, int fd, int backlog)
{
    int err = 0;
    sim__fds_call(fds, "listen");
    struct inet *inet = inet_at(fds, fd, &err);
    if (inet == NULL) {
        return err;
    }
    if (inet->type != SOCK_STREAM) {
        return -EOPNOTSUPP;
    }
    if (inet->state != IDLE && inet->state != LISTENS) {
        return -EINVAL;
    }
    if (inet->domain == AF_UNIX && inet->own_size == 0) {
        return -EINVAL;
    }
    bind_to_any(inet);
    inet->state = LISTENS;
    inet->backlog = backlog >= 0 && backlog < BACKLOG_MAX ? backlog : BACKLOG_MAX;
    ask_listener(inet);
    listener_changed(inet);
    return 0;
}

static bool
has_answer(const void *argument)
{
    return ((const struct inet *)argument)->state != CONNECTING;
}

static bool
has_space(const void *argument)
{
    const struct inet *inet = argument;
    const struct inet *listener =
            find(inet->description.fds, &inet->peer_address, SOCK_STREAM, true);
    return listener == NULL ? !inet->awaits : listener->queued <= listener->backlog;
}

/* What a connect returns when the first one has ended; a failed one may be tried again then. */
static int
connect_again(struct inet *inet)
{
    int pending = inet->state == FAILED ? take_error(inet) : 0;
    bool news = inet->unreported && inet->state == CONNECTED;
    if (inet->state == FAILED && inet->in.bytes == NULL) { /* It never was connected. */
        inet->state = IDLE;
        return pending != 0 ? -pending : -ECONNABORTED;
    }
    inet->unreported = false;
    return news ? 0 : -EISCONN;
}

/* Unix sockets: at once, or when the listener has space. */
static int
connect_local(struct inet *inet, bool nonblock, const struct rt_site *await)
{
    int err = 0;
    uint64_t due_ns = sim__sys_due(&inet->description, inet->description.write_wait_ns);
    answer(inet);
    while (inet->state == CONNECTING && err == 0) {
        err = nonblock ? -EAGAIN
                       : sim__sys_block(inet->description.fds, has_space, inet, due_ns,
                                 &inet->description,
                                 inet->awaits ? "a listener" : "space in a backlog", await);
        if (err == 0) {
            answer(inet);
        }
    }
    inet->state = err != 0 ? IDLE : inet->state;
    return err;
}

/* It asks, or has asked, and waits for the answer. */
static int
connect_far(struct inet *inet, bool nonblock, const struct rt_site *await)
{
    bool first = inet->state == IDLE;
    struct sim__description *description = &inet->description;
    int err = -EAGAIN;
    if (first) {
        inet->state = CONNECTING;
        fly(inet, ASK * SIGN);
    }
    if (!nonblock) {
        err = sim__sys_block(description->fds, has_answer, inet,
                sim__sys_due(description, description->write_wait_ns), description,
                inet->awaits ? "a listener" : "an answer", await);
    }
    inet->unreported = err != 0;
    description->refused = err == -EAGAIN;
    return err != -EAGAIN ? err : first ? -EINPROGRESS : -EALREADY;
}

static int
connect_stream(struct inet *inet, bool nonblock, const struct rt_site *await)
{
    if (inet->state != IDLE && inet->state != CONNECTING) {
        return connect_again(inet);
    }
    int err = 0;
    bind_to_any(inet);
    if (inet->domain == AF_UNIX) {
        inet->state = CONNECTING;
        err = connect_local(inet, nonblock, await);
    } else {
        err = connect_far(inet, nonblock, await);
    }
    int pending = inet->state == FAILED ? take_error(inet) : 0;
    inet->state = inet->state == FAILED ? IDLE : inet->state; /* It may be tried again. */
    return pending != 0 ? -pending : err;
}

int
sim_sys_connect(struct sim_fds *fds, int fd, const struct sockaddr *address, socklen_t size,
        const struct rt_site *await)
{
    int err = 0;
    union address asked;
    sim__fds_call(fds, "connect");
    struct inet *inet = inet_at(fds, fd, &err);
    if (inet == NULL) {
        return err;
    }
    if (inet->type == SOCK_DGRAM && size >= sizeof(sa_family_t) &&
            address->sa_family == AF_UNSPEC) {
        inet->peer_size = 0;
        return 0;
    }
    err = take_address(inet, address, size, &asked);
    if (err == 0 && inet->type == SOCK_STREAM && inet->state == IDLE && is_of_many(&asked)) {
        err = -ENETUNREACH;
    }
    if (err != 0) {
        return err;
    }
    if (inet->type == SOCK_DGRAM || inet->state == IDLE) {
        inet->peer_address = asked;
        inet->peer_size = size < sizeof(asked) ? size : sizeof(asked);
        bind_to_any(inet);
    }
    if (inet->domain != AF_UNIX && inet->state == IDLE) { /* From now on between two addresses. */
        if (is_any(&inet->peer_address)) {
            set_local(&inet->peer_address);
        }
        if (is_any(&inet->own)) {
            set_local(&inet->own);
        }
    }
    return inet->type == SOCK_DGRAM ? 0 : connect_stream(inet, is_nonblock(fds, fd), await);
}

int
sim_sys_set_awaits_listener(struct sim_fds *fds, int fd, bool awaits)
{
    int err = 0;
    struct inet *inet = inet_at(fds, fd, &err);
    if (inet != NULL) {
        inet->awaits = awaits;
    }
    return err;
}

int
sim_sys_set_receive_size(struct sim_fds *fds, int fd, uint32_t size)
{
    int err = 0;
    struct inet *inet = inet_at(fds, fd, &err);
    rt_assert(size > 0 && size <= PIPE_BYTES);
    if (inet != NULL) {
        inet->receive_size = size;
    }
    return err;
}

int
sim_sys_set_shares_address(struct sim_fds *fds, int fd, bool shares)
{
    int err = 0;
    struct inet *inet = inet_at(fds, fd, &err);
    if (inet != NULL) {
        inet->shares = shares;
    }
    return err;
}

int
sim_sys_set_only_six(struct sim_fds *fds, int fd, bool only)
{
    int err = 0;
    struct inet *inet = inet_at(fds, fd, &err);
    if (inet != NULL) {
        inet->only_six = only;
    }
    return err;
}

int
sim_sys_set_close_resets(struct sim_fds *fds, int fd, bool resets)
{
    int err = 0;
    struct inet *inet = inet_at(fds, fd, &err);
    if (inet != NULL) {
        inet->resets = resets;
    }
    return err;
}

static bool
has_connection(const void *argument)
{
    return ((const struct inet *)argument)->queued > 0;
}

int
sim_sys_accept(struct sim_fds *fds, int fd, const struct rt_site *await)
{
    int err = 0;
    sim__fds_call(fds, "accept");
    struct inet *inet = inet_at(fds, fd, &err);
    if (inet == NULL || inet->state != LISTENS) {
        return inet == NULL ? err : inet->type == SOCK_STREAM ? -EINVAL : -EOPNOTSUPP;
    }
    err = sim__sys_available(fds, 1); /* Asked for first, whether or not a connection waits. */
    uint64_t due_ns = sim__sys_due(&inet->description, inet->description.read_wait_ns);
    while (err == 0 && inet->queued == 0 && !is_nonblock(fds, fd)) {
        err = sim__sys_block(
                fds, has_connection, inet, due_ns, &inet->description, "a connection", await);
    }
    if (inet->queued == 0 || err != 0) {
        return err != 0 ? err : -EAGAIN;
    }
    if (sim__fd_full(fds)) { /* By others, meanwhile. */
        return -EMFILE;
    }
    struct rt_list *node = rt_list_pop_front(&inet->queue);
    inet->queued--;
    moved(inet, SIM_EVENT_READ, await, 1);
    listener_changed(inet);
    return sim__fd_open(&rt_container_of(node, struct inet, queue_link)->description);
}

int
sim_sys_address(struct sim_fds *fds, int fd, bool of_peer, struct sockaddr *ret, socklen_t *size)
{
    static const union address unnamed = {.any = {.sa_family = AF_UNIX}};
    int err = 0;
    struct sim__description *description = sim__fd_get(fds, fd);
    const struct inet *inet = inet_at(fds, fd, &err);
    if (inet == NULL) { /* One of a pair has an empty address. */
        bool socket = description != NULL && description->ops->sys != NULL &&
                      description->ops->sys->error != NULL;
        return socket ? give_address(&unnamed, sizeof(sa_family_t), ret, size) : err;
    }
    if (of_peer) {
        bool known = inet->state == CONNECTED || (inet->type == SOCK_DGRAM && inet->peer_size > 0);
        return known ? give_address(&inet->peer_address, inet->peer_size, ret, size) : -ENOTCONN;
    }
    union address none = {.any = {.sa_family = (sa_family_t)inet->domain}};
    socklen_t least = inet->domain == AF_INET    ? sizeof(none.in)
                      : inet->domain == AF_INET6 ? sizeof(none.in6)
                                                 : sizeof(sa_family_t);
    return inet->own_size > 0 ? give_address(&inet->own, inet->own_size, ret, size)
                              : give_address(&none, least, ret, size);
}

int
sim_sys_socket_kind(struct sim_fds *fds, int fd, struct sim_sys_socket_kind *ret)
{
    int err = 0;
    const struct inet *inet = inet_at(fds, fd, &err);
    if (inet != NULL) {
        *ret = (struct sim_sys_socket_kind){inet->domain, inet->type, inet->state == LISTENS};
        return 0;
    }
    err = sim_sys_address(fds, fd, false, NULL, NULL);
    *ret = (struct sim_sys_socket_kind){AF_UNIX, SOCK_STREAM, false};
    return err;
}

int64_t
sim_sys_send_to(struct sim_fds *fds, int fd, const void *bytes, size_t size,
        const struct sockaddr *address, socklen_t address_size, const struct rt_site *await)
{
    int err = 0;
    union address asked;
    sim__fds_call(fds, "send");
    struct inet *inet = inet_at(fds, fd, &err);
    if (inet == NULL) {
        return err;
    }
    if (inet->type != SOCK_DGRAM) {
        return -EISCONN;
    }
    err = address != NULL ? take_address(inet, address, address_size, &asked) : 0;
    const union address *to = address != NULL       ? &asked
                              : inet->peer_size > 0 ? &inet->peer_address
                                                    : NULL;
    return err != 0 ? err : send_datagram(inet, bytes, size, to, await);
}

int
sim_sys_sender(struct sim_fds *fds, int fd, struct sockaddr *ret, socklen_t *size)
{
    int err = 0;
    const struct inet *inet = inet_at(fds, fd, &err);
    if (inet == NULL || inet->type != SOCK_DGRAM) {
        return sim_sys_address(fds, fd, true, ret, size);
    }
    return give_address(&inet->sender, inet->sender_size, ret, size);
}
