/* Cause: A barrier that is used again without a generation: the condition that a waiter checks has become true again for the next round. sail_meet(): who arrives last sets arrived to 0 and wakes the others (29-35); a waiter that is polled again looks whether arrived != 0 (41). Order: the last one, or a woken sail, continues to the next round at once (no trimming), and arrives (++arrived, 29) before another woken sail has been polled; that one sees 1, and waits again (43) for a round that is over. It is missing in the next round: the others wait for it. Harm: hang (deadlock), all three sails wait for "the other sails". No wake is missing at the time: the sail was woken, looked, and took the wrong decision. Fix: line 39: compare the number of the round. */
#include <sim/rewake.h>

#define SAILS 3
#define ROUNDS 3

struct mill {
    struct sim_world *world;
    struct sail *sails[SAILS];
    uint32_t arrived; /* At the end of this round. */
    uint32_t round;
};

struct sail {
    struct rt_task task;
    struct mill *mill;
    struct rt_slot slot;
    struct rt_sleep trimming;
    uint32_t at;
    uint32_t round; /* In which it is. */
    bool waits;
};

/* READY when all sails have come to the end of the round. */
static rt_poll sail_meet(struct sail *sail, struct rt_cx *cx)
{
    struct mill *mill = sail->mill;
    if (!sail->waits) {
        if (++mill->arrived == SAILS) {
            mill->arrived = 0;
            mill->round++;
            for (uint32_t i = 0; i < SAILS; i++)
                rt_slot_wake(&mill->sails[i]->slot);
            return RT_READY;
        }
        sail->waits = true;
    }
#ifdef FIXED
    if (mill->round == sail->round) {
#else
    if (mill->arrived != 0) {
#endif
        rt_slot_replace(&sail->slot, cx, "the other sails");
        return RT_PENDING;
    }
    sail->waits = false;
    return RT_READY;
}

static rt_poll sail_poll(struct rt_task *task, struct rt_cx *cx)
{
    struct sail *sail = rt_container_of(task, struct sail, task);
    struct mill *mill = sail->mill;
    RT_BEGIN(sail->at);
    while (sail->round < ROUNDS) {
        SIM_ALWAYS(sail->round == mill->round);
        /* Most need no trimming at all. */
        if (sim_pick(mill->world, 2) == 0) {
            rt_sleep_init(&sail->trimming, sim_range(mill->world, 1 * RT_MS, 2 * RT_MS));
            RT_AWAIT_HERE(sail->at, rt_sleep_poll(&sail->trimming, cx));
        }
        RT_AWAIT_HERE(sail->at, sail_meet(sail, cx));
        sail->round++;
    }
    RT_END(sail->at);
}

static void check(struct sim_world *world, void *state)
{
    struct mill *mill = state;
    (void)world;
    SIM_ALWAYS(mill->round == ROUNDS);
}

static void setup(struct sim_world *world)
{
    static const char *const names[SAILS] = {"first sail", "second sail", "third sail"};
    struct sim_rt *rt = sim_rt_new(world, NULL);
    struct mill *mill = sim_new(world, struct mill);
    mill->world = world;
    sim_set_state(world, mill);
    for (uint32_t i = 0; i < SAILS; i++) {
        struct sail *sail = sim_new(world, struct sail);
        mill->sails[i] = sail;
        sail->mill = mill;
        rt_slot_init(&sail->slot);
        rt_task_init(&sail->task, sail_poll, NULL, names[i]);
        sim_spawn(rt, &sail->task);
    }
}

#ifdef FIXED
#define FORM "fixed"
#else
#define FORM "broken"
#endif
SIM_SCENARIO(windmill_scenario, .name = "s22/windmill/" FORM, .about = "Sails, in rounds.",
        .setup = setup, .check = check);
