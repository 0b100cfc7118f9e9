/*
 * epoll.c -- the two seams over one epoll descriptor.
 *
 * What an event is about is its 64-bit word. A socket's is the token that the runtime gave, whose
 * upper half is a generation and never 0; ours are below 2^32: 0 the eventfd, n a descriptor's
 * index plus 1. Events of ours are handled before epoll_wait's caller sees anything, so none of
 * them can be about a pollable that was dropped. Those of sockets may be: their tokens say so (E7).
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "runtime/host/epoll.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <time.h>
#include <unistd.h>

#include "runtime/base/assert.h"
#include "runtime/base/list.h"
#include "runtime/host/libc_internal.h"

#define OUR_WORDS (UINT64_C(1) << 32)
#define WORD_NOTIFY UINT64_C(0)

_Static_assert(POLLIN == EPOLLIN && POLLOUT == EPOLLOUT, "one set of bits");

static struct rt_epoll *
epoll_of(struct rt_linux *base)
{
    rt_check(&base->host, RT_HOST_MAGIC);
    return rt_container_of(base, struct rt_epoll, base);
}

static struct rt_epoll *
epoll_of_net(struct rt_net *net)
{
    rt_check(net, RT_NET_MAGIC);
    return epoll_of(rt_linux_of_net(net));
}

/* ---- Time. ----------------------------------------------------------------------------------- */

#define NS_A_SECOND UINT64_C(1000000000)
#define NS_A_MS UINT64_C(1000000)

/* epoll_wait of at most `timeout_ns`, RT_LINUX_NEVER: no limit. The kernel before 5.11 counts
 * milliseconds: rounded up, or the sleep would end early and be repeated until it is late. */
static int
wait_ns(struct rt_epoll *epoll, struct epoll_event *events, int max, uint64_t timeout_ns)
{
    if (timeout_ns == 0 || timeout_ns == RT_LINUX_NEVER) {
        return epoll_wait(epoll->epoll, events, max, timeout_ns == 0 ? 0 : -1);
    }
    struct timespec timeout = {.tv_sec = (time_t)(timeout_ns / NS_A_SECOND),
            .tv_nsec = (long)(timeout_ns % NS_A_SECOND)};
    int count = epoll_pwait2(epoll->epoll, events, max, &timeout, NULL);
    if (count < 0 && errno == ENOSYS) {
        uint64_t ms = (timeout_ns + NS_A_MS - 1) / NS_A_MS;
        count = epoll_wait(epoll->epoll, events, max, ms > INT32_MAX ? INT32_MAX : (int)ms);
    }
    return count;
}

/* ---- Waiting: every event comes through here. ------------------------------------------------ */

/* True when the event is a socket's, to be kept for fetch. */
static bool
dispatch(struct rt_epoll *epoll, const struct epoll_event *event)
{
    uint64_t word = event->data.u64;
    if (word >= OUR_WORDS) {
        return true;
    }
    if (word != WORD_NOTIFY) {
        epoll->base.details[word - 1].armed = false;
        epoll->base.details[word - 1].found = true;
    }
    /* The eventfd is an edge: it has done its work, `notified` says the rest (E9). */
    return false;
}

/* Waits, and appends the events of sockets to the batch. Interrupted, or with no space: none came
 * (E6). */
static void
wait_for_events(struct rt_linux *base, uint64_t timeout_ns)
{
    struct rt_epoll *epoll = epoll_of(base);
    if (epoll->taken == epoll->filled) {
        epoll->taken = epoll->filled = 0;
    }
    uint32_t space = epoll->batch_max - epoll->filled;
    if (space == 0) {
        return;
    }
    struct epoll_event *end = epoll->batch + epoll->filled;
    int count = wait_ns(epoll, end, (int)space, timeout_ns);
    rt_assert(count >= 0 || errno == EINTR);
    epoll->waits++;
    epoll->looked = true;
    for (int i = 0; i < count; i++) {
        if (dispatch(epoll, &end[i])) {
            epoll->batch[epoll->filled++] = end[i];
        }
    }
}

