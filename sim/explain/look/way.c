/*
 * way.c -- walking the steps of one actor.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "sim/explain/look/way.h"

#include <string.h>
#include <sys/mman.h>

#include "sim/host/fd.h"
#include "sim/judge/spurious_poll.h"

/* Instructions of all steps together: half a second. */
#define WALK_MOST UINT64_C(50000)

#define INLINED_MAX 8u

struct sim_way *
sim_way_new(uint32_t actor_id, uint64_t from, uint64_t to)
{
    struct sim_way *way = mmap(NULL, sizeof(struct sim_way), PROT_READ | PROT_WRITE,
            MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (way == MAP_FAILED) {
        return NULL;
    }
    way->actor_id = actor_id;
    way->from = from > 1 ? from : 1;
    way->to = to;
    return way;
}

void
sim_way_free(struct sim_way **way)
{
    if (*way != NULL) {
        (void)munmap(*way, sizeof(**way));
        *way = NULL;
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
find_steps(struct sim_world *world, const struct sim_case *what, uint64_t last, struct sim_way *way)
{
    uint64_t to = way->to < last ? way->to : last;
    bool goes_on = run_to(world, what, way->from - 1);
    way->count = 0;
    while (goes_on && world->step < to) {
        uint64_t step = world->step + 1;
        goes_on = sim_world_continue(world, (struct sim_stop){step, false});
        if (world->step == step && (way->actor_id == 0 || world->stepping->id == way->actor_id)) {
            if (way->count == SIM_WAY_STEPS) {
                way->count--;
                memmove(way->steps, way->steps + 1, way->count * sizeof(*way->steps));
            }
            way->steps[way->count++] = step;
        }
    }
    sim_world_drop(world);
}

static void
walk_steps(struct sim_world *world, const struct sim_case *what, struct sim_way *way)
{
    const uintptr_t registers[] = {(uintptr_t)sim_fd_add, (uintptr_t)sim_fd_modify, way->mark};
    bool goes_on = way->count > 0 && run_to(world, what, way->steps[0] - 1);
    way->path.marks = registers;
    way->path.mark_count = way->mark != 0 ? 3 : 2;
    for (uint32_t i = 0; i < way->count && goes_on; i++) {
        way->begins[i] = way->path.walked;
        goes_on = world->step >= way->steps[i] - 1 ||
                  sim_world_continue(world, (struct sim_stop){way->steps[i] - 1, false});
        if (!goes_on || way->path.walked >= WALK_MOST ||
                !sim_walk_begin(NULL, 0, &way->path, WALK_MOST - way->path.walked)) {
            break;
        }
        goes_on = sim_world_continue(world, (struct sim_stop){way->steps[i], false});
        sim_walk_end();
    }
    way->path.marks = NULL;
    sim_world_drop(world);
}

void
sim_way_run(struct sim_world *world, const struct sim_case *what, const struct sim_outcome *outcome,
        void *argument)
{
    struct sim_way *way = argument;
    struct sim_aside kept;
    sim_keep(world, &kept);
    find_steps(world, what, outcome->steps, way);
    walk_steps(world, what, way);
    way->done = true;
    sim_restore(world, &kept);
}

/* ---- Two ways. ------------------------------------------------------------------------------- */

uint64_t
sim_way_step(const struct sim_way *way, uint32_t nth)
{
    uint64_t step = 0;
    for (uint32_t i = 0; i < way->count && way->begins[i] <= nth; i++) {
        step = way->steps[i];
    }
    return step;
}

uint32_t
sim_way_only(struct sim_places *places, const struct sim_way *way, const struct sim_way *other,
        struct sim_walked *ret)
{
    struct sim_walked others[SIM_PATH_FUNCTIONS];
    uint32_t count = sim_path_functions(places, &way->path, ret);
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
made(struct sim_places *places, const struct sim_way *way, uint32_t calls,
        const struct sim_place *line)
{
    uint32_t count = 0;
    struct sim_place place;
    for (uint32_t i = 0; i < calls && i < SIM_PATH_CALLS; i++) {
        count += line_of(places, &way->path.calls[i], &place) && place.line == line->line &&
                 strcmp(place.function, line->function) == 0;
    }
    return count;
}

const struct sim_walk_stop *
sim_way_only_call(struct sim_places *places, const struct sim_way *way, const struct sim_way *other)
{
    for (uint32_t i = 0; i < way->path.call_count && i < SIM_PATH_CALLS; i++) {
        struct sim_place line;
        if (line_of(places, &way->path.calls[i], &line) &&
                made(places, way, i + 1, &line) >
                        made(places, other, other->path.call_count, &line)) {
            return &way->path.calls[i];
        }
    }
    return NULL;
}
