/* Cause: An error path that forgets the permit. baker_poll(): when a tray burns (42-43) the broken form continues (48) without give_back(), and acquires another permit (36-37). Order: the tray of two different bakers burns: both permits are gone (each burnt tray loses one forever). All who want an oven wait at line 37. Harm: hang (deadlock): all bakers that are left wait for the semaphore "ovens", whose permits nobody holds any more. With one burnt tray alone it continues with one oven, and passes. Fix: line 46, give_back before continue. */
#include <sim/rewake.h>

#define BAKERS 3
#define TRAYS 2

struct bakery {
    struct sim_world *world;
    struct rt_semaphore ovens;
    uint32_t sold;
};

struct baker {
    struct rt_task task;
    struct bakery *bakery;
    struct rt_acquire oven;
    struct rt_sleep baking;
    uint32_t at;
    uint32_t trays;
    uint32_t burnt;
    bool bad;
};

/* The oven is used by one baker at a time, and must be given back. */
static void give_back(struct baker *baker)
{
    SIM_ALWAYS(rt_semaphore_release(&baker->bakery->ovens, 1) == RT_OK);
}

static rt_poll baker_poll(struct rt_task *task, struct rt_cx *cx)
{
    struct baker *baker = rt_container_of(task, struct baker, task);
    struct bakery *bakery = baker->bakery;
    RT_BEGIN(baker->at);
    while (baker->trays < TRAYS) {
        rt_acquire_init(&baker->oven, &bakery->ovens, 1);
        RT_AWAIT_HERE(baker->at, rt_acquire_poll(&baker->oven, cx));
        SIM_ALWAYS(baker->oven.err == RT_OK);
        rt_sleep_init(&baker->baking, sim_range(bakery->world, 1 * RT_MS, 3 * RT_MS));
        RT_AWAIT_HERE(baker->at, rt_sleep_poll(&baker->baking, cx));
        /* At most one tray of each baker burns. */
        baker->bad = baker->burnt == 0 && sim_pick(bakery->world, 4) == 3;
        if (baker->bad) {
            baker->burnt++;
#ifdef FIXED
            give_back(baker);
#endif
            continue; /* The same tray once more. */
        }
        baker->trays++;
        bakery->sold++;
        give_back(baker);
    }
    RT_END(baker->at);
}

static void check(struct sim_world *world, void *state)
{
    struct bakery *bakery = state;
    (void)world;
    SIM_ALWAYS(bakery->sold == BAKERS * TRAYS);
}

static void setup(struct sim_world *world)
{
    static const char *const names[BAKERS] = {"anna", "bruno", "carla"};
    struct sim_rt *rt = sim_rt_new(world, NULL);
    struct bakery *bakery = sim_new(world, struct bakery);
    bakery->world = world;
    rt_semaphore_init(&bakery->ovens, 2);
    sim_set_state(world, bakery);
    for (uint32_t i = 0; i < BAKERS; i++) {
        struct baker *baker = sim_new(world, struct baker);
        baker->bakery = bakery;
        rt_task_init(&baker->task, baker_poll, NULL, names[i]);
        sim_spawn(rt, &baker->task);
    }
}

#ifdef FIXED
#define FORM "fixed"
#else
#define FORM "broken"
#endif
SIM_SCENARIO(bakery_scenario, .name = "s22/bakery/" FORM, .about = "Three bakers, two ovens.",
        .setup = setup, .check = check);
