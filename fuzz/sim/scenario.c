/*
 * scenario.c -- whole scenarios: the input is every decision of a run.
 *
 * An input is what `rewake replay` accepts as an artifact (sim/cli/subject/artifact.c): a line with
 * the name of a scenario, then answers to its choices (sim/core/decide/answers.h). The run is made
 * in this process, recorded, and judged by all oracles, as in a process of `rewake run`. A run that
 * ends in any verdict but `pass` stops the process, after its verdict, its token and the command
 * that replays it are printed.
 *
 *   FUZZ_SCENARIO='zoo/tokio-4497/broken -D tasks=3'   only this one: other inputs are not run
 *                                              and all that the mutator makes have this line first
 *   REWAKE_LIBRARY=./mine.so                   its scenarios, too, and without FUZZ_SCENARIO
 *                                              only those
 *   FUZZ_NO_COUNTERS=1                         schedules are not counted (scenario/counters.c)
 *
 * Without FUZZ_SCENARIO only scenarios that must pass are run: canaries and broken forms would stop
 * every session at once, some by killing the process. An input whose line names no such scenario
 * does nothing; the mutator makes none of those.
 *
 * libFuzzer ends a step that does not return (-timeout).
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <stdarg.h>
#include <string.h>

#include "fuzz/fuzz.h"
#include "fuzz/sim/scenario/scenario.h"
#include "sim/cli/print/run.h"
#include "sim/core/process/output.h"
#include "sim/engine/token.h"
#include "sim/judge/judge.h"

#define EVENTS 65536u
#define DEVIATIONS 65536u

uint32_t scenario_asked[SIM_KINDS];

static struct sim_world world;
static struct sim_registry registry;
static FILE *runs_stdout;   /* A run's output is recorded as events; the process' own is printed. */
static const char *library; /* NULL: none. */
static const char *only;    /* The line of FUZZ_SCENARIO, with its end; NULL: it is not set. */
static const struct sim_scenario *only_scenario;

/* ---- Once. ----------------------------------------------------------------------------------- */

__attribute__((format(printf, 1, 2))) static _Noreturn void
die(const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    (void)fputs("fuzz: ", stderr);
    (void)vfprintf(stderr, format, arguments);
    (void)fputc('\n', stderr);
    va_end(arguments);
    exit(2);
}

static void
init_world(void)
{
    static struct sim_event events[EVENTS];
    static uint64_t hashes[EVENTS / SIM_CHUNK * 16];
    static struct sim_text texts[16];
    static char bytes[1024];
    static struct sim_deviation deviations[DEVIATIONS];
    const struct sim_world_memory memory = {
            .record = {.events = events,
                    .events_capacity = EVENTS,
                    .hashes = hashes,
                    .hashes_capacity = sizeof(hashes) / sizeof(*hashes),
                    .texts = texts,
                    .texts_capacity = sizeof(texts) / sizeof(*texts),
                    .bytes = bytes,
                    .bytes_capacity = sizeof(bytes)},
            .tape = {deviations, 0, DEVIATIONS},
    };
    FILE *ours = stdout;
    sim_output_init();
    sim_world_init(&world, &memory, NULL, 0xcd);
    runs_stdout = stdout;
    stdout = ours;
}

static void
init_only(void)
{
    static char line[SIM_ARTIFACT_LINE_MAX];
    char error[SIM_ARTIFACT_ERROR_MAX] = "is too long";
    const char *name = getenv("FUZZ_SCENARIO");
    struct sim_artifact artifact;
    if (name == NULL || *name == '\0') {
        return;
    }
    int length = snprintf(line, sizeof(line), "%s\n", name);
    if (length >= (int)sizeof(line) || sim_artifact_read(&registry, (const uint8_t *)line,
                                               (size_t)length, &artifact, error) != 0) {
        die("FUZZ_SCENARIO='%s' %s", name, error);
    }
    only_scenario = artifact.entry->scenario;
    only = line;
}

void
scenario_init(void)
{
    static bool done;
    if (done) {
        return;
    }
    done = true;
    library = getenv("REWAKE_LIBRARY");
    library = library != NULL && *library != '\0' ? library : NULL;
    if (!sim_registry_init(&registry) ||
            (library != NULL && !sim_registry_load(&registry, library))) {
        die("%s", registry.error);
    }
    init_only();
    init_world();
}

/* ---- Which inputs are runs. ------------------------------------------------------------------ */

static bool
is_run(const struct sim_entry *entry)
{
    if (only != NULL) {
        return entry->scenario == only_scenario;
    }
    bool ours = library == NULL || entry->library != NULL;
    return ours && entry->scenario->expect == SIM_VERDICT_PASS;
}

bool
scenario_takes(const uint8_t *data, size_t size, struct sim_artifact *ret)
{
    char error[SIM_ARTIFACT_ERROR_MAX];
    return sim_artifact_read(&registry, data, size, ret, error) == 0 && is_run(ret->entry);
}

const char *
scenario_line(uint64_t number)
{
    static char line[SIM_NAME_MAX + 1];
    if (only != NULL) {
        return only;
    }
    for (uint32_t i = 0; i < registry.count; i++) {
        const struct sim_entry *entry = &registry.entries[(number + i) % registry.count];
        if (is_run(entry)) {
            (void)snprintf(line, sizeof(line), "%s\n", entry->scenario->name);
            return line;
        }
    }
    die("no scenario here must pass; name one by FUZZ_SCENARIO");
}

/* ---- One run. -------------------------------------------------------------------------------- */

static _Noreturn void
stop(const struct sim_artifact *artifact, const struct sim_outcome *outcome)
{
    const struct sim_scenario *scenario = artifact->entry->scenario;
    struct sim_cli cli = {.library = library};
    char *token = sim_token_of(
            scenario, &artifact->options, SIM_HOW_STRICT, &world.decider.tape, outcome);
    char *command = sim_command_text(&cli, "replay", artifact->entry, token);
    (void)fprintf(stderr, "%s: %s (oracle %s): %s\ntoken: %s\n%s\n", scenario->name,
            sim_verdict_name(outcome->verdict), sim_oracle_name(outcome->oracle), outcome->message,
            token, command);
    abort();
}

static void
run(const struct sim_artifact *artifact, struct sim_tape *answers)
{
    struct sim_answers input;
    struct sim_outcome outcome;
    sim_answers_init(&input, answers);
    const struct sim_case what = {.scenario = artifact->entry->scenario,
            .options = artifact->options,
            .strategy = &input.strategy};
    sim_world_run(&world, what.scenario, &what.options, what.seed, what.strategy,
            (struct sim_recording){true, false}, &outcome);
    memcpy(scenario_asked, input.asked, sizeof(scenario_asked));
    scenario_count(&world.recorder);
    sim_judge_ended(&world, &what, &outcome);
    if (outcome.verdict != SIM_VERDICT_PASS) {
        stop(artifact, &outcome);
    }
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct sim_deviation entries[SCENARIO_ANSWERS];
    struct sim_tape answers = {entries, 0, SCENARIO_ANSWERS};
    struct sim_artifact artifact;
    scenario_init();
    if (scenario_takes(data, size, &artifact)) {
        fuzz_operations += 1;
        sim_answers_read(&answers, artifact.bytes, artifact.size);
        FILE *ours = stdout;
        stdout = runs_stdout;
        run(&artifact, &answers);
        stdout = ours;
    }
    return 0;
}
