/* Cause: on_lane(), line 53: the interest is one-shot, and the path for a picture of which a part has arrived leaves without asking for the lane again; the rest of the picture is never reported, and the lane stands still; repair: re-arm in that path, too. */
/*
 * A turnpike with two lanes. The camera of each lane sends pictures over a connection; a loop of
 * callbacks collects them. Interests are one-shot, so that a busy lane has to queue again.
 */
#include <sim/rewake.h>

#define LANES 2
#define PICTURES 2
#define SIZE 4u

struct lane {
    struct turnpike *turnpike;
    const char *name;
    int fd;     /* The loop's end. */
    int camera; /* The camera's end. */
    uint32_t have;
    uint32_t pictures;
    char picture[SIZE];
};

struct turnpike {
    struct sim_fds *fds;
    struct lane lanes[LANES];
    bool fixed;
};

/* Waits for the next report about this lane. */
static void
lane_arm(struct lane *lane)
{
    SIM_ALWAYS(sim_fd_modify(lane->turnpike->fds, lane->fd, SIM_FD_IN | SIM_FD_ONESHOT,
                       (uint64_t)(lane - lane->turnpike->lanes)) == RT_OK);
}

static void
lane_picture(struct lane *lane)
{
    SIM_ALWAYS(lane->picture[0] == 'P' && lane->picture[SIZE - 1] == '.');
    lane->have = 0;
    lane->pictures++;
    SIM_PROGRESS();
}

static void
on_lane(struct lane *lane)
{
    int64_t size = sim_fd_read(
            lane->turnpike->fds, lane->fd, lane->picture + lane->have, SIZE - lane->have);
    if (size > 0) {
        lane->have += (uint32_t)size;
        if (lane->have < SIZE && !lane->turnpike->fixed) {
            return;
        }
        if (lane->have == SIZE) {
            lane_picture(lane);
        }
    }
    lane_arm(lane);
}

static void
lane_call(struct lane *lane)
{
    sim_foreign_poll(lane);
    on_lane(lane);
    sim_foreign_polled(lane, lane->pictures == PICTURES);
}

static void
again(void *turnpike, void *lane)
{
    (void)turnpike;
    lane_call(lane);
}

static void
loop_main(struct sim_world *world, void *argument)
{
    struct turnpike *turnpike = argument;
    (void)world;
    while (turnpike->lanes[0].pictures + turnpike->lanes[1].pictures < LANES * PICTURES) {
        struct sim_fd_event events[LANES];
        uint32_t count = sim_fd_wait(turnpike->fds, events, LANES, SIM_NEVER);
        for (uint32_t i = 0; i < count; i++) {
            struct lane *lane = &turnpike->lanes[events[i].data];
            if (lane->pictures < PICTURES) {
                lane_call(lane);
            }
        }
    }
}

static void
camera_main(struct sim_world *world, void *argument)
{
    struct lane *lane = argument;
    for (uint32_t i = 0; i < PICTURES; i++) {
        sim_sleep(world, RT_MS);
        for (uint32_t sent = 0; sent < SIZE;) {
            int64_t size = sim_fd_write(
                    lane->turnpike->fds, lane->camera, &"Pix."[sent], SIZE - sent);
            SIM_ALWAYS(size > 0);
            sent += (uint32_t)size;
        }
    }
}

static void
set_up(struct sim_world *world, bool fixed)
{
    static const char *const names[LANES] = {"lane 1", "lane 2"};
    static const char *const cameras[LANES] = {"camera 1", "camera 2"};
    struct turnpike *turnpike = sim_new(world, struct turnpike);
    struct sim_host *host = sim_host_new(world, NULL, SIM_PROFILE_FD);
    turnpike->fds = sim_fds_new(host, 3);
    turnpike->fixed = fixed;
    struct sim_loop *loop = sim_loop_new(world, "loop", loop_main, turnpike);
    struct sim_foreign *foreign = sim_foreign_new(loop, again, turnpike);
    for (uint32_t i = 0; i < LANES; i++) {
        struct lane *lane = &turnpike->lanes[i];
        int ends[2];
        SIM_ALWAYS(sim_fd_pair(turnpike->fds, names[i], 0, RT_MS, ends) == RT_OK);
        *lane = (struct lane){.turnpike = turnpike, .fd = ends[0], .camera = ends[1]};
        SIM_ALWAYS(sim_fd_add(turnpike->fds, lane->fd, SIM_FD_IN | SIM_FD_ONESHOT, i) == RT_OK);
        sim_foreign_watch(foreign, lane, names[i], "a part of a picture");
        (void)sim_loop_new(world, cameras[i], camera_main, lane);
    }
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

SIM_SCENARIO(broken, .name = "s17/turnpike/broken", .about = "The first form.", .setup = set_up_broken);
SIM_SCENARIO(fixed, .name = "s17/turnpike/fixed", .about = "The repaired form.", .setup = set_up_fixed);

/* SPDX-License-Identifier: Apache-2.0 */
