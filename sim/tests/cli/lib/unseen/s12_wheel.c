/*
 * A wheel of sixteen slots for idle times of sessions: a count for each slot, and a mask of those in use.
 * Cause: wheel_remove() (line 67) takes the slot from `deadline`, which wheel_extend() has moved, and not the slot that the entry is linked in.
 */
#include <sim/rewake.h>

#define SLOTS 16u
#define TICK RT_MS
#define SESSIONS 3u

struct entry {
    struct entry *next;
    uint64_t deadline; /* In ticks; it may be later than its slot says. */
    uint32_t slot;
    bool linked;
};

struct wheel {
    struct entry *slots[SLOTS];
    uint32_t counts[SLOTS];
    uint32_t mask;
    uint64_t tick; /* All slots up to here were served. */
    bool fixed;
};

struct session {
    struct entry idle;
    bool done; /* It has ended, or was closed. */
};

struct server {
    struct rt_host *host;
    struct rt_pollable bell;
    struct wheel wheel;
    struct session sessions[SESSIONS];
    uint32_t open;
};

struct peer {
    struct server *server;
    uint32_t number;
};

static void
wheel_insert(struct wheel *wheel, struct entry *entry, uint64_t deadline)
{
    uint32_t slot = deadline % SLOTS;
    entry->deadline = deadline;
    entry->slot = slot;
    entry->next = wheel->slots[slot];
    entry->linked = true;
    wheel->slots[slot] = entry;
    wheel->counts[slot]++;
    wheel->mask |= 1u << slot;
}

/* Is put where it belongs when its slot is served. */
static void
wheel_extend(struct entry *entry, uint64_t deadline)
{
    entry->deadline = deadline;
}

static void
wheel_remove(struct wheel *wheel, struct entry *entry)
{
    uint32_t slot = entry->deadline % SLOTS;
    struct entry **at = &wheel->slots[entry->slot];
    if (wheel->fixed) {
        slot = entry->slot;
    }
    while (*at != entry) {
        at = &(*at)->next;
    }
    *at = entry->next;
    entry->linked = false;
    if (wheel->counts[slot] > 0 && --wheel->counts[slot] == 0) {
        wheel->mask &= ~(1u << slot);
    }
}

/* The first tick from the next one on that has a slot in use; RT_NEVER: none. */
static uint64_t
wheel_next(const struct wheel *wheel)
{
    for (uint64_t tick = wheel->tick + 1; tick <= wheel->tick + SLOTS; tick++) {
        if (wheel->mask & 1u << tick % SLOTS) {
            return tick;
        }
    }
    return RT_NEVER;
}

static void
wheel_serve(struct server *server, uint64_t tick)
{
    struct wheel *wheel = &server->wheel;
    uint32_t slot = tick % SLOTS;
    struct entry *entry = wheel->slots[slot], *next;
    wheel->tick = tick;
    wheel->slots[slot] = NULL;
    wheel->counts[slot] = 0;
    wheel->mask &= ~(1u << slot);
    for (; entry != NULL; entry = next) {
        next = entry->next;
        entry->linked = false;
        if (entry->deadline > tick) {
            wheel_insert(wheel, entry, entry->deadline);
        } else {
            struct session *session = rt_container_of(entry, struct session, idle);
            session->done = true;
            server->open--;
            SIM_PROGRESS();
        }
    }
}

static void
server_main(struct sim_world *world, void *argument)
{
    struct server *server = argument;
    while (server->open > 0) {
        struct rt_pollable deadline, *list[2] = {&server->bell, &deadline};
        uint64_t next = wheel_next(&server->wheel);
        uint32_t ready[2], count = 1;
        if (next != RT_NEVER) {
            SIM_ALWAYS(rt_host_subscribe(server->host, RT_SUBSCRIBE_INSTANT, next * TICK,
                               &deadline) == RT_OK);
            count = 2;
        }
        uint32_t listed = count;
        SIM_ALWAYS(rt_host_poll(server->host, list, listed, ready, &count) == RT_OK);
        if (listed == 2) {
            rt_pollable_drop(&deadline);
        }
        while ((next = wheel_next(&server->wheel)) != RT_NEVER && next * TICK <= sim_now(world)) {
            wheel_serve(server, next);
        }
        server->wheel.tick = sim_now(world) / TICK;
    }
    rt_pollable_drop(&server->bell);
}

/* A client: some traffic, and then perhaps its end. */
static void
peer_main(struct sim_world *world, void *argument)
{
    struct peer *peer = argument;
    struct server *server = peer->server;
    struct session *session = &server->sessions[peer->number];
    sim_sleep(world, sim_range(world, 1 * RT_MS, 3 * RT_MS));
    if (session->done) {
        return;
    }
    wheel_extend(&session->idle, sim_now(world) / TICK + 5 + sim_pick(world, 2));
    sim_sleep(world, sim_range(world, 1 * RT_MS, 3 * RT_MS));
    if (!session->done && peer->number > 0) {
        wheel_remove(&server->wheel, &session->idle);
        session->done = true;
        server->open--;
        rt_host_notify(server->host);
    }
}

static void
setup(struct sim_world *world, bool fixed)
{
    static const char *const names[SESSIONS] = {"peer 1", "peer 2", "peer 3"};
    struct server *server = sim_new(world, struct server);
    server->host = sim_host_seam(sim_host_new(world, NULL, SIM_PROFILE_DEFAULT));
    server->wheel.fixed = fixed;
    server->open = SESSIONS;
    SIM_ALWAYS(rt_host_subscribe(server->host, RT_SUBSCRIBE_NOTIFY, 0, &server->bell) == RT_OK);
    for (uint32_t i = 0; i < SESSIONS; i++) {
        wheel_insert(&server->wheel, &server->sessions[i].idle, i == 0 ? 3 : 6);
    }
    sim_loop_new(world, "server", server_main, server);
    for (uint32_t i = 0; i < SESSIONS; i++) {
        struct peer *peer = sim_new(world, struct peer);
        *peer = (struct peer){server, i};
        sim_loop_new(world, names[i], peer_main, peer);
    }
}

static void
setup_broken(struct sim_world *world)
{
    setup(world, false);
}

static void
setup_fixed(struct sim_world *world)
{
    setup(world, true);
}

SIM_SCENARIO(broken, .name = "s12-wheel/broken", .about = "Idle times of three sessions.",
        .setup = setup_broken, .slack_ns = 2 * TICK);
SIM_SCENARIO(fixed, .name = "s12-wheel/fixed", .about = "Idle times of three sessions.",
        .setup = setup_fixed, .slack_ns = 2 * TICK);
// SPDX-License-Identifier: Apache-2.0
