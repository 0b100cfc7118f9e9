/*
 * record.c -- a call on a network, the recorder, and a record as text.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "sim/tests/host/record/record.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/host/socket.h"
#include "runtime/tests/test.h"
#include "sim/tests/host/kernel/arm.h"

#define COPY_MAX (1u << 20)
#define TEXT_SIZE 32768u
#define TEXT_STEPS 40u

/* ---- A call. --------------------------------------------------------------------------------- */

static int
socket_of(const struct record_place *place, const struct record_call *call)
{
    ck_assert_uint_lt(call->socket, place->sockets_count);
    return place->sockets[call->socket];
}

static rt_err
made(struct record_place *place, rt_err err, const int *sockets, uint32_t count,
        struct record_answer *ret)
{
    for (uint32_t i = 0; err == RT_OK && i < count; i++) {
        ck_assert_uint_lt(place->sockets_count, RECORD_SOCKETS);
        place->sockets[place->sockets_count++] = sockets[i];
        ret->made++;
    }
    return err;
}

static rt_err
make(struct record_place *place, const struct record_call *call, struct record_answer *ret)
{
    struct rt_net *net = place->net;
    int sockets[2] = {-1, -1};
    struct rt_net_address address = {.port = 0};
    rt_err err = RT_OK;
    switch ((uint32_t)call->kind) {
    case RECORD_LISTEN:
        err = net->ops->listen_start(net, &call->address, call->count, sockets);
        break;
    case RECORD_CONNECT:
        err = net->ops->connect_start(net, &call->address, sockets);
        break;
    case RECORD_ACCEPT:
        err = net->ops->accept(net, socket_of(place, call), sockets, &address);
        break;
    case RECORD_LOCAL_LISTEN:
        err = net->ops->local_listen(net, call->path, call->count, sockets);
        break;
    case RECORD_LOCAL_CONNECT:
        err = net->ops->local_connect(net, call->path, sockets);
        break;
    case RECORD_PIPE:
        err = net->ops->pipe(net, sockets);
        break;
    default:
        err = net->ops->udp_bind(net, &call->address, sockets, &address);
        ret->port = err == RT_OK ? address.port : 0;
        break;
    }
    return made(place, err, sockets, call->kind == RECORD_PIPE ? 2 : 1, ret);
}

static rt_err
receive(struct record_place *place, const struct record_call *call, struct record_answer *ret)
{
    struct rt_net_datagram datagram = {.size = 0};
    struct rt_net *net = place->net;
    rt_err err = net->ops->receive_from(
            net, socket_of(place, call), call->buffer, call->size, &datagram, RT_HERE);
    if (err == RT_OK) {
        ret->size = datagram.size;
        ret->full_size = datagram.full_size;
        ret->port = datagram.from.port;
    }
    return err;
}

static rt_err
move(struct record_place *place, const struct record_call *call, struct record_answer *ret)
{
    struct rt_net *net = place->net;
    int socket = socket_of(place, call);
    const struct rt_net_address *to = call->address.port != 0 ? &call->address : NULL;
    rt_err err = RT_OK;
    switch ((uint32_t)call->kind) {
    case RECORD_READ:
        err = net->ops->read(net, socket, call->buffer, call->size, &ret->size, RT_HERE);
        break;
    case RECORD_WRITE:
        return net->ops->write(net, socket, call->parts, call->count, &ret->size, RT_HERE);
    case RECORD_SEND_TO:
        return net->ops->send_to(net, socket, to, call->parts->bytes, call->parts->size, RT_HERE);
    default:
        err = receive(place, call, ret);
        break;
    }
    ret->hash = err == RT_OK ? kernel_hash(call->buffer, ret->size) : 0;
    return err;
}

static rt_err
control(struct record_place *place, const struct record_call *call)
{
    struct rt_net *net = place->net;
    int socket = socket_of(place, call);
    uint32_t object = 0;
    switch ((uint32_t)call->kind) {
    case RECORD_LISTEN_FINISH:
        return net->ops->listen_finish(net, socket);
    case RECORD_CONNECT_FINISH:
        return net->ops->connect_finish(net, socket);
    case RECORD_SHUTDOWN:
        return net->ops->shutdown(net, socket);
    case RECORD_UDP_CONNECT:
        return net->ops->udp_connect(net, socket, &call->address);
    case RECORD_WATCH:
        return net->ops->watch(net, socket, call->token, &object);
    case RECORD_LOCAL_FORGET:
        net->ops->local_forget(net, socket);
        return RT_OK;
    case RECORD_UNWATCH:
        net->ops->unwatch(net, socket);
        return RT_OK;
    default:
        net->ops->close(net, socket);
        return RT_OK;
    }
}

