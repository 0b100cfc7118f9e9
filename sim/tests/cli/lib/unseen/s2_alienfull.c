// Cause: s2_alienfull.c:55 the sampling thread takes RT_E_FULL for "sent later" and goes on to its next sample: that message was not taken, so its sample never reaches the shard, and the collector waits forever for the last one.
// SPDX-License-Identifier: Apache-2.0
// clang-format off
#include <sim/rewake.h>

#define SAMPLES 4

struct sample {
    struct rt_message message;
    struct collector *collector;
    uint32_t value;
};

struct collector {
    struct rt_task task;
    struct sim_shard_group *group;
    struct rt_slot more;
    uint32_t count, sum;
    bool fixed;
    struct sample samples[SAMPLES];
};

static void arrive(struct rt_message *message, struct rt_shard *shard)
{
    struct sample *sample = rt_container_of(message, struct sample, message);
    struct collector *collector = sample->collector;
    collector->count++;
    collector->sum += sample->value;
    rt_slot_wake(&collector->more);
    rt_message_answer(message, shard, RT_OK);
}

static rt_poll collector_poll(struct rt_task *task, struct rt_cx *cx)
{
    struct collector *collector = rt_container_of(task, struct collector, task);
    if (collector->count < SAMPLES) {
        rt_slot_replace(&collector->more, cx, "all samples");
        return RT_PENDING;
    }
    rt_shards_close(sim_shard_group_shards(collector->group));
    return RT_READY;
}

/* A thread that is no shard. */
static void sampler_main(struct sim_world *world, void *argument)
{
    struct collector *collector = argument;
    struct rt_shard *shard = sim_shard_group_shard(collector->group, 0);
    for (uint32_t i = 0; i < SAMPLES; i++) {
        struct sample *sample = &collector->samples[i];
        sim_sleep(world, sim_pick(world, 3) == 0 ? 500 * RT_US : 0); /* until the next one */
        sample->value = i;
        while (rt_alien_submit(&sample->message, shard) == RT_E_FULL) {
            if (!collector->fixed)
                break;
            sim_sleep(world, 50 * RT_US);
        }
    }
    for (uint32_t i = 0; i < SAMPLES; i++)
        while (!rt_message_is_idle(&collector->samples[i].message))
            sim_sleep(world, 50 * RT_US);
}

static void setup(struct sim_world *world, bool fixed)
{
    struct collector *collector = sim_new(world, struct collector);
    collector->group = sim_shard_group_new(world, &(struct sim_shard_group_options){.aliens_max = 1});
    collector->fixed = fixed;
    rt_slot_init(&collector->more);
    for (uint32_t i = 0; i < SAMPLES; i++) {
        collector->samples[i].collector = collector;
        rt_message_init(&collector->samples[i].message, arrive, NULL);
    }
    rt_task_init(&collector->task, collector_poll, NULL, "collector");
    sim_spawn(sim_shard_group_rt(collector->group, 0), &collector->task);
    (void)sim_loop_new(world, "sampler", sampler_main, collector);
}

static void setup_broken(struct sim_world *world) { setup(world, false); }
static void setup_fixed(struct sim_world *world) { setup(world, true); }

SIM_SCENARIO(broken, .name = "set2/alienfull/broken", .about = "A message that was refused is not sent again.",
        .setup = setup_broken, .expect = SIM_VERDICT_DEADLOCK, .expect_also = SIM_VERDICT_LOST_WAKEUP);
SIM_SCENARIO(fixed, .name = "set2/alienfull/fixed", .about = "A message that was refused is sent again.",
        .setup = setup_fixed);