static bool
has_batch(const struct rt_linux *base)
{
    const struct rt_epoll *epoll = rt_container_of(base, struct rt_epoll, base);
    return epoll->taken < epoll->filled;
}

/* ---- Descriptors as pollables. --------------------------------------------------------------- */

static rt_err
control(struct rt_epoll *epoll, int operation, int descriptor, uint32_t events, uint64_t word)
{
    struct epoll_event event = {.events = events, .data = {.u64 = word}};
    if (epoll_ctl(epoll->epoll, operation, descriptor, &event) == 0) {
        return RT_OK;
    }
    return rt_failed(&epoll->base.failure, "epoll_ctl");
}

static uint64_t
word_of(const struct rt_epoll *epoll, const struct rt_linux_descriptor *details)
{
    return (uint64_t)(details - epoll->base.details) + 1;
}

static void
arm(struct rt_linux *base, struct rt_linux_descriptor *details)
{
    struct rt_epoll *epoll = epoll_of(base);
    rt_err err = control(epoll, EPOLL_CTL_MOD, details->registered, details->what | EPOLLONESHOT,
            word_of(epoll, details));
    /* Closed under us, against the contract: its own call reports it (P4). */
    details->armed = err == RT_OK;
    details->found = err != RT_OK;
}

/* Adds `descriptor`; where it is registered already, a duplicate of it. */
static rt_err
add(struct rt_epoll *epoll, struct rt_linux_descriptor *details)
{
    uint64_t word = word_of(epoll, details);
    uint32_t events = details->what | EPOLLONESHOT;
    rt_err err = control(epoll, EPOLL_CTL_ADD, details->registered, events, word);
    if (err == RT_OK || epoll->base.failure.error != EEXIST) {
        return err;
    }
    details->registered = fcntl(details->descriptor, F_DUPFD_CLOEXEC, 0);
    if (details->registered < 0) {
        return rt_failed(&epoll->base.failure, "dup");
    }
    err = control(epoll, EPOLL_CTL_ADD, details->registered, events, word);
    if (err != RT_OK) {
        rt_socket_close(details->registered);
    }
    return err;
}

static rt_err
add_descriptor(struct rt_linux *base, struct rt_linux_descriptor *details)
{
    rt_err err = add(epoll_of(base), details);
    details->armed = err == RT_OK;
    return err == RT_E_SYSTEM ? RT_E_INVALID : err;
}

static void
remove_descriptor(struct rt_linux *base, struct rt_linux_descriptor *details)
{
    (void)control(epoll_of(base), EPOLL_CTL_DEL, details->registered, 0, 0);
    if (details->registered != details->descriptor) {
        rt_socket_close(details->registered);
    }
}

static const struct rt_linux_ops linux_ops = {
        .wait = wait_for_events,
        .has_events = has_batch,
        .add = add_descriptor,
        .arm = arm,
        .remove = remove_descriptor,
};

rt_err
rt_epoll_subscribe(
        struct rt_epoll *epoll, int descriptor, uint32_t what, struct rt_pollable *pollable)
{
    return rt_linux_subscribe(&epoll->base, descriptor, what, pollable);
}

/* ---- The seam of the network. ---------------------------------------------------------------- */

static rt_err
net_listen_start(
        struct rt_net *net, const struct rt_net_address *address, uint32_t backlog, int *ret_socket)
{
    struct rt_epoll *epoll = epoll_of_net(net);
    struct rt_listen_how how = {backlog, epoll->base.shared_ports};
    return rt_socket_listen(address, how, &epoll->base.failure, ret_socket);
}

static rt_err
net_connect_start(struct rt_net *net, const struct rt_net_address *address, int *ret_socket)
{
    return rt_socket_connect(address, &epoll_of_net(net)->base.failure, ret_socket);
}

