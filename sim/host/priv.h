/*
 * priv.h -- what the files of the fake host share.
 *
 *      sim_host ── records: one for each live pollable (clock, notify or source)
 *          │ ────── pollers: one for each actor that polls, with its last list
 *          │ ────── blocked: pollers that wait now
 *          └─────── tables of descriptors (fd_priv.h)
 *      sim_source ── an actor: events that have arrived, events in flight
 *
 * A handle names a record by index and generation, never by address, so traces of
 * two processes are the same.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#pragma once

#include <string.h>

#include "runtime/base/assert.h"
#include "runtime/base/list.h"
#include "runtime/base/probe.h"
#include "sim/core/loop.h"
#include "sim/core/world.h"
#include "sim/host/host.h"

/* Copies bytes of a message into what holds it on its way. */
static inline void
sim__send(void *to, const void *from, size_t size)
{
    if (size > 0) {
        RT_PROBE_MOVES(to, from, size, true);
        memcpy(to, from, size);
    }
}

/* … and out of that. */
static inline void
sim__receive(void *to, const void *from, size_t size)
{
    if (size > 0) {
        RT_PROBE_MOVES(to, from, size, false);
        memcpy(to, from, size);
    }
}

#define SIM__HOST_MAGIC 0x53484f53u
#define SIM__SOURCE_MAGIC 0x53535243u

/* A candidate for a batch is left out at most this often in a row. */
#define SIM__LEFT_OUT_MAX 4u

enum sim__record_kind {
    SIM__RECORD_CLOCK,
    SIM__RECORD_NOTIFY,
    SIM__RECORD_SOURCE,
    SIM__RECORD_EVENTS /* A table of descriptors has events to fetch. */
};

/* One pollable, from subscribe to drop. */
struct sim__record {
    struct rt_pollable *pollable; /* NULL: the record is free. */
    const char *name;             /* In reports. */
    struct sim_source *source;    /* SOURCE only. */
    struct sim_fds *fds;          /* EVENTS only. */
    struct sim_actor *owner;      /* Whose step subscribed. */
    struct sim__poller *poller;   /* Whose last list had it, unreported; NULL: none. */
    uint64_t poller_turn;         /* In which of its polls. */
    uint64_t deadline_ns;         /* CLOCK only. */
    uint64_t asked_step;          /* The last check whether it is ready. */
    uint64_t checked_ns;
    uint64_t due_step;     /* CLOCK: when the watch found it due first; 0: not yet. */
    uint64_t unseen_step;  /* It is ready and was not checked since; the loop had taken … */
    uint64_t unseen_polls; /* … this many steps. */
    uint32_t index;
    uint32_t generation;
    uint32_t object;
    uint32_t left_out; /* Polls in a row that did not report it although it was ready. */
    enum sim__record_kind kind;
    bool unready_once; /* CLOCK: not ready at the first check (P10). */
    bool of_task;      /* Subscribed in a poll of a task, and so by the user. */
};

/* An actor that waits for something of the host; in host->blocked. */
struct sim__blocked {
    struct rt_list link;
    struct sim_actor *actor;
    const struct sim_blocking *by;
    bool (*ready)(struct sim__blocked *blocked);
};

/* An actor that polls this host. */
struct sim__poller {
    struct rt_list link;
    struct sim_actor *actor;
    struct sim__blocked blocked;
    struct sim_host *host;
    struct sim__epoll *epoll;                /* While it waits for descriptors. */
    bool (*condition)(const void *argument); /* While it waits in another call. */
    const void *argument;
    bool outside;      /* What it waits for may come from outside of the run. */
    uint64_t turn;     /* Polls so far; records of older ones are not waited for. */
    bool is_loop;      /* It runs on a fiber, and so decides itself when to poll. */
    uint64_t *handles; /* A copy of its list: the caller's may change while it waits. */
    uint32_t count;
    size_t capacity;
};

/* One pollable or registration that may be reported. */
struct sim__candidate {
    uint32_t index;     /* Of the caller. */
    uint32_t *left_out; /* Its counter. */
};

struct sim_host {
    struct rt_host seam;
    uint32_t magic;
    enum sim_profile profile;
    bool terse; /* Its network promises no more than it must, as one over io_uring: `hostile`. */
    struct sim_world *world;
    const char *name;
    struct sim_actor actor; /* Its clock: steps to end `unready_once`. Owns the decisions. */
    void (*listener)(void *argument);
    void *listener_argument;
    const struct sim_blocking *blocking; /* Of actors that are no loops; NULL: they cannot. */
    struct sim__record **records;        /* By index; free ones are reused last-freed-first. */
    uint32_t *free_records;
    uint32_t records_count;
    size_t records_capacity;
    size_t free_capacity;
    uint32_t free_count;
    struct rt_list pollers;
    struct rt_list blocked;
    struct rt_list tables; /* Of descriptors. */
    struct rt_list timers; /* That are armed, of sys_counter.c; the first to expire first. */
    struct sim_binding binding;
    struct sim__candidate *candidates; /* Scratch of one poll or wait. */
    size_t candidates_capacity;
    uint32_t clock_object;
    uint32_t notify_object;
    uint32_t fault_streak;
    bool notified;
    bool undivided; /* No loop is preempted before its calls. */
    uint64_t watched_step;
};

