/* Cause: Priority inversion by a spinning task. The executor always runs the woken task with the highest priority (98-100). caster_poll() (priority 2): when the mould is there but the ladle is taken, it wakes itself and returns (80-83), so it is always woken; smelter (priority 1), which holds the ladle (65) and is woken (68), is never polled again and never puts it back (51). Order: the smelter has taken the ladle and not finished its six heats; the crane brings the mould (119) and wakes the caster (124). Harm: endless spinning of the caster (livelock/starvation of the smelter); the run does not end. No wake is lost: the smelter *is* woken, and passed over. If the crane comes after the sixth heat it passes. Fix: lines 79-84 away: the caster stores itself as the waiter (85), and ladle_put() wakes it (52-57). */
#include <sim/rewake.h>

#define TASKS 2

struct task {
    struct shop *shop;
    bool (*poll)(struct task *task);
    uint32_t priority; /* Greater is sooner. */
    bool woken;
    bool finished;
};

struct shop {
    struct sim_world *world;
    struct rt_host *host;
    struct rt_pollable bell;
    struct task *tasks[TASKS]; /* By priority, the highest first. */
    struct task caster;
    struct task smelter;
    struct task *waiter; /* For the ladle. */
    bool asleep;
    bool ladle_taken;
    bool mould_ready;
    uint32_t heats;
};

static void task_wake(struct task *task)
{
    task->woken = true;
    if (task->shop->asleep)
        rt_host_notify(task->shop->host);
}

static void task_run(struct task *task)
{
    task->woken = false;
    sim_foreign_poll(task);
    task->finished = task->poll(task);
    sim_foreign_polled(task, task->finished);
}

static void again(void *shop, void *task)
{
    (void)shop;
    task_run(task);
}

static void ladle_put(struct shop *shop)
{
    shop->ladle_taken = false;
    if (shop->waiter != NULL) {
        struct task *waiter = shop->waiter;
        sim_foreign_fire(&shop->waiter);
        shop->waiter = NULL;
        task_wake(waiter);
    }
}

/* Melts in small steps, the ladle under the furnace. */
static bool smelter_poll(struct task *task)
{
    struct shop *shop = task->shop;
    if (shop->heats == 0)
        shop->ladle_taken = true;
    sim_work(shop->world, 300 * RT_US);
    if (++shop->heats < 6) {
        task_wake(task); /* Others may go first. */
        return false;
    }
    ladle_put(shop);
    return true;
}

static bool caster_poll(struct task *task)
{
    struct shop *shop = task->shop;
    if (!shop->mould_ready || shop->ladle_taken) {
#ifndef FIXED
        if (shop->mould_ready) {
            task_wake(task); /* Somebody has it: try again. */
            return false;
        }
#endif
        shop->waiter = task;
        sim_foreign_store(task, &shop->waiter, "the ladle and a mould");
        return false;
    }
    return true;
}

static void shop_main(struct sim_world *world, void *argument)
{
    struct shop *shop = argument;
    (void)world;
    while (!shop->caster.finished || !shop->smelter.finished) {
        struct task *next = NULL;
        for (uint32_t i = 0; i < TASKS && next == NULL; i++)
            if (shop->tasks[i]->woken)
                next = shop->tasks[i];
        if (next != NULL) {
            task_run(next);
            continue;
        }
        struct rt_pollable *list[1] = {&shop->bell};
        uint32_t ready[1], count = 1;
        shop->asleep = true;
        SIM_ALWAYS(rt_host_poll(shop->host, list, 1, ready, &count) == RT_OK);
        shop->asleep = false;
    }
    rt_pollable_drop(&shop->bell);
}

/* A crane brings the mould. */
static void crane_main(struct sim_world *world, void *argument)
{
    struct shop *shop = argument;
    sim_sleep(world, sim_range(world, 3 * RT_MS, 5 * RT_MS) - sim_range(world, 0, 3 * RT_MS));
    shop->mould_ready = true;
    if (shop->waiter != NULL) {
        sim_foreign_fire(&shop->waiter);
        shop->waiter = NULL;
    }
    task_wake(&shop->caster);
}

static void setup(struct sim_world *world)
{
    struct shop *shop = sim_new(world, struct shop);
    shop->world = world;
    shop->host = sim_host_seam(sim_host_new(world, NULL, SIM_PROFILE_DEFAULT));
    SIM_ALWAYS(rt_host_subscribe(shop->host, RT_SUBSCRIBE_NOTIFY, 0, &shop->bell) == RT_OK);
    shop->caster = (struct task){shop, caster_poll, 2, true, false};
    shop->smelter = (struct task){shop, smelter_poll, 1, true, false};
    shop->tasks[0] = &shop->caster;
    shop->tasks[1] = &shop->smelter;
    struct sim_loop *loop = sim_loop_new(world, "foundry", shop_main, shop);
    struct sim_foreign *foreign = sim_foreign_new(loop, again, shop);
    sim_foreign_spawn(foreign, &shop->caster, "caster");
    sim_foreign_spawn(foreign, &shop->smelter, "smelter");
    (void)sim_loop_new(world, "crane", crane_main, shop);
}

#ifdef FIXED
#define FORM "fixed"
#else
#define FORM "broken"
#endif
SIM_SCENARIO(foundry_scenario, .name = "s22/foundry/" FORM, .about = "Priorities, and one ladle.",
        .setup = setup);
