/*
 * libuv-4245.c -- a timer restarted with timeout 0 by its own callback runs in the same pass.
 *
 * libuv/libuv#4245, fixed by libuv/libuv#4250 (51a22f6); 3ceb260 (#301, #371) is the same with
 * queues of callbacks.
 *
 * The bug. Once a turn the loop runs its timers: while the first one is due it is taken and called.
 * A callback that restarts its timer with a timeout of 0 makes one that is due by the same clock,
 * as the loop's time is read once a turn. So the pass does not end, and the loop never polls its
 * descriptors.
 *
 * The fix. Due timers are moved to a separate list first, and only those are called: run_timers
 * below.
 *
 * Here. A client has sent a request and polls for the answer with a timer. The time between two
 * polls is its user's choice: a millisecond, or nothing, which means "at the next turn". A thread
 * may be interrupted in a callback, so other actors run during a pass that does not end; only the
 * loop makes no progress.
 *
 * Cause: not-a-wake in run_timers or on_check
 * Must end in: livelock. Fails on the baseline run: no.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "sim/rewake.h"

#define BATCH_MAX 4
#define TIMERS_MAX 4

/* ---- A loop with timers, as libuv's. --------------------------------------------------------- */

struct timer;
typedef void (*timer_callback)(struct timer *timer);

struct loop {
    struct sim_world *world;
    struct sim_fds *fds;
    struct timer *started[TIMERS_MAX]; /* By timeout, then in the order of their starts. */
    uint32_t count;
    uint64_t time_ns; /* Read once a turn. */
    bool stopped;
    bool broken;
};

struct timer {
    struct loop *loop;
    timer_callback callback;
    uint64_t timeout_ns;
};

static void
timer_start(struct timer *timer, timer_callback callback, uint64_t timeout_ns)
{
    struct loop *loop = timer->loop;
    uint32_t i = loop->count++;
    timer->callback = callback;
    timer->timeout_ns = loop->time_ns + timeout_ns;
    while (i > 0 && loop->started[i - 1]->timeout_ns > timer->timeout_ns) {
        loop->started[i] = loop->started[i - 1];
        i--;
    }
    loop->started[i] = timer;
}

/* Takes the first timer out if it is due. */
static struct timer *
take_due(struct loop *loop)
{
    if (loop->count == 0 || loop->started[0]->timeout_ns > loop->time_ns) {
        return NULL;
    }
    struct timer *timer = loop->started[0];
    loop->count--;
    for (uint32_t i = 0; i < loop->count; i++) {
        loop->started[i] = loop->started[i + 1];
    }
    return timer;
}

static void
run_timers(struct loop *loop)
{
    struct timer *ready[TIMERS_MAX];
    struct timer *timer;
    uint32_t count = 0;
    while ((timer = take_due(loop)) != NULL) {
        if (loop->broken) {
            timer->callback(timer);
        } else {
            ready[count++] = timer;
        }
    }
    for (uint32_t i = 0; i < count; i++) {
        ready[i]->callback(ready[i]);
    }
}

static uint64_t
timeout_of(const struct loop *loop)
{
    if (loop->stopped || loop->count == 0) {
        return loop->stopped ? 0 : SIM_NEVER;
    }
    uint64_t first_ns = loop->started[0]->timeout_ns;
    return first_ns > loop->time_ns ? first_ns - loop->time_ns : 0;
}

static void
loop_run(struct loop *loop, void (*on_event)(struct loop *loop))
{
    while (!loop->stopped) {
        struct sim_fd_event batch[BATCH_MAX];
        loop->time_ns = sim_now(loop->world);
        run_timers(loop);
        uint32_t count = sim_fd_wait(loop->fds, batch, BATCH_MAX, timeout_of(loop));
        for (uint32_t i = 0; i < count; i++) {
            on_event(loop);
        }
    }
}

/* ---- The client, and its server. ------------------------------------------------------------- */

struct state {
    struct loop loop;
    struct timer poll_timer;
    uint64_t pause_ns;
    bool answered;
    int socket;
    int peer;
};

static void
on_check(struct timer *timer)
{
    struct state *state = rt_container_of(timer, struct state, poll_timer);
    sim_work(state->loop.world, 20 * RT_US);
    sim_loop_pause(state->loop.world);
    if (state->answered) {
        state->loop.stopped = true;
        return;
    }
    timer_start(timer, on_check, state->pause_ns);
}

static void
on_event(struct loop *loop)
{
    struct state *state = rt_container_of(loop, struct state, loop);
    char byte;
    if (sim_fd_read(loop->fds, state->socket, &byte, 1) == 1) {
        state->answered = true;
    }
}

static void
client_main(struct sim_world *world, void *argument)
{
    struct state *state = argument;
    state->loop.time_ns = sim_now(world);
    timer_start(&state->poll_timer, on_check, RT_MS);
    loop_run(&state->loop, on_event);
}

static void
server_main(struct sim_world *world, void *argument)
{
    struct state *state = argument;
    sim_sleep(world, sim_range(world, 2 * RT_MS, 5 * RT_MS));
    SIM_ALWAYS(sim_fd_write(state->loop.fds, state->peer, "!", 1) == 1);
}

/* ---- Both forms. ----------------------------------------------------------------------------- */

static void
begin(struct sim_world *world, bool broken)
{
    struct state *state = sim_new(world, struct state);
    struct sim_fds *fds = sim_fds_new(sim_host_new(world, NULL, SIM_PROFILE_FD), 3);
    int ends[2] = {-1, -1};
    state->loop = (struct loop){.world = world, .fds = fds, .broken = broken};
    state->poll_timer.loop = &state->loop;
    state->pause_ns = sim_pick(world, 2) == 0 ? RT_MS : 0;
    SIM_ALWAYS(sim_fd_pair(fds, "socket", 0, RT_MS, ends) == RT_OK);
    state->socket = ends[0];
    state->peer = ends[1];
    SIM_ALWAYS(sim_fd_add(fds, state->socket, SIM_FD_IN, 0) == RT_OK);
    (void)sim_loop_new(world, "client", client_main, state);
    (void)sim_loop_new(world, "server", server_main, state);
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

SIM_SCENARIO(zoo_libuv_4245_broken, .name = "zoo/libuv-4245/broken", .bug = "E08",
        .reference = "libuv/libuv#4245",
        .about = "A timer restarted with timeout 0 by its callback keeps the pass running.",
        .setup = setup_broken, .profile = SIM_PROFILE_FD, .expect = SIM_VERDICT_LIVELOCK);
SIM_SCENARIO(zoo_libuv_4245_fixed, .name = "zoo/libuv-4245/fixed",
        .about = "A timer restarted with timeout 0 runs in the next turn.", .setup = setup_fixed,
        .profile = SIM_PROFILE_FD);
