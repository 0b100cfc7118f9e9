/*
 * socket.h -- Linux's sockets as calls that never block, with errno as an error of the runtime.
 *
 * What the hosts over Linux share (epoll.h): each call is one system call, or few, on a descriptor
 * that is nonblocking and closed by exec. None raises SIGPIPE, none answers EINTR.
 *
 * Errors. EAGAIN is RT_E_AGAIN. Every other failure is written into a `struct rt_failure`, which
 * knows the call and the errno; rt_failure_text makes the line for people. errno's that the runtime
 * has no word for are RT_E_SYSTEM.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef RT_HOST_SOCKET_H
#define RT_HOST_SOCKET_H

#include "runtime/io/net.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The last call that failed. All zero: none has. */
struct rt_failure {
    const char *operation; /* "connect"; static. */
    int error;             /* Its errno. */
};

/* errno `error` as an error of the runtime; 0 is RT_OK. */
rt_err rt_errno(int error);

/* Answers rt_errno(errno), and keeps what failed in *failure, unless that is only RT_E_AGAIN. */
rt_err rt_failed(struct rt_failure *failure, const char *operation);

/*
 * Writes "connect to 127.0.0.1:80: ECONNREFUSED (Connection refused)" into `text`, cut off at
 * `size` (> 0). `peer` NULL: no address. Returns `text`.
 */
const char *rt_failure_text(const struct rt_failure *failure, const struct rt_net_address *peer,
        char *text, size_t size);

/* Enough for any address as text, with its end. */
#define RT_ADDRESS_TEXT 56

/* Writes "127.0.0.1:80" or "[::1]:80" into `text` (RT_ADDRESS_TEXT). Returns `text`. */
const char *rt_address_text(const struct rt_net_address *address, char *text);

/* Reads what rt_address_text writes; "0.0.0.0:80" is every address of IPv4, port 0 a free one.
 * RT_E_INVALID: it is neither, and *ret_address is as it was. */
RT_MUST_CHECK rt_err rt_address_parse(const char *text, struct rt_net_address *ret_address);

/* How a listener is made. */
struct rt_listen_how {
    uint32_t backlog; /* > 0; the system may have a smaller limit. */
    bool shared;      /* SO_REUSEPORT: each shard has one at the same address. */
};

/* A listener at `address`. Its connections have TCP_NODELAY. Errors: RT_E_ADDRESS_IN_USE,
 * RT_E_NO_DESCRIPTOR, RT_E_FULL, RT_E_SYSTEM (for example EACCES: a port below 1024). */
RT_MUST_CHECK rt_err rt_socket_listen(const struct rt_net_address *address,
        struct rt_listen_how how, struct rt_failure *failure, int *ret_socket);

/* Starts to connect; RT_OK also when it is connected at once. An error that is known at once is
 * answered here, and no socket is left. */
RT_MUST_CHECK rt_err rt_socket_connect(
        const struct rt_net_address *address, struct rt_failure *failure, int *ret_socket);

/* The result of a connect whose socket was reported writable (N4). */
RT_MUST_CHECK rt_err rt_socket_connected(int socket, struct rt_failure *failure);

/* Takes one connection. What can go wrong with it alone is RT_E_ABORTED (N2). */
RT_MUST_CHECK rt_err rt_socket_accept(
        int socket, struct rt_failure *failure, int *ret_socket, struct rt_net_address *ret_peer);

/* Moves at most `size` (> 0) bytes, or those of `count` parts (1 to RT_NET_PARTS). The end, and a
 * peer that reads no more, are RT_E_CLOSED. A write to a pipe, which knows no MSG_NOSIGNAL, blocks
 * SIGPIPE for the call. */
RT_MUST_CHECK rt_err rt_socket_read(
        int socket, void *buffer, size_t size, struct rt_failure *failure, size_t *ret_size);
RT_MUST_CHECK rt_err rt_socket_write(int socket, const struct rt_net_part *parts, uint32_t count,
        struct rt_failure *failure, size_t *ret_size);

/* Within the machine: as rt_net_ops says (net.h). `path` has at most 107 bytes. */
RT_MUST_CHECK rt_err rt_socket_local_listen(
        const char *path, uint32_t backlog, struct rt_failure *failure, int *ret_socket);
RT_MUST_CHECK rt_err rt_socket_local_connect(
        const char *path, struct rt_failure *failure, int *ret_socket);
void rt_socket_local_forget(int socket);
RT_MUST_CHECK rt_err rt_socket_pipe(struct rt_failure *failure, int ret_sockets[2]);

/* Datagrams: as rt_net_ops says (net.h). */
RT_MUST_CHECK rt_err rt_socket_udp_bind(const struct rt_net_address *address,
        struct rt_failure *failure, int *ret_socket, struct rt_net_address *ret_local);
RT_MUST_CHECK rt_err rt_socket_udp_connect(
        int socket, const struct rt_net_address *peer, struct rt_failure *failure);
RT_MUST_CHECK rt_err rt_socket_send_to(int socket, const struct rt_net_address *to,
        const void *bytes, size_t size, struct rt_failure *failure);
RT_MUST_CHECK rt_err rt_socket_receive_from(int socket, void *buffer, size_t size,
        struct rt_failure *failure, struct rt_net_datagram *ret_datagram);

/* Nothing more will be written. RT_E_CLOSED: there is no connection any more. */
RT_MUST_CHECK rt_err rt_socket_shutdown(int socket, struct rt_failure *failure);

/* The address that the socket is bound to: the port that port 0 became. */
RT_MUST_CHECK rt_err rt_socket_address(
        int socket, struct rt_failure *failure, struct rt_net_address *ret_address);

/* The address of the other end. RT_E_SYSTEM: it is gone. */
RT_MUST_CHECK rt_err rt_socket_peer(
        int socket, struct rt_failure *failure, struct rt_net_address *ret_address);

/* Closes a descriptor. It is gone also where the system was interrupted. */
void rt_socket_close(int socket);

#ifdef __cplusplus
}
#endif
#endif
