/*
 * replay_export.c -- a database of one run, for the formats that read databases.
 *
 * Formats read only the database, so that they can write the runs of another machine. So the run
 * goes into a temporary database.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "sim/cli/replay.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "sim/base/build.h"
#include "sim/base/clock.h"
#include "sim/cli/export.h"
#include "sim/cli/print/run.h"
#include "sim/cli/subject/subject.h"
#include "sim/explain/view/where.h"

#define FOLDER_MAX 256u

int
sim_replay_export_check(const struct sim_cli *cli)
{
    const char *path = cli->settings.export_file;
    if (path == NULL) {
        return 0;
    }
    if (report_format_of_file(path) == NULL) {
        char ends[128] = "";
        for (const struct report_format *each = report_formats; each->name != NULL; each++) {
            size_t used = strlen(ends);
            if (each->write_run != NULL) {
                (void)snprintf(ends + used, sizeof(ends) - used, "%s%s", used > 0 ? " " : "",
                        each->suffix);
            }
        }
        return sim_cli_fail(SIM_EXIT_USAGE,
                "--export %s: no format has this suffix; give one of: %s", path, ends);
    }
    if (access(path, F_OK) == 0) {
        return sim_cli_fail(
                SIM_EXIT_USAGE, "%s exists, and is not overwritten: give another name", path);
    }
    return 0;
}

/* ---- The database. --------------------------------------------------------------------------- */

struct box {
    char folder[FOLDER_MAX];
    char path[FOLDER_MAX + 16];
    struct sim_store *store;
    char message[SIM_STORE_MESSAGE_MAX];
};

static bool
box_open(struct box *box)
{
    const char *place = getenv("TMPDIR");
    (void)snprintf(box->folder, sizeof(box->folder), "%s/rewake-export-XXXXXX",
            place != NULL && *place != '\0' ? place : "/tmp");
    if (mkdtemp(box->folder) == NULL) {
        (void)snprintf(box->message, sizeof(box->message), "%s: %s", box->folder, strerror(errno));
        box->folder[0] = '\0';
        return false;
    }
    (void)snprintf(box->path, sizeof(box->path), "%s/run.db", box->folder);
    return sim_store_open(box->path, SIM_STORE_WRITE, 0, box->message, sizeof(box->message),
                   &box->store) == SIM_STORE_OK;
}

static void
box_close(struct box *box)
{
    static const char *const ends[] = {"", "-wal", "-shm", "-lock"};
    sim_store_close(&box->store);
    if (box->folder[0] == '\0') {
        return;
    }
    for (size_t i = 0; i < sizeof(ends) / sizeof(*ends); i++) {
        char path[sizeof(box->path) + 8];
        (void)snprintf(path, sizeof(path), "%s%s", box->path, ends[i]);
        (void)unlink(path);
    }
    (void)rmdir(box->folder);
}

static enum sim_store_err
put_run(struct box *box, const struct sim_subject *subject, struct sim_single *alone,
        const char *token, int64_t *ret_run)
{
    const struct sim_outcome *outcome = sim_single_outcome(alone);
    char build[SIM_BUILD_MAX];
    char *options = sim_options_json(subject->entry->scenario, &subject->options);
    int64_t number = 0;
    size_t tape_size = 0;
    const uint8_t *tape = sim_single_tape(alone, &tape_size);
    sim_build_text(subject->entry->library, build);
    const struct sim_sweep sweep = {
            .scenario = subject->entry->scenario->name,
            .library = subject->entry->library,
            .strategy = sim_how_name(subject->how),
            .options = options,
            .build = build,
            .seed_first = subject->seed,
            .started_ms = sim_clock_date_ms(),
    };
    enum sim_store_err err = sim_store_sweep_begin(box->store, &sweep, &number);
    struct sim_frames frames;
    sim_where_find(outcome, sim_single_recorder(alone), &frames);
    const struct sim_full_run full = {
            .sweep = number,
            .outcome = outcome,
            .token = token,
            .options = options,
            .tape = tape,
            .tape_size = tape_size,
            .recorder = sim_single_recorder(alone),
            .frames = &frames,
            .news = SIM_NEWS_ASKED,
    };
    err = err == SIM_STORE_OK ? sim_store_failure(box->store, &full, ret_run) : err;
    free(options);
    return err;
}

static int
write_file(struct box *box, int64_t run, const char *path)
{
    struct report_export export = {.store = box->store, .run = run, .file = fopen(path, "wxe")};
    if (export.file == NULL) {
        return sim_cli_fail(SIM_EXIT_USAGE, "%s cannot be written: %s", path, strerror(errno));
    }
    int status = sim_export_write(report_format_of_file(path), &export, path);
    if (status != 0) {
        (void)unlink(path);
    }
    return status;
}

int
sim_replay_export(struct sim_cli *cli, const struct sim_subject *subject, struct sim_single *alone)
{
    struct box box = {.store = NULL};
    int64_t run = 0;
    char *token = sim_subject_token(subject, alone);
    int status = 0;
    if (!box_open(&box)) {
        status = sim_cli_fail(SIM_EXIT_SYSTEM, "%s", box.message);
    } else {
        status = sim_cli_stored(box.store, put_run(&box, subject, alone, token, &run));
        status = status == 0 ? write_file(&box, run, cli->settings.export_file) : status;
    }
    box_close(&box);
    free(token);
    return status;
}
