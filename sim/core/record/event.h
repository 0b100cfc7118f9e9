/*
 * event.h -- one thing that happened, in 32 bytes.
 *
 * Events come from three places: the runtime's probes (runtime/base/probe.h), the
 * world (steps, time), and the host. They are numbered in one space: kinds below
 * SIM_EVENT_FIRST are probe kinds.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#pragma once

#include <stdint.h>

#include "runtime/base/probe.h"

#define SIM_EVENT_FIRST 64

/* The numbers are part of traces: append only. */
#define SIM_EVENT_LIST(X) \
    X(STEP, "step", "an actor takes a step; argument: virtual time, ns") \
    X(ACTOR, "actor", "an actor was created; argument: its stable id, kind in the upper half") \
    X(DONE, "done", "an actor has finished for good") \
    X(CLOCK, "clock", "no actor was enabled, so time moved; argument: the new time") \
    X(SLOW, "slow-step", "a step took longer; argument: by how much, ns") \
    X(READY, "ready", "a host source became ready; object: the source") \
    X(UNREADY, "unready", "a host source is no longer ready; object: the source") \
    X(REPORT, "report", "a poll of the host reported it; object: the source") \
    X(SPURIOUS, "spurious", "a spurious wake or report; object: the source or task") \
    X(SUBSCRIBE, "subscribe", "a pollable was made; object: the source; argument: handle") \
    X(UNSUBSCRIBE, "unsubscribe", "a pollable was dropped; object: the source") \
    X(READ, "read", "bytes were read; object: the source; argument: how many") \
    X(WRITE, "write", "bytes were written; object: the source; argument: how many") \
    X(BLOCK, "block", "a loop blocks in the host's poll; argument: length of its list") \
    X(UNBLOCK, "unblock", "the poll returns; argument: how many are ready") \
    X(OPEN, "open", "a descriptor was opened; object: the source; argument: its number") \
    X(CLOSE, "close", "a descriptor was closed; object: the source; argument: its number") \
    X(FAULT, "fault", "a fault was injected; argument: which") \
    X(LOG, "log", "the scenario logged a line; the text is kept beside the trace") \
    X(OUT, "out", "the scenario printed a line; the text is kept beside the trace") \
    X(PROGRESS, "progress", "the scenario reports progress") \
    X(GOAL, "goal", "SIM_SOMETIMES or SIM_REACHABLE was reached") \
    X(SPURIOUS_POLL, "spurious-poll", \
            "a blocked task is polled by the oracle; never part of a digest") \
    X(END, "end", "the run is over; argument: the verdict") \
    X(GET, "get", "a shared cell was read; object: the cell; argument: what it holds") \
    X(SET, "set", "a shared cell was written; object: the cell; argument: what it holds now") \
    X(FAULT_FREE, "fault-free", "no fault is injected from here on; argument: how many were") \
    X(SWITCH, "switch", "a loop is preempted before a host call; its name is kept as text") \
    X(FREE, "free", \
            "a slot was freed with a waker in it; object: the slot; argument: whose waker") \
    X(ASSIGN, "assign", \
            "plain memory is about to be written; object: the variable; argument: bytes") \
    X(WANTED, "wanted", "a lock or permit of the program's own is waited for; object: it") \
    X(GRANTED, "granted", "it was given; argument: the task that has it; 0: the caller") \
    X(RELEASED, "released", "it was given back") \
    X(CALL, "call", "a call of the program returns; see core/record/call.h")

enum sim_event_kind {
    SIM_EVENT_BEFORE_FIRST = SIM_EVENT_FIRST - 1,
#define SIM_EVENT_ENUM(name, text, meaning) SIM_EVENT_##name,
    SIM_EVENT_LIST(SIM_EVENT_ENUM)
#undef SIM_EVENT_ENUM
            SIM_EVENT_END_OF_KINDS
};

/* Object numbers: kind, creating actor, n-th of its kind. Stable, and no table is needed. */
#define SIM_OBJECT(kind, actor, nth) \
    ((uint32_t)(kind) << 28 | ((uint32_t)(actor)&0xfffu) << 16 | ((uint32_t)(nth)&0xffffu))
#define SIM_OBJECT_KIND(object) ((object) >> 28)
#define SIM_OBJECT_ACTOR(object) (((object) >> 16) & 0xfffu)
#define SIM_OBJECT_NTH(object) ((object)&0xffffu)

struct sim_event {
    uint32_t step;   /* 0: before the first step. */
    uint32_t cause;  /* POLL: the step whose wake led to it; 0: none known. CALL: call.h. Others: 0.
                      */
    uint32_t object; /* SIM_OBJECT, or 0. */
    uint32_t site;   /* Site ids; 0: none. */
    uint32_t await;
    uint16_t actor; /* In-run index of the actor whose step this is; 0: the world. */
    uint8_t kind;   /* enum rt_probe_kind, or enum sim_event_kind. */
    uint8_t flags;  /* CALL: which one. Others: 0. */
    uint64_t argument;
};

/* The site of the user's line where it is known, else of the runtime's; 0: none. */
static inline uint32_t
sim_event_line(const struct sim_event *event)
{
    return event->await != 0 ? event->await : event->site;
}

/* "poll", "store", "ready" …; static; "?" for an unknown number. */
const char *sim_event_name(uint32_t kind);

/* What it means, one line; static. */
const char *sim_event_meaning(uint32_t kind);

/* "timer", "slot" …; static. */
const char *sim_object_kind_name(uint32_t kind);
