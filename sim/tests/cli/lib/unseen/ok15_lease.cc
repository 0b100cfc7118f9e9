/* Correct: a lease that is renewed while its watchdog sleeps (it compares the deadline again after the sleep), and
 * a waker that is stored before the second look. */
#include <new>

#include <runtime/cpp/coroutine.hpp>
#include <sim/rewake.h>

/* A lease on a lock file: the owner renews it, and then forgets it; a watchdog takes it away. */

constexpr std::uint64_t length = 3 * RT_MS;

struct lease {
    sim_world *world;
    std::uint64_t until_ns = length;
    std::uint32_t renewals = 0;
    bool taken_away = false;
    rt_slot successor{};
};

static rt::coroutine
owner(rt::frames &, lease &of)
{
    for (std::uint32_t i = 0; i < 3; i++) {
        co_await rt::sleep(sim_range(of.world, 1 * RT_MS, 4 * RT_MS), RT_HERE);
        if (of.taken_away) {
            co_return;
        }
        of.until_ns = sim_now(of.world) + length;
        of.renewals++;
    }
}

static rt::coroutine
watchdog(rt::frames &, lease &of)
{
    while (sim_now(of.world) < of.until_ns) {
        co_await rt::sleep(of.until_ns - sim_now(of.world), RT_HERE);
    }
    of.taken_away = true;
    (void)rt_slot_wake(&of.successor);
}

static rt::coroutine
successor(rt::frames &, lease &of)
{
    co_await rt::sleep(sim_range(of.world, 0, 12 * RT_MS), RT_HERE);
    co_await rt::until([&](rt_cx *cx) {
        rt_slot_replace(&of.successor, cx, "the end of the lease");
        if (!of.taken_away) {
            return RT_PENDING;
        }
        (void)rt_slot_clear(&of.successor);
        return RT_READY;
    });
    SIM_ALWAYS(sim_now(of.world) >= (of.renewals + 1) * RT_MS);
}

static void
setup(sim_world *world)
{
    sim_rt *rt = sim_rt_new(world, nullptr);
    constexpr std::size_t size = 4096;
    std::span<std::byte> memory(static_cast<std::byte *>(sim_alloc(world, size)), size);
    rt::frames &in = *new (sim_alloc(world, sizeof(rt::frames))) rt::frames(memory);
    lease &shared = *new (sim_alloc(world, sizeof(lease))) lease{world};
    void *tasks[3];
    for (void *&each : tasks) {
        each = sim_alloc(world, sizeof(rt::task));
    }
    rt_slot_init(&shared.successor);
    sim_spawn(rt, (new (tasks[0]) rt::task(owner(in, shared), "owner"))->raw());
    sim_spawn(rt, (new (tasks[1]) rt::task(watchdog(in, shared), "watchdog"))->raw());
    sim_spawn(rt, (new (tasks[2]) rt::task(successor(in, shared), "successor"))->raw());
}

SIM_SCENARIO(ok_lease, .name = "ok/lease", .about = "A lease that moves.", .setup = setup);
/* SPDX-License-Identifier: Apache-2.0 */
