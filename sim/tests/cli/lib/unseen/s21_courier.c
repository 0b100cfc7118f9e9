/* Cause: deliver(), lines 81-82: the depot takes longer than the shop's patience (60), the shop sends the same order again (56, 57), and the depot delivers the duplicate as well. Harm: SIM_ALWAYS(depot->delivered[order->number] == order->crates), line 83. Fix: an order with the number of the last one is not delivered again, only receipted. */
#include <sim/rewake.h>

#define ORDERS 3
#define TRIES 4
#define PATIENCE_NS (3 * RT_MS)

struct order {
    uint32_t number;
    uint32_t crates;
};

struct road {
    struct rt_channel orders;
    struct rt_channel receipts;
    struct order order_ring[8];
    uint32_t receipt_ring[8];
};

struct shop {
    struct rt_task task;
    struct road *road;
    uint32_t at;
    uint32_t tries;
    struct order order;
    uint32_t receipt;
    bool confirmed;
    struct rt_send send;
    struct rt_recv recv;
    struct rt_timeout timeout;
};

struct depot {
    struct rt_task task;
    struct sim_world *world;
    struct road *road;
    uint32_t at;
    uint32_t last; /* The order that was delivered last. */
    uint32_t delivered[ORDERS + 1];
    struct order order;
    struct rt_recv recv;
    struct rt_send send;
    struct rt_sleep drive;
};

static rt_poll
shop_poll(struct rt_task *task, struct rt_cx *cx)
{
    struct shop *shop = rt_container_of(task, struct shop, task);
    struct road *road = shop->road;
    RT_BEGIN(shop->at);
    for (shop->order.number = 1; shop->order.number <= ORDERS; shop->order.number++) {
        shop->order.crates = 10 * shop->order.number;
        shop->confirmed = false;
        for (shop->tries = 0; shop->tries < TRIES && !shop->confirmed; shop->tries++) {
            rt_send_init(&shop->send, &road->orders, &shop->order);
            RT_AWAIT_HERE(shop->at, rt_send_poll(&shop->send, cx));
            do {
                rt_recv_init(&shop->recv, &road->receipts, &shop->receipt);
                rt_timeout_init(&shop->timeout, &shop->recv.future, PATIENCE_NS);
                RT_AWAIT_HERE(shop->at, rt_timeout_poll(&shop->timeout, cx));
                shop->confirmed =
                        !shop->timeout.expired && shop->receipt == shop->order.number;
            } while (!shop->timeout.expired && !shop->confirmed);
        }
    }
    rt_channel_drop_sender(&road->orders);
    rt_channel_drop_receiver(&road->receipts);
    RT_END(shop->at);
}

static void
deliver(struct depot *depot)
{
    struct order *order = &depot->order;
#ifdef FIXED
    if (order->number == depot->last) {
        return; /* The shop has it, and wants a receipt. */
    }
#endif
    depot->delivered[order->number] += order->crates;
    depot->last = order->number;
    SIM_ALWAYS(depot->delivered[order->number] == order->crates);
}

static rt_poll
depot_poll(struct rt_task *task, struct rt_cx *cx)
{
    struct depot *depot = rt_container_of(task, struct depot, task);
    struct road *road = depot->road;
    RT_BEGIN(depot->at);
    for (;;) {
        rt_recv_init(&depot->recv, &road->orders, &depot->order);
        RT_AWAIT_HERE(depot->at, rt_recv_poll(&depot->recv, cx));
        if (depot->recv.err != RT_OK) {
            break;
        }
        rt_sleep_init(&depot->drive, sim_range(depot->world, RT_MS, 4 * RT_MS));
        RT_AWAIT_HERE(depot->at, rt_sleep_poll(&depot->drive, cx));
        deliver(depot);
        rt_send_init(&depot->send, &road->receipts, &depot->order.number);
        RT_AWAIT_HERE(depot->at, rt_send_poll(&depot->send, cx));
    }
    RT_END(depot->at);
}

static void
open_road(struct rt_channel *channel, void *ring, uint32_t item_size)
{
    const struct rt_channel_config config = {.ring = ring, .item_size = item_size, .capacity = 8};
    rt_channel_init(channel, &config);
    rt_channel_add_sender(channel);
    rt_channel_add_receiver(channel);
    rt_channel_drop_handle(channel);
}

static void
setup(struct sim_world *world)
{
    struct sim_rt *rt = sim_rt_new(world, NULL);
    struct road *road = sim_new(world, struct road);
    struct shop *shop = sim_new(world, struct shop);
    struct depot *depot = sim_new(world, struct depot);
    open_road(&road->orders, road->order_ring, sizeof road->order_ring[0]);
    open_road(&road->receipts, road->receipt_ring, sizeof road->receipt_ring[0]);
    shop->road = depot->road = road;
    depot->world = world;
    rt_task_init(&shop->task, shop_poll, NULL, "shop");
    rt_task_init(&depot->task, depot_poll, NULL, "depot");
    sim_spawn(rt, &shop->task);
    sim_spawn(rt, &depot->task);
}

#ifdef FIXED
#define FORM "fixed"
#else
#define FORM "broken"
#endif
SIM_SCENARIO(courier, .name = "s21/courier/" FORM, .about = "A shop orders from a depot.", .setup = setup);
