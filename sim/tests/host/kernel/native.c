/*
 * native.c -- the calls of a program, by the kernel.
 *
 * Every descriptor is moved to the lowest free number from KERNEL_BASE on, so that its number does
 * not depend on what the test has open.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/ioctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/timerfd.h>
#include <time.h>
#include <unistd.h>

#include "sim/host/sys.h"
#include "sim/tests/host/kernel/arm.h"

static char buffer[KERNEL_BYTES];

/* What an address number stands for, and of which kind a descriptor is. */
static in_port_t ports[KERNEL_ADDRESSES];
static enum kernel_socket kinds[KERNEL_NUMBERS];

static int
number(int64_t fd)
{
    return KERNEL_BASE + (int)fd;
}

static int64_t
result(int64_t value)
{
    return value < 0 ? -errno : value;
}

static const struct {
    uint32_t fake;
    uint32_t native;
} bits[] = {{SIM_FD_IN, EPOLLIN}, {SIM_FD_OUT, EPOLLOUT}, {SIM_FD_ERR, EPOLLERR},
        {SIM_FD_HUP, EPOLLHUP}, {SIM_FD_RDHUP, EPOLLRDHUP}, {SIM_FD_PRI, EPOLLPRI},
        {SIM_FD_EDGE, EPOLLET}, {SIM_FD_ONESHOT, EPOLLONESHOT}, {SIM_FD_EXCLUSIVE, EPOLLEXCLUSIVE},
        {SIM_SYS_INVALID, POLLNVAL}};

static uint32_t
to_native(uint64_t events)
{
    uint32_t native = 0;
    for (size_t i = 0; i < sizeof(bits) / sizeof(bits[0]); i++) {
        native |= (events & bits[i].fake) != 0 ? bits[i].native : 0;
    }
    return native;
}

static uint32_t
from_native(uint32_t native)
{
    uint32_t events = 0;
    for (size_t i = 0; i < sizeof(bits) / sizeof(bits[0]); i++) {
        events |= (native & bits[i].native) != 0 ? bits[i].fake : 0;
    }
    return events;
}

/* ---- Numbers. -------------------------------------------------------------------------------- */

static int64_t
moved(int fd)
{
    int to = fd >= 0 ? fcntl(fd, F_DUPFD_CLOEXEC, KERNEL_BASE) : -1;
    if (fd >= 0) {
        (void)close(fd);
    }
    return result(to) - (to >= 0 ? KERNEL_BASE : 0);
}

/* Two descriptors; the result is the first. */
static int64_t
moved_pair(int made, const int fds[2])
{
    int64_t first = made == 0 ? moved(fds[0]) : result(made);
    if (made == 0) {
        (void)moved(fds[1]);
    }
    return first;
}

static int64_t
open_socketpair(int type)
{
    int fds[2] = {-1, -1};
    return moved_pair(socketpair(AF_UNIX, type | SOCK_NONBLOCK, 0, fds), fds);
}

static int64_t
open_pipe(void)
{
    int fds[2] = {-1, -1};
    return moved_pair(pipe2(fds, O_NONBLOCK), fds);
}

void
kernel_native_end(void)
{
    for (int i = 0; i < KERNEL_NUMBERS; i++) {
        (void)close(number(i));
    }
}

void
kernel_native_begin(void)
{
    (void)signal(SIGPIPE, SIG_IGN);
    kernel_native_end();
    for (size_t i = 0; i < KERNEL_ADDRESSES; i++) {
        ports[i] = htons(1); /* tcpmux: no socket has it. */
    }
}

/* ---- Waiting. -------------------------------------------------------------------------------- */

static int64_t
control(int how, const struct kernel_step *step)
{
    struct epoll_event event = {.events = to_native(step->c), .data = {.u64 = (uint64_t)step->b}};
    return result(epoll_ctl(number(step->a), how, number(step->b), &event));
}

static int64_t
wait_epoll(const struct kernel_step *step, struct kernel_result *ret)
{
    struct epoll_event events[KERNEL_EVENTS];
    int count = epoll_wait(number(step->a), events, (int)step->b, (int)step->c);
    for (int i = 0; i < count; i++) {
        ret->events[i].fd = (int)events[i].data.u64;
        ret->events[i].events = from_native(events[i].events);
    }
    ret->events_count = count > 0 ? (uint32_t)count : 0;
    return result(count);
}

