/*
 * completion.h -- a fake completion host, like io_uring: it does operations, and reports their end.
 *
 * It implements the seam of runtime/io/completion.h, on top of a fake host, whose
 * pollables a runtime waits with. It has devices with numbers, lowest free first: inputs
 * and outputs in one (what arrives is read, what is written is kept), and listeners,
 * whose connections are such devices.
 *
 * The host owns the buffer of an operation from its submission to its final completion,
 * and checks that: the part of a read's buffer that is not filled is overwritten, a write's is
 * copied, and both are compared when the operation moves. A change of the buffer meanwhile, and a
 * buffer or a user_data that is used for two operations at once, end the run with verdict contract.
 * README.md lists the freedoms.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#pragma once

#include "runtime/io/op.h"
#include "sim/host/host.h"

#ifdef __cplusplus
extern "C" {
#endif

struct sim_ring;

struct sim_ring_options {
    uint32_t submissions; /* Length of the submission queue; 0: 4. */
    uint32_t completions; /* Of the completion queue; 0: 4. */
    uint64_t min_ns;      /* Duration of an operation, without waiting for its device; */
    uint64_t max_ns;      /* both 0: 1 us to 1 ms. */
};

/* Makes a completion host; `name` is borrowed. `options` NULL: all defaults. Never NULL. */
struct sim_ring *sim_ring_new(
        struct sim_host *host, const char *name, const struct sim_ring_options *options);

/* The seam: for an rt_ring, or for a user's driver. */
struct rt_completion_host *sim_ring_seam(struct sim_ring *ring);

/*
 * A device: `data` (borrowed) arrives in chunks of at most `chunk` bytes, each after a latency from
 * min_ns to max_ns, then the end; what is written to it is kept. Operations on one device that are
 * under way at once are done in any order, and each may move fewer bytes, at least one. Returns its
 * number.
 */
int32_t sim_ring_device(struct sim_ring *ring, const char *name, const void *data, size_t size,
        size_t chunk, uint64_t min_ns, uint64_t max_ns);

/* A listener: `count` connections arrive, each after a latency from min_ns to max_ns. An accepted
 * one is a device on which `request` (borrowed) arrives, with the same latencies. */
int32_t sim_ring_listener(struct sim_ring *ring, const char *name, uint32_t count,
        const char *request, uint64_t min_ns, uint64_t max_ns);

/* Frees the number at once; operations on the device continue (U6). RT_E_STALE: not open. */
RT_MUST_CHECK rt_err sim_ring_close(struct sim_ring *ring, int32_t number);

/* Devices that are open now. */
uint32_t sim_ring_open(const struct sim_ring *ring);

/* All bytes written to the device that has, or had last, `number`; borrowed. */
const char *sim_ring_written(const struct sim_ring *ring, int32_t number, size_t *ret_size);

/* Operations that the host has now. */
uint32_t sim_ring_live(const struct sim_ring *ring);

#ifdef __cplusplus
}
#endif
