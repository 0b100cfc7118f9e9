/*
 * sys_unix.c -- Unix sockets: pairs of streams and of datagrams.
 *
 *      end ──▶ what it has received: messages, in order   ──▶ their sender, who is charged for
 *       ▲                                                     them until they are read
 *       └──── peer
 *
 * A stream is a queue of messages too, as in Linux: a message that was read to its end gives its
 * sender space. It is writable (OUT) while a quarter of its space is used at most, yet takes more.
 * A read takes all that is there, and a write of one message is never cut: programs rely on both.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <errno.h>
#include <string.h>

#include "sim/host/sys_priv.h"

/* What the messages of one sender may be charged where nothing is set (net.core.wmem_default), and
 * each besides its bytes (about a struct sk_buff with its head). */
#define SPACE 212992u
#define OVERHEAD 768u
#define MESSAGE_MAX(space) ((space) / 2 - 64 < 36544 ? (space) / 2 - 64 : 36544)
#define WHOLE 32768u /* A write of so much is not cut, where there is space for it. */

struct message {
    struct rt_list link;
    uint32_t size;
    uint32_t read;
    size_t capacity;
    char *bytes;
};

struct unix_end {
    struct sim__description description;
    enum sim_sys_socket type;
    struct unix_end *peer; /* NULL: it has none, or that is closed. */
    struct rt_list received;
    struct rt_list spare; /* Messages, for reuse. */
    uint32_t charged;     /* For what it sent and is not read, … */
    uint32_t space;       /* … at most so much. */
    uint32_t shut;        /* enum sim_sys_shut: what is over. */
    int error;            /* Pending; 0: none. */
    bool refused;         /* A datagram was refused: the peer is closed. */
};

static struct unix_end *
unix_end_of(const struct sim__description *description)
{
    return rt_container_of(description, struct unix_end, description);
}

static struct message *
message_of(struct rt_list *node)
{
    return rt_container_of(node, struct message, link);
}

static bool
is_writable(const struct unix_end *end)
{
    return end->charged <= end->space / 4;
}

static uint32_t
unix_events(const struct sim__description *description)
{
    const struct unix_end *end = unix_end_of(description);
    uint32_t events = is_writable(end) ? SIM_FD_OUT : 0;
    events |= end->error != 0 ? SIM_FD_ERR : 0;
    events |= end->shut == SIM_SYS_SHUT_BOTH ? SIM_FD_HUP : 0;
    events |= (end->shut & SIM_SYS_SHUT_READ) != 0 ? SIM_FD_RDHUP | SIM_FD_IN : 0;
    return events | (rt_list_empty(&end->received) ? 0 : SIM_FD_IN);
}

/* ---- Messages. ------------------------------------------------------------------------------- */

static struct message *
message_new(struct unix_end *to, const char *bytes, uint32_t size)
{
    struct sim_world *world = to->description.fds->host->world;
    struct rt_list *spare = rt_list_pop_front(&to->spare);
    struct message *message = spare != NULL ? message_of(spare) : sim_new(world, struct message);
    sim__reserve(world, &message->bytes, size, &message->capacity, 1);
    sim__send(message->bytes, bytes, size);
    message->size = size;
    message->read = 0;
    rt_list_init(&message->link);
    return message;
}

/* The first message is gone: its sender, if that is open, has more space. */
static void
discard_first(struct unix_end *end)
{
    struct message *message = message_of(end->received.next);
    rt_assert(!rt_list_empty(&end->received));
    rt_list_unlink(&message->link);
    rt_list_push_back(&end->spare, &message->link);
    struct unix_end *sender = end->peer;
    if (sender != NULL) {
        rt_assert(sender->charged >= message->size + OVERHEAD);
        sender->charged -= message->size + OVERHEAD;
        if (is_writable(sender)) {
            sim__sys_changed(&sender->description, SIM_FD_OUT, 0);
        }
    }
}

static int64_t
bytes_there(const struct sim__description *description)
{
    const struct unix_end *end = unix_end_of(description);
    int64_t size = 0;
    rt_list_each(node, &end->received)
    {
        size += message_of(node)->size - message_of(node)->read;
        if (end->type == SIM_SYS_DGRAM) {
            return size; /* Of the next datagram. */
        }
    }
    return size;
}

/* ---- Reading. -------------------------------------------------------------------------------- */

/* There is nothing: why. */
static int64_t
nothing_there(struct unix_end *end)
{
    int error = end->error;
    end->error = 0;
    if (error != 0) {
        return -error;
    }
    bool over = end->type == SIM_SYS_STREAM && (end->shut & SIM_SYS_SHUT_READ) != 0;
    return over ? 0 : -EAGAIN;
}

