/*
 * libuv-826.c -- an event of the fetched batch is given to the next owner of its number.
 *
 * joyent/libuv#826, fixed by #968 and #971; creytiv/re#266 is the same bug and the same fix in
 * 2023.
 *
 * The bug. A loop over epoll keeps its watchers in a table by descriptor number, and events carry
 * the number. It fetches a batch and calls one watcher after the other. A callback closes a
 * descriptor whose event is later in the batch and opens a new one, which gets the number that has
 * just become free. The event about the closed descriptor is given to the new one.
 *
 * The fix. Closing a descriptor also removes its number from the rest of the batch: loop_forget
 * below, called or not. It is the only difference between the two forms.
 *
 * Here. A client has a connection to a cluster and one to a worker of it. When the worker dies, the
 * cluster names the next worker, and the client connects to that. A worker that hangs up is closed,
 * and the client waits for the cluster's message. Message and hang-up arrive independently. If the
 * hang-up is first, or in another batch, all is well. If both are in one batch, the message first,
 * the client closes the dead worker and connects to the new one, on the same number; then it gets
 * the hang-up for that number, takes the new worker for dead, and waits for a message that the
 * cluster has no reason to send.
 *
 * Cause: order, on_cluster before on_worker or not-a-wake in loop_turn or loop_close
 * Must end in: deadlock of the client. Fails on the baseline run: no.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "sim/rewake.h"

#define WATCHERS_MAX 16
#define BATCH_MAX 8
/* End to end; the cluster is farther away. */
#define WORKER_NS_MIN (1 * RT_MS)
#define CLUSTER_NS_MIN (2 * RT_MS)
#define NS_MAX (3 * RT_MS)

/* ---- A small event loop, as many programs have one. -------------------------------------- */

struct loop;

typedef void (*callback)(struct loop *loop, int fd, uint32_t events);

struct loop {
    struct sim_fds *fds;
    callback watchers[WATCHERS_MAX]; /* By number; NULL: not watched. */
    struct sim_fd_event batch[BATCH_MAX];
    uint32_t batch_count;
    uint32_t batch_next;
    bool forgets; /* The fix. */
};

static void
loop_watch(struct loop *loop, int fd, callback on_event)
{
    SIM_ALWAYS(sim_fd_add(loop->fds, fd, SIM_FD_IN, (uint64_t)fd) == RT_OK);
    loop->watchers[fd] = on_event;
}

/* Removes `fd` from the rest of the batch. */
static void
loop_forget(struct loop *loop, int fd)
{
    for (uint32_t i = loop->batch_next; i < loop->batch_count; i++) {
        if (loop->batch[i].data == (uint64_t)fd) {
            loop->batch[i].events = 0;
        }
    }
}

static void
loop_close(struct loop *loop, int fd)
{
    loop->watchers[fd] = NULL;
    SIM_ALWAYS(sim_fd_close(loop->fds, fd) == RT_OK);
    if (loop->forgets) {
        loop_forget(loop, fd);
    }
}

/* Fetches one batch and calls the watchers. */
static void
loop_turn(struct loop *loop)
{
    loop->batch_count = sim_fd_wait(loop->fds, loop->batch, BATCH_MAX, SIM_NEVER);
    loop->batch_next = 0;
    while (loop->batch_next < loop->batch_count) {
        const struct sim_fd_event *event = &loop->batch[loop->batch_next++];
        callback on_event = loop->watchers[event->data];
        if (on_event != NULL && event->events != 0) {
            on_event(loop, (int)event->data, event->events);
        }
    }
}

/* ---- The client. ------------------------------------------------------------------------- */

struct state {
    struct loop loop;
    int cluster;
    int worker;       /* -1: none; the cluster will name one. */
    uint32_t workers; /* Workers it has had. */
    bool answered;
    /* The other ends. */
    int cluster_end;
    int worker_end;
};

static struct state *
state_of(struct loop *loop)
{
    return rt_container_of(loop, struct state, loop);
}

