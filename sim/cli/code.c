/*
 * code.c -- `rewake coverage --code`: how much of the code runs have reached.
 *
 * One row a folder, for one screen. Queries have files, lines and seeds (code.sql).
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <stdlib.h>
#include <string.h>

#include "sim/base/heap.h"
#include "sim/base/json.h"
#include "sim/cli/coverage.h"
#include "sim/cli/subject/subject.h"
#include "sim/search/cover/edges.h"
#include "sim/store/read.h"

#define HOW_TO_COUNT \
    "`make BUILD=edges CC=clang` makes build/edges-clang/rewake, whose runs count them"

/* Of one edge, in the order of their numbers. */
struct edge {
    uint64_t id;
    uint32_t folder;
    bool entry;
    bool reached;
    bool before_fault; /* A run reached it without a fault, or before it. */
};

struct folder {
    char *name; /* With a slash at its end. */
    uint32_t edges;
    uint32_t reached;
    uint32_t functions;
    uint32_t entered;
    uint32_t after_fault;
};

struct counting {
    struct edge *edges;
    uint32_t count;
    struct folder *folders;
    uint32_t folder_count;
};

/* The folder of a file, with its slash; of a zoo's copy, slot.async-io-07b6cca.c, the zoo. */
static const char *
folder_in(const char *file, size_t *ret_length)
{
    static const char planted[] = "scenarios/zoo/";
    const char *slash = strrchr(file, '/');
    const char *dot = strchr(slash != NULL ? slash : file, '.');
    if (dot != NULL && strchr(dot + 1, '.') != NULL) {
        *ret_length = sizeof(planted) - 1;
        return planted;
    }
    *ret_length = slash != NULL ? (size_t)(slash - file) + 1 : 0;
    return file;
}

static uint32_t
folder_of(struct counting *counting, const char *path)
{
    size_t length = 0;
    const char *file = folder_in(path, &length);
    for (uint32_t i = counting->folder_count; i > 0; i--) {
        const char *name = counting->folders[i - 1].name;
        if (strlen(name) == length && strncmp(name, file, length) == 0) {
            return i - 1;
        }
    }
    counting->folders = sim_heap_resize(
            counting->folders, counting->folder_count + 1, sizeof(*counting->folders));
    counting->folders[counting->folder_count] =
            (struct folder){.name = sim_heap_must(strndup(file, length))};
    return counting->folder_count++;
}

static bool
note_edge(const char *const *columns, void *argument)
{
    struct counting *counting = argument;
    counting->edges =
            sim_heap_resize(counting->edges, counting->count + 1, sizeof(*counting->edges));
    counting->edges[counting->count++] = (struct edge){
            .id = strtoull(columns[0], NULL, 10),
            .folder = folder_of(counting, columns[1]),
            .entry = strcmp(columns[2], "0") == 0,
    };
    return true;
}

static int
compare_edges(const void *a, const void *b)
{
    const struct edge *one = a;
    const struct edge *other = b;
    return (one->id > other->id) - (one->id < other->id);
}

static bool
note_reached(const char *const *columns, void *argument)
{
    struct counting *counting = argument;
    const struct edge key = {.id = strtoull(columns[0], NULL, 10)};
    struct edge *edge = counting->count > 0 ? bsearch(&key, counting->edges, counting->count,
                                                      sizeof(key), compare_edges)
                                            : NULL;
    if (edge != NULL) {
        edge->reached = true;
        edge->before_fault = edge->before_fault || strcmp(columns[1], "0") != 0;
    }
    return true;
}

static void
add_up(struct counting *counting)
{
    for (uint32_t i = 0; i < counting->count; i++) {
        const struct edge *edge = &counting->edges[i];
        struct folder *folder = &counting->folders[edge->folder];
        folder->edges++;
        folder->reached += edge->reached;
        folder->functions += edge->entry;
        folder->entered += edge->entry && edge->reached;
        folder->after_fault += edge->reached && !edge->before_fault;
    }
}

/* By name; there are some dozens. */
static void
sort_folders(struct counting *counting)
{
    for (uint32_t i = 1; i < counting->folder_count; i++) {
        struct folder folder = counting->folders[i];
        uint32_t place = i;
        for (; place > 0 && strcmp(counting->folders[place - 1].name, folder.name) > 0; place--) {
            counting->folders[place] = counting->folders[place - 1];
        }
        counting->folders[place] = folder;
    }
}