/* Copies `size` bytes of the messages, which are there, and discards what was read; PEEK: nothing
 * is discarded. */
static void
copy_stream(struct unix_end *end, char *to, uint64_t size, bool peek)
{
    struct rt_list *node = end->received.next;
    while (size > 0) {
        struct message *message = message_of(node);
        node = node->next;
        uint64_t left = message->size - message->read;
        uint64_t part = left < size ? left : size;
        sim__receive(to, message->bytes + message->read, part);
        to += part;
        size -= part;
        message->read += peek ? 0 : (uint32_t)part;
        if (message->read == message->size && !peek) {
            discard_first(end);
        }
    }
}

/* The rest of a datagram is lost. */
static uint64_t
copy_datagram(struct unix_end *end, char *to, uint64_t size, bool peek)
{
    const struct message *message = message_of(end->received.next);
    uint64_t moved = message->size < size ? message->size : size;
    sim__receive(to, message->bytes, moved);
    if (!peek) {
        discard_first(end);
    }
    return moved;
}

static int64_t
unix_read(struct sim__description *description, void *buffer, size_t size, uint32_t flags,
        const struct rt_site *await)
{
    struct unix_end *end = unix_end_of(description);
    struct sim_source *source = description->source;
    bool peek = (flags & SIM_SYS_PEEK) != 0;
    if (size == 0 && flags == 0) {
        return 0;
    }
    if (rt_list_empty(&end->received)) {
        return nothing_there(end);
    }
    uint64_t there = (uint64_t)bytes_there(description);
    uint64_t moved = there < size ? there : size;
    if (end->type == SIM_SYS_DGRAM) {
        moved = copy_datagram(end, buffer, size, peek);
    } else {
        copy_stream(end, buffer, moved, peek);
    }
    if (!peek) {
        sim__source_moved(source, SIM_EVENT_READ, await, moved > 0 ? moved : 1);
        sim__source_level(source, (unix_events(description) & (SIM_FD_IN | SIM_FD_HUP)) != 0);
    }
    return (int64_t)moved;
}

/* ---- Writing. -------------------------------------------------------------------------------- */

static void
discard_all(struct unix_end *end)
{
    while (!rt_list_empty(&end->received)) {
        discard_first(end);
    }
}

/* The kernel had made the message already, and frees it, which is an edge. Returns `error`. */
static int
refuse_message(struct unix_end *end, int error)
{
    if (is_writable(end)) {
        sim__sys_changed(&end->description, SIM_FD_OUT, 0);
    }
    return error;
}

/* The peer of a socket for datagrams is closed: the first write that meets that disconnects it, and
 * what it has received from that peer is lost, as in Linux. */
static int
disconnect(struct unix_end *end)
{
    if (end->refused) {
        return refuse_message(end, -ENOTCONN);
    }
    end->refused = true;
    discard_all(end);
    sim__source_level(end->description.source, false);
    return refuse_message(end, -ECONNREFUSED);
}

/* Why nothing can be written now, or 0. */
static int
refusal(struct unix_end *end)
{
    if ((end->shut & SIM_SYS_SHUT_WRITE) != 0) {
        return -EPIPE;
    }
    if (end->peer == NULL) {
        return disconnect(end);
    }
    if ((end->peer->shut & SIM_SYS_SHUT_READ) != 0) {
        return refuse_message(end, -EPIPE);
    }
    return end->charged >= end->space ? -EAGAIN : 0;
}

static bool
unix_writable(const struct sim__description *description, size_t size)
{
    const struct unix_end *end = unix_end_of(description);
    (void)size;
    return end->charged < end->space || end->peer == NULL || end->shut != 0;
}

static void
send(struct unix_end *end, const char *bytes, uint32_t size)
{
    struct message *message = message_new(end->peer, bytes, size);
    end->charged += size + OVERHEAD;
    rt_list_push_back(&end->peer->received, &message->link);
    sim__sys_changed(&end->peer->description, SIM_FD_IN | SIM_FD_PRI, size > 0 ? size : 1);
}

/* Messages, as long as there is space for another one. */
static size_t
write_stream(struct unix_end *end, const char *bytes, size_t size)
{
    struct sim_source *source = end->description.source;
    const size_t full = size;
    size_t done = 0;
    if (size > WHOLE) {
        size = WHOLE + sim_actor_length(&source->actor, size - WHOLE);
    }
    while (done < size && end->charged < end->space) {
        size_t left = size - done;
        size_t part = left < MESSAGE_MAX(end->space) ? left : MESSAGE_MAX(end->space);
        send(end, bytes + done, (uint32_t)part);
        done += part;
    }
    if (done == size) { /* There is space for more. */
        sim__sys_short(&end->description, SIM_FD_OUT, done, full);
    }
    return done;
}

