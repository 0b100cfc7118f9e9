// Cause: s2_stop.c:52 the acceptor starts the next accept whenever one has ended: if a connection has just come when the stop is asked for, the cancel finds nothing to end, the new accept begins after it, and nobody cancels that one.
// SPDX-License-Identifier: Apache-2.0
// clang-format off
#include <sim/rewake.h>

enum { ACCEPT = 1, CANCEL };

struct acceptor {
    struct sim_world *world;
    struct rt_host *host;
    struct sim_ring *ring;
    struct rt_completion_host *seam;
    struct rt_pollable completions, bell;
    int32_t listener;
    bool fixed;
    bool stop; /* asked for, by another thread */
    bool accepting, cancelling, cancel_sent, stopper_over;
    uint32_t accepted;
};

static void start(struct acceptor *acceptor, const struct rt_submission *submission)
{
    SIM_ALWAYS(acceptor->seam->ops->push(acceptor->seam, submission) == RT_OK);
    while (acceptor->seam->ops->enter(acceptor->seam) == RT_E_AGAIN)
        sim_sleep(acceptor->world, 100 * RT_US);
}

static void start_accept(struct acceptor *acceptor)
{
    struct rt_submission accept = {
            .opcode = RT_OPCODE_ACCEPT, .target = acceptor->listener, .user_data = ACCEPT};
    acceptor->accepting = true;
    start(acceptor, &accept);
}

static void start_cancel(struct acceptor *acceptor)
{
    struct rt_submission cancel = {
            .opcode = RT_OPCODE_CANCEL, .user_data = CANCEL, .cancels = ACCEPT};
    acceptor->cancelling = acceptor->cancel_sent = true;
    start(acceptor, &cancel);
}

static void on_accept(struct acceptor *acceptor, int32_t result)
{
    acceptor->accepting = false;
    if (result < 0)
        return; /* RT_E_CANCELLED */
    acceptor->accepted++;
    SIM_ALWAYS(sim_ring_close(acceptor->ring, result) == RT_OK); /* serves it */
    if (!acceptor->fixed || !acceptor->cancel_sent)
        start_accept(acceptor);
}

static void acceptor_main(struct sim_world *world, void *argument)
{
    struct acceptor *acceptor = argument;
    start_accept(acceptor);
    while (acceptor->accepting || acceptor->cancelling || !acceptor->cancel_sent) {
        struct rt_pollable *list[2] = {&acceptor->completions, &acceptor->bell};
        struct rt_completion completion;
        uint32_t ready[2], count = 2;
        if (acceptor->stop && !acceptor->cancel_sent)
            start_cancel(acceptor);
        SIM_ALWAYS(rt_host_poll(acceptor->host, list, 2, ready, &count) == RT_OK);
        while (acceptor->seam->ops->reap(acceptor->seam, &completion, 1) == 1) {
            if (completion.user_data == CANCEL)
                acceptor->cancelling = false;
            else
                on_accept(acceptor, completion.result);
        }
    }
    while (!acceptor->stopper_over)
        sim_sleep(world, 100 * RT_US);
    SIM_ALWAYS(sim_ring_close(acceptor->ring, acceptor->listener) == RT_OK);
    rt_pollable_drop(&acceptor->completions);
    rt_pollable_drop(&acceptor->bell);
}

static void stopper_main(struct sim_world *world, void *argument)
{
    struct acceptor *acceptor = argument;
    sim_sleep(world, sim_range(world, 20 * RT_MS, 30 * RT_MS) - sim_range(world, 0, 20 * RT_MS));
    acceptor->stop = true;
    rt_host_notify(acceptor->host);
    acceptor->stopper_over = true;
}

static void setup(struct sim_world *world, bool fixed)
{
    struct acceptor *acceptor = sim_new(world, struct acceptor);
    struct sim_host *host = sim_host_new(world, NULL, SIM_PROFILE_DEFAULT);
    acceptor->host = sim_host_seam(host);
    acceptor->ring = sim_ring_new(host, "ring", &(struct sim_ring_options){.submissions = 8,
            .completions = 8, .min_ns = 10 * RT_US, .max_ns = 500 * RT_US});
    acceptor->seam = sim_ring_seam(acceptor->ring);
    acceptor->world = world;
    acceptor->fixed = fixed;
    acceptor->listener = sim_ring_listener(acceptor->ring, "port", 2, "GET", 2 * RT_MS, 6 * RT_MS);
    SIM_ALWAYS(acceptor->seam->ops->subscribe(acceptor->seam, &acceptor->completions) == RT_OK);
    SIM_ALWAYS(rt_host_subscribe(acceptor->host, RT_SUBSCRIBE_NOTIFY, 0, &acceptor->bell) == RT_OK);
    (void)sim_loop_new(world, "acceptor", acceptor_main, acceptor);
    (void)sim_loop_new(world, "stopper", stopper_main, acceptor);
}

static void setup_broken(struct sim_world *world) { setup(world, false); }
static void setup_fixed(struct sim_world *world) { setup(world, true); }

SIM_SCENARIO(broken, .name = "set2/stop/broken", .about = "A stop that meets an accept which has just ended.",
        .setup = setup_broken, .expect = SIM_VERDICT_DEADLOCK, .expect_also = SIM_VERDICT_LOST_WAKEUP);
SIM_SCENARIO(fixed, .name = "set2/stop/fixed", .about = "No accept is started after the cancel was sent.",
        .setup = setup_fixed);
