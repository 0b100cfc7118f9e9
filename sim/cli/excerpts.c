/*
 * excerpts.c -- the lines of source that go into the database with an explanation.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "sim/cli/excerpts.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "sim/base/heap.h"
#include "sim/base/sort.h"
#include "sim/core/code/source.h"
#include "sim/core/record/site.h"

#define LINES_MAX 1024u
#define LINE_MAX_BYTES 400

/* ---- Which lines. ---------------------------------------------------------------------------- */

static void
add(struct sim_excerpts *excerpts, const char *file, uint32_t line)
{
    sim_heap_grow(&excerpts->lines, excerpts->count, &excerpts->capacity, sizeof(*excerpts->lines));
    excerpts->lines[excerpts->count++] = (struct sim_explained_line){.file = file, .line = line};
}

static int
by_line(const void *left, const void *right)
{
    const struct sim_explained_line *a = left;
    const struct sim_explained_line *b = right;
    int order = strcmp(a->file, b->file);
    return order != 0 ? order : (a->line > b->line) - (a->line < b->line);
}

/* Sorts them, each once. */
static void
sort(struct sim_excerpts *excerpts)
{
    uint32_t kept = 0;
    sim_sort(excerpts->lines, excerpts->count, sizeof(*excerpts->lines), by_line);
    for (uint32_t i = 0; i < excerpts->count; i++) {
        if (kept == 0 || by_line(&excerpts->lines[kept - 1], &excerpts->lines[i]) != 0) {
            excerpts->lines[kept++] = excerpts->lines[i];
        }
    }
    excerpts->count = kept;
}

static void
add_place(struct sim_excerpts *excerpts, const char *file, uint32_t line)
{
    uint32_t first = line > SIM_EXCERPT_AROUND ? line - SIM_EXCERPT_AROUND : 1;
    for (uint32_t at = first; line != 0 && at <= line + SIM_EXCERPT_AROUND; at++) {
        add(excerpts, file, at);
    }
}

/* Most events are of a line that was there before. */
static void
add_run(struct sim_excerpts *excerpts, const struct sim_recorder *recorder)
{
    uint32_t last = 0;
    for (uint64_t i = sim_recorder_first(recorder); i < recorder->count; i++) {
        uint32_t await = sim_recorder_event(recorder, i)->await;
        const struct rt_site *site = await != last ? sim_site_find(await) : NULL;
        if (site != NULL && site->line != 0) {
            add(excerpts, site->file, site->line);
        }
        if (excerpts->count > 2 * LINES_MAX) {
            sort(excerpts);
        }
        if (excerpts->count > LINES_MAX) {
            break;
        }
        last = await;
    }
}

/* ---- Reading them. --------------------------------------------------------------------------- */

/* `lines` are `count` of one file. */
static void
read_file(struct sim_explained_line *lines, uint32_t count, int64_t made_s)
{
    char text[LINE_MAX_BYTES];
    int64_t modified_s = 0;
    uint32_t next = 0;
    bool begins = true;
    FILE *file = sim_source_open(lines[0].file, &modified_s);
    if (file == NULL) {
        return;
    }
    for (uint32_t number = 1;
            modified_s <= made_s && next < count && fgets(text, sizeof(text), file) != NULL;) {
        bool ends = strchr(text, '\n') != NULL;
        if (begins && number == lines[next].line) {
            text[strcspn(text, "\r\n")] = '\0';
            lines[next++].text = sim_heap_text(text);
        }
        begins = ends; /* Only the beginning of a long line. */
        number += ends;
    }
    (void)fclose(file);
}

void
sim_excerpts_read(struct sim_excerpts *excerpts, const struct sim_explained_place *places,
        uint32_t places_count, const struct sim_recorder *recorder, const char *program)
{
    struct stat what;
    uint32_t kept = 0;
    *excerpts = (struct sim_excerpts){.count = 0};
    if (stat(program != NULL ? program : "/proc/self/exe", &what) != 0) {
        return;
    }
    add_run(excerpts, recorder);
    for (uint32_t i = 0; i < places_count; i++) {
        add_place(excerpts, places[i].file, places[i].line);
    }
    sort(excerpts);
    for (uint32_t i = 0, end = 0; i < excerpts->count; i = end) {
        while (end < excerpts->count &&
                strcmp(excerpts->lines[i].file, excerpts->lines[end].file) == 0) {
            end++;
        }
        read_file(&excerpts->lines[i], end - i, (int64_t)what.st_mtime);
    }
    for (uint32_t i = 0; i < excerpts->count; i++) {
        if (excerpts->lines[i].text != NULL) {
            excerpts->lines[kept++] = excerpts->lines[i];
        }
    }
    excerpts->count = kept;
}

void
sim_excerpts_free(struct sim_excerpts *excerpts)
{
    for (uint32_t i = 0; i < excerpts->count; i++) {
        free(excerpts->lines[i].text);
    }
    free(excerpts->lines);
}
