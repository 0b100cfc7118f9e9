/*
 * self_pipe.c -- two loops hand work to each other, each woken through its own pipe.
 *
 * A loop waits on the reading end of its pipe and on nothing else. The other puts work into its
 * queue first and writes one byte afterwards; the loop empties the pipe first and the queue
 * afterwards, so a remaining byte always causes another check, and work is never left without a
 * byte. A full pipe needs no byte: there are some in it. Each loop has a separate table, and the
 * pipe of each is in both directions in that table.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "sim/rewake.h"

#define ROUNDS 4u
#define PARCELS 2u

struct side {
    struct side *other;
    struct sim_fds *fds;
    int reader;
    int writer;
    uint32_t queue[PARCELS]; /* How often each was handed over. */
    uint32_t count;
    uint32_t *finished; /* Parcels, of both. */
};

static void
side_nudge(struct side *side)
{
    int64_t size = sim_fd_write(side->fds, side->writer, "!", 1);
    SIM_ALWAYS(size == 1 || size == RT_E_AGAIN);
}

static void
side_give(struct side *side, uint32_t parcel)
{
    side->queue[side->count++] = parcel;
    side_nudge(side);
}

static void
side_empty_pipe(struct side *side)
{
    char bytes[8];
    int64_t size;
    do {
        size = sim_fd_read(side->fds, side->reader, bytes, sizeof(bytes));
        SIM_ALWAYS(size > 0 || size == RT_E_AGAIN);
    } while (size > 0);
}

static void
side_main(struct sim_world *world, void *argument)
{
    struct side *side = argument;
    (void)world;
    while (*side->finished < PARCELS) {
        while (side->count > 0) {
            uint32_t parcel = side->queue[--side->count];
            SIM_PROGRESS();
            if (parcel < ROUNDS) {
                side_give(side->other, parcel + 1);
            } else if (++*side->finished == PARCELS) {
                side_nudge(side->other);
            }
        }
        if (*side->finished < PARCELS) {
            struct sim_fd_event event;
            (void)sim_fd_wait(side->fds, &event, 1, SIM_NEVER);
            side_empty_pipe(side);
        }
    }
}

static void
side_init(struct side *side, struct sim_world *world, struct side *other, uint32_t *finished)
{
    int fd[2];
    side->fds = sim_fds_new(sim_host_new(world, NULL, SIM_PROFILE_DEFAULT), 3);
    SIM_ALWAYS(sim_fd_pair(side->fds, "pipe", 0, RT_MS, fd) == RT_OK);
    SIM_ALWAYS(sim_fd_add(side->fds, fd[0], SIM_FD_IN, 0) == RT_OK);
    side->reader = fd[0];
    side->writer = fd[1];
    side->other = other;
    side->finished = finished;
}

static void
setup(struct sim_world *world)
{
    struct side *sides = sim_alloc(world, 2 * sizeof(*sides));
    uint32_t *finished = sim_new(world, uint32_t);
    sides[0] = sides[1] = (struct side){.count = 0};
    side_init(&sides[0], world, &sides[1], finished);
    side_init(&sides[1], world, &sides[0], finished);
    sides[0].count = PARCELS; /* Both begin there, and were never handed over. */
    sides[0].queue[0] = sides[0].queue[1] = 0;
    (void)sim_loop_new(world, "left", side_main, &sides[0]);
    (void)sim_loop_new(world, "right", side_main, &sides[1]);
}

SIM_SCENARIO(correct_self_pipe, .name = "correct/self-pipe",
        .about = "Two loops that hand work over, each with its own pipe.", .setup = setup);
