/*
 * tokio-8334.c -- the top level of the wheel wraps around, and a far timer hides a near one.
 *
 * tokio-rs/tokio#8334; tokio-rs/tokio#5630 (9f9e596) is an earlier mistake in the same place.
 *
 * The bug. A timer beyond the wheel's range waits in the top level, modulo its length. It may be in
 * the slot of the current time; that slot is then one whole turn away. But the search for the next
 * slot began with it, took it for the next one, and gave it the time of the next turn: the timers
 * of all later slots were not found before then. Every program with one timer that should never
 * fire hit this after twelve days, the turn of tokio's fifth level.
 *
 * The fix. The search begins after the slot of the current time. tokio-8334.patch reverts that in
 * runtime/time/wheel.c: one line. It also removes what would notice at once that a timer in the
 * wheel is overdue: an assertion, and two checks of the audit.
 *
 * Here. The wheel has two levels of four slots, a turn of 16 ms. A poller sleeps between its
 * rounds, and has a limit of about an hour for the whole, which it cancels at the end.
 *
 * Cause: never-fired in first_of or rt_timers_process_at or fire
 * Must end in: lost-wakeup of the poller; the loop sees that a timer is due, wakes repeatedly, and
 * finds none. Fails on the baseline run: no, there the far timer is after all naps.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "sim/rewake.h"

#define ROUNDS 4u
#define TURN (16 * RT_MS)

struct poller {
    struct rt_task task;
    struct rt_sleep limit;
    struct rt_sleep nap;
    bool napping;
    bool limited;
    uint32_t rounds;
    uint64_t rounds_ns[ROUNDS]; /* The start of each. */
};

static rt_poll
nap_poll(struct poller *poller, struct rt_cx *cx)
{
    if (!poller->napping) {
        poller->napping = true;
        rt_sleep_until(&poller->nap, poller->rounds_ns[poller->rounds]);
    }
    RT_AWAIT(rt_sleep_poll(&poller->nap, cx));
    poller->napping = false;
    return RT_READY;
}

static rt_poll
poller_poll(struct rt_task *task, struct rt_cx *cx)
{
    struct poller *poller = rt_container_of(task, struct poller, task);
    if (rt_sleep_poll(&poller->limit, cx) == RT_READY) {
        poller->limited = true;
        return RT_READY;
    }
    while (poller->rounds < ROUNDS) {
        RT_AWAIT(nap_poll(poller, cx));
        poller->rounds++;
        SIM_PROGRESS();
    }
    return RT_READY;
}

static void
poller_cleanup(struct rt_task *task)
{
    struct poller *poller = rt_container_of(task, struct poller, task);
    rt_sleep_cancel(&poller->limit);
    if (poller->napping) {
        rt_sleep_cancel(&poller->nap);
    }
}

static void
setup(struct sim_world *world)
{
    static const struct sim_rt_options options = {
            .tick_ns = RT_MS, .timer_levels = 2, .timer_bits = 2};
    struct sim_rt *rt = sim_rt_new(world, &options);
    struct poller *poller = sim_new(world, struct poller);
    uint64_t slot = 3 - sim_pick(world, 4);
    rt_sleep_until(&poller->limit, 200000 * TURN + slot * 4 * RT_MS);
    uint64_t begins_ms = 0;
    for (uint32_t i = 0; i < ROUNDS; i++) {
        begins_ms += sim_range(world, 1, 12);
        poller->rounds_ns[i] = begins_ms * RT_MS;
    }
    rt_task_init(&poller->task, poller_poll, poller_cleanup, "poller");
    sim_spawn(rt, &poller->task);
}

#ifdef ZOO_FORM_BROKEN
SIM_SCENARIO(zoo_tokio_8334_broken, .name = "zoo/tokio-8334/broken", .bug = "E01",
        .reference = "tokio-rs/tokio#8334",
        .about = "A timer beyond the wheel's turn hides those after its slot.", .setup = setup,
        .expect = SIM_VERDICT_LOST_WAKEUP);
#else
SIM_SCENARIO(zoo_tokio_8334_fixed, .name = "zoo/tokio-8334/fixed",
        .about = "A timer beyond the wheel's turn is after all others.", .setup = setup);
#endif
