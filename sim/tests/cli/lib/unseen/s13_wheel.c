/* A timer wheel of four slots, turned by a task each millisecond, with clients that wait for deadlines.
 * Cause: wheel_add() line 44: a deadline in the tick that was just processed is put into the slot of this tick
 * and found only a whole turn later; repair: `<=`, so that it comes with the next tick. */
#include <sim/rewake.h>

#define SLOTS 4
#define CLIENTS 3

struct wheel;

struct timer {
    struct rt_list link;
    struct rt_slot slot;
    uint64_t deadline;
    uint64_t fired; /* 0: not yet. */
};

struct wheel {
    struct rt_task task;
    struct rt_sleep tick;
    uint32_t at;
    uint64_t now; /* The tick that was processed last. */
    struct rt_list slots[SLOTS];
    unsigned clients;
    bool fixed;
};

struct client {
    struct rt_task task;
    struct wheel *wheel;
    uint32_t at;
    uint64_t deadline;
    uint64_t armed;
    uint64_t ticks;
    struct rt_sleep prepare;
    struct timer timer;
    unsigned round;
    uint64_t prepare_ns[2];
};

static void
wheel_add(struct wheel *wheel, struct timer *timer, uint64_t deadline)
{
    bool past = wheel->fixed ? deadline <= wheel->now : deadline < wheel->now;
    if (past) {
        deadline = wheel->now + 1;
    }
    timer->deadline = deadline;
    timer->fired = 0;
    rt_list_push_back(&wheel->slots[deadline % SLOTS], &timer->link);
}

static void
wheel_turn(struct wheel *wheel)
{
    wheel->now++;
    struct rt_list *slot = &wheel->slots[wheel->now % SLOTS];
    for (struct rt_list *node = slot->next; node != slot;) {
        struct timer *timer = rt_container_of(node, struct timer, link);
        node = node->next;
        if (timer->deadline <= wheel->now) {
            rt_list_unlink(&timer->link);
            timer->fired = wheel->now;
            rt_slot_wake(&timer->slot);
        }
    }
}

static rt_poll
wheel_poll(struct rt_task *task, struct rt_cx *cx)
{
    struct wheel *wheel = rt_container_of(task, struct wheel, task);
    RT_BEGIN(wheel->at);
    while (wheel->clients > 0) {
        rt_sleep_init(&wheel->tick, 1 * RT_MS);
        RT_AWAIT_HERE(wheel->at, rt_sleep_poll(&wheel->tick, cx));
        wheel_turn(wheel);
    }
    RT_END(wheel->at);
}

static rt_poll
timer_poll(struct timer *timer, struct rt_cx *cx)
{
    if (timer->fired != 0) {
        return RT_READY;
    }
    rt_slot_replace(&timer->slot, cx, "a deadline");
    return RT_PENDING;
}

/* A request with a deadline: some work first, then what is left of the time is waited for. */
static rt_poll
client_poll(struct rt_task *task, struct rt_cx *cx)
{
    struct client *client = rt_container_of(task, struct client, task);
    RT_BEGIN(client->at);
    for (client->round = 0; client->round < 2; client->round++) {
        client->deadline = client->wheel->now + client->ticks;
        rt_sleep_init(&client->prepare, client->prepare_ns[client->round]);
        RT_AWAIT_HERE(client->at, rt_sleep_poll(&client->prepare, cx));
        client->armed = client->wheel->now;
        wheel_add(client->wheel, &client->timer, client->deadline);
        RT_AWAIT_HERE(client->at, timer_poll(&client->timer, cx));
        SIM_ALWAYS(client->timer.fired >= client->deadline);
        SIM_ALWAYS(client->timer.fired <= client->deadline ||
                   client->timer.fired <= client->armed + 1);
    }
    client->wheel->clients--;
    RT_END(client->at);
}

static void
set_up(struct sim_world *world, bool fixed)
{
    static const char *const names[CLIENTS] = {"login", "query", "upload"};
    struct sim_rt *rt = sim_rt_new(world, NULL);
    struct wheel *wheel = sim_new(world, struct wheel);
    wheel->fixed = fixed;
    wheel->clients = CLIENTS;
    for (unsigned i = 0; i < SLOTS; i++) {
        rt_list_init(&wheel->slots[i]);
    }
    rt_task_init(&wheel->task, wheel_poll, NULL, "wheel");
    sim_spawn(rt, &wheel->task);
    for (unsigned i = 0; i < CLIENTS; i++) {
        struct client *client = sim_new(world, struct client);
        client->wheel = wheel;
        client->ticks = 3;
        for (unsigned k = 0; k < 2; k++) {
            client->prepare_ns[k] = sim_range(world, RT_MS / 2, 5 * RT_MS);
        }
        rt_slot_init(&client->timer.slot);
        rt_list_init(&client->timer.link);
        rt_task_init(&client->task, client_poll, NULL, names[i]);
        sim_spawn(rt, &client->task);
    }
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

SIM_SCENARIO(broken, .name = "s13_wheel/broken", .about = "A timer wheel, broken.",
        .setup = set_up_broken, .slack_ns = 6 * RT_MS, .expect = SIM_VERDICT_INVARIANT);
SIM_SCENARIO(fixed, .name = "s13_wheel/fixed", .about = "A timer wheel.", .setup = set_up_fixed,
        .slack_ns = 6 * RT_MS);
/* SPDX-License-Identifier: Apache-2.0 */
