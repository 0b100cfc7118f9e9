/* Cause: the signal to end overtakes the items before it. The picker puts the baskets into the channel (47-48) and notifies evening on another path (55); press_wait() asks for the evening first (63), drops the receive and press_poll() ends (86-88) with baskets still on the belt. Order: the press is busy with a basket (turn, 89-90), or has not been polled, while there is at least one more basket in the channel, when the picker notifies the evening; its next press_wait sees the evening before the basket. Harm: SIM_ALWAYS(pressed == put) at 98. Fix: drain the belt after the evening (93-97). */
#include <sim/rewake.h>

#define BASKETS 3u

struct yard {
    struct rt_channel belt;
    uint32_t ring[4];
    struct rt_notify evening;
    bool day_over;
    uint32_t put, pressed;
};

struct picker {
    struct rt_task task;
    struct yard *yard;
    struct rt_sleep pick;
    struct rt_send send;
    uint32_t basket;
    uint64_t pick_ns[BASKETS];
    uint64_t rest_ns;
    uint32_t i, at;
};

struct press {
    struct rt_task task;
    struct yard *yard;
    struct rt_recv recv;
    struct rt_notified over;
    struct rt_sleep turn;
    uint32_t basket;
    uint64_t turn_ns;
    uint32_t at;
    bool taken;
};

static rt_poll
picker_poll(struct rt_task *task, struct rt_cx *cx)
{
    struct picker *picker = rt_container_of(task, struct picker, task);
    struct yard *yard = picker->yard;
    RT_BEGIN(picker->at);
    for (picker->i = 0; picker->i < BASKETS; picker->i++) {
        rt_sleep_init(&picker->pick, picker->pick_ns[picker->i]);
        RT_AWAIT_HERE(picker->at, rt_sleep_poll(&picker->pick, cx));
        picker->basket = picker->i;
        rt_send_init(&picker->send, &yard->belt, &picker->basket);
        RT_AWAIT_HERE(picker->at, rt_send_poll(&picker->send, cx));
        yard->put++;
    }
    rt_sleep_init(&picker->pick, picker->rest_ns);
    RT_AWAIT_HERE(picker->at, rt_sleep_poll(&picker->pick, cx));
    /* The last basket is on the belt: the day is over. */
    yard->day_over = true;
    rt_notify_one(&yard->evening);
    RT_END(picker->at);
}

/* READY: a basket is taken, or it is evening. */
static rt_poll
press_wait(struct press *press, struct rt_cx *cx)
{
    if (rt_notified_poll(&press->over, cx) == RT_READY) {
        rt_recv_drop(&press->recv);
        press->taken = false;
        return RT_READY;
    }
    if (rt_recv_poll(&press->recv, cx) == RT_READY) {
        rt_notified_drop(&press->over);
        press->taken = true;
        return RT_READY;
    }
    return RT_PENDING;
}

static rt_poll
press_poll(struct rt_task *task, struct rt_cx *cx)
{
    struct press *press = rt_container_of(task, struct press, task);
    struct yard *yard = press->yard;
    RT_BEGIN(press->at);
    for (;;) {
        rt_recv_init(&press->recv, &yard->belt, &press->basket);
        rt_notified_init(&press->over, &yard->evening);
        RT_AWAIT_HERE(press->at, press_wait(press, cx));
        if (!press->taken) {
            break;
        }
        rt_sleep_init(&press->turn, press->turn_ns);
        RT_AWAIT_HERE(press->at, rt_sleep_poll(&press->turn, cx));
        yard->pressed++;
    }
#ifdef FIXED
    while (rt_channel_try_recv(&yard->belt, &press->basket) == RT_OK) {
        yard->pressed++;
    }
#endif
    SIM_ALWAYS(yard->pressed == yard->put);
    RT_END(press->at);
}

static void
setup(struct sim_world *world)
{
    struct sim_rt *rt = sim_rt_new(world, NULL);
    struct yard *yard = sim_new(world, struct yard);
    struct picker *picker = sim_new(world, struct picker);
    struct press *press = sim_new(world, struct press);
    struct rt_channel_config config = {
            .ring = yard->ring, .item_size = sizeof(uint32_t), .capacity = 4};
    rt_channel_init(&yard->belt, &config);
    rt_channel_add_sender(&yard->belt);
    rt_channel_add_receiver(&yard->belt);
    rt_notify_init(&yard->evening);
    picker->yard = press->yard = yard;
    for (uint32_t i = 0; i < BASKETS; i++) {
        picker->pick_ns[i] = sim_range(world, 3 * RT_MS, 6 * RT_MS);
    }
    picker->rest_ns = sim_range(world, 2 * RT_MS, 6 * RT_MS);
    press->turn_ns = sim_range(world, 1 * RT_MS, 5 * RT_MS);
    rt_task_init(&picker->task, picker_poll, NULL, "picker");
    rt_task_init(&press->task, press_poll, NULL, "press");
    sim_spawn(rt, &press->task);
    sim_spawn(rt, &picker->task);
}

#ifdef FIXED
#define FORM "fixed"
#else
#define FORM "broken"
#endif
SIM_SCENARIO(harvest, .name = "s23/harvest/" FORM, .about = "Baskets on a belt, until evening.",
        .setup = setup);
