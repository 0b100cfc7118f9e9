/* Each swimmer has a place for his waker, and a wake goes to one of them only. */
#include <sim/rewake.h>

#define SWIMMERS 3

struct bath {
    struct rt_slot waiting[SWIMMERS];
    unsigned next; /* Whose turn it is. */
    bool occupied;
};

struct swimmer {
    struct rt_task task;
    struct bath *bath;
    struct sim_world *world;
    unsigned number;
    uint32_t at;
    struct rt_sleep swim;
};

/* Only the one whose turn it is goes in, so only he must be woken. */
static rt_poll
turn_poll(struct swimmer *swimmer, struct rt_cx *cx)
{
    struct bath *bath = swimmer->bath;
    if (!bath->occupied && bath->next == swimmer->number) {
        bath->occupied = true;
        return RT_READY;
    }
    rt_slot_replace(&bath->waiting[swimmer->number], cx, "his turn");
    return RT_PENDING;
}

static rt_poll
swimmer_poll(struct rt_task *task, struct rt_cx *cx)
{
    struct swimmer *swimmer = rt_container_of(task, struct swimmer, task);
    struct bath *bath = swimmer->bath;
    RT_BEGIN(swimmer->at);
    RT_AWAIT_HERE(swimmer->at, turn_poll(swimmer, cx));
    rt_sleep_init(&swimmer->swim, sim_range(swimmer->world, 1 * RT_MS, 2 * RT_MS));
    RT_AWAIT_HERE(swimmer->at, rt_sleep_poll(&swimmer->swim, cx));
    SIM_ALWAYS(bath->occupied && bath->next == swimmer->number);
    bath->occupied = false;
    bath->next++;
    if (bath->next < SWIMMERS) {
        (void)rt_slot_wake(&bath->waiting[bath->next]);
    }
    RT_END(swimmer->at);
}

static void
set_up(struct sim_world *world)
{
    struct sim_rt *rt = sim_rt_new(world, NULL);
    struct bath *bath = sim_new(world, struct bath);
    for (unsigned i = 0; i < SWIMMERS; i++) {
        rt_slot_init(&bath->waiting[i]);
    }
    for (unsigned i = 0; i < SWIMMERS; i++) {
        struct swimmer *swimmer = sim_new(world, struct swimmer);
        swimmer->bath = bath;
        swimmer->world = world;
        swimmer->number = i;
        rt_task_init(&swimmer->task, swimmer_poll, NULL, "swimmer");
        sim_spawn(rt, &swimmer->task);
    }
}

SIM_SCENARIO(right, .name = "ok18/bathhouse", .about = "Swimmers, one after the other.",
        .setup = set_up);