static rt_err
net_connect_finish(struct rt_net *net, int socket)
{
    return rt_socket_connected(socket, &epoll_of_net(net)->base.failure);
}

static rt_err
net_accept(struct rt_net *net, int socket, int *ret_socket, struct rt_net_address *ret_peer)
{
    return rt_socket_accept(socket, &epoll_of_net(net)->base.failure, ret_socket, ret_peer);
}

static rt_err
net_read(struct rt_net *net, int socket, void *buffer, size_t size, size_t *ret_size,
        const struct rt_site *await)
{
    (void)await;
    return rt_socket_read(socket, buffer, size, &epoll_of_net(net)->base.failure, ret_size);
}

static rt_err
net_write(struct rt_net *net, int socket, const struct rt_net_part *parts, uint32_t count,
        size_t *ret_size, const struct rt_site *await)
{
    (void)await;
    return rt_socket_write(socket, parts, count, &epoll_of_net(net)->base.failure, ret_size);
}

static rt_err
net_shutdown(struct rt_net *net, int socket)
{
    return rt_socket_shutdown(socket, &epoll_of_net(net)->base.failure);
}

static rt_err
net_local_listen(struct rt_net *net, const char *path, uint32_t backlog, int *ret_socket)
{
    return rt_socket_local_listen(path, backlog, &epoll_of_net(net)->base.failure, ret_socket);
}

static rt_err
net_local_connect(struct rt_net *net, const char *path, int *ret_socket)
{
    return rt_socket_local_connect(path, &epoll_of_net(net)->base.failure, ret_socket);
}

static rt_err
net_pipe(struct rt_net *net, int ret_sockets[2])
{
    return rt_socket_pipe(&epoll_of_net(net)->base.failure, ret_sockets);
}

static rt_err
net_udp_bind(struct rt_net *net, const struct rt_net_address *address, int *ret_socket,
        struct rt_net_address *ret_local)
{
    return rt_socket_udp_bind(address, &epoll_of_net(net)->base.failure, ret_socket, ret_local);
}

static void
net_close(struct rt_net *net, int socket)
{
    (void)net;
    rt_socket_close(socket);
}

static rt_err
net_watch(struct rt_net *net, int socket, uint64_t token, uint32_t *ret_object)
{
    rt_assert(token >= OUR_WORDS);
    *ret_object = 0;
    return control(epoll_of_net(net), EPOLL_CTL_ADD, socket,
            EPOLLIN | EPOLLOUT | EPOLLRDHUP | EPOLLET, token);
}

static void
net_unwatch(struct rt_net *net, int socket)
{
    rt_err err = control(epoll_of_net(net), EPOLL_CTL_DEL, socket, 0, 0);
    rt_assert(err == RT_OK);
}

static const struct {
    uint32_t of_epoll;
    uint32_t of_net;
} event_bits[] = {
        {EPOLLIN, RT_NET_READABLE},
        {EPOLLOUT, RT_NET_WRITABLE},
        {EPOLLRDHUP, RT_NET_READ_CLOSED},
        {EPOLLERR, RT_NET_ERROR},
        {EPOLLHUP, RT_NET_HANGUP},
};

static uint32_t
events_of(uint32_t epoll_events)
{
    uint32_t events = 0;
    for (size_t i = 0; i < sizeof(event_bits) / sizeof(event_bits[0]); i++) {
        events |= (epoll_events & event_bits[i].of_epoll) != 0 ? event_bits[i].of_net : 0;
    }
    return events;
}

/* The wait of this turn has filled the batch; where there was none, look here. */
static uint32_t
net_fetch(struct rt_net *net, struct rt_net_event *ret_events, uint32_t max)
{
    struct rt_epoll *epoll = epoll_of_net(net);
    uint32_t count = 0;
    if (!has_batch(&epoll->base) && !epoll->looked) {
        wait_for_events(&epoll->base, 0);
    }
    epoll->looked = false;
    for (; count < max && has_batch(&epoll->base); count++) {
        const struct epoll_event *event = &epoll->batch[epoll->taken++];
        ret_events[count] = (struct rt_net_event){event->data.u64, events_of(event->events)};
    }
    return count;
}

