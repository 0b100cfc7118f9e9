/* Coopers at one bench: who comes later takes the place of who waits, and one gets the stave. */
#include <sim/rewake.h>

#define COOPERS 3

struct bench {
    struct sim_world *world;
    struct rt_slot slot; /* Of the cooper who waits: one at a time. */
    struct cooper *sits;
    bool stave;
    uint32_t given;
    uint32_t gone_home;
    bool closed;
};

struct cooper {
    struct rt_task task;
    struct bench *bench;
    struct rt_sleep way;
    uint32_t at;
};

struct sawyer {
    struct rt_task task;
    struct bench *bench;
    struct rt_sleep sawing;
    uint32_t at;
};

static rt_poll cooper_sit(struct cooper *cooper, struct rt_cx *cx)
{
    struct bench *bench = cooper->bench;
    if (bench->sits != cooper || bench->closed) {
        bench->gone_home++;
        return RT_READY;
    }
    if (bench->stave) {
        bench->stave = false;
        bench->given++;
        bench->closed = true;
        return RT_READY;
    }
    rt_slot_replace(&bench->slot, cx, "a stave, or the next cooper");
    return RT_PENDING;
}

static rt_poll cooper_poll(struct rt_task *task, struct rt_cx *cx)
{
    struct cooper *cooper = rt_container_of(task, struct cooper, task);
    struct bench *bench = cooper->bench;
    RT_BEGIN(cooper->at);
    rt_sleep_init(&cooper->way, sim_range(bench->world, 1 * RT_MS, 4 * RT_MS));
    RT_AWAIT_HERE(cooper->at, rt_sleep_poll(&cooper->way, cx));
    if (bench->closed) {
        bench->gone_home++;
    } else {
        /* The one who sits is sent home: his waker is taken out and woken, then the place is ours.
         * He may have been woken for the stave already; it stays on the bench for us. */
        bench->sits = cooper;
        rt_slot_wake(&bench->slot);
        RT_AWAIT_HERE(cooper->at, cooper_sit(cooper, cx));
    }
    RT_END(cooper->at);
}

static rt_poll sawyer_poll(struct rt_task *task, struct rt_cx *cx)
{
    struct sawyer *sawyer = rt_container_of(task, struct sawyer, task);
    struct bench *bench = sawyer->bench;
    RT_BEGIN(sawyer->at);
    rt_sleep_init(&sawyer->sawing, sim_range(bench->world, 1 * RT_MS, 5 * RT_MS));
    RT_AWAIT_HERE(sawyer->at, rt_sleep_poll(&sawyer->sawing, cx));
    bench->stave = true;
    rt_slot_wake(&bench->slot);
    RT_END(sawyer->at);
}

static void check(struct sim_world *world, void *state)
{
    struct bench *bench = state;
    (void)world;
    SIM_ALWAYS(bench->given == 1 && bench->gone_home == COOPERS - 1 && !bench->stave);
}

static void setup(struct sim_world *world)
{
    static const char *const names[COOPERS] = {"hob", "wat", "tom"};
    struct sim_rt *rt = sim_rt_new(world, NULL);
    struct bench *bench = sim_new(world, struct bench);
    struct sawyer *sawyer = sim_new(world, struct sawyer);
    bench->world = world;
    rt_slot_init(&bench->slot);
    sim_set_state(world, bench);
    for (uint32_t i = 0; i < COOPERS; i++) {
        struct cooper *cooper = sim_new(world, struct cooper);
        cooper->bench = bench;
        rt_task_init(&cooper->task, cooper_poll, NULL, names[i]);
        sim_spawn(rt, &cooper->task);
    }
    sawyer->bench = bench;
    rt_task_init(&sawyer->task, sawyer_poll, NULL, "sawyer");
    sim_spawn(rt, &sawyer->task);
}

SIM_SCENARIO(cooper_scenario, .name = "cooper/fixed", .about = "One bench, one stave.",
        .setup = setup, .check = check);
