/*
 * net_priv.h -- what the files of this folder share.
 *
 *      sim_net ── nodes ── listeners, sockets
 *          └───── connections by number: how a request in flight names its sender
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#pragma once

#include "sim/host/fd_priv.h"
#include "sim/host/net.h"

#define SIM__NODE_MAGIC 0x534e4f44u

/* What can arrive at a socket besides bytes; fewer than that are bytes. At a node, fewer than that
 * are connections, and others datagrams. */
#define SIM__ARRIVES UINT64_C(0x100000000)
enum sim__arrives {
    SIM__END = 1,   /* The peer has shut down, or closed. */
    SIM__RESET,     /* The connection was reset. */
    SIM__CONNECTED, /* The connection was made. */
    SIM__REFUSED,   /* There is no listener. */
    SIM__TIMED_OUT, /* There was no answer. */
    SIM__ASK_AGAIN, /* The request was not answered: it is sent again. */
    SIM__LISTENS    /* The address is ours. */
};

enum sim__socket_state {
    SIM__SOCKET_STARTED, /* Connecting, or about to listen. */
    SIM__SOCKET_LISTENS,
    SIM__SOCKET_CONNECTED,
    SIM__SOCKET_FAILED, /* Reset, or never connected. */
    SIM__SOCKET_CLOSED,
    SIM__SOCKET_DATAGRAMS
};

/* A datagram in flight, or received and not taken. */
struct sim__datagram {
    struct rt_list link; /* In a socket's queue, or net->spare. */
    uint32_t index;      /* In net->datagrams. */
    bool late;           /* On arrival it is sent again: others overtake it. */
    struct sim__socket *sender;
    struct rt_net_address from;
    struct rt_net_address to;
    char *bytes;
    size_t size;
    size_t capacity;
};

/* What a socket is open for. */
#define SIM__READS 1u
#define SIM__WRITES 2u

struct sim__socket {
    struct sim__end end; /* Of a connection; of a listener its description alone. */
    enum sim__socket_state state;
    bool is_listener;
    bool is_local;    /* Within the node: no latency, no fault of the network. */
    uint8_t ways;     /* SIM__READS, SIM__WRITES: a pipe's end has one. */
    const char *path; /* Of a local listener; NULL: none, or free again. */
    struct sim_node *node;
    struct sim_node *far;    /* Of the other end of a connection; NULL: none yet. */
    struct sim_actor *owner; /* Whose step opened it. */
    struct rt_list link;     /* In node->sockets. */
    uint16_t port;           /* Of the listener. */
    /* A connection's end. */
    uint32_t number;          /* Of the connection, from 1. */
    struct rt_net_address to; /* Where to it connects. */
    struct rt_net_address peer_address;
    struct rt_list queue_link; /* In its listener's queue: not accepted yet. */
    rt_err error;              /* To be returned once; RT_OK: none. */
    uint32_t tries;
    bool shut;        /* This end writes no more. */
    bool peer_closed; /* The peer is closed, and a reset is in flight to this end. */
    bool taken;       /* It was returned that it is connected. */
    bool has_peer;    /* Of datagrams: `to` is the only one. */
    /* A listener; of datagrams, those that have arrived. */
    uint32_t backlog;
    uint32_t waiting;
    bool exhausted; /* The last accept found no number. */
    struct rt_list queue;
};

struct sim_node {
    struct rt_net seam;
    uint32_t magic;
    uint32_t index; /* Its address is 10.0.0.index. */
    struct sim_net *net;
    struct sim_host *host;
    const char *name;
    struct sim_fds *fds;
    struct sim_source *source; /* Requests to connect, in flight to here. */
    struct rt_list link;       /* In net->nodes. */
    struct rt_list sockets;
    uint64_t heals_ns;   /* It is cut off until then. */
    uint32_t cut_streak; /* Times in a row that it was, with nothing sent in between. */
};

struct sim_net {
    struct sim_world *world;
    struct sim_net_options options;
    struct rt_list nodes;
    uint32_t nodes_count;
    struct sim__socket **connections; /* By number - 1: the socket that connects. */
    uint32_t connections_count;
    size_t connections_capacity;
    struct sim__datagram **datagrams; /* By index: how one in flight is named. */
    uint32_t datagrams_count;
    size_t datagrams_capacity;
    struct rt_list spare; /* Of those. */
    uint32_t ports_given; /* For datagrams. */
    char *gathered;       /* The parts of a write; NULL: none had several. */
    struct sim_binding binding;
};

