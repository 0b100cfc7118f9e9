/*
 * linux.c -- the seam of a host over a queue of the kernel's and an eventfd.
 *
 * A pollable's handle is its kind in the upper two bits and what the kind needs in the others.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "runtime/host/linux.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <time.h>
#include <unistd.h>

#include "runtime/base/assert.h"

enum kind { KIND_INSTANT, KIND_NOTIFY, KIND_FETCH, KIND_DESCRIPTOR };

#define KIND_SHIFT 62
#define VALUE_MAX RT_LINUX_NEVER /* As a deadline: never. */
#define NS_A_SECOND UINT64_C(1000000000)

static struct rt_linux *
linux_of(struct rt_host *host)
{
    rt_check(host, RT_HOST_MAGIC);
    return rt_container_of(host, struct rt_linux, host);
}

/* ---- Handles. -------------------------------------------------------------------------------- */

static void
make_pollable(
        struct rt_linux *host, enum kind kind, uint64_t value, struct rt_pollable *ret_pollable)
{
    rt_assert(value <= VALUE_MAX);
    *ret_pollable = (struct rt_pollable){.object = {.magic = RT_POLLABLE_MAGIC},
            .host = &host->host,
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

static struct rt_linux_descriptor *
details_of(const struct rt_linux *host, const struct rt_pollable *pollable)
{
    rt_assert(kind_of(pollable) == KIND_DESCRIPTOR);
    struct rt_linux_descriptor *details = &host->details[value_of(pollable)];
    rt_assert(details->pollable == pollable);
    return details;
}

/* ---- Descriptors. ---------------------------------------------------------------------------- */

rt_err
rt_linux_subscribe(
        struct rt_linux *host, int descriptor, uint32_t what, struct rt_pollable *pollable)
{
    struct rt_key key;
    rt_check(&host->host, RT_HOST_MAGIC);
    rt_assert(what != 0 && (what & ~(RT_DESCRIPTOR_READABLE | RT_DESCRIPTOR_WRITABLE)) == 0);
    rt_err err = rt_slab_insert(&host->descriptors, pollable, &key);
    if (err != RT_OK) {
        return err;
    }
    struct rt_linux_descriptor *details = &host->details[key.index];
    uint32_t in = (what & RT_DESCRIPTOR_READABLE) != 0 ? POLLIN : 0;
    uint32_t out = (what & RT_DESCRIPTOR_WRITABLE) != 0 ? POLLOUT : 0;
    *details = (struct rt_linux_descriptor){.pollable = pollable,
            .descriptor = descriptor,
            .registered = descriptor,
            .what = in | out,
            .generation = key.generation};
    err = host->ops->add(host, details);
    if (err != RT_OK) {
        (void)rt_slab_remove(&host->descriptors, key);
        return err;
    }
    make_pollable(host, KIND_DESCRIPTOR, key.index, pollable);
    return RT_OK;
}

static void
drop(struct rt_host *seam, struct rt_pollable *pollable)
{
    struct rt_linux *host = linux_of(seam);
    struct rt_key key;
    if (kind_of(pollable) != KIND_DESCRIPTOR) {
        return;
    }
    struct rt_linux_descriptor *details = details_of(host, pollable);
    host->ops->remove(host, details);
    details->pollable = NULL;
    details->generation = 0;
    void *found = rt_slab_at(&host->descriptors, (uint32_t)value_of(pollable), &key);
    rt_assert(found == pollable);
    (void)rt_slab_remove(&host->descriptors, key);
}

static bool
descriptor_ready(const struct rt_linux_descriptor *details)
{
    struct pollfd query = {.fd = details->descriptor, .events = (short)details->what};
    return poll(&query, 1, 0) != 0; /* Also an error: its own call reports it (P4). */
}

/* ---- The seam. ------------------------------------------------------------------------------- */

static uint64_t
now(struct rt_host *host)
{
    struct timespec time;
    (void)host;
    rt_assert(clock_gettime(CLOCK_MONOTONIC, &time) == 0);
    return (uint64_t)time.tv_sec * NS_A_SECOND + (uint64_t)time.tv_nsec;
}

static rt_err
subscribe(struct rt_host *seam, enum rt_subscribe what, uint64_t argument,
        struct rt_pollable *pollable)
{
    struct rt_linux *host = linux_of(seam);
    switch (what) {
    case RT_SUBSCRIBE_INSTANT:
        make_pollable(host, KIND_INSTANT, argument < VALUE_MAX ? argument : VALUE_MAX, pollable);
        return RT_OK;
    case RT_SUBSCRIBE_NOTIFY:
        make_pollable(host, KIND_NOTIFY, 0, pollable);
        return RT_OK;
    }
    return RT_E_INVALID;
}

static bool
is_notified(struct rt_linux *host)
{
    /* Acquire: what was published before the notification. */
    return atomic_load_explicit(&host->notified, memory_order_acquire);
}

static bool
ready(struct rt_host *seam, const struct rt_pollable *pollable)
{
    struct rt_linux *host = linux_of(seam);
    switch (kind_of(pollable)) {
    case KIND_INSTANT:
        return value_of(pollable) != VALUE_MAX && value_of(pollable) <= now(seam);
    case KIND_NOTIFY:
        return is_notified(host);
    case KIND_FETCH:
        if (!host->ops->has_events(host)) {
            host->ops->wait(host, 0);
        }
        return host->ops->has_events(host);
    case KIND_DESCRIPTOR:
        return descriptor_ready(details_of(host, pollable));
    }
    rt_unreached("a pollable of this host has one of these kinds");
}

/* What a list holds, found in one walk. */
struct survey {
    uint64_t deadline_ns; /* The earliest; VALUE_MAX: none. */
    bool notify;
    bool fetch;
};

/* And arms each descriptor that the kernel does not wait for. */
static struct survey
look_through(struct rt_linux *host, struct rt_pollable *const *in, uint32_t count)
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
            if (!details_of(host, in[i])->armed) {
                host->ops->arm(host, details_of(host, in[i]));
            }
            break;
        }
    }
    return survey;
}

