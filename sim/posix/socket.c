/*
 * socket.c -- sockets: pairs, ends, options, names.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <fcntl.h>
#include <limits.h>
#include <netinet/in.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>

#include "runtime/base/assert.h"
#include "sim/host/sys_inet.h"
#include "sim/posix/file.h"
#include "sim/posix/number.h"
#include "sim/posix/signal.h"
#include "sim/posix/wait.h"

_Static_assert(SOCK_NONBLOCK == O_NONBLOCK && SOCK_CLOEXEC == O_CLOEXEC, "flags of open");

/* Bytes of a buffer that a program may ask for (net.core.wmem_max). */
#define BUFFER_MOST 212992

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

/* ---- Addresses: to the host a Unix path is an abstract name, with its file's number. --------- */

#define PATH_AT offsetof(struct sockaddr_un, sun_path)
#define FILE_NAME "\1file"

union address {
    struct sockaddr any;
    struct sockaddr_un un;
    struct sockaddr_storage all;
};

static bool
is_path(const struct sockaddr *address, socklen_t size)
{
    return address != NULL && size > PATH_AT && address->sa_family == AF_UNIX &&
           ((const struct sockaddr_un *)(const void *)address)->sun_path[0] != '\0';
}

/* The path of a Unix address, absolute. False: errno is set. */
static bool
path_of(const struct sockaddr *address, socklen_t size, char ret[SIM__POSIX_PATH])
{
    char given[sizeof(struct sockaddr_un)] = {0};
    size_t part = size - PATH_AT;
    part = part < sizeof(given) - 1 ? part : sizeof(given) - 1;
    memcpy(given, (const char *)address + PATH_AT, part);
    return sim__posix_path_at(AT_FDCWD, given, ret) != NULL;
}

static socklen_t
name_file(const struct sim__posix_inode *inode, union address *ret)
{
    *ret = (union address){.un = {.sun_family = AF_UNIX}};
    memcpy(ret->un.sun_path + 1, FILE_NAME, sizeof(FILE_NAME));
    memcpy(ret->un.sun_path + 1 + sizeof(FILE_NAME), &inode->number, sizeof(inode->number));
    return (socklen_t)(PATH_AT + 1 + sizeof(FILE_NAME) + sizeof(inode->number));
}

/* As the host has `address`, in *ret; *ret_address is it, or as it was given. 0, or a negative
 * errno: there is no such file. */
static int
to_host(const struct sockaddr **address, socklen_t *size, union address *ret)
{
    char path[SIM__POSIX_PATH];
    int error = 0;
    if (!is_path(*address, *size)) {
        return 0;
    }
    if (!path_of(*address, *size, path)) {
        return -errno;
    }
    const struct sim__posix_inode *inode = sim__posix_inode(path, &error);
    if (inode == NULL || inode->kind != SIM__POSIX_SOCKET) {
        return inode != NULL || error == ENXIO ? -ECONNREFUSED : -error;
    }
    *size = name_file(inode, ret);
    *address = &ret->any;
    return 0;
}

static const struct sim__posix_inode *
file_named(const union address *address)
{
    ino_t number;
    if (address->any.sa_family != AF_UNIX ||
            memcmp(address->un.sun_path + 1, FILE_NAME, sizeof(FILE_NAME)) != 0) {
        return NULL;
    }
    memcpy(&number, address->un.sun_path + 1 + sizeof(FILE_NAME), sizeof(number));
    return sim__posix_inode_by(number);
}

/* Asks the host by `ask`, and gives the program's address. */
static int
from_host(int (*ask)(int fd, struct sockaddr *ret, socklen_t *size), int fd, struct sockaddr *ret,
        socklen_t *ret_size)
{
    union address address = {.any = {0}};
    socklen_t size = sizeof(address);
    int err = ask(fd, &address.any, &size);
    if (err != 0 || ret == NULL || ret_size == NULL) {
        return err;
    }
    const struct sim__posix_inode *inode = file_named(&address);
    if (inode != NULL) {
        memset(address.un.sun_path, 0, sizeof(address.un.sun_path));
        memcpy(address.un.sun_path, inode->bytes, inode->size);
        size = (socklen_t)(PATH_AT + inode->size + 1);
    }
    memcpy(ret, &address, size < *ret_size ? size : *ret_size);
    *ret_size = size;
    return 0;
}

