/*
 * json.c -- `rewake run --json`: one object a line.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "sim/base/json.h"

#include <stdio.h>
#include <string.h>

#include "sim/base/build.h"
#include "sim/base/clock.h"
#include "sim/cli/run/state.h"
#include "sim/cli/shrunk.h"
#include "sim/cli/subject/subject.h"
#include "sim/core/record/site.h"
#include "sim/explain/view/diff.h"
#include "sim/explain/view/where.h"

static void
put_json_assignments(
        struct sim_json *json, const char *key, const struct sim_assignment *list, uint32_t count)
{
    sim_json_open(json, key, '{');
    for (uint32_t i = 0; i < count; i++) {
        char name[64];
        (void)snprintf(name, sizeof(name), "%.*s", (int)list[i].name_length, list[i].name);
        sim_json_text(json, name, list[i].value);
    }
    sim_json_close(json, '}');
}

void
sim_run_json_verdicts(struct sim_json *json, const struct sim_sweep_totals *totals)
{
    sim_json_open(json, "verdicts", '{');
    for (uint32_t i = 0; i < SIM_VERDICTS; i++) {
        if (totals->verdicts[i] > 0) {
            sim_json_number(json, sim_verdict_name(i), totals->verdicts[i]);
        }
    }
    sim_json_close(json, '}');
    if (totals->idle > 0) {
        sim_json_number(json, "idle", totals->idle);
    }
}

void
sim_run_json_start(const struct sim_run *run)
{
    const struct sim_settings *settings = &run->cli->settings;
    char build[SIM_BUILD_MAX];
    struct sim_json json;
    sim_build_text(run->cli->library, build);
    sim_json_begin(&json, stdout, "start");
    SIM_JSON_PUT(&json, SIM_TEXT("build", build), SIM_NUMBER("scenarios", run->selected.count));
    sim_json_open(&json, "options", '{');
    SIM_JSON_PUT(&json, SIM_LONG("seed", settings->seed),
            SIM_IF(run->plan.runs != UINT64_MAX, SIM_NUMBER("runs", run->plan.runs)),
            SIM_IF(settings->time_ms > 0, SIM_SECONDS("time", settings->time_ms)),
            SIM_IF(run->git[0] != '\0', SIM_TEXT("git", run->git)));
    if (sim_run_is_part(run)) {
        SIM_JSON_PUT(&json, SIM_NUMBER("shard", run->plan.shard + 1),
                SIM_NUMBER("shards", run->plan.shards),
                SIM_NUMBER("unit_runs", run->plan.unit_runs));
    }
    SIM_JSON_PUT(&json, SIM_TEXT("strategy", settings->strategy),
            SIM_NUMBER("jobs", run->pool.count),
            SIM_TEXT("db", run->store != NULL ? sim_cli_db(run->cli) : NULL),
            SIM_NUMBER("check_determinism", settings->check_percent),
            SIM_BOOL("expect", run->expect));
    put_json_assignments(&json, "params", settings->params, settings->param_count);
    put_json_assignments(&json, "run_options", settings->options, settings->option_count);
    sim_json_close(&json, '}');
    sim_json_end(&json);
}

/* The options that the seed drew, where they differ from the sweep's. */
static void
put_drawn(struct sim_json *json, const struct sim_run *run, const struct sim_options *options)
{
    if (memcmp(options, &run->plan.spec.options, sizeof(*options)) == 0) {
        return;
    }
    sim_json_open(json, "options_drawn", '{');
    for (uint32_t i = 0; i < SIM_OPTIONS; i++) {
        uint64_t value = sim_option_get(options, i);
        if (value != sim_option_get(&run->plan.spec.options, i)) {
            sim_json_number(json, sim_option_name(i), value);
        }
    }
    sim_json_close(json, '}');
}

/* Before the token of the run as found, which so is the last one in the line. */
static void
put_shrunk(struct sim_json *json, const struct sim_report *report)
{
    if (report->shrunk == NULL) {
        return;
    }
    sim_json_open(json, "shrunk", '{');
    sim_json_text(json, "token", report->shrunk_token);
    sim_shrunk_json(json, report->shrunk);
    sim_json_close(json, '}');
}