void
record_call(struct record_place *place, const struct record_call *call, struct record_answer *ret)
{
    memset(ret, 0, sizeof(*ret));
    switch (call->kind) {
    case RECORD_LISTEN:
    case RECORD_CONNECT:
    case RECORD_ACCEPT:
    case RECORD_LOCAL_LISTEN:
    case RECORD_LOCAL_CONNECT:
    case RECORD_PIPE:
    case RECORD_UDP_BIND:
        ret->err = make(place, call, ret);
        return;
    case RECORD_READ:
    case RECORD_WRITE:
    case RECORD_SEND_TO:
    case RECORD_RECEIVE_FROM:
        ret->err = move(place, call, ret);
        return;
    case RECORD_FETCH:
        ret->events_count = place->net->ops->fetch(
                place->net, ret->events, call->count < RECORD_EVENTS ? call->count : RECORD_EVENTS);
        return;
    case RECORD_LISTEN_FINISH:
    case RECORD_CONNECT_FINISH:
    case RECORD_SHUTDOWN:
    case RECORD_LOCAL_FORGET:
    case RECORD_UDP_CONNECT:
    case RECORD_CLOSE:
    case RECORD_WATCH:
    case RECORD_UNWATCH:
        ret->err = control(place, call);
        return;
    }
    abort();
}

/* ---- The recorder. --------------------------------------------------------------------------- */

static struct {
    struct rt_net net;
    struct record_place place;
    struct record record;
} recorder;

/* The bytes of all parts, as one part. */
static const struct rt_net_part *
copy_parts(const struct rt_net_part *parts, uint32_t count)
{
    struct rt_net_part *copy = malloc(sizeof(*copy));
    ck_assert_ptr_nonnull(copy);
    size_t all = rt_net_size(parts, count);
    size_t size = 0;
    char *bytes = malloc(all + 1);
    ck_assert_uint_le(all, COPY_MAX);
    ck_assert_ptr_nonnull(bytes);
    for (uint32_t i = 0; i < count; i++) {
        memcpy(bytes + size, parts[i].size > 0 ? parts[i].bytes : "", parts[i].size);
        size += parts[i].size;
    }
    *copy = (struct rt_net_part){bytes, size};
    return copy;
}

static struct record_answer *
keep(const struct record_call *call)
{
    ck_assert_uint_lt(recorder.record.count, RECORD_STEPS);
    struct record_step *step = &recorder.record.steps[recorder.record.count++];
    step->call = *call;
    step->call.buffer = NULL;
    step->call.path = call->path != NULL ? strdup(call->path) : NULL;
    if (call->parts != NULL) {
        step->call.parts = copy_parts(call->parts, call->count);
        step->call.count = 1;
    }
    record_call(&recorder.place, call, &step->answer);
    return &step->answer;
}

/* The newest one with that number. */
static uint32_t
number_of(int socket)
{
    uint32_t i = recorder.place.sockets_count;
    while (i > 0 && recorder.place.sockets[i - 1] != socket) {
        i--;
    }
    ck_assert_msg(i > 0, "socket %d was not made by a recorded call", socket);
    return i - 1;
}

static rt_err
keep_made(const struct record_call *call, int *ret_sockets, uint32_t count)
{
    const struct record_answer *answer = keep(call);
    for (uint32_t i = 0; i < answer->made; i++) {
        ret_sockets[i] = recorder.place.sockets[recorder.place.sockets_count - count + i];
    }
    return answer->err;
}

/* A call of one socket, without more. */
static rt_err
keep_control(enum record_kind kind, int socket)
{
    return keep(&(struct record_call){.kind = kind, .socket = number_of(socket)})->err;
}

/* The port that the system gave it is the one that it asks for in the simulator. */
static rt_err
on_listen_start(
        struct rt_net *net, const struct rt_net_address *address, uint32_t backlog, int *ret_socket)
{
    struct record_call call = {.kind = RECORD_LISTEN, .address = *address, .count = backlog};
    struct rt_failure failure;
    struct rt_net_address given;
    rt_err err = keep_made(&call, ret_socket, 1);
    (void)net;
    if (err == RT_OK) {
        EXPECT_EQ(rt_socket_address(*ret_socket, &failure, &given), RT_OK);
        recorder.record.steps[recorder.record.count - 1].call.address.port = given.port;
    }
    return err;
}

static rt_err
on_listen_finish(struct rt_net *net, int socket)
{
    (void)net;
    return keep_control(RECORD_LISTEN_FINISH, socket);
}

