/* Cause: gate_main(), line 69: a report that was fetched in the same batch is for a lane that was closed meanwhile, and is applied to the new lane that got its number; repair: compare the generation that the report carries. */
#include <sim/rewake.h>

#define NUMBERS 32

struct lane {
    bool open;
    uint32_t generation;
};

struct gate {
    struct sim_fds *fds;
    struct lane lanes[NUMBERS];
    int first[2];
    int drivers[2];
    int next[2];
    int next_drivers[2];
    unsigned passed;
    bool opened_next;
    bool checks;
};

static void
open_lane(struct gate *gate, int *ret_lane, int *ret_driver)
{
    int pair[2];
    SIM_ALWAYS(sim_fd_pair(gate->fds, "lane", 100 * RT_US, 1 * RT_MS, pair) == RT_OK);
    struct lane *lane = &gate->lanes[pair[0]];
    lane->open = true;
    lane->generation++;
    SIM_ALWAYS(sim_fd_add(gate->fds, pair[0], SIM_FD_IN | SIM_FD_EDGE,
                       (uint64_t)lane->generation << 32 | (uint32_t)pair[0]) == RT_OK);
    *ret_lane = pair[0];
    *ret_driver = pair[1];
}

static void
close_lane(struct gate *gate, int number)
{
    gate->lanes[number].open = false;
    SIM_ALWAYS(sim_fd_close(gate->fds, number) == RT_OK);
}

/* The first toll is for both lanes of the convoy; the two that follow open in their places. */
static void
convoy_passes(struct gate *gate)
{
    for (int i = 0; i < 2; i++) {
        close_lane(gate, gate->first[i]);
    }
    for (int i = 0; i < 2; i++) {
        open_lane(gate, &gate->next[i], &gate->next_drivers[i]);
    }
    gate->opened_next = true;
}

static void
gate_main(struct sim_world *world, void *argument)
{
    struct gate *gate = argument;
    (void)world;
    while (gate->passed < 2) {
        struct sim_fd_event events[4];
        uint32_t count = sim_fd_wait(gate->fds, events, 4, SIM_NEVER);
        for (uint32_t i = 0; i < count; i++) {
            int number = (int)(uint32_t)events[i].data;
            struct lane *lane = &gate->lanes[number];
            char coin;
            if (!lane->open || (gate->checks && lane->generation != events[i].data >> 32)) {
                continue;
            }
            if (!gate->opened_next) {
                convoy_passes(gate);
                continue;
            }
            SIM_ALWAYS(sim_fd_read(gate->fds, number, &coin, 1) == 1);
            gate->passed++;
        }
    }
}

/* Both pay at the same time. */
static void
convoy_main(struct sim_world *world, void *argument)
{
    struct gate *gate = argument;
    for (int i = 0; i < 2; i++) {
        (void)sim_fd_write(gate->fds, gate->drivers[i], "c", 1);
    }
    while (!gate->opened_next) {
        sim_sleep(world, 1 * RT_MS);
    }
    for (int i = 0; i < 2; i++) {
        sim_sleep(world, sim_range(world, 1 * RT_MS, 3 * RT_MS));
        (void)sim_fd_write(gate->fds, gate->next_drivers[i], "c", 1);
    }
}

static void
set_up(struct sim_world *world, bool checks)
{
    struct gate *gate = sim_new(world, struct gate);
    gate->fds = sim_fds_new(sim_host_new(world, "road", SIM_PROFILE_FD), 0);
    gate->checks = checks;
    for (int i = 0; i < 2; i++) {
        open_lane(gate, &gate->first[i], &gate->drivers[i]);
    }
    (void)sim_loop_new(world, "gate", gate_main, gate);
    (void)sim_loop_new(world, "convoy", convoy_main, gate);
}

static void
set_up_broken(struct sim_world *world)
{
    set_up(world, false);
}

static void
set_up_fixed(struct sim_world *world)
{
    set_up(world, true);
}

SIM_SCENARIO(broken, .name = "s18/tollgate/broken", .about = "A convoy pays, the next lanes open.",
        .setup = set_up_broken);
SIM_SCENARIO(fixed, .name = "s18/tollgate/fixed", .about = "A convoy pays, the next lanes open.",
        .setup = set_up_fixed);
