/* A primary, a writer and a replica on three shards: the replica fetches a value, and gets each new one.
 * Cause: replica_store() line 46: an answer of the primary that is older than what the writer has published
 * since overwrites it, as two lanes have no common order; repair: store only a newer version. */
#include <sim/rewake.h>

enum { REPLICA, PRIMARY, WRITER, SHARDS };

struct value {
    uint64_t version;
    int amount;
};

struct program {
    struct sim_shard_group *group;
    struct value primary;
    struct value replica;
    unsigned running;
    bool fixed;
};

struct call {
    struct rt_submit submit;
    struct program *program;
    struct value value;
};

struct actor {
    struct rt_task task;
    struct program *program;
    uint32_t at;
    unsigned round;
    struct rt_sleep pause;
    uint64_t pause_ns;
    struct call call;
};

static struct call *
call_of(struct rt_message *message)
{
    return rt_container_of(message, struct call, submit.message);
}

static void
replica_store(struct program *program, const struct value *value)
{
    if (!program->fixed || value->version > program->replica.version) {
        program->replica = *value;
    }
}

static void
on_get(struct rt_message *message, struct rt_shard *shard)
{
    struct call *call = call_of(message);
    call->value = call->program->primary;
    rt_message_answer(message, shard, RT_OK);
}

static void
on_put(struct rt_message *message, struct rt_shard *shard)
{
    struct call *call = call_of(message);
    call->value.version = call->program->primary.version + 1;
    call->program->primary = call->value;
    rt_message_answer(message, shard, RT_OK);
}

static void
on_publish(struct rt_message *message, struct rt_shard *shard)
{
    struct call *call = call_of(message);
    replica_store(call->program, &call->value);
    rt_message_answer(message, shard, RT_OK);
}

static void
send(struct actor *actor, uint32_t from, uint32_t to, rt_message_fn fn)
{
    rt_submit_to(&actor->call.submit, sim_shard_group_shard(actor->program->group, from), to, fn);
}

static void
actor_ended(struct actor *actor)
{
    if (--actor->program->running == 0) {
        rt_shards_close(sim_shard_group_shards(actor->program->group));
    }
}

static rt_poll
fetch_poll(struct rt_task *task, struct rt_cx *cx)
{
    struct actor *actor = rt_container_of(task, struct actor, task);
    RT_BEGIN(actor->at);
    for (actor->round = 0; actor->round < 2; actor->round++) {
        rt_sleep_init(&actor->pause, actor->pause_ns);
        RT_AWAIT_HERE(actor->at, rt_sleep_poll(&actor->pause, cx));
        send(actor, REPLICA, PRIMARY, on_get);
        RT_AWAIT_HERE(actor->at, rt_future_poll(&actor->call.submit.future, cx));
        replica_store(actor->program, &actor->call.value);
    }
    actor_ended(actor);
    RT_END(actor->at);
}

static rt_poll
write_poll(struct rt_task *task, struct rt_cx *cx)
{
    struct actor *actor = rt_container_of(task, struct actor, task);
    RT_BEGIN(actor->at);
    for (actor->round = 0; actor->round < 2; actor->round++) {
        rt_sleep_init(&actor->pause, actor->pause_ns);
        RT_AWAIT_HERE(actor->at, rt_sleep_poll(&actor->pause, cx));
        actor->call.value.amount = 10 + (int)actor->round;
        send(actor, WRITER, PRIMARY, on_put);
        RT_AWAIT_HERE(actor->at, rt_future_poll(&actor->call.submit.future, cx));
        send(actor, WRITER, REPLICA, on_publish);
        RT_AWAIT_HERE(actor->at, rt_future_poll(&actor->call.submit.future, cx));
    }
    actor_ended(actor);
    RT_END(actor->at);
}

static void
check(struct sim_world *world, void *state)
{
    struct program *program = state;
    (void)world;
    SIM_ALWAYS(program->replica.version == program->primary.version);
    SIM_ALWAYS(program->replica.amount == program->primary.amount);
}

static void
spawn(struct sim_world *world, struct program *program, uint32_t shard, const char *name,
        rt_poll_fn poll)
{
    struct actor *actor = sim_new(world, struct actor);
    actor->program = program;
    actor->call.program = program;
    actor->pause_ns = sim_range(world, 1 * RT_MS, 2 * RT_MS);
    rt_task_init(&actor->task, poll, NULL, name);
    program->running++;
    sim_spawn(sim_shard_group_rt(program->group, shard), &actor->task);
}

static void
set_up(struct sim_world *world, bool fixed)
{
    struct program *program = sim_new(world, struct program);
    program->fixed = fixed;
    program->primary = program->replica = (struct value){.version = 1, .amount = 1};
    program->group = sim_shard_group_new(world, &(struct sim_shard_group_options){.count = SHARDS});
    sim_set_state(world, program);
    spawn(world, program, REPLICA, "fetch", fetch_poll);
    spawn(world, program, WRITER, "write", write_poll);
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

SIM_SCENARIO(broken, .name = "s13_replica/broken", .about = "A replica on a shard, broken.",
        .setup = set_up_broken, .check = check, .expect = SIM_VERDICT_INVARIANT);
SIM_SCENARIO(fixed, .name = "s13_replica/fixed", .about = "A replica on a shard.",
        .setup = set_up_fixed, .check = check);
/* SPDX-License-Identifier: Apache-2.0 */
