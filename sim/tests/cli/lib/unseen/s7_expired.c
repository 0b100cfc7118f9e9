// Cause: call_expired(): it collects all timers that are due, then calls them one by one without looking at their
// deadline again. When `refresh` and `session` are both due, because the loop was busy, the callback of `refresh`
// moves `session` into the future, and `session` is called all the same, before its time.
// SPDX-License-Identifier: Apache-2.0
// clang-format off
#include <sim/rewake.h>

#define REFRESHES 5u
#define TIMERS 2u

struct loop;

struct timer {
    uint64_t due_ns; /* SIM_NEVER: not started. */
    void (*fn)(struct loop *loop);
};

struct loop {
    struct sim_world *world;
    struct sim_fds *fds;
    int jobs;
    struct timer timers[TIMERS]; /* refresh, session */
    uint32_t refreshes;
    bool looks_again;
};

static void
start(struct loop *loop, uint32_t which, uint64_t in_ns)
{
    loop->timers[which].due_ns = sim_now(loop->world) + in_ns;
}

/* The session is used again: it lives for another three milliseconds. */
static void
on_refresh(struct loop *loop)
{
    loop->refreshes++;
    if (loop->refreshes < REFRESHES) {
        start(loop, 0, 2 * RT_MS);
        start(loop, 1, 3 * RT_MS);
    } else {
        loop->timers[1].due_ns = SIM_NEVER;
    }
}

/* Nobody has used the session for three milliseconds. */
static void
on_session(struct loop *loop)
{
    SIM_ALWAYS(loop->timers[1].due_ns <= sim_now(loop->world));
    loop->timers[1].due_ns = SIM_NEVER;
}

static void
call_expired(struct loop *loop)
{
    struct timer *expired[TIMERS];
    uint32_t count = 0;
    uint64_t now_ns = sim_now(loop->world);
    for (uint32_t i = 0; i < TIMERS; i++) {
        if (loop->timers[i].due_ns <= now_ns) {
            expired[count++] = &loop->timers[i];
        }
    }
    for (uint32_t i = 0; i < count; i++) {
        if (loop->looks_again && expired[i]->due_ns > now_ns) {
            continue;
        }
        if (expired[i] == &loop->timers[0]) {
            expired[i]->due_ns = SIM_NEVER;
        }
        expired[i]->fn(loop);
    }
}

static uint64_t
time_left(const struct loop *loop)
{
    uint64_t now_ns = sim_now(loop->world);
    uint64_t due_ns = SIM_NEVER;
    for (uint32_t i = 0; i < TIMERS; i++) {
        due_ns = loop->timers[i].due_ns < due_ns ? loop->timers[i].due_ns : due_ns;
    }
    return due_ns == SIM_NEVER ? SIM_NEVER : due_ns > now_ns ? due_ns - now_ns : 0;
}

static void
loop_main(struct sim_world *world, void *argument)
{
    struct loop *loop = argument;
    start(loop, 0, 2 * RT_MS);
    start(loop, 1, 3 * RT_MS);
    while (loop->refreshes < REFRESHES) {
        struct sim_fd_event event;
        uint64_t times = 0;
        if (sim_fd_wait(loop->fds, &event, 1, time_left(loop)) > 0 &&
                sim_fd_read(loop->fds, loop->jobs, &times, sizeof(times)) > 0) {
            sim_work(world, sim_range(world, 10 * RT_US, 4 * RT_MS)); /* The job. */
        }
        call_expired(loop);
    }
}

static void
client_main(struct sim_world *world, void *argument)
{
    struct loop *loop = argument;
    for (uint32_t i = 0; i < 2; i++) {
        sim_sleep(world, sim_range(world, RT_MS, 4 * RT_MS));
        SIM_ALWAYS(sim_fd_notify(loop->fds, loop->jobs) == RT_OK);
    }
}

static void
begin(struct sim_world *world, bool looks_again)
{
    struct loop *loop = sim_new(world, struct loop);
    loop->world = world;
    loop->looks_again = looks_again;
    loop->fds = sim_fds_new(sim_host_new(world, NULL, SIM_PROFILE_DEFAULT), 3);
    loop->timers[0].fn = on_refresh;
    loop->timers[1].fn = on_session;
    SIM_ALWAYS(sim_fd_event_open(loop->fds, "jobs", &loop->jobs) == RT_OK);
    SIM_ALWAYS(sim_fd_add(loop->fds, loop->jobs, SIM_FD_IN, 0) == RT_OK);
    (void)sim_loop_new(world, "loop", loop_main, loop);
    (void)sim_loop_new(world, "client", client_main, loop);
}

static void
setup_broken(struct sim_world *world)
{
    begin(world, false);
}

static void
setup_fixed(struct sim_world *world)
{
    begin(world, true);
}

SIM_SCENARIO(expired_broken, .name = "set7/s7_expired/broken",
        .about = "One timer's callback moves another timer.", .setup = setup_broken,
        .profile = SIM_PROFILE_FD);
SIM_SCENARIO(expired_fixed, .name = "set7/s7_expired/fixed",
        .about = "One timer's callback moves another timer.", .setup = setup_fixed,
        .profile = SIM_PROFILE_FD);
