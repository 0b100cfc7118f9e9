/*
 * sys_inet.h -- sockets with addresses on a table of the fake host: TCP, UDP, named Unix sockets.
 *
 * As sys.h: results are those of the system calls, a negative errno among them. All sockets of a
 * run are on one machine, of whichever table: tables are as processes. A connection, and each byte
 * and datagram of an internet socket, takes a latency of 20 us to 200 us; Unix sockets have none.
 * What is sent keeps its order; nothing is lost.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#pragma once

#include <sys/socket.h>

#include "sim/host/sys.h"

/* `domain` is AF_INET, AF_INET6 or AF_UNIX, `type` SOCK_STREAM or SOCK_DGRAM. -EAFNOSUPPORT,
 * -ESOCKTNOSUPPORT. */
int sim_sys_socket(struct sim_fds *fds, int domain, int type);

/* Port 0: the next free one. -EADDRINUSE: another socket of the type has it; -EINVAL: it has an
 * address already. */
int sim_sys_bind(struct sim_fds *fds, int fd, const struct sockaddr *address, socklen_t size);

/* -EOPNOTSUPP: datagrams. `backlog` below 1 is 1. */
int sim_sys_listen(struct sim_fds *fds, int fd, int backlog);

/* -EINPROGRESS where it is NONBLOCK, then -EALREADY while it is connecting. -EISCONN,
 * -ECONNREFUSED. Datagrams: where to those go that name no address; AF_UNSPEC: nowhere. */
int sim_sys_connect(struct sim_fds *fds, int fd, const struct sockaddr *address, socklen_t size,
        const struct rt_site *await);

/* Before it is connected: what its peer sends fills so many bytes, 1 to 65536 (SO_RCVBUF). */
int sim_sys_set_receive_size(struct sim_fds *fds, int fd, uint32_t size);

/* What a socket may say of itself, before it is bound or connected. */
enum sim_sys_says {
    SIM_SYS_AWAITS_LISTENER, /* Its connect waits where none listens at the address. */
    SIM_SYS_SHARES_ADDRESS,  /* It may have the same one as others that say so. */
    SIM_SYS_ONLY_SIX,        /* An IPv6 socket leaves IPv4 to others (IPV6_V6ONLY). */
    SIM_SYS_CLOSE_RESETS,    /* Its close resets the connection (SO_LINGER with a time of 0). */
    SIM_SYS_SAYS_COUNT
};
int sim_sys_set(struct sim_fds *fds, int fd, enum sim_sys_says what, bool on);

/* A new number. -EAGAIN: it is NONBLOCK and no connection waits; -EINVAL: it does not listen. */
int sim_sys_accept(struct sim_fds *fds, int fd, const struct rt_site *await);

/* Its own address, or its peer's (-ENOTCONN); `*size` as in getsockname. A socket of
 * sim_sys_socketpair has an empty one. */
int sim_sys_address(
        struct sim_fds *fds, int fd, bool of_peer, struct sockaddr *ret, socklen_t *size);

/* SOCK_STREAM or SOCK_DGRAM, AF_…, whether it listens. -ENOTSOCK. */
struct sim_sys_socket_kind {
    int domain;
    int type;
    bool listens;
};
int sim_sys_socket_kind(struct sim_fds *fds, int fd, struct sim_sys_socket_kind *ret);

/* A datagram to `address`; NULL: to where it is connected (-EDESTADDRREQ). `flags`: SIM_SYS_…. */
int64_t sim_sys_send_to(struct sim_fds *fds, int fd, const void *bytes, size_t size,
        const struct sockaddr *address, socklen_t address_size, const struct rt_site *await);

/* The address of the sender of what the last read of `fd` took; as sim_sys_address. */
int sim_sys_sender(struct sim_fds *fds, int fd, struct sockaddr *ret, socklen_t *size);
