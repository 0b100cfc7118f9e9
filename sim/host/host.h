/*
 * host.h -- the fake host: a clock and pollables, with every legal freedom a decision.
 *
 * It implements the same seam as a real one (runtime/io/host.h). What is legal, and so
 * a decision, depends on the profile:
 *
 *   wasi     strict WASI 0.2.1: level-triggered; poll reports at least one ready
 *            pollable, the subset and its order are decisions; an empty list
 *            and an index out of range are faults; a zero-duration pollable may be
 *            not ready at the first check.
 *   hostile  as wasi, and: events arrive late and in batches, a report may be
 *            spurious (the take or read returns RT_E_AGAIN).
 *   fd       for descriptors (fd.h): the seam as on a real system, where past
 *            deadlines are ready at once and polling an empty list is an error.
 *
 * README.md lists every freedom, with the decision that makes it. Under fault `clock` the
 * clock jumps ahead, as after a suspend.
 *
 * A source whose event is late is not ready until the event has arrived, so the runtime
 * is not held responsible for a decision of the host.
 *
 * A blocked `poll` needs a loop (core/loop.h) to block in; from a world-driven runtime
 * (bind/runtime.h) the host is only asked when something is ready.
 *
 * Ownership. Hosts and sources live in the arena, for the run.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#pragma once

#include "runtime/io/host.h"
#include "runtime/io/stream.h"
#include "sim/core/scenario.h"

#ifdef __cplusplus
extern "C" {
#endif

struct rt_site;
struct sim_actor;
struct sim_host;
struct sim_source;

/* Makes a host; `name` is borrowed (NULL: "host"). DEFAULT: the run's profile. */
struct sim_host *sim_host_new(struct sim_world *world, const char *name, enum sim_profile profile);

/* The seam: for a runtime, ours or the user's. */
struct rt_host *sim_host_seam(struct sim_host *host);

/* Calls fn(argument) whenever something of this host may have become ready; one listener. For
 * driving a runtime without a loop. */
void sim_host_listen(struct sim_host *host, void (*fn)(void *argument), void *argument);

/* No loop is preempted before the calls of this host. For runtimes that are bound to the world
 * (bind/runtime.h). */
void sim_host_undivided(struct sim_host *host);

/* The earliest future deadline of a live clock pollable; SIM_NEVER when there is none. For the same
 * use: the listener is not called when it has passed. */
uint64_t sim_host_next_instant(const struct sim_host *host);

/* ---- Actors that block in the host, and are no loops: threads. ------------------------------- */

#define SIM_BLOCK_INTERRUPTED (-1)

struct sim_blocking {
    /*
     * Blocks the calling actor until `wake` is called for it, or `due_ns` has come (SIM_NEVER: it
     * never does). `object`, `reason` and `await` are what it waits for, in reports. `reports`: how
     * many of the things that it asked for may be reported for nothing. `outside`: one of them may
     * come from outside of the run.
     *
     * Returns 0; SIM_BLOCK_INTERRUPTED, if the call ends with EINTR; or n, from 1 to
     * `reports`, if the n-th thing has to be reported for nothing.
     */
    int (*block)(struct sim_world *world, uint64_t due_ns, uint32_t object, const char *reason,
            const struct rt_site *await, uint32_t reports, bool outside);
    /* What `actor` waits for may have happened. It may not be blocked any more: no-op. */
    void (*wake)(struct sim_actor *actor);
    /* Before and after `block`: whether the caller was interrupted, whose handler may itself call
     * the host, and block in it. NULL: never. */
    bool (*interrupted)(void);
};

/* Actors that are no loops block by `blocking` (static) in calls on this host. Without: they cannot
 * block. */
void sim_host_block_by(struct sim_host *host, const struct sim_blocking *blocking);

/* ---- Sources: things on the host that become ready. Each is an actor. ------------------------ */

/* A source without events. `name` is borrowed, and appears in reports: "response A". */
struct sim_source *sim_source_new(struct sim_host *host, const char *name);

/* One more event after a latency from min_ns to max_ns, which is decided (LATENCY, LATE). */
void sim_source_event_in(struct sim_source *source, uint64_t min_ns, uint64_t max_ns);

/* One more event now, within the caller's step. */
void sim_source_event(struct sim_source *source);

