/*
 * libuv-2416.c -- a closing timer is started, and the loop never ends.
 *
 * libuv/libuv#2416, fixed by libuv/libuv#2424 (2ee2d46).
 *
 * The bug. Closing a handle stops it and puts it into a queue; later in the same turn it is removed
 * from the loop and its owner may free the memory. Starting it in between succeeds. The timer then
 * counts as active, and no step decrements that count: when its memory is freed it leaves the list
 * of timers without a stop, as it was stopped already.
 *
 * The fix. Starting a closing handle is an error: timer_start below.
 *
 * Here. A session's timer is restarted whenever its client sends something, and the session is
 * closed when the client says goodbye. What was sent before the goodbye may be delivered together
 * with it and be handled after it.
 *
 * Cause: order, on_control before on_word or order, timer_close before timer_start
 * Must end in: deadlock of a loop that waits for a timer that no longer exists. Fails on the
 * baseline run: no.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "sim/rewake.h"

#define BATCH_MAX 4
#define IDLE_NS (100 * RT_MS)

/* ---- Loop and timer, as in libuv; one timer is enough. --------------------------------------- */

#define HANDLE_ACTIVE 1u
#define HANDLE_CLOSING 2u
#define HANDLE_CLOSED 4u

struct loop;

struct timer {
    struct loop *loop;
    uint32_t flags;
    uint64_t timeout_ns;
};

struct loop {
    struct sim_world *world;
    struct sim_fds *fds;
    struct timer *timers;  /* Running. */
    struct timer *closing; /* To be removed from the loop at the end of the turn. */
    uint32_t active;       /* Handles. */
    bool broken;
};

static void
timer_stop(struct timer *timer)
{
    if ((timer->flags & HANDLE_ACTIVE) != 0) {
        timer->flags &= ~HANDLE_ACTIVE;
        timer->loop->timers = NULL;
        timer->loop->active--;
    }
}

static rt_err
timer_start(struct timer *timer, uint64_t timeout_ns)
{
    struct loop *loop = timer->loop;
    if (!loop->broken && (timer->flags & (HANDLE_CLOSING | HANDLE_CLOSED)) != 0) {
        return RT_E_INVALID;
    }
    timer_stop(timer);
    timer->timeout_ns = sim_now(loop->world) + timeout_ns;
    timer->flags |= HANDLE_ACTIVE;
    loop->timers = timer;
    loop->active++;
    return RT_OK;
}

static void
timer_close(struct timer *timer)
{
    timer_stop(timer);
    timer->flags |= HANDLE_CLOSING;
    timer->loop->closing = timer;
}

static void
run_closing(struct loop *loop)
{
    struct timer *timer = loop->closing;
    loop->closing = NULL;
    if (timer != NULL) {
        timer->flags |= HANDLE_CLOSED;
        loop->timers = NULL; /* The memory is the owner's again. */
    }
}

static uint64_t
timeout_of(const struct loop *loop)
{
    uint64_t now_ns = sim_now(loop->world);
    if (loop->timers == NULL) {
        return SIM_NEVER;
    }
    return loop->timers->timeout_ns > now_ns ? loop->timers->timeout_ns - now_ns : 0;
}

/* ---- The session, and its client. ------------------------------------------------------------ */

struct state {
    struct loop loop;
    struct timer idle;
    int words; /* Two sockets of one client: for its messages … */
    int words_peer;
    int control; /* … and for its goodbye. */
    int control_peer;
};

static void
on_word(struct state *state)
{
    char word;
    if (sim_fd_read(state->loop.fds, state->words, &word, 1) == 1) {
        (void)timer_start(&state->idle, IDLE_NS); /* Closing: its result no longer matters. */
    }
}

static void
on_control(struct state *state)
{
    char word;
    if (sim_fd_read(state->loop.fds, state->control, &word, 1) == 1) {
        timer_close(&state->idle);
        state->loop.active--; /* The sockets go with the session. */
        SIM_ALWAYS(sim_fd_remove(state->loop.fds, state->words) == RT_OK);
        SIM_ALWAYS(sim_fd_remove(state->loop.fds, state->control) == RT_OK);
    }
}

static void
session_main(struct sim_world *world, void *argument)
{
    struct state *state = argument;
    struct loop *loop = &state->loop;
    SIM_ALWAYS(timer_start(&state->idle, IDLE_NS) == RT_OK);
    while (loop->active > 0 || loop->closing != NULL) {
        struct sim_fd_event batch[BATCH_MAX];
        uint32_t count = sim_fd_wait(loop->fds, batch, BATCH_MAX, timeout_of(loop));
        for (uint32_t i = 0; i < count; i++) {
            if (batch[i].data == (uint64_t)state->words) {
                on_word(state);
            } else {
                on_control(state);
            }
        }
        if (loop->timers != NULL && loop->timers->timeout_ns <= sim_now(loop->world)) {
            timer_stop(&state->idle); /* It has been idle: closing does not depend on it here. */
        }
        run_closing(loop);
        sim_sleep(world, sim_range(world, 1 * RT_MS, 8 * RT_MS)); /* It has other work to do. */
    }
}

static void
client_main(struct sim_world *world, void *argument)
{
    struct state *state = argument;
    struct sim_fds *fds = state->loop.fds;
    for (uint32_t i = 0; i < 2; i++) {
        SIM_ALWAYS(sim_fd_write(fds, state->words_peer, "w", 1) == 1);
        sim_sleep(world, sim_range(world, 1 * RT_MS, 10 * RT_MS));
    }
    SIM_ALWAYS(sim_fd_write(fds, state->control_peer, "b", 1) == 1);
}

/* ---- Both forms. ----------------------------------------------------------------------------- */

static void
watch(struct state *state, const char *name, int *ret_fd, int *ret_peer)
{
    struct sim_fds *fds = state->loop.fds;
    int ends[2] = {-1, -1};
    SIM_ALWAYS(sim_fd_pair(fds, name, 0, 12 * RT_MS, ends) == RT_OK);
    SIM_ALWAYS(sim_fd_add(fds, ends[0], SIM_FD_IN, (uint64_t)ends[0]) == RT_OK);
    *ret_fd = ends[0];
    *ret_peer = ends[1];
}

static void
begin(struct sim_world *world, bool broken)
{
    struct state *state = sim_new(world, struct state);
    state->loop = (struct loop){.world = world, .active = 1, .broken = broken};
    state->loop.fds = sim_fds_new(sim_host_new(world, NULL, SIM_PROFILE_FD), 3);
    state->idle.loop = &state->loop;
    watch(state, "words", &state->words, &state->words_peer);
    watch(state, "control", &state->control, &state->control_peer);
    (void)sim_loop_new(world, "session", session_main, state);
    (void)sim_loop_new(world, "client", client_main, state);
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

SIM_SCENARIO(zoo_libuv_2416_broken, .name = "zoo/libuv-2416/broken", .bug = "E12",
        .reference = "libuv/libuv#2416", .about = "A timer that is closing can be started.",
        .setup = setup_broken, .profile = SIM_PROFILE_FD, .expect = SIM_VERDICT_DEADLOCK);
SIM_SCENARIO(zoo_libuv_2416_fixed, .name = "zoo/libuv-2416/fixed",
        .about = "A timer that is closing cannot be started.", .setup = setup_fixed,
        .profile = SIM_PROFILE_FD);
