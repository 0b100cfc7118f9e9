/* Cause: fetch(), line 58: when the loader's own read fails it leaves at once, and those that wait for the same
 * entry are not told that no one loads it any more; repair: reset `loading` and wake them on this way out, too. */
#include <array>
#include <new>

#include <runtime/cpp/coroutine.hpp>
#include <sim/rewake.h>

/* A cache with one flight for each entry: the first that misses loads, others wait for it. */

constexpr std::uint32_t readers = 3;

struct cache {
    sim_world *world;
    bool fixed;
    bool loading = false;
    bool filled = false;
    std::uint32_t failures = 0;
    std::array<rt_slot, readers> waiting{};

    void
    wake_all()
    {
        for (rt_slot &each : waiting) {
            (void)rt_slot_wake(&each);
        }
    }
};

/* The disk: it fails now and then, at most twice. */
static bool
disk_fails(cache &of)
{
    bool fails = of.failures < 2 && sim_pick(of.world, 6) == 5;
    of.failures += fails;
    return fails;
}

static rt::coroutine
fetch(rt::frames &, cache &from, std::uint32_t number, bool &got)
{
    while (from.loading) {
        co_await rt::until([&](rt_cx *cx) {
            if (!from.loading) {
                return RT_READY;
            }
            rt_slot_replace(&from.waiting[number], cx, "another reader's load");
            return RT_PENDING;
        });
    }
    if (from.filled) {
        got = true;
        co_return;
    }
    from.loading = true;
    co_await rt::sleep(sim_range(from.world, 1 * RT_MS, 3 * RT_MS), RT_HERE);
    if (disk_fails(from)) {
        if (from.fixed) {
            from.loading = false;
            from.wake_all();
        }
        co_return;
    }
    from.filled = true;
    from.loading = false;
    from.wake_all();
    got = true;
}

/* A reader comes at some time, and shows an error page if its read fails. */
static rt::coroutine
reader(rt::frames &in, cache &from, std::uint32_t number)
{
    bool got = false;
    co_await rt::sleep(sim_range(from.world, 0, 4 * RT_MS), RT_HERE);
    SIM_ALWAYS(co_await fetch(in, from, number, got) == RT_OK);
    SIM_ALWAYS(got || from.failures > 0);
}

template <typename T, typename... Arguments>
static T *
make(sim_world *world, Arguments &&...arguments)
{
    return new (sim_alloc(world, sizeof(T))) T{std::forward<Arguments>(arguments)...};
}

static void
begin(sim_world *world, bool fixed)
{
    static const char *const names[readers] = {"reader 0", "reader 1", "reader 2"};
    sim_rt *rt = sim_rt_new(world, nullptr);
    constexpr std::size_t size = 4096;
    cache &shared = *make<cache>(world, world, fixed);
    for (rt_slot &each : shared.waiting) {
        rt_slot_init(&each);
    }
    for (std::uint32_t i = 0; i < readers; i++) {
        std::span<std::byte> memory(static_cast<std::byte *>(sim_alloc(world, size)), size);
        rt::frames &in = *new (sim_alloc(world, sizeof(rt::frames))) rt::frames(memory);
        void *task = sim_alloc(world, sizeof(rt::task));
        sim_spawn(rt, (new (task) rt::task(reader(in, shared, i), names[i]))->raw());
    }
}

static void
broken(sim_world *world)
{
    begin(world, false);
}

static void
fixed(sim_world *world)
{
    begin(world, true);
}

SIM_SCENARIO(s15_flight_b, .name = "s15/flight/broken", .about = "A failed load tells no one.",
        .setup = broken);
SIM_SCENARIO(s15_flight_f, .name = "s15/flight/fixed", .about = "A failed load wakes the others.",
        .setup = fixed);
/* SPDX-License-Identifier: Apache-2.0 */
