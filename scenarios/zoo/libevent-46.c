/*
 * libevent-46.c -- a new timer wakes no loop while an overdue timer is the first.
 *
 * libevent/libevent#46 (9443868).
 *
 * The bug. A timer that another thread adds wakes the sleeping loop only if it becomes the first of
 * the heap. After the machine was suspended, the first timer is overdue, while the loop still
 * sleeps for the rest of its timeout: a sleep does not count suspended time. The new timer sorts
 * after the overdue one, the loop is not woken, and the timer fires when the old sleep ends.
 *
 * The fix. The loop is also woken if the first timer is overdue: event_add below.
 *
 * Here. A loop has a timer a minute away. The machine may be suspended for some seconds or some
 * minutes; after that a user adds a timer of 5 ms. The runtime's wheel (runtime/time/timers.h)
 * replaces the heap.
 *
 * Cause: never-fired in event_add or user_main
 * Must end in: late-wakeup, as a timer fires after all actors were blocked and the clock was moved
 * past it. Fails on the baseline run: no, there the machine is not suspended.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "sim/rewake.h"

#define BATCH_MAX 4
#define MINUTE (60 * RT_SECOND)

/* ---- A machine that can be suspended. -------------------------------------------------------- */

struct machine {
    struct sim_world *world;
    uint64_t suspended_ns; /* So far. */
};

static void
machine_suspend(struct machine *machine, uint64_t for_ns)
{
    machine->suspended_ns += for_ns;
    sim_work(machine->world, for_ns);
}

static uint64_t
active_ns(const struct machine *machine)
{
    return sim_now(machine->world) - machine->suspended_ns;
}

/* Suspended time is not counted. */
static uint32_t
kernel_wait(struct machine *machine, struct sim_fds *fds, uint64_t timeout_ns)
{
    struct sim_fd_event batch[BATCH_MAX];
    uint64_t until_ns = active_ns(machine) + timeout_ns;
    uint32_t count = 0;
    do {
        count = sim_fd_wait(fds, batch, BATCH_MAX, until_ns - active_ns(machine));
    } while (count == 0 && active_ns(machine) < until_ns);
    return count;
}

/* ---- A base, as in libevent. ----------------------------------------------------------------- */

struct base {
    struct machine machine;
    struct sim_fds *fds;
    int notify;
    struct rt_timers heap;
    struct rt_timer late; /* The old one. */
    struct rt_timer soon; /* The new one. */
    bool broken;
};

/* Called from any thread. */
static void
event_add(struct base *base, struct rt_timer *timer, uint64_t delay_ns)
{
    uint64_t now_ns = sim_now(base->machine.world);
    uint64_t first_ns = rt_timers_next(&base->heap);
    rt_timer_start(&base->heap, timer, now_ns + delay_ns);
    bool is_first = now_ns + delay_ns < first_ns;
    if (is_first || (!base->broken && first_ns <= now_ns)) {
        SIM_ALWAYS(sim_fd_notify(base->fds, base->notify) == RT_OK);
    }
}

static uint64_t
timeout_of(const struct base *base)
{
    uint64_t now_ns = sim_now(base->machine.world);
    uint64_t first_ns = rt_timers_next(&base->heap);
    return first_ns > now_ns ? first_ns - now_ns : 0;
}

static void
loop_main(struct sim_world *world, void *argument)
{
    struct base *base = argument;
    event_add(base, &base->late, MINUTE);
    while (base->heap.armed > 0) {
        if (kernel_wait(&base->machine, base->fds, timeout_of(base)) > 0) {
            uint64_t times;
            (void)sim_fd_read(base->fds, base->notify, &times, sizeof(times));
        }
        (void)rt_timers_process(&base->heap, sim_now(world));
    }
    rt_timers_fini(&base->heap);
}

/* The fix leaves a gap: the first timer is not overdue yet, but comes before the new one. */
static bool
is_in_the_gap(const struct base *base, uint64_t delay_ns)
{
    uint64_t now_ns = sim_now(base->machine.world);
    uint64_t first_ns = rt_timers_next(&base->heap);
    return first_ns > now_ns && first_ns <= now_ns + delay_ns;
}

static void
user_main(struct sim_world *world, void *argument)
{
    static const uint64_t suspends_ns[] = {0, 5 * RT_SECOND, 2 * MINUTE};
    struct base *base = argument;
    uint64_t suspend_ns = suspends_ns[sim_pick(world, 3)];
    sim_sleep(world, 10 * RT_SECOND);
    if (suspend_ns != 0) {
        machine_suspend(&base->machine, suspend_ns);
        sim_sleep(world, RT_SECOND);
    }
    if (base->heap.armed > 0 && !is_in_the_gap(base, 5 * RT_MS)) {
        event_add(base, &base->soon, 5 * RT_MS);
    }
}

/* ---- Both forms. ----------------------------------------------------------------------------- */

static void
begin(struct sim_world *world, bool broken)
{
    struct base *base = sim_new(world, struct base);
    struct rt_timers_config config = {
            .slots = sim_alloc(world,
                    RT_TIMERS_SLOTS(RT_TIMERS_LEVELS, RT_TIMERS_BITS) * sizeof(struct rt_list *)),
            .start_ns = sim_now(world),
    };
    base->machine.world = world;
    base->broken = broken;
    rt_timers_init(&base->heap, &config);
    rt_timer_init(&base->late);
    rt_timer_init(&base->soon);
    base->fds = sim_fds_new(sim_host_new(world, NULL, SIM_PROFILE_FD), 3);
    SIM_ALWAYS(sim_fd_event_open(base->fds, "notify", &base->notify) == RT_OK);
    SIM_ALWAYS(sim_fd_add(base->fds, base->notify, SIM_FD_IN, 0) == RT_OK);
    (void)sim_loop_new(world, "loop", loop_main, base);
    (void)sim_loop_new(world, "user", user_main, base);
}

static void
setup_broken(struct sim_world *world)
{
    begin(world, true);
}

static void
setup_fixed(struct sim_world *world)
{
    begin(world, false);
}

SIM_SCENARIO(zoo_libevent_46_broken, .name = "zoo/libevent-46/broken", .bug = "A16",
        .reference = "libevent/libevent#46",
        .about = "A timer after an overdue one does not wake the loop.", .setup = setup_broken,
        .profile = SIM_PROFILE_FD, .expect = SIM_VERDICT_LATE_WAKEUP);
SIM_SCENARIO(zoo_libevent_46_fixed, .name = "zoo/libevent-46/fixed",
        .about = "A timer after an overdue one wakes the loop.", .setup = setup_fixed,
        .profile = SIM_PROFILE_FD);
