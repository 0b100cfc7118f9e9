/* Cause: timer_cancel(), lines 66-68: a cook whose timer has fired still has its number (cook->timer); another cook that is polled before has started a timer in the same entry (47-53, last freed is first used); the cancel (102) of the first one then erases the timer of the other. Needs two timers that fire together, or one that fires together with the stove's wake. Harm: the other cook is never woken: hang (lost-wakeup), or late-wakeup where another wake ends the stall; no assert. Fix: cancel only where the generation is the cook's own. */
#include <sim/rewake.h>

#define COOKS 3
#define TIMERS 4

struct cook {
    struct kitchen *kitchen;
    const char *name;
    bool woken;
    bool finished;
    uint32_t step;
    uint32_t timer;      /* Its number in the table. */
    uint32_t generation; /* Of that entry. */
    uint64_t patience_ns;
    uint64_t rest_ns;
};

struct timer {
    struct cook *cook; /* NULL: free. */
    uint64_t due_ns;
    uint32_t generation;
};

struct kitchen {
    struct rt_host *host;
    struct rt_pollable bell;
    struct timer timers[TIMERS];
    uint32_t free[TIMERS]; /* Numbers of free timers; the last one is next. */
    uint32_t free_count;
    struct cook cooks[COOKS];
    bool pan_hot;
};

static void
timer_free(struct kitchen *kitchen, struct timer *timer)
{
    timer->cook = NULL;
    kitchen->free[kitchen->free_count++] = (uint32_t)(timer - kitchen->timers);
}

static void
timer_start(struct cook *cook, uint64_t ns, const char *what)
{
    struct kitchen *kitchen = cook->kitchen;
    SIM_ALWAYS(kitchen->free_count > 0);
    uint32_t i = kitchen->free[--kitchen->free_count];
    struct timer *timer = &kitchen->timers[i];
    timer->cook = cook;
    timer->due_ns = rt_host_now(kitchen->host) + ns;
    timer->generation++;
    cook->timer = i;
    cook->generation = timer->generation;
    sim_foreign_store(cook, timer, what);
}

static void
timer_cancel(struct cook *cook)
{
    struct timer *timer = &cook->kitchen->timers[cook->timer];
#ifdef FIXED
    if (timer->generation != cook->generation) {
        return;
    }
#endif
    if (timer->cook != NULL) {
        sim_foreign_erase(timer);
        timer_free(cook->kitchen, timer);
    }
}

static void
fire_due(struct kitchen *kitchen)
{
    uint64_t now = rt_host_now(kitchen->host);
    for (uint32_t i = 0; i < TIMERS; i++) {
        struct timer *timer = &kitchen->timers[i];
        if (timer->cook != NULL && timer->due_ns <= now) {
            struct cook *cook = timer->cook;
            sim_foreign_fire(timer);
            timer_free(kitchen, timer);
            cook->woken = true;
        }
    }
}

static bool
cook_poll(struct cook *cook)
{
    struct kitchen *kitchen = cook->kitchen;
    struct timer *timer = &kitchen->timers[cook->timer];
    bool running = timer->cook == cook && timer->generation == cook->generation;
    switch (cook->step) {
    case 0:
        timer_start(cook, cook->patience_ns, "patience with the pan");
        cook->step = 1;
        return false;
    case 1:
        if (!kitchen->pan_hot && running) {
            return false;
        }
        timer_cancel(cook);
        timer_start(cook, cook->rest_ns, "the dough that rests");
        cook->step = 2;
        return false;
    default:
        return timer->generation != cook->generation ||
                rt_host_now(kitchen->host) >= timer->due_ns;
    }
}

static void
cook_run(struct cook *cook)
{
    cook->woken = false;
    sim_foreign_poll(cook);
    cook->finished = cook_poll(cook);
    sim_foreign_polled(cook, cook->finished);
}

static void
again(void *kitchen, void *task)
{
    (void)kitchen;
    cook_run(task);
}

/* Until the next timer, or the bell. */
static void
kitchen_sleep(struct kitchen *kitchen)
{
    struct rt_pollable instant = {.host = NULL};
    struct rt_pollable *list[2] = {&kitchen->bell, &instant};
    uint32_t ready[2], count;
    uint64_t next = UINT64_MAX;
    for (uint32_t i = 0; i < TIMERS; i++) {
        if (kitchen->timers[i].cook != NULL && kitchen->timers[i].due_ns < next) {
            next = kitchen->timers[i].due_ns;
        }
    }
    if (next != UINT64_MAX) {
        SIM_ALWAYS(rt_subscribe_instant(kitchen->host, next, &instant) == RT_OK);
    }
    SIM_ALWAYS(rt_host_poll(kitchen->host, list, next == UINT64_MAX ? 1 : 2, ready, &count) ==
            RT_OK);
    rt_pollable_drop(&instant);
}

static void
kitchen_main(struct sim_world *world, void *argument)
{
    struct kitchen *kitchen = argument;
    uint32_t left = COOKS;
    (void)world;
    while (left > 0) {
        bool any = false;
        fire_due(kitchen);
        for (uint32_t i = 0; i < COOKS; i++) {
            struct cook *cook = &kitchen->cooks[i];
            if (cook->woken && !cook->finished) {
                cook_run(cook);
                left -= cook->finished;
                any = true;
            }
        }
        if (!any && left > 0) {
            kitchen_sleep(kitchen);
        }
    }
    rt_pollable_drop(&kitchen->bell);
}

static void
stove_main(struct sim_world *world, void *argument)
{
    struct kitchen *kitchen = argument;
    sim_sleep(world, sim_range(world, RT_MS, 4 * RT_MS));
    kitchen->pan_hot = true;
    for (uint32_t i = 0; i < COOKS; i++) {
        kitchen->cooks[i].woken = true;
    }
    rt_host_notify(kitchen->host);
}

static void
setup(struct sim_world *world)
{
    static const char *const names[COOKS] = {"crust", "glaze", "stew"};
    struct kitchen *kitchen = sim_new(world, struct kitchen);
    kitchen->host = sim_host_seam(sim_host_new(world, NULL, SIM_PROFILE_DEFAULT));
    SIM_ALWAYS(rt_host_subscribe(kitchen->host, RT_SUBSCRIBE_NOTIFY, 0, &kitchen->bell) == RT_OK);
    struct sim_loop *loop = sim_loop_new(world, "kitchen", kitchen_main, kitchen);
    struct sim_foreign *foreign = sim_foreign_new(loop, again, kitchen);
    for (uint32_t i = TIMERS; i > 0; i--) {
        timer_free(kitchen, &kitchen->timers[i - 1]);
    }
    for (uint32_t i = 0; i < COOKS; i++) {
        struct cook *cook = &kitchen->cooks[i];
        cook->kitchen = kitchen;
        cook->name = names[i];
        cook->woken = true;
        cook->patience_ns = sim_range(world, RT_MS, 3 * RT_MS);
        cook->rest_ns = sim_range(world, RT_MS, 3 * RT_MS);
        sim_foreign_spawn(foreign, cook, names[i]);
    }
    (void)sim_loop_new(world, "stove", stove_main, kitchen);
}

#ifdef FIXED
#define FORM "fixed"
#else
#define FORM "broken"
#endif
SIM_SCENARIO(kitchen, .name = "s21/kitchen/" FORM, .about = "Cooks with egg timers.", .setup = setup);
