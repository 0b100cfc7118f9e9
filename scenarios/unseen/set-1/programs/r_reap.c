/*
 * r_reap.c -- A proactor thread: another thread registers reads; completions are found by
 * waiting on the ring's pollable and a wake-up bell in one call.
 *
 * Cause: The proactor counts the operations in flight before it takes in newly queued reads, and
 * if the count was zero it waits for the bell alone, leaving out the completion queue.
 * Where: proactor_main
 * Kind: interest dropped
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "sim/rewake.h"

#define READS 3

static bool fixed;

struct proactor {
    struct rt_host *host;
    struct rt_completion_host *ring;
    struct rt_pollable completions;
    struct rt_pollable bell;
    int32_t device;
    char buffer[READS][8];
    uint32_t queued;
    uint32_t submitted;
    uint32_t in_flight;
    uint32_t done;
};

static void
take_in(struct proactor *p)
{
    while (p->submitted < p->queued) {
        struct rt_submission read = {.opcode = RT_OPCODE_READ,
                .target = p->device,
                .buffer = p->buffer[p->submitted],
                .size = 8,
                .user_data = p->submitted + 1};
        if (p->ring->ops->push(p->ring, &read) != RT_OK) {
            return;
        }
        p->submitted++;
        p->in_flight++;
    }
    (void)p->ring->ops->enter(p->ring);
}

static void
proactor_main(struct sim_world *world, void *argument)
{
    struct proactor *p = argument;
    struct rt_pollable *list[2] = {&p->bell, &p->completions};
    struct rt_completion completion[4];
    (void)world;
    while (p->done < READS) {
        uint32_t in_flight = p->in_flight;
        take_in(p);
        if (fixed) {
            in_flight = p->in_flight;
        }
        uint32_t ready[2];
        uint32_t count = in_flight > 0 ? 2 : 1; /* Where. */
        SIM_ALWAYS(rt_host_poll(p->host, list, count, ready, &count) == RT_OK);
        uint32_t n = p->ring->ops->reap(p->ring, completion, 4);
        p->in_flight -= n;
        p->done += n;
    }
    rt_pollable_drop(&p->completions);
    rt_pollable_drop(&p->bell);
}

static void
user_main(struct sim_world *world, void *argument)
{
    struct proactor *p = argument;
    for (int i = 0; i < READS; i++) {
        sim_sleep(world, sim_range(world, 0, 2 * RT_MS));
        p->queued++;
        rt_host_notify(p->host);
    }
}

static void
setup(struct sim_world *world)
{
    static const char data[] = "eight b.eight b.eight b.";
    struct proactor *p = sim_new(world, struct proactor);
    struct sim_host *host = sim_host_new(world, NULL, SIM_PROFILE_DEFAULT);
    struct sim_ring *ring = sim_ring_new(host, "ring", NULL);
    p->host = sim_host_seam(host);
    p->ring = sim_ring_seam(ring);
    p->device = sim_ring_device(ring, "disk", data, 24, 8, 1000, RT_MS);
    SIM_ALWAYS(p->ring->ops->subscribe(p->ring, &p->completions) == RT_OK);
    SIM_ALWAYS(rt_host_subscribe(p->host, RT_SUBSCRIBE_NOTIFY, 0, &p->bell) == RT_OK);
    sim_loop_new(world, "proactor", proactor_main, p);
    sim_loop_new(world, "user", user_main, p);
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

SIM_SCENARIO(form_broken, .name = "unseen/r-reap/broken",
        .about = "A proactor that waits for a bell and for completions.", .setup = setup_broken,
        .expect = SIM_VERDICT_LOST_WAKEUP);
SIM_SCENARIO(form_fixed, .name = "unseen/r-reap/fixed",
        .about = "A proactor that waits for a bell and for completions.", .setup = setup_fixed);
