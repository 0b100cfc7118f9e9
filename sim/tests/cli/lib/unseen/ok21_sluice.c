/* Boats pass a sluice. The keeper is woken too often, and by wakes that it has not asked for. */
#include <sim/rewake.h>

#define BOATS 3

struct sluice {
    struct rt_slot keeper;
    struct rt_mutex gate;
    uint32_t waiting;
    uint32_t passed;
    uint32_t inside;
    bool closed;
};

struct boat {
    struct rt_task task;
    struct sim_world *world;
    struct sluice *sluice;
    uint32_t at;
    struct rt_sleep journey;
    struct rt_lock lock;
    struct rt_timeout timeout;
    struct rt_sleep passage;
};

struct keeper {
    struct rt_task task;
    struct sluice *sluice;
};

static void
tell(struct sluice *sluice)
{
    rt_slot_wake(&sluice->keeper); /* Nobody there: the keeper looks before it sleeps. */
}

static rt_poll
boat_poll(struct rt_task *task, struct rt_cx *cx)
{
    struct boat *boat = rt_container_of(task, struct boat, task);
    struct sluice *sluice = boat->sluice;
    RT_BEGIN(boat->at);
    rt_sleep_init(&boat->journey, sim_range(boat->world, RT_MS, 3 * RT_MS));
    RT_AWAIT_HERE(boat->at, rt_sleep_poll(&boat->journey, cx));
    sluice->waiting++;
    do {
        rt_lock_init(&boat->lock, &sluice->gate);
        rt_timeout_init(&boat->timeout, &boat->lock.future, RT_MS);
        RT_AWAIT_HERE(boat->at, rt_timeout_poll(&boat->timeout, cx));
        tell(sluice);
    } while (boat->timeout.expired);
    sluice->inside++;
    SIM_ALWAYS(sluice->inside == 1);
    rt_sleep_init(&boat->passage, sim_range(boat->world, RT_MS / 2, 3 * RT_MS));
    RT_AWAIT_HERE(boat->at, rt_sleep_poll(&boat->passage, cx));
    sluice->inside--;
    rt_mutex_unlock(&sluice->gate);
    sluice->waiting--;
    sluice->passed++;
    tell(sluice);
    tell(sluice);
    RT_END(boat->at);
}

static rt_poll
keeper_poll(struct rt_task *task, struct rt_cx *cx)
{
    struct keeper *keeper = rt_container_of(task, struct keeper, task);
    struct sluice *sluice = keeper->sluice;
    rt_slot_replace(&sluice->keeper, cx, "the last boat");
    if (sluice->passed < BOATS) {
        return RT_PENDING;
    }
    rt_slot_clear(&sluice->keeper);
    SIM_ALWAYS(sluice->waiting == 0);
    sluice->closed = true;
    return RT_READY;
}

static void
check(struct sim_world *world, void *state)
{
    const struct sluice *sluice = state;
    (void)world;
    SIM_ALWAYS(sluice->closed);
    SIM_ALWAYS(!rt_mutex_locked(&sluice->gate));
}

static void
setup(struct sim_world *world)
{
    static const char *const names[BOATS] = {"Anna", "Berta", "Clara"};
    struct sim_rt *rt = sim_rt_new(world, NULL);
    struct sluice *sluice = sim_new(world, struct sluice);
    struct keeper *keeper = sim_new(world, struct keeper);
    rt_slot_init(&sluice->keeper);
    rt_mutex_init(&sluice->gate);
    sim_set_state(world, sluice);
    keeper->sluice = sluice;
    rt_task_init(&keeper->task, keeper_poll, NULL, "keeper");
    sim_spawn(rt, &keeper->task);
    for (uint32_t i = 0; i < BOATS; i++) {
        struct boat *boat = sim_new(world, struct boat);
        boat->world = world;
        boat->sluice = sluice;
        rt_task_init(&boat->task, boat_poll, NULL, names[i]);
        sim_spawn(rt, &boat->task);
    }
}

SIM_SCENARIO(sluice, .name = "sluice", .about = "Boats pass a sluice.", .setup = setup,
        .check = check);