/* How long to wait at most. */
static uint64_t
timeout_of(struct rt_linux *host, const struct survey *survey)
{
    if ((survey->notify && is_notified(host)) || (survey->fetch && host->ops->has_events(host))) {
        return 0;
    }
    if (survey->deadline_ns == VALUE_MAX) {
        return VALUE_MAX;
    }
    uint64_t now_ns = now(&host->host);
    return survey->deadline_ns > now_ns ? survey->deadline_ns - now_ns : 0;
}

/* What is ready after a wait, as far as the wait has reported it. */
struct found {
    uint64_t now_ns; /* 0 where the list has no deadline. */
    bool notified;
};

static struct found
find(struct rt_linux *host, const struct survey *survey)
{
    struct found found = {0, false};
    if (survey->deadline_ns != VALUE_MAX) {
        found.now_ns = now(&host->host);
    }
    if (survey->notify) {
        /* One read-modify-write takes all notifications so far (E9). Acquire as in is_notified. */
        found.notified = atomic_exchange_explicit(&host->notified, false, memory_order_acq_rel);
    }
    return found;
}

static bool
is_found(const struct rt_linux *host, const struct rt_pollable *pollable, struct found found)
{
    switch (kind_of(pollable)) {
    case KIND_INSTANT:
        return value_of(pollable) != VALUE_MAX && value_of(pollable) <= found.now_ns;
    case KIND_NOTIFY:
        return found.notified;
    case KIND_FETCH:
        return host->ops->has_events(host);
    case KIND_DESCRIPTOR:
        return details_of(host, pollable)->found;
    }
    rt_unreached("a pollable of this host has one of these kinds");
}

