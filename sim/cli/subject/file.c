/*
 * file.c -- runs in files: reads and writes the artifacts of a fuzzer.
 *
 * An artifact has the decisions of a run and not its end. So it is run once, and the tape of that
 * run is the subject, like that of a token.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "sim/base/heap.h"
#include "sim/cli/subject/subject.h"

/* Of a run that has no seed. */
#define SEED 0u
/* Most decisions of an artifact. */
#define ANSWERS_MAX (1u << 18)

bool
sim_subject_is_file(const char *name)
{
    struct stat status;
    return strchr(name, ':') == NULL && stat(name, &status) == 0 && !S_ISDIR(status.st_mode);
}

/* ---- Reading. -------------------------------------------------------------------------------- */

/* All of a file, from malloc. NULL after a line. */
static uint8_t *
read_file(const char *path, size_t *ret_size)
{
    FILE *file = fopen(path, "rb");
    uint8_t *bytes = file != NULL ? malloc(SIM_ARTIFACT_SIZE_MAX + 1) : NULL;
    *ret_size = bytes != NULL ? fread(bytes, 1, SIM_ARTIFACT_SIZE_MAX + 1, file) : 0;
    if (bytes == NULL || ferror(file) != 0) {
        (void)sim_cli_fail(SIM_EXIT_USAGE, "%s cannot be read: %s", path, strerror(errno));
        free(bytes);
        bytes = NULL;
    } else if (*ret_size > SIM_ARTIFACT_SIZE_MAX) {
        (void)sim_cli_fail(SIM_EXIT_USAGE,
                "%s is not an artifact of a fuzzer: those have at most 1 MiB", path);
        free(bytes);
        bytes = NULL;
    }
    if (file != NULL) {
        (void)fclose(file);
    }
    return bytes;
}

/* Copies what the run did out of its mapping. */
static void
keep(struct sim_subject *subject, struct sim_single *alone)
{
    struct sim_tape tape = sim_single_deviations(alone);
    subject->tape = (struct sim_tape){
            sim_heap_new(tape.count + 1, sizeof(*tape.entries)), tape.count, tape.count + 1};
    memcpy(subject->tape.entries, tape.entries, tape.count * sizeof(*tape.entries));
    subject->expected = *sim_single_outcome(alone);
}

static int
run_artifact(struct sim_cli *cli, const struct sim_artifact *artifact, struct sim_subject *subject)
{
    uint32_t most = sim_answers_in(artifact->size) + 1;
    struct sim_tape answers = {sim_heap_new(most, sizeof(struct sim_deviation)), 0, most};
    sim_answers_read(&answers, artifact->bytes, artifact->size);
    const struct sim_run_spec what = {
            .scenario = artifact->entry->scenario,
            .options = artifact->options,
            .seed = SEED,
            .how = SIM_HOW_ANSWERS,
            .tape = &answers,
            .hang_ms = cli->settings.hang_ms,
    };
    struct sim_single alone = {.runs = 0};
    int status = 0;
    if (sim_single_alone(&alone, &what)) {
        keep(subject, &alone);
    } else {
        status = sim_cli_fail(SIM_EXIT_SYSTEM, "the run could not be made: %s", alone.worker.error);
    }
    sim_single_fini(&alone);
    free(answers.entries);
    return status;
}

int
sim_subject_from_file(struct sim_cli *cli, const char *path, struct sim_subject *subject)
{
    char error[SIM_ARTIFACT_ERROR_MAX];
    struct sim_artifact artifact;
    size_t size = 0;
    uint8_t *bytes = read_file(path, &size);
    if (bytes == NULL) {
        return SIM_EXIT_USAGE;
    }
    int status = sim_artifact_read(&cli->registry, bytes, size, &artifact, error);
    if (status != 0) {
        (void)sim_cli_fail(status, "%s %s", path, error);
    } else {
        *subject = (struct sim_subject){.entry = artifact.entry,
                .options = artifact.options,
                .seed = SEED,
                .how = SIM_HOW_STRICT,
                .own_build = true,
                .from_file = true};
        status = run_artifact(cli, &artifact, subject);
    }
    free(bytes);
    return status;
}

/* ---- Writing. -------------------------------------------------------------------------------- */

#define LOG_SIZE (sizeof(struct sim_decision_log) + ANSWERS_MAX * sizeof(struct sim_deviation))

/* Shared with the process that makes the run; its tape is after it. */
static struct sim_decision_log *
new_decision_log(void)
{
    struct sim_decision_log *decision_log = sim_heap_map_shared(LOG_SIZE);
    decision_log->tape =
            (struct sim_tape){(struct sim_deviation *)(void *)(decision_log + 1), 0, ANSWERS_MAX};
    return decision_log;
}

/* Whether the tape is usable: the run may have overwritten our memory. */
static bool
is_whole(const struct sim_decision_log *decision_log)
{
    const struct sim_tape *tape = &decision_log->tape;
    bool whole = tape->entries == (const struct sim_deviation *)(const void *)(decision_log + 1) &&
                 tape->count <= ANSWERS_MAX && !decision_log->full;
    uint64_t next[SIM_KINDS] = {0};
    for (uint32_t i = 0; whole && i < tape->count; i++) {
        const struct sim_deviation *entry = &tape->entries[i];
        whole = entry->kind < SIM_KINDS && entry->ordinal >= next[entry->kind];
        if (whole) {
            next[entry->kind] = (uint64_t)entry->ordinal + 1;
        }
    }
    return whole;
}

/* An existing file is not overwritten. */
static int
write_file(const char *path, const char *line, const uint8_t *bytes, size_t size)
{
    int status = 0;
    FILE *file = sim_cli_create(path, "give another name", &status);
    return file == NULL ? status
                        : sim_cli_close(file, path,
                                  fputs(line, file) >= 0 && fwrite(bytes, 1, size, file) == size);
}

static int
write_decision_log(const struct sim_subject *subject, const struct sim_decision_log *decision_log,
        const char *path)
{
    uint8_t *bytes = sim_heap_must(malloc(SIM_ARTIFACT_SIZE_MAX));
    char *line = sim_artifact_line(subject->entry->scenario, &subject->options);
    size_t most = SIM_ARTIFACT_SIZE_MAX - strlen(line);
    size_t size =
            is_whole(decision_log) ? sim_answers_write(&decision_log->tape, bytes, most) : most;
    int status = size + SIM_ANSWER_SIZE > most
                         ? sim_cli_fail(SIM_EXIT_SYSTEM,
                                   "the run has too many decisions for an artifact (at most 1 MiB)")
                         : write_file(path, line, bytes, size);
    free(line);
    free(bytes);
    return status;
}

int
sim_subject_write(struct sim_cli *cli, const struct sim_subject *subject, const char *path)
{
    struct sim_decision_log *decision_log = new_decision_log();
    const struct sim_run_spec what = {
            .scenario = subject->entry->scenario,
            .options = subject->options,
            .seed = subject->seed,
            .how = subject->how,
            .tape = &subject->tape,
            .hang_ms = cli->settings.hang_ms,
            .decision_log = decision_log,
    };
    struct sim_single alone = {.runs = 0};
    int status = sim_single_alone(&alone, &what)
                         ? write_decision_log(subject, decision_log, path)
                         : sim_cli_fail(SIM_EXIT_SYSTEM, "the run could not be made: %s",
                                   alone.worker.error);
    sim_single_fini(&alone);
    sim_heap_unmap(decision_log, LOG_SIZE);
    return status;
}
