/* Cause: conductor_poll(), line 82-87: read by one message, written by another. Order: both conductors' reads (44) are answered before either write (52) arrives; the second write overwrites the first: a fare is lost. Harm: SIM_ALWAYS 104. Fix: one message that adds (60, 77-78). */
#include <sim/rewake.h>

#define CONDUCTORS 2
#define TRIPS 2

struct depot {
    struct sim_world *world;
    struct rt_shards *shards;
    struct rt_shard *street; /* Where conductors are. */
    uint32_t takings;        /* Of shard 1. */
    uint32_t due;            /* Of shard 0: what the conductors have taken. */
    uint32_t on_duty;
};

struct call {
    struct rt_submit submit;
    struct depot *depot;
    uint32_t amount;
};

struct conductor {
    struct rt_task task;
    struct depot *depot;
    struct call call;
    struct rt_sleep trip;
    uint64_t shortest_ns;
    uint32_t at;
    uint32_t trips;
    uint32_t fare;
};

static struct call *
call_of(struct rt_message *message)
{
    return rt_container_of(message, struct call, submit.message);
}

#ifndef FIXED
static void
takings_read(struct rt_message *message, struct rt_shard *shard)
{
    struct call *call = call_of(message);
    call->amount = call->depot->takings;
    rt_message_answer(message, shard, RT_OK);
}

static void
takings_write(struct rt_message *message, struct rt_shard *shard)
{
    struct call *call = call_of(message);
    call->depot->takings = call->amount;
    rt_message_answer(message, shard, RT_OK);
}
#else
static void
takings_add(struct rt_message *message, struct rt_shard *shard)
{
    struct call *call = call_of(message);
    call->depot->takings += call->amount;
    rt_message_answer(message, shard, RT_OK);
}
#endif

static rt_poll
conductor_poll(struct rt_task *task, struct rt_cx *cx)
{
    struct conductor *conductor = rt_container_of(task, struct conductor, task);
    struct depot *depot = conductor->depot;
    struct call *call = &conductor->call;
    RT_BEGIN(conductor->at);
    for (conductor->trips = 0; conductor->trips < TRIPS; conductor->trips++) {
        rt_sleep_init(&conductor->trip,
                sim_range(depot->world, conductor->shortest_ns, conductor->shortest_ns + 3 * RT_MS));
        RT_AWAIT_HERE(conductor->at, rt_sleep_poll(&conductor->trip, cx));
#ifdef FIXED
        call->amount = conductor->fare;
        rt_submit_to(&call->submit, depot->street, 1, takings_add);
        RT_AWAIT_HERE(conductor->at, rt_future_poll(&call->submit.future, cx));
        SIM_ALWAYS(call->submit.message.result == RT_OK);
#else
        rt_submit_to(&call->submit, depot->street, 1, takings_read);
        RT_AWAIT_HERE(conductor->at, rt_future_poll(&call->submit.future, cx));
        SIM_ALWAYS(call->submit.message.result == RT_OK);
        call->amount += conductor->fare;
        rt_submit_to(&call->submit, depot->street, 1, takings_write);
        RT_AWAIT_HERE(conductor->at, rt_future_poll(&call->submit.future, cx));
        SIM_ALWAYS(call->submit.message.result == RT_OK);
#endif
        depot->due += conductor->fare;
    }
    if (--depot->on_duty == 0) {
        rt_shards_close(depot->shards);
    }
    RT_END(conductor->at);
}

static void
check(struct sim_world *world, void *state)
{
    struct depot *depot = state;
    (void)world;
    SIM_ALWAYS(depot->on_duty == 0);
    SIM_ALWAYS(depot->takings == depot->due);
}

static void
setup(struct sim_world *world)
{
    static const char *const names[CONDUCTORS] = {"line 4", "line 9"};
    struct sim_shard_group *group = sim_shard_group_new(world, NULL);
    struct depot *depot = sim_new(world, struct depot);
    depot->world = world;
    depot->shards = sim_shard_group_shards(group);
    depot->street = sim_shard_group_shard(group, 0);
    depot->on_duty = CONDUCTORS;
    for (uint32_t i = 0; i < CONDUCTORS; i++) {
        struct conductor *conductor = sim_new(world, struct conductor);
        conductor->depot = depot;
        conductor->call.depot = depot;
        conductor->shortest_ns = (i + 1) * RT_MS;
        conductor->fare = 3 + 2 * i;
        rt_task_init(&conductor->task, conductor_poll, NULL, names[i]);
        sim_spawn(sim_shard_group_rt(group, 0), &conductor->task);
    }
    sim_set_state(world, depot);
}

#ifdef FIXED
#define FORM "fixed"
#else
#define FORM "broken"
#endif
SIM_SCENARIO(tramway, .name = "s20/tramway/" FORM, .about = "Takings that are kept on another shard.",
        .setup = setup, .check = check);
