/* A beacon: two watchmen put what they see into a list; the beacon's loop is notified only when the list
 * was empty before. */
#include <sim/rewake.h>

#define WATCHMEN 2
#define SIGHTINGS 3
#define LIST 8

struct beacon {
    struct sim_world *world;
    struct sim_fds *fds;
    int bell;
    uint32_t list[LIST];
    uint32_t first;
    uint32_t count;
    uint32_t sent;
    uint32_t home; /* Watchmen who have gone home: each tells 0. */
    uint32_t rings;
};

struct watchman {
    struct beacon *beacon;
    uint32_t number;
};

static void
beacon_tell(struct beacon *beacon, uint32_t sighting)
{
    bool was_empty = beacon->count == 0;
    SIM_ALWAYS(beacon->count < LIST);
    beacon->list[(beacon->first + beacon->count++) % LIST] = sighting;
    if (was_empty) {
        SIM_ALWAYS(sim_fd_notify(beacon->fds, beacon->bell) == RT_OK);
    }
}

static uint32_t
beacon_take(struct beacon *beacon)
{
    uint32_t sighting = beacon->list[beacon->first];
    beacon->first = (beacon->first + 1) % LIST;
    beacon->count--;
    SIM_PROGRESS();
    return sighting;
}

static void
bell_drain(struct beacon *beacon)
{
    uint64_t rings;
    if (sim_fd_read(beacon->fds, beacon->bell, &rings, sizeof rings) == (int64_t)sizeof rings) {
        beacon->rings++;
    }
}

static void
beacon_main(struct sim_world *world, void *argument)
{
    struct beacon *beacon = argument;
    while (beacon->home < WATCHMEN) {
        struct sim_fd_event event;
        (void)sim_fd_wait(beacon->fds, &event, 1, SIM_NEVER);
        bell_drain(beacon);
        while (beacon->count > 0) {
            uint32_t sighting = beacon_take(beacon);
            if (sighting == 0) {
                beacon->home++;
                continue;
            }
            sim_sleep(world, 300 * RT_US);
            beacon->sent++;
        }
    }
    SIM_ALWAYS(beacon->sent == WATCHMEN * SIGHTINGS);
    SIM_ALWAYS(beacon->rings <= WATCHMEN * (SIGHTINGS + 1));
    SIM_ALWAYS(sim_fd_close(beacon->fds, beacon->bell) == RT_OK);
}

static void
watchman_main(struct sim_world *world, void *argument)
{
    struct watchman *watchman = argument;
    for (uint32_t i = 0; i < SIGHTINGS; i++) {
        sim_sleep(world, sim_range(world, 200 * RT_US, 600 * RT_US));
        beacon_tell(watchman->beacon, 10 * watchman->number + i);
    }
    beacon_tell(watchman->beacon, 0);
}

static void
setup(struct sim_world *world)
{
    static const char *const names[WATCHMEN] = {"north", "south"};
    struct beacon *beacon = sim_new(world, struct beacon);
    struct sim_host *host = sim_host_new(world, NULL, SIM_PROFILE_FD);
    beacon->world = world;
    beacon->fds = sim_fds_new(host, 3);
    SIM_ALWAYS(sim_fd_event_open(beacon->fds, "bell", &beacon->bell) == RT_OK);
    SIM_ALWAYS(sim_fd_add(beacon->fds, beacon->bell, SIM_FD_IN, 0) == RT_OK);
    (void)sim_loop_new(world, "beacon", beacon_main, beacon);
    for (uint32_t i = 0; i < WATCHMEN; i++) {
        struct watchman *watchman = sim_new(world, struct watchman);
        *watchman = (struct watchman){.beacon = beacon, .number = i + 1};
        (void)sim_loop_new(world, names[i], watchman_main, watchman);
    }
}

SIM_SCENARIO(beacon, .name = "s20/beacon", .about = "A bell that is rung only for an empty list.",
        .setup = setup);
