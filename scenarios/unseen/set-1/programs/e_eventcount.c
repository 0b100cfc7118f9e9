/*
 * e_eventcount.c -- An eventcount: consumers take a ticket (the epoch), check their queue, and
 * sleep until the epoch has moved; producers advance the epoch if anybody waits. Two consumer
 * threads, one producer.
 *
 * Cause: prepare_wait() reads the epoch before it counts itself as a waiter, and the check
 * between is not repeated, so a producer that sees no waiter does not advance the epoch and
 * rings no one.
 * Where: consumer_main
 * Kind: check, then announce
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "sim/rewake.h"

#define CONSUMERS 2
#define ITEMS 4

static bool fixed;

struct eventcount {
    struct sim_fds *os[CONSUMERS];
    int futex[CONSUMERS];
    uint32_t epoch;
    uint32_t waiters;
    uint32_t items;
    uint32_t taken;
};

struct consumer {
    struct eventcount *ec;
    uint32_t number;
};

static void
notify_all(struct eventcount *ec)
{
    if (ec->waiters == 0) {
        return;
    }
    ec->epoch++;
    for (uint32_t i = 0; i < CONSUMERS; i++) {
        SIM_ALWAYS(sim_fd_notify(ec->os[i], ec->futex[i]) == RT_OK);
    }
}

static bool
take(struct eventcount *ec)
{
    if (ec->items == 0) {
        return ec->taken == ITEMS;
    }
    ec->items--;
    ec->taken++;
    SIM_PROGRESS();
    if (ec->taken == ITEMS) {
        notify_all(ec);
    }
    return true;
}

static void
consumer_main(struct sim_world *world, void *argument)
{
    struct consumer *consumer = argument;
    struct eventcount *ec = consumer->ec;
    struct sim_fd_event event;
    uint64_t count;
    while (ec->taken < ITEMS) {
        if (take(ec)) {
            continue;
        }
        uint32_t epoch = ec->epoch;
        sim_loop_pause(world); /* Preempted: nothing is atomic here. */
        ec->waiters++;         /* Where. */
        if (!fixed || !take(ec)) {
            while (ec->epoch == epoch) {
                sim_fd_wait(ec->os[consumer->number], &event, 1, SIM_NEVER);
                sim_fd_read(ec->os[consumer->number], ec->futex[consumer->number], &count,
                        sizeof(count));
            }
        }
        ec->waiters--;
    }
}

static void
producer_main(struct sim_world *world, void *argument)
{
    struct eventcount *ec = argument;
    for (int i = 0; i < ITEMS; i++) {
        sim_sleep(world, sim_range(world, 0, 600));
        ec->items++;
        notify_all(ec);
    }
}

static void
setup(struct sim_world *world)
{
    static const char *const names[CONSUMERS] = {"consumer-0", "consumer-1"};
    struct eventcount *ec = sim_new(world, struct eventcount);
    struct sim_host *host = sim_host_new(world, NULL, SIM_PROFILE_DEFAULT);
    for (uint32_t i = 0; i < CONSUMERS; i++) {
        struct consumer *consumer = sim_new(world, struct consumer);
        ec->os[i] = sim_fds_new(host, 3);
        SIM_ALWAYS(sim_fd_event_open(ec->os[i], "futex", &ec->futex[i]) == RT_OK);
        SIM_ALWAYS(sim_fd_add(ec->os[i], ec->futex[i], SIM_FD_IN, 0) == RT_OK);
        consumer->ec = ec;
        consumer->number = i;
        sim_loop_new(world, names[i], consumer_main, consumer);
    }
    sim_loop_new(world, "producer", producer_main, ec);
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

SIM_SCENARIO(form_broken, .name = "unseen/e-eventcount/broken",
        .about = "An eventcount with two consumers.", .setup = setup_broken,
        .expect = SIM_VERDICT_LOST_WAKEUP, .expect_also = SIM_VERDICT_DEADLOCK);
SIM_SCENARIO(form_fixed, .name = "unseen/e-eventcount/fixed",
        .about = "An eventcount with two consumers.", .setup = setup_fixed);
