/* Cause: clerk_poll(), line 32: the row is looked at before the wait for the printer, and the ticket is sold after it, when the last seat may be gone; repair: look at the row when the printer is locked. */
#include <sim/rewake.h>

#define CLERKS 3
#define SEATS 2

struct cinema {
    struct rt_mutex printer;
    unsigned seats;
    unsigned tickets;
    bool printer_first;
};

struct clerk {
    struct rt_task task;
    struct sim_world *world;
    struct cinema *cinema;
    uint32_t at;
    struct rt_sleep chat;
    struct rt_sleep print;
    struct rt_lock lock;
};

static rt_poll
clerk_poll(struct rt_task *task, struct rt_cx *cx)
{
    struct clerk *clerk = rt_container_of(task, struct clerk, task);
    struct cinema *cinema = clerk->cinema;
    RT_BEGIN(clerk->at);
    rt_sleep_init(&clerk->chat, sim_range(clerk->world, 1 * RT_MS, 5 * RT_MS));
    RT_AWAIT_HERE(clerk->at, rt_sleep_poll(&clerk->chat, cx));
    if (!cinema->printer_first && cinema->seats == 0) {
        return clerk->at = RT_AT_END, RT_READY;
    }
    rt_lock_init(&clerk->lock, &cinema->printer);
    RT_AWAIT_HERE(clerk->at, rt_lock_poll(&clerk->lock, cx));
    if (!cinema->printer_first || cinema->seats > 0) {
        rt_sleep_init(&clerk->print, sim_range(clerk->world, 1 * RT_MS, 2 * RT_MS));
        RT_AWAIT_HERE(clerk->at, rt_sleep_poll(&clerk->print, cx));
        cinema->seats--;
        cinema->tickets++;
    }
    rt_mutex_unlock(&cinema->printer);
    RT_END(clerk->at);
}

static void
count_tickets(struct sim_world *world, void *state)
{
    struct cinema *cinema = state;
    (void)world;
    SIM_ALWAYS(cinema->tickets == SEATS);
    SIM_ALWAYS(cinema->seats == 0);
}

static void
set_up(struct sim_world *world, bool printer_first)
{
    struct sim_rt *rt = sim_rt_new(world, NULL);
    struct cinema *cinema = sim_new(world, struct cinema);
    rt_mutex_init(&cinema->printer);
    cinema->seats = SEATS;
    cinema->printer_first = printer_first;
    sim_set_state(world, cinema);
    for (int i = 0; i < CLERKS; i++) {
        struct clerk *clerk = sim_new(world, struct clerk);
        clerk->world = world;
        clerk->cinema = cinema;
        rt_task_init(&clerk->task, clerk_poll, NULL, "clerk");
        sim_spawn(rt, &clerk->task);
    }
}

static void
set_up_broken(struct sim_world *world)
{
    set_up(world, false);
}

static void
set_up_fixed(struct sim_world *world)
{
    set_up(world, true);
}

SIM_SCENARIO(broken, .name = "s18/cinema/broken", .about = "Three clerks sell two seats.",
        .setup = set_up_broken, .check = count_tickets);
SIM_SCENARIO(fixed, .name = "s18/cinema/fixed", .about = "Three clerks sell two seats.",
        .setup = set_up_fixed, .check = count_tickets);
