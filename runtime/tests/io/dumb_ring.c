/*
 * dumb_ring.c -- queues as arrays.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "runtime/tests/io/dumb_ring.h"

#include <string.h>

static struct dumb_ring *
host_of(struct rt_completion_host *seam)
{
    return rt_container_of(seam, struct dumb_ring, seam);
}

static rt_err
host_push(struct rt_completion_host *seam, const struct rt_submission *submission)
{
    struct dumb_ring *host = host_of(seam);
    if (host->queue_count == host->queue_room) {
        host->fulls++;
        return RT_E_FULL;
    }
    host->queue[host->queue_count++] = *submission;
    return RT_OK;
}

static void
show(struct dumb_ring *host)
{
    uint32_t shown = host->done_count < host->done_room ? host->done_count : host->done_room;
    host->done_shown = shown > host->done_shown ? shown : host->done_shown;
}

static rt_err
host_enter(struct rt_completion_host *seam)
{
    struct dumb_ring *host = host_of(seam);
    host->enters++;
    show(host);
    if (host->refuses || host->done_count > host->done_shown) {
        return host->queue_count == 0 ? RT_OK : RT_E_AGAIN;
    }
    ck_assert(host->live_count + host->queue_count <= DUMB_RING_LIVE);
    memcpy(&host->live[host->live_count], host->queue, host->queue_count * sizeof(host->queue[0]));
    host->live_count += host->queue_count;
    host->queue_count = 0;
    return RT_OK;
}

static uint32_t
host_reap(struct rt_completion_host *seam, struct rt_completion *ret_completions, uint32_t max)
{
    struct dumb_ring *host = host_of(seam);
    uint32_t count = host->done_shown < max ? host->done_shown : max;
    memcpy(ret_completions, host->done, count * sizeof(host->done[0]));
    host->done_count -= count;
    host->done_shown -= count;
    memmove(host->done, &host->done[count], host->done_count * sizeof(host->done[0]));
    host->host->ready[DUMB_RING_SOURCE] = host->done_count > 0;
    return count;
}

static bool
host_overflowed(struct rt_completion_host *seam)
{
    return host_of(seam)->done_count > host_of(seam)->done_shown;
}

static rt_err
host_subscribe(struct rt_completion_host *seam, struct rt_pollable *pollable)
{
    dumb_subscribe(host_of(seam)->host, DUMB_RING_SOURCE, pollable);
    return RT_OK;
}

static const struct rt_completion_ops ops = {.push = host_push,
        .enter = host_enter,
        .reap = host_reap,
        .overflowed = host_overflowed,
        .subscribe = host_subscribe};

void
dumb_driver_init(struct dumb_driver *driver, uint32_t capacity, uint32_t results)
{
    ck_assert(capacity <= DUMB_RING_PLACES && results <= 4);
    memset(driver, 0xa5, sizeof(*driver));
    dumb_init(&driver->dumb);
    driver->host = (struct dumb_ring){
            .seam = {RT_COMPLETION_HOST_MAGIC, &ops},
            .host = &driver->dumb.host,
            .queue_room = DUMB_RING_QUEUE,
            .done_room = DUMB_RING_LIVE,
    };
    struct rt_ring_config config = {.host = &driver->host.seam,
            .runtime = &driver->dumb.runtime,
            .places = driver->places,
            .entries = driver->entries,
            .capacity = capacity,
            .results = driver->results,
            .result_count = results};
    EXPECT_EQ(rt_ring_init(&driver->ring, &config), RT_OK);
}

void
dumb_driver_fini(struct dumb_driver *driver)
{
    EXPECT_EQ(driver->host.live_count, 0);
    rt_ring_fini(&driver->ring);
    dumb_fini(&driver->dumb);
}

void
dumb_complete(struct dumb_ring *host, uint32_t index, int32_t result, bool more)
{
    ck_assert(index < host->live_count);
    ck_assert(host->done_count < DUMB_RING_LIVE);
    host->done[host->done_count++] =
            (struct rt_completion){host->live[index].user_data, result, more};
    if (host->done_count <= host->done_room) {
        show(host);
    }
    host->host->ready[DUMB_RING_SOURCE] = true;
    if (!more) {
        host->live_count--;
        memmove(&host->live[index], &host->live[index + 1],
                (host->live_count - index) * sizeof(host->live[0]));
    }
}

uint32_t
dumb_live(const struct dumb_ring *host, enum rt_opcode opcode, int32_t target)
{
    for (uint32_t i = 0; i < host->live_count; i++) {
        if (host->live[i].opcode == opcode && host->live[i].target == target) {
            return i;
        }
    }
    return DUMB_RING_LIVE;
}