static rt_err
on_connect_start(struct rt_net *net, const struct rt_net_address *address, int *ret_socket)
{
    (void)net;
    return keep_made(
            &(struct record_call){.kind = RECORD_CONNECT, .address = *address}, ret_socket, 1);
}

static rt_err
on_connect_finish(struct rt_net *net, int socket)
{
    (void)net;
    return keep_control(RECORD_CONNECT_FINISH, socket);
}

static rt_err
on_accept(struct rt_net *net, int socket, int *ret_socket, struct rt_net_address *ret_peer)
{
    struct rt_failure failure;
    struct record_call call = {.kind = RECORD_ACCEPT, .socket = number_of(socket)};
    rt_err err = keep_made(&call, ret_socket, 1);
    (void)net;
    memset(ret_peer, 0, sizeof(*ret_peer));
    if (err == RT_OK) {
        rt_err err_of_peer = rt_socket_peer(*ret_socket, &failure, ret_peer);
        ck_assert(err_of_peer == RT_OK || err_of_peer == RT_E_SYSTEM);
    }
    return err;
}

static rt_err
on_read(struct rt_net *net, int socket, void *buffer, size_t size, size_t *ret_size,
        const struct rt_site *await)
{
    const struct record_answer *answer = keep(&(struct record_call){
            .kind = RECORD_READ, .socket = number_of(socket), .buffer = buffer, .size = size});
    (void)net;
    (void)await;
    *ret_size = answer->size;
    return answer->err;
}

static rt_err
on_write(struct rt_net *net, int socket, const struct rt_net_part *parts, uint32_t count,
        size_t *ret_size, const struct rt_site *await)
{
    const struct record_answer *answer = keep(&(struct record_call){
            .kind = RECORD_WRITE, .socket = number_of(socket), .parts = parts, .count = count});
    (void)net;
    (void)await;
    *ret_size = answer->size;
    return answer->err;
}

static rt_err
on_shutdown(struct rt_net *net, int socket)
{
    (void)net;
    return keep_control(RECORD_SHUTDOWN, socket);
}

static rt_err
on_local_listen(struct rt_net *net, const char *path, uint32_t backlog, int *ret_socket)
{
    struct record_call call = {.kind = RECORD_LOCAL_LISTEN, .path = path, .count = backlog};
    (void)net;
    return keep_made(&call, ret_socket, 1);
}

static rt_err
on_local_connect(struct rt_net *net, const char *path, int *ret_socket)
{
    (void)net;
    return keep_made(
            &(struct record_call){.kind = RECORD_LOCAL_CONNECT, .path = path}, ret_socket, 1);
}

static void
on_local_forget(struct rt_net *net, int socket)
{
    (void)net;
    (void)keep_control(RECORD_LOCAL_FORGET, socket);
}

static rt_err
on_pipe(struct rt_net *net, int ret_sockets[2])
{
    (void)net;
    return keep_made(&(struct record_call){.kind = RECORD_PIPE}, ret_sockets, 2);
}

static rt_err
on_udp_bind(struct rt_net *net, const struct rt_net_address *address, int *ret_socket,
        struct rt_net_address *ret_local)
{
    struct record_call call = {.kind = RECORD_UDP_BIND, .address = *address};
    rt_err err = keep_made(&call, ret_socket, 1);
    struct record_step *step = &recorder.record.steps[recorder.record.count - 1];
    (void)net;
    *ret_local = *address;
    ret_local->port = step->answer.port;
    step->call.address.port = step->answer.port;
    return err;
}

static rt_err
on_udp_connect(struct rt_net *net, int socket, const struct rt_net_address *peer)
{
    (void)net;
    return keep(&(struct record_call){
                        .kind = RECORD_UDP_CONNECT, .socket = number_of(socket), .address = *peer})
            ->err;
}

static rt_err
on_send_to(struct rt_net *net, int socket, const struct rt_net_address *to, const void *bytes,
        size_t size, const struct rt_site *await)
{
    struct rt_net_part part = {bytes, size};
    struct record_call call = {
            .kind = RECORD_SEND_TO, .socket = number_of(socket), .parts = &part, .count = 1};
    (void)net;
    (void)await;
    if (to != NULL) {
        call.address = *to;
    }
    return keep(&call)->err;
}

static rt_err
on_receive_from(struct rt_net *net, int socket, void *buffer, size_t size,
        struct rt_net_datagram *ret_datagram, const struct rt_site *await)
{
    const struct record_answer *answer = keep(&(struct record_call){.kind = RECORD_RECEIVE_FROM,
            .socket = number_of(socket),
            .buffer = buffer,
            .size = size});
    (void)net;
    (void)await;
    *ret_datagram = (struct rt_net_datagram){
            answer->size, answer->full_size, rt_net_address_v4(127, 0, 0, 1, answer->port)};
    return answer->err;
}

