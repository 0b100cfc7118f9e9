/* Cause: keeper_poll() handles exactly one order for each notification (47), but rt_notify_one() (72) stores at most one permit: two orders given while the keeper winds (50) are one notification, the last order stays in the queue and the keeper waits forever (43). (Tasks, notify.) */
#include <sim/rewake.h>

#define ORDERS 4
#define GATES 3

struct weir {
    int height[GATES];
    struct {
        uint32_t gate;
        int by;
    } orders[ORDERS];
    uint32_t head, tail;
    struct rt_notify ordered;
};

struct keeper {
    struct rt_task task;
    struct weir *weir;
    struct rt_notified notified;
    struct rt_sleep winding;
    uint32_t wound;
    uint32_t at;
};

struct office {
    struct rt_task task;
    struct weir *weir;
    struct sim_world *world;
    struct rt_sleep pause;
    uint32_t first, count, given;
    uint32_t at;
};

static rt_poll
keeper_poll(struct rt_task *task, struct rt_cx *cx)
{
    struct keeper *keeper = rt_container_of(task, struct keeper, task);
    struct weir *weir = keeper->weir;
    RT_BEGIN(keeper->at);
    while (keeper->wound < ORDERS) {
        rt_notified_init(&keeper->notified, &weir->ordered);
        RT_AWAIT_HERE(keeper->at, rt_notified_poll(&keeper->notified, cx));
#ifdef FIXED
        while (weir->head != weir->tail) {
#else
        if (weir->head != weir->tail) {
#endif
            rt_sleep_init(&keeper->winding, 1 * RT_MS);
            RT_AWAIT_HERE(keeper->at, rt_sleep_poll(&keeper->winding, cx));
            weir->height[weir->orders[weir->head].gate] += weir->orders[weir->head].by;
            weir->head++;
            keeper->wound++;
            SIM_PROGRESS();
        }
    }
    RT_END(keeper->at);
}

static rt_poll
office_poll(struct rt_task *task, struct rt_cx *cx)
{
    struct office *office = rt_container_of(task, struct office, task);
    struct weir *weir = office->weir;
    RT_BEGIN(office->at);
    for (office->given = 0; office->given < office->count; office->given++) {
        rt_sleep_init(&office->pause, sim_range(office->world, 2 * RT_MS, 4 * RT_MS));
        RT_AWAIT_HERE(office->at, rt_sleep_poll(&office->pause, cx));
        weir->orders[weir->tail].gate = (office->first + office->given) % GATES;
        weir->orders[weir->tail].by = office->first == 0 ? 1 : -1;
        weir->tail++;
        rt_notify_one(&weir->ordered);
    }
    RT_END(office->at);
}

static void
spawn_office(struct sim_world *world, struct sim_rt *rt, struct weir *weir, const char *name,
        uint32_t first, uint32_t count)
{
    struct office *office = sim_new(world, struct office);
    office->weir = weir;
    office->world = world;
    office->first = first;
    office->count = count;
    rt_task_init(&office->task, office_poll, NULL, name);
    sim_spawn(rt, &office->task);
}

static void
check(struct sim_world *world, void *state)
{
    struct weir *weir = state;
    (void)world;
    SIM_ALWAYS(weir->height[0] + weir->height[1] + weir->height[2] == 2);
}

static void
setup(struct sim_world *world)
{
    struct sim_rt *rt = sim_rt_new(world, NULL);
    struct weir *weir = sim_new(world, struct weir);
    struct keeper *keeper = sim_new(world, struct keeper);
    rt_notify_init(&weir->ordered);
    keeper->weir = weir;
    rt_task_init(&keeper->task, keeper_poll, NULL, "keeper");
    sim_spawn(rt, &keeper->task);
    spawn_office(world, rt, weir, "river office", 0, 3);
    spawn_office(world, rt, weir, "harbour office", 1, 1);
    sim_set_state(world, weir);
}

#ifdef FIXED
#define FORM "fixed"
#else
#define FORM "broken"
#endif
SIM_SCENARIO(weirgate, .name = "s19/weirgate/" FORM, .about = "Two offices order gates up and down.",
        .setup = setup, .check = check);
