/*
 * uring_send.c -- what was written and is not sent yet: a copy, the kernel's until it is done (U1).
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "runtime/host/uring_internal.h"

static uint64_t
send_word(const struct rt_uring *uring, uint32_t number, enum uring_kind kind)
{
    return uring_word(kind, number, uring->sends[number]->generation);
}

static rt_err
new_send(struct rt_uring *uring, uint32_t *ret_number)
{
    if (uring->free_send == 0) {
        struct rt_uring_send **grown =
                realloc(uring->sends, (uring->send_count + 1) * sizeof(*grown));
        if (grown == NULL) {
            return RT_E_FULL;
        }
        uring->sends = grown;
        grown[uring->send_count] = calloc(1, sizeof(**grown));
        if (grown[uring->send_count] == NULL) {
            return RT_E_FULL;
        }
        uring->free_send = ++uring->send_count;
    }
    *ret_number = uring->free_send - 1;
    uring->free_send = uring->sends[*ret_number]->next_free;
    return RT_OK;
}

static void
submit_send(struct rt_uring *uring, uint32_t number, int fd)
{
    struct rt_uring_send *send = uring->sends[number];
    struct io_uring_sqe *sqe = uring_sqe(uring);
    io_uring_prep_send(
            sqe, fd, send->bytes + send->from, send->size - send->from, MSG_NOSIGNAL | MSG_WAITALL);
    io_uring_sqe_set_data64(sqe, send_word(uring, number, URING_SEND));
}

static void
free_send(struct rt_uring *uring, uint32_t number)
{
    struct rt_uring_send *send = uring->sends[number];
    if (send->descriptor >= 0) {
        rt_socket_close(send->descriptor);
        send->descriptor = -1;
    }
    send->generation++;
    send->next_free = uring->free_send;
    uring->free_send = number + 1;
    uring->sends_started--;
}

/* Its socket, as far as it is still open, hears of it. */
static void
report_sent(struct rt_uring *uring, int fd, int error)
{
    struct rt_uring_socket *socket = uring_socket_at(uring, fd);
    socket->send = 0;
    if (error != 0 && socket->error == 0) {
        socket->error = error;
        uring_report(uring, socket, RT_NET_WRITABLE | RT_NET_ERROR);
    }
    if (socket->shuts) {
        (void)shutdown(fd, SHUT_WR);
    }
    if (socket->wants_space) {
        socket->wants_space = false;
        uring_report(uring, socket, RT_NET_WRITABLE);
    }
}

void
uring_sent(struct rt_uring *uring, uint32_t number, uint32_t generation, int result)
{
    struct rt_uring_send *send = uring->sends[number];
    rt_assert(send->generation == generation);
    send->from += result > 0 ? (uint32_t)result : 0;
    int fd = send->socket >= 0 ? send->socket : send->descriptor;
    if (result > 0 && send->from < send->size) {
        submit_send(uring, number, fd);
        return;
    }
    int socket = send->socket;
    free_send(uring, number);
    if (socket >= 0) {
        report_sent(uring, socket, result < 0 ? -result : 0);
    }
}

/* The socket is closed while its send is under way: a duplicate keeps the connection until that is
 * done, or the time is over. */
void
uring_let_linger(struct rt_uring *uring, struct rt_uring_socket *socket)
{
    static struct __kernel_timespec limit = {.tv_sec = RT_URING_LINGER_S};
    uint32_t number = socket->send - 1;
    struct rt_uring_send *send = uring->sends[number];
    send->descriptor = dup(uring_number_of(uring, socket));
    send->socket = -1;
    struct io_uring_sqe *sqe = uring_sqe(uring);
    io_uring_prep_timeout(sqe, &limit, 0, 0);
    io_uring_sqe_set_data64(sqe, send_word(uring, number, URING_LINGER));
    uring_submit(uring); /* The send must know the connection before the descriptor is closed. */
}

void
uring_linger_ended(struct rt_uring *uring, uint32_t number, uint32_t generation)
{
    if (uring->sends[number]->generation == generation) {
        uring_cancel(uring, send_word(uring, number, URING_SEND));
    }
}

/* Copies as many bytes of the parts as fit. */
static void
copy_in(struct rt_uring_send *send, const struct rt_net_part *parts, uint32_t count)
{
    send->size = 0;
    for (uint32_t i = 0; i < count && send->size < RT_URING_SEND; i++) {
        size_t space = RT_URING_SEND - send->size;
        size_t size = parts[i].size < space ? parts[i].size : space;
        if (size > 0) {
            memcpy(send->bytes + send->size, parts[i].bytes, size);
            send->size += (uint32_t)size;
        }
    }
}

rt_err
uring_write_later(struct rt_uring *uring, struct rt_uring_socket *socket,
        const struct rt_net_part *parts, uint32_t count, size_t *ret_size)
{
    uint32_t number;
    rt_err err = new_send(uring, &number);
    if (err != RT_OK) {
        return err;
    }
    struct rt_uring_send *send = uring->sends[number];
    send->socket = uring_number_of(uring, socket);
    send->descriptor = -1;
    send->from = 0;
    copy_in(send, parts, count);
    socket->send = number + 1;
    uring->sends_started++;
    submit_send(uring, number, send->socket);
    *ret_size = send->size;
    return RT_OK;
}

void
uring_sends_fini(struct rt_uring *uring)
{
    for (uint32_t i = 0; i < uring->send_count; i++) {
        if (uring->sends[i]->descriptor > 0) {
            rt_socket_close(uring->sends[i]->descriptor);
        }
        free(uring->sends[i]);
    }
    free(uring->sends);
}
