// Cause: s3_mesh.c:69 a shard whose message finds the other's inbox full waits for space there without emptying its own inbox; when both do that each waits for the other.
// SPDX-License-Identifier: Apache-2.0
// clang-format off
#include <sim/rewake.h>

#define MESSAGES 8
#define ROOM 2

struct shard {
    const char *name;
    struct shard *other;
    struct sim_fds *fds;
    int bell;
    uint32_t inbox[ROOM];
    uint32_t head;
    uint32_t tail;
    uint32_t sent;
    uint32_t received;
    uint32_t sum;
    bool fixed;
};

static void
shard_ring(struct shard *shard)
{
    SIM_ALWAYS(sim_fd_notify(shard->fds, shard->bell) == RT_OK);
}

/* Until the other has put something in, or taken something out. */
static void
shard_sleep(struct shard *shard)
{
    struct sim_fd_event event;
    uint64_t counter;
    do {
        (void)sim_fd_wait(shard->fds, &event, 1, SIM_NEVER);
    } while (sim_fd_read(shard->fds, shard->bell, &counter, sizeof counter) < 0);
}

static bool
shard_take(struct shard *shard)
{
    bool any = shard->head != shard->tail;
    while (shard->head != shard->tail) {
        shard->sum += shard->inbox[shard->head++ % ROOM];
        shard->received++;
        SIM_PROGRESS();
    }
    if (any) {
        shard_ring(shard->other);
    }
    return any;
}

static bool
shard_is_full(const struct shard *shard)
{
    return shard->tail - shard->head == ROOM;
}

static void
shard_send(struct shard *shard, uint32_t message)
{
    struct shard *to = shard->other;
    while (shard_is_full(to)) {
        if (shard->fixed && shard_take(shard)) {
            continue;
        }
        shard_sleep(shard);
    }
    to->inbox[to->tail++ % ROOM] = message;
    shard->sent++;
    shard_ring(to);
}

static void
shard_main(struct sim_world *world, void *argument)
{
    struct shard *shard = argument;
    while (shard->sent < MESSAGES) {
        uint32_t burst = 1 + sim_pick(world, 4);
        for (uint32_t i = 0; i < burst && shard->sent < MESSAGES; i++) {
            shard_send(shard, shard->sent);
        }
        shard_take(shard);
        sim_sleep(world, sim_range(world, RT_MS / 10, RT_MS));
    }
    while (shard->received < MESSAGES) {
        if (!shard_take(shard)) {
            shard_sleep(shard);
        }
    }
}

static void
setup(struct sim_world *world, bool fixed)
{
    static const char *const names[2] = {"shard 0", "shard 1"};
    static const char *const hosts[2] = {"host 0", "host 1"};
    struct shard *shards = sim_zalloc(world, 2 * sizeof *shards);
    for (uint32_t i = 0; i < 2; i++) {
        struct shard *shard = &shards[i];
        shard->name = names[i];
        shard->other = &shards[1 - i];
        shard->fixed = fixed;
        shard->fds = sim_fds_new(sim_host_new(world, hosts[i], SIM_PROFILE_FD), 3);
        SIM_ALWAYS(sim_fd_event_open(shard->fds, "bell", &shard->bell) == RT_OK);
        SIM_ALWAYS(sim_fd_add(shard->fds, shard->bell, SIM_FD_IN, 0) == RT_OK);
        (void)sim_loop_new(world, names[i], shard_main, shard);
    }
}

static void setup_broken(struct sim_world *world) { setup(world, false); }
static void setup_fixed(struct sim_world *world) { setup(world, true); }

SIM_SCENARIO(broken, .name = "set3/s3_mesh/broken", .about = "Two shards with small inboxes.",
        .setup = setup_broken);
SIM_SCENARIO(fixed, .name = "set3/s3_mesh/fixed", .about = "Two shards with small inboxes.",
        .setup = setup_fixed);
