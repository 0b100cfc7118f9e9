/*
 * s_backpressure.c -- A bounded queue between an acceptor loop and a worker loop. When it is
 * full the acceptor sets `blocked` and waits for the worker's "there is room" on its own
 * eventfd.
 *
 * Cause: The acceptor finds the queue full and sets `blocked` only later, without testing again;
 * the worker empties the queue in between, sees no blocked sender and wakes no one.
 * Where: queue_push
 * Kind: check, then announce
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "sim/rewake.h"

#define ROOM 2
#define ITEMS 7

static bool fixed;

struct queue {
    struct sim_fds *sender_os;
    struct sim_fds *receiver_os;
    int room_fd;
    int items_fd;
    int length;
    bool blocked;
    int statistics_fd;
};

static void
queue_push(struct queue *queue)
{
    struct sim_fd_event event;
    uint64_t count;
    while (queue->length == ROOM) {
        /* Counts the stall in a statistics eventfd. */
        SIM_ALWAYS(sim_fd_notify(queue->sender_os, queue->statistics_fd) == RT_OK);
        queue->blocked = true; /* Where. */
        if (fixed && queue->length < ROOM) {
            queue->blocked = false;
            break;
        }
        sim_fd_wait(queue->sender_os, &event, 1, SIM_NEVER);
        sim_fd_read(queue->sender_os, queue->room_fd, &count, sizeof(count));
    }
    queue->length++;
    SIM_ALWAYS(sim_fd_notify(queue->receiver_os, queue->items_fd) == RT_OK);
}

static void
acceptor_main(struct sim_world *world, void *argument)
{
    for (int i = 0; i < ITEMS; i++) {
        sim_sleep(world, sim_range(world, 0, 300));
        queue_push(argument);
    }
}

static void
worker_main(struct sim_world *world, void *argument)
{
    struct queue *queue = argument;
    struct sim_fd_event event;
    uint64_t count;
    for (int done = 0; done < ITEMS;) {
        sim_fd_wait(queue->receiver_os, &event, 1, SIM_NEVER);
        sim_fd_read(queue->receiver_os, queue->items_fd, &count, sizeof(count));
        while (queue->length > 0) {
            queue->length--;
            done++;
            SIM_PROGRESS();
            if (queue->blocked) {
                queue->blocked = false;
                SIM_ALWAYS(sim_fd_notify(queue->sender_os, queue->room_fd) == RT_OK);
            }
            sim_sleep(world, sim_range(world, 0, 500));
        }
    }
}

static void
setup(struct sim_world *world)
{
    struct queue *queue = sim_new(world, struct queue);
    struct sim_host *host = sim_host_new(world, NULL, SIM_PROFILE_DEFAULT);
    queue->sender_os = sim_fds_new(host, 3);
    queue->receiver_os = sim_fds_new(host, 3);
    SIM_ALWAYS(sim_fd_event_open(queue->sender_os, "room", &queue->room_fd) == RT_OK);
    SIM_ALWAYS(sim_fd_event_open(queue->sender_os, "statistics", &queue->statistics_fd) == RT_OK);
    SIM_ALWAYS(sim_fd_event_open(queue->receiver_os, "items", &queue->items_fd) == RT_OK);
    SIM_ALWAYS(sim_fd_add(queue->sender_os, queue->room_fd, SIM_FD_IN, 0) == RT_OK);
    SIM_ALWAYS(sim_fd_add(queue->receiver_os, queue->items_fd, SIM_FD_IN, 0) == RT_OK);
    sim_loop_new(world, "acceptor", acceptor_main, queue);
    sim_loop_new(world, "worker", worker_main, queue);
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

SIM_SCENARIO(form_broken, .name = "unseen/s-backpressure/broken",
        .about = "A bounded queue between two loops.", .setup = setup_broken,
        .expect = SIM_VERDICT_LOST_WAKEUP, .expect_also = SIM_VERDICT_DEADLOCK);
SIM_SCENARIO(form_fixed, .name = "unseen/s-backpressure/fixed",
        .about = "A bounded queue between two loops.", .setup = setup_fixed);
