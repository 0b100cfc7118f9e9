/* Cause: a timer is armed relative to the loop's cached time (libuv's uv_now after long work). timer_arm() (36-38) computes due_ns = sea->now_ns + period, and now_ns is from the beginning of the turn (87), before chart_plot() (called at 54, works at 44) worked for plotting_ns. Order: beacon 0's timer fires, its handler plots (takes time), then arms itself again (57) from the stale time; the same holds for others fired later in this turn. The timer comes early by the time of plotting. Harm: SIM_ALWAYS at 51 in the next on_timer of that beacon. Fix: update the time in timer_arm (33-35). Depends on the drawn plotting time only (0: passes). */
#include <sim/rewake.h>

#define BEACONS 3

struct beacon {
    const char *name;
    uint64_t period_ns;
    uint64_t armed_ns; /* When it was armed, on the clock. */
    uint64_t due_ns;
    uint32_t flashes;
    bool armed;
};

struct sea {
    struct sim_world *world;
    struct sim_fds *fds;
    int stop;
    uint64_t now_ns; /* The time of this turn of the loop. */
    struct beacon beacons[BEACONS];
    uint64_t plotting_ns;
};

static void
loop_update_time(struct sea *sea)
{
    sea->now_ns = sim_now(sea->world);
}

static void
timer_arm(struct sea *sea, struct beacon *beacon)
{
#ifdef FIXED
    loop_update_time(sea);
#endif
    beacon->armed_ns = sim_now(sea->world);
    beacon->due_ns = sea->now_ns + beacon->period_ns;
    beacon->armed = true;
}

static void
chart_plot(struct sea *sea)
{
    sim_work(sea->world, sea->plotting_ns);
}

static void
on_timer(struct sea *sea, struct beacon *beacon)
{
    /* Never two flashes closer than the period: ships would read another light. */
    SIM_ALWAYS(sim_now(sea->world) - beacon->armed_ns >= beacon->period_ns);
    beacon->flashes++;
    if (beacon == &sea->beacons[0]) {
        chart_plot(sea);
    }
    if (beacon->flashes < 3) {
        timer_arm(sea, beacon);
    }
}

static uint64_t
next_due(const struct sea *sea)
{
    uint64_t due = SIM_NEVER;
    for (uint32_t i = 0; i < BEACONS; i++) {
        if (sea->beacons[i].armed && sea->beacons[i].due_ns < due) {
            due = sea->beacons[i].due_ns;
        }
    }
    return due;
}

static void
sea_main(struct sim_world *world, void *argument)
{
    struct sea *sea = argument;
    (void)world;
    loop_update_time(sea);
    for (uint32_t i = 0; i < BEACONS; i++) {
        timer_arm(sea, &sea->beacons[i]);
    }
    uint64_t due;
    while ((due = next_due(sea)) != SIM_NEVER) {
        struct sim_fd_event event;
        uint64_t now = sim_now(sea->world);
        (void)sim_fd_wait(sea->fds, &event, 1, due > now ? due - now : 0);
        loop_update_time(sea);
        uint64_t turn_ns = sea->now_ns;
        for (uint32_t i = 0; i < BEACONS; i++) {
            struct beacon *beacon = &sea->beacons[i];
            if (beacon->armed && beacon->due_ns <= turn_ns) {
                beacon->armed = false;
                on_timer(sea, beacon);
            }
        }
    }
}

static void
setup(struct sim_world *world)
{
    static const char *const names[BEACONS] = {"cape", "reef", "bar"};
    struct sea *sea = sim_new(world, struct sea);
    sea->world = world;
    sea->fds = sim_fds_new(sim_host_new(world, NULL, SIM_PROFILE_FD), 3);
    SIM_ALWAYS(sim_fd_event_open(sea->fds, "stop", &sea->stop) == RT_OK);
    SIM_ALWAYS(sim_fd_add(sea->fds, sea->stop, SIM_FD_IN, 0) == RT_OK);
    sea->plotting_ns = sim_range(world, 0, 3 * RT_MS);
    for (uint32_t i = 0; i < BEACONS; i++) {
        sea->beacons[i].name = names[i];
        sea->beacons[i].period_ns = sim_range(world, 2 * RT_MS, 5 * RT_MS);
    }
    (void)sim_loop_new(world, "sea", sea_main, sea);
}

#ifdef FIXED
#define FORM "fixed"
#else
#define FORM "broken"
#endif
SIM_SCENARIO(beacon, .name = "s23/beacon/" FORM, .about = "Beacons flash by timers of a loop.",
        .setup = setup);
