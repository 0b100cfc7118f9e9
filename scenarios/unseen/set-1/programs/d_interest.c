/*
 * d_interest.c -- An echo connection with an output buffer. When its socket is full it asks for
 * SIM_FD_OUT; when the buffer is flushed it goes back to reading.
 *
 * Cause: When the output buffer is flushed the registration is set to no events at all instead
 * of SIM_FD_IN, so the interest in further input is dropped.
 * Where: flush
 * Kind: interest dropped on a descriptor
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "sim/rewake.h"

#define CHUNK 3000
#define CHUNKS 4

static bool fixed;

struct echo {
    struct sim_fds *os;
    int fd;
    int peer;
    char buffer[CHUNK * CHUNKS];
    uint32_t head;
    uint32_t tail;
    uint32_t interest;
};

static void
want(struct echo *echo, uint32_t interest)
{
    if (echo->interest != interest) {
        echo->interest = interest;
        SIM_ALWAYS(sim_fd_modify(echo->os, echo->fd, interest, 0) == RT_OK);
    }
}

static void
flush(struct echo *echo)
{
    while (echo->head < echo->tail) {
        int64_t n = sim_fd_write(
                echo->os, echo->fd, echo->buffer + echo->head, echo->tail - echo->head);
        if (n <= 0) {
            want(echo, SIM_FD_OUT);
            return;
        }
        echo->head += (uint32_t)n;
    }
    if (echo->interest & SIM_FD_OUT) {
        want(echo, fixed ? SIM_FD_IN : 0); /* Where. */
    }
}

static void
echo_main(struct sim_world *world, void *argument)
{
    struct echo *echo = argument;
    struct sim_fd_event event;
    (void)world;
    while (echo->head < CHUNK * CHUNKS) {
        if (sim_fd_wait(echo->os, &event, 1, SIM_NEVER) == 0) {
            continue;
        }
        if (event.events & SIM_FD_IN) {
            int64_t n = sim_fd_read(echo->os, echo->fd, echo->buffer + echo->tail, CHUNK);
            echo->tail += n > 0 ? (uint32_t)n : 0;
        }
        flush(echo);
    }
}

/* Sends all, and reads slowly. */
static void
client_main(struct sim_world *world, void *argument)
{
    struct echo *echo = argument;
    char *chunk = sim_zalloc(world, CHUNK);
    uint32_t sent = 0;
    uint32_t received = 0;
    while (received < CHUNK * CHUNKS) {
        if (sent < CHUNK * CHUNKS) {
            uint32_t size = CHUNK * CHUNKS - sent < CHUNK ? CHUNK * CHUNKS - sent : CHUNK;
            int64_t n = sim_fd_write(echo->os, echo->peer, chunk, size);
            sent += n > 0 ? (uint32_t)n : 0;
        }
        sim_sleep(world, sim_range(world, 100 * RT_US, 400 * RT_US));
        int64_t n = sim_fd_read(echo->os, echo->peer, chunk, 2000);
        received += n > 0 ? (uint32_t)n : 0;
        if (echo->interest == 0 && n <= 0) {
            break; /* Gives up; the echo never will. */
        }
    }
}

static void
setup(struct sim_world *world)
{
    struct echo *echo = sim_new(world, struct echo);
    int pair[2];
    echo->os = sim_fds_new(sim_host_new(world, NULL, SIM_PROFILE_DEFAULT), 3);
    SIM_ALWAYS(sim_fd_pair(echo->os, "socket", 0, 50 * RT_US, pair) == RT_OK);
    echo->fd = pair[0];
    echo->peer = pair[1];
    echo->interest = SIM_FD_IN;
    SIM_ALWAYS(sim_fd_add(echo->os, echo->fd, SIM_FD_IN, 0) == RT_OK);
    sim_loop_new(world, "echo", echo_main, echo);
    sim_loop_new(world, "client", client_main, echo);
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

SIM_SCENARIO(form_broken, .name = "unseen/d-interest/broken",
        .about = "An echo connection under back-pressure.", .setup = setup_broken,
        .expect = SIM_VERDICT_LOST_WAKEUP, .expect_also = SIM_VERDICT_DEADLOCK);
SIM_SCENARIO(form_fixed, .name = "unseen/d-interest/fixed",
        .about = "An echo connection under back-pressure.", .setup = setup_fixed);
