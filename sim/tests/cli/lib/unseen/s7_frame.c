// Cause: on_readable(), the early return for an incomplete frame: the descriptor is registered as one-shot, and this
// path leaves without registering it again. When a read brings only a part of a frame, the rest arrives at a
// descriptor that nobody watches any more, and the loop sleeps forever.
// SPDX-License-Identifier: Apache-2.0
// clang-format off
#include <sim/rewake.h>

#define FRAME 8
#define FRAMES 4u

struct receiver {
    struct sim_world *world;
    struct sim_fds *fds;
    int fd;
    int peer;
    char frame[FRAME];
    uint32_t have;
    uint32_t frames;
    bool rearms_always;
};

static void
rearm(struct receiver *receiver)
{
    SIM_ALWAYS(sim_fd_modify(receiver->fds, receiver->fd, SIM_FD_IN | SIM_FD_ONESHOT, 0) == RT_OK);
}

static void
handle_frame(struct receiver *receiver)
{
    SIM_ALWAYS(receiver->frame[0] == '<' && receiver->frame[FRAME - 1] == '>');
    receiver->have = 0;
    receiver->frames++;
}

static void
on_readable(struct receiver *receiver)
{
    int64_t size = sim_fd_read(
            receiver->fds, receiver->fd, receiver->frame + receiver->have, FRAME - receiver->have);
    if (size == RT_E_AGAIN) {
        rearm(receiver);
        return;
    }
    SIM_ALWAYS(size > 0);
    receiver->have += (uint32_t)size;
    if (receiver->have < FRAME) {
        if (receiver->rearms_always) {
            rearm(receiver);
        }
        return;
    }
    handle_frame(receiver);
    rearm(receiver);
}

static void
receiver_main(struct sim_world *world, void *argument)
{
    struct receiver *receiver = argument;
    (void)world;
    while (receiver->frames < FRAMES) {
        struct sim_fd_event event;
        if (sim_fd_wait(receiver->fds, &event, 1, SIM_NEVER) > 0) {
            on_readable(receiver);
        }
    }
}

static void
sender_main(struct sim_world *world, void *argument)
{
    struct receiver *receiver = argument;
    for (uint32_t i = 0; i < FRAMES; i++) {
        sim_sleep(world, sim_range(world, 10 * RT_US, 100 * RT_US));
        const char *rest = "<abcdef>";
        for (int64_t left = FRAME; left > 0;) {
            int64_t size = sim_fd_write(receiver->fds, receiver->peer, rest, (size_t)left);
            SIM_ALWAYS(size > 0);
            rest += size;
            left -= size;
        }
    }
}

static void
begin(struct sim_world *world, bool rearms_always)
{
    struct receiver *receiver = sim_new(world, struct receiver);
    int ends[2];
    receiver->world = world;
    receiver->rearms_always = rearms_always;
    receiver->fds = sim_fds_new(sim_host_new(world, NULL, SIM_PROFILE_DEFAULT), 3);
    SIM_ALWAYS(sim_fd_pair(receiver->fds, "connection", RT_US, RT_MS, ends) == RT_OK);
    receiver->fd = ends[0];
    receiver->peer = ends[1];
    SIM_ALWAYS(sim_fd_add(receiver->fds, ends[0], SIM_FD_IN | SIM_FD_ONESHOT, 0) == RT_OK);
    (void)sim_loop_new(world, "receiver", receiver_main, receiver);
    (void)sim_loop_new(world, "sender", sender_main, receiver);
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

SIM_SCENARIO(frame_broken, .name = "set7/s7_frame/broken",
        .about = "Frames from a descriptor that is registered as one-shot.", .setup = setup_broken,
        .profile = SIM_PROFILE_FD);
SIM_SCENARIO(frame_fixed, .name = "set7/s7_frame/fixed",
        .about = "Frames from a descriptor that is registered as one-shot.", .setup = setup_fixed,
        .profile = SIM_PROFILE_FD);
