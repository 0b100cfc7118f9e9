/* A coordinator that writes to three replicas by channels, and goes on when two have acknowledged.
 * Cause: coordinator_poll() (line 80): it stops to read acknowledgements at the quorum, so the late one fills the
 * channel while the coordinator waits for space in that replica's. Repair: read those that are left before the next. */
#include <sim/rewake.h>

#define REPLICAS 3
#define QUORUM 2
#define ROUNDS 3

struct acknowledgement {
    uint32_t replica;
    uint32_t round;
};

struct replica {
    struct rt_task task;
    struct cluster *cluster;
    struct rt_channel requests;
    uint32_t ring[1];
    struct rt_recv recv;
    struct rt_send send;
    struct rt_sleep disk;
    uint64_t disk_ns;
    uint32_t request;
    struct acknowledgement answer;
    uint32_t number;
    uint32_t stored;
    uint32_t at;
};

struct cluster {
    struct rt_task coordinator;
    struct rt_channel answers;
    struct acknowledgement ring[1];
    struct replica replicas[REPLICAS];
    struct rt_send send;
    struct rt_recv recv;
    struct acknowledgement answer;
    uint32_t round, to, have, late;
    uint32_t at;
    bool repaired;
};

static rt_poll
replica_poll(struct rt_task *task, struct rt_cx *cx)
{
    struct replica *replica = rt_container_of(task, struct replica, task);
    RT_BEGIN(replica->at);
    for (;;) {
        rt_recv_init(&replica->recv, &replica->requests, &replica->request);
        RT_AWAIT_HERE(replica->at, rt_recv_poll(&replica->recv, cx));
        if (replica->recv.err == RT_E_CLOSED) {
            break;
        }
        rt_sleep_init(&replica->disk, replica->disk_ns);
        RT_AWAIT_HERE(replica->at, rt_sleep_poll(&replica->disk, cx));
        SIM_ALWAYS(replica->request == replica->stored + 1);
        replica->stored = replica->request;
        replica->answer = (struct acknowledgement){replica->number, replica->request};
        rt_send_init(&replica->send, &replica->cluster->answers, &replica->answer);
        RT_AWAIT_HERE(replica->at, rt_send_poll(&replica->send, cx));
    }
    rt_channel_drop_receiver(&replica->requests);
    rt_channel_drop_sender(&replica->cluster->answers);
    RT_END(replica->at);
}

static rt_poll
coordinator_poll(struct rt_task *task, struct rt_cx *cx)
{
    struct cluster *cluster = rt_container_of(task, struct cluster, coordinator);
    RT_BEGIN(cluster->at);
    for (cluster->round = 1; cluster->round <= ROUNDS; cluster->round++) {
        for (cluster->to = 0; cluster->to < REPLICAS; cluster->to++) {
            rt_send_init(&cluster->send, &cluster->replicas[cluster->to].requests, &cluster->round);
            RT_AWAIT_HERE(cluster->at, rt_send_poll(&cluster->send, cx));
        }
        cluster->late += REPLICAS;
        cluster->have = 0;
        while (cluster->have < QUORUM || (cluster->repaired && cluster->late > 0)) {
            rt_recv_init(&cluster->recv, &cluster->answers, &cluster->answer);
            RT_AWAIT_HERE(cluster->at, rt_recv_poll(&cluster->recv, cx));
            cluster->late--;
            cluster->have += cluster->answer.round == cluster->round;
        }
    }
    for (cluster->to = 0; cluster->to < REPLICAS; cluster->to++) {
        rt_channel_drop_sender(&cluster->replicas[cluster->to].requests);
    }
    do {
        rt_recv_init(&cluster->recv, &cluster->answers, &cluster->answer);
        RT_AWAIT_HERE(cluster->at, rt_recv_poll(&cluster->recv, cx));
    } while (cluster->recv.err == RT_OK);
    for (cluster->to = 0; cluster->to < REPLICAS; cluster->to++) {
        SIM_ALWAYS(cluster->replicas[cluster->to].stored == ROUNDS);
    }
    rt_channel_drop_receiver(&cluster->answers);
    RT_END(cluster->at);
}

static void
setup(struct sim_world *world, bool repaired)
{
    static const char *const names[REPLICAS] = {"replica 1", "replica 2", "replica 3"};
    struct sim_rt *rt = sim_rt_new(world, NULL);
    struct cluster *cluster = sim_new(world, struct cluster);
    cluster->repaired = repaired;
    struct rt_channel_config answers = {.ring = cluster->ring, .item_size = sizeof(struct acknowledgement), .capacity = 1};
    rt_channel_init(&cluster->answers, &answers);
    rt_channel_add_receiver(&cluster->answers);
    for (uint32_t i = 0; i < REPLICAS; i++) {
        struct replica *replica = &cluster->replicas[i];
        struct rt_channel_config requests = {.ring = replica->ring, .item_size = sizeof(uint32_t), .capacity = 1};
        rt_channel_init(&replica->requests, &requests);
        rt_channel_add_sender(&replica->requests);
        rt_channel_add_receiver(&replica->requests);
        rt_channel_drop_handle(&replica->requests);
        rt_channel_add_sender(&cluster->answers);
        replica->cluster = cluster;
        replica->number = i;
        replica->disk_ns = sim_range(world, 1 * RT_MS, 5 * RT_MS);
        rt_task_init(&replica->task, replica_poll, NULL, names[i]);
        sim_spawn(rt, &replica->task);
    }
    rt_channel_drop_handle(&cluster->answers);
    rt_task_init(&cluster->coordinator, coordinator_poll, NULL, "coordinator");
    sim_spawn(rt, &cluster->coordinator);
}

static void
setup_broken(struct sim_world *world)
{
    setup(world, false);
}

static void
setup_fixed(struct sim_world *world)
{
    setup(world, true);
}

SIM_SCENARIO(quorum_broken, .name = "s14_quorum/broken", .about = "A write with a quorum.",
        .setup = setup_broken);
SIM_SCENARIO(quorum_fixed, .name = "s14_quorum/fixed", .about = "A write with a quorum, repaired.",
        .setup = setup_fixed);
/* SPDX-License-Identifier: Apache-2.0 */
