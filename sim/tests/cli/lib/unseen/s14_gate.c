/* A gate with permits over a queue of waiters, on tasks that give up after a while and come back later.
 * Cause: enter_poll() (line 69): a task that gives up leaves its entry in the queue, which then takes a wake that was
 * for the next one. Repair: leave the queue there. */
#include <sim/rewake.h>

#define TASKS 3

struct gate {
    struct rt_wait_queue queue;
    struct rt_wait_queue_entry entries[TASKS];
    uint32_t permits;
    bool repaired;
};

struct enter {
    struct rt_sleep limit;
    bool begun;
    bool given_up;
};

struct visitor {
    struct rt_task task;
    struct sim_world *world;
    struct gate *gate;
    struct enter enter;
    struct rt_sleep sleep;
    uint64_t patience_ns;
    uint64_t stay_ns;
    uint32_t at;
    uint32_t rounds;
    uint32_t missed;
};

static void
gate_init(struct gate *gate, uint32_t permits)
{
    rt_wait_queue_init(&gate->queue, gate->entries, TASKS);
    gate->permits = permits;
}

static void
gate_leave(struct gate *gate)
{
    gate->permits++;
    (void)rt_wait_queue_wake(&gate->queue, 1);
}

static void
enter_init(struct enter *enter, uint64_t patience_ns)
{
    *enter = (struct enter){.begun = false};
    rt_sleep_init(&enter->limit, patience_ns);
}

static rt_poll
enter_poll(struct enter *enter, struct gate *gate, struct rt_cx *cx)
{
    if (gate->permits > 0) {
        gate->permits--;
        (void)rt_wait_queue_leave(&gate->queue, cx);
        rt_sleep_cancel(&enter->limit);
        return RT_READY;
    }
    if (rt_sleep_poll(&enter->limit, cx) == RT_READY) {
        enter->given_up = true;
        if (gate->repaired) {
            (void)rt_wait_queue_leave(&gate->queue, cx);
        }
        return RT_READY;
    }
    SIM_ALWAYS(rt_wait_queue_store(&gate->queue, cx, "a permit") == RT_OK);
    return RT_PENDING;
}

static rt_poll
visitor_poll(struct rt_task *task, struct rt_cx *cx)
{
    struct visitor *visitor = rt_container_of(task, struct visitor, task);
    RT_BEGIN(visitor->at);
    while (visitor->rounds < 2) {
        enter_init(&visitor->enter, visitor->patience_ns);
        RT_AWAIT_HERE(visitor->at, enter_poll(&visitor->enter, visitor->gate, cx));
        if (visitor->enter.given_up) {
            visitor->missed++;
            rt_sleep_init(&visitor->sleep, 3 * RT_MS);
            RT_AWAIT_HERE(visitor->at, rt_sleep_poll(&visitor->sleep, cx));
            visitor->patience_ns = RT_SECOND;
            continue;
        }
        rt_sleep_init(&visitor->sleep, visitor->stay_ns);
        RT_AWAIT_HERE(visitor->at, rt_sleep_poll(&visitor->sleep, cx));
        gate_leave(visitor->gate);
        visitor->rounds++;
        SIM_PROGRESS();
    }
    RT_END(visitor->at);
}

static void
visitor_cleanup(struct rt_task *task)
{
    struct visitor *visitor = rt_container_of(task, struct visitor, task);
    rt_sleep_cancel(&visitor->sleep);
    rt_sleep_cancel(&visitor->enter.limit);
}

static void
setup(struct sim_world *world, bool repaired)
{
    static const char *const names[TASKS] = {"visitor 1", "visitor 2", "visitor 3"};
    struct sim_rt *rt = sim_rt_new(world, NULL);
    struct gate *gate = sim_new(world, struct gate);
    gate_init(gate, 1);
    gate->repaired = repaired;
    for (uint32_t i = 0; i < TASKS; i++) {
        struct visitor *visitor = sim_new(world, struct visitor);
        visitor->world = world;
        visitor->gate = gate;
        visitor->patience_ns = RT_NEVER;
        if (i == 1) {
            visitor->patience_ns = sim_range(world, 5 * RT_MS, 7 * RT_MS);
        }
        visitor->stay_ns = sim_range(world, 1 * RT_MS, 4 * RT_MS);
        rt_sleep_init(&visitor->sleep, 0);
        rt_sleep_init(&visitor->enter.limit, 0);
        rt_task_init(&visitor->task, visitor_poll, visitor_cleanup, names[i]);
        sim_spawn(rt, &visitor->task);
    }
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

SIM_SCENARIO(gate_broken, .name = "s14_gate/broken", .about = "A gate that visitors give up.",
        .setup = setup_broken);
SIM_SCENARIO(gate_fixed, .name = "s14_gate/fixed", .about = "A gate that visitors give up, repaired.",
        .setup = setup_fixed);
/* SPDX-License-Identifier: Apache-2.0 */
