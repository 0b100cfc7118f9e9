/* Cause: worker_main(), line 121: the last worker that searches gives up its search and goes to sleep without another look at the queue; submit() wakes nobody as long as one searches, so a piece of work that comes between the look and the end of the search is left; repair: after the search was ended the queue is looked at once more. */
/*
 * s16_steal.c -- two render threads take tiles from a queue, search for a while, and sleep.
 *
 * To save wake-ups, a tile wakes a sleeping thread only where none is searching already.
 */
#include <sim/rewake.h>

#define WORKERS 2u
#define TILES 5u
#define LOOKS 2u

struct worker {
    struct renderer *renderer;
    struct sim_loop *loop;
    bool sleeps;
    bool token; /* Woken since it decided to sleep. */
};

struct renderer {
    struct sim_world *world;
    struct worker workers[WORKERS];
    struct sim_cell queued;
    struct sim_cell searching;
    unsigned rendered;
    bool fixed;
};

static bool
take_tile(struct renderer *renderer)
{
    sim_loop_pause(renderer->world);
    if (sim_cell_get(&renderer->queued) == 0) {
        return false;
    }
    sim_cell_add(&renderer->queued, -1);
    return true;
}

static void
unpark(struct worker *worker)
{
    worker->token = true;
    if (worker->sleeps) {
        worker->sleeps = false;
        sim_loop_wake(worker->loop);
    }
}

static void
park(struct worker *worker)
{
    while (!worker->token) {
        worker->sleeps = true;
        sim_loop_block(worker->renderer->world, 0, "tiles", RT_HERE);
        worker->sleeps = false;
    }
    worker->token = false;
}

static void
wake_one(struct renderer *renderer)
{
    for (unsigned i = 0; i < WORKERS; i++) {
        if (renderer->workers[i].sleeps) {
            unpark(&renderer->workers[i]);
            return;
        }
    }
}

static void
submit(struct renderer *renderer)
{
    sim_cell_add(&renderer->queued, 1);
    sim_loop_pause(renderer->world);
    if (sim_cell_get(&renderer->searching) == 0) {
        wake_one(renderer);
    }
}

static void
render(struct renderer *renderer)
{
    sim_sleep(renderer->world, sim_range(renderer->world, 1 * RT_US, 30 * RT_US));
    if (++renderer->rendered == TILES) {
        for (unsigned i = 0; i < WORKERS; i++) {
            unpark(&renderer->workers[i]);
        }
    }
}

/* Looks a few times. True: it has a tile. */
static bool
search(struct renderer *renderer)
{
    sim_cell_add(&renderer->searching, 1);
    bool found = false;
    for (unsigned look = 0; look < LOOKS && !found; look++) {
        found = take_tile(renderer);
    }
    sim_loop_pause(renderer->world);
    sim_cell_add(&renderer->searching, -1);
    return found;
}

static void
worker_main(struct sim_world *world, void *argument)
{
    struct worker *worker = argument;
    struct renderer *renderer = worker->renderer;
    (void)world;
    while (renderer->rendered < TILES) {
        if (search(renderer)) {
            if (sim_cell_get(&renderer->queued) > 0) {
                wake_one(renderer); /* There is more than I can do. */
            }
            render(renderer);
            continue;
        }
        if (renderer->fixed && sim_cell_get(&renderer->queued) > 0) {
            continue;
        }
        if (renderer->rendered < TILES) {
            park(worker);
        }
    }
}

static void
scene_main(struct sim_world *world, void *argument)
{
    struct renderer *renderer = argument;
    for (unsigned i = 0; i < TILES; i++) {
        sim_sleep(world, sim_range(world, 1 * RT_US, 40 * RT_US));
        submit(renderer);
    }
}

static void
set_up(struct sim_world *world, bool fixed)
{
    static const char *const names[WORKERS] = {"render 1", "render 2"};
    struct renderer *renderer = sim_new(world, struct renderer);
    renderer->world = world;
    renderer->fixed = fixed;
    sim_cell_init(world, &renderer->queued, "queued tiles", 0);
    sim_cell_init(world, &renderer->searching, "searching threads", 0);
    for (unsigned i = 0; i < WORKERS; i++) {
        renderer->workers[i].renderer = renderer;
        renderer->workers[i].loop =
                sim_loop_new(world, names[i], worker_main, &renderer->workers[i]);
    }
    sim_loop_new(world, "scene", scene_main, renderer);
}

static void
set_up_broken(struct sim_world *world)
{
    set_up(world, false);
}

static void
set_up_fixed(struct sim_world *world)
{
    set_up(world, true);
}

SIM_SCENARIO(broken, .name = "s16/steal/broken", .about = "Threads search for tiles, then sleep.",
        .setup = set_up_broken, .expect = SIM_VERDICT_DEADLOCK);
SIM_SCENARIO(fixed, .name = "s16/steal/fixed", .about = "Threads search for tiles, then sleep.",
        .setup = set_up_fixed);

/* SPDX-License-Identifier: Apache-2.0 */