/* Takes one event; RT_E_AGAIN when there is none (spurious readiness ends here). */
RT_MUST_CHECK rt_err sim_source_take(struct sim_source *source);

/* Events that have arrived and are not taken, for a scenario's checks. */
uint32_t sim_source_events(const struct sim_source *source);

/* Interest in "there is an event". RT_E_FULL under fault `capacity`. */
RT_MUST_CHECK rt_err sim_source_subscribe(struct sim_source *source, struct rt_pollable *pollable);

/* Drops the resource: RT_E_HAS_CHILDREN while pollables of it are alive (P9). */
RT_MUST_CHECK rt_err sim_source_drop(struct sim_source *source);

/* Its object number in traces. */
uint32_t sim_source_object(const struct sim_source *source);

/* ---- Byte streams over sources. -------------------------------------------------------------- */

struct sim_input;
struct sim_output;

/*
 * Bytes that arrive in chunks of at most `chunk` bytes, each after a latency from min_ns to max_ns;
 * then the end. `data` is borrowed.
 */
struct sim_input *sim_input_new(struct sim_host *host, const char *name, const void *data,
        size_t size, size_t chunk, uint64_t min_ns, uint64_t max_ns);

/* Reads at most `size` bytes, often fewer (LENGTH): RT_OK with *ret_size > 0, RT_E_AGAIN,
 * RT_E_CLOSED at the end, or RT_E_INVALID for size 0. */
#define sim_input_read(input, buffer, size, ret_size) \
    sim_input_read_at((input), (buffer), (size), (ret_size), RT_HERE)
RT_MUST_CHECK rt_err sim_input_read_at(struct sim_input *input, void *buffer, size_t size,
        size_t *ret_size, const struct rt_site *await);
RT_MUST_CHECK rt_err sim_input_subscribe(struct sim_input *input, struct rt_pollable *pollable);
RT_MUST_CHECK rt_err sim_input_drop(struct sim_input *input);

/* Has space for `capacity` bytes; used space is freed after a latency from min_ns to max_ns. */
struct sim_output *sim_output_new(
        struct sim_host *host, const char *name, size_t capacity, uint64_t min_ns, uint64_t max_ns);

/* Writes at most `size` bytes, often fewer (LENGTH): RT_OK with *ret_size > 0, RT_E_AGAIN, or
 * RT_E_INVALID for size 0. */
#define sim_output_write(output, buffer, size, ret_size) \
    sim_output_write_at((output), (buffer), (size), (ret_size), RT_HERE)
RT_MUST_CHECK rt_err sim_output_write_at(struct sim_output *output, const void *buffer, size_t size,
        size_t *ret_size, const struct rt_site *await);
RT_MUST_CHECK rt_err sim_output_subscribe(struct sim_output *output, struct rt_pollable *pollable);
RT_MUST_CHECK rt_err sim_output_drop(struct sim_output *output);

/* All bytes written so far; borrowed. */
const void *sim_output_written(const struct sim_output *output, size_t *ret_size);

/* For the runtime's streams: rt_input_init(&input, &sim_input_ops, a sim_input). A read may then
 * return no bytes although there are some, which is not the end (N3; SPURIOUS). */
extern const struct rt_input_ops sim_input_ops;
extern const struct rt_output_ops sim_output_ops;

/* ---- Requests, answered by headers, then a body (S1). ---------------------------------------- */

struct sim_request;

/* Sends a request whose answer (borrowed) has `headers` and `body`. Latencies of the headers and of
 * each body chunk are from min_ns to max_ns. */
struct sim_request *sim_request_send(struct sim_host *host, const char *name, const char *headers,
        const char *body, size_t chunk, uint64_t min_ns, uint64_t max_ns);

/* Interest in "the headers have arrived". */
RT_MUST_CHECK rt_err sim_request_subscribe(
        struct sim_request *request, struct rt_pollable *pollable);

/* RT_OK: *ret_headers (borrowed) and *ret_body are set; RT_E_AGAIN: not yet. */
RT_MUST_CHECK rt_err sim_request_get(
        struct sim_request *request, const char **ret_headers, struct sim_input **ret_body);
/* A body that was fetched belongs to the caller; one that was not is dropped with the request. */
RT_MUST_CHECK rt_err sim_request_drop(struct sim_request *request);

#ifdef __cplusplus
}
#endif
