/*
 * d_watermark.c -- A proxy pauses reading from upstream when its queue is long, and resumes when
 * the downstream thread has taken enough.
 *
 * Cause: Resuming is tested with == at the low mark, and as the consumer takes two messages at a
 * time the queue length can pass the mark without ever being equal to it.
 * Where: consumer_main
 * Kind: back-pressure never released
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "sim/rewake.h"

#define HIGH 4
#define LOW 2
#define TOTAL 12

static bool fixed;

struct proxy {
    struct sim_fds *os;
    int upstream;
    int peer;
    struct sim_fds *down_os;
    int bell;
    int wake; /* Eventfd of the reader's loop: "resume". */
    uint32_t queued;
    uint32_t read;
    uint32_t taken;
    bool paused;
};

static void
reader_main(struct sim_world *world, void *argument)
{
    struct proxy *proxy = argument;
    struct sim_fd_event event;
    uint64_t count;
    char message;
    (void)world;
    while (proxy->read < TOTAL) {
        if (sim_fd_wait(proxy->os, &event, 1, SIM_NEVER) == 0) {
            continue;
        }
        if (event.data == 1) {
            sim_fd_read(proxy->os, proxy->wake, &count, sizeof(count));
            proxy->paused = false;
            SIM_ALWAYS(sim_fd_modify(proxy->os, proxy->upstream, SIM_FD_IN, 0) == RT_OK);
        } else if (sim_fd_read(proxy->os, proxy->upstream, &message, 1) == 1) {
            proxy->read++;
            proxy->queued++;
            if (proxy->queued >= HIGH) {
                SIM_ALWAYS(sim_fd_modify(proxy->os, proxy->upstream, 0, 0) == RT_OK);
                proxy->paused = true;
            }
            SIM_ALWAYS(sim_fd_notify(proxy->down_os, proxy->bell) == RT_OK);
        }
    }
}

static void
consumer_main(struct sim_world *world, void *argument)
{
    struct proxy *proxy = argument;
    struct sim_fd_event event;
    uint64_t count;
    while (proxy->taken < TOTAL) {
        sim_fd_wait(proxy->down_os, &event, 1, SIM_NEVER);
        sim_fd_read(proxy->down_os, proxy->bell, &count, sizeof(count));
        while (proxy->queued > 0) {
            uint32_t n = proxy->queued >= 2 ? 2 : 1;
            sim_sleep(world, sim_range(world, 100, 3000)); /* Sends it on. */
            proxy->queued -= n;
            proxy->taken += n;
            SIM_PROGRESS();
            bool resume = fixed ? proxy->queued <= LOW : proxy->queued == LOW; /* Where. */
            if (proxy->paused && resume) {
                SIM_ALWAYS(sim_fd_notify(proxy->os, proxy->wake) == RT_OK);
            }
        }
        if (fixed && proxy->paused) {
            SIM_ALWAYS(sim_fd_notify(proxy->os, proxy->wake) == RT_OK);
        }
    }
}

static void
upstream_main(struct sim_world *world, void *argument)
{
    struct proxy *proxy = argument;
    for (uint32_t i = 0; i < TOTAL; i++) {
        SIM_ALWAYS(sim_fd_write(proxy->os, proxy->peer, "m", 1) == 1);
        sim_sleep(world, sim_range(world, 100, 2000));
    }
}

static void
setup(struct sim_world *world)
{
    struct proxy *proxy = sim_new(world, struct proxy);
    struct sim_host *host = sim_host_new(world, NULL, SIM_PROFILE_DEFAULT);
    int pair[2];
    proxy->os = sim_fds_new(host, 3);
    proxy->down_os = sim_fds_new(host, 3);
    SIM_ALWAYS(sim_fd_pair(proxy->os, "upstream", 0, 1000, pair) == RT_OK);
    proxy->upstream = pair[0];
    proxy->peer = pair[1];
    SIM_ALWAYS(sim_fd_event_open(proxy->os, "resume", &proxy->wake) == RT_OK);
    SIM_ALWAYS(sim_fd_event_open(proxy->down_os, "bell", &proxy->bell) == RT_OK);
    SIM_ALWAYS(sim_fd_add(proxy->os, proxy->upstream, SIM_FD_IN, 0) == RT_OK);
    SIM_ALWAYS(sim_fd_add(proxy->os, proxy->wake, SIM_FD_IN, 1) == RT_OK);
    SIM_ALWAYS(sim_fd_add(proxy->down_os, proxy->bell, SIM_FD_IN, 0) == RT_OK);
    sim_loop_new(world, "reader", reader_main, proxy);
    sim_loop_new(world, "consumer", consumer_main, proxy);
    sim_loop_new(world, "upstream", upstream_main, proxy);
}

static void
setup_broken(struct sim_world *world)
{
    fixed = false;
    setup(world);
}

static void
setup_fixed(struct sim_world *world)
{
    fixed = true;
    setup(world);
}

SIM_SCENARIO(form_broken, .name = "unseen/d-watermark/broken",
        .about = "A proxy with a high and a low water mark.", .setup = setup_broken,
        .expect = SIM_VERDICT_LOST_WAKEUP, .expect_also = SIM_VERDICT_DEADLOCK);
SIM_SCENARIO(form_fixed, .name = "unseen/d-watermark/fixed",
        .about = "A proxy with a high and a low water mark.", .setup = setup_fixed);