/* The worker's answer, or its end. */
static void
on_worker(struct loop *loop, int fd, uint32_t events)
{
    struct state *state = state_of(loop);
    char answer = 0;
    if ((events & (SIM_FD_HUP | SIM_FD_ERR)) != 0) {
        loop_close(loop, fd);
        state->worker = -1;
        return;
    }
    if (sim_fd_read(loop->fds, fd, &answer, 1) == 1) {
        state->answered = true;
    }
}

static void
connect_worker(struct state *state)
{
    struct loop *loop = &state->loop;
    int ends[2] = {-1, -1};
    SIM_ALWAYS(sim_fd_pair(loop->fds, "worker", WORKER_NS_MIN, NS_MAX, ends) == RT_OK);
    state->worker = ends[0];
    state->worker_end = ends[1];
    state->workers++;
    loop_watch(loop, state->worker, on_worker);
    SIM_ALWAYS(sim_fd_write(loop->fds, state->worker, "?", 1) == 1);
}

/* The cluster's message: connect to the next worker. */
static void
on_cluster(struct loop *loop, int fd, uint32_t events)
{
    struct state *state = state_of(loop);
    char word = 0;
    (void)events;
    if (sim_fd_read(loop->fds, fd, &word, 1) != 1) {
        return;
    }
    if (state->worker != -1) {
        loop_close(loop, state->worker);
    }
    connect_worker(state);
}

static void
client_main(struct sim_world *world, void *argument)
{
    struct state *state = argument;
    (void)world;
    while (!state->answered) {
        loop_turn(&state->loop);
    }
}

/* ---- The other side: one worker dies without an answer, the next one does not. ----------- */

static void
others_main(struct sim_world *world, void *argument)
{
    struct state *state = argument;
    struct sim_fds *fds = state->loop.fds;
    char question = 0;
    sim_sleep(world, 10 * RT_MS);
    SIM_ALWAYS(sim_fd_write(fds, state->cluster_end, "!", 1) == 1);
    SIM_ALWAYS(sim_fd_close(fds, state->worker_end) == RT_OK);
    while (state->workers < 2 || sim_fd_read(fds, state->worker_end, &question, 1) == RT_E_AGAIN) {
        sim_sleep(world, RT_MS);
    }
    if (question == '?') {
        (void)sim_fd_write(fds, state->worker_end, "=", 1); /* A client that has left gets none. */
    }
}

/* ---- Both forms. ------------------------------------------------------------------------- */

static void
begin(struct sim_world *world, bool forgets)
{
    struct state *state = sim_new(world, struct state);
    struct loop *loop = &state->loop;
    int ends[2] = {-1, -1};
    loop->fds = sim_fds_new(sim_host_new(world, NULL, SIM_PROFILE_FD), 3);
    loop->forgets = forgets;
    SIM_ALWAYS(sim_fd_pair(loop->fds, "cluster", CLUSTER_NS_MIN, NS_MAX, ends) == RT_OK);
    state->cluster = ends[0];
    state->cluster_end = ends[1];
    loop_watch(loop, state->cluster, on_cluster);
    connect_worker(state);
    (void)sim_loop_new(world, "client", client_main, state);
    (void)sim_loop_new_background(world, "others", others_main, state);
}

static void
setup_broken(struct sim_world *world)
{
    begin(world, false);
}

static void
setup_fixed(struct sim_world *world)
{
    begin(world, true);
}

SIM_SCENARIO(zoo_libuv_826_broken, .name = "zoo/libuv-826/broken", .bug = "D09",
        .reference = "joyent/libuv#826",
        .about = "An event about a closed descriptor is given to the next owner of its number.",
        .setup = setup_broken, .profile = SIM_PROFILE_FD, .expect = SIM_VERDICT_DEADLOCK);
SIM_SCENARIO(zoo_libuv_826_fixed, .name = "zoo/libuv-826/fixed",
        .about = "Closing a descriptor also removes its events from the fetched batch.",
        .setup = setup_fixed, .profile = SIM_PROFILE_FD);
