/* Cause: water(), line 61: whether the tank is empty is asked before the gardener puts his hat on (a sleep); when the tank is filled meanwhile nobody is woken, as nobody waits yet, and then the gardener waits on the strength of the old answer, forever; repair: ask after the sleep. */
/*
 * A greenhouse: a gardener waters several beds, each with a can of water from the tank. The rain
 * fills the tank, a can at a time.
 */
#include <new>
#include <utility>

#include <runtime/cpp/coroutine.hpp>
#include <sim/rewake.h>

namespace
{

constexpr unsigned BEDS = 3;
constexpr unsigned ROOM = 8192;

struct tank {
    rt_slot gardener; /* Waits for water. */
    unsigned cans = 1;
    unsigned watered = 0;
    bool fixed;

    explicit tank(bool is_fixed) : fixed(is_fixed)
    {
        rt_slot_init(&gardener);
    }

    bool empty() const
    {
        return cans == 0;
    }

    void fill()
    {
        cans++;
        rt_slot_wake(&gardener);
    }
};

/* Waits for the next rain. */
struct next_rain {
    tank &from;
    bool waited = false;

    rt_poll poll(rt_cx *cx)
    {
        if (waited && !from.empty()) {
            return RT_READY;
        }
        waited = true;
        rt_slot_replace(&from.gardener, cx, "rain");
        return RT_PENDING;
    }
};

rt::coroutine
water(rt::frames &, tank &from, std::uint64_t hat_ns)
{
    while (from.watered < BEDS) {
        bool dry = from.empty();
        co_await rt::sleep(hat_ns, RT_HERE);
        if (from.fixed) {
            dry = from.empty();
        }
        if (dry) {
            co_await next_rain{from};
        }
        SIM_ALWAYS(!from.empty());
        from.cans--;
        from.watered++;
    }
}

rt::coroutine
rain(rt::frames &, sim_world *world, tank &into)
{
    for (unsigned i = 1; i < BEDS; i++) {
        co_await rt::sleep(sim_range(world, 3 * RT_MS, 7 * RT_MS), RT_HERE);
        into.fill();
    }
}

template <typename T, typename... Arguments>
T *
make(sim_world *world, Arguments &&...arguments)
{
    return new (sim_alloc(world, sizeof(T))) T(std::forward<Arguments>(arguments)...);
}

void
set_up(sim_world *world, bool fixed)
{
    sim_rt *rt = sim_rt_new(world, nullptr);
    std::span<std::byte> memory(static_cast<std::byte *>(sim_alloc(world, ROOM)), ROOM);
    rt::frames &in = *make<rt::frames>(world, memory);
    tank &shared = *make<tank>(world, fixed);
    std::uint64_t hat_ns = sim_range(world, RT_MS / 2, 2 * RT_MS);
    sim_spawn(rt, make<rt::task>(world, water(in, shared, hat_ns), "gardener")->raw());
    sim_spawn(rt, make<rt::task>(world, rain(in, world, shared), "rain")->raw());
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

SIM_SCENARIO(broken, .name = "s17/greenhouse/broken", .about = "The first form.", .setup = set_up_broken);
SIM_SCENARIO(fixed, .name = "s17/greenhouse/fixed", .about = "The repaired form.", .setup = set_up_fixed);

} /* namespace */

/* SPDX-License-Identifier: Apache-2.0 */
