/*
 * chrome.c -- a run in the JSON of Chrome's trace viewer (chrome://tracing, Perfetto, speedscope).
 *
 * An array of events in one object: "M" names a lane, "X" is a turn, "s" and "f" are the ends of a
 * wake, "i" what went wrong. Times are microseconds there, with nanoseconds as decimals.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <stdio.h>

#include "reports/export/format.h"
#include "reports/export/turns.h"
#include "sim/base/json.h"

struct writer {
    const struct report_run *run;
    struct sim_json json;
    bool more; /* It is not the first event. */
};

/* All lanes are threads of one process. */
#define PROCESS 1u

/* Nanoseconds as microseconds: thousandths, as seconds are printed. */
#define MICROSECONDS(key, ns) SIM_SECONDS(key, ns)

/* An event, each on a separate line. */
#define EVENT_PUT(writer, phase, lane, ...) \
    event_put(writer, SIM_RECORD(SIM_TEXT("ph", phase), SIM_NUMBER("pid", PROCESS), \
                              SIM_NUMBER("tid", lane), __VA_ARGS__))

static void
event_put(struct writer *writer, const struct sim_field *fields)
{
    (void)fputs(writer->more ? ",\n" : "\n", writer->json.file);
    writer->more = true;
    writer->json.more = false;
    sim_json_open(&writer->json, NULL, '{');
    sim_json_put(&writer->json, fields);
    sim_json_close(&writer->json, '}');
}

/* ---- Lanes. ---------------------------------------------------------------------------------- */

static void
put_name(struct writer *writer, uint32_t lane, const char *what, const char *name)
{
    EVENT_PUT(
            writer, "M", lane, SIM_TEXT("name", what), SIM_FIELDS("args", SIM_TEXT("name", name)));
}

static void
put_lanes(struct writer *writer)
{
    put_name(writer, 0, "process_name", writer->run->scenario);
    for (uint32_t i = 0; i < writer->run->actors_count; i++) {
        const struct report_actor *actor = &writer->run->actors[i];
        if (actor->seen) {
            put_name(writer, i, "thread_name", actor->name);
            EVENT_PUT(writer, "M", i, SIM_TEXT("name", "thread_sort_index"),
                    SIM_FIELDS("args", SIM_NUMBER("sort_index", actor->lane)));
        }
    }
}

/* ---- Turns. ---------------------------------------------------------------------------------- */

/* One end of a flow; it binds to the slice that it lies in. */
static void
put_flow(struct writer *writer, const char *phase, const struct report_turn *turn, uint32_t flow)
{
    EVENT_PUT(writer, phase, turn->step->actor, MICROSECONDS("ts", turn->step->time_ns),
            SIM_TEXT("cat", "wake"), SIM_TEXT("name", "wake"), SIM_NUMBER("id", flow),
            SIM_IF(phase[0] == 'f', SIM_TEXT("bp", "e")));
}

static void
put_turn(struct writer *writer, const struct report_turn *turn)
{
    const struct report_run *run = writer->run;
    const struct report_step *step = turn->step;
    const struct report_place *place = turn->place;
    EVENT_PUT(writer, "X", step->actor, MICROSECONDS("ts", step->time_ns),
            MICROSECONDS("dur", turn->end_ns - step->time_ns),
            SIM_TEXT("cat", turn->poll ? "poll" : "step"), SIM_TEXT("name", turn->words),
            SIM_FIELDS("args", SIM_NUMBER("step", step->step),
                    SIM_IF(step->cause != 0, SIM_NUMBER("woken at step", step->cause)),
                    SIM_IF(place != NULL, SIM_TEXT("file", place->file)),
                    SIM_IF(place != NULL, SIM_NUMBER("line", place->line)),
                    SIM_IF(place != NULL, SIM_TEXT("function", place->function))));
    for (uint32_t i = turn->wakes_first; i < turn->wakes_first + turn->wakes_count; i++) {
        /* A wake without a poll would be an arrow to nowhere; a coalesced one has no arrow. */
        if (run->wakes[i].poll_step != 0 && run->wakes[i].how == SIM_WAKE_QUEUED) {
            put_flow(writer, "s", turn, i);
        }
    }
    if (turn->woken_by != UINT32_MAX && run->wakes[turn->woken_by].how == SIM_WAKE_QUEUED) {
        put_flow(writer, "f", turn, turn->woken_by);
    }
}

static void
put_instant(struct writer *writer, uint64_t time_ns, uint32_t lane, const char *name,
        const char *message)
{
    EVENT_PUT(writer, "i", lane, MICROSECONDS("ts", time_ns), SIM_TEXT("s", "t"),
            SIM_TEXT("cat", "failure"), SIM_TEXT("name", name),
            SIM_FIELDS("args", SIM_IF(message != NULL, SIM_TEXT("message", message))));
}

static void
put_failure(struct writer *writer)
{
    const struct report_run *run = writer->run;
    struct report_missing missing;
    uint32_t lane;
    uint64_t time_ns;
    if (report_turns_missing(run, &missing)) {
        put_instant(writer, missing.time_ns, missing.waiter, missing.words, NULL);
    }
    if (report_turns_failure(run, &lane, &time_ns)) {
        put_instant(writer, time_ns, lane, sim_verdict_name(run->outcome.verdict),
                run->outcome.message);
    }
}

/* ---- The file. ------------------------------------------------------------------------------- */

void
report_write_chrome(const struct report_run *run, FILE *file)
{
    struct writer writer = {.run = run};
    struct report_turns turns;
    struct report_turn turn;
    report_turns_init(&turns, run);
    sim_json_begin(&writer.json, file, NULL);
    SIM_JSON_PUT(&writer.json, SIM_TEXT("displayTimeUnit", "ns"),
            SIM_FIELDS("otherData", SIM_TEXT("scenario", run->scenario),
                    SIM_TEXT("verdict", sim_verdict_name(run->outcome.verdict)),
                    SIM_TEXT("token", run->token)));
    sim_json_open(&writer.json, "traceEvents", '[');
    put_lanes(&writer);
    while (report_turns_next(&turns, &turn)) {
        put_turn(&writer, &turn);
    }
    put_failure(&writer);
    sim_json_close(&writer.json, ']');
    sim_json_end(&writer.json);
    report_turns_fini(&turns);
}
