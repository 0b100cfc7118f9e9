// Cause: enter_pushed(): driver_main() calls `enter` only when it has pushed something. Completions that were set
// aside because the completion queue (2) was full come into it only by `enter`. Once nothing is left to push, the
// pollable stays ready, reap finds nothing, and the loop spins forever. It must also enter when the ring has
// overflowed.
// SPDX-License-Identifier: Apache-2.0
// clang-format off
/* A driver of its own on a completion ring: four sensors are read to their end. The completion
 * queue is shorter than the number of sensors. */
#include <sim/rewake.h>

#define SENSORS 4
#define REAP 2

struct sensor {
    int32_t device;
    char bytes[16];
    uint64_t total;
    bool wants;
};

struct driver {
    struct rt_host *host;
    struct rt_completion_host *ring;
    struct rt_pollable completed;
    struct sensor sensors[SENSORS];
    uint32_t live;
    bool pushed;
    bool (*must_enter)(struct driver *driver);
};

static void
submit(struct driver *driver)
{
    for (uint32_t i = 0; i < SENSORS; i++) {
        struct sensor *sensor = &driver->sensors[i];
        struct rt_submission submission = {.opcode = RT_OPCODE_READ,
                .target = sensor->device,
                .buffer = sensor->bytes,
                .size = sizeof(sensor->bytes),
                .user_data = i + 1};
        if (!sensor->wants) {
            continue;
        }
        if (driver->ring->ops->push(driver->ring, &submission) != RT_OK) {
            break;
        }
        sensor->wants = false;
        driver->pushed = true;
    }
}

static bool
enter_pushed(struct driver *driver)
{
    return driver->pushed;
}

static bool
enter_all(struct driver *driver)
{
    return driver->pushed || driver->ring->ops->overflowed(driver->ring);
}

static void
on_completion(struct driver *driver, const struct rt_completion *completion)
{
    struct sensor *sensor = &driver->sensors[completion->user_data - 1];
    if (completion->result > 0) {
        sensor->total += (uint64_t)completion->result;
        sensor->wants = true;
        SIM_PROGRESS();
    } else {
        driver->live--;
    }
}

static void
driver_main(struct sim_world *world, void *argument)
{
    struct driver *driver = argument;
    struct rt_pollable *list[1] = {&driver->completed};
    (void)world;
    while (driver->live > 0) {
        submit(driver);
        if (driver->must_enter(driver)) {
            driver->pushed = driver->ring->ops->enter(driver->ring) != RT_OK;
        }
        uint32_t ready[1];
        uint32_t count;
        SIM_ALWAYS(rt_host_poll(driver->host, list, 1, ready, &count) == RT_OK);
        struct rt_completion completions[REAP];
        count = driver->ring->ops->reap(driver->ring, completions, REAP);
        for (uint32_t i = 0; i < count; i++) {
            on_completion(driver, &completions[i]);
        }
    }
    rt_pollable_drop(&driver->completed);
}

static void
setup_driver(struct sim_world *world, bool (*must_enter)(struct driver *))
{
    static const char *const names[SENSORS] = {"wind", "rain", "light", "noise"};
    static const char text[] = "17.5 18.0 18.5 ";
    struct sim_host *host = sim_host_new(world, NULL, SIM_PROFILE_DEFAULT);
    const struct sim_ring_options options = {.submissions = 4, .completions = 2};
    struct sim_ring *ring = sim_ring_new(host, "ring", &options);
    struct driver *driver = sim_new(world, struct driver);
    driver->host = sim_host_seam(host);
    driver->ring = sim_ring_seam(ring);
    driver->must_enter = must_enter;
    driver->live = SENSORS;
    SIM_ALWAYS(driver->ring->ops->subscribe(driver->ring, &driver->completed) == RT_OK);
    for (uint32_t i = 0; i < SENSORS; i++) {
        driver->sensors[i].device = sim_ring_device(
                ring, names[i], text, sizeof(text) - 1, 10, 100 * RT_US, 3 * RT_MS);
        driver->sensors[i].wants = true;
    }
    (void)sim_loop_new(world, "driver", driver_main, driver);
}

static void
setup_broken(struct sim_world *world)
{
    setup_driver(world, enter_pushed);
}

static void
setup_fixed(struct sim_world *world)
{
    setup_driver(world, enter_all);
}

SIM_SCENARIO(ringcq_broken, .name = "ringcq/broken", .about = "Four sensors on a completion ring.",
        .setup = setup_broken);
SIM_SCENARIO(ringcq_fixed, .name = "ringcq/fixed", .about = "Four sensors on a completion ring.",
        .setup = setup_fixed);
