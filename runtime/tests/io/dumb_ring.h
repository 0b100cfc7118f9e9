/*
 * dumb_ring.h -- a completion host that does nothing by itself: the test completes.
 *
 * Two small queues as arrays, and what the host has taken. A test says what is
 * complete; the pollable is a source of a dumb host, so that a runtime's reactor can
 * wait for it.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef RT_TESTS_IO_DUMB_RING_H
#define RT_TESTS_IO_DUMB_RING_H

#include "runtime/io/op.h"
#include "runtime/tests/io/dumb_host.h"

#define DUMB_RING_QUEUE 16u
#define DUMB_RING_LIVE 64u
#define DUMB_RING_SOURCE 9u
#define DUMB_RING_PLACES 8u

struct dumb_ring {
    struct rt_completion_host seam;
    struct dumb_host *host; /* Whose source DUMB_RING_SOURCE is "there are completions". */
    struct rt_submission queue[DUMB_RING_QUEUE];
    uint32_t queue_count;
    uint32_t queue_room; /* Of the submission queue. */
    struct rt_submission live[DUMB_RING_LIVE];
    uint32_t live_count;
    struct rt_completion done[DUMB_RING_LIVE]; /* The queue, and after `done_room` the overflow. */
    uint32_t done_count;
    uint32_t done_shown; /* In the queue; the others wait for an enter. */
    uint32_t done_room;
    bool refuses; /* Enter takes nothing and says RT_E_AGAIN. */
    uint32_t enters;
    uint32_t fulls; /* Pushes that did not fit. */
};

/* A ring over a dumb runtime, with all it borrows. */
struct dumb_driver {
    struct dumb_runtime dumb;
    struct dumb_ring host;
    struct rt_ring ring;
    struct rt_ring_place places[DUMB_RING_PLACES];
    struct rt_slab_entry entries[DUMB_RING_PLACES];
    struct rt_ring_result results[4];
};

/* `capacity` places, at most DUMB_RING_PLACES; `results` at most 4. */
void dumb_driver_init(struct dumb_driver *driver, uint32_t capacity, uint32_t results);

/* Ends it; nothing may be with the host. */
void dumb_driver_fini(struct dumb_driver *driver);

/* The operation at `live[index]` is complete; without `more` it is taken out of `live`. */
void dumb_complete(struct dumb_ring *host, uint32_t index, int32_t result, bool more);

/* Where in `live` the operation on `target` is, or its cancel; DUMB_RING_LIVE: nowhere. */
uint32_t dumb_live(const struct dumb_ring *host, enum rt_opcode opcode, int32_t target);

#endif