static int64_t
unix_write(struct sim__description *description, const void *buffer, size_t size,
        const struct rt_site *await)
{
    struct unix_end *end = unix_end_of(description);
    bool is_stream = end->type == SIM_SYS_STREAM;
    if (is_stream && size == 0) {
        return (end->shut & SIM_SYS_SHUT_WRITE) != 0 ? -EPIPE : 0;
    }
    if (!is_stream && size > end->space - 32) {
        return -EMSGSIZE;
    }
    int err = refusal(end);
    if (err != 0) {
        return err;
    }
    int64_t moved = (int64_t)size;
    if (is_stream) {
        moved = (int64_t)write_stream(end, buffer, size);
    } else {
        send(end, buffer, (uint32_t)size);
    }
    sim__source_moved(description->source, SIM_EVENT_WRITE, await, moved > 0 ? (uint64_t)moved : 1);
    return moved;
}

/* ---- The end. -------------------------------------------------------------------------------- */

/* What is over at one end is over at the other too, in the other direction. */
static uint32_t
mirrored(uint32_t how)
{
    return ((how & SIM_SYS_SHUT_READ) != 0 ? SIM_SYS_SHUT_WRITE : 0) |
           ((how & SIM_SYS_SHUT_WRITE) != 0 ? SIM_SYS_SHUT_READ : 0);
}

static int
unix_shutdown(struct sim__description *description, uint32_t how)
{
    struct unix_end *end = unix_end_of(description);
    end->shut |= how;
    sim__sys_changed(description, SIM__ANYTHING, 1);
    if (end->peer != NULL && end->type == SIM_SYS_STREAM) {
        end->peer->shut |= mirrored(how);
        sim__sys_changed(&end->peer->description, SIM__ANYTHING, 1);
    }
    return 0;
}

static int
unix_error(struct sim__description *description)
{
    struct unix_end *end = unix_end_of(description);
    int error = end->error;
    end->error = 0;
    return error;
}

static void
unix_set_buffer(struct sim__description *description, uint32_t way, uint32_t bytes)
{
    struct unix_end *end = unix_end_of(description);
    if (way == SIM_SYS_SHUT_WRITE) {
        end->space = 2 * bytes;
    }
    if (way == SIM_SYS_SHUT_WRITE && is_writable(end)) {
        sim__sys_changed(description, SIM_FD_OUT, 0);
    }
}

static void
unix_closed(struct sim__description *description)
{
    struct unix_end *end = unix_end_of(description);
    struct unix_end *peer = end->peer;
    if (peer == NULL) {
        return;
    }
    bool unread = !rt_list_empty(&end->received);
    if (peer->type == SIM_SYS_STREAM) {
        peer->error = unread ? ECONNRESET : peer->error;
        peer->shut = SIM_SYS_SHUT_BOTH;
        sim__sys_changed(&peer->description, SIM__ANYTHING, 1);
    }
    discard_all(end);
    peer->peer = NULL;
    end->peer = NULL;
}

static uint32_t
unix_left(const struct sim__description *description)
{
    return (uint32_t)bytes_there(description);
}

static const struct sim__sys_ops unix_sys = {.read = unix_read,
        .write = unix_write,
        .writable = unix_writable,
        .readable = bytes_there,
        .shutdown = unix_shutdown,
        .error = unix_error,
        .set_buffer = unix_set_buffer};
static const struct sim__description_ops unix_ops = {
        .sys = &unix_sys, .events = unix_events, .left = unix_left, .closed = unix_closed};

static struct unix_end *
end_new(struct sim_fds *fds, enum sim_sys_socket type, const char *name, const char *suffix)
{
    struct sim_world *world = fds->host->world;
    struct unix_end *end = sim_new(world, struct unix_end);
    sim__sys_init(&end->description, fds, &unix_ops, sim__name_join(world, name, suffix));
    end->type = type;
    end->space = SPACE;
    rt_list_init(&end->received);
    rt_list_init(&end->spare);
    return end;
}

int
sim_sys_socketpair(struct sim_fds *fds, const char *name, enum sim_sys_socket type, int ret_fd[2])
{
    sim__fds_call(fds, "socketpair");
    int err = sim__sys_available(fds, 2);
    if (err != 0) {
        return err;
    }
    struct unix_end *a = end_new(fds, type, name, "");
    struct unix_end *b = end_new(fds, type, name, ", other end");
    a->peer = b;
    b->peer = a;
    ret_fd[0] = sim__fd_open(&a->description);
    ret_fd[1] = sim__fd_open(&b->description);
    return 0;
}
