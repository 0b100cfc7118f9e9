/* Cause: an entry left in a wait queue takes the wake of the next one. car_board() returns on time-out (46-50) without rt_wait_queue_leave. Order: the van stores itself in the queue (52) in front of at least one other car, runs out of patience (46), and drives the bridge (detour, 65-66, 20 ms: the task lives on and so its entry stays; once the task has ended the entry is skipped, and nothing goes wrong); the ferry gives a place and wakes one (80-81): the van, which does nothing with it; the ferry gives as many places as there are cars left (76) and ends. Harm: lost wake-up: the last car waits forever although places is 1. Fix: leave the queue on time-out (47-49). */
#include <sim/rewake.h>

#define CARS 3

struct pier {
    struct rt_wait_queue queue;
    struct rt_wait_queue_entry entries[CARS];
    uint32_t places; /* Free ones on the ferry that lies here. */
    uint32_t carried;
    uint32_t gone;  /* Over the bridge. */
    uint32_t given; /* Places that there were so far. */
};

struct car {
    struct rt_task task;
    struct pier *pier;
    struct rt_sleep patience;
    struct rt_sleep detour;
    uint64_t patience_ns;
    uint32_t at;
    bool aboard;
};

struct ferry {
    struct rt_task task;
    struct pier *pier;
    struct rt_sleep crossing;
    uint64_t crossing_ns[CARS];
    uint32_t at;
};

/* READY: aboard, or out of patience. */
static rt_poll
car_board(struct car *car, struct rt_cx *cx)
{
    struct pier *pier = car->pier;
    if (pier->places > 0) {
        pier->places--;
        pier->carried++;
        car->aboard = true;
        (void)rt_wait_queue_leave(&pier->queue, cx);
        rt_sleep_cancel(&car->patience);
        return RT_READY;
    }
    if (rt_sleep_poll(&car->patience, cx) == RT_READY) {
#ifdef FIXED
        (void)rt_wait_queue_leave(&pier->queue, cx);
#endif
        return RT_READY;
    }
    SIM_ALWAYS(rt_wait_queue_store(&pier->queue, cx, "a place on the ferry") == RT_OK);
    return RT_PENDING;
}

static rt_poll
car_poll(struct rt_task *task, struct rt_cx *cx)
{
    struct car *car = rt_container_of(task, struct car, task);
    RT_BEGIN(car->at);
    rt_sleep_init(&car->patience, car->patience_ns);
    RT_AWAIT_HERE(car->at, car_board(car, cx));
    if (!car->aboard) {
        car->pier->gone++;
        rt_sleep_init(&car->detour, 20 * RT_MS); /* Over the bridge. */
        RT_AWAIT_HERE(car->at, rt_sleep_poll(&car->detour, cx));
    }
    RT_END(car->at);
}

static rt_poll
ferry_poll(struct rt_task *task, struct rt_cx *cx)
{
    struct ferry *ferry = rt_container_of(task, struct ferry, task);
    RT_BEGIN(ferry->at);
    while (ferry->pier->given < CARS - ferry->pier->gone) {
        rt_sleep_init(&ferry->crossing, ferry->crossing_ns[ferry->pier->given]);
        RT_AWAIT_HERE(ferry->at, rt_sleep_poll(&ferry->crossing, cx));
        ferry->pier->given++;
        ferry->pier->places++;
        rt_wait_queue_wake(&ferry->pier->queue, 1);
    }
    RT_END(ferry->at);
}

static void
setup(struct sim_world *world)
{
    static const char *const names[CARS] = {"van", "taxi", "bus"};
    struct sim_rt *rt = sim_rt_new(world, NULL);
    struct pier *pier = sim_new(world, struct pier);
    struct ferry *ferry = sim_new(world, struct ferry);
    rt_wait_queue_init(&pier->queue, pier->entries, CARS);
    for (uint32_t i = 0; i < CARS; i++) {
        struct car *car = sim_new(world, struct car);
        car->pier = pier;
        /* The van is in a hurry, the others have time. */
        car->patience_ns = i == 0 ? sim_range(world, 3 * RT_MS, 8 * RT_MS) : RT_NEVER;
        rt_task_init(&car->task, car_poll, NULL, names[i]);
        sim_spawn(rt, &car->task);
    }
    ferry->pier = pier;
    for (uint32_t i = 0; i < CARS; i++) {
        ferry->crossing_ns[i] = sim_range(world, 2 * RT_MS, 9 * RT_MS);
    }
    rt_task_init(&ferry->task, ferry_poll, NULL, "ferry");
    sim_spawn(rt, &ferry->task);
}

#ifdef FIXED
#define FORM "fixed"
#else
#define FORM "broken"
#endif
SIM_SCENARIO(ferry, .name = "s23/ferry/" FORM, .about = "Cars queue for a ferry.", .setup = setup);
