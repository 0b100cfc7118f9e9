/* Cause: wheel_turn(), line 64: the next timer is remembered over the callback, which may cancel it (the doors stop the departure); it is then fired all the same; repair: take the first one out of the slot until none is left. */
#include <sim/rewake.h>

#define SLOTS 8
#define TICK RT_MS

struct timer {
    struct timer *next, *prev; /* NULL: not armed. */
    void (*fn)(void *argument);
    void *argument;
};

struct wheel {
    struct timer slots[SLOTS];
    uint64_t tick;
};

struct tram {
    struct sim_world *world;
    struct sim_fds *fds;
    int button;
    struct wheel wheel;
    struct timer departure;
    struct timer doors;
    bool doors_open;
    bool gone;
    bool one_by_one;
};

static void
timer_stop(struct timer *timer)
{
    if (timer->next != NULL) {
        timer->prev->next = timer->next;
        timer->next->prev = timer->prev;
        timer->next = timer->prev = NULL;
    }
}

static void
timer_start(struct wheel *wheel, struct timer *timer, unsigned ticks)
{
    struct timer *head = &wheel->slots[(wheel->tick + ticks) % SLOTS];
    timer_stop(timer);
    timer->prev = head;
    timer->next = head->next;
    head->next->prev = timer;
    head->next = timer;
}

static void
wheel_turn(struct wheel *wheel, bool one_by_one)
{
    struct timer *head = &wheel->slots[++wheel->tick % SLOTS];
    struct timer *next;
    if (one_by_one) {
        while ((next = head->next) != head) {
            timer_stop(next);
            next->fn(next->argument);
        }
        return;
    }
    for (struct timer *timer = head->next; timer != NULL && timer != head; timer = next) {
        next = timer->next;
        timer_stop(timer);
        timer->fn(timer->argument);
    }
}

static void
on_departure(void *argument)
{
    struct tram *tram = argument;
    SIM_ALWAYS(!tram->doors_open);
    tram->gone = true;
}

/* Somebody has pressed, and gets in. */
static void
on_doors(void *argument)
{
    struct tram *tram = argument;
    tram->doors_open = !tram->doors_open;
    if (tram->doors_open) {
        timer_stop(&tram->departure);
        timer_start(&tram->wheel, &tram->doors, 3);
    } else {
        timer_start(&tram->wheel, &tram->departure, 2);
    }
}

static void
tram_main(struct sim_world *world, void *argument)
{
    struct tram *tram = argument;
    uint64_t due = sim_now(world) + TICK;
    timer_start(&tram->wheel, &tram->doors, 2);
    while (!tram->gone) {
        struct sim_fd_event event;
        uint64_t now = sim_now(world);
        if (now < due && sim_fd_wait(tram->fds, &event, 1, due - now) == 1) {
            uint64_t pressed;
            if (sim_fd_read(tram->fds, tram->button, &pressed, sizeof pressed) > 0 &&
                    !tram->doors_open && tram->doors.next == NULL) {
                timer_start(&tram->wheel, &tram->doors, 1);
            }
        }
        for (; sim_now(world) >= due && !tram->gone; due += TICK) {
            wheel_turn(&tram->wheel, tram->one_by_one);
        }
    }
}

static void
passenger_main(struct sim_world *world, void *argument)
{
    struct tram *tram = argument;
    sim_sleep(world, sim_range(world, 4 * RT_MS, 7 * RT_MS));
    SIM_ALWAYS(sim_fd_notify(tram->fds, tram->button) == RT_OK);
}

static void
set_up(struct sim_world *world, bool one_by_one)
{
    struct tram *tram = sim_new(world, struct tram);
    tram->world = world;
    tram->fds = sim_fds_new(sim_host_new(world, "tram stop", SIM_PROFILE_FD), 0);
    tram->one_by_one = one_by_one;
    for (unsigned i = 0; i < SLOTS; i++) {
        tram->wheel.slots[i].next = tram->wheel.slots[i].prev = &tram->wheel.slots[i];
    }
    tram->departure = (struct timer){.fn = on_departure, .argument = tram};
    tram->doors = (struct timer){.fn = on_doors, .argument = tram};
    SIM_ALWAYS(sim_fd_event_open(tram->fds, "button", &tram->button) == RT_OK);
    SIM_ALWAYS(sim_fd_add(tram->fds, tram->button, SIM_FD_IN, 0) == RT_OK);
    (void)sim_loop_new(world, "tram", tram_main, tram);
    (void)sim_loop_new(world, "passenger", passenger_main, tram);
}

static void set_up_broken(struct sim_world *world) { set_up(world, false); }
static void set_up_fixed(struct sim_world *world) { set_up(world, true); }

SIM_SCENARIO(broken, .name = "s18/tram/broken", .about = "Doors, departure and a timer wheel.",
        .setup = set_up_broken);
SIM_SCENARIO(fixed, .name = "s18/tram/fixed", .about = "Doors, departure and a timer wheel.",
        .setup = set_up_fixed);
