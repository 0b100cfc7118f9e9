/*
 * local.c -- streams within a node: Unix sockets with a path, and pipes.
 *
 * They are the sockets of socket.c. What is sent to one arrives at once, the network has no fault
 * for it, and the close of an end is known at the other one when the call returns.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <stdio.h>
#include <string.h>

#include "sim/host/net_priv.h"

#define NAME_SIZE 160u

/* A full pipe can be written to again when one is free. */
#define PAGE 4096u

static struct sim__socket *
local_new(struct sim_node *node, const char *format, const char *path)
{
    char name[NAME_SIZE];
    (void)snprintf(name, sizeof(name), "%s%s", format, path);
    struct sim__socket *socket =
            sim__socket_new(node, sim__name_join(node->net->world, name, ""), 0);
    socket->is_local = true;
    socket->end.description.owed = SIM_FD_IN | SIM_FD_OUT;
    return socket;
}

static struct sim__socket *
listener_at(const struct sim_node *node, const char *path)
{
    rt_list_each(link, &node->sockets)
    {
        struct sim__socket *socket = rt_container_of(link, struct sim__socket, link);
        if (socket->path != NULL && strcmp(socket->path, path) == 0) {
            return socket;
        }
    }
    return NULL;
}

rt_err
sim__node_local_listen(struct rt_net *seam, const char *path, uint32_t backlog, int *ret_socket)
{
    struct sim_node *node = sim__node_of(seam);
    sim__host_call(node->host, "listen");
    if (listener_at(node, path) != NULL) {
        return RT_E_ADDRESS_IN_USE;
    }
    rt_err err = sim__node_available(node, 1);
    if (err == RT_OK) {
        struct sim__socket *socket = local_new(node, "listener ", path);
        socket->is_listener = true;
        socket->backlog = backlog;
        socket->path = sim__name_join(node->net->world, path, "");
        socket->state = SIM__SOCKET_LISTENS;
        *ret_socket = sim__fd_open(&socket->end.description);
    }
    return err;
}

rt_err
sim__node_local_connect(struct rt_net *seam, const char *path, int *ret_socket)
{
    struct sim_node *node = sim__node_of(seam);
    char name[NAME_SIZE];
    sim__host_call(node->host, "connect");
    rt_err err = sim__node_available(node, 1);
    if (err != RT_OK) {
        return err;
    }
    struct sim__socket *listener = listener_at(node, path);
    if (listener == NULL) {
        return RT_E_REFUSED;
    }
    /* As in Linux, one more than the backlog fits. */
    if (listener->waiting > listener->backlog) {
        return RT_E_FULL;
    }
    struct sim__socket *socket = local_new(node, "connection to ", path);
    sim__net_number(socket);
    *ret_socket = sim__fd_open(&socket->end.description);
    (void)snprintf(name, sizeof(name), "connection %u at %s", socket->number, path);
    sim__net_connect(listener, socket, name);
    return RT_OK;
}

void
sim__node_local_forget(struct rt_net *seam, int socket)
{
    struct sim_node *node = sim__node_of(seam);
    rt_assert(sim__socket_of(node, socket)->is_local);
    sim__socket_of(node, socket)->path = NULL;
}

static struct sim__socket *
pipe_end_new(struct sim_node *node, const char *name, uint8_t way)
{
    struct sim__socket *end = local_new(node, name, "");
    end->state = SIM__SOCKET_CONNECTED;
    end->end.description.owed = 0;
    end->ways = way;
    return end;
}

rt_err
sim__node_pipe(struct rt_net *seam, int ret_sockets[2])
{
    struct sim_node *node = sim__node_of(seam);
    sim__host_call(node->host, "pipe");
    rt_err err = sim__node_available(node, 2);
    if (err == RT_OK) {
        struct sim__socket *reader = pipe_end_new(node, "pipe, reading end", SIM__READS);
        struct sim__socket *writer = pipe_end_new(node, "pipe, writing end", SIM__WRITES);
        writer->end.least = node->net->options.capacity < PAGE ? node->net->options.capacity : PAGE;
        reader->end.peer = &writer->end;
        writer->end.peer = &reader->end;
        ret_sockets[0] = sim__fd_open(&reader->end.description);
        ret_sockets[1] = sim__fd_open(&writer->end.description);
    }
    return err;
}