static int64_t
poll_one(const struct kernel_step *step, struct kernel_result *ret)
{
    struct pollfd poll_fd = {.fd = number(step->a), .events = (short)to_native((uint64_t)step->b)};
    int count = poll(&poll_fd, 1, 0);
    ret->number = from_native((uint32_t)poll_fd.revents & 0xffffu);
    return result(count);
}

static int64_t
set_timer(const struct kernel_step *step)
{
    struct itimerspec set = {
            .it_value = {step->b / 1000, step->b % 1000 * 1000000},
            .it_interval = {(time_t)step->c / 1000, (long)step->c % 1000 * 1000000},
    };
    return result(timerfd_settime(number(step->a), 0, &set, NULL));
}

static int64_t
sleep_ms(int64_t ms)
{
    struct timespec time = {ms / 1000, ms % 1000 * 1000000};
    return result(nanosleep(&time, NULL));
}

/* ---- Bytes. ---------------------------------------------------------------------------------- */

static int64_t
took(int64_t size, struct kernel_result *ret)
{
    ret->number = size > 0 ? kernel_hash(buffer, (size_t)size) : 0;
    return result(size);
}

static int64_t
get_int(int level_error, int fd)
{
    int value = 0;
    socklen_t size = sizeof(value);
    int status = level_error ? getsockopt(fd, SOL_SOCKET, SO_ERROR, &value, &size)
                             : ioctl(fd, FIONREAD, &value);
    return status < 0 ? result(status) : value;
}

static int64_t
fill(const struct kernel_step *step)
{
    int64_t size = 0;
    do {
        size = write(number(step->a), kernel_bytes((size_t)step->b), (size_t)step->b);
    } while (size > 0);
    return result(size);
}

static int64_t
drain(int fd)
{
    int64_t size = 0;
    do {
        size = read(fd, buffer, sizeof(buffer));
    } while (size > 0);
    return result(size);
}

/* ---- Sockets with addresses. ----------------------------------------------------------------- */

static int64_t
open_socket(enum kernel_socket kind)
{
    int64_t fd = moved(socket(kernel_domain(kind), kernel_type(kind) | SOCK_NONBLOCK, 0));
    if (fd >= 0 && fd < KERNEL_NUMBERS) {
        kinds[fd] = kind;
    }
    return fd;
}

static enum kernel_socket
kind_of(const struct kernel_step *step)
{
    return step->a >= 0 && step->a < KERNEL_NUMBERS ? kinds[step->a] : KERNEL_TCP;
}

static int64_t
bind_socket(const struct kernel_step *step)
{
    struct sockaddr_storage address;
    in_port_t *port = &ports[step->b];
    in_port_t asked = *port == htons(1) ? 0 : *port;
    socklen_t size = kernel_address(kind_of(step), (int)step->b, asked, &address);
    int status = bind(number(step->a), (struct sockaddr *)&address, size);
    int64_t value = result(status);
    if (status == 0 && address.ss_family == AF_INET) {
        (void)getsockname(number(step->a), (struct sockaddr *)&address, &size);
        *port = ((struct sockaddr_in *)&address)->sin_port;
    }
    return value;
}

static int64_t
connect_socket(const struct kernel_step *step)
{
    struct sockaddr_storage address;
    socklen_t size = kernel_address(kind_of(step), (int)step->b, ports[step->b], &address);
    return result(connect(number(step->a), (struct sockaddr *)&address, size));
}

static int64_t
send_to(const struct kernel_step *step)
{
    struct sockaddr_storage address;
    socklen_t size = kernel_address(kind_of(step), (int)step->b, ports[step->b], &address);
    return result(sendto(
            number(step->a), kernel_bytes(step->c), step->c, 0, (struct sockaddr *)&address, size));
}

static int64_t
accept_one(const struct kernel_step *step)
{
    int64_t fd = moved(accept4(number(step->a), NULL, NULL, SOCK_NONBLOCK));
    if (fd >= 0 && fd < KERNEL_NUMBERS) {
        kinds[fd] = kind_of(step);
    }
    return fd;
}

