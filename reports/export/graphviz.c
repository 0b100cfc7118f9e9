/*
 * graphviz.c -- the wakes of a run, as a graph for dot.
 *
 * A node is an actor, an edge the wakes from one line of source to one actor, with their number. A
 * wake without an effect is grey: its task was awake, or finished. The missing wake is dashed and
 * red, from the actor whose step should have sent it to the blocked task.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <stdio.h>
#include <stdlib.h>

#include "reports/export/format.h"
#include "reports/export/turns.h"
#include "sim/base/heap.h"
#include "sim/base/utf8.h"

/* Equal wakes. */
struct edge {
    uint32_t from; /* Index into run->actors. */
    uint32_t to;
    const struct report_place *place; /* NULL: not known. */
    bool idle;                        /* They queued no task. */
    uint32_t count;
};

/* In a quoted string of the language: one line. */
static const char *
escape(uint32_t c)
{
    return c == '"' ? "\\\"" : c == '\\' ? "\\\\" : c < ' ' || c == 0x7f ? " " : NULL;
}

static void
put_text(FILE *file, const char *text)
{
    sim_escape_put(file, text, escape);
}

/* ---- Edges. ---------------------------------------------------------------------------------- */

/* Edges in the order of their first wake, with a hash table. */
struct graph {
    struct edge *edges;
    uint32_t *table; /* By hash: 1 + index into edges; 0: free. */
    uint32_t table_size;
    uint32_t count;
};

static bool
same_edge(const struct edge *a, const struct edge *b)
{
    return a->from == b->from && a->to == b->to && a->place == b->place && a->idle == b->idle;
}

/* Of the members that equal edges share. */
static uint32_t
hash_edge(const struct edge *edge)
{
    uint32_t site = edge->place != NULL ? edge->place->site : 0;
    uint32_t hash = (edge->from * 0x9e3779b1u ^ edge->to) * 0x85ebca6bu ^ site ^ edge->idle;
    return hash ^ hash >> 15;
}

static void
add_edge(struct graph *graph, const struct edge *edge)
{
    uint32_t place = hash_edge(edge) & (graph->table_size - 1);
    while (graph->table[place] != 0) {
        struct edge *there = &graph->edges[graph->table[place] - 1];
        if (same_edge(there, edge)) {
            there->count++;
            return;
        }
        place = (place + 1) & (graph->table_size - 1);
    }
    graph->edges[graph->count++] = *edge;
    graph->table[place] = graph->count;
}

static void
find_edges(struct graph *graph, const struct report_run *run)
{
    for (uint32_t i = 0; i < run->wakes_count; i++) {
        const struct report_wake *wake = &run->wakes[i];
        const struct edge edge = {
                .from = wake->actor,
                .to = wake->woken,
                .place = report_run_place(run, wake->event),
                .idle = wake->how != SIM_WAKE_QUEUED,
                .count = 1,
        };
        add_edge(graph, &edge);
    }
}

static void
put_edge(FILE *file, const struct edge *edge)
{
    (void)fprintf(file, "    a%u -> a%u [label=\"", edge->from, edge->to);
    if (edge->place != NULL) {
        put_text(file, report_file_name(edge->place->file));
        (void)fprintf(file, ":%u", edge->place->line);
    }
    if (edge->count > 1) {
        (void)fprintf(file, " x%u", edge->count);
    }
    (void)fprintf(file, "\"%s];\n", edge->idle ? ", color=gray, fontcolor=gray" : "");
}

/* ---- The graph. ------------------------------------------------------------------------------ */

static void
put_nodes(FILE *file, const struct report_run *run)
{
    uint32_t lane = UINT32_MAX;
    uint64_t time_ns;
    bool fails = report_turns_failure(run, &lane, &time_ns);
    for (uint32_t i = 0; i < run->actors_count; i++) {
        const struct report_actor *actor = &run->actors[i];
        if (!actor->seen && !(fails && i == lane)) {
            continue;
        }
        (void)fprintf(file, "    a%u [label=\"", i);
        put_text(file, actor->name);
        (void)fprintf(file, "\"%s%s];\n", actor->kind[0] == 't' ? "" : ", style=rounded",
                fails && i == lane ? ", color=red, penwidth=2" : "");
    }
}

static void
put_missing(FILE *file, const struct report_run *run)
{
    struct report_missing missing;
    if (report_turns_missing(run, &missing)) {
        (void)fprintf(file,
                "    a%u -> a%u [label=\"%s step %llu%s\", style=dashed, color=red, "
                "fontcolor=red];\n",
                missing.sender, missing.waiter,
                missing.dropped ? "sent by" : "missing, expected from",
                (unsigned long long)missing.step, missing.dropped ? ", no poll followed" : "");
    }
}

static void
put_graph(FILE *file, const struct report_run *run, const struct edge *edges, uint32_t count)
{
    (void)fputs("digraph wakes {\n    label=\"", file);
    put_text(file, run->scenario);
    (void)fputs(": ", file);
    put_text(file, sim_verdict_name(run->outcome.verdict));
    (void)fputs("\";\n    node [shape=box, fontname=\"sans-serif\"];\n"
                "    edge [fontname=\"sans-serif\", fontsize=10];\n",
            file);
    put_nodes(file, run);
    for (uint32_t i = 0; i < count; i++) {
        put_edge(file, &edges[i]);
    }
    put_missing(file, run);
    (void)fputs("}\n", file);
}

void
report_write_graphviz(const struct report_run *run, FILE *file)
{
    struct graph graph = {.table_size = 16};
    while (graph.table_size < 2 * run->wakes_count) {
        graph.table_size *= 2;
    }
    graph.edges = sim_heap_new(run->wakes_count, sizeof(*graph.edges));
    graph.table = sim_heap_new(graph.table_size, sizeof(*graph.table));
    find_edges(&graph, run);
    put_graph(file, run, graph.edges, graph.count);
    free(graph.edges);
    free(graph.table);
}
