// Cause: s3_ticket.c:46 ticket_wait() keeps the waker that is in the slot: after the race has ended that is the waker of its child, which wakes nothing any more, and the customer's own waker is not stored, so the call of the number reaches no task.
// SPDX-License-Identifier: Apache-2.0
// clang-format off
#include <sim/rewake.h>

#define CUSTOMERS 2

struct ticket {
    struct rt_slot slot;
    bool called;
    bool fixed;
};

/* A ticket as a child of a race, which must not end the ticket. */
struct glance {
    struct rt_future future;
    struct ticket *ticket;
};

struct customer {
    struct rt_task task;
    struct ticket ticket;
    struct glance glance;
    struct rt_sleep_future patience;
    struct rt_race race;
    struct rt_child children[2];
    uint32_t complaints;
    uint32_t at;
};

struct clerk {
    struct rt_task task;
    struct customer *customers;
    struct rt_sleep sleep;
    uint64_t takes_ns[CUSTOMERS];
    uint32_t next;
    uint32_t at;
};

static rt_poll
ticket_wait(struct ticket *ticket, struct rt_cx *cx)
{
    if (ticket->called) {
        return RT_READY;
    }
    if (ticket->fixed || rt_slot_empty(&ticket->slot)) {
        rt_slot_replace(&ticket->slot, cx, "the number to be called");
    }
    return RT_PENDING;
}

static rt_poll
glance_poll(struct rt_future *future, struct rt_cx *cx)
{
    return ticket_wait(rt_container_of(future, struct glance, future)->ticket, cx);
}

static rt_poll
customer_poll(struct rt_task *task, struct rt_cx *cx)
{
    struct customer *customer = rt_container_of(task, struct customer, task);
    RT_BEGIN(customer->at);
    customer->glance.ticket = &customer->ticket;
    rt_future_init(&customer->glance.future, glance_poll, NULL, "a glance at the ticket");
    rt_sleep_future_init(&customer->patience, RT_MS);
    customer->children[0].future = &customer->glance.future;
    customer->children[1].future = &customer->patience.future;
    SIM_ALWAYS(rt_race_init(&customer->race, customer->children, 2) == RT_OK);
    RT_AWAIT_HERE(customer->at, rt_race_poll(&customer->race, cx));
    if (customer->race.winner == 1) {
        customer->complaints++;
        RT_AWAIT_HERE(customer->at, ticket_wait(&customer->ticket, cx));
    }
    RT_END(customer->at);
}

static rt_poll
clerk_poll(struct rt_task *task, struct rt_cx *cx)
{
    struct clerk *clerk = rt_container_of(task, struct clerk, task);
    RT_BEGIN(clerk->at);
    for (clerk->next = 0; clerk->next < CUSTOMERS; clerk->next++) {
        rt_sleep_init(&clerk->sleep, clerk->takes_ns[clerk->next]);
        RT_AWAIT_HERE(clerk->at, rt_sleep_poll(&clerk->sleep, cx));
        clerk->customers[clerk->next].ticket.called = true;
        rt_slot_wake(&clerk->customers[clerk->next].ticket.slot);
    }
    RT_END(clerk->at);
}

static void
setup(struct sim_world *world, bool fixed)
{
    static const char *const names[CUSTOMERS] = {"customer A", "customer B"};
    struct sim_rt *rt = sim_rt_new(world, NULL);
    struct customer *customers = sim_zalloc(world, CUSTOMERS * sizeof *customers);
    struct clerk *clerk = sim_new(world, struct clerk);
    for (uint32_t i = 0; i < CUSTOMERS; i++) {
        rt_slot_init(&customers[i].ticket.slot);
        customers[i].ticket.fixed = fixed;
        rt_task_init(&customers[i].task, customer_poll, NULL, names[i]);
        sim_spawn(rt, &customers[i].task);
        clerk->takes_ns[i] = sim_range(world, RT_MS / 4, RT_MS);
    }
    clerk->customers = customers;
    rt_task_init(&clerk->task, clerk_poll, NULL, "clerk");
    sim_spawn(rt, &clerk->task);
}

static void setup_broken(struct sim_world *world) { setup(world, false); }
static void setup_fixed(struct sim_world *world) { setup(world, true); }

SIM_SCENARIO(broken, .name = "set3/s3_ticket/broken", .about = "Customers wait for their number.",
        .setup = setup_broken);
SIM_SCENARIO(fixed, .name = "set3/s3_ticket/fixed", .about = "Customers wait for their number.",
        .setup = setup_fixed);
