/*
 * device.c -- the devices of a completion host.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <string.h>

#include "sim/host/completion_priv.h"

struct sim__device *
sim__device_find(const struct sim_ring *ring, int32_t number)
{
    if (number < 0 || (uint32_t)number >= SIM__DEVICES_MAX) {
        return NULL;
    }
    struct sim__device *device = ring->devices[number];
    return device != NULL && device->open ? device : NULL;
}

static bool
readable(const struct sim__device *device)
{
    if (device->listener) {
        return device->connections > 0;
    }
    return sim__feed_readable(&device->feed);
}

bool
sim__device_ready(const struct sim__device *device, const struct rt_submission *submission)
{
    switch (submission->opcode) {
    case RT_OPCODE_READ:
    case RT_OPCODE_ACCEPT:
        return readable(device);
    case RT_OPCODE_WRITE:
        return true;
    case RT_OPCODE_POLL:
        return (submission->interest & RT_WRITABLE) != 0 || readable(device);
    case RT_OPCODE_CANCEL:
        break;
    }
    rt_unreached("a cancel has no device");
}

/* ---- Arrivals. ------------------------------------------------------------------------------- */

static void
on_bytes(void *argument, uint64_t amount)
{
    struct sim__device *device = argument;
    sim__feed_arrived(&device->feed, amount);
    sim__ring_update(device->ring);
}

static void
on_connection(void *argument, uint64_t amount)
{
    struct sim__device *device = argument;
    device->connections += (uint32_t)amount;
    sim__source_level(device->feed.source, true);
    sim__ring_update(device->ring);
}

/* ---- Operations. ----------------------------------------------------------------------------- */

uint32_t
sim__device_read(struct sim__device *device, char *buffer, uint32_t size)
{
    rt_assert(size > 0 && readable(device));
    if (device->feed.read == device->feed.arrived) {
        return 0;
    }
    size_t moved = sim__feed_read(&device->feed, &device->ring->actor, buffer, size);
    sim__source_level(device->feed.source, readable(device));
    return (uint32_t)moved;
}

uint32_t
sim__device_write(struct sim__device *device, const char *buffer, uint32_t size)
{
    rt_assert(size > 0);
    size_t moved = (size_t)sim_actor_length(&device->ring->actor, size);
    sim__written_add(device->ring->host->world, &device->written, buffer, moved);
    return (uint32_t)moved;
}

/* ---- Life. ----------------------------------------------------------------------------------- */

/* The lowest free number; SIM__DEVICES_MAX: none. */
static uint32_t
free_number(const struct sim_ring *ring)
{
    uint32_t number = 0;
    while (number < SIM__DEVICES_MAX && sim__device_find(ring, (int32_t)number) != NULL) {
        number++;
    }
    return number;
}

static struct sim__device *
device_new(struct sim_ring *ring, uint32_t number, const char *name, bool listener)
{
    struct sim__device *device = sim_new(ring->host->world, struct sim__device);
    device->ring = ring;
    device->open = true;
    device->listener = listener;
    device->feed.source =
            sim__source_new(ring->host, name, listener ? on_connection : on_bytes, device);
    ring->devices[number] = device;
    sim_world_event(
            ring->host->world, SIM_EVENT_OPEN, device->feed.source->object, 0, 0, (uint64_t)number);
    return device;
}

static void
feed(struct sim__device *device, const void *data, size_t size, size_t chunk, uint64_t min_ns,
        uint64_t max_ns)
{
    rt_assert(chunk > 0);
    device->feed.data = data;
    device->feed.size = size;
    device->feed.chunk = chunk;
    device->feed.min_ns = min_ns;
    device->feed.max_ns = max_ns;
    sim__feed_begin(&device->feed);
}

int32_t
sim__device_accept(struct sim__device *device)
{
    struct sim_ring *ring = device->ring;
    uint32_t number = free_number(ring);
    rt_assert(device->connections > 0);
    if (number == SIM__DEVICES_MAX || sim__fault(ring->host, SIM_FAULT_CAPACITY)) {
        return RT_E_FULL;
    }
    device->connections--;
    sim__source_level(device->feed.source, readable(device));
    const char *name = sim__name_join(ring->host->world, device->feed.source->name, " connection");
    struct sim__device *connection = device_new(ring, number, name, false);
    size_t size = strlen(device->request);
    feed(connection, device->request, size, size + 1, device->feed.min_ns, device->feed.max_ns);
    return (int32_t)number;
}

int32_t
sim_ring_device(struct sim_ring *ring, const char *name, const void *data, size_t size,
        size_t chunk, uint64_t min_ns, uint64_t max_ns)
{
    rt_check(ring, SIM__RING_MAGIC);
    uint32_t number = free_number(ring);
    rt_assert(number < SIM__DEVICES_MAX);
    feed(device_new(ring, number, name, false), data, size, chunk, min_ns, max_ns);
    return (int32_t)number;
}

int32_t
sim_ring_listener(struct sim_ring *ring, const char *name, uint32_t count, const char *request,
        uint64_t min_ns, uint64_t max_ns)
{
    rt_check(ring, SIM__RING_MAGIC);
    rt_assert(request != NULL);
    uint32_t number = free_number(ring);
    rt_assert(number < SIM__DEVICES_MAX);
    struct sim__device *device = device_new(ring, number, name, true);
    device->request = request;
    device->feed.min_ns = min_ns;
    device->feed.max_ns = max_ns;
    for (uint32_t i = 0; i < count; i++) {
        sim__source_arrive_in(device->feed.source, 1, min_ns, max_ns);
    }
    return (int32_t)number;
}

rt_err
sim_ring_close(struct sim_ring *ring, int32_t number)
{
    rt_check(ring, SIM__RING_MAGIC);
    sim__host_call(ring->host, "close");
    struct sim__device *device = sim__device_find(ring, number);
    if (device == NULL) {
        return RT_E_STALE;
    }
    device->open = false;
    sim_world_event(ring->host->world, SIM_EVENT_CLOSE, device->feed.source->object, 0, 0,
            (uint64_t)number);
    return RT_OK;
}

uint32_t
sim_ring_open(const struct sim_ring *ring)
{
    rt_check(ring, SIM__RING_MAGIC);
    uint32_t open = 0;
    for (uint32_t i = 0; i < SIM__DEVICES_MAX; i++) {
        open += sim__device_find(ring, (int32_t)i) != NULL;
    }
    return open;
}

const char *
sim_ring_written(const struct sim_ring *ring, int32_t number, size_t *ret_size)
{
    rt_check(ring, SIM__RING_MAGIC);
    rt_assert(number >= 0 && (uint32_t)number < SIM__DEVICES_MAX);
    const struct sim__device *device = ring->devices[number];
    *ret_size = device != NULL ? device->written.size : 0;
    return device != NULL ? device->written.bytes : NULL;
}
