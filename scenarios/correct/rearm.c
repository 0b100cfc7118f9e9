/*
 * rearm.c -- one-shot registrations: a loop reads one piece, works on it, and arms again.
 *
 * A one-shot registration is switched off by its report. The loop reads at most a few bytes, works
 * for a while, and arms the descriptor again with a modify. What has arrived meanwhile is reported
 * after that, because a level-triggered registration checks what is there when it is armed. After
 * the end of the stream nothing is armed.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "sim/rewake.h"

#define PIECES 5u
#define PIECE 6u

struct feed {
    struct sim_fds *fds;
    int reader;
    int writer;
    uint32_t received;
};

static void
reader_main(struct sim_world *world, void *argument)
{
    struct feed *feed = argument;
    for (;;) {
        struct sim_fd_event event;
        char buffer[4];
        if (sim_fd_wait(feed->fds, &event, 1, SIM_NEVER) == 0) {
            continue;
        }
        int64_t size = sim_fd_read(feed->fds, feed->reader, buffer, sizeof(buffer));
        if (size == 0) {
            break;
        }
        if (size > 0) {
            feed->received += (uint32_t)size;
            sim_sleep(world, sim_range(world, 0, RT_MS)); /* The work. */
        }
        SIM_ALWAYS(sim_fd_modify(feed->fds, feed->reader, SIM_FD_IN | SIM_FD_ONESHOT, 0) == RT_OK);
    }
    SIM_ALWAYS(feed->received == PIECES * PIECE);
    SIM_ALWAYS(sim_fd_close(feed->fds, feed->reader) == RT_OK);
}

/* A separate thread. There is always space for so little. */
static void
writer_main(struct sim_world *world, void *argument)
{
    static const char piece[PIECE];
    struct feed *feed = argument;
    for (uint32_t i = 0; i < PIECES; i++) {
        sim_sleep(world, sim_range(world, 0, RT_MS));
        for (size_t done = 0; done < PIECE;) {
            int64_t size = sim_fd_write(feed->fds, feed->writer, piece, PIECE - done);
            SIM_ALWAYS(size > 0);
            done += (size_t)size;
        }
    }
    SIM_ALWAYS(sim_fd_close(feed->fds, feed->writer) == RT_OK);
}

static void
setup(struct sim_world *world)
{
    struct feed *feed = sim_new(world, struct feed);
    struct sim_host *host = sim_host_new(world, NULL, SIM_PROFILE_DEFAULT);
    int fd[2];
    feed->fds = sim_fds_new(host, 3);
    SIM_ALWAYS(sim_fd_pair(feed->fds, "feed", 0, RT_MS, fd) == RT_OK);
    feed->reader = fd[0];
    feed->writer = fd[1];
    SIM_ALWAYS(sim_fd_add(feed->fds, feed->reader, SIM_FD_IN | SIM_FD_ONESHOT, 0) == RT_OK);
    (void)sim_loop_new(world, "reader", reader_main, feed);
    (void)sim_loop_new(world, "writer", writer_main, feed);
}

SIM_SCENARIO(correct_rearm, .name = "correct/rearm",
        .about = "A one-shot registration that is armed again after the work.", .setup = setup);
