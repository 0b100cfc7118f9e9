/*
 * s_circle.c -- Two services, each a loop with an inbox. A service that handles a request may
 * have to ask the other one, with a synchronous call that waits for the reply.
 *
 * Cause: While call() waits for its reply it does not serve the requests in its own inbox, so
 * two services that call each other at the same time wait for each other forever.
 * Where: call
 * Kind: deadlock circle
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "sim/rewake.h"

static bool fixed;

struct service {
    struct sim_world *world;
    struct sim_fds *os;
    int bell;
    struct service *other;
    int requests; /* In the inbox. */
    int replies;
    int calls_left;
    int served;
};

static void
ring(struct service *service)
{
    SIM_ALWAYS(sim_fd_notify(service->os, service->bell) == RT_OK);
}

static void
serve(struct service *service)
{
    while (service->requests > 0) {
        service->requests--;
        service->served++;
        SIM_PROGRESS();
        service->other->replies++;
        ring(service->other);
    }
}

static void
wait(struct service *service)
{
    struct sim_fd_event event;
    uint64_t count;
    sim_fd_wait(service->os, &event, 1, SIM_NEVER);
    sim_fd_read(service->os, service->bell, &count, sizeof(count));
}

static void
call(struct service *service)
{
    service->other->requests++;
    ring(service->other);
    while (service->replies == 0) {
        if (fixed) {
            serve(service);
        }
        if (service->replies == 0) {
            wait(service); /* Where. */
        }
    }
    service->replies--;
}

static void
service_main(struct sim_world *world, void *argument)
{
    struct service *service = argument;
    while (service->calls_left > 0) {
        serve(service);
        sim_sleep(world, sim_range(world, 1000, 9000)); /* Handles a request of a client. */
        call(service);
        service->calls_left--;
    }
    while (service->served < 2) {
        serve(service);
        if (service->served < 2) {
            wait(service);
        }
    }
}

static void
setup(struct sim_world *world)
{
    static const char *const names[] = {"users", "orders"};
    struct sim_host *host = sim_host_new(world, NULL, SIM_PROFILE_DEFAULT);
    struct service *service[2];
    for (int i = 0; i < 2; i++) {
        service[i] = sim_new(world, struct service);
        service[i]->world = world;
        service[i]->calls_left = 2;
        service[i]->os = sim_fds_new(host, 3);
        SIM_ALWAYS(sim_fd_event_open(service[i]->os, "bell", &service[i]->bell) == RT_OK);
        SIM_ALWAYS(sim_fd_add(service[i]->os, service[i]->bell, SIM_FD_IN, 0) == RT_OK);
        sim_loop_new(world, names[i], service_main, service[i]);
    }
    service[0]->other = service[1];
    service[1]->other = service[0];
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

SIM_SCENARIO(form_broken, .name = "unseen/s-circle/broken",
        .about = "Two services that call each other.", .setup = setup_broken,
        .expect = SIM_VERDICT_DEADLOCK);
SIM_SCENARIO(form_fixed, .name = "unseen/s-circle/fixed",
        .about = "Two services that call each other.", .setup = setup_fixed);
