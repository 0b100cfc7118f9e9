/*
 * wakes.c -- a run made again, with an ear at sim_loop_wake.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "sim/explain/look/wakes.h"

#include <execinfo.h>
#include <string.h>
#include <sys/mman.h>

#include "sim/judge/spurious_poll.h"

struct sim_wakes *
sim_wakes_new(uint32_t actor)
{
    struct sim_wakes *wakes = mmap(NULL, sizeof(struct sim_wakes), PROT_READ | PROT_WRITE,
            MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (wakes == MAP_FAILED) {
        return NULL;
    }
    wakes->actor = actor;
    return wakes;
}

void
sim_wakes_free(struct sim_wakes **wakes)
{
    if (*wakes != NULL) {
        (void)munmap(*wakes, sizeof(**wakes));
        *wakes = NULL;
    }
}

static struct sim_wakes *noting;

static void
note_wake(struct sim_actor *loop, bool blocked)
{
    const struct sim_world *world = loop->world;
    void *frames[SIM_WALK_FRAMES];
    if (noting->count == SIM_WAKES_MAX) {
        noting->count /= 2;
        memmove(noting->all, noting->all + noting->count, noting->count * sizeof(*noting->all));
    }
    struct sim_loop_wake *wake = &noting->all[noting->count++];
    int count = backtrace(frames, (int)SIM_WALK_FRAMES);
    *wake = (struct sim_loop_wake){.step = world->step,
            .by_id = world->stepping != NULL ? world->stepping->id : 0,
            .loop_id = loop->id,
            .blocked = blocked};
    for (int i = 0; i < count; i++) {
        wake->stack.frames[i] = (uintptr_t)frames[i];
    }
    wake->stack.frame_count = count > 0 ? (uint32_t)count : 0;
}

/* Itself, or whose child it is. */
static const struct sim_actor *
loop_of(const struct sim_actor *actor)
{
    while (actor != NULL && actor->ops->kind != SIM_ACTOR_LOOP) {
        actor = actor->parent;
    }
    return actor;
}

void
sim_wakes_run(struct sim_world *world, const struct sim_case *what,
        const struct sim_outcome *outcome, void *argument)
{
    const struct sim_recording nothing = {false, false};
    struct sim_wakes *wakes = argument;
    struct sim_aside kept;
    void *first[1];
    (void)backtrace(first, 1); /* The first one takes memory, which is not the run's. */
    wakes->count = 0;
    noting = wakes;
    sim_keep(world, &kept);
    world->on_loop_wake = note_wake;
    (void)sim_world_run_to(world, what->scenario, &what->options, what->seed, what->strategy,
            nothing, (struct sim_stop){outcome->steps, false});
    const struct sim_actor *loop = loop_of(sim_world_actor(world, wakes->actor));
    wakes->loop_id = loop != NULL ? loop->id : 0;
    wakes->blocked_step = loop != NULL ? loop->stopped_step : 0;
    world->on_loop_wake = NULL;
    sim_world_drop(world);
    sim_restore(world, &kept);
}
