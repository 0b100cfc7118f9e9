/*
 * host.h -- the fake host: a clock and pollables, with every legal freedom a decision.
 *
 * It stands behind the same seam as a real one (runtime/io/host.h). What may
 * legally happen, and so is decided, depends on the profile:
 *
 *   wasi     strict WASI 0.2.1: level-triggered; poll reports at least one ready
 *            pollable, which subset and in which order is decided; an empty list
 *            and an index out of range are faults; a zero-duration pollable may
 *            not be ready at the first look.
 *   hostile  as wasi, and: events come late and in batches, a pollable is
 *            reported that is not ready (its own call says RT_E_AGAIN).
 *   fd       for descriptors (fd.h): the seam as a real system has it, where past
 *            deadlines are ready at once and polling nothing is an error.
 *
 * README.md lists every freedom, with the decision that makes it. Under fault `clock` the
 * clock jumps ahead, as after a suspend.
 *
 * A source whose event is late is not ready anywhere until it is reported, so a
 * decision of the host is never blamed on the runtime.
 *
 * A blocked `poll` needs a loop (core/loop.h) to block in; from a world-driven runtime
 * (bind/runtime.h) the host is only asked when something is ready.
 *
 * Ownership. Hosts and sources live in the arena, for the run.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SIM_HOST_HOST_H
#define SIM_HOST_HOST_H

#include "runtime/io/host.h"
#include "runtime/io/stream.h"
#include "sim/core/scenario.h"

#ifdef __cplusplus
extern "C" {
#endif

struct sim_host;
struct sim_source;

/* Makes a host; `name` is borrowed (NULL: "host"). DEFAULT: the run's profile. */
struct sim_host *sim_host_new(struct sim_world *world, const char *name, enum sim_profile profile);

/* The seam: give this to a runtime, ours or the reader's own. */
struct rt_host *sim_host_seam(struct sim_host *host);

/* Calls fn(argument) whenever something of this host may have become ready; one listener. For who
 * drives a runtime without a loop of its own. */
void sim_host_listen(struct sim_host *host, void (*fn)(void *argument), void *argument);

/* The calls of this host are part of the steps of a runtime that is bound to the world: no loop is
 * switched before them. For code that makes such a runtime (bind/runtime.h). */
void sim_host_undivided(struct sim_host *host);

/* The earliest moment that a living clock pollable stands for and that is still to come; SIM_NEVER
 * when there is none. For the same reader: the listener is not called when it has come. */
uint64_t sim_host_next_instant(const struct sim_host *host);

/* ---- Sources: things on the host that become ready. Each is an actor of its own. ------------- */

/* A source with nothing ready. `name` is borrowed; it is what people read: "response A". */
struct sim_source *sim_source_new(struct sim_host *host, const char *name);

/* One more event after a latency from min_ns to max_ns, which is decided (LATENCY, LATE). */
void sim_source_event_in(struct sim_source *source, uint64_t min_ns, uint64_t max_ns);

/* One more event now, within the caller's step: somebody in the world did it. */
void sim_source_event(struct sim_source *source);

/* Takes one event; RT_E_AGAIN when there is none (spurious readiness ends here). */
RT_MUST_CHECK rt_err sim_source_take(struct sim_source *source);

/* Events there now, for a scenario's own checks. */
uint32_t sim_source_events(const struct sim_source *source);

/* Interest in "there is an event". RT_E_FULL under fault `capacity`. */
RT_MUST_CHECK rt_err sim_source_subscribe(struct sim_source *source, struct rt_pollable *pollable);

/* Gives the resource up: RT_E_HAS_CHILDREN while pollables of it are alive (P9). */
RT_MUST_CHECK rt_err sim_source_drop(struct sim_source *source);

/* Its object number, as traces show it. */
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

/* Room for `room` bytes; what is used comes back after a latency from min_ns to max_ns. */
struct sim_output *sim_output_new(
        struct sim_host *host, const char *name, size_t room, uint64_t min_ns, uint64_t max_ns);

/* Writes at most `size` bytes, often fewer (LENGTH): RT_OK with *ret_size > 0, RT_E_AGAIN, or
 * RT_E_INVALID for size 0. */
#define sim_output_write(output, buffer, size, ret_size) \
    sim_output_write_at((output), (buffer), (size), (ret_size), RT_HERE)
RT_MUST_CHECK rt_err sim_output_write_at(struct sim_output *output, const void *buffer, size_t size,
        size_t *ret_size, const struct rt_site *await);
RT_MUST_CHECK rt_err sim_output_subscribe(struct sim_output *output, struct rt_pollable *pollable);
RT_MUST_CHECK rt_err sim_output_drop(struct sim_output *output);

/* What has been written so far; borrowed. */
const void *sim_output_written(const struct sim_output *output, size_t *ret_size);

/* The same behind the runtime's tables: rt_input_init(&input, &sim_input_ops, a sim_input). A read
 * may then answer no bytes although there are some, which is no end (N3; SPURIOUS). */
extern const struct rt_input_ops sim_input_ops;
extern const struct rt_output_ops sim_output_ops;

/* ---- Requests: something is asked, headers come back, then a body (S1). ---------------------- */

struct sim_request;

/* Sends a request whose answer (borrowed) has `headers` and `body`. Latencies of the headers and of
 * each body chunk are from min_ns to max_ns. */
struct sim_request *sim_request_send(struct sim_host *host, const char *name, const char *headers,
        const char *body, size_t chunk, uint64_t min_ns, uint64_t max_ns);

/* Interest in "the headers are here". */
RT_MUST_CHECK rt_err sim_request_subscribe(
        struct sim_request *request, struct rt_pollable *pollable);

/* RT_OK: *ret_headers (borrowed) and *ret_body are there; RT_E_AGAIN: not yet. */
RT_MUST_CHECK rt_err sim_request_get(
        struct sim_request *request, const char **ret_headers, struct sim_input **ret_body);
/* A body that was fetched is its reader's, and stays; one that was not goes with the request. */
RT_MUST_CHECK rt_err sim_request_drop(struct sim_request *request);

#ifdef __cplusplus
}
#endif
#endif
