/*
 * perfetto.c -- a run as a trace of Perfetto (https://ui.perfetto.dev): track events.
 *
 * One track for each actor, below one for the run; a turn is a slice, a wake a flow from the slice
 * that sent it to that of the next poll. A missing wake is an instant on the track of the blocked
 * task, at the time when it should have been woken, and a flow from the step that should have sent
 * it. Virtual nanoseconds are the nanoseconds of the trace.
 *
 * The numbers are those of Perfetto's published protocol (protos/perfetto/trace/);
 * reports/tests/perfetto.proto has the used ones, with which a test decodes the file by protoc.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <stdio.h>
#include <stdlib.h>

#include "reports/export/format.h"
#include "reports/export/protobuf.h"
#include "reports/export/turns.h"

/* Trace. */
#define TRACE_PACKET 1u
/* TracePacket. */
#define PACKET_TIMESTAMP 8u
#define PACKET_SEQUENCE 10u
#define PACKET_TRACK_EVENT 11u
#define PACKET_SEQUENCE_FLAGS 13u
#define PACKET_TRACK_DESCRIPTOR 60u
#define SEQUENCE_STATE_CLEARED 1u
/* TrackDescriptor. */
#define TRACK_UUID 1u
#define TRACK_NAME 2u
#define TRACK_PARENT_UUID 5u
#define TRACK_CHILD_ORDERING 11u
#define TRACK_SIBLING_ORDER_RANK 12u
#define ORDERING_EXPLICIT 3u
/* TrackEvent. */
#define EVENT_DEBUG_ANNOTATIONS 4u
#define EVENT_TYPE 9u
#define EVENT_TRACK_UUID 11u
#define EVENT_CATEGORIES 22u
#define EVENT_NAME 23u
#define EVENT_SOURCE_LOCATION 33u
#define EVENT_FLOW_IDS 47u
#define EVENT_TERMINATING_FLOW_IDS 48u
#define TYPE_SLICE_BEGIN 1u
#define TYPE_SLICE_END 2u
#define TYPE_INSTANT 3u
/* DebugAnnotation. */
#define ANNOTATION_UINT 3u
#define ANNOTATION_STRING 6u
#define ANNOTATION_NAME 10u
/* SourceLocation. */
#define LOCATION_FILE 2u
#define LOCATION_FUNCTION 3u
#define LOCATION_LINE 4u

/* All packets are of one writer. */
#define SEQUENCE 1u
/* 0 would be the trace's own track. */
#define ROOT_UUID 1u
#define UUID_OF(lane) (UINT64_C(2) + (lane))
/* Flows: the wakes by index, then the missing one. */
#define FLOW_OF(wake) (UINT64_C(1) + (wake))

struct writer {
    const struct report_run *run;
    struct sim_page out;
    FILE *file;
    size_t packet;
    struct report_missing missing; /* Its step 0: none. */
};

static void
packet_begin(struct writer *writer)
{
    writer->packet = report_protobuf_open(&writer->out, TRACE_PACKET);
    report_protobuf_number(&writer->out, PACKET_SEQUENCE, SEQUENCE);
}

static void
packet_end(struct writer *writer)
{
    report_protobuf_close(&writer->out, writer->packet);
    (void)fwrite(writer->out.bytes, 1, writer->out.length, writer->file);
    sim_page_clear(&writer->out);
}

/* ---- Tracks. --------------------------------------------------------------------------------- */

static void
put_root(struct writer *writer)
{
    struct sim_page *out = &writer->out;
    packet_begin(writer);
    report_protobuf_number(out, PACKET_SEQUENCE_FLAGS, SEQUENCE_STATE_CLEARED);
    size_t track = report_protobuf_open(out, PACKET_TRACK_DESCRIPTOR);
    report_protobuf_number(out, TRACK_UUID, ROOT_UUID);
    report_protobuf_text(out, TRACK_NAME, writer->run->scenario);
    report_protobuf_number(out, TRACK_CHILD_ORDERING, ORDERING_EXPLICIT);
    report_protobuf_close(out, track);
    packet_end(writer);
}

static void
put_tracks(struct writer *writer)
{
    struct sim_page *out = &writer->out;
    put_root(writer);
    for (uint32_t i = 0; i < writer->run->actors_count; i++) {
        const struct report_actor *actor = &writer->run->actors[i];
        if (!actor->seen) {
            continue;
        }
        packet_begin(writer);
        size_t track = report_protobuf_open(out, PACKET_TRACK_DESCRIPTOR);
        report_protobuf_number(out, TRACK_UUID, UUID_OF(i));
        report_protobuf_number(out, TRACK_PARENT_UUID, ROOT_UUID);
        report_protobuf_text(out, TRACK_NAME, actor->name);
        report_protobuf_number(out, TRACK_SIBLING_ORDER_RANK, actor->lane);
        report_protobuf_close(out, track);
        packet_end(writer);
    }
}

/* ---- Events. --------------------------------------------------------------------------------- */

