/*
 * socket.c -- sockets: pairs, ends, options, names.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <fcntl.h>
#include <limits.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "sim/host/sys_inet.h"
#include "sim/posix/number.h"
#include "sim/posix/signal.h"
#include "sim/posix/wait.h"

_Static_assert(SOCK_NONBLOCK == O_NONBLOCK && SOCK_CLOEXEC == O_CLOEXEC, "flags of open");

#define TYPE(type) ((type) & ~(SOCK_NONBLOCK | SOCK_CLOEXEC))

int
sim__posix_socketpair(int domain, int type, int protocol, int ret[2])
{
    int ends[2];
    bool stream = TYPE(type) == SOCK_STREAM;
    (void)sim__posix_begin(-1);
    if (domain != AF_UNIX || protocol != 0) {
        return sim__posix_error(domain != AF_UNIX ? EAFNOSUPPORT : EPROTONOSUPPORT);
    }
    if (!stream && TYPE(type) != SOCK_DGRAM) {
        return sim__posix_error(ESOCKTNOSUPPORT);
    }
    int result = sim_sys_socketpair(
            sim__posix_fds(), "socket pair", stream ? SIM_SYS_STREAM : SIM_SYS_DGRAM, ends);
    if (result < 0) {
        return sim__posix_result(result);
    }
    ret[0] = sim__posix_opened(ends[0], type & ~TYPE(type));
    ret[1] = sim__posix_opened(ends[1], type & ~TYPE(type));
    sim__posix_note_pair(ends);
    return 0;
}

int
sim__posix_shutdown(int fd, int how)
{
    static const enum sim_sys_shut hows[] = {
            SIM_SYS_SHUT_READ, SIM_SYS_SHUT_WRITE, SIM_SYS_SHUT_BOTH};
    (void)sim__posix_begin(fd);
    if (how < SHUT_RD || how > SHUT_RDWR) {
        return sim__posix_error(EINVAL);
    }
    return sim__posix_result(sim_sys_shutdown(sim__posix_fds(), fd, hows[how]));
}

/* ---- With addresses. ------------------------------------------------------------------------- */

int
sim__posix_socket(int domain, int type, int protocol)
{
    (void)sim__posix_begin(-1);
    (void)protocol; /* The type says it: TCP, UDP. */
    return sim__posix_opened(
            sim_sys_socket(sim__posix_fds(), domain, TYPE(type)), type & ~TYPE(type));
}

int
sim__posix_bind(int fd, const struct sockaddr *address, socklen_t size)
{
    (void)sim__posix_begin(fd);
    return sim__posix_result(sim_sys_bind(sim__posix_fds(), fd, address, size));
}

int
sim__posix_listen(int fd, int backlog)
{
    (void)sim__posix_begin(fd);
    return sim__posix_result(sim_sys_listen(sim__posix_fds(), fd, backlog));
}

int
sim__posix_connect(int fd, const struct sockaddr *address, socklen_t size)
{
    const struct rt_site *site = sim__posix_begin(fd);
    return sim__posix_result(sim_sys_connect(sim__posix_fds(), fd, address, size, site));
}

int
sim__posix_accept4(int fd, struct sockaddr *ret, socklen_t *size, int flags)
{
    struct sim_fds *fds = sim__posix_fds();
    const struct rt_site *site = sim__posix_begin(fd);
    int made = 0;
    do {
        made = sim_sys_accept(fds, fd, site);
    } while (sim__posix_restarts(made));
    if (made >= 0 && ret != NULL) {
        (void)sim_sys_address(fds, made, true, ret, size);
    }
    return sim__posix_opened(made, flags);
}

int
sim__posix_accept(int fd, struct sockaddr *ret, socklen_t *size)
{
    return sim__posix_accept4(fd, ret, size, 0);
}

int
sim__posix_getsockname(int fd, struct sockaddr *ret, socklen_t *size)
{
    return sim__posix_result(sim_sys_address(sim__posix_fds(), fd, false, ret, size));
}

int
sim__posix_getpeername(int fd, struct sockaddr *ret, socklen_t *size)
{
    return sim__posix_result(sim_sys_address(sim__posix_fds(), fd, true, ret, size));
}

/* ---- Options: those that say what a socket is; others are taken, and read back as 0. --------- */

int
sim__posix_setsockopt(int fd, int level, int name, const void *value, socklen_t size)
{
    struct sim_sys_socket_kind kind;
    struct linger linger;
    int err = sim_sys_socket_kind(sim__posix_fds(), fd, &kind);
    if (err == 0 && level == SOL_SOCKET && name == SO_LINGER && size >= sizeof(linger)) {
        memcpy(&linger, value, sizeof(linger));
        (void)sim_sys_set_close_resets(
                sim__posix_fds(), fd, linger.l_onoff != 0 && linger.l_linger == 0);
    }
    return sim__posix_result(err);
}

