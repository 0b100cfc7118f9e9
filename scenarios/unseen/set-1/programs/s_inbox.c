/*
 * s_inbox.c -- Two event loops pass requests to a third through its inbox; a push wakes the
 * receiver only if the inbox was empty. The receiver takes at most two requests in a turn.
 *
 * Cause: The receiver blocks after a turn that took the maximum although the inbox is not empty,
 * and further pushes see a non-empty inbox and do not wake it.
 * Where: receiver_main
 * Kind: batch limit leaves work without a wake
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "sim/rewake.h"

#define SENDERS 2
#define EACH 3
#define BATCH 2

static bool fixed;

struct inbox {
    struct sim_fds *os;
    int eventfd;
    uint32_t length;
    uint32_t handled;
};

static void
inbox_push(struct inbox *inbox)
{
    bool was_empty = inbox->length == 0;
    inbox->length++;
    if (was_empty) {
        SIM_ALWAYS(sim_fd_notify(inbox->os, inbox->eventfd) == RT_OK);
    }
}

static void
receiver_main(struct sim_world *world, void *argument)
{
    struct inbox *inbox = argument;
    struct sim_fd_event event;
    uint64_t count;
    while (inbox->handled < SENDERS * EACH) {
        sim_fd_wait(inbox->os, &event, 1, SIM_NEVER);
        sim_fd_read(inbox->os, inbox->eventfd, &count, sizeof(count));
        for (int i = 0; i < BATCH && inbox->length > 0; i++) {
            inbox->length--;
            inbox->handled++;
            SIM_PROGRESS();
            sim_loop_pause(world); /* Handles it. */
        }
        if (inbox->length > 0 && fixed) { /* Where. */
            SIM_ALWAYS(sim_fd_notify(inbox->os, inbox->eventfd) == RT_OK);
        }
    }
}

static void
sender_main(struct sim_world *world, void *argument)
{
    for (int i = 0; i < EACH; i++) {
        sim_sleep(world, sim_range(world, 300, 3000));
        inbox_push(argument);
    }
}

static void
setup(struct sim_world *world)
{
    struct inbox *inbox = sim_new(world, struct inbox);
    inbox->os = sim_fds_new(sim_host_new(world, NULL, SIM_PROFILE_DEFAULT), 3);
    SIM_ALWAYS(sim_fd_event_open(inbox->os, "inbox", &inbox->eventfd) == RT_OK);
    SIM_ALWAYS(sim_fd_add(inbox->os, inbox->eventfd, SIM_FD_IN, 0) == RT_OK);
    sim_loop_new(world, "receiver", receiver_main, inbox);
    sim_loop_new(world, "shard-0", sender_main, inbox);
    sim_loop_new(world, "shard-1", sender_main, inbox);
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

SIM_SCENARIO(form_broken, .name = "unseen/s-inbox/broken", .about = "An inbox with a batch limit.",
        .setup = setup_broken, .expect = SIM_VERDICT_LOST_WAKEUP);
SIM_SCENARIO(form_fixed, .name = "unseen/s-inbox/fixed", .about = "An inbox with a batch limit.",
        .setup = setup_fixed);