/* An event in flight. */
struct sim__arrival {
    uint64_t due_ns;
    uint64_t amount; /* Bytes, for streams; 1. */
};

struct sim_source {
    uint32_t magic;
    uint32_t object;
    struct sim_actor actor;
    struct sim_host *host;
    const char *name;
    uint32_t events;               /* Arrived and not taken; for streams 1 or 0. */
    uint32_t pollables;            /* Alive (P9). */
    uint32_t spurious;             /* Spurious reports since the last event. */
    bool dropped;                  /* No call may use it any longer. */
    bool spared;                   /* Of a runtime: fault `capacity` does not apply. */
    uint64_t ready_step;           /* When `events` last changed from 0. */
    struct sim__arrival *arrivals; /* In flight, in the order in which they were sent. */
    uint32_t arrivals_count;
    size_t arrivals_capacity;
    /* Handles an arrival, and calls sim__source_level; NULL: counts it. */
    void (*arrived)(void *argument, uint64_t amount);
    void *argument;
};

/* Spurious reports of one source between two of its events: bounded, so that no loop spins on
 * them. */
#define SIM__SPURIOUS_MAX 2u

/* Whether it may be reported spuriously now. The judge may always do so. */
static inline bool
sim__source_may_report_spuriously(const struct sim_source *source)
{
    return source->spurious < SIM__SPURIOUS_MAX || source->host->world->decider.muted;
}

/* ---- draw.c: decisions of the host. ---------------------------------------------------------- */

/* True once in `one_in` occasions; 0: never, and no occasion. */
bool sim__one_in(struct sim_actor *actor, enum sim_kind kind, uint64_t one_in);

/* Whether fault `bit` fires now. Never more than a few times in a row. */
bool sim__fault(struct sim_host *host, uint64_t bit);

/* Moves those of `count` (> 0) candidates that are reported, at most `max` (> 0), to the front, in
 * the order of the report, and returns how many: ORDER and SUBSET. */
uint32_t sim__batch(
        struct sim_host *host, struct sim__candidate *candidates, uint32_t count, uint32_t max);

/* As sim__batch, but as many as `max` allows: ORDER only. */
uint32_t sim__batch_all(
        struct sim_host *host, struct sim__candidate *candidates, uint32_t count, uint32_t max);

/* Scratch for `count` candidates, valid until the next call. */
struct sim__candidate *sim__candidates(struct sim_host *host, uint32_t count);

/* Makes space for `needed` items of `size` bytes in `*items`, an array of the arena with space for
 * `*capacity`; NULL: none yet. New items are zero. */
void sim__reserve(
        struct sim_world *world, void *items, size_t needed, size_t *capacity, size_t size);

/* ---- record.c: pollables. -------------------------------------------------------------------- */

/* Makes the record and the pollable. RT_E_FULL under fault `capacity`. */
RT_MUST_CHECK rt_err sim__record_open(struct sim_host *host, enum sim__record_kind kind,
        struct sim_source *source, uint64_t deadline_ns, struct rt_pollable *pollable);

/* Makes a pollable that is ready while `fds` has events to fetch: it belongs to a runtime, so fault
 * `capacity` does not apply, and it is not a leak. */
void sim__record_open_events(
        struct sim_host *host, struct sim_fds *fds, struct rt_pollable *pollable);

/* The record; a pollable that is not alive ends the run with verdict contract. */
struct sim__record *sim__record_of(struct sim_host *host, const struct rt_pollable *pollable);

/* The record with `handle`, or NULL when it is not alive. */
struct sim__record *sim__record_find(const struct sim_host *host, uint64_t handle);

/* As sim__record_of, by handle. */
struct sim__record *sim__record_at(struct sim_host *host, uint64_t handle);

void sim__record_close(struct sim_host *host, struct sim__record *record);

/* Whether it is ready. */
bool sim__record_ready(const struct sim_host *host, const struct sim__record *record);

/* The same, and notes the check, which ends `unready_once`. */
bool sim__record_check(struct sim_host *host, struct sim__record *record);

/* ---- host.c ---------------------------------------------------------------------------------- */

/*
 * Comes first in every call by which a program reads from or acts on the outside, before any
 * check or effect: a loop on a fiber may be preempted here (sim_loop_switch). The list of these
 * calls is in sim/docs/host-seam.md. sim_fd_wait and `poll` always pause the loop.
 */
static inline void
sim__host_call(struct sim_host *host, const char *name)
{
    if (host->world->fiber != NULL && !host->undivided) {
        sim_loop_switch(host->world, name);
    }
}

