// Cause: s2_partial.c:25 the callback of a one-shot registration leaves without arming it again when a frame has arrived only in part: the rest of the frame arrives and is never reported.
// SPDX-License-Identifier: Apache-2.0
// clang-format off
#include <sim/rewake.h>

#define FRAMES 3
#define FRAME 8u

struct receiver {
    struct sim_fds *fds;
    int line[2];
    bool fixed;
    char frame[FRAME];
    uint32_t got, frames;
    int watcher;
};

static void on_readable(struct receiver *receiver)
{
    int64_t n = sim_fd_read(receiver->fds, receiver->line[0], receiver->frame + receiver->got,
            FRAME - receiver->got);
    if (n > 0)
        receiver->got += (uint32_t)n;
    if (n > 0 && receiver->got < FRAME && !receiver->fixed)
        return;
    if (receiver->got == FRAME) {
        receiver->got = 0;
        receiver->frames++;
    }
    SIM_ALWAYS(sim_fd_modify(receiver->fds, receiver->line[0], SIM_FD_IN | SIM_FD_ONESHOT, 0) == RT_OK);
}

static void call(struct receiver *receiver)
{
    sim_foreign_poll(&receiver->watcher);
    on_readable(receiver);
    sim_foreign_polled(&receiver->watcher, false);
}

static void again(void *receiver, void *watcher)
{
    (void)watcher;
    call(receiver);
}

static void loop_main(struct sim_world *world, void *argument)
{
    struct receiver *receiver = argument;
    (void)world;
    while (receiver->frames < FRAMES) {
        struct sim_fd_event event;
        if (sim_fd_wait(receiver->fds, &event, 1, SIM_NEVER) == 1)
            call(receiver);
    }
    SIM_ALWAYS(sim_fd_close(receiver->fds, receiver->line[0]) == RT_OK);
}

static void send(struct sim_world *world, struct receiver *receiver, const char *bytes, size_t size)
{
    for (size_t at = 0; at < size;) {
        int64_t n = sim_fd_write(receiver->fds, receiver->line[1], bytes + at, size - at);
        if (n > 0)
            at += (size_t)n;
        else
            sim_sleep(world, 100 * RT_US);
    }
}

static void sender_main(struct sim_world *world, void *argument)
{
    struct receiver *receiver = argument;
    for (int i = 0; i < FRAMES; i++) {
        sim_sleep(world, sim_range(world, 3 * RT_MS, 5 * RT_MS));
        send(world, receiver, "HDR.BODY", FRAME);
    }
}

static void setup(struct sim_world *world, bool fixed)
{
    struct receiver *receiver = sim_new(world, struct receiver);
    struct sim_fds *fds = sim_fds_new(sim_host_new(world, NULL, SIM_PROFILE_FD), 3);
    receiver->fds = fds;
    receiver->fixed = fixed;
    SIM_ALWAYS(sim_fd_pair(fds, "line", 100 * RT_US, 2 * RT_MS, receiver->line) == RT_OK);
    SIM_ALWAYS(sim_fd_add(fds, receiver->line[0], SIM_FD_IN | SIM_FD_ONESHOT, 0) == RT_OK);
    struct sim_loop *loop = sim_loop_new(world, "receiver", loop_main, receiver);
    struct sim_foreign *foreign = sim_foreign_new(loop, again, receiver);
    sim_foreign_watch(foreign, &receiver->watcher, "line", "a frame");
    (void)sim_loop_new(world, "sender", sender_main, receiver);
}

static void setup_broken(struct sim_world *world) { setup(world, false); }
static void setup_fixed(struct sim_world *world) { setup(world, true); }

SIM_SCENARIO(broken, .name = "set2/partial/broken", .about = "A one-shot registration is armed for whole frames only.",
        .setup = setup_broken, .expect = SIM_VERDICT_LOST_WAKEUP);
SIM_SCENARIO(fixed, .name = "set2/partial/fixed", .about = "A one-shot registration is armed after each read.",
        .setup = setup_fixed);