static void
put_site(struct sim_json *json, const char *file, uint32_t line, const char *function)
{
    const char *slash = strrchr(file, '/');
    SIM_JSON_PUT(json, SIM_FIELDS(NULL, SIM_TEXT("file", slash != NULL ? slash + 1 : file),
                               SIM_NUMBER("line", line), SIM_TEXT("function", function)));
}

/* The frames of the failure, innermost first; else the responsible or the waiting line, unless it
 * is one of rewake's. */
static void
put_sites(struct sim_json *json, const struct sim_new_failure *failure)
{
    const struct rt_site *site = sim_site_find(failure->outcome.site);
    struct sim_frames frames;
    sim_where_find(&failure->outcome, sim_single_recorder(failure->alone), &frames);
    sim_json_open(json, "sites", '[');
    for (uint32_t i = 0; i < frames.count; i++) {
        if (frames.all[i].file[0] != '\0') {
            put_site(json, frames.all[i].file, frames.all[i].line, frames.all[i].function);
        }
    }
    if (frames.count == 0 && site != NULL && !sim_site_is_own(site)) {
        put_site(json, site->file, site->line, site->function);
    }
    sim_json_close(json, ']');
}

void
sim_run_json_failure(const struct sim_run *run, const struct sim_report *report)
{
    const struct sim_new_failure *failure = report->failure;
    static const char *const fifo[] = {NULL, "no", "yes"};
    const struct sim_outcome *outcome = &failure->outcome;
    struct sim_json json;
    sim_json_begin(&json, stdout, "failure");
    SIM_JSON_PUT(&json, SIM_TEXT("scenario", run->entry->scenario->name),
            SIM_TEXT("library", run->entry->library), SIM_LONG("seed", outcome->seed),
            SIM_BOOL("seed_is_enough", sim_run_seed_is_enough(run)),
            SIM_TEXT("strategy", sim_run_strategy(run)),
            SIM_TEXT("verdict", sim_verdict_name(outcome->verdict)),
            SIM_TEXT("oracle", sim_oracle_name(outcome->oracle)),
            SIM_TEXT("message", outcome->message));
    put_shrunk(&json, report);
    sim_json_text(&json, "token", report->token);
    put_drawn(&json, run, &failure->again.options);
    SIM_JSON_PUT(&json, SIM_NUMBER("steps", outcome->steps), SIM_NUMBER("sim_ns", outcome->sim_ns),
            SIM_NUMBER("deviations", outcome->deviations),
            SIM_NUMBER("missing_wake_step", outcome->missing_wake_step),
            SIM_TEXT("fifo", fifo[failure->alone->worker.shared->fifo]));
    put_sites(&json, failure);
    SIM_JSON_PUT(&json, SIM_IF(report->run_id != 0, SIM_INTEGER("run", report->run_id)),
            SIM_BOOL("remembered", report->again));
    sim_json_end(&json);
}

void
sim_run_json_remembered(
        const struct sim_remembered *failure, const char *result, const char *detail)
{
    SIM_JSON_LINE("remembered", SIM_TEXT("scenario", failure->scenario),
            SIM_TEXT("verdict", sim_verdict_name(failure->verdict)),
            SIM_TEXT("oracle", sim_oracle_name(failure->oracle)), SIM_TEXT("token", failure->token),
            SIM_TEXT("result", result), SIM_TEXT("detail", detail));
}

