/*
 * host.c -- the calls of the seam, with the contract checked on both sides.
 *
 * A host is foreign code: its answers are checked before they are used. Here a
 * wrong index is still a message about the host, and not a crash three calls
 * later.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "runtime/io/host.h"

#include <stddef.h>

#include "runtime/base/assert.h"

#include "runtime/base/banned.h"

static void
check_host(const struct rt_host *host)
{
    rt_check(host, RT_HOST_MAGIC);
    rt_assert(host->ops != NULL);
}

/* What answers a question of the host's own thread. */
static inline const struct rt_host_ops *
asked(const struct rt_host *host)
{
    return __builtin_expect(host->frozen == NULL, 1) ? host->ops : host->frozen;
}

/* For what a host does that it must not; `what` completes the sentence. */
#define host_broke(what) rt_panic(__FILE__, __LINE__, "the host " what)

static void
check_subscribed(const struct rt_pollable *pollable)
{
    rt_assert(pollable != NULL);
    if (pollable->host == NULL) {
        rt_fault(RT_E_INVALID, "pollable", "a pollable was used that is not subscribed");
    }
    rt_check(&pollable->object, RT_POLLABLE_MAGIC);
}

/* The caller's side of a poll. */
static void
check_list(const struct rt_host *host, struct rt_pollable *const *in, uint32_t count)
{
    rt_assert(in != NULL);
    for (uint32_t i = 0; i < count; i++) {
        check_subscribed(in[i]);
        if (in[i]->host != host) {
            rt_fault(RT_E_INVALID, "pollable", "a host was asked about another host's pollable");
        }
    }
}

/*
 * Every index of the list at most once (P5: a pollable that is in the list twice has two indices).
 * A host that answers in ascending order costs one compare an index; any other order is searched
 * pair by pair, for there is no memory here to mark indices in, and the order must not change.
 */
static void
check_once(const uint32_t *indices, uint32_t ready)
{
    uint32_t ascending = 1;
    while (ascending < ready && indices[ascending - 1] < indices[ascending]) {
        ascending++;
    }
    for (uint32_t i = ascending; i < ready; i++) {
        for (uint32_t k = 0; k < i; k++) {
            if (indices[k] == indices[i]) {
                host_broke("reported one index of the list twice");
            }
        }
    }
}

/* The host's side of a poll (P4). */
static void
check_answer(const uint32_t *indices, uint32_t ready, uint32_t count)
{
    if (ready == 0) {
        host_broke("returned from poll without a ready pollable");
    }
    if (ready > count) {
        host_broke("reported more ready pollables than the list has");
    }
    for (uint32_t i = 0; i < ready; i++) {
        if (indices[i] >= count) {
            host_broke("reported an index beyond the end of the list");
        }
    }
    check_once(indices, ready);
}

uint64_t
rt_host_now(struct rt_host *host)
{
    check_host(host);
    return asked(host)->now(host);
}

rt_err
rt_host_subscribe(struct rt_host *host, enum rt_subscribe what, uint64_t argument,
        struct rt_pollable *pollable)
{
    check_host(host);
    rt_assert(pollable != NULL);
    rt_err err = host->ops->subscribe(host, what, argument, pollable);
    if (err != RT_OK) {
        return err;
    }
    if (pollable->object.magic != RT_POLLABLE_MAGIC || pollable->host != host) {
        host_broke("subscribed a pollable without making it its own");
    }
    return RT_OK;
}

rt_err
rt_host_poll(struct rt_host *host, struct rt_pollable *const *in, uint32_t count,
        uint32_t *ret_indices, uint32_t *ret_ready)
{
    check_host(host);
    if (count == 0) {
        /* The host's to refuse, and a strict one traps: an empty list is a bug of the caller
         * (P3). */
        rt_err refusal = host->ops->poll(host, in, 0, ret_indices, ret_ready);
        if (refusal != RT_E_EMPTY_POLL) {
            host_broke("answered a poll of an empty list");
        }
        return refusal;
    }
    rt_assert(ret_indices != NULL);
    rt_assert(ret_ready != NULL);
    check_list(host, in, count);
    uint32_t ready = 0;
    rt_err err = host->ops->poll(host, in, count, ret_indices, &ready);
    if (err != RT_OK) {
        host_broke("failed to poll; a broken source is a ready one, and nothing else can fail");
    }
    check_answer(ret_indices, ready, count);
    *ret_ready = ready;
    return RT_OK;
}

void
rt_host_notify(struct rt_host *host)
{
    check_host(host);
    host->ops->notify(host);
}

bool
rt_pollable_ready(const struct rt_pollable *pollable)
{
    check_subscribed(pollable);
    check_host(pollable->host);
    return asked(pollable->host)->ready(pollable->host, pollable);
}

void
rt_pollable_drop(struct rt_pollable *pollable)
{
    rt_assert(pollable != NULL);
    struct rt_host *host = pollable->host;
    if (host == NULL) {
        return;
    }
    rt_check(&pollable->object, RT_POLLABLE_MAGIC);
    check_host(host);
    host->ops->drop(host, pollable);
    pollable->host = NULL;
}

rt_err
rt_subscribe_instant(struct rt_host *host, uint64_t deadline_ns, struct rt_pollable *pollable)
{
    return rt_host_subscribe(host, RT_SUBSCRIBE_INSTANT, deadline_ns, pollable);
}

rt_err
rt_subscribe_duration(struct rt_host *host, uint64_t duration_ns, struct rt_pollable *pollable)
{
    uint64_t now_ns = rt_host_now(host);
    bool fits = duration_ns <= UINT64_MAX - now_ns;
    return rt_subscribe_instant(host, fits ? now_ns + duration_ns : UINT64_MAX, pollable);
}