/* The limit is set to the lowest free number meanwhile. */
static int64_t
accept_full(const struct kernel_step *step)
{
    struct rlimit before;
    int lowest = fcntl(number(step->a), F_DUPFD, 0);
    (void)close(lowest);
    (void)getrlimit(RLIMIT_NOFILE, &before);
    struct rlimit full = {(rlim_t)lowest, before.rlim_max};
    (void)setrlimit(RLIMIT_NOFILE, &full);
    int64_t value = result(accept4(number(step->a), NULL, NULL, SOCK_NONBLOCK));
    (void)setrlimit(RLIMIT_NOFILE, &before);
    return value;
}

/* Loopback delivers within the call that sends, or soon after on a busy machine. */
static int64_t
settle(void)
{
    struct timespec time = {0, 20000};
    return result(nanosleep(&time, NULL));
}

void
kernel_native(const struct kernel_step *step, struct kernel_result *ret)
{
    int fd = number(step->a);
    switch (step->call) {
    case KERNEL_EPOLL:
        ret->value = moved(epoll_create1(0));
        return;
    case KERNEL_PIPE:
        ret->value = open_pipe();
        return;
    case KERNEL_STREAM:
        ret->value = open_socketpair(SOCK_STREAM);
        return;
    case KERNEL_DGRAM:
        ret->value = open_socketpair(SOCK_DGRAM);
        return;
    case KERNEL_EVENT:
        ret->value = moved(
                eventfd((unsigned)step->a, EFD_NONBLOCK | (step->b != 0 ? EFD_SEMAPHORE : 0)));
        return;
    case KERNEL_TIMER:
        ret->value = moved(timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK));
        return;
    case KERNEL_SET:
        ret->value = set_timer(step);
        return;
    case KERNEL_ADD:
        ret->value = control(EPOLL_CTL_ADD, step);
        return;
    case KERNEL_MODIFY:
        ret->value = control(EPOLL_CTL_MOD, step);
        return;
    case KERNEL_REMOVE:
        ret->value = control(EPOLL_CTL_DEL, step);
        return;
    case KERNEL_WAIT:
        ret->value = wait_epoll(step, ret);
        return;
    case KERNEL_POLL:
        ret->value = poll_one(step, ret);
        return;
    case KERNEL_READ:
        ret->value = took(read(fd, buffer, (size_t)step->b), ret);
        return;
    case KERNEL_PEEK:
        ret->value = took(recv(fd, buffer, (size_t)step->b, MSG_PEEK), ret);
        return;
    case KERNEL_WRITE:
        ret->value = result(write(fd, kernel_bytes((size_t)step->b), (size_t)step->b));
        return;
    case KERNEL_POST:
        ret->value = result(write(fd, &step->c, sizeof(step->c)));
        return;
    case KERNEL_SHUTDOWN:
        ret->value = result(shutdown(fd, (int)step->b - 1));
        return;
    case KERNEL_DUP:
        ret->value = result(fcntl(fd, F_DUPFD, KERNEL_BASE));
        ret->value -= ret->value >= 0 ? KERNEL_BASE : 0;
        return;
    case KERNEL_DUP_TO:
        ret->value = result(dup2(fd, number(step->b)));
        ret->value -= ret->value >= 0 ? KERNEL_BASE : 0;
        return;
    case KERNEL_CLOSE:
        ret->value = result(close(fd));
        return;
    case KERNEL_ERROR:
        ret->value = get_int(1, fd);
        return;
    case KERNEL_READABLE:
        ret->value = get_int(0, fd);
        return;
    case KERNEL_SLEEP:
        ret->value = sleep_ms(step->a);
        return;
    case KERNEL_FILL:
        ret->value = fill(step);
        return;
    case KERNEL_DRAIN:
        ret->value = drain(fd);
        return;
    case KERNEL_SOCKET:
        ret->value = open_socket((enum kernel_socket)step->a);
        return;
    case KERNEL_BIND:
        ret->value = bind_socket(step);
        return;
    case KERNEL_LISTEN:
        ret->value = result(listen(fd, (int)step->b));
        return;
    case KERNEL_CONNECT:
        ret->value = connect_socket(step);
        return;
    case KERNEL_ACCEPT:
        ret->value = accept_one(step);
        return;
    case KERNEL_ACCEPT_FULL:
        ret->value = accept_full(step);
        return;
    case KERNEL_SEND_TO:
        ret->value = send_to(step);
        return;
    case KERNEL_SETTLE:
        ret->value = settle();
        return;
    case KERNEL_CALLS_COUNT:
        break;
    }
    abort();
}
