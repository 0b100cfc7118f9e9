/*
 * epoll.c -- the two seams over one epoll descriptor.
 *
 * What an event is about is its 64-bit word. A socket's is the token that the runtime gave, whose
 * upper half is a generation and never 0; ours are below 2^32: 0 the eventfd, n a descriptor's
 * index plus 1. Events of ours are handled before epoll_wait's caller sees anything, so none of
 * them can be about a pollable that was dropped. Those of sockets may be: their tokens say so (E7).
 *
 * A pollable's handle is its kind in the upper two bits and what the kind needs in the others.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "runtime/host/epoll.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <time.h>
#include <unistd.h>

#include "runtime/base/assert.h"
#include "runtime/base/list.h"

#define OUR_WORDS (UINT64_C(1) << 32)
#define WORD_NOTIFY UINT64_C(0)

enum kind { KIND_INSTANT, KIND_NOTIFY, KIND_FETCH, KIND_DESCRIPTOR };

#define KIND_SHIFT 62
#define VALUE_MAX ((UINT64_C(1) << KIND_SHIFT) - 1) /* As a deadline: never. */

struct rt_epoll_descriptor {
    struct rt_pollable *pollable;
    int descriptor;
    int registered; /* The number that epoll has: `descriptor`, or a duplicate that is ours. */
    uint32_t what;  /* EPOLLIN, EPOLLOUT */
    bool armed;     /* Not reported since it was armed: not ready, as far as we know. */
};

static struct rt_epoll *
epoll_of(struct rt_host *host)
{
    rt_check(host, RT_HOST_MAGIC);
    return rt_container_of(host, struct rt_epoll, host);
}

static struct rt_epoll *
epoll_of_net(struct rt_net *net)
{
    rt_check(net, RT_NET_MAGIC);
    return rt_container_of(net, struct rt_epoll, net);
}

/* ---- Handles. -------------------------------------------------------------------------------- */

static void
make_pollable(
        struct rt_epoll *epoll, enum kind kind, uint64_t value, struct rt_pollable *ret_pollable)
{
    rt_assert(value <= VALUE_MAX);
    *ret_pollable = (struct rt_pollable){.object = {.magic = RT_POLLABLE_MAGIC},
            .host = &epoll->host,
            .handle = (uint64_t)kind << KIND_SHIFT | value};
}

static enum kind
kind_of(const struct rt_pollable *pollable)
{
    return (enum kind)(pollable->handle >> KIND_SHIFT);
}

static uint64_t
value_of(const struct rt_pollable *pollable)
{
    return pollable->handle & VALUE_MAX;
}

static struct rt_epoll_descriptor *
details_of(const struct rt_epoll *epoll, const struct rt_pollable *pollable)
{
    rt_assert(kind_of(pollable) == KIND_DESCRIPTOR);
    struct rt_epoll_descriptor *details = &epoll->details[value_of(pollable)];
    rt_assert(details->pollable == pollable);
    return details;
}

/* ---- Time. ----------------------------------------------------------------------------------- */

#define NS_A_SECOND UINT64_C(1000000000)
#define NS_A_MS UINT64_C(1000000)

static uint64_t
now(struct rt_host *host)
{
    struct timespec time;
    (void)host;
    rt_assert(clock_gettime(CLOCK_MONOTONIC, &time) == 0);
    return (uint64_t)time.tv_sec * NS_A_SECOND + (uint64_t)time.tv_nsec;
}

/* epoll_wait of at most `timeout_ns`, VALUE_MAX: no limit. The kernel before 5.11 counts
 * milliseconds: rounded up, or the sleep would end early and be repeated until it is late. */
static int
wait_ns(struct rt_epoll *epoll, struct epoll_event *events, int max, uint64_t timeout_ns)
{
    if (timeout_ns == 0 || timeout_ns == VALUE_MAX) {
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
        epoll->details[word - 1].armed = false;
    }
    /* The eventfd is an edge: it has done its work, `notified` says the rest (E9). */
    return false;
}