static const struct rt_net_ops net_ops = {
        .listen_start = net_listen_start,
        .listen_finish = rt_linux_listen_finish,
        .connect_start = net_connect_start,
        .connect_finish = net_connect_finish,
        .accept = net_accept,
        .read = net_read,
        .write = net_write,
        .shutdown = net_shutdown,
        .local_listen = net_local_listen,
        .local_connect = net_local_connect,
        .local_forget = rt_linux_local_forget,
        .pipe = net_pipe,
        .udp_bind = net_udp_bind,
        .udp_connect = rt_linux_udp_connect,
        .send_to = rt_linux_send_to,
        .receive_from = rt_linux_receive_from,
        .close = net_close,
        .watch = net_watch,
        .unwatch = net_unwatch,
        .fetch = net_fetch,
        .subscribe = rt_linux_net_subscribe,
};

/* ---- Beginning and end. ---------------------------------------------------------------------- */

static rt_err
open_queue(struct rt_epoll *epoll)
{
    epoll->batch = calloc(epoll->batch_max, sizeof(epoll->batch[0]));
    if (epoll->batch == NULL) {
        return rt_failed(&epoll->base.failure, "memory for epoll");
    }
    epoll->epoll = epoll_create1(EPOLL_CLOEXEC);
    if (epoll->epoll < 0) {
        return rt_failed(&epoll->base.failure, "epoll_create1");
    }
    return control(epoll, EPOLL_CTL_ADD, epoll->base.eventfd, EPOLLIN | EPOLLET, WORD_NOTIFY);
}

static void
release(struct rt_epoll *epoll)
{
    if (epoll->epoll >= 0) {
        rt_socket_close(epoll->epoll);
    }
    free(epoll->batch);
    rt_linux_release(&epoll->base);
}

rt_err
rt_epoll_init(struct rt_epoll *epoll, const struct rt_epoll_config *config)
{
    static const struct rt_epoll_config usual = {0, 0, false};
    const struct rt_epoll_config *how = config != NULL ? config : &usual;
    *epoll = (struct rt_epoll){
            .epoll = -1, .batch_max = how->batch != 0 ? how->batch : RT_EPOLL_BATCH};
    uint32_t descriptors = how->descriptors != 0 ? how->descriptors : RT_EPOLL_DESCRIPTORS;
    rt_err err = rt_linux_init(&epoll->base, &linux_ops, &net_ops, descriptors);
    epoll->base.shared_ports = how->shared_ports;
    err = err == RT_OK ? open_queue(epoll) : err;
    if (err != RT_OK) {
        release(epoll);
    }
    return err;
}

void
rt_epoll_fini(struct rt_epoll *epoll)
{
    rt_linux_check_unused(&epoll->base, "epoll");
    release(epoll);
}

static rt_err
make(bool shared_ports, struct rt_failure *failure, struct rt_linux **ret_host)
{
    struct rt_epoll_config config = {.shared_ports = shared_ports};
    struct rt_epoll *epoll = malloc(sizeof(*epoll));
    if (epoll == NULL) {
        return rt_failed(failure, "memory for a host");
    }
    rt_err err = rt_epoll_init(epoll, &config);
    if (err != RT_OK) {
        *failure = epoll->base.failure;
        free(epoll);
        return err;
    }
    *ret_host = &epoll->base;
    return RT_OK;
}

static void
end(struct rt_linux *host)
{
    struct rt_epoll *epoll = epoll_of(host);
    rt_epoll_fini(epoll);
    free(epoll);
}

const struct rt_linux_kind rt_epoll_kind = {make, end};
