/*
 * trace.c -- walking the steps of a range, or of one actor.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "sim/explain/look/trace.h"

#include <string.h>

#include "runtime/base/assert.h"
#include "sim/host/fd.h"

/* Instructions of all steps together: half a second of one actor's, less of a whole range. */
#define ACTOR_MOST UINT64_C(50000)
#define RANGE_MOST UINT64_C(25000)

struct sim_trace *
sim_trace_new(uint32_t actor_id, uint64_t from, uint64_t to)
{
    struct sim_trace *trace = sim_results_new(sizeof(*trace));
    trace->actor = UINT32_MAX;
    trace->actor_id = actor_id;
    trace->from = from > 1 ? from : 1;
    trace->to = to;
    return trace;
}

void
sim_trace_free(struct sim_trace **trace)
{
    sim_results_free(trace);
}

/* ---- The walk. ------------------------------------------------------------------------------- */

void
sim_trace_walk(
        const struct sim_experiment *experiment, uint64_t instructions, struct sim_trace *trace)
{
    struct sim_world *world = experiment->world;
    rt_assert(trace->from >= 1);
    if (sim_experiment_at(experiment, trace->from - 1) &&
            sim_walk_begin(NULL, 0, &trace->path, instructions)) {
        if (trace->to >= trace->from) {
            (void)sim_world_continue(world, (struct sim_stop){trace->to, false});
        }
        sim_walk_end();
    }
    sim_world_drop(world);
}

void
sim_trace_run(struct sim_world *world, const struct sim_case *what,
        const struct sim_outcome *outcome, void *argument)
{
    rt_assert(argument != NULL);
    struct sim_trace *trace = argument;
    struct sim_experiment experiment;
    sim_experiment_begin(&experiment, world, what, outcome);
    trace->to = outcome->steps;
    sim_trace_walk(&experiment, RANGE_MOST, trace);
    trace->done = true;
    sim_experiment_end(&experiment);
}

static void
add_step(struct sim_trace *trace, uint64_t step)
{
    rt_assert(trace->count <= SIM_TRACE_STEPS);
    if (trace->count == SIM_TRACE_STEPS) {
        trace->count--;
        memmove(trace->steps, trace->steps + 1, trace->count * sizeof(*trace->steps));
    }
    trace->steps[trace->count++] = step;
}

static void
find_steps(const struct sim_experiment *experiment, struct sim_trace *trace)
{
    rt_assert(trace->from >= 1);
    struct sim_world *world = experiment->world;
    uint64_t last = experiment->outcome->steps;
    uint64_t to = trace->to < last ? trace->to : last;
    bool reached = sim_experiment_at(experiment, trace->from - 1);
    trace->count = 0;
    while (reached && world->step < to) {
        uint64_t step = world->step + 1;
        reached = sim_world_continue(world, (struct sim_stop){step, false});
        if (world->step == step &&
                (trace->actor_id == 0 || world->stepping->id == trace->actor_id)) {
            add_step(trace, step);
        }
    }
    sim_world_drop(world);
}

static void
walk_steps(const struct sim_experiment *experiment, struct sim_trace *trace)
{
    rt_assert(trace->count <= SIM_TRACE_STEPS);
    const uintptr_t marks[] = {(uintptr_t)sim_fd_add, (uintptr_t)sim_fd_modify, trace->mark};
    struct sim_world *world = experiment->world;
    bool reached = trace->count > 0 && sim_experiment_at(experiment, trace->steps[0] - 1);
    trace->path.marks = marks;
    trace->path.mark_count = trace->mark != 0 ? 3 : 2;
    for (uint32_t i = 0; i < trace->count && reached; i++) {
        trace->begins[i] = trace->path.walked;
        reached = world->step >= trace->steps[i] - 1 ||
                  sim_world_continue(world, (struct sim_stop){trace->steps[i] - 1, false});
        if (!reached || trace->path.walked >= ACTOR_MOST ||
                !sim_walk_begin(NULL, 0, &trace->path, ACTOR_MOST - trace->path.walked)) {
            break;
        }
        reached = sim_world_continue(world, (struct sim_stop){trace->steps[i], false});
        sim_walk_end();
    }
    trace->path.marks = NULL;
    sim_world_drop(world);
}

void
sim_trace_run_actor(struct sim_world *world, const struct sim_case *what,
        const struct sim_outcome *outcome, void *argument)
{
    rt_assert(argument != NULL);
    struct sim_trace *trace = argument;
    struct sim_experiment experiment;
    sim_experiment_begin(&experiment, world, what, outcome);
    find_steps(&experiment, trace);
    walk_steps(&experiment, trace);
    trace->done = true;
    sim_experiment_end(&experiment);
}

/* ---- Two ways. ------------------------------------------------------------------------------- */

uint64_t
sim_trace_step(const struct sim_trace *trace, uint32_t nth)
{
    uint64_t step = 0;
    for (uint32_t i = 0; i < trace->count && trace->begins[i] <= nth; i++) {
        step = trace->steps[i];
    }
    return step;
}

uint32_t
sim_trace_only(struct sim_places *places, const struct sim_trace *trace,
        const struct sim_trace *other, struct sim_walked *ret)
{
    rt_assert(trace != NULL);
    rt_assert(other != NULL);
    struct sim_walked others[SIM_PATH_FUNCTIONS];
    uint32_t count = sim_path_functions(places, &trace->path, ret);
    uint32_t other_count = sim_path_functions(places, &other->path, others);
    uint32_t kept = 0;
    for (uint32_t i = 0; i < count; i++) {
        bool also = sim_place_is_runtime(&ret[i].place);
        for (uint32_t k = 0; k < other_count && !also; k++) {
            also = strcmp(ret[i].place.function, others[k].place.function) == 0 &&
                   strcmp(ret[i].place.file, others[k].place.file) == 0;
        }
        if (!also) {
            ret[kept++] = ret[i];
        }
    }
    return kept;
}

/* The line of the reader's from which a call was made. */
static bool
line_of(struct sim_places *places, const struct sim_walk_stop *call, struct sim_place *ret)
{
    rt_assert(ret != NULL);
    struct sim_place found[SIM_INLINED_MAX];
    for (uint32_t i = 1; i < call->frame_count && i < SIM_WALK_FRAMES; i++) {
        uint32_t count = sim_places_at(places, call->frames[i], true, found, SIM_INLINED_MAX);
        if (count > 0 && sim_place_is_readers(&found[0])) {
            *ret = found[0];
            return true;
        }
    }
    return false;
}

static uint32_t
made(struct sim_places *places, const struct sim_trace *trace, uint32_t calls,
        const struct sim_place *line)
{
    rt_assert(line->line > 0);
    uint32_t count = 0;
    struct sim_place place;
    for (uint32_t i = 0; i < calls && i < SIM_PATH_CALLS; i++) {
        count += line_of(places, &trace->path.calls[i], &place) && place.line == line->line &&
                 strcmp(place.function, line->function) == 0;
    }
    return count;
}

const struct sim_walk_stop *
sim_trace_only_call(
        struct sim_places *places, const struct sim_trace *trace, const struct sim_trace *other)
{
    rt_assert(trace != NULL);
    rt_assert(other != NULL);
    for (uint32_t i = 0; i < trace->path.call_count && i < SIM_PATH_CALLS; i++) {
        struct sim_place line;
        if (line_of(places, &trace->path.calls[i], &line) &&
                made(places, trace, i + 1, &line) >
                        made(places, other, other->path.call_count, &line)) {
            return &trace->path.calls[i];
        }
    }
    return NULL;
}
