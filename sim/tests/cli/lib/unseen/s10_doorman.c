// SPDX-License-Identifier: Apache-2.0
/* Cause: on_listener() line 32: the loop stops after two accepts although the listener's events are edges;
 * a third connection that was there already is reported by no further edge. Repair: remember that the
 * listener was not emptied, and accept again in the next turn (`again`, line 50). */
#include <sim/rewake.h>

#define GUESTS 5
#define BUDGET 2

struct doorman {
    struct sim_fds *fds;
    int listener;
    uint32_t seated;
    bool again; /* The listener was not emptied. */
    bool thorough;
};

static void
seat(struct sim_world *world, struct doorman *doorman, int guest)
{
    char line[32];
    sim_work(world, 20 * RT_US);
    (void)sim_fd_read(doorman->fds, guest, line, sizeof(line));
    SIM_ALWAYS(sim_fd_close(doorman->fds, guest) == RT_OK);
    doorman->seated++;
}

/* Others want to be served, too: a few at a time. */
static void
on_listener(struct sim_world *world, struct doorman *doorman)
{
    doorman->again = true;
    for (uint32_t i = 0; i < BUDGET; i++) {
        int guest;
        rt_err err = sim_fd_accept(doorman->fds, doorman->listener, &guest, NULL);
        if (err == RT_E_AGAIN) {
            doorman->again = false;
            break;
        }
        SIM_ALWAYS(err == RT_OK);
        seat(world, doorman, guest);
    }
}

static void
doorman_main(struct sim_world *world, void *argument)
{
    struct doorman *doorman = argument;
    while (doorman->seated < GUESTS) {
        struct sim_fd_event event;
        uint64_t timeout_ns = doorman->thorough && doorman->again ? 0 : SIM_NEVER;
        uint32_t count = sim_fd_wait(doorman->fds, &event, 1, timeout_ns);
        if (count > 0 || timeout_ns == 0) {
            on_listener(world, doorman);
        }
    }
}

static void
begin(struct sim_world *world, bool thorough)
{
    struct sim_host *host = sim_host_new(world, NULL, SIM_PROFILE_DEFAULT);
    struct doorman *doorman = sim_new(world, struct doorman);
    doorman->thorough = thorough;
    doorman->fds = sim_fds_new(host, 3);
    SIM_ALWAYS(sim_fd_listen(doorman->fds, "door", GUESTS, 100 * RT_US, 2 * RT_MS,
                       &doorman->listener) == RT_OK);
    SIM_ALWAYS(sim_fd_add(doorman->fds, doorman->listener, SIM_FD_IN | SIM_FD_EDGE, 0) == RT_OK);
    (void)sim_loop_new(world, "doorman", doorman_main, doorman);
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

SIM_SCENARIO(doorman_broken, .name = "s10/doorman/broken", .about = "Accepts by edges, two a turn.",
        .setup = setup_broken);
SIM_SCENARIO(doorman_fixed, .name = "s10/doorman/fixed", .about = "Accepts by edges, two a turn.",
        .setup = setup_fixed);
