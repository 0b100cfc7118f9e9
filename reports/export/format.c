/*
 * format.c -- the table of formats; reads what a format writes.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "reports/export/format.h"

#include <stdlib.h>
#include <string.h>

#include "sim/base/heap.h"

const struct report_format report_formats[] = {
        {
                .name = "chrome",
                .suffix = ".json",
                .about = "the same as JSON, for chrome://tracing and what reads its files",
                .write_run = report_write_chrome,
        },
        {
                .name = "github",
                .suffix = ".txt",
                .about = "annotations for GitHub's runner: ::error file=,line=,title=::message",
                .write_sweeps = report_write_github,
        },
        {
                .name = "graphviz",
                .suffix = ".dot",
                .about = "all wakes between actors, and the missing one, as a graph for dot",
                .write_run = report_write_graphviz,
        },
        {
                .name = "junit",
                .suffix = ".xml",
                .about = "JUnit XML, one case a scenario: Jenkins, GitLab, and most others",
                .write_sweeps = report_write_junit,
        },
        {
                .name = "markdown",
                .suffix = ".md",
                .environment = "GITHUB_STEP_SUMMARY",
                .about = "a summary in Markdown; on GitHub it goes to the step's summary",
                .write_sweeps = report_write_markdown,
        },
        {
                .name = "perfetto",
                .suffix = ".pftrace .perfetto-trace",
                .about = "a trace for https://ui.perfetto.dev: actors as tracks, wakes as arrows",
                .write_run = report_write_perfetto,
        },
        {
                .name = "sarif",
                .suffix = ".sarif",
                .about = "SARIF 2.1.0, one result a way to fail: code scanning, editors",
                .write_sweeps = report_write_sarif,
        },
        {.name = NULL},
};

const struct report_format *
report_format_find(const char *name)
{
    for (const struct report_format *each = report_formats; each->name != NULL; each++) {
        if (strcmp(each->name, name) == 0) {
            return each;
        }
    }
    return NULL;
}

/* With one of the `ends`, which have blanks between them. */
static bool
ends_in(const char *text, const char *ends)
{
    size_t length = strlen(text);
    while (*ends != '\0') {
        size_t end = strcspn(ends, " ");
        if (length > end && strncmp(text + length - end, ends, end) == 0) {
            return true;
        }
        ends += end;
        ends += strspn(ends, " ");
    }
    return false;
}

const struct report_format *
report_format_of_file(const char *path)
{
    for (const struct report_format *each = report_formats; each->name != NULL; each++) {
        if (each->write_run != NULL && ends_in(path, each->suffix)) {
            return each;
        }
    }
    return NULL;
}

static enum sim_store_err
write_sweeps(const struct report_format *format, const struct report_export *export)
{
    struct report_sweeps list;
    enum sim_store_err err =
            report_sweeps_read(export->store, export->sweeps, export->sweep_count, &list);
    enum sim_store_err written = format->write_sweeps(export, &list);
    report_sweeps_done(&list);
    return err == SIM_STORE_OK ? written : err;
}

static enum sim_store_err
write_run(const struct report_format *format, const struct report_export *export)
{
    struct report_places places;
    struct report_run *run = sim_heap_new(1, sizeof(*run));
    enum sim_store_err err = report_places_load(export->store, &places);
    if (err == SIM_STORE_OK) {
        err = report_run_load(export->store, export->run, &places, run);
    }
    if (err == SIM_STORE_OK) {
        format->write_run(run, export->file);
    }
    report_run_free(run);
    report_places_free(&places);
    free(run);
    return err;
}

enum sim_store_err
report_format_write(const struct report_format *format, const struct report_export *export)
{
    return format->write_run != NULL ? write_run(format, export) : write_sweeps(format, export);
}
