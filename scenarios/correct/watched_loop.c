/*
 * watched_loop.c -- a loop of callbacks that reports them: an inbox with a bell, and a timeout.
 *
 * The inbox callback takes all letters that are there; the timeout callback runs when the inbox has
 * been quiet for 3 ms, and each letter moves it. The postman puts a letter in and rings the bell,
 * in this order, and the loop takes the bell (its report does that) before it checks the inbox.
 * The timeout asks the clock itself, so an early call does nothing.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "sim/rewake.h"

#define LETTERS 4u
#define QUIET_NS (3 * RT_MS)

struct watcher {
    struct post *post;
    void (*callback)(struct post *post);
    bool finished;
};

struct post {
    struct rt_host *host;
    struct rt_pollable bell;
    struct watcher inbox;
    struct watcher quiet;
    uint32_t letters; /* In the inbox. */
    uint32_t read;
    uint64_t quiet_ns;
};

static void
inbox_callback(struct post *post)
{
    if (post->letters > 0) {
        post->read += post->letters;
        post->letters = 0;
        post->quiet_ns = rt_host_now(post->host) + QUIET_NS;
        SIM_PROGRESS();
    }
    post->inbox.finished = post->read == LETTERS;
}

static void
quiet_callback(struct post *post)
{
    if (rt_host_now(post->host) < post->quiet_ns) {
        return;
    }
    post->quiet.finished = post->read == LETTERS;
    post->quiet_ns = rt_host_now(post->host) + QUIET_NS;
}

static void
watcher_call(struct watcher *watcher)
{
    if (!watcher->finished) {
        sim_foreign_poll(watcher);
        watcher->callback(watcher->post);
        sim_foreign_polled(watcher, watcher->finished);
    }
}

static void
post_main(struct sim_world *world, void *argument)
{
    struct post *post = argument;
    (void)world;
    while (!post->quiet.finished) {
        struct rt_pollable instant = {.host = NULL};
        struct rt_pollable *list[2] = {&post->bell, &instant};
        uint32_t ready[2];
        uint32_t count;
        SIM_ALWAYS(rt_subscribe_instant(post->host, post->quiet_ns, &instant) == RT_OK);
        SIM_ALWAYS(rt_host_poll(post->host, list, 2, ready, &count) == RT_OK);
        rt_pollable_drop(&instant);
        for (uint32_t i = 0; i < count; i++) {
            watcher_call(ready[i] == 0 ? &post->inbox : &post->quiet);
        }
    }
    rt_pollable_drop(&post->bell);
}

static void
post_again(void *runtime, void *task)
{
    (void)runtime;
    watcher_call(task);
}

/* A separate thread. */
static void
postman_main(struct sim_world *world, void *argument)
{
    struct post *post = argument;
    for (uint32_t i = 0; i < LETTERS; i++) {
        sim_sleep(world, sim_range(world, 0, 5 * RT_MS));
        post->letters++;
        rt_host_notify(post->host);
    }
}

static void
setup(struct sim_world *world)
{
    struct post *post = sim_new(world, struct post);
    post->host = sim_host_seam(sim_host_new(world, NULL, SIM_PROFILE_DEFAULT));
    post->quiet_ns = QUIET_NS;
    post->inbox = (struct watcher){.post = post, .callback = inbox_callback};
    post->quiet = (struct watcher){.post = post, .callback = quiet_callback};
    SIM_ALWAYS(rt_host_subscribe(post->host, RT_SUBSCRIBE_NOTIFY, 0, &post->bell) == RT_OK);
    struct sim_loop *loop = sim_loop_new(world, "loop", post_main, post);
    struct sim_foreign *foreign = sim_foreign_new(loop, post_again, post);
    sim_foreign_watch(foreign, &post->inbox, "inbox", "a letter");
    sim_foreign_watch(foreign, &post->quiet, "quiet", "a quiet time");
    (void)sim_loop_new(world, "postman", postman_main, post);
}

SIM_SCENARIO(correct_watched_loop, .name = "correct/watched-loop",
        .about = "A loop of callbacks with a bell and a timeout that moves.", .setup = setup);
