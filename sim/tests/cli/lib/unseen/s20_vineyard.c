/* Cause: vintner_deliver(), line 54: juice is put into the vat if it is in use, by whichever load. Order: the deadline of a load passes (83), the vat is emptied and used for the next load (90, 77); the press finishes the old job and delivers into it (58). Harm: SIM_ALWAYS 82. Fix: compare the serial (52).
 */
#include <sim/rewake.h>

#define LOADS 4
#define PATIENCE_NS (5 * RT_MS)

struct job {
    uint32_t serial;
    uint32_t grapes; /* 0: the press is switched off. */
};

struct vat {
    bool used;
    uint32_t serial;
    uint32_t juice; /* 0: not pressed yet. */
    bool awaited;   /* The vintner is to be woken. */
};

struct press {
    struct rt_host *host;
    struct rt_pollable lever;
    struct job jobs[LOADS + 1];
    uint32_t asked, taken;
};

struct vintner {
    struct rt_host *host;
    struct rt_pollable bell;
    struct press *press;
    struct vat vat; /* One load at a time. */
    uint32_t serial;
    uint32_t load;
    uint64_t deadline_ns;
    bool woken, finished;
    uint32_t given_up;
};

static void
press_put(struct press *press, struct job job)
{
    press->jobs[press->asked++] = job;
    rt_host_notify(press->host);
}

/* Of the press's thread. */
static void
vintner_deliver(struct vintner *vintner, const struct job *job)
{
    struct vat *vat = &vintner->vat;
#ifdef FIXED
    if (!vat->used || vat->serial != job->serial) {
#else
    if (!vat->used) {
#endif
        return;
    }
    vat->juice = 7 * job->grapes;
    if (vat->awaited) {
        vat->awaited = false;
        sim_foreign_fire(vat);
        vintner->woken = true;
        rt_host_notify(vintner->host);
    }
}

static bool
vintner_poll(struct vintner *vintner)
{
    struct vat *vat = &vintner->vat;
    for (;;) {
        uint64_t now = rt_host_now(vintner->host);
        if (!vat->used) {
            if (vintner->load == LOADS) {
                return true;
            }
            *vat = (struct vat){.used = true, .serial = ++vintner->serial};
            vintner->deadline_ns = now + PATIENCE_NS;
            press_put(vintner->press, (struct job){vintner->serial, 10 + vintner->load});
        }
        if (vat->juice != 0) {
            SIM_ALWAYS(vat->juice == 7 * (10 + vintner->load));
        } else if (now >= vintner->deadline_ns) {
            vintner->given_up++;
        } else {
            vat->awaited = true;
            sim_foreign_store(vintner, vat, "juice");
            return false;
        }
        *vat = (struct vat){0};
        vintner->load++;
    }
}

/* Also the oracle's question. */
static void
vintner_run(void *runtime, void *task)
{
    struct vintner *vintner = task;
    (void)runtime;
    vintner->woken = false;
    sim_foreign_poll(vintner);
    vintner->finished = vintner_poll(vintner);
    sim_foreign_polled(vintner, vintner->finished);
}

static void
host_wait(struct rt_host *host, struct rt_pollable *bell, uint64_t deadline_ns)
{
    struct rt_pollable deadline = {0};
    struct rt_pollable *list[2] = {bell, &deadline};
    uint32_t ready[2], count;
    SIM_ALWAYS(rt_subscribe_instant(host, deadline_ns, &deadline) == RT_OK);
    SIM_ALWAYS(rt_host_poll(host, list, 2, ready, &count) == RT_OK);
    rt_pollable_drop(&deadline);
}

static void
executor_main(struct sim_world *world, void *argument)
{
    struct vintner *vintner = argument;
    vintner_run(NULL, vintner);
    while (!vintner->finished) {
        host_wait(vintner->host, &vintner->bell, vintner->deadline_ns);
        if (vintner->woken || rt_host_now(vintner->host) >= vintner->deadline_ns) {
            vintner_run(NULL, vintner);
        }
    }
    rt_pollable_drop(&vintner->bell);
    sim_log(world, "%u loads were given up", vintner->given_up);
    press_put(vintner->press, (struct job){0, 0});
}

static void
press_main(struct sim_world *world, void *argument)
{
    struct vintner *vintner = argument;
    struct press *press = vintner->press;
    for (;;) {
        while (press->taken == press->asked) {
            host_wait(press->host, &press->lever, RT_NEVER);
        }
        struct job job = press->jobs[press->taken++];
        if (job.grapes == 0) {
            break;
        }
        sim_sleep(world, sim_range(world, 2 * RT_MS, 7 * RT_MS));
        vintner_deliver(vintner, &job);
    }
    rt_pollable_drop(&press->lever);
}

static void
setup(struct sim_world *world)
{
    struct vintner *vintner = sim_new(world, struct vintner);
    struct press *press = sim_new(world, struct press);
    vintner->host = sim_host_seam(sim_host_new(world, "cellar", SIM_PROFILE_DEFAULT));
    press->host = sim_host_seam(sim_host_new(world, "press", SIM_PROFILE_DEFAULT));
    SIM_ALWAYS(rt_host_subscribe(vintner->host, RT_SUBSCRIBE_NOTIFY, 0, &vintner->bell) == RT_OK);
    SIM_ALWAYS(rt_host_subscribe(press->host, RT_SUBSCRIBE_NOTIFY, 0, &press->lever) == RT_OK);
    vintner->press = press;
    struct sim_loop *loop = sim_loop_new(world, "executor", executor_main, vintner);
    struct sim_foreign *foreign = sim_foreign_new(loop, vintner_run, vintner);
    sim_foreign_spawn(foreign, vintner, "vintner");
    (void)sim_loop_new(world, "press", press_main, vintner);
}

#ifdef FIXED
#define FORM "fixed"
#else
#define FORM "broken"
#endif
SIM_SCENARIO(vineyard, .name = "s20/vineyard/" FORM, .about = "Grapes are pressed, with a deadline for the juice.",
        .setup = setup);