static void
on_close(struct rt_net *net, int socket)
{
    (void)net;
    (void)keep_control(RECORD_CLOSE, socket);
}

static rt_err
on_watch(struct rt_net *net, int socket, uint64_t token, uint32_t *ret_object)
{
    (void)net;
    *ret_object = 0;
    return keep(&(struct record_call){
                        .kind = RECORD_WATCH, .socket = number_of(socket), .token = token})
            ->err;
}

static void
on_unwatch(struct rt_net *net, int socket)
{
    (void)net;
    (void)keep_control(RECORD_UNWATCH, socket);
}

static uint32_t
on_fetch(struct rt_net *net, struct rt_net_event *ret_events, uint32_t max)
{
    const struct record_answer *answer =
            keep(&(struct record_call){.kind = RECORD_FETCH, .count = max});
    (void)net;
    memcpy(ret_events, answer->events, answer->events_count * sizeof(*ret_events));
    return answer->events_count;
}

static rt_err
on_subscribe(struct rt_net *net, struct rt_pollable *pollable)
{
    (void)net;
    return recorder.place.net->ops->subscribe(recorder.place.net, pollable);
}

static const struct rt_net_ops ops = {.listen_start = on_listen_start,
        .listen_finish = on_listen_finish,
        .connect_start = on_connect_start,
        .connect_finish = on_connect_finish,
        .accept = on_accept,
        .read = on_read,
        .write = on_write,
        .shutdown = on_shutdown,
        .local_listen = on_local_listen,
        .local_connect = on_local_connect,
        .local_forget = on_local_forget,
        .pipe = on_pipe,
        .udp_bind = on_udp_bind,
        .udp_connect = on_udp_connect,
        .send_to = on_send_to,
        .receive_from = on_receive_from,
        .close = on_close,
        .watch = on_watch,
        .unwatch = on_unwatch,
        .fetch = on_fetch,
        .subscribe = on_subscribe};

struct rt_net *
record_begin(struct rt_net *inner)
{
    recorder.net = (struct rt_net){
            .magic = RT_NET_MAGIC, .ops = &ops, .short_reads_empty = inner->short_reads_empty};
    recorder.place = (struct record_place){.net = inner};
    recorder.record.count = 0;
    return &recorder.net;
}

/* ---- A record as text. ----------------------------------------------------------------------- */

static const char *const names[] = {"listen", "listen_finish", "connect", "connect_finish",
        "accept", "read", "write", "shutdown", "local_listen", "local_connect", "local_forget",
        "pipe", "udp_bind", "udp_connect", "send_to", "receive_from", "close", "watch", "unwatch",
        "fetch"};

static void
print_answer(FILE *file, const struct record_answer *answer)
{
    (void)fprintf(file, " %s", rt_err_name(answer->err));
    if (answer->size > 0) {
        (void)fprintf(file, " %zu bytes (%llx)", answer->size, (unsigned long long)answer->hash);
    }
    for (uint32_t i = 0; i < answer->events_count; i++) {
        (void)fprintf(file, " %llx:%x", (unsigned long long)answer->events[i].token,
                answer->events[i].events);
    }
}

static void
print_step(FILE *file, const struct record_step *step)
{
    (void)fprintf(file, "        %s %u", names[step->call.kind], step->call.socket);
    if (step->call.kind == RECORD_WATCH) {
        (void)fprintf(file, " as %llx", (unsigned long long)step->call.token);
    }
    (void)fprintf(file, ":");
    print_answer(file, &step->answer);
    (void)fprintf(file, "\n");
}

uint32_t
record_check(void)
{
    static char text[TEXT_SIZE];
    const struct record *record = &recorder.record;
    struct record_answer nearest;
    uint32_t reached = 0;
    uint32_t runs = 0;
    if (record_possible(record, &reached, &nearest, &runs)) {
        return record->count;
    }
    FILE *file = fmemopen(text, sizeof(text) - 1, "w");
    ck_assert_ptr_nonnull(file);
    for (uint32_t i = reached > TEXT_STEPS ? reached - TEXT_STEPS : 0; i <= reached; i++) {
        print_step(file, &record->steps[i]);
    }
    (void)fprintf(file, "the simulated network, in the nearest of %u runs:", runs);
    print_answer(file, &nearest);
    (void)fclose(file);
    ck_abort_msg("the machine did what the simulated network cannot, call %u of %u:\n%s",
            reached + 1, record->count, text);
}
