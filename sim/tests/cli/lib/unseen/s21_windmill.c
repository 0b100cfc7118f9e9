/* Cause: miller_run(), line 66: queued is reset after the poll; a gust between the miller's poll (63; others may run in sim_foreign_polled, 64) and line 66 finds queued true in miller_wake() (48) and does not push; the wake is lost. Harm: hang (lost-wakeup); no assert. Fix: reset queued before the poll. */
#include <sim/rewake.h>

#define TASKS 2
#define SACKS 3

struct miller {
    bool (*poll)(struct miller *miller); /* True: it has finished. */
    struct mill *mill;
    const char *name;
    bool queued;
    bool finished;
    bool waits;    /* For the wind; `wind` is the slot. */
    uint32_t wind; /* Gusts that have come and were not used. */
    uint32_t ground;
};

struct mill {
    struct sim_world *world;
    struct rt_host *host;
    struct rt_pollable bell;
    struct miller millers[TASKS];
    struct miller *queue[TASKS];
    uint32_t length;
};

static void
mill_push(struct mill *mill, struct miller *miller)
{
    mill->queue[mill->length++] = miller;
}

static struct miller *
mill_pop(struct mill *mill)
{
    struct miller *first = mill->queue[0];
    mill->length--;
    for (uint32_t i = 0; i < mill->length; i++) {
        mill->queue[i] = mill->queue[i + 1];
    }
    return first;
}

/* From any thread. */
static void
miller_wake(struct miller *miller)
{
    if (miller->queued) {
        return;
    }
    miller->queued = true;
    mill_push(miller->mill, miller);
    rt_host_notify(miller->mill->host);
}

static void
miller_run(struct miller *miller)
{
#ifdef FIXED
    miller->queued = false;
#endif
    sim_foreign_poll(miller);
    miller->finished = miller->poll(miller);
    sim_foreign_polled(miller, miller->finished);
#ifndef FIXED
    miller->queued = false;
#endif
}

static bool
grind(struct miller *miller)
{
    while (miller->wind > 0) {
        miller->wind--;
        miller->ground++;
        SIM_PROGRESS();
    }
    if (miller->ground == SACKS) {
        return true;
    }
    miller->waits = true;
    sim_foreign_store(miller, &miller->wind, "a gust of wind");
    return false;
}

static void
wind_main(struct sim_world *world, void *argument)
{
    struct mill *mill = argument;
    for (uint32_t i = 0; i < TASKS * SACKS; i++) {
        struct miller *miller = &mill->millers[i % TASKS];
        sim_sleep(world, sim_range(world, RT_MS / 10, RT_MS));
        miller->wind++;
        if (miller->waits) {
            miller->waits = false;
            sim_foreign_fire(&miller->wind);
            miller_wake(miller);
        }
    }
}

static bool
mill_done(const struct mill *mill)
{
    for (uint32_t i = 0; i < TASKS; i++) {
        if (!mill->millers[i].finished) {
            return false;
        }
    }
    return true;
}

static void
mill_main(struct sim_world *world, void *argument)
{
    struct mill *mill = argument;
    (void)world;
    while (!mill_done(mill)) {
        while (mill->length > 0) {
            struct miller *miller = mill_pop(mill);
            if (!miller->finished) {
                miller_run(miller);
            }
        }
        if (!mill_done(mill)) {
            struct rt_pollable *list[1] = {&mill->bell};
            uint32_t ready[1];
            uint32_t count;
            SIM_ALWAYS(rt_host_poll(mill->host, list, 1, ready, &count) == RT_OK);
        }
    }
    rt_pollable_drop(&mill->bell);
}

static void
again(void *mill, void *task)
{
    struct miller *miller = task;
    (void)mill;
    miller_run(miller);
}

static void
setup(struct sim_world *world)
{
    static const char *const names[TASKS] = {"rye", "wheat"};
    struct mill *mill = sim_new(world, struct mill);
    mill->world = world;
    mill->host = sim_host_seam(sim_host_new(world, NULL, SIM_PROFILE_DEFAULT));
    SIM_ALWAYS(rt_host_subscribe(mill->host, RT_SUBSCRIBE_NOTIFY, 0, &mill->bell) == RT_OK);
    struct sim_loop *loop = sim_loop_new(world, "mill", mill_main, mill);
    struct sim_foreign *foreign = sim_foreign_new(loop, again, mill);
    for (uint32_t i = 0; i < TASKS; i++) {
        struct miller *miller = &mill->millers[i];
        *miller = (struct miller){.poll = grind, .mill = mill, .name = names[i], .queued = true};
        sim_foreign_spawn(foreign, miller, names[i]);
        mill_push(mill, miller);
    }
    (void)sim_loop_new(world, "wind", wind_main, mill);
}

#ifdef FIXED
#define FORM "fixed"
#else
#define FORM "broken"
#endif
SIM_SCENARIO(windmill, .name = "s21/windmill/" FORM, .about = "Two millers and the wind.", .setup = setup);
