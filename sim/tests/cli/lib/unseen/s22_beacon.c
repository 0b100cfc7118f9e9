/* Cause: Stale state: a timer that was cancelled by an earlier one of the same batch still fires. timers_process() takes all due timers out of the armed list into due (70-75), then fires them (77-85). timer_cancel() (37-46) looks in the armed list only; for one that is in due it clears armed, which nobody checks. Order: storm and a beacon are due in the same call (equal deadlines, or the loop is late), the storm's comes first; storm_fire() cancels the beacon and sets out (60-61); beacon_fire() is called all the same. Harm: SIM_ALWAYS line 50 (!timer->out). Fix: lines 81-82, skip a timer that is not armed any more. (When the beacon comes first in the batch it is lit, and all is well. Rare: about one run in a thousand.) */
#include <sim/rewake.h>

#define TIMERS 4

struct coast;

struct timer {
    struct timer *next; /* In the list of armed ones, by deadline, or of those to be fired. */
    const char *name;
    uint64_t due_ns;
    void (*fire)(struct coast *coast, struct timer *timer);
    bool armed;
    bool lit;
    bool out; /* The storm has put it out: it must stay dark. */
};

struct coast {
    struct sim_world *world;
    struct timer *armed;
    struct timer beacons[TIMERS - 1];
    struct timer storm;
    uint32_t lit;
};

static void timer_start(struct coast *coast, struct timer *timer, uint64_t due_ns)
{
    struct timer **at = &coast->armed;
    timer->due_ns = due_ns;
    timer->armed = true;
    while (*at != NULL && (*at)->due_ns <= due_ns)
        at = &(*at)->next;
    timer->next = *at;
    *at = timer;
}

static void timer_cancel(struct coast *coast, struct timer *timer)
{
    for (struct timer **at = &coast->armed; *at != NULL; at = &(*at)->next) {
        if (*at == timer) {
            *at = timer->next;
            break;
        }
    }
    timer->armed = false;
}

static void beacon_fire(struct coast *coast, struct timer *timer)
{
    SIM_ALWAYS(!timer->out);
    timer->lit = true;
    coast->lit++;
}

static void storm_fire(struct coast *coast, struct timer *timer)
{
    (void)timer;
    for (uint32_t i = 0; i < TIMERS - 1; i++) {
        if (!coast->beacons[i].lit) {
            timer_cancel(coast, &coast->beacons[i]);
            coast->beacons[i].out = true;
        }
    }
}

static void timers_process(struct coast *coast)
{
    struct timer *due = NULL, **last = &due;
    uint64_t now = sim_now(coast->world);
    while (coast->armed != NULL && coast->armed->due_ns <= now) {
        struct timer *timer = coast->armed;
        coast->armed = timer->next;
        *last = timer;
        last = &timer->next;
    }
    *last = NULL;
    while (due != NULL) {
        struct timer *timer = due;
        due = timer->next;
#ifdef FIXED
        if (!timer->armed)
            continue;
#endif
        timer->armed = false;
        timer->fire(coast, timer);
    }
}

static void coast_main(struct sim_world *world, void *argument)
{
    struct coast *coast = argument;
    while (coast->armed != NULL) {
        uint64_t now = sim_now(world);
        if (coast->armed->due_ns > now)
            sim_sleep(world, coast->armed->due_ns - now);
        timers_process(coast);
    }
}

static void check(struct sim_world *world, void *state)
{
    struct coast *coast = state;
    (void)world;
    for (uint32_t i = 0; i < TIMERS - 1; i++)
        SIM_ALWAYS(coast->beacons[i].lit != coast->beacons[i].out);
}

static void setup(struct sim_world *world)
{
    static const char *const names[TIMERS - 1] = {"north", "cape", "mole"};
    struct coast *coast = sim_new(world, struct coast);
    coast->world = world;
    sim_set_state(world, coast);
    for (uint32_t i = 0; i < TIMERS - 1; i++) {
        coast->beacons[i].name = names[i];
        coast->beacons[i].fire = beacon_fire;
        timer_start(coast, &coast->beacons[i], sim_range(world, (i + 1) * RT_MS, (i + 3) * RT_MS));
    }
    coast->storm.name = "storm";
    coast->storm.fire = storm_fire;
    timer_start(coast, &coast->storm, sim_range(world, 5 * RT_MS / 2, 5 * RT_MS));
    (void)sim_loop_new(world, "coast", coast_main, coast);
}

#ifdef FIXED
#define FORM "fixed"
#else
#define FORM "broken"
#endif
SIM_SCENARIO(beacon_scenario, .name = "s22/beacon/" FORM, .about = "Beacons, and a storm.",
        .setup = setup, .check = check);
