/* Cause: put_in(), line 59: the clock still runs for the dough, so the post is refused as posted already and the bread is taken out at the time of the dough; repair: cancel it first. */
#include <sim/rewake.h>

enum stage { RISING, BAKING, DONE };

struct kitchen {
    struct sim_world *world;
    struct sim_rt *rt;
    struct rt_callback clock;
    enum stage stage;
    uint64_t put_in_ns;
    bool resets;
};

struct cook {
    struct rt_task task;
    struct kitchen *kitchen;
    uint32_t at;
    struct rt_sleep walk;
};

static void put_in(struct kitchen *kitchen);

static void
on_clock(void *argument, rt_err status)
{
    struct kitchen *kitchen = argument;
    if (status == RT_E_CANCELLED) {
        return;
    }
    switch (kitchen->stage) {
    case RISING:
        put_in(kitchen);
        break;
    case BAKING:
        SIM_ALWAYS(sim_now(kitchen->world) - kitchen->put_in_ns >= 20 * RT_MS);
        kitchen->stage = DONE;
        break;
    case DONE:
        break;
    }
}

static void
set_clock(struct kitchen *kitchen, uint64_t ns)
{
    rt_err err = rt_callback_post_after(sim_rt_executor(kitchen->rt), &kitchen->clock, ns);
    SIM_ALWAYS(err == RT_OK || err == RT_E_POSTED);
}

static void
put_in(struct kitchen *kitchen)
{
    kitchen->stage = BAKING;
    kitchen->put_in_ns = sim_now(kitchen->world);
    if (kitchen->resets) {
        rt_callback_cancel(&kitchen->clock);
    }
    set_clock(kitchen, 20 * RT_MS);
}

/* Looks at the dough, which may have risen before its time. */
static rt_poll
cook_poll(struct rt_task *task, struct rt_cx *cx)
{
    struct cook *cook = rt_container_of(task, struct cook, task);
    struct kitchen *kitchen = cook->kitchen;
    RT_BEGIN(cook->at);
    rt_sleep_init(&cook->walk, sim_range(kitchen->world, 12 * RT_MS, 16 * RT_MS) -
                                       sim_range(kitchen->world, 0, 8 * RT_MS));
    RT_AWAIT_HERE(cook->at, rt_sleep_poll(&cook->walk, cx));
    if (kitchen->stage == RISING) {
        put_in(kitchen);
    }
    RT_END(cook->at);
}

static void
set_up(struct sim_world *world, bool resets)
{
    struct sim_rt *rt = sim_rt_new(world, NULL);
    struct kitchen *kitchen = sim_new(world, struct kitchen);
    struct cook *cook = sim_new(world, struct cook);
    kitchen->world = world;
    kitchen->rt = rt;
    kitchen->resets = resets;
    rt_callback_init(&kitchen->clock, on_clock, kitchen, "clock");
    set_clock(kitchen, 10 * RT_MS);
    cook->kitchen = kitchen;
    rt_task_init(&cook->task, cook_poll, NULL, "cook");
    sim_spawn(rt, &cook->task);
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

SIM_SCENARIO(broken, .name = "s18/oven/broken", .about = "One kitchen clock for dough and bread.",
        .setup = set_up_broken);
SIM_SCENARIO(fixed, .name = "s18/oven/fixed", .about = "One kitchen clock for dough and bread.",
        .setup = set_up_fixed);
