/*
 * A depot: lorries (threads) put parcels on a belt, and ring only when the belt was empty; the
 * depot reads its eventfd, takes all that is on the belt, and waits without another look.
 */
#include <sim/rewake.h>

#define LORRIES 2
#define PARCELS 3

struct depot {
    struct sim_fds *fds;
    int bell;
    uint32_t belt;
    uint32_t stored;
};

static void
depot_main(struct sim_world *world, void *argument)
{
    struct depot *depot = argument;
    while (depot->stored < LORRIES * PARCELS) {
        struct sim_fd_event event;
        uint64_t rings;
        if (sim_fd_wait(depot->fds, &event, 1, SIM_NEVER) == 0) {
            continue;
        }
        (void)sim_fd_read(depot->fds, depot->bell, &rings, sizeof(rings));
        while (depot->belt > 0) {
            depot->belt--;
            depot->stored++;
            SIM_PROGRESS();
            sim_loop_pause(world); /* It is carried to its shelf. */
        }
    }
}

static void
lorry_main(struct sim_world *world, void *argument)
{
    struct depot *depot = argument;
    for (uint32_t i = 0; i < PARCELS; i++) {
        if (sim_pick(world, 2) == 1) {
            sim_sleep(world, sim_range(world, 0, RT_MS));
        }
        if (depot->belt++ == 0) {
            SIM_ALWAYS(sim_fd_notify(depot->fds, depot->bell) == RT_OK);
        }
    }
}

static void
set_up(struct sim_world *world)
{
    struct depot *depot = sim_new(world, struct depot);
    depot->fds = sim_fds_new(sim_host_new(world, NULL, SIM_PROFILE_FD), 3);
    SIM_ALWAYS(sim_fd_event_open(depot->fds, "the bell", &depot->bell) == RT_OK);
    SIM_ALWAYS(sim_fd_add(depot->fds, depot->bell, SIM_FD_IN, 0) == RT_OK);
    (void)sim_loop_new(world, "depot", depot_main, depot);
    (void)sim_loop_new(world, "lorry 1", lorry_main, depot);
    (void)sim_loop_new(world, "lorry 2", lorry_main, depot);
}

SIM_SCENARIO(depot, .name = "ok17/depot", .about = "Rings for the first parcel.", .setup = set_up);

/* SPDX-License-Identifier: Apache-2.0 */
