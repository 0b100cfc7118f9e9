/*
 * futures-rs-2047.c -- a group of futures polls members that yield until they stop yielding.
 *
 * rust-lang/futures-rs#2047 (fixed by #2049); tokio-rs/tokio#2390 is the same with tokio's budget.
 *
 * The bug. A group is an executor inside one task: it polls its members as long as one of them is
 * woken. A member that yields wakes itself. The group polls it again and never yields itself, so
 * the tasks that the member waits for never run.
 *
 * The fix. The group ends its round, and wakes its own task, after two members have yielded.
 * futures-rs-2047.patch removes that, and the limit on polls in one round, from
 * runtime/compose/group.c.
 *
 * Here. Two uploads form a group. They may begin when a limiter, another task of the thread, has
 * opened the gate, and yield until then. If the gate is open before their first check, all is
 * well. A loop that spins stops its thread but not the world: before each check other actors run.
 *
 * Cause: not-a-wake in round_trip or upload_poll
 * Must end in: livelock. Fails on the baseline run: no, there the gate is open.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "sim/rewake.h"

#define UPLOADS 2u

struct state;

struct upload {
    struct rt_future future;
    struct rt_once once;
    struct rt_group_member member;
    struct rt_key key;
    struct state *state;
};

struct state {
    struct sim_world *world;
    struct sim_rt *rt;
    bool open; /* The gate is open. */
    struct rt_task limiter;
    uint32_t left; /* Steps that the limiter has to do first. */
    struct rt_task uploader;
    struct rt_group group;
    struct rt_slab_entry entries[UPLOADS];
    struct upload uploads[UPLOADS];
};

static rt_poll
limiter_poll(struct rt_task *task, struct rt_cx *cx)
{
    struct state *state = rt_container_of(task, struct state, limiter);
    if (state->left > 0) {
        state->left--;
        rt_cx_reenqueue(cx);
        return RT_PENDING;
    }
    state->open = true;
    return RT_READY;
}

static rt_poll
upload_poll(struct rt_future *future, struct rt_cx *cx)
{
    struct upload *upload = rt_container_of(future, struct upload, future);
    sim_loop_pause(upload->state->world);
    if (!upload->state->open) {
        rt_cx_reenqueue(cx); /* Others first. */
        return RT_PENDING;
    }
    return RT_READY;
}

/* READY when all of them are done. */
static rt_poll
uploader_poll(struct rt_task *task, struct rt_cx *cx)
{
    struct state *state = rt_container_of(task, struct state, uploader);
    void *done = NULL;
    do {
        RT_AWAIT(rt_group_poll(&state->group, cx, NULL, &done));
        SIM_PROGRESS();
    } while (done != NULL);
    return RT_READY;
}

static void
uploader_cleanup(struct rt_task *task)
{
    struct state *state = rt_container_of(task, struct state, uploader);
    rt_group_drop(&state->group);
}

static void
thread_main(struct sim_world *world, void *argument)
{
    struct state *state = argument;
    (void)world;
    SIM_ALWAYS(rt_run_to_completion(sim_rt_runtime(state->rt)) == RT_OK);
}

static void
upload_init(struct upload *upload, struct state *state, const char *name)
{
    upload->state = state;
    rt_future_init(&upload->future, upload_poll, NULL, name);
    rt_once_init(&upload->once, &upload->future);
    rt_err err =
            rt_group_insert(&state->group, &upload->member, &upload->once.stream, &upload->key);
    SIM_ALWAYS(err == RT_OK);
}

static void
setup(struct sim_world *world)
{
    static const char *const names[UPLOADS] = {"upload 1", "upload 2"};
    struct sim_rt_options options = {.by_loop = true};
    struct state *state = sim_new(world, struct state);
    state->world = world;
    state->rt = sim_rt_new(world, &options);
    state->left = sim_pick(world, 4);
    rt_group_init(&state->group, state->entries, UPLOADS);
    for (uint32_t i = 0; i < UPLOADS; i++) {
        upload_init(&state->uploads[i], state, names[i]);
    }
    rt_task_init(&state->limiter, limiter_poll, NULL, "limiter");
    rt_task_init(&state->uploader, uploader_poll, uploader_cleanup, "uploader");
    sim_spawn(state->rt, &state->limiter);
    sim_spawn(state->rt, &state->uploader);
    (void)sim_loop_new(world, "thread", thread_main, state);
}

#ifdef ZOO_FORM_BROKEN
SIM_SCENARIO(zoo_futures_rs_2047_broken, .name = "zoo/futures-rs-2047/broken", .bug = "F03",
        .reference = "rust-lang/futures-rs#2047",
        .about = "A group polls members that yield, and never yields itself.", .setup = setup,
        .expect = SIM_VERDICT_LIVELOCK);
#else
SIM_SCENARIO(zoo_futures_rs_2047_fixed, .name = "zoo/futures-rs-2047/fixed",
        .about = "A group whose members yield yields itself.", .setup = setup);
#endif
