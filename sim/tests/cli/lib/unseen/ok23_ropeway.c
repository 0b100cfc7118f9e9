/* A ropeway: cabins hand one slot on, wake before they store, and skip wakes on purpose. */
#include <sim/rewake.h>

#define CABINS 3u
#define ROUNDS 3u

struct ropeway {
    struct rt_slot next[CABINS]; /* Each cabin waits in its own. */
    uint32_t turn;               /* Whose turn it is, of all turns. */
    bool idle;                   /* The attendant sleeps. */
    struct rt_slot attendant;
    uint32_t to_check;           /* Cabins that came in, not yet checked. */
    uint32_t checked;
};

struct cabin {
    struct rt_task task;
    struct ropeway *ropeway;
    uint32_t number, rounds;
};

struct attendant {
    struct rt_task task;
    struct ropeway *ropeway;
    struct rt_sleep look;
    bool looking;
    uint64_t look_ns;
};

static rt_poll
cabin_poll(struct rt_task *task, struct rt_cx *cx)
{
    struct cabin *cabin = rt_container_of(task, struct cabin, task);
    struct ropeway *ropeway = cabin->ropeway;
    if (ropeway->turn % CABINS != cabin->number) {
        rt_slot_replace(&ropeway->next[cabin->number], cx, "its turn");
        return RT_PENDING;
    }
    ropeway->turn++;
    cabin->rounds++;
    ropeway->to_check++;
    if (ropeway->idle) { /* One that looks about will see it: no wake. */
        ropeway->idle = false;
        rt_slot_wake(&ropeway->attendant);
    }
    /* The next one may not have stored anything yet: then it sees its turn by itself. */
    rt_slot_wake(&ropeway->next[ropeway->turn % CABINS]);
    if (cabin->rounds == ROUNDS) {
        return RT_READY;
    }
    rt_slot_replace(&ropeway->next[cabin->number], cx, "its turn");
    return RT_PENDING;
}

static rt_poll
attendant_poll(struct rt_task *task, struct rt_cx *cx)
{
    struct attendant *attendant = rt_container_of(task, struct attendant, task);
    struct ropeway *ropeway = attendant->ropeway;
    for (;;) {
        if (attendant->looking) {
            RT_AWAIT(rt_sleep_poll(&attendant->look, cx));
            attendant->looking = false;
            ropeway->to_check--;
            ropeway->checked++;
            SIM_PROGRESS();
        }
        if (ropeway->checked == CABINS * ROUNDS) {
            return RT_READY;
        }
        if (ropeway->to_check == 0) {
            ropeway->idle = true;
            rt_slot_replace(&ropeway->attendant, cx, "a cabin");
            return RT_PENDING;
        }
        ropeway->idle = false;
        rt_sleep_init(&attendant->look, attendant->look_ns);
        attendant->looking = true;
    }
}

static void
setup(struct sim_world *world)
{
    static const char *const names[CABINS] = {"red", "green", "blue"};
    struct sim_rt *rt = sim_rt_new(world, NULL);
    struct ropeway *ropeway = sim_new(world, struct ropeway);
    struct attendant *attendant = sim_new(world, struct attendant);
    rt_slot_init(&ropeway->attendant);
    for (uint32_t i = 0; i < CABINS; i++) {
        struct cabin *cabin = sim_new(world, struct cabin);
        rt_slot_init(&ropeway->next[i]);
        cabin->ropeway = ropeway;
        cabin->number = i;
        rt_task_init(&cabin->task, cabin_poll, NULL, names[i]);
        sim_spawn(rt, &cabin->task);
    }
    attendant->ropeway = ropeway;
    attendant->look_ns = sim_range(world, 10 * RT_US, 2 * RT_MS);
    rt_task_init(&attendant->task, attendant_poll, NULL, "attendant");
    sim_spawn(rt, &attendant->task);
}

SIM_SCENARIO(ropeway, .name = "ropeway/ok", .about = "Cabins take turns.", .setup = setup);