static void
print_row(const struct folder *folder)
{
    uint64_t permille = folder->edges > 0 ? (uint64_t)folder->reached * 1000 / folder->edges : 0;
    (void)printf("%-32.32s %8u %8u %5llu.%llu %% %10u %8u %12u\n", folder->name, folder->edges,
            folder->reached, (unsigned long long)(permille / 10),
            (unsigned long long)(permille % 10), folder->functions, folder->entered,
            folder->after_fault);
}

static void
print_text(const struct counting *counting)
{
    struct folder all = {.name = NULL};
    char total[] = "all";
    (void)printf("%-32s %8s %8s %9s %10s %8s %12s\n", "edges of code", "edges", "reached", "",
            "functions", "entered", "after fault");
    for (uint32_t i = 0; i < counting->folder_count; i++) {
        const struct folder *folder = &counting->folders[i];
        print_row(folder);
        all.edges += folder->edges;
        all.reached += folder->reached;
        all.functions += folder->functions;
        all.entered += folder->entered;
        all.after_fault += folder->after_fault;
    }
    all.name = total;
    print_row(&all);
    (void)printf(
            "\nafter fault: no run reached it before its first fault. By file, line and seed:\n"
            "rewake query 'SELECT * FROM code_by_file' (code_first, code_seeds, code_added)\n");
}

static void
print_json(const struct counting *counting)
{
    for (uint32_t i = 0; i < counting->folder_count; i++) {
        const struct folder *folder = &counting->folders[i];
        SIM_JSON_LINE("code", SIM_TEXT("folder", folder->name), SIM_NUMBER("edges", folder->edges),
                SIM_NUMBER("reached", folder->reached), SIM_NUMBER("functions", folder->functions),
                SIM_NUMBER("entered", folder->entered),
                SIM_NUMBER("after_fault", folder->after_fault));
    }
}

static void
done(struct counting *counting)
{
    for (uint32_t i = 0; i < counting->folder_count; i++) {
        free(counting->folders[i].name);
    }
    free(counting->folders);
    free(counting->edges);
}

static void
print_edge(const struct sim_cli *cli, const struct sim_code_edge *edge)
{
    if (!sim_given(&cli->settings, SIM_CLI_OPTION_JSON)) {
        (void)printf("%s:%u %s\n", edge->file, edge->line, edge->function);
        return;
    }
    SIM_JSON_LINE("edge", SIM_LONG("edge", edge->id), SIM_TEXT("file", edge->file),
            SIM_NUMBER("line", edge->line), SIM_TEXT("function", edge->function));
}

void
sim_coverage_print_run(const struct sim_cli *cli, const uint64_t *reached)
{
    const struct sim_code_edge *edges = NULL;
    uint32_t count = sim_code_names(&edges);
    for (uint32_t i = 0; i < count && reached != NULL; i++) {
        if (sim_edges_has(reached, i)) {
            print_edge(cli, &edges[i]);
        }
    }
}

int
sim_coverage_no_code(void)
{
    return sim_cli_fail(SIM_EXIT_NOTHING, "no edges of code are counted here: %s", HOW_TO_COUNT);
}

int
sim_coverage_code(
        struct sim_cli *cli, struct sim_store *store, const int64_t *sweeps, uint32_t count)
{
    struct counting counting = {.count = 0};
    bool known = false;
    enum sim_store_err err = sim_store_code_known(store, &known);
    if (err == SIM_STORE_OK && !known) {
        return sim_coverage_no_code();
    }
    if (err == SIM_STORE_OK) {
        err = sim_store_ask(store, SIM_ASKED_CODE, 0, note_edge, &counting);
    }
    for (uint32_t i = 0; i < count && err == SIM_STORE_OK; i++) {
        err = sim_store_ask(store, SIM_ASKED_CODE_REACHED, sweeps[i], note_reached, &counting);
    }
    add_up(&counting);
    sort_folders(&counting);
    if (err == SIM_STORE_OK && sim_given(&cli->settings, SIM_CLI_OPTION_JSON)) {
        print_json(&counting);
    } else if (err == SIM_STORE_OK) {
        print_text(&counting);
    }
    done(&counting);
    return sim_cli_stored(store, err);
}