static int
ask_own(int fd, struct sockaddr *ret, socklen_t *size)
{
    return sim_sys_address(sim__posix_fds(), fd, false, ret, size);
}

static int
ask_peer(int fd, struct sockaddr *ret, socklen_t *size)
{
    return sim_sys_address(sim__posix_fds(), fd, true, ret, size);
}

static int
ask_sender(int fd, struct sockaddr *ret, socklen_t *size)
{
    return sim_sys_sender(sim__posix_fds(), fd, ret, size);
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

static int
bind_to_path(int fd, const struct sockaddr *address, socklen_t size)
{
    char path[SIM__POSIX_PATH];
    union address named;
    int error = 0;
    if (!path_of(address, size, path)) {
        return -errno;
    }
    if (sim__posix_inode(path, &error) != NULL || error != ENOENT) {
        return error == ENOENT || error == ENXIO ? -EADDRINUSE : -error;
    }
    struct sim__posix_inode *inode = sim__posix_inode_new(path, SIM__POSIX_SOCKET, 0777);
    if (inode == NULL) {
        return -ENOENT;
    }
    const char *given = (const char *)address + PATH_AT;
    size_t length = strnlen(given, size - PATH_AT);
    bool fits = sim__posix_inode_resize(inode, length);
    rt_assert(fits);
    memcpy(inode->bytes, given, length);
    socklen_t named_size = name_file(inode, &named);
    int err = sim_sys_bind(sim__posix_fds(), fd, &named.any, named_size);
    if (err != 0) {
        sim__posix_unname(path);
    }
    return err;
}

int
sim__posix_bind(int fd, const struct sockaddr *address, socklen_t size)
{
    struct sim_sys_socket_kind kind;
    (void)sim__posix_begin(fd);
    int err = sim_sys_socket_kind(sim__posix_fds(), fd, &kind);
    if (err == 0 && kind.domain == AF_UNIX && is_path(address, size)) {
        return sim__posix_result(bind_to_path(fd, address, size));
    }
    return sim__posix_result(err != 0 ? err : sim_sys_bind(sim__posix_fds(), fd, address, size));
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
    union address named;
    const struct rt_site *site = sim__posix_begin(fd);
    int err = to_host(&address, &size, &named);
    if (err == 0) {
        do {
            err = sim_sys_connect(sim__posix_fds(), fd, address, size, site);
        } while (sim__posix_restarts(fd, SIM_SYS_SHUT_WRITE, err));
    }
    return sim__posix_result(err);
}

int
sim__posix_accept4(int fd, struct sockaddr *ret, socklen_t *size, int flags)
{
    struct sim_fds *fds = sim__posix_fds();
    const struct rt_site *site = sim__posix_begin(fd);
    int made = 0;
    do {
        made = sim_sys_accept(fds, fd, site);
    } while (sim__posix_restarts(fd, SIM_SYS_SHUT_READ, made));
    if (made >= 0) {
        (void)from_host(ask_peer, made, ret, size);
        sim__posix_description(made)->options = sim__posix_description(fd)->options;
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
    return sim__posix_result(from_host(ask_own, fd, ret, size));
}

int
sim__posix_getpeername(int fd, struct sockaddr *ret, socklen_t *size)
{
    return sim__posix_result(from_host(ask_peer, fd, ret, size));
}

/* ---- Options: how long calls wait. ----------------------------------------------------------- */

#define US INT64_C(1000000)

static bool
is_wait(int level, int name)
{
    return level == SOL_SOCKET && (name == SO_RCVTIMEO || name == SO_SNDTIMEO);
}

static enum sim_sys_shut
way_of(int name)
{
    return name == SO_RCVTIMEO ? SIM_SYS_SHUT_READ : SIM_SYS_SHUT_WRITE;
}

/* Zero: without end. A negative one: not at all. */
static int
set_wait(int fd, int name, const void *value, socklen_t size)
{
    struct timeval time;
    if (size < sizeof(time)) {
        return -EINVAL;
    }
    memcpy(&time, value, sizeof(time));
    if (time.tv_usec < 0 || time.tv_usec >= US) {
        return -EDOM;
    }
    const struct timespec asked = {time.tv_sec, (long)time.tv_usec * 1000};
    bool endless = time.tv_sec == 0 && time.tv_usec == 0;
    uint64_t wait_ns = endless ? SIM_NEVER : time.tv_sec < 0 ? 0 : sim__posix_ns(&asked);
    return sim_sys_set_socket_wait(sim__posix_fds(), fd, way_of(name), wait_ns);
}

static struct timeval
wait_of(int fd, int name)
{
    uint64_t ns = sim_sys_socket_wait(sim__posix_fds(), fd, way_of(name));
    int64_t us = ns == SIM_NEVER ? 0 : (int64_t)(ns / 1000);
    return (struct timeval){us / US, us % US};
}

/* ---- Options: those that say what a socket is; others are kept, and read back. --------------- */

/* The last one that was set first; an accepted socket shares those of its listener. */
struct option {
    const struct option *before;
    int level;
    int name;
    socklen_t size;
    char value[sizeof(struct linger)];
};

static const struct option *
option_set(int fd, int level, int name)
{
    const struct option *at = sim__posix_description(fd)->options;
    while (at != NULL && (at->level != level || at->name != name)) {
        at = at->before;
    }
    return at;
}

static bool
is_buffer(const struct option *option)
{
    return option->level == SOL_SOCKET &&
           (option->name == SO_SNDBUF || option->name == SO_RCVBUF) && option->size >= sizeof(int);
}

/* What is asked of a buffer, within what Linux gives; it says twice as much. */
static int
bytes_of(const struct option *option)
{
    int bytes = 0;
    memcpy(&bytes, option->value, sizeof(bytes));
    const int least = SIM_SYS_BUFFER_MIN;
    return bytes < least ? least : bytes > BUFFER_MOST ? BUFFER_MOST : bytes;
}

static void
keep_option(int fd, const struct option *asked)
{
    struct sim__description *description = sim__posix_description(fd);
    struct option *kept = sim_new(sim_world_current, struct option);
    *kept = *asked;
    kept->before = description->options;
    if (is_buffer(asked)) {
        const int bytes = 2 * bytes_of(asked);
        memcpy(kept->value, &bytes, sizeof(bytes));
    }
    description->options = kept;
}

/* What the host does for it. */
static void
obey_option(int fd, const struct option *option, int type)
{
    struct sim_fds *fds = sim__posix_fds();
    struct linger linger;
    int on = 0;
    memcpy(&on, option->value, sizeof(on));
    if (option->level == IPPROTO_IPV6 && option->name == IPV6_V6ONLY) {
        (void)sim_sys_set(fds, fd, SIM_SYS_ONLY_SIX, on != 0);
    }
    if (option->level != SOL_SOCKET) {
        return;
    }
    if (is_buffer(option)) {
        enum sim_sys_shut way = option->name == SO_RCVBUF ? SIM_SYS_SHUT_READ : SIM_SYS_SHUT_WRITE;
        (void)sim_sys_set_buffer(fds, fd, way, (uint32_t)bytes_of(option));
    }
    if (option->name == SO_LINGER && option->size == sizeof(linger)) {
        memcpy(&linger, option->value, sizeof(linger));
        (void)sim_sys_set(
                fds, fd, SIM_SYS_CLOSE_RESETS, linger.l_onoff != 0 && linger.l_linger == 0);
    }
    if (option->name == SO_REUSEPORT || (option->name == SO_REUSEADDR && type == SOCK_DGRAM)) {
        (void)sim_sys_set(fds, fd, SIM_SYS_SHARES_ADDRESS, on != 0);
    }
}

int
sim__posix_setsockopt(int fd, int level, int name, const void *value, socklen_t size)
{
    struct sim_sys_socket_kind kind;
    struct option option = {.level = level, .name = name, .size = size};
    int err = sim_sys_socket_kind(sim__posix_fds(), fd, &kind);
    if (err == 0 && is_wait(level, name)) {
        err = set_wait(fd, name, value, size);
    } else if (err == 0 && value != NULL && size > 0 && size <= sizeof(option.value)) {
        memcpy(option.value, value, size);
        keep_option(fd, &option);
        obey_option(fd, &option, kind.type);
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

/* A value of `known` bytes. */
static void
give(void *ret, socklen_t *size, const void *value, socklen_t known)
{
    *size = *size < known ? *size : known;
    memcpy(ret, value, *size);
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
    const struct option *set = option_set(fd, level, name);
    if (is_wait(level, name)) {
        const struct timeval time = wait_of(fd, name);
        give(ret, size, &time, sizeof(time));
    } else if (set != NULL) {
        give(ret, size, set->value, set->size);
    } else {
        int value = option(fd, level, name, &kind);
        give(ret, size, &value, sizeof(value));
    }
    return 0;
}

/* ---- Datagrams and messages. ----------------------------------------------------------------- */

/* TCP does not look at it. */
static bool
is_without_address(int fd, const struct sockaddr *address)
{
    struct sim_sys_socket_kind kind;
    return address == NULL || (sim_sys_socket_kind(sim__posix_fds(), fd, &kind) == 0 &&
                                      kind.type == SOCK_STREAM && kind.domain != AF_UNIX);
}

ssize_t
sim__posix_sendto(int fd, const void *from, size_t size, int flags, const struct sockaddr *address,
        socklen_t address_size)
{
    if (is_without_address(fd, address)) {
        return sim__posix_send(fd, from, size, flags);
    }
    union address named;
    const struct rt_site *site = sim__posix_begin(fd);
    int err = to_host(&address, &address_size, &named);
    return (ssize_t)sim__posix_result(err != 0 ? err
                                               : sim_sys_send_to(sim__posix_fds(), fd, from, size,
                                                         address, address_size, site));
}

ssize_t
sim__posix_recvfrom(
        int fd, void *to, size_t size, int flags, struct sockaddr *ret, socklen_t *ret_size)
{
    ssize_t moved = sim__posix_recv(fd, to, size, flags);
    if (moved >= 0 && ret != NULL) {
        (void)from_host(ask_sender, fd, ret, ret_size);
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

int
sim__posix_sendmmsg(int fd, struct mmsghdr *messages, unsigned count, int flags)
{
    ssize_t moved = 0;
    unsigned done = 0;
    while (done < count && (moved = sim__posix_sendmsg(fd, &messages[done].msg_hdr, flags)) >= 0) {
        messages[done++].msg_len = (unsigned)moved;
    }
    return moved < 0 && done == 0 ? (int)moved : (int)done;
}

int
sim__posix_recvmmsg(
        int fd, struct mmsghdr *messages, unsigned count, int flags, struct timespec *time)
{
    int one = flags & ~MSG_WAITFORONE;
    ssize_t moved = 0;
    unsigned done = 0;
    (void)time;
    while (done < count && (moved = sim__posix_recvmsg(fd, &messages[done].msg_hdr, one)) >= 0) {
        messages[done++].msg_len = (unsigned)moved;
        one |= (flags & MSG_WAITFORONE) != 0 ? MSG_DONTWAIT : 0;
    }
    return moved < 0 && done == 0 ? (int)moved : (int)done;
}
