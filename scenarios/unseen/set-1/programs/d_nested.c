/*
 * d_nested.c -- A callback loop. The handler of a command makes a synchronous request on the
 * control socket: it runs the loop inside the callback until the reply is there. Sockets are
 * edge-triggered.
 *
 * Cause: The nested loop drops the events of other descriptors that it fetches, and as they are
 * edge-triggered they are not reported to the outer loop again.
 * Where: request
 * Kind: nested loop that swallows a wake
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "sim/rewake.h"

#define COMMANDS 2
#define DATA 6

enum { COMMAND, CONTROL, DATAGRAM };

static bool fixed;

struct daemon {
    struct sim_fds *os;
    struct sim_fds *controller; /* Another process. */
    int question;
    int fd[3];
    int peer[3];
    uint32_t commands;
    uint32_t data;
    bool replied;
};

static void dispatch(struct daemon *daemon, const struct sim_fd_event *event, bool nested);

static void
request(struct daemon *daemon)
{
    struct sim_fd_event event;
    daemon->replied = false;
    SIM_ALWAYS(sim_fd_notify(daemon->controller, daemon->question) == RT_OK);
    while (!daemon->replied) {
        if (sim_fd_wait(daemon->os, &event, 1, SIM_NEVER) == 0) {
            continue;
        }
        if (fixed || event.data == CONTROL) { /* Where. */
            dispatch(daemon, &event, true);
        }
    }
}

static void
dispatch(struct daemon *daemon, const struct sim_fd_event *event, bool nested)
{
    char byte;
    while (sim_fd_read(daemon->os, daemon->fd[event->data], &byte, 1) == 1) {
        switch (event->data) {
        case COMMAND:
            daemon->commands++;
            if (!nested) {
                request(daemon);
            }
            break;
        case CONTROL:
            daemon->replied = true;
            break;
        default:
            daemon->data++;
        }
    }
}

static void
daemon_main(struct sim_world *world, void *argument)
{
    struct daemon *daemon = argument;
    struct sim_fd_event event;
    (void)world;
    while (daemon->commands < COMMANDS || daemon->data < DATA) {
        if (sim_fd_wait(daemon->os, &event, 1, SIM_NEVER) == 1) {
            dispatch(daemon, &event, false);
        }
    }
}

static void
controller_main(struct sim_world *world, void *argument)
{
    struct daemon *daemon = argument;
    struct sim_fd_event event;
    uint64_t count;
    for (;;) {
        sim_fd_wait(daemon->controller, &event, 1, SIM_NEVER);
        if (sim_fd_read(daemon->controller, daemon->question, &count, sizeof(count)) > 0) {
            sim_sleep(world, sim_range(world, 0, 100 * RT_US));
            SIM_ALWAYS(sim_fd_write(daemon->os, daemon->peer[CONTROL], "!", 1) == 1);
        }
    }
}

static void
sender_main(struct sim_world *world, void *argument)
{
    struct daemon *daemon = argument;
    for (int i = 0; i < DATA; i++) {
        sim_sleep(world, sim_range(world, 0, 150 * RT_US));
        SIM_ALWAYS(sim_fd_write(daemon->os, daemon->peer[DATAGRAM], "d", 1) == 1);
        if (i < COMMANDS) {
            SIM_ALWAYS(sim_fd_write(daemon->os, daemon->peer[COMMAND], "c", 1) == 1);
        }
    }
}

static void
setup(struct sim_world *world)
{
    static const char *const names[3] = {"command", "control", "data"};
    struct daemon *daemon = sim_new(world, struct daemon);
    daemon->os = sim_fds_new(sim_host_new(world, NULL, SIM_PROFILE_DEFAULT), 3);
    daemon->controller = sim_fds_new(sim_host_new(world, "controller", SIM_PROFILE_DEFAULT), 3);
    SIM_ALWAYS(sim_fd_event_open(daemon->controller, "question", &daemon->question) == RT_OK);
    SIM_ALWAYS(sim_fd_add(daemon->controller, daemon->question, SIM_FD_IN, 0) == RT_OK);
    for (int i = 0; i < 3; i++) {
        int pair[2];
        SIM_ALWAYS(sim_fd_pair(daemon->os, names[i], 0, 20 * RT_US, pair) == RT_OK);
        daemon->fd[i] = pair[0];
        daemon->peer[i] = pair[1];
        SIM_ALWAYS(sim_fd_add(daemon->os, pair[0], SIM_FD_IN | SIM_FD_EDGE, i) == RT_OK);
    }
    sim_loop_new(world, "daemon", daemon_main, daemon);
    sim_loop_new_background(world, "controller", controller_main, daemon);
    sim_loop_new(world, "sender", sender_main, daemon);
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

SIM_SCENARIO(form_broken, .name = "unseen/d-nested/broken",
        .about = "A synchronous request inside a callback.", .setup = setup_broken,
        .expect = SIM_VERDICT_LOST_WAKEUP, .expect_also = SIM_VERDICT_DEADLOCK);
SIM_SCENARIO(form_fixed, .name = "unseen/d-nested/fixed",
        .about = "A synchronous request inside a callback.", .setup = setup_fixed);
