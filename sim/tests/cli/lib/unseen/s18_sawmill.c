/* Cause: mill_poll(), line 96: a guest that is trapped on a knot never calls give_back, and its driver deletes the call with the saw still taken, so the next one waits forever; repair: give the saw back after the call if the guest still has it. */
#include <sim/rewake.h>

#define SAWYERS 3

struct sawyer;

struct mill {
    unsigned saws;
    struct sawyer *queue[SAWYERS];
    unsigned queued;
    bool cleans_up;
};

struct sawyer {
    struct rt_task task;
    struct mill *mill;
    struct rt_store store;
    struct rt_call call;
    struct rt_reply reply;
    bool has_saw;
    uint32_t at;
    uint64_t arguments[1]; /* How thick the log is. */
    uint64_t results[1];
    enum rt_trap trap;
};

static void
take_saw(struct rt_host_call *host)
{
    struct sawyer *sawyer = host->guest->store->data;
    struct mill *mill = sawyer->mill;
    if (mill->saws > 0) {
        mill->saws--;
        sawyer->has_saw = true;
        host->continuation = (struct rt_continuation){.callback = rt_answered};
        return;
    }
    rt_reply_init(&sawyer->reply, "a saw");
    rt_reply_begin(&sawyer->reply, host);
    mill->queue[mill->queued++] = sawyer;
}

static void
return_saw(struct sawyer *sawyer)
{
    struct mill *mill = sawyer->mill;
    sawyer->has_saw = false;
    if (mill->queued == 0) {
        mill->saws++;
        return;
    }
    struct sawyer *next = mill->queue[0];
    mill->queued--;
    for (unsigned i = 0; i < mill->queued; i++) {
        mill->queue[i] = mill->queue[i + 1];
    }
    next->has_saw = true;
    (void)rt_reply_complete(&next->reply, NULL, 0);
}

static void
give_back(struct rt_host_call *host)
{
    return_saw(host->guest->store->data);
    host->continuation = (struct rt_continuation){.callback = rt_answered};
}

static void
saw_guest(struct rt_guest *guest, const uint64_t *arguments, uint64_t *results)
{
    if (!rt_guest_host(guest, take_saw, NULL, NULL)) {
        return;
    }
    for (uint64_t i = 0; i < arguments[0]; i++) {
        if (!rt_guest_check(guest, 100)) {
            return;
        }
        results[0]++;
    }
    if (!rt_guest_host(guest, give_back, NULL, NULL)) {
        return;
    }
}

static rt_poll
mill_poll(struct rt_task *task, struct rt_cx *cx)
{
    struct sawyer *sawyer = rt_container_of(task, struct sawyer, task);
    RT_BEGIN(sawyer->at);
    SIM_ALWAYS(rt_call_init(&sawyer->call, &sawyer->store,
                       &(struct rt_call_config){.guest = saw_guest, .arguments = sawyer->arguments,
                               .results = sawyer->results, .result_count = 1,
                               .trap = &sawyer->trap, .name = "sawing"}) == RT_OK);
    RT_AWAIT_HERE(sawyer->at, rt_call_drive(&sawyer->call, cx));
    rt_call_delete(&sawyer->call);
    if (sawyer->mill->cleans_up && sawyer->has_saw) {
        return_saw(sawyer);
    }
    rt_store_fini(&sawyer->store);
    RT_END(sawyer->at);
}

static void
set_up(struct sim_world *world, bool cleans_up)
{
    struct sim_rt *rt = sim_rt_new(world, NULL);
    struct rt_engine *engine = sim_engine_new(world, NULL);
    struct mill *mill = sim_new(world, struct mill);
    mill->saws = 1;
    mill->cleans_up = cleans_up;
    for (int i = 0; i < SAWYERS; i++) {
        struct sawyer *sawyer = sim_new(world, struct sawyer);
        sawyer->mill = mill;
        sawyer->arguments[0] = sim_pick(world, 8) + 3;
        rt_store_init(&sawyer->store, engine, sawyer);
        rt_fuel_set(&sawyer->store, 950);
        rt_fuel_yield_interval(&sawyer->store, 250);
        rt_task_init(&sawyer->task, mill_poll, NULL, "sawyer");
        sim_spawn(rt, &sawyer->task);
    }
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

SIM_SCENARIO(broken, .name = "s18/sawmill/broken", .about = "Three sawyers and one saw.",
        .setup = set_up_broken);
SIM_SCENARIO(fixed, .name = "s18/sawmill/fixed", .about = "Three sawyers and one saw.",
        .setup = set_up_fixed);