/* Something of the host has become ready: wakes the loops that wait for it, calls the listener. */
void sim__host_changed(struct sim_host *host);

/* A clock pollable was made with `unready_once`: schedules the host's step, which ends that. */
void sim__host_unready_once(struct sim_host *host);

static inline bool
sim__host_hostile(const struct sim_host *host)
{
    return host->profile == SIM_PROFILE_HOSTILE;
}

/* ---- poll.c ---------------------------------------------------------------------------------- */

rt_err sim__poll(struct rt_host *seam, struct rt_pollable *const *in, uint32_t count,
        uint32_t *ret_indices, uint32_t *ret_ready);

/* The poller of the actor whose step this is. */
struct sim__poller *sim__poller_current(struct sim_host *host);

/* How the calling actor blocks; NULL: it cannot. */
const struct sim_blocking *sim__host_blocking(const struct sim_host *host);

/* Whether that actor polls a list with a pollable of `source`, or of the table in which
 * `description` is registered (NULL: of no table). */
struct sim__description;
bool sim__list_waits_for(const struct sim__blocked *blocked,
        const struct sim__description *description, const struct sim_source *source);

/* Blocks the calling actor, which can, until `ready` returns true, or until `due_ns`. `reports`:
 * how many things it asked for. Returns what struct sim_blocking's block did. */
int sim__poller_block(struct sim__poller *poller, bool (*ready)(struct sim__blocked *blocked),
        uint64_t due_ns, uint32_t object, const char *reason, const struct rt_site *await,
        uint32_t reports);

/* ---- watch.c --------------------------------------------------------------------------------- */

/* Ends the run with verdict starvation when something ready was not checked for too long. */
void sim__watch(struct sim_host *host);

/* The host's closer. */
void sim__watch_close(void *host);

/* ---- stream.c -------------------------------------------------------------------------------- */

/* Bytes that arrive in chunks, then their end. */
struct sim__feed {
    struct sim_source *source;
    const char *data; /* Borrowed. */
    size_t size;
    size_t chunk;
    size_t arrived;
    size_t read;
    uint64_t min_ns;
    uint64_t max_ns;
    bool ended; /* All bytes and the end have arrived. */
};

/* Sends the first chunk. */
void sim__feed_begin(struct sim__feed *feed);

/* A chunk of `amount` bytes has arrived, 0: the end. Sends the next one. */
void sim__feed_arrived(struct sim__feed *feed, uint64_t amount);

/* Whether it has unread bytes, or its end. */
bool sim__feed_readable(const struct sim__feed *feed);

/* Moves at most `size` (> 0) of the unread bytes, of which there are some, to `buffer`. How many is
 * drawn by `actor`. */
size_t sim__feed_read(struct sim__feed *feed, struct sim_actor *actor, void *buffer, size_t size);

/* Bytes that were written, for the scenario's check. */
struct sim__written {
    char *bytes;
    size_t size;
    size_t capacity;
};

void sim__written_add(
        struct sim_world *world, struct sim__written *written, const void *bytes, size_t size);

/* ---- source.c -------------------------------------------------------------------------------- */

/* As sim_source_new, with a handler of arrivals. */
struct sim_source *sim__source_new(struct sim_host *host, const char *name,
        void (*arrived)(void *argument, uint64_t amount), void *argument);

/* `name` and `suffix` in one, in the arena. */
const char *sim__name_join(struct sim_world *world, const char *name, const char *suffix);

/* As sim_source_event_in, with an amount. */
void sim__source_arrive_in(
        struct sim_source *source, uint64_t amount, uint64_t min_ns, uint64_t max_ns);

/* As sim_source_event, with an amount. */
void sim__source_arrive_now(struct sim_source *source, uint64_t amount);

/* Sets whether it is ready; a change is an event. */
void sim__source_level(struct sim_source *source, bool ready);

/* `amount` was taken; `kind` is the event READ or WRITE, or 0 (neither). */
void sim__source_moved(
        struct sim_source *source, uint32_t kind, const struct rt_site *await, uint64_t amount);

/* Comes first in each public call on a source: a dropped one ends the run with verdict contract. */
void sim__source_check(const struct sim_source *source);

/* As sim_source_drop, inside of a call. */
RT_MUST_CHECK rt_err sim__source_drop(struct sim_source *source);

/* The first in flight arrives now, and not in a step of its own. */
void sim__source_arrive_at_once(struct sim_source *source);

/* Nothing is in flight any more. */
void sim__source_cancel(struct sim_source *source);

/* Ends it: nothing arrives any more. */
void sim__source_end(struct sim_source *source);

/* now_ns + delay_ns, saturating at SIM_NEVER. */
static inline uint64_t
sim__later(uint64_t now_ns, uint64_t delay_ns)
{
    return delay_ns > SIM_NEVER - now_ns ? SIM_NEVER : now_ns + delay_ns;
}
