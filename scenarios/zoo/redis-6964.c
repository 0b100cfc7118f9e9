/*
 * redis-6964.c -- the table of events is reallocated while one of its rows is in use.
 *
 * redis commit 513931d (#6964), aeProcessEvents.
 *
 * The bug. For each event of a batch the loop takes a pointer to the row of that descriptor, calls
 * its read handler, and then, if the descriptor is writable too, its write handler from the same
 * row. A read handler may execute a command that enlarges the table (CONFIG SET maxclients). The
 * table is reallocated, and the row is read at its old address.
 *
 * The fix. The pointer is fetched again after each handler: loop_turn below.
 *
 * Here. Clients send requests; the answer is written when their connection is writable. One also
 * asks for a higher limit of clients. If that request arrives alone, all is well. If it arrives
 * while an answer to the same client waits to be written, both are in one event. Freed memory is
 * overwritten here, as by a poisoning allocator.
 *
 * Cause: not-a-wake in loop_turn
 * Must end in: crash. Fails on the baseline run: no.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <string.h>

#include "sim/rewake.h"

#define BATCH_MAX 8
#define CLIENTS 2
#define FREED 0x5a

/* ---- The loop: ae in redis. ------------------------------------------------------------------ */

struct loop;

typedef void (*handler)(struct loop *loop, int fd);

/* What one descriptor waits for. */
struct row {
    uint32_t mask;
    handler on_readable;
    handler on_writable;
};

struct loop {
    struct sim_world *world;
    struct sim_fds *fds;
    struct row *rows; /* By number. */
    uint32_t rows_count;
    bool broken;
};

static void
loop_resize(struct loop *loop, uint32_t count)
{
    struct row *rows = sim_zalloc(loop->world, count * sizeof(*rows));
    size_t size = loop->rows_count * sizeof(*rows);
    if (size > 0) {
        memcpy(rows, loop->rows, size);
        memset(loop->rows, FREED, size);
    }
    loop->rows = rows;
    loop->rows_count = count;
}

static void
loop_wait_for(struct loop *loop, int fd, uint32_t mask, handler handle)
{
    struct row *row = &loop->rows[fd];
    uint32_t before = row->mask;
    row->mask |= mask;
    if ((mask & SIM_FD_IN) != 0) {
        row->on_readable = handle;
    } else {
        row->on_writable = handle;
    }
    rt_err err = before == 0 ? sim_fd_add(loop->fds, fd, row->mask, (uint64_t)fd)
                             : sim_fd_modify(loop->fds, fd, row->mask, (uint64_t)fd);
    SIM_ALWAYS(err == RT_OK);
}

static void
loop_forget_writable(struct loop *loop, int fd)
{
    loop->rows[fd].mask &= ~SIM_FD_OUT;
    SIM_ALWAYS(sim_fd_modify(loop->fds, fd, loop->rows[fd].mask, (uint64_t)fd) == RT_OK);
}

static void
loop_turn(struct loop *loop)
{
    struct sim_fd_event batch[BATCH_MAX];
    uint32_t count = sim_fd_wait(loop->fds, batch, BATCH_MAX, SIM_NEVER);
    for (uint32_t i = 0; i < count; i++) {
        int fd = (int)batch[i].data;
        uint32_t events = batch[i].events;
        const struct row *row = &loop->rows[fd];
        if ((row->mask & events & SIM_FD_IN) != 0) {
            row->on_readable(loop, fd);
            if (!loop->broken) {
                row = &loop->rows[fd];
            }
        }
        if ((row->mask & events & SIM_FD_OUT) != 0) {
            row->on_writable(loop, fd);
        }
    }
}

/* ---- The server. ----------------------------------------------------------------------------- */

struct state {
    struct loop loop;
    int servers[CLIENTS];
    int clients[CLIENTS];
    uint32_t answers[16]; /* By number: to be written. */
    uint32_t answered;
    uint32_t asked; /* In all, by all clients. */
};

static void
on_writable(struct loop *loop, int fd)
{
    struct state *state = rt_container_of(loop, struct state, loop);
    while (state->answers[fd] > 0 && sim_fd_write(loop->fds, fd, "+", 1) == 1) {
        state->answers[fd]--;
        state->answered++;
    }
    if (state->answers[fd] == 0) {
        loop_forget_writable(loop, fd);
    }
}

static void
on_command(struct loop *loop, int fd)
{
    struct state *state = rt_container_of(loop, struct state, loop);
    char command = 0;
    if (sim_fd_read(loop->fds, fd, &command, 1) != 1) {
        return;
    }
    if (command == 'm') {
        loop_resize(loop, 2 * loop->rows_count);
    }
    if (state->answers[fd]++ == 0) {
        loop_wait_for(loop, fd, SIM_FD_OUT, on_writable);
    }
}

static void
server_main(struct sim_world *world, void *argument)
{
    struct state *state = argument;
    (void)world;
    for (uint32_t i = 0; i < CLIENTS; i++) {
        loop_wait_for(&state->loop, state->servers[i], SIM_FD_IN, on_command);
    }
    while (state->answered < state->asked) {
        loop_turn(&state->loop);
    }
}

/* Two commands each; those of the first raise the limit. */
static void
clients_main(struct sim_world *world, void *argument)
{
    struct state *state = argument;
    for (uint32_t i = 0; i < CLIENTS; i++) {
        SIM_ALWAYS(sim_fd_write(state->loop.fds, state->clients[i], "g", 1) == 1);
        sim_sleep(world, 3 * RT_MS - sim_range(world, 0, 3 * RT_MS - 1));
        SIM_ALWAYS(sim_fd_write(state->loop.fds, state->clients[i], i == 0 ? "m" : "g", 1) == 1);
    }
}

/* ---- Both forms. ----------------------------------------------------------------------------- */

static void
begin(struct sim_world *world, bool broken)
{
    struct state *state = sim_new(world, struct state);
    struct sim_fds *fds = sim_fds_new(sim_host_new(world, NULL, SIM_PROFILE_FD), 3);
    state->loop.world = world;
    state->loop.fds = fds;
    state->loop.broken = broken;
    state->asked = 2 * CLIENTS;
    loop_resize(&state->loop, 16);
    for (uint32_t i = 0; i < CLIENTS; i++) {
        int ends[2] = {-1, -1};
        SIM_ALWAYS(sim_fd_pair(fds, "connection", 0, 2 * RT_MS, ends) == RT_OK);
        state->servers[i] = ends[0];
        state->clients[i] = ends[1];
    }
    (void)sim_loop_new(world, "server", server_main, state);
    (void)sim_loop_new(world, "clients", clients_main, state);
}

static void
setup_broken(struct sim_world *world)
{
    begin(world, true);
}

static void
setup_fixed(struct sim_world *world)
{
    begin(world, false);
}

SIM_SCENARIO(zoo_redis_6964_broken, .name = "zoo/redis-6964/broken", .bug = "D17",
        .reference = "redis/redis 513931d",
        .about = "A handler enlarges the table of events, and its old row is used.",
        .setup = setup_broken, .profile = SIM_PROFILE_FD, .expect = SIM_VERDICT_CRASH);
SIM_SCENARIO(zoo_redis_6964_fixed, .name = "zoo/redis-6964/fixed",
        .about = "The row is looked up again after each handler.", .setup = setup_fixed,
        .profile = SIM_PROFILE_FD);
