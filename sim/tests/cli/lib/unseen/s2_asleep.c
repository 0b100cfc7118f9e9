// Cause: s2_asleep.c:51 the loop sets its `asleep` mark only after the journal was written, and does not look at its queue again: a call posted in between finds the loop awake and does not ring, and the loop sleeps with the call in its queue.
// SPDX-License-Identifier: Apache-2.0
// clang-format off
#include <sim/rewake.h>

#define POSTS 3

struct loop {
    struct sim_fds *fds;
    int bell, journal[2];
    bool fixed, asleep, poster_over;
    void (*queue[POSTS])(struct loop *loop);
    uint32_t head, tail;
    uint32_t called, written;
};

/* From any thread. */
static void loop_post(struct loop *loop, void (*fn)(struct loop *loop))
{
    loop->queue[loop->tail++] = fn;
    if (loop->asleep)
        SIM_ALWAYS(sim_fd_notify(loop->fds, loop->bell) == RT_OK);
}

static void run_posted(struct loop *loop)
{
    while (loop->head < loop->tail) {
        loop->queue[loop->head++](loop);
        SIM_PROGRESS();
    }
}

/* One byte for each call; what does not fit now is written next time. */
static void write_journal(struct loop *loop)
{
    while (loop->written < loop->called &&
            sim_fd_write(loop->fds, loop->journal[0], "c", 1) == 1)
        loop->written++;
}

static void loop_main(struct sim_world *world, void *argument)
{
    struct loop *loop = argument;
    while (loop->called < POSTS) {
        struct sim_fd_event event;
        uint64_t rings;
        run_posted(loop);
        write_journal(loop);
        if (loop->called == POSTS)
            break;
        loop->asleep = true;
        if (loop->fixed && loop->head < loop->tail) {
            loop->asleep = false;
            continue;
        }
        if (sim_fd_wait(loop->fds, &event, 1, SIM_NEVER) == 1)
            (void)sim_fd_read(loop->fds, loop->bell, &rings, sizeof rings);
        loop->asleep = false;
    }
    while (!loop->poster_over)
        sim_sleep(world, 100 * RT_US);
    SIM_ALWAYS(sim_fd_close(loop->fds, loop->bell) == RT_OK);
    SIM_ALWAYS(sim_fd_close(loop->fds, loop->journal[0]) == RT_OK);
    SIM_ALWAYS(sim_fd_close(loop->fds, loop->journal[1]) == RT_OK);
}

static void on_call(struct loop *loop)
{
    loop->called++;
}

static void poster_main(struct sim_world *world, void *argument)
{
    struct loop *loop = argument;
    for (int i = 0; i < POSTS; i++) {
        sim_sleep(world, sim_range(world, 500 * RT_US, RT_MS));
        loop_post(loop, on_call);
        if (sim_pick(world, 2) == 1 && ++i < POSTS) /* two at a time */
            loop_post(loop, on_call);
    }
    loop->poster_over = true;
}

static void setup(struct sim_world *world, bool fixed)
{
    struct loop *loop = sim_new(world, struct loop);
    struct sim_fds *fds = sim_fds_new(sim_host_new(world, NULL, SIM_PROFILE_FD), 3);
    loop->fds = fds;
    loop->fixed = fixed;
    SIM_ALWAYS(sim_fd_event_open(fds, "bell", &loop->bell) == RT_OK);
    SIM_ALWAYS(sim_fd_pair(fds, "journal", 100 * RT_US, RT_MS, loop->journal) == RT_OK);
    SIM_ALWAYS(sim_fd_add(fds, loop->bell, SIM_FD_IN, 0) == RT_OK);
    (void)sim_loop_new(world, "loop", loop_main, loop);
    (void)sim_loop_new(world, "poster", poster_main, loop);
}

static void setup_broken(struct sim_world *world) { setup(world, false); }
static void setup_fixed(struct sim_world *world) { setup(world, true); }

SIM_SCENARIO(broken, .name = "set2/asleep/broken", .about = "A loop that says too late that it sleeps.",
        .setup = setup_broken, .expect = SIM_VERDICT_LOST_WAKEUP);
SIM_SCENARIO(fixed, .name = "set2/asleep/fixed", .about = "A loop that looks again before it sleeps.",
        .setup = setup_fixed);
