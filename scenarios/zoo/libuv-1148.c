/*
 * libuv-1148.c -- a closed descriptor keeps reporting events through a duplicate.
 *
 * libuv/libuv#1148, fixed by #1468; joyent/libuv#1099 and #1100 are the same.
 *
 * The bug. A loop over epoll registers descriptors lazily and relies on close() to remove them from
 * the set. But a registration belongs to the open file, not to the number. While a duplicate is
 * open, in a child or in a library, close() removes nothing: the set keeps reporting a number that
 * is closed. The loop finds no watcher and tries to remove the number, which fails because it is
 * not open, and the same event is reported again at once.
 *
 * The fix. A descriptor is removed from the set before it is closed: loop_close below.
 *
 * Here. A server takes a first line from a client, makes a duplicate of the connection for a
 * helper, and closes its own. It calls the helper when a wait on the set returns no event. The
 * helper reads the second line. If the second line arrives before the server is idle, the set never
 * stops reporting it.
 *
 * Cause: not-a-wake in loop_close or loop_run
 * Must end in: livelock. Fails on the baseline run: no.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "sim/rewake.h"

#define WATCHERS_MAX 16
#define BATCH_MAX 4

/* ---- A small event loop, as many programs have one. ------------------------------------------ */

struct loop;

typedef void (*callback)(struct loop *loop, int fd);

struct loop {
    struct sim_fds *fds;
    callback watchers[WATCHERS_MAX];    /* By number; NULL: not watched. */
    void (*on_idle)(struct loop *loop); /* Called once when a wait returns no event; NULL: none. */
    bool broken;
    bool stopped;
};

static void
loop_watch(struct loop *loop, int fd, callback on_readable)
{
    SIM_ALWAYS(sim_fd_add(loop->fds, fd, SIM_FD_IN, (uint64_t)fd) == RT_OK);
    loop->watchers[fd] = on_readable;
}

static void
loop_close(struct loop *loop, int fd)
{
    loop->watchers[fd] = NULL;
    if (!loop->broken) {
        SIM_ALWAYS(sim_fd_remove(loop->fds, fd) == RT_OK);
    }
    SIM_ALWAYS(sim_fd_close(loop->fds, fd) == RT_OK);
}

static void
loop_run(struct loop *loop)
{
    while (!loop->stopped) {
        struct sim_fd_event batch[BATCH_MAX];
        uint64_t timeout_ns = loop->on_idle != NULL ? 0 : SIM_NEVER;
        uint32_t count = sim_fd_wait(loop->fds, batch, BATCH_MAX, timeout_ns);
        if (count == 0 && loop->on_idle != NULL) {
            loop->on_idle(loop);
            loop->on_idle = NULL;
        }
        for (uint32_t i = 0; i < count; i++) {
            int fd = (int)batch[i].data;
            if (loop->watchers[fd] != NULL) {
                loop->watchers[fd](loop, fd);
            } else {
                /* No longer watched. A closed number cannot be removed. */
                rt_err ignored = sim_fd_remove(loop->fds, fd);
                (void)ignored;
            }
        }
    }
}

/* ---- A server, its helper, and a client. ----------------------------------------------------- */

struct state {
    struct loop loop;
    int connection;
    int client;  /* The other end. */
    int handed;  /* The helper's duplicate. */
    int word;    /* An eventfd: the helper is done. */
    int request; /* An eventfd: the helper has work. */
};

static struct state *
state_of(struct loop *loop)
{
    return rt_container_of(loop, struct state, loop);
}

static void
on_word(struct loop *loop, int fd)
{
    uint64_t count = 0;
    if (sim_fd_read(loop->fds, fd, &count, sizeof(count)) == (int64_t)sizeof(count)) {
        loop->stopped = true;
    }
}

static void
call_helper(struct loop *loop)
{
    SIM_ALWAYS(sim_fd_notify(loop->fds, state_of(loop)->request) == RT_OK);
}

static void
on_line(struct loop *loop, int fd)
{
    struct state *state = state_of(loop);
    char line = 0;
    if (sim_fd_read(loop->fds, fd, &line, 1) != 1) {
        return;
    }
    SIM_ALWAYS(sim_fd_dup(loop->fds, fd, &state->handed) == RT_OK);
    loop_close(loop, fd);
    loop->on_idle = call_helper;
}

static void
server_main(struct sim_world *world, void *argument)
{
    struct state *state = argument;
    (void)world;
    loop_watch(&state->loop, state->connection, on_line);
    loop_watch(&state->loop, state->word, on_word);
    loop_run(&state->loop);
}

static void
client_main(struct sim_world *world, void *argument)
{
    struct state *state = argument;
    SIM_ALWAYS(sim_fd_write(state->loop.fds, state->client, "1", 1) == 1);
    sim_sleep(world, 5 * RT_MS - sim_range(world, 0, 5 * RT_MS - 1));
    SIM_ALWAYS(sim_fd_write(state->loop.fds, state->client, "2", 1) == 1);
}

/* Polls, for the sets of two loops are one here. */
static void
helper_main(struct sim_world *world, void *argument)
{
    struct state *state = argument;
    struct sim_fds *fds = state->loop.fds;
    uint64_t count = 0;
    char line = 0;
    while (sim_fd_read(fds, state->request, &count, sizeof(count)) == RT_E_AGAIN) {
        sim_sleep(world, RT_MS);
    }
    while (sim_fd_read(fds, state->handed, &line, 1) != 1) {
        sim_sleep(world, RT_MS);
    }
    SIM_ALWAYS(sim_fd_close(fds, state->handed) == RT_OK);
    SIM_ALWAYS(sim_fd_notify(fds, state->word) == RT_OK);
}

/* ---- Both forms. ----------------------------------------------------------------------------- */

static void
begin(struct sim_world *world, bool broken)
{
    struct state *state = sim_new(world, struct state);
    struct sim_fds *fds = sim_fds_new(sim_host_new(world, NULL, SIM_PROFILE_FD), 3);
    int ends[2] = {-1, -1};
    state->loop.fds = fds;
    state->loop.broken = broken;
    SIM_ALWAYS(sim_fd_pair(fds, "connection", 0, RT_MS / 2, ends) == RT_OK);
    state->connection = ends[0];
    state->client = ends[1];
    SIM_ALWAYS(sim_fd_event_open(fds, "word", &state->word) == RT_OK);
    SIM_ALWAYS(sim_fd_event_open(fds, "request", &state->request) == RT_OK);
    (void)sim_loop_new(world, "server", server_main, state);
    (void)sim_loop_new(world, "client", client_main, state);
    (void)sim_loop_new(world, "helper", helper_main, state);
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

SIM_SCENARIO(zoo_libuv_1148_broken, .name = "zoo/libuv-1148/broken", .bug = "D12",
        .reference = "libuv/libuv#1148", .about = "A registration outlives the closed descriptor.",
        .setup = setup_broken, .profile = SIM_PROFILE_FD, .expect = SIM_VERDICT_LIVELOCK);
SIM_SCENARIO(zoo_libuv_1148_fixed, .name = "zoo/libuv-1148/fixed",
        .about = "A descriptor is removed from the set before it is closed.", .setup = setup_fixed,
        .profile = SIM_PROFILE_FD);
