// Cause: asker_poll(), the line `asker->pending++` in the loop that sends: the count of answers that are outstanding
// rises question by question, with a yield between two. When the first shard answers before the next question is
// sent, part_answered() takes the count to 0 and says that all is complete, with parts missing.
// SPDX-License-Identifier: Apache-2.0
// clang-format off
#include <sim/rewake.h>

#define SHARDS 3u

struct asker;

struct part {
    struct rt_message message;
    struct asker *asker;
    uint32_t value;
};

struct asker {
    struct rt_task task;
    struct sim_shard_group *group;
    struct sim_loop *operator;
    struct part parts[SHARDS];
    struct rt_slot complete_slot;
    struct rt_yield yield;
    uint32_t at;
    uint32_t sent;
    uint32_t pending;
    uint32_t sum;
    bool complete;
    bool done;
    bool counts_itself;
};

static void
one_less(struct asker *asker)
{
    if (--asker->pending == 0) {
        asker->complete = true;
        (void)rt_slot_wake(&asker->complete_slot);
    }
}

/* On each shard. */
static void
part_arrives(struct rt_message *message, struct rt_shard *shard)
{
    rt_container_of(message, struct part, message)->value = shard->number + 1;
    rt_message_answer(message, shard, RT_OK);
}

/* On shard 0. */
static void
part_answered(struct rt_message *message, struct rt_shard *shard)
{
    struct part *part = rt_container_of(message, struct part, message);
    (void)shard;
    part->asker->sum += part->value;
    one_less(part->asker);
}

static rt_poll
is_complete(struct asker *asker, struct rt_cx *cx)
{
    if (asker->complete) {
        return RT_READY;
    }
    rt_slot_replace(&asker->complete_slot, cx, "all answers");
    return RT_PENDING;
}

static rt_poll
asker_poll(struct rt_task *task, struct rt_cx *cx)
{
    struct asker *asker = rt_container_of(task, struct asker, task);
    struct part *part = &asker->parts[asker->sent < SHARDS ? asker->sent : 0];
    RT_BEGIN(asker->at);
    asker->pending = asker->counts_itself ? 1 : 0;
    while (asker->sent < SHARDS) {
        part = &asker->parts[asker->sent];
        asker->pending++;
        SIM_ALWAYS(rt_message_send(&part->message, sim_shard_group_shard(asker->group, 0),
                           asker->sent) == RT_OK);
        asker->sent++;
        RT_AWAIT_HERE(asker->at, rt_yield_now(&asker->yield, cx));
    }
    if (asker->counts_itself) {
        one_less(asker);
    }
    RT_AWAIT_HERE(asker->at, is_complete(asker, cx));
    SIM_ALWAYS(asker->sum == 1 + 2 + 3);
    asker->done = true;
    sim_loop_wake(asker->operator);
    RT_END(asker->at);
}

static void
operator_main(struct sim_world *world, void *argument)
{
    struct asker *asker = argument;
    while (!asker->done) {
        sim_loop_block(world, 0, "the sum", RT_HERE);
    }
    rt_shards_close(sim_shard_group_shards(asker->group));
}

static void
begin(struct sim_world *world, bool counts_itself)
{
    struct sim_shard_group_options options = {.count = SHARDS};
    struct asker *asker = sim_new(world, struct asker);
    asker->group = sim_shard_group_new(world, &options);
    asker->counts_itself = counts_itself;
    rt_slot_init(&asker->complete_slot);
    for (uint32_t i = 0; i < SHARDS; i++) {
        asker->parts[i].asker = asker;
        rt_message_init(&asker->parts[i].message, part_arrives, part_answered);
    }
    rt_task_init(&asker->task, asker_poll, NULL, "asker");
    sim_spawn(sim_shard_group_rt(asker->group, 0), &asker->task);
    asker->operator= sim_loop_new(world, "operator", operator_main, asker);
}

static void
setup_broken(struct sim_world *world)
{
    begin(world, false);
}

static void
setup_fixed(struct sim_world *world)
{
    begin(world, true);
}

SIM_SCENARIO(gather_broken, .name = "set7/s7_gather/broken",
        .about = "One shard asks all of them for a part of a sum.", .setup = setup_broken);
SIM_SCENARIO(gather_fixed, .name = "set7/s7_gather/fixed",
        .about = "One shard asks all of them for a part of a sum.", .setup = setup_fixed);
