/* Cause: miller_poll() computes the index last (48) before it waits for the scale and the weighing (50, 52); carter_poll() takes a sack meanwhile (74) and last is then beyond the end (60). (Tasks.) */
#include <sim/rewake.h>

#define SACKS 4

struct granary {
    uint32_t sacks[SACKS]; /* Kilos. */
    uint32_t count;
    uint32_t milled;
    uint32_t carted;
    struct rt_semaphore scale;
};

struct miller {
    struct rt_task task;
    struct granary *granary;
    struct rt_acquire acquire;
    struct rt_sleep weighing;
    uint32_t last;
    uint32_t at;
};

struct carter {
    struct rt_task task;
    struct granary *granary;
    struct rt_sleep road;
    uint64_t road_ns;
    uint32_t at;
};

static uint32_t
granary_take(struct granary *granary, uint32_t index)
{
    SIM_ALWAYS(index < granary->count);
    uint32_t kilos = granary->sacks[index];
    granary->sacks[index] = granary->sacks[--granary->count];
    SIM_PROGRESS();
    return kilos;
}

static rt_poll
miller_poll(struct rt_task *task, struct rt_cx *cx)
{
    struct miller *miller = rt_container_of(task, struct miller, task);
    struct granary *granary = miller->granary;
    RT_BEGIN(miller->at);
    while (granary->count > 0) {
        miller->last = granary->count - 1;
        rt_acquire_init(&miller->acquire, &granary->scale, 1);
        RT_AWAIT_HERE(miller->at, rt_acquire_poll(&miller->acquire, cx));
        rt_sleep_init(&miller->weighing, 1 * RT_MS);
        RT_AWAIT_HERE(miller->at, rt_sleep_poll(&miller->weighing, cx));
        SIM_ALWAYS(rt_semaphore_release(&granary->scale, 1) == RT_OK);
#ifdef FIXED
        if (granary->count == 0) {
            break;
        }
        miller->last = granary->count - 1;
#endif
        granary->milled += granary_take(granary, miller->last);
    }
    RT_END(miller->at);
}

static rt_poll
carter_poll(struct rt_task *task, struct rt_cx *cx)
{
    struct carter *carter = rt_container_of(task, struct carter, task);
    struct granary *granary = carter->granary;
    RT_BEGIN(carter->at);
    rt_sleep_init(&carter->road, carter->road_ns);
    RT_AWAIT_HERE(carter->at, rt_sleep_poll(&carter->road, cx));
    if (granary->count > 1) {
        granary->carted += granary_take(granary, 0);
    }
    RT_END(carter->at);
}

static void
check(struct sim_world *world, void *state)
{
    struct granary *granary = state;
    (void)world;
    SIM_ALWAYS(granary->count == 0);
    SIM_ALWAYS(granary->milled + granary->carted == SACKS * 50);
}

static void
setup(struct sim_world *world)
{
    struct sim_rt *rt = sim_rt_new(world, NULL);
    struct granary *granary = sim_new(world, struct granary);
    struct miller *miller = sim_new(world, struct miller);
    struct carter *carter = sim_new(world, struct carter);
    for (granary->count = 0; granary->count < SACKS; granary->count++) {
        granary->sacks[granary->count] = 50;
    }
    rt_semaphore_init(&granary->scale, 1);
    miller->granary = carter->granary = granary;
    carter->road_ns = sim_range(world, 5 * RT_MS, 7 * RT_MS) - 4 * RT_MS * sim_pick(world, 2);
    rt_task_init(&miller->task, miller_poll, NULL, "miller");
    rt_task_init(&carter->task, carter_poll, NULL, "carter");
    sim_spawn(rt, &miller->task);
    sim_spawn(rt, &carter->task);
    sim_set_state(world, granary);
}

#ifdef FIXED
#define FORM "fixed"
#else
#define FORM "broken"
#endif
SIM_SCENARIO(granary, .name = "s19/granary/" FORM, .about = "A miller and a carter empty one bin.",
        .setup = setup, .check = check);
