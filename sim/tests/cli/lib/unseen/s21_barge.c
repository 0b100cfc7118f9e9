/* Cause: barge_poll(), lines 85-92: crates and orders come through two channels, and the order to cast off, which is sent after the last crate, may be received while crates are still in their channel (the barge stows, 91, when both arrive; then the race takes the order first). The loop ends without them. Harm: SIM_ALWAYS(barge->weight == quay->weight_sent), line 98. Fix: drain the crates after the order. */
#include <sim/rewake.h>

#define CRATES 5

enum order { ORDER_SLOWER, ORDER_CAST_OFF };

struct quay {
    struct rt_channel crates;
    struct rt_channel orders;
    uint32_t crate_ring[3];
    enum order order_ring[2];
    uint32_t weight_sent;
};

struct crane {
    struct rt_task task;
    struct sim_world *world;
    struct quay *quay;
    uint32_t at;
    uint32_t crate;
    uint32_t weight;
    enum order order;
    struct rt_sleep lift;
    struct rt_send send;
};

struct barge {
    struct rt_task task;
    struct sim_world *world;
    struct quay *quay;
    uint32_t at;
    bool cast_off;
    uint32_t weight;
    uint32_t loaded;
    uint32_t crate;
    enum order order;
    struct rt_recv in[2];
    struct rt_child children[2];
    struct rt_race race;
    struct rt_sleep stow;
};

static rt_poll
crane_poll(struct rt_task *task, struct rt_cx *cx)
{
    struct crane *crane = rt_container_of(task, struct crane, task);
    struct quay *quay = crane->quay;
    RT_BEGIN(crane->at);
    for (crane->crate = 0; crane->crate < CRATES; crane->crate++) {
        rt_sleep_init(&crane->lift, sim_range(crane->world, RT_MS / 2, 2 * RT_MS));
        RT_AWAIT_HERE(crane->at, rt_sleep_poll(&crane->lift, cx));
        crane->weight = 10 + crane->crate;
        rt_send_init(&crane->send, &quay->crates, &crane->weight);
        RT_AWAIT_HERE(crane->at, rt_send_poll(&crane->send, cx));
        quay->weight_sent += crane->weight;
    }
    crane->order = ORDER_CAST_OFF;
    rt_send_init(&crane->send, &quay->orders, &crane->order);
    RT_AWAIT_HERE(crane->at, rt_send_poll(&crane->send, cx));
    RT_END(crane->at);
}

static void
load(struct barge *barge)
{
    barge->weight += barge->crate;
    barge->loaded++;
    SIM_PROGRESS();
}

static rt_poll
barge_poll(struct rt_task *task, struct rt_cx *cx)
{
    struct barge *barge = rt_container_of(task, struct barge, task);
    struct quay *quay = barge->quay;
    RT_BEGIN(barge->at);
    while (!barge->cast_off) {
        rt_recv_init(&barge->in[0], &quay->crates, &barge->crate);
        rt_recv_init(&barge->in[1], &quay->orders, &barge->order);
        barge->children[0].future = &barge->in[0].future;
        barge->children[1].future = &barge->in[1].future;
        SIM_ALWAYS(rt_race_init(&barge->race, barge->children, 2) == RT_OK);
        RT_AWAIT_HERE(barge->at, rt_race_poll(&barge->race, cx));
        if (barge->race.winner == 1) {
            barge->cast_off = barge->order == ORDER_CAST_OFF;
            continue;
        }
        load(barge);
        rt_sleep_init(&barge->stow, sim_range(barge->world, RT_MS / 2, 2 * RT_MS));
        RT_AWAIT_HERE(barge->at, rt_sleep_poll(&barge->stow, cx));
    }
#ifdef FIXED
    while (rt_channel_try_recv(&quay->crates, &barge->crate) == RT_OK) {
        load(barge);
    }
#endif
    SIM_ALWAYS(barge->weight == quay->weight_sent);
    RT_END(barge->at);
}

static void
open_channel(struct rt_channel *channel, void *ring, uint32_t size, uint32_t capacity)
{
    const struct rt_channel_config config = {
            .ring = ring, .item_size = size, .capacity = capacity};
    rt_channel_init(channel, &config);
    rt_channel_add_sender(channel);
    rt_channel_add_receiver(channel);
}

static void
setup(struct sim_world *world)
{
    struct sim_rt *rt = sim_rt_new(world, NULL);
    struct quay *quay = sim_new(world, struct quay);
    struct crane *crane = sim_new(world, struct crane);
    struct barge *barge = sim_new(world, struct barge);
    open_channel(&quay->crates, quay->crate_ring, sizeof quay->crate_ring[0], 3);
    open_channel(&quay->orders, quay->order_ring, sizeof quay->order_ring[0], 2);
    crane->quay = barge->quay = quay;
    crane->world = barge->world = world;
    rt_task_init(&crane->task, crane_poll, NULL, "crane");
    rt_task_init(&barge->task, barge_poll, NULL, "barge");
    sim_spawn(rt, &crane->task);
    sim_spawn(rt, &barge->task);
}

#ifdef FIXED
#define FORM "fixed"
#else
#define FORM "broken"
#endif
SIM_SCENARIO(barge, .name = "s21/barge/" FORM, .about = "A crane loads a barge.", .setup = setup);
