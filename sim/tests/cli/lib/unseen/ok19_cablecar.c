/* cablecar: a hand-made executor whose wakes ring a bell only while it is about to sleep. */
#include <sim/rewake.h>

#define CARS 2
#define TRIPS 2

struct car {
    struct line *line;
    bool woken, finished;
    uint32_t tickets; /* Sold and not used. */
    bool waiting;     /* For a ticket. */
    uint32_t trips;
};

struct line {
    struct rt_host *host;
    struct rt_pollable bell;
    struct car cars[CARS];
    bool drowsy;
};

static void
car_wake(struct car *car)
{
    car->woken = true;
    if (car->line->drowsy) {
        car->line->drowsy = false;
        rt_host_notify(car->line->host);
    }
}

static void
car_sell(struct car *car)
{
    car->tickets++;
    if (car->waiting) {
        car->waiting = false;
        sim_foreign_fire(&car->waiting);
        car_wake(car);
    }
}

static void
car_poll(struct car *car)
{
    car->woken = false;
    sim_foreign_poll(car);
    while (car->tickets > 0 && car->trips < TRIPS) {
        car->tickets--;
        car->trips++;
        SIM_PROGRESS();
    }
    car->finished = car->trips == TRIPS;
    if (!car->finished) {
        car->waiting = true;
        sim_foreign_store(car, &car->waiting, "a ticket");
    }
    sim_foreign_polled(car, car->finished);
}

static void
car_again(void *line, void *car)
{
    (void)line;
    car_poll(car);
}

static bool
line_round(struct line *line)
{
    bool any = false;
    for (uint32_t i = 0; i < CARS; i++) {
        if (line->cars[i].woken && !line->cars[i].finished) {
            car_poll(&line->cars[i]);
            any = true;
        }
    }
    return any;
}

static void
line_main(struct sim_world *world, void *argument)
{
    struct line *line = argument;
    struct rt_pollable *list[1] = {&line->bell};
    uint32_t ready[1], count;
    while (!line->cars[0].finished || !line->cars[1].finished) {
        if (line_round(line)) {
            continue;
        }
        sim_loop_pause(world);
        line->drowsy = true;
        sim_loop_pause(world);
        if (line->cars[0].woken || line->cars[1].woken) {
            line->drowsy = false;
            if (line_round(line)) {
                continue;
            }
            line->cars[0].woken = line->cars[1].woken = false;
            continue;
        }
        sim_loop_pause(world);
        SIM_ALWAYS(rt_host_poll(line->host, list, 1, ready, &count) == RT_OK);
        line->drowsy = false;
    }
    rt_pollable_drop(&line->bell);
}

static void
office_main(struct sim_world *world, void *argument)
{
    struct line *line = argument;
    for (uint32_t i = 0; i < CARS * TRIPS; i++) {
        if (sim_pick(world, 2) == 1) {
            sim_sleep(world, sim_range(world, 100, 2 * RT_MS));
        }
        car_sell(&line->cars[i % CARS]);
        sim_loop_pause(world);
    }
}

static void
setup(struct sim_world *world)
{
    struct line *line = sim_new(world, struct line);
    line->host = sim_host_seam(sim_host_new(world, NULL, SIM_PROFILE_DEFAULT));
    SIM_ALWAYS(rt_host_subscribe(line->host, RT_SUBSCRIBE_NOTIFY, 0, &line->bell) == RT_OK);
    struct sim_loop *loop = sim_loop_new(world, "line", line_main, line);
    struct sim_foreign *foreign = sim_foreign_new(loop, car_again, line);
    for (uint32_t i = 0; i < CARS; i++) {
        line->cars[i] = (struct car){.line = line, .woken = true};
        sim_foreign_spawn(foreign, &line->cars[i], i == 0 ? "red car" : "blue car");
    }
    (void)sim_loop_new(world, "office", office_main, line);
}

SIM_SCENARIO(cablecar, .name = "cablecar/line", .about = "Two cars wait for tickets.",
        .setup = setup);