/* The other end; NULL: none yet, or closed. */
static inline struct sim__socket *
sim__socket_peer(const struct sim__socket *socket)
{
    struct sim__end *peer = socket->end.peer;
    return peer != NULL ? rt_container_of(peer, struct sim__socket, end) : NULL;
}

/* ---- net.c ----------------------------------------------------------------------------------- */

/* Sends `what` (enum sim__arrives, or bytes) to `socket`. */
void sim__net_send(struct sim__socket *socket, uint64_t what);

/* Gives `socket` the next number of a connection. */
void sim__net_number(struct sim__socket *socket);

/* Sends its request to connect; a fault may lose it. */
void sim__net_ask(struct sim__socket *socket);

/* How long nothing can be sent from `from` to `to`; 0: at once. By fault `partition` `from` may be
 * cut off now. */
uint64_t sim__net_cut_ns(struct sim_node *from, const struct sim_node *to);

/* Whether fault `net` strikes at `node` now. */
bool sim__net_fault(struct sim_node *node);

/* Makes the end of `far` that waits in the backlog of `listener`, called `name`; `far` is sent that
 * it is connected. */
void sim__net_connect(struct sim__socket *listener, struct sim__socket *far, const char *name);

/* The node with `address`, or NULL. */
struct sim_node *sim__net_node_at(const struct sim_net *net, const struct rt_net_address *address);

/* ---- socket.c -------------------------------------------------------------------------------- */

/* A socket without a number, its source called `name`. */
struct sim__socket *sim__socket_new(struct sim_node *node, const char *name, uint16_t port);

/* The socket behind `fd`, which is open. */
struct sim__socket *sim__socket_of(const struct sim_node *node, int fd);

/* Resets the connection at this end, and at the peer as soon as the reset arrives there. */
void sim__socket_reset(struct sim__socket *socket);

/* The pending error, once; RT_OK: none. */
rt_err sim__socket_take_error(struct sim__socket *socket);

/* An edge: SIM_FD_…; wakes what waits on that node. */
void sim__socket_edge(struct sim__socket *socket, uint32_t events);

/* This end writes no more. */
void sim__socket_shut(struct sim__socket *socket);

/* ---- local.c: Unix sockets and pipes; parts of rt_net_ops. ----------------------------------- */

rt_err sim__node_local_listen(
        struct rt_net *seam, const char *path, uint32_t backlog, int *ret_socket);
rt_err sim__node_local_connect(struct rt_net *seam, const char *path, int *ret_socket);
void sim__node_local_forget(struct rt_net *seam, int socket);
rt_err sim__node_pipe(struct rt_net *seam, int ret_sockets[2]);

/* ---- datagram.c; parts of rt_net_ops. -------------------------------------------------------- */

rt_err sim__node_udp_bind(struct rt_net *seam, const struct rt_net_address *address,
        int *ret_socket, struct rt_net_address *ret_local);
rt_err sim__node_udp_connect(struct rt_net *seam, int socket, const struct rt_net_address *peer);
rt_err sim__node_send_to(struct rt_net *seam, int socket, const struct rt_net_address *to,
        const void *bytes, size_t size, const struct rt_site *await);
rt_err sim__node_receive_from(struct rt_net *seam, int socket, void *buffer, size_t size,
        struct rt_net_datagram *ret_datagram, const struct rt_site *await);

/* Datagram `index` has arrived at `node`. */
void sim__datagram_arrived(struct sim_node *node, uint32_t index);

/* Those that `socket` has and that were not taken are lost. */
void sim__datagrams_drop(struct sim__socket *socket);

/* ---- seam.c ---------------------------------------------------------------------------------- */

struct sim_node *sim__node_of(struct rt_net *seam);

/* RT_E_NO_DESCRIPTOR where fewer than `count` numbers are free (EMFILE), or by fault `capacity`. */
RT_MUST_CHECK rt_err sim__node_available(struct sim_node *node, uint32_t count);

extern const struct rt_net_ops sim__node_ops;
