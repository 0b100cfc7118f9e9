/*
 * actor_trace.c -- walking the steps of one actor.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "sim/explain/look/actor_trace.h"

#include <string.h>
#include <sys/mman.h>

#include "sim/host/fd.h"
#include "sim/judge/spurious_poll.h"

/* Instructions of all steps together: half a second. */
#define WALK_MOST UINT64_C(50000)

#define INLINED_MAX 8u

struct sim_actor_trace *
sim_actor_trace_new(uint32_t actor_id, uint64_t from, uint64_t to)
{
    struct sim_actor_trace *trace = mmap(NULL, sizeof(struct sim_actor_trace),
            PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (trace == MAP_FAILED) {
        return NULL;
    }
    trace->actor_id = actor_id;
    trace->from = from > 1 ? from : 1;
    trace->to = to;
    return trace;
}

void
sim_actor_trace_free(struct sim_actor_trace **trace)
{
    if (*trace != NULL) {
        (void)munmap(*trace, sizeof(**trace));
        *trace = NULL;
    }
}

/* ---- The walk. ------------------------------------------------------------------------------- */

static bool
run_to(struct sim_world *world, const struct sim_case *what, uint64_t step)
{
    const struct sim_recording nothing = {false, false};
    return sim_world_run_to(world, what->scenario, &what->options, what->seed, what->strategy,
            nothing, (struct sim_stop){step, false});
}

static void
find_steps(struct sim_world *world, const struct sim_case *what, uint64_t last,
        struct sim_actor_trace *trace)
{
    uint64_t to = trace->to < last ? trace->to : last;
    bool reached = run_to(world, what, trace->from - 1);
    trace->count = 0;
    while (reached && world->step < to) {
        uint64_t step = world->step + 1;
        reached = sim_world_continue(world, (struct sim_stop){step, false});
        if (world->step == step &&
                (trace->actor_id == 0 || world->stepping->id == trace->actor_id)) {
            if (trace->count == SIM_ACTOR_TRACE_STEPS) {
                trace->count--;
                memmove(trace->steps, trace->steps + 1, trace->count * sizeof(*trace->steps));
            }
            trace->steps[trace->count++] = step;
        }
    }
    sim_world_drop(world);
}

static void
walk_steps(struct sim_world *world, const struct sim_case *what, struct sim_actor_trace *trace)
{
    const uintptr_t registers[] = {(uintptr_t)sim_fd_add, (uintptr_t)sim_fd_modify, trace->mark};
    bool reached = trace->count > 0 && run_to(world, what, trace->steps[0] - 1);
    trace->path.marks = registers;
    trace->path.mark_count = trace->mark != 0 ? 3 : 2;
    for (uint32_t i = 0; i < trace->count && reached; i++) {
        trace->begins[i] = trace->path.walked;
        reached = world->step >= trace->steps[i] - 1 ||
                  sim_world_continue(world, (struct sim_stop){trace->steps[i] - 1, false});
        if (!reached || trace->path.walked >= WALK_MOST ||
                !sim_walk_begin(NULL, 0, &trace->path, WALK_MOST - trace->path.walked)) {
            break;
        }
        reached = sim_world_continue(world, (struct sim_stop){trace->steps[i], false});
        sim_walk_end();
    }
    trace->path.marks = NULL;
    sim_world_drop(world);
}

void
sim_actor_trace_run(struct sim_world *world, const struct sim_case *what,
        const struct sim_outcome *outcome, void *argument)
{
    struct sim_actor_trace *trace = argument;
    struct sim_aside kept;
    sim_keep(world, &kept);
    find_steps(world, what, outcome->steps, trace);
    walk_steps(world, what, trace);
    trace->done = true;
    sim_restore(world, &kept);
}

/* ---- Two ways. ------------------------------------------------------------------------------- */

uint64_t
sim_actor_trace_step(const struct sim_actor_trace *trace, uint32_t nth)
{
    uint64_t step = 0;
    for (uint32_t i = 0; i < trace->count && trace->begins[i] <= nth; i++) {
        step = trace->steps[i];
    }
    return step;
}

uint32_t
sim_actor_trace_only(struct sim_places *places, const struct sim_actor_trace *trace,
        const struct sim_actor_trace *other, struct sim_walked *ret)
{
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
    struct sim_place found[INLINED_MAX];
    for (uint32_t i = 1; i < call->frame_count && i < SIM_WALK_FRAMES; i++) {
        uint32_t count = sim_places_at(places, call->frames[i], true, found, INLINED_MAX);
        if (count > 0 && sim_place_is_readers(&found[0])) {
            *ret = found[0];
            return true;
        }
    }
    return false;
}

static uint32_t
made(struct sim_places *places, const struct sim_actor_trace *trace, uint32_t calls,
        const struct sim_place *line)
{
    uint32_t count = 0;
    struct sim_place place;
    for (uint32_t i = 0; i < calls && i < SIM_PATH_CALLS; i++) {
        count += line_of(places, &trace->path.calls[i], &place) && place.line == line->line &&
                 strcmp(place.function, line->function) == 0;
    }
    return count;
}

const struct sim_walk_stop *
sim_actor_trace_only_call(struct sim_places *places, const struct sim_actor_trace *trace,
        const struct sim_actor_trace *other)
{
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