/* Waits, and appends the events of sockets to the batch. Interrupted, or with no space: none came
 * (E6). */
static void
wait_for_events(struct rt_epoll *epoll, uint64_t timeout_ns)
{
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
has_batch(const struct rt_epoll *epoll)
{
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
    return rt_failed(&epoll->failure, "epoll_ctl");
}

static void
arm(struct rt_epoll *epoll, struct rt_epoll_descriptor *details)
{
    uint64_t word = (uint64_t)(details - epoll->details) + 1;
    rt_err err =
            control(epoll, EPOLL_CTL_MOD, details->registered, details->what | EPOLLONESHOT, word);
    /* Closed under us, against the contract: its own call reports it (P4). */
    details->armed = err == RT_OK;
}

/* Adds `descriptor`; where it is registered already, a duplicate of it. */
static rt_err
add(struct rt_epoll *epoll, struct rt_epoll_descriptor *details)
{
    uint64_t word = (uint64_t)(details - epoll->details) + 1;
    uint32_t events = details->what | EPOLLONESHOT;
    details->registered = details->descriptor;
    rt_err err = control(epoll, EPOLL_CTL_ADD, details->registered, events, word);
    if (err == RT_OK || epoll->failure.error != EEXIST) {
        return err;
    }
    details->registered = fcntl(details->descriptor, F_DUPFD_CLOEXEC, 0);
    if (details->registered < 0) {
        return rt_failed(&epoll->failure, "dup");
    }
    err = control(epoll, EPOLL_CTL_ADD, details->registered, events, word);
    if (err != RT_OK) {
        rt_socket_close(details->registered);
    }
    return err;
}

rt_err
rt_epoll_subscribe(
        struct rt_epoll *epoll, int descriptor, uint32_t what, struct rt_pollable *pollable)
{
    struct rt_key key;
    rt_check(&epoll->host, RT_HOST_MAGIC);
    rt_assert(what != 0 && (what & ~(RT_DESCRIPTOR_READABLE | RT_DESCRIPTOR_WRITABLE)) == 0);
    rt_err err = rt_slab_insert(&epoll->descriptors, pollable, &key);
    if (err != RT_OK) {
        return err;
    }
    struct rt_epoll_descriptor *details = &epoll->details[key.index];
    uint32_t in = (what & RT_DESCRIPTOR_READABLE) != 0 ? EPOLLIN : 0;
    uint32_t out = (what & RT_DESCRIPTOR_WRITABLE) != 0 ? EPOLLOUT : 0;
    *details = (struct rt_epoll_descriptor){
            .pollable = pollable, .descriptor = descriptor, .what = in | out, .armed = true};
    err = add(epoll, details);
    if (err != RT_OK) {
        (void)rt_slab_remove(&epoll->descriptors, key);
        return err == RT_E_SYSTEM ? RT_E_INVALID : err;
    }
    make_pollable(epoll, KIND_DESCRIPTOR, key.index, pollable);
    return RT_OK;
}

static void
remove_descriptor(struct rt_epoll *epoll, struct rt_epoll_descriptor *details)
{
    struct rt_key key;
    uint32_t index = (uint32_t)(details - epoll->details);
    rt_assert(rt_slab_at(&epoll->descriptors, index, &key) == details->pollable);
    (void)control(epoll, EPOLL_CTL_DEL, details->registered, 0, 0);
    if (details->registered != details->descriptor) {
        rt_socket_close(details->registered);
    }
    details->pollable = NULL;
    (void)rt_slab_remove(&epoll->descriptors, key);
}

static bool
descriptor_ready(const struct rt_epoll_descriptor *details)
{
    int in = (details->what & EPOLLIN) != 0 ? POLLIN : 0;
    int out = (details->what & EPOLLOUT) != 0 ? POLLOUT : 0;
    struct pollfd query = {.fd = details->descriptor, .events = (short)(in | out)};
    return poll(&query, 1, 0) > 0;
}

/* ---- The seam of the host. ------------------------------------------------------------------- */

static rt_err
subscribe(struct rt_host *host, enum rt_subscribe what, uint64_t argument,
        struct rt_pollable *pollable)
{
    struct rt_epoll *epoll = epoll_of(host);
    switch (what) {
    case RT_SUBSCRIBE_INSTANT:
        make_pollable(epoll, KIND_INSTANT, argument < VALUE_MAX ? argument : VALUE_MAX, pollable);
        return RT_OK;
    case RT_SUBSCRIBE_NOTIFY:
        make_pollable(epoll, KIND_NOTIFY, 0, pollable);
        return RT_OK;
    }
    return RT_E_INVALID;
}

static bool
is_notified(struct rt_epoll *epoll)
{
    /* Acquire: what was published before the notification. */
    return atomic_load_explicit(&epoll->notified, memory_order_acquire);
}

static bool
ready(struct rt_host *host, const struct rt_pollable *pollable)
{
    struct rt_epoll *epoll = epoll_of(host);
    switch (kind_of(pollable)) {
    case KIND_INSTANT:
        return value_of(pollable) != VALUE_MAX && value_of(pollable) <= now(host);
    case KIND_NOTIFY:
        return is_notified(epoll);
    case KIND_FETCH:
        if (!has_batch(epoll)) {
            wait_for_events(epoll, 0);
        }
        return has_batch(epoll);
    case KIND_DESCRIPTOR:
        return descriptor_ready(details_of(epoll, pollable));
    }
    rt_unreached("a pollable of this host has one of these kinds");
}

/* What a list holds, found in one walk. */
struct survey {
    uint64_t deadline_ns; /* The earliest; VALUE_MAX: none. */
    bool notify;
    bool fetch;
};

/* And arms each descriptor that was reported since it was last waited for. */
static struct survey
look_through(struct rt_epoll *epoll, struct rt_pollable *const *in, uint32_t count)
{
    struct survey survey = {.deadline_ns = VALUE_MAX};
    for (uint32_t i = 0; i < count; i++) {
        uint64_t value = value_of(in[i]);
        switch (kind_of(in[i])) {
        case KIND_INSTANT:
            survey.deadline_ns = value < survey.deadline_ns ? value : survey.deadline_ns;
            break;
        case KIND_NOTIFY:
            survey.notify = true;
            break;
        case KIND_FETCH:
            survey.fetch = true;
            break;
        case KIND_DESCRIPTOR:
            if (!details_of(epoll, in[i])->armed) {
                arm(epoll, details_of(epoll, in[i]));
            }
            break;
        }
    }
    return survey;
}

/* How long to wait at most. */
static uint64_t
timeout_of(struct rt_epoll *epoll, const struct survey *survey)
{
    if ((survey->notify && is_notified(epoll)) || (survey->fetch && has_batch(epoll))) {
        return 0;
    }
    if (survey->deadline_ns == VALUE_MAX) {
        return VALUE_MAX;
    }
    uint64_t now_ns = now(&epoll->host);
    return survey->deadline_ns > now_ns ? survey->deadline_ns - now_ns : 0;
}

/* What is ready after a wait, as far as the wait has told. */
struct found {
    uint64_t now_ns; /* 0 where the list has no deadline. */
    bool notified;
};

static struct found
find(struct rt_epoll *epoll, const struct survey *survey)
{
    struct found found = {0, false};
    if (survey->deadline_ns != VALUE_MAX) {
        found.now_ns = now(&epoll->host);
    }
    if (survey->notify) {
        /* One read-modify-write takes all notifications so far (E9). Acquire as in is_notified. */
        found.notified = atomic_exchange_explicit(&epoll->notified, false, memory_order_acq_rel);
    }
    return found;
}

static bool
is_found(const struct rt_epoll *epoll, const struct rt_pollable *pollable, struct found found)
{
    switch (kind_of(pollable)) {
    case KIND_INSTANT:
        return value_of(pollable) != VALUE_MAX && value_of(pollable) <= found.now_ns;
    case KIND_NOTIFY:
        return found.notified;
    case KIND_FETCH:
        return has_batch(epoll);
    case KIND_DESCRIPTOR:
        return !details_of(epoll, pollable)->armed;
    }
    rt_unreached("a pollable of this host has one of these kinds");
}

static uint32_t
collect(const struct rt_epoll *epoll, struct rt_pollable *const *in, uint32_t count,
        struct found found, uint32_t *ret_indices)
{
    uint32_t ready_count = 0;
    for (uint32_t i = 0; i < count; i++) {
        if (is_found(epoll, in[i], found)) {
            ret_indices[ready_count++] = i;
        }
    }
    return ready_count;
}

static rt_err
poll_list(struct rt_host *host, struct rt_pollable *const *in, uint32_t count,
        uint32_t *ret_indices, uint32_t *ret_ready)
{
    struct rt_epoll *epoll = epoll_of(host);
    if (count == 0) {
        return RT_E_EMPTY_POLL;
    }
    struct survey survey = look_through(epoll, in, count);
    do {
        wait_for_events(epoll, timeout_of(epoll, &survey));
        *ret_ready = collect(epoll, in, count, find(epoll, &survey), ret_indices);
    } while (*ret_ready == 0);
    return RT_OK;
}

static void
drop(struct rt_host *host, struct rt_pollable *pollable)
{
    struct rt_epoll *epoll = epoll_of(host);
    if (kind_of(pollable) == KIND_DESCRIPTOR) {
        remove_descriptor(epoll, details_of(epoll, pollable));
    }
}

static void
notify(struct rt_host *host)
{
    struct rt_epoll *epoll = epoll_of(host);
    const uint64_t one = 1;
    /* The first since the report writes; before that, what the caller published is (release). */
    if (!atomic_exchange_explicit(&epoll->notified, true, memory_order_acq_rel)) {
        int kept = errno;
        rt_assert(write(epoll->eventfd, &one, sizeof(one)) == sizeof(one));
        errno = kept;
    }
}

static const struct rt_host_ops host_ops = {
        .now = now,
        .subscribe = subscribe,
        .ready = ready,
        .poll = poll_list,
        .drop = drop,
        .notify = notify,
};

/* ---- The seam of the network. ---------------------------------------------------------------- */

static rt_err
net_listen_start(
        struct rt_net *net, const struct rt_net_address *address, uint32_t backlog, int *ret_socket)
{
    struct rt_epoll *epoll = epoll_of_net(net);
    struct rt_listen_how how = {backlog, epoll->shared_ports};
    return rt_socket_listen(address, how, &epoll->failure, ret_socket);
}

static rt_err
net_listen_finish(struct rt_net *net, int socket)
{
    (void)net;
    rt_assert(socket >= 0);
    return RT_OK;
}

static rt_err
net_connect_start(struct rt_net *net, const struct rt_net_address *address, int *ret_socket)
{
    return rt_socket_connect(address, &epoll_of_net(net)->failure, ret_socket);
}

static rt_err
net_connect_finish(struct rt_net *net, int socket)
{
    return rt_socket_connected(socket, &epoll_of_net(net)->failure);
}

static rt_err
net_accept(struct rt_net *net, int socket, int *ret_socket, struct rt_net_address *ret_peer)
{
    return rt_socket_accept(socket, &epoll_of_net(net)->failure, ret_socket, ret_peer);
}

static rt_err
net_read(struct rt_net *net, int socket, void *buffer, size_t size, size_t *ret_size,
        const struct rt_site *await)
{
    (void)await;
    return rt_socket_read(socket, buffer, size, &epoll_of_net(net)->failure, ret_size);
}

static rt_err
net_write(struct rt_net *net, int socket, const void *buffer, size_t size, size_t *ret_size,
        const struct rt_site *await)
{
    (void)await;
    return rt_socket_write(socket, buffer, size, &epoll_of_net(net)->failure, ret_size);
}

static rt_err
net_shutdown(struct rt_net *net, int socket)
{
    return rt_socket_shutdown(socket, &epoll_of_net(net)->failure);
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
    if (!has_batch(epoll) && !epoll->looked) {
        wait_for_events(epoll, 0);
    }
    epoll->looked = false;
    for (; count < max && has_batch(epoll); count++) {
        const struct epoll_event *event = &epoll->batch[epoll->taken++];
        ret_events[count] = (struct rt_net_event){event->data.u64, events_of(event->events)};
    }
    return count;
}

static rt_err
net_subscribe(struct rt_net *net, struct rt_pollable *pollable)
{
    make_pollable(epoll_of_net(net), KIND_FETCH, 0, pollable);
    return RT_OK;
}

static const struct rt_net_ops net_ops = {
        .listen_start = net_listen_start,
        .listen_finish = net_listen_finish,
        .connect_start = net_connect_start,
        .connect_finish = net_connect_finish,
        .accept = net_accept,
        .read = net_read,
        .write = net_write,
        .shutdown = net_shutdown,
        .close = net_close,
        .watch = net_watch,
        .unwatch = net_unwatch,
        .fetch = net_fetch,
        .subscribe = net_subscribe,
};

/* ---- Beginning and end. ---------------------------------------------------------------------- */

static rt_err
allocate(struct rt_epoll *epoll, uint32_t descriptors)
{
    epoll->batch = calloc(epoll->batch_max, sizeof(epoll->batch[0]));
    epoll->entries = calloc(descriptors, sizeof(epoll->entries[0]));
    epoll->details = calloc(descriptors, sizeof(epoll->details[0]));
    if (epoll->batch == NULL || epoll->entries == NULL || epoll->details == NULL) {
        return rt_failed(&epoll->failure, "memory for epoll");
    }
    rt_slab_init(&epoll->descriptors, epoll->entries, descriptors);
    return RT_OK;
}

static rt_err
open_descriptors(struct rt_epoll *epoll)
{
    epoll->epoll = epoll_create1(EPOLL_CLOEXEC);
    if (epoll->epoll < 0) {
        return rt_failed(&epoll->failure, "epoll_create1");
    }
    epoll->eventfd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    if (epoll->eventfd < 0) {
        return rt_failed(&epoll->failure, "eventfd");
    }
    return control(epoll, EPOLL_CTL_ADD, epoll->eventfd, EPOLLIN | EPOLLET, WORD_NOTIFY);
}

static void
release(struct rt_epoll *epoll)
{
    if (epoll->eventfd >= 0) {
        rt_socket_close(epoll->eventfd);
    }
    if (epoll->epoll >= 0) {
        rt_socket_close(epoll->epoll);
    }
    free(epoll->batch);
    free(epoll->entries);
    free(epoll->details);
}

rt_err
rt_epoll_init(struct rt_epoll *epoll, const struct rt_epoll_config *config)
{
    static const struct rt_epoll_config usual = {0, 0, false};
    const struct rt_epoll_config *how = config != NULL ? config : &usual;
    *epoll = (struct rt_epoll){.host = {RT_HOST_MAGIC, &host_ops},
            .net = {RT_NET_MAGIC, &net_ops, .short_reads_empty = true},
            .epoll = -1,
            .eventfd = -1,
            .shared_ports = how->shared_ports,
            .batch_max = how->batch != 0 ? how->batch : RT_EPOLL_BATCH};
    atomic_init(&epoll->notified, false);
    rt_err err = allocate(epoll, how->descriptors != 0 ? how->descriptors : RT_EPOLL_DESCRIPTORS);
    if (err == RT_OK) {
        err = open_descriptors(epoll);
    }
    if (err != RT_OK) {
        release(epoll);
    }
    return err;
}

void
rt_epoll_fini(struct rt_epoll *epoll)
{
    rt_check(&epoll->host, RT_HOST_MAGIC);
    if (epoll->descriptors.used != 0) {
        rt_fault(RT_E_IN_USE, "epoll", "a host was ended while descriptors were subscribed");
    }
    release(epoll);
    epoll->host.magic = 0;
    epoll->net.magic = 0;
}
