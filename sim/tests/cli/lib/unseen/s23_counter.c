/* Cause: a cycle of two bounded channels (pipelining without a window). agency_poll() sends all orders (52, 66-68) before it receives any ticket (70-75); both channels hold 2. Order: with at least 6 orders (drawn, 2 to 6): 2 tickets are in the ticket channel, the clerk holds a third and waits in its send (clerk_poll, 39-41) for room, 2 orders are in the order channel, and the agency waits in the send of the sixth (68). Each waits for the other to receive. Harm: deadlock. Fix: at most two orders outstanding, tickets are received in between (53-65). With 6 orders it happens in every order of the tasks. */
#include <sim/rewake.h>

#define ORDERS_MAX 6u

struct station {
    struct rt_channel orders, tickets;
    uint32_t order_ring[2], ticket_ring[2];
};

struct clerk {
    struct rt_task task;
    struct station *station;
    struct rt_recv recv;
    struct rt_send send;
    uint32_t order, ticket;
    uint32_t served, count;
    uint32_t at;
};

struct agency {
    struct rt_task task;
    struct station *station;
    struct rt_send send;
    struct rt_recv recv;
    uint32_t order, ticket;
    uint32_t sent, received, count;
    uint32_t at;
};

static rt_poll
clerk_poll(struct rt_task *task, struct rt_cx *cx)
{
    struct clerk *clerk = rt_container_of(task, struct clerk, task);
    RT_BEGIN(clerk->at);
    for (clerk->served = 0; clerk->served < clerk->count; clerk->served++) {
        rt_recv_init(&clerk->recv, &clerk->station->orders, &clerk->order);
        RT_AWAIT_HERE(clerk->at, rt_recv_poll(&clerk->recv, cx));
        clerk->ticket = clerk->order + 100;
        rt_send_init(&clerk->send, &clerk->station->tickets, &clerk->ticket);
        RT_AWAIT_HERE(clerk->at, rt_send_poll(&clerk->send, cx));
    }
    RT_END(clerk->at);
}

static rt_poll
agency_poll(struct rt_task *task, struct rt_cx *cx)
{
    struct agency *agency = rt_container_of(task, struct agency, task);
    RT_BEGIN(agency->at);
    /* All orders at once, then all tickets: one round trip less for each. */
    for (agency->sent = 0; agency->sent < agency->count; agency->sent++) {
#ifdef FIXED
        while (agency->received < agency->sent &&
                rt_channel_try_recv(&agency->station->tickets, &agency->ticket) == RT_OK) {
            SIM_ALWAYS(agency->ticket == agency->received + 100);
            agency->received++;
        }
        if (agency->sent - agency->received >= 2) { /* No more than there is space for. */
            rt_recv_init(&agency->recv, &agency->station->tickets, &agency->ticket);
            RT_AWAIT_HERE(agency->at, rt_recv_poll(&agency->recv, cx));
            SIM_ALWAYS(agency->ticket == agency->received + 100);
            agency->received++;
        }
#endif
        agency->order = agency->sent;
        rt_send_init(&agency->send, &agency->station->orders, &agency->order);
        RT_AWAIT_HERE(agency->at, rt_send_poll(&agency->send, cx));
    }
    while (agency->received < agency->count) {
        rt_recv_init(&agency->recv, &agency->station->tickets, &agency->ticket);
        RT_AWAIT_HERE(agency->at, rt_recv_poll(&agency->recv, cx));
        SIM_ALWAYS(agency->ticket == agency->received + 100);
        agency->received++;
    }
    RT_END(agency->at);
}

static void
setup(struct sim_world *world)
{
    struct sim_rt *rt = sim_rt_new(world, NULL);
    struct station *station = sim_new(world, struct station);
    struct clerk *clerk = sim_new(world, struct clerk);
    struct agency *agency = sim_new(world, struct agency);
    struct rt_channel_config orders = {
            .ring = station->order_ring, .item_size = sizeof(uint32_t), .capacity = 2};
    struct rt_channel_config tickets = {
            .ring = station->ticket_ring, .item_size = sizeof(uint32_t), .capacity = 2};
    rt_channel_init(&station->orders, &orders);
    rt_channel_init(&station->tickets, &tickets);
    rt_channel_add_sender(&station->orders);
    rt_channel_add_receiver(&station->orders);
    rt_channel_add_sender(&station->tickets);
    rt_channel_add_receiver(&station->tickets);
    clerk->station = agency->station = station;
    clerk->count = agency->count = (uint32_t)sim_range(world, 2, ORDERS_MAX);
    rt_task_init(&agency->task, agency_poll, NULL, "agency");
    rt_task_init(&clerk->task, clerk_poll, NULL, "clerk");
    sim_spawn(rt, &agency->task);
    sim_spawn(rt, &clerk->task);
}

#ifdef FIXED
#define FORM "fixed"
#else
#define FORM "broken"
#endif
SIM_SCENARIO(counter, .name = "s23/counter/" FORM, .about = "An agency orders tickets.",
        .setup = setup);