static int
option(int fd, int level, int name, const struct sim_sys_socket_kind *kind)
{
    if (level != SOL_SOCKET) {
        return 0;
    }
    switch (name) {
    case SO_TYPE:
        return kind->type;
    case SO_DOMAIN:
        return kind->domain;
    case SO_ACCEPTCONN:
        return kind->listens;
    case SO_ERROR:
        return sim_sys_socket_error(sim__posix_fds(), fd);
    case SO_SNDBUF:
    case SO_RCVBUF:
        return 65536;
    default:
        return 0;
    }
}

int
sim__posix_getsockopt(int fd, int level, int name, void *ret, socklen_t *size)
{
    struct sim_sys_socket_kind kind;
    (void)sim__posix_begin(fd);
    int result = sim_sys_socket_kind(sim__posix_fds(), fd, &kind);
    if (result < 0) {
        return sim__posix_result(result);
    }
    int value = option(fd, level, name, &kind);
    socklen_t part = *size < sizeof(value) ? *size : (socklen_t)sizeof(value);
    memset(ret, 0, *size);
    memcpy(ret, &value, part);
    return 0;
}

/* ---- Datagrams and messages. ----------------------------------------------------------------- */

ssize_t
sim__posix_sendto(int fd, const void *from, size_t size, int flags, const struct sockaddr *address,
        socklen_t address_size)
{
    if (address == NULL) {
        return sim__posix_send(fd, from, size, flags);
    }
    const struct rt_site *site = sim__posix_begin(fd);
    return (ssize_t)sim__posix_result(
            sim_sys_send_to(sim__posix_fds(), fd, from, size, address, address_size, site));
}

ssize_t
sim__posix_recvfrom(
        int fd, void *to, size_t size, int flags, struct sockaddr *ret, socklen_t *ret_size)
{
    ssize_t moved = sim__posix_recv(fd, to, size, flags);
    if (moved >= 0 && ret != NULL) {
        (void)sim_sys_sender(sim__posix_fds(), fd, ret, ret_size);
    }
    return moved;
}

/* All parts in one block; NULL: errno is set. */
static char *
gather(const struct msghdr *message, bool fill, size_t *ret_size)
{
    size_t size = 0;
    for (size_t i = 0; i < message->msg_iovlen; i++) {
        size += message->msg_iov[i].iov_len;
    }
    char *whole = size <= INT_MAX ? malloc(size + 1) : NULL;
    size_t used = 0;
    for (size_t i = 0; i < message->msg_iovlen && whole != NULL && fill; i++) {
        const struct iovec *part = &message->msg_iov[i];
        if (part->iov_len > 0) {
            memcpy(whole + used, part->iov_base, part->iov_len);
        }
        used += part->iov_len;
    }
    *ret_size = size;
    return whole;
}

/* Descriptors and credentials in messages are not simulated. */
ssize_t
sim__posix_sendmsg(int fd, const struct msghdr *message, int flags)
{
    size_t size = 0;
    if (message->msg_controllen > 0) {
        sim__posix_refuse("sendmsg with control data");
    }
    char *whole = gather(message, true, &size);
    if (whole == NULL) {
        return sim__posix_error(ENOMEM);
    }
    const struct sockaddr *to = message->msg_namelen > 0 ? message->msg_name : NULL;
    ssize_t moved = sim__posix_sendto(fd, whole, size, flags, to, message->msg_namelen);
    free(whole);
    return moved;
}

ssize_t
sim__posix_recvmsg(int fd, struct msghdr *message, int flags)
{
    size_t size = 0;
    char *whole = gather(message, false, &size);
    if (whole == NULL) {
        return sim__posix_error(ENOMEM);
    }
    ssize_t moved =
            sim__posix_recvfrom(fd, whole, size, flags, message->msg_name, &message->msg_namelen);
    size_t left = moved > 0 ? (size_t)moved : 0;
    const char *from = whole;
    for (size_t i = 0; i < message->msg_iovlen && left > 0; i++) {
        size_t part = message->msg_iov[i].iov_len < left ? message->msg_iov[i].iov_len : left;
        memcpy(message->msg_iov[i].iov_base, from, part);
        from += part;
        left -= part;
    }
    free(whole);
    message->msg_controllen = 0;
    message->msg_flags = 0;
    return moved;
}

/* One of many is a legal answer, and the callers repeat. */
int
sim__posix_sendmmsg(int fd, struct mmsghdr *messages, unsigned count, int flags)
{
    ssize_t moved = count > 0 ? sim__posix_sendmsg(fd, &messages[0].msg_hdr, flags) : 0;
    if (moved < 0 || count == 0) {
        return (int)moved;
    }
    messages[0].msg_len = (unsigned)moved;
    return 1;
}

int
sim__posix_recvmmsg(
        int fd, struct mmsghdr *messages, unsigned count, int flags, struct timespec *time)
{
    (void)time;
    int one = flags & ~MSG_WAITFORONE;
    ssize_t moved = count > 0 ? sim__posix_recvmsg(fd, &messages[0].msg_hdr, one) : 0;
    if (moved < 0 || count == 0) {
        return (int)moved;
    }
    messages[0].msg_len = (unsigned)moved;
    return 1;
}
