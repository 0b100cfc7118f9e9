/* Cause: Shutdown in the wrong order: closed when all was accepted, not when all was sent. miller_poll() calls order_done() (51) before it has sent the sack (53-54); with the last one the foreman is woken (38) and closes the channel (90). Order: the cart (capacity 1) is full while the driver is on his way, so one or more of the last sends wait for room (54); the last order is accepted; the foreman closes; the waiting sends end with RT_E_CLOSED, which is not looked at. Harm: SIM_ALWAYS line 78 in driver_poll() (driven == accepted). Fix: line 56, order_done after the send. */
#include <sim/rewake.h>

#define MILLERS 2
#define ORDERS 2

struct weir {
    struct sim_world *world;
    struct rt_channel cart;
    uint32_t ring[1];
    struct rt_slot foreman;
    uint32_t orders_left; /* That the foreman waits for. */
    uint32_t accepted;
    uint32_t driven;
};

struct miller {
    struct rt_task task;
    struct weir *weir;
    struct rt_send send;
    struct rt_sleep grinding;
    uint32_t at;
    uint32_t order;
};

struct hand {
    struct rt_task task;
    struct weir *weir;
    struct rt_recv recv;
    struct rt_sleep way;
    uint32_t at;
    uint32_t sack;
};

static void order_done(struct weir *weir)
{
    if (--weir->orders_left == 0)
        rt_slot_wake(&weir->foreman);
}

static rt_poll miller_poll(struct rt_task *task, struct rt_cx *cx)
{
    struct miller *miller = rt_container_of(task, struct miller, task);
    struct weir *weir = miller->weir;
    RT_BEGIN(miller->at);
    for (miller->order = 0; miller->order < ORDERS; miller->order++) {
        rt_sleep_init(&miller->grinding, sim_range(weir->world, 3 * RT_MS, 6 * RT_MS));
        RT_AWAIT_HERE(miller->at, rt_sleep_poll(&miller->grinding, cx));
        weir->accepted++;
#ifndef FIXED
        order_done(weir);
#endif
        rt_send_init(&miller->send, &weir->cart, &miller->order);
        RT_AWAIT_HERE(miller->at, rt_send_poll(&miller->send, cx));
#ifdef FIXED
        order_done(weir);
#endif
    }
    rt_channel_drop_sender(&weir->cart);
    RT_END(miller->at);
}

static rt_poll driver_poll(struct rt_task *task, struct rt_cx *cx)
{
    struct hand *driver = rt_container_of(task, struct hand, task);
    struct weir *weir = driver->weir;
    RT_BEGIN(driver->at);
    for (;;) {
        rt_recv_init(&driver->recv, &weir->cart, &driver->sack);
        RT_AWAIT_HERE(driver->at, rt_recv_poll(&driver->recv, cx));
        if (driver->recv.err != RT_OK)
            break;
        weir->driven++;
        rt_sleep_init(&driver->way, sim_range(weir->world, 1 * RT_MS, 4 * RT_MS));
        RT_AWAIT_HERE(driver->at, rt_sleep_poll(&driver->way, cx));
    }
    rt_channel_drop_receiver(&weir->cart);
    SIM_ALWAYS(weir->driven == weir->accepted);
    RT_END(driver->at);
}

static rt_poll foreman_poll(struct rt_task *task, struct rt_cx *cx)
{
    struct hand *foreman = rt_container_of(task, struct hand, task);
    struct weir *weir = foreman->weir;
    if (weir->orders_left > 0) {
        rt_slot_replace(&weir->foreman, cx, "the last order");
        return RT_PENDING;
    }
    rt_channel_close(&weir->cart);
    return RT_READY;
}

static void setup(struct sim_world *world)
{
    static const char *const names[MILLERS] = {"upper mill", "lower mill"};
    struct sim_rt *rt = sim_rt_new(world, NULL);
    struct weir *weir = sim_new(world, struct weir);
    struct hand *driver = sim_new(world, struct hand);
    struct hand *foreman = sim_new(world, struct hand);
    struct rt_channel_config config = {
            .ring = weir->ring, .item_size = sizeof weir->ring[0], .capacity = 1};
    weir->world = world;
    weir->orders_left = MILLERS * ORDERS;
    rt_slot_init(&weir->foreman);
    rt_channel_init(&weir->cart, &config);
    rt_channel_add_receiver(&weir->cart);
    for (uint32_t i = 0; i < MILLERS; i++) {
        struct miller *miller = sim_new(world, struct miller);
        miller->weir = weir;
        rt_channel_add_sender(&weir->cart);
        rt_task_init(&miller->task, miller_poll, NULL, names[i]);
        sim_spawn(rt, &miller->task);
    }
    rt_channel_drop_handle(&weir->cart);
    driver->weir = weir;
    foreman->weir = weir;
    rt_task_init(&driver->task, driver_poll, NULL, "driver");
    rt_task_init(&foreman->task, foreman_poll, NULL, "foreman");
    sim_spawn(rt, &driver->task);
    sim_spawn(rt, &foreman->task);
}

#ifdef FIXED
#define FORM "fixed"
#else
#define FORM "broken"
#endif
SIM_SCENARIO(weir_scenario, .name = "s22/weir/" FORM, .about = "Flour, a cart, the end of the day.",
        .setup = setup);
