/*
 * completion_priv.h -- what the files of the completion host share.
 *
 *      sim_ring ── submission queue, completion queue, overflow of the latter
 *          │ ───── operations: taken, and not finally completed
 *          └────── devices, by number
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#pragma once

#include "sim/host/completion.h"
#include "sim/host/priv.h"

#define SIM__RING_MAGIC 0x53524e47u
#define SIM__DEVICES_MAX 64u

struct sim__device {
    struct sim_ring *ring;
    bool open;
    bool listener;
    struct sim__feed feed; /* Its source is ready while something can be read or accepted. */
    uint32_t connections;  /* Of a listener: waiting. */
    const char *request;
    struct sim__written written;
};

/* An operation in flight. */
struct sim__operation {
    struct rt_list link; /* In `live`, oldest first, or in `spare`. */
    struct rt_submission submission;
    struct sim__device *device; /* NULL: the number was not open, or CANCEL. */
    uint64_t due_ns;            /* Not before. */
    uint32_t filled;            /* READ: bytes of the buffer that have been completed. */
    uint32_t left_out;          /* Times in a row that a younger one was completed first. */
    bool decided;               /* Its last result is known: `result`. */
    int32_t result;
    char *copy; /* WRITE: the buffer's content. */
    size_t copy_capacity;
};

struct sim_ring {
    struct rt_completion_host seam;
    uint32_t magic;
    struct sim_host *host;
    struct sim_actor actor;    /* Completes one operation a step. */
    struct sim_source *source; /* "There are completions." */
    struct sim_binding binding;
    uint64_t min_ns;
    uint64_t max_ns;
    struct rt_submission *submissions;
    uint32_t submission_count;
    uint32_t submission_capacity;
    struct rt_completion *completions; /* The queue, and after `shown` its overflow. */
    uint32_t completion_count;
    size_t completion_capacity;
    uint32_t completion_queue_max;
    uint32_t shown; /* Of the completions: in the queue, at most `completion_queue_max`. */
    struct rt_list live;
    struct rt_list spare;
    uint32_t live_count;
    struct sim__device *devices[SIM__DEVICES_MAX]; /* By number; kept when closed. */
};

/* ---- device.c -------------------------------------------------------------------------------- */

/* The open device with `number`, or NULL. */
struct sim__device *sim__device_find(const struct sim_ring *ring, int32_t number);

/* Whether the operation could be done now. */
bool sim__device_ready(const struct sim__device *device, const struct rt_submission *submission);

/* Reads at most `size` (> 0) bytes into `buffer`; 0 at the end. It must be ready. */
uint32_t sim__device_read(struct sim__device *device, char *buffer, uint32_t size);
uint32_t sim__device_write(struct sim__device *device, const char *buffer, uint32_t size);

/* Opens the next waiting connection: its number, or RT_E_FULL, and then it remains waiting. */
int32_t sim__device_accept(struct sim__device *device);

/* ---- operation.c ----------------------------------------------------------------------------- */

static inline struct sim__operation *
sim__operation_of(struct rt_list *link)
{
    return rt_container_of(link, struct sim__operation, link);
}

/* Takes the operation, and ownership of its buffer. */
void sim__operation_take(struct sim_ring *ring, const struct rt_submission *submission);

/* Whether it could be completed once it is due. */
bool sim__operation_can_be_done(const struct sim__operation *operation);

/* Does it, and adds a completion; for a cancel, perhaps two. */
void sim__operation_complete(struct sim_ring *ring, struct sim__operation *operation);

/* ---- completion.c ---------------------------------------------------------------------------- */

/* Adds a completion to the queue, or to its overflow. */
void sim__ring_post(
        struct sim_ring *ring, const struct sim__operation *operation, int32_t result, bool more);

/* Enables the ring's actor where an operation may be done now, or sets its due time. */
void sim__ring_update(struct sim_ring *ring);
