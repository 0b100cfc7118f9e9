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

/* An event, each on a separate line. */
static void
event_begin(struct writer *writer, const char *phase, uint32_t lane)
{
    (void)fputs(writer->more ? ",\n" : "\n", writer->json.file);
    writer->more = true;
    writer->json.more = false;
    sim_json_open(&writer->json, NULL, '{');
    sim_json_text(&writer->json, "ph", phase);
    sim_json_number(&writer->json, "pid", PROCESS);
    sim_json_number(&writer->json, "tid", lane);
}

static void
put_time(struct writer *writer, const char *key, uint64_t ns)
{
    sim_json_thousandths(&writer->json, key, ns);
}

/* ---- Lanes. ---------------------------------------------------------------------------------- */

static void
put_name(struct writer *writer, uint32_t lane, const char *what, const char *name)
{
    event_begin(writer, "M", lane);
    sim_json_text(&writer->json, "name", what);
    sim_json_open(&writer->json, "args", '{');
    sim_json_text(&writer->json, "name", name);
    sim_json_close(&writer->json, '}');
    sim_json_close(&writer->json, '}');
}

static void
put_lanes(struct writer *writer)
{
    put_name(writer, 0, "process_name", writer->run->scenario);
    for (uint32_t i = 0; i < writer->run->actors_count; i++) {
        const struct report_actor *actor = &writer->run->actors[i];
        if (!actor->seen) {
            continue;
        }
        put_name(writer, i, "thread_name", actor->name);
        event_begin(writer, "M", i);
        sim_json_text(&writer->json, "name", "thread_sort_index");
        sim_json_open(&writer->json, "args", '{');
        sim_json_number(&writer->json, "sort_index", actor->lane);
        sim_json_close(&writer->json, '}');
        sim_json_close(&writer->json, '}');
    }
}

/* ---- Turns. ---------------------------------------------------------------------------------- */

/* One end of a flow; it binds to the slice that it lies in. */
static void
put_flow(struct writer *writer, const char *phase, const struct report_turn *turn, uint32_t flow)
{
    event_begin(writer, phase, turn->step->actor);
    put_time(writer, "ts", turn->step->time_ns);
    sim_json_text(&writer->json, "cat", "wake");
    sim_json_text(&writer->json, "name", "wake");
    sim_json_number(&writer->json, "id", flow);
    if (phase[0] == 'f') {
        sim_json_text(&writer->json, "bp", "e");
    }
    sim_json_close(&writer->json, '}');
}

static void
put_turn(struct writer *writer, const struct report_turn *turn)
{
    const struct report_run *run = writer->run;
    const struct report_step *step = turn->step;
    event_begin(writer, "X", step->actor);
    put_time(writer, "ts", step->time_ns);
    put_time(writer, "dur", turn->end_ns - step->time_ns);
    sim_json_text(&writer->json, "cat", turn->poll ? "poll" : "step");
    sim_json_text(&writer->json, "name", turn->words);
    sim_json_open(&writer->json, "args", '{');
    sim_json_number(&writer->json, "step", step->step);
    if (step->cause != 0) {
        sim_json_number(&writer->json, "woken at step", step->cause);
    }
    if (turn->place != NULL) {
        sim_json_text(&writer->json, "file", turn->place->file);
        sim_json_number(&writer->json, "line", turn->place->line);
        sim_json_text(&writer->json, "function", turn->place->function);
    }
    sim_json_close(&writer->json, '}');
    sim_json_close(&writer->json, '}');
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
    event_begin(writer, "i", lane);
    put_time(writer, "ts", time_ns);
    sim_json_text(&writer->json, "s", "t");
    sim_json_text(&writer->json, "cat", "failure");
    sim_json_text(&writer->json, "name", name);
    sim_json_open(&writer->json, "args", '{');
    if (message != NULL) {
        sim_json_text(&writer->json, "message", message);
    }
    sim_json_close(&writer->json, '}');
    sim_json_close(&writer->json, '}');
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
    sim_json_text(&writer.json, "displayTimeUnit", "ns");
    sim_json_open(&writer.json, "otherData", '{');
    sim_json_text(&writer.json, "scenario", run->scenario);
    sim_json_text(&writer.json, "verdict", sim_verdict_name(run->outcome.verdict));
    sim_json_text(&writer.json, "token", run->token);
    sim_json_close(&writer.json, '}');
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
