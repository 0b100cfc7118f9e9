// Cause: s3_armed.c:68 the service publishes until when it sleeps only after it has released its lock; an alarm that is set in between reads 0 (it is awake and will look again), does not ring the bell, and is earlier than the time-out already computed.
// SPDX-License-Identifier: Apache-2.0
// clang-format off
#include <sim/rewake.h>

#define CLIENTS 3

struct service;

struct client {
    struct service *service;
    struct sim_fds *fds;
    int bell;
    uint64_t comes_ns;
    uint64_t waits_ns;
    uint64_t deadline; /* Of its alarm; SIM_NEVER: none is set. */
};

struct service {
    struct sim_world *world;
    struct sim_fds *fds;
    int bell;
    struct client clients[CLIENTS];
    uint64_t sleeps_until; /* 0: it does not sleep, and looks at all alarms before it does. */
    uint32_t rung;
    bool fixed;
};

static uint64_t
earliest(const struct service *service)
{
    uint64_t deadline = SIM_NEVER;
    for (uint32_t i = 0; i < CLIENTS; i++) {
        uint64_t at = service->clients[i].deadline;
        deadline = at < deadline ? at : deadline;
    }
    return deadline;
}

static void
ring(struct service *service)
{
    for (uint32_t i = 0; i < CLIENTS; i++) {
        struct client *client = &service->clients[i];
        if (client->deadline <= sim_now(service->world)) {
            client->deadline = SIM_NEVER;
            service->rung++;
            SIM_ALWAYS(sim_fd_notify(client->fds, client->bell) == RT_OK);
        }
    }
}

static void
service_main(struct sim_world *world, void *argument)
{
    struct service *service = argument;
    for (;;) {
        ring(service);
        if (service->rung == CLIENTS) {
            return;
        }
        uint64_t until = earliest(service);
        if (service->fixed) {
            service->sleeps_until = until;
        }
        sim_loop_pause(world); /* The lock is released here. */
        if (!service->fixed) {
            service->sleeps_until = until;
        }
        uint64_t now = sim_now(world);
        uint64_t timeout = until == SIM_NEVER ? SIM_NEVER : until > now ? until - now : 0;
        struct sim_fd_event event;
        uint64_t counter;
        if (sim_fd_wait(service->fds, &event, 1, timeout) > 0 &&
                sim_fd_read(service->fds, service->bell, &counter, sizeof counter) > 0) {
            sim_log(world, "the bell rang %u times", (unsigned)counter);
        }
        service->sleeps_until = 0;
    }
}

/* Each is a separate thread. */
static void
client_main(struct sim_world *world, void *argument)
{
    struct client *client = argument;
    struct service *service = client->service;
    struct sim_fd_event event;
    uint64_t counter;
    sim_sleep(world, client->comes_ns);
    client->deadline = sim_now(world) + client->waits_ns;
    if (client->deadline < service->sleeps_until) {
        SIM_ALWAYS(sim_fd_notify(service->fds, service->bell) == RT_OK);
    }
    do {
        (void)sim_fd_wait(client->fds, &event, 1, SIM_NEVER);
    } while (sim_fd_read(client->fds, client->bell, &counter, sizeof counter) < 0);
}

static void
setup(struct sim_world *world, bool fixed)
{
    static const char *const names[CLIENTS] = {"client A", "client B", "client C"};
    static const char *const hosts[CLIENTS] = {"A's", "B's", "C's"};
    struct service *service = sim_new(world, struct service);
    service->world = world;
    service->fds = sim_fds_new(sim_host_new(world, NULL, SIM_PROFILE_FD), 3);
    service->fixed = fixed;
    SIM_ALWAYS(sim_fd_event_open(service->fds, "the service's bell", &service->bell) == RT_OK);
    SIM_ALWAYS(sim_fd_add(service->fds, service->bell, SIM_FD_IN, 0) == RT_OK);
    (void)sim_loop_new(world, "service", service_main, service);
    for (uint32_t i = 0; i < CLIENTS; i++) {
        struct client *client = &service->clients[i];
        client->service = service;
        client->fds = sim_fds_new(sim_host_new(world, hosts[i], SIM_PROFILE_FD), 3);
        client->deadline = SIM_NEVER;
        client->comes_ns = sim_range(world, RT_MS, 4 * RT_MS);
        client->waits_ns = sim_range(world, 3 * RT_MS, 10 * RT_MS);
        SIM_ALWAYS(sim_fd_event_open(client->fds, names[i], &client->bell) == RT_OK);
        SIM_ALWAYS(sim_fd_add(client->fds, client->bell, SIM_FD_IN, 0) == RT_OK);
        (void)sim_loop_new(world, names[i], client_main, client);
    }
}

static void setup_broken(struct sim_world *world) { setup(world, false); }
static void setup_fixed(struct sim_world *world) { setup(world, true); }

SIM_SCENARIO(broken, .name = "set3/s3_armed/broken", .about = "A thread that keeps alarms.",
        .setup = setup_broken);
SIM_SCENARIO(fixed, .name = "set3/s3_armed/fixed", .about = "A thread that keeps alarms.",
        .setup = setup_fixed);