static rt_err
poll_list(struct rt_host *seam, struct rt_pollable *const *in, uint32_t count,
        uint32_t *ret_indices, uint32_t *ret_ready)
{
    struct rt_linux *host = linux_of(seam);
    if (count == 0) {
        return RT_E_EMPTY_POLL;
    }
    *ret_ready = 0;
    struct survey survey = look_through(host, in, count);
    while (*ret_ready == 0) {
        host->ops->wait(host, timeout_of(host, &survey));
        struct found found = find(host, &survey);
        for (uint32_t i = 0; i < count; i++) {
            if (is_found(host, in[i], found)) {
                ret_indices[(*ret_ready)++] = i;
            }
        }
    }
    return RT_OK;
}

static void
notify(struct rt_host *seam)
{
    struct rt_linux *host = linux_of(seam);
    const uint64_t one = 1;
    /* The first since the report writes; before that, what the caller published is (release). */
    if (!atomic_exchange_explicit(&host->notified, true, memory_order_acq_rel)) {
        int kept = errno;
        rt_assert(write(host->eventfd, &one, sizeof(one)) == sizeof(one));
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

/* ---- Of the network. ------------------------------------------------------------------------- */

rt_err
rt_linux_listen_finish(struct rt_net *net, int socket)
{
    (void)net;
    rt_assert(socket >= 0);
    return RT_OK;
}

rt_err
rt_linux_net_subscribe(struct rt_net *net, struct rt_pollable *pollable)
{
    make_pollable(rt_linux_of_net(net), KIND_FETCH, 0, pollable);
    return RT_OK;
}

void
rt_linux_local_forget(struct rt_net *net, int socket)
{
    (void)net;
    rt_socket_local_forget(socket);
}

rt_err
rt_linux_udp_connect(struct rt_net *net, int socket, const struct rt_net_address *peer)
{
    return rt_socket_udp_connect(socket, peer, &rt_linux_of_net(net)->failure);
}

rt_err
rt_linux_send_to(struct rt_net *net, int socket, const struct rt_net_address *to, const void *bytes,
        size_t size, const struct rt_site *await)
{
    (void)await;
    return rt_socket_send_to(socket, to, bytes, size, &rt_linux_of_net(net)->failure);
}

rt_err
rt_linux_receive_from(struct rt_net *net, int socket, void *buffer, size_t size,
        struct rt_net_datagram *ret_datagram, const struct rt_site *await)
{
    (void)await;
    return rt_socket_receive_from(
            socket, buffer, size, &rt_linux_of_net(net)->failure, ret_datagram);
}

/* ---- Beginning and end. ---------------------------------------------------------------------- */

rt_err
rt_linux_init(struct rt_linux *host, const struct rt_linux_ops *ops, const struct rt_net_ops *net,
        uint32_t descriptors)
{
    rt_assert(descriptors > 0);
    *host = (struct rt_linux){.host = {.magic = RT_HOST_MAGIC, .ops = &host_ops},
            .net = {RT_NET_MAGIC, net, .short_reads_empty = true},
            .ops = ops};
    atomic_init(&host->notified, false);
    host->eventfd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    if (host->eventfd < 0) {
        return rt_failed(&host->failure, "eventfd");
    }
    host->entries = calloc(descriptors, sizeof(host->entries[0]));
    host->details = calloc(descriptors, sizeof(host->details[0]));
    if (host->entries == NULL || host->details == NULL) {
        return rt_failed(&host->failure, "memory for descriptors");
    }
    rt_slab_init(&host->descriptors, host->entries, descriptors);
    return RT_OK;
}

void
rt_linux_release(struct rt_linux *host)
{
    if (host->eventfd >= 0) {
        rt_socket_close(host->eventfd);
    }
    free(host->entries);
    free(host->details);
    host->host.magic = 0;
    host->net.magic = 0;
}

void
rt_linux_check_unused(const struct rt_linux *host, const char *name)
{
    rt_check(&host->host, RT_HOST_MAGIC);
    if (host->descriptors.used != 0) {
        rt_fault(RT_E_IN_USE, name, "a host was ended while descriptors were subscribed");
    }
}