void
sim_run_json_replica(const struct sim_run *run, uint64_t seed, const struct sim_single *usual,
        const struct sim_single *replica, const char *token)
{
    struct sim_difference difference;
    struct sim_json json;
    sim_diff_find(sim_single_recorder(usual), sim_single_recorder(replica), &difference);
    sim_json_begin(&json, stdout, "failure");
    SIM_JSON_PUT(&json, SIM_TEXT("scenario", run->entry->scenario->name),
            SIM_TEXT("library", run->entry->library), SIM_LONG("seed", seed),
            SIM_BOOL("seed_is_enough", sim_run_seed_is_enough(run)),
            SIM_TEXT("strategy", sim_run_strategy(run)),
            SIM_TEXT("verdict", sim_verdict_name(SIM_VERDICT_DIVERGED)),
            SIM_TEXT("oracle", sim_oracle_name(SIM_ORACLE_REPLICA)),
            SIM_TEXT("message",
                    difference.kind == SIM_DIFF_SAME
                            ? "the run depends on what ran before it in the same process"
                            : "a replica run in another process, with memory elsewhere, differs"),
            SIM_TEXT("token", token), SIM_NUMBER("steps", sim_single_outcome(usual)->steps),
            SIM_NUMBER("sim_ns", sim_single_outcome(usual)->sim_ns),
            SIM_NUMBER("deviations", sim_single_outcome(usual)->deviations));
    sim_json_open(&json, "sites", '[');
    sim_json_close(&json, ']');
    if (difference.kind == SIM_DIFF_EVENT || difference.kind == SIM_DIFF_ENDS) {
        sim_json_number(&json, "first_different_event", difference.event);
    }
    sim_json_end(&json);
}

/* How run 0 ended; NULL: it was not made. */
static const char *
default_verdict(const struct sim_run *run)
{
    if (run->first.again != NULL) {
        return sim_verdict_name(run->first.again->verdict);
    }
    const struct sim_sweep_totals *totals = &run->first.result.totals;
    for (uint32_t i = 0; i < SIM_VERDICTS; i++) {
        if (totals->verdicts[i] > 0) {
            return sim_verdict_name(i);
        }
    }
    return NULL;
}

void
sim_run_json_scenario(const struct sim_run *run)
{
    const struct sim_sweep_result *result = &run->result;
    struct sim_json json;
    sim_json_begin(&json, stdout, "scenario");
    SIM_JSON_PUT(&json, SIM_TEXT("name", run->entry->scenario->name),
            SIM_NUMBER("runs", result->totals.runs), SIM_NUMBER("failures", result->failures),
            SIM_NUMBER("remembered", sim_run_again_count(run)));
    if (result->first_failure != UINT64_MAX) {
        sim_json_number(&json, "first_failure_run", result->first_failure);
    } else {
        sim_json_text(&json, "first_failure_run", NULL);
    }
    SIM_JSON_PUT(&json, SIM_TEXT("default_schedule", default_verdict(run)),
            SIM_SECONDS("seconds", sim_clock_ms() - run->sweep_ms));
    sim_run_json_verdicts(&json, &result->totals);
    SIM_JSON_PUT(&json, SIM_TEXT("expect", sim_verdict_name(run->entry->scenario->expect)),
            SIM_TEXT("expect_also", sim_verdict_name(run->entry->scenario->expect_also)),
            SIM_BOOL("as_stated", sim_run_as_stated(run)),
            SIM_BOOL("complete",
                    result->end == SIM_SWEEP_COMPLETE || result->end == SIM_SWEEP_ENOUGH));
    SIM_JSON_PUT(&json, SIM_HEX("digest", result->totals.digest));
    sim_run_json_cover(run, &json);
    SIM_JSON_PUT(
            &json, SIM_NUMBER("checked", result->checked), SIM_NUMBER("unequal", result->unequal));
    sim_json_end(&json);
}

void
sim_run_json_summary(const struct sim_run *run, int status, uint64_t ms)
{
    SIM_JSON_LINE("summary", SIM_NUMBER("runs", run->runs),
            SIM_NUMBER("failed", sim_run_failed(run)), SIM_NUMBER("passed", run->passed),
            SIM_NUMBER("refused", run->refused_runs), SIM_NUMBER("remembered", run->again_count),
            SIM_NUMBER("default_schedules", run->defaults),
            SIM_NUMBER("default_schedules_failed", run->defaults_failed),
            SIM_SECONDS("seconds", ms), SIM_INTEGER("exit", status));
}