static size_t
event_begin(struct writer *writer, uint64_t time_ns, uint32_t lane, uint32_t type)
{
    struct sim_page *out = &writer->out;
    packet_begin(writer);
    report_protobuf_number(out, PACKET_TIMESTAMP, time_ns);
    size_t event = report_protobuf_open(out, PACKET_TRACK_EVENT);
    report_protobuf_number(out, EVENT_TYPE, type);
    report_protobuf_number(out, EVENT_TRACK_UUID, UUID_OF(lane));
    return event;
}

static void
event_end(struct writer *writer, size_t event)
{
    report_protobuf_close(&writer->out, event);
    packet_end(writer);
}

static void
annotate(struct sim_page *out, const char *name, const char *text, uint64_t number)
{
    size_t annotation = report_protobuf_open(out, EVENT_DEBUG_ANNOTATIONS);
    report_protobuf_text(out, ANNOTATION_NAME, name);
    if (text != NULL) {
        report_protobuf_text(out, ANNOTATION_STRING, text);
    } else {
        report_protobuf_number(out, ANNOTATION_UINT, number);
    }
    report_protobuf_close(out, annotation);
}

static void
put_place(struct sim_page *out, const struct report_place *place)
{
    size_t location = report_protobuf_open(out, EVENT_SOURCE_LOCATION);
    report_protobuf_text(out, LOCATION_FILE, place->file);
    report_protobuf_text(out, LOCATION_FUNCTION, place->function);
    report_protobuf_number(out, LOCATION_LINE, place->line);
    report_protobuf_close(out, location);
}

static void
put_flows(struct writer *writer, const struct report_turn *turn)
{
    const struct report_run *run = writer->run;
    for (uint32_t i = turn->wakes_first; i < turn->wakes_first + turn->wakes_count; i++) {
        if (run->wakes[i].poll_step != 0) {
            report_protobuf_fixed64(&writer->out, EVENT_FLOW_IDS, FLOW_OF(i));
        }
    }
    if (turn->step->step == writer->missing.step && writer->missing.step != 0) {
        report_protobuf_fixed64(&writer->out, EVENT_FLOW_IDS, FLOW_OF(run->wakes_count));
    }
    if (turn->woken_by != UINT32_MAX) {
        report_protobuf_fixed64(&writer->out, EVENT_TERMINATING_FLOW_IDS, FLOW_OF(turn->woken_by));
    }
}

static void
put_turn(struct writer *writer, const struct report_turn *turn)
{
    struct sim_page *out = &writer->out;
    const struct report_step *step = turn->step;
    size_t event = event_begin(writer, step->time_ns, step->actor, TYPE_SLICE_BEGIN);
    report_protobuf_text(out, EVENT_CATEGORIES, turn->poll ? "poll" : "step");
    report_protobuf_text(out, EVENT_NAME, turn->kind);
    annotate(out, "step", NULL, step->step);
    annotate(out, "events", turn->words, 0);
    if (step->cause != 0) {
        annotate(out, "woken at step", NULL, step->cause);
    }
    if (turn->place != NULL) {
        put_place(out, turn->place);
    }
    put_flows(writer, turn);
    event_end(writer, event);
    event_end(writer, event_begin(writer, turn->end_ns, step->actor, TYPE_SLICE_END));
}

static void
put_instant(struct writer *writer, uint64_t time_ns, uint32_t lane, const char *name,
        const char *message, uint64_t flow)
{
    size_t event = event_begin(writer, time_ns, lane, TYPE_INSTANT);
    report_protobuf_text(&writer->out, EVENT_CATEGORIES, "failure");
    report_protobuf_text(&writer->out, EVENT_NAME, name);
    if (message != NULL) {
        annotate(&writer->out, "message", message, 0);
    }
    if (flow != 0) {
        report_protobuf_fixed64(&writer->out, EVENT_TERMINATING_FLOW_IDS, flow);
    }
    event_end(writer, event);
}

static void
put_failure(struct writer *writer)
{
    const struct report_run *run = writer->run;
    const struct report_missing *missing = &writer->missing;
    uint32_t lane;
    uint64_t time_ns;
    if (missing->step != 0) {
        put_instant(writer, missing->time_ns, missing->waiter, missing->words, NULL,
                FLOW_OF(run->wakes_count));
    }
    if (report_turns_failure(run, &lane, &time_ns)) {
        put_instant(writer, time_ns, lane, sim_verdict_name(run->outcome.verdict),
                run->outcome.message, 0);
    }
}

/* ---- The file. ------------------------------------------------------------------------------- */

void
report_write_perfetto(const struct report_run *run, FILE *file)
{
    struct writer writer = {.run = run, .file = file};
    struct report_turns turns;
    struct report_turn turn;
    (void)report_turns_missing(run, &writer.missing);
    sim_page_init(&writer.out, false);
    report_turns_init(&turns, run);
    put_tracks(&writer);
    while (report_turns_next(&turns, &turn)) {
        put_turn(&writer, &turn);
    }
    put_failure(&writer);
    report_turns_fini(&turns);
    sim_page_fini(&writer.out);
}
