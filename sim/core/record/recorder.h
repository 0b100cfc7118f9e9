/*
 * recorder.h -- where events go while a run is in progress.
 *
 * Events are appended to a ring that the caller provides (in a worker, in memory shared
 * with the parent, so that a crashed run can still be read). Every 128 events are hashed
 * at once, chained by the hash before: the list of these hashes finds the first
 * divergence of two runs without all their rows, and the last one, mixed with the
 * decisions, is the run's digest.
 *
 * With `events` off (spurious polls, bisection) nothing is recorded and there is no
 * digest; the run is otherwise the same.
 *
 * Text (names, logs, reasons) is kept beside the events, with `texts` on, and is in no
 * digest.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "sim/core/code/call_stack.h"
#include "sim/core/record/event.h"

#define SIM_CHUNK 128u /* Events per hash. */

/* What a piece of text belongs to. */
enum sim_text_kind {
    SIM_TEXT_ACTOR,  /* key: actor index; its name */
    SIM_TEXT_OBJECT, /* key: object number; its name */
    SIM_TEXT_EVENT,  /* key: index of the event; what was logged, or a STORE's reason */
    SIM_TEXT_WAITER, /* key: actor index; deadlock: what it waits for, as it says itself */
    SIM_TEXT_STACK   /* key: actor index; no text: a struct sim_stack, where it was at the end */
};

struct sim_text {
    uint64_t key;
    uint32_t kind;
    uint32_t length;
    uint32_t offset; /* Into `bytes`; the text is also terminated there. */
    uint32_t reserved;
};

/* Memory of a recorder, which the caller provides and frees. */
struct sim_record_memory {
    struct sim_event *events;
    uint32_t events_capacity; /* A power of two, at least SIM_CHUNK. */
    uint64_t *hashes;
    uint32_t hashes_capacity;
    struct sim_text *texts;
    uint32_t texts_capacity;
    char *bytes;
    uint32_t bytes_capacity;
};

struct sim_recorder {
    struct sim_record_memory memory;
    uint64_t count; /* Events of this run; the last events_capacity of them are in the ring. */
    uint64_t over;  /* Events from here on close the run; UINT64_MAX: none do. */
    uint64_t hash;  /* Of the chunks so far. */
    uint32_t hashes;
    uint32_t texts;
    uint32_t bytes;
    bool events_on;
    bool texts_on;
    bool texts_lost; /* Text that did not fit was left out. */
};

/* Begins a run with nothing recorded. */
void sim_recorder_begin(struct sim_recorder *recorder, bool events, bool texts);

/* Hashes the events since the last hash, at least one. */
void sim_recorder_chunk(struct sim_recorder *recorder);

/* Whether the last event has filled a chunk: sim_recorder_chunk is due, before the next event. */
static inline bool
sim_recorder_full(const struct sim_recorder *recorder)
{
    return (recorder->count & (SIM_CHUNK - 1)) == 0;
}

/* Ends the run; `decisions` is the decider's hash. Returns the run's digest, 0 with events off. */
uint64_t sim_recorder_end(struct sim_recorder *recorder, uint64_t decisions);

/*
 * The next event, for the caller to fill at once, and then to check sim_recorder_full; only with
 * events on. It is filled in place: an event built elsewhere and copied here costs more than all
 * the rest of recording it.
 */
static inline struct sim_event *
sim_record_next(struct sim_recorder *recorder)
{
    uint64_t index = recorder->count++;
    return &recorder->memory.events[index & (recorder->memory.events_capacity - 1)];
}

/* Appends a copy of `event`, with events on. */
static inline void
sim_record(struct sim_recorder *recorder, const struct sim_event *event)
{
    if (recorder->events_on) {
        *sim_record_next(recorder) = *event;
        if (sim_recorder_full(recorder)) {
            sim_recorder_chunk(recorder);
        }
    }
}

/* Keeps `text` (copied) for `kind` and `key`; a second text for an object or actor is left out. */
void sim_record_text(struct sim_recorder *recorder, enum sim_text_kind kind, uint64_t key,
        const char *text, size_t length);

/* The first text kept for `kind` and `key`, or NULL. Linear: for reports. */
const char *sim_recorder_text(
        const struct sim_recorder *recorder, enum sim_text_kind kind, uint64_t key);

/* The stack of actor `index` at the end of the run; false: it has none. Of this process or of one
 * with the same modules. */
bool sim_recorder_stack(
        const struct sim_recorder *recorder, uint32_t index, struct sim_stack *ret_stack);

/* Event `index` of the run, or NULL when the ring has lost it. */
const struct sim_event *sim_recorder_event(const struct sim_recorder *recorder, uint64_t index);

/* The first event that is still in the ring. */
uint64_t sim_recorder_first(const struct sim_recorder *recorder);

/* The number of events of the run itself, without those that close it, and END. */
uint64_t sim_recorder_run_end(const struct sim_recorder *recorder);
