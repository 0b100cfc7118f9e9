/* Cause: visitor_poll(): a visitor that was called away (83) leaves without giving back the place that turnstile_free_place() (56) had already handed over to it (admitted), so the place is lost and the next in the queue waits forever. (Own executor; resource lost on a cancel path.) */
#include <sim/rewake.h>

#define VISITORS 2

struct visitor {
    struct museum *museum;
    const char *name;
    bool woken, finished;
    bool queued;
    bool admitted;    /* A place is theirs. */
    bool called_away; /* By telephone: does not want in any more. */
};

struct museum {
    struct rt_host *host;
    struct rt_pollable bell;
    struct visitor visitors[VISITORS];
    struct visitor *queue[VISITORS];
    uint32_t queued;
    uint32_t places;
    uint32_t seen;
};

static void
visitor_wake(struct visitor *visitor)
{
    visitor->woken = true;
    rt_host_notify(visitor->museum->host);
}

static void
turnstile_leave(struct museum *museum, struct visitor *visitor)
{
    uint32_t kept = 0;
    for (uint32_t i = 0; i < museum->queued; i++) {
        if (museum->queue[i] != visitor) {
            museum->queue[kept++] = museum->queue[i];
        }
    }
    museum->queued = kept;
    visitor->queued = false;
    sim_foreign_erase(&visitor->queued);
}

static void
turnstile_free_place(struct museum *museum)
{
    if (museum->queued == 0) {
        museum->places++;
        return;
    }
    struct visitor *next = museum->queue[0];
    sim_foreign_fire(&next->queued);
    turnstile_leave(museum, next);
    next->admitted = true;
    visitor_wake(next);
}

static bool
turnstile_enter(struct museum *museum, struct visitor *visitor)
{
    if (!visitor->admitted && !visitor->queued && museum->places > 0) {
        museum->places--;
        visitor->admitted = true;
    }
    if (!visitor->admitted) {
        if (!visitor->queued) {
            museum->queue[museum->queued++] = visitor;
            visitor->queued = true;
        }
        sim_foreign_store(visitor, &visitor->queued, "a place in the museum");
    }
    return visitor->admitted;
}

static void
visitor_poll(struct visitor *visitor)
{
    struct museum *museum = visitor->museum;
    visitor->woken = false;
    sim_foreign_poll(visitor);
    if (visitor->called_away) {
#ifdef FIXED
        if (visitor->admitted) {
            turnstile_free_place(museum);
        }
#endif
        if (visitor->queued) {
            turnstile_leave(museum, visitor);
        }
        visitor->finished = true;
    } else if (turnstile_enter(museum, visitor)) {
        museum->seen++;
        turnstile_free_place(museum);
        visitor->finished = true;
    }
    sim_foreign_polled(visitor, visitor->finished);
}

static void
visitor_again(void *museum, void *visitor)
{
    (void)museum;
    visitor_poll(visitor);
}

static void
museum_main(struct sim_world *world, void *argument)
{
    struct museum *museum = argument;
    struct rt_pollable *list[1] = {&museum->bell};
    uint32_t ready[1], count, finished;
    (void)world;
    for (;;) {
        finished = 0;
        for (uint32_t i = 0; i < VISITORS; i++) {
            if (museum->visitors[i].woken && !museum->visitors[i].finished) {
                visitor_poll(&museum->visitors[i]);
            }
            finished += museum->visitors[i].finished;
        }
        if (finished == VISITORS) {
            break;
        }
        SIM_ALWAYS(rt_host_poll(museum->host, list, 1, ready, &count) == RT_OK);
    }
    rt_pollable_drop(&museum->bell);
}

static void
guard_main(struct sim_world *world, void *argument)
{
    sim_sleep(world, sim_range(world, 1 * RT_MS, 3 * RT_MS));
    turnstile_free_place(argument);
}

static void
telephone_main(struct sim_world *world, void *argument)
{
    struct museum *museum = argument;
    sim_sleep(world, sim_range(world, 2 * RT_MS, 4 * RT_MS));
    museum->visitors[0].called_away = true;
    visitor_wake(&museum->visitors[0]);
}

static void
setup(struct sim_world *world)
{
    static const char *const names[VISITORS] = {"anna", "bert"};
    struct museum *museum = sim_new(world, struct museum);
    museum->host = sim_host_seam(sim_host_new(world, NULL, SIM_PROFILE_DEFAULT));
    SIM_ALWAYS(rt_host_subscribe(museum->host, RT_SUBSCRIBE_NOTIFY, 0, &museum->bell) == RT_OK);
    struct sim_loop *loop = sim_loop_new(world, "museum", museum_main, museum);
    struct sim_foreign *foreign = sim_foreign_new(loop, visitor_again, museum);
    for (uint32_t i = 0; i < VISITORS; i++) {
        museum->visitors[i] = (struct visitor){.museum = museum, .name = names[i], .woken = true};
        sim_foreign_spawn(foreign, &museum->visitors[i], names[i]);
    }
    (void)sim_loop_new(world, "guard", guard_main, museum);
    (void)sim_loop_new(world, "telephone", telephone_main, museum);
}

#ifdef FIXED
#define FORM "fixed"
#else
#define FORM "broken"
#endif
SIM_SCENARIO(turnstile, .name = "s19/turnstile/" FORM, .about = "Visitors queue for one place.",
        .setup = setup);
