/* Cause: admin_poll(), line 70: the school is told to enrol while the registry may not have the new course yet; the message to the registry and that by way of the school take different lanes, between which there is no order, so the enrolment can come first; repair: await the answer of the registry before the school is told. */
/*
 * Three shards: the administration opens a course in the registry and lets the school enrol pupils
 * for it, which the school does with the registry.
 */
#include <sim/rewake.h>

enum { ADMINISTRATION, REGISTRY, SCHOOL, SHARDS };

struct course {
    bool open;
    uint32_t pupils;
};

struct admin {
    struct rt_task task;
    struct sim_shard_group *group;
    struct course course; /* The registry's. */
    struct rt_submit open;
    struct rt_submit enrol;
    struct rt_message forward; /* The school's, to the registry. */
    uint32_t at;
    bool fixed;
};

/* On the registry. */
static void
registry_open(struct rt_message *message, struct rt_shard *shard)
{
    struct admin *admin = rt_container_of(message, struct admin, open.message);
    admin->course.open = true;
    rt_message_answer(message, shard, RT_OK);
}

static void
registry_enrol(struct rt_message *message, struct rt_shard *shard)
{
    struct admin *admin = rt_container_of(message, struct admin, forward);
    SIM_ALWAYS(admin->course.open);
    admin->course.pupils++;
    rt_message_answer(message, shard, RT_OK);
}

/* On the school. */
static void
school_enrolled(struct rt_message *message, struct rt_shard *shard)
{
    struct admin *admin = rt_container_of(message, struct admin, forward);
    rt_message_answer(&admin->enrol.message, shard, message->result);
}

static void
school_enrol(struct rt_message *message, struct rt_shard *shard)
{
    struct admin *admin = rt_container_of(message, struct admin, enrol.message);
    SIM_ALWAYS(rt_message_send(&admin->forward, shard, REGISTRY) == RT_OK);
}

/* On the administration. */
static rt_poll
admin_poll(struct rt_task *task, struct rt_cx *cx)
{
    struct admin *admin = rt_container_of(task, struct admin, task);
    struct rt_shard *shard = sim_shard_group_shard(admin->group, ADMINISTRATION);
    RT_BEGIN(admin->at);
    rt_submit_to(&admin->open, shard, REGISTRY, registry_open);
    if (admin->fixed) {
        RT_AWAIT_HERE(admin->at, rt_future_poll(&admin->open.future, cx));
    }
    rt_submit_to(&admin->enrol, shard, SCHOOL, school_enrol);
    if (!admin->fixed) {
        RT_AWAIT_HERE(admin->at, rt_future_poll(&admin->open.future, cx));
    }
    RT_AWAIT_HERE(admin->at, rt_future_poll(&admin->enrol.future, cx));
    SIM_ALWAYS(admin->open.message.result == RT_OK && admin->enrol.message.result == RT_OK);
    rt_shards_close(sim_shard_group_shards(admin->group));
    RT_END(admin->at);
}

static void
set_up(struct sim_world *world, bool fixed)
{
    struct sim_shard_group_options options = {.count = SHARDS};
    struct admin *admin = sim_new(world, struct admin);
    admin->group = sim_shard_group_new(world, &options);
    admin->fixed = fixed;
    rt_message_init(&admin->forward, registry_enrol, school_enrolled);
    rt_task_init(&admin->task, admin_poll, NULL, "administration");
    sim_spawn(sim_shard_group_rt(admin->group, ADMINISTRATION), &admin->task);
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

SIM_SCENARIO(broken, .name = "s17/registry/broken", .about = "The first form.", .setup = set_up_broken);
SIM_SCENARIO(fixed, .name = "s17/registry/fixed", .about = "The repaired form.", .setup = set_up_fixed);

/* SPDX-License-Identifier: Apache-2.0 */
