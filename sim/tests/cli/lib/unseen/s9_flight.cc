// Cause: give_up(), when a fetch takes longer than its caller allows, sets fetching = false and wakes none of
// shared.waiters. The callers that wait for this fetch could now fetch themselves (their condition is `here ||
// !fetching`), but nobody polls them again. All waiters must be woken there, as after a fetch that succeeds.
// SPDX-License-Identifier: Apache-2.0
// clang-format off
// Single flight: of several coroutines that want the same configuration one fetches it, the others
// wait for it. A fetch that takes longer than its caller allows is given up.
#include <algorithm>
#include <new>

#include <runtime/cpp/coroutine.hpp>
#include <sim/rewake.h>

constexpr int callers = 3;

struct flight {
    bool fetching = false;
    bool here = false;
    rt_slot waiters[callers];
    void (*give_up)(flight &) = nullptr;
};

struct caller {
    int number;
    std::uint64_t begin_ns;
    std::uint64_t fetch_ns;
    std::uint64_t allowed_ns;
};

static void
wake_all(flight &shared)
{
    for (rt_slot &slot : shared.waiters) {
        rt_slot_wake(&slot);
    }
}

static void
give_up(flight &shared)
{
    shared.fetching = false;
}

static void
give_up_and_tell(flight &shared)
{
    shared.fetching = false;
    wake_all(shared);
}

static rt::coroutine
fetch(rt::frames &, flight &shared, caller &self)
{
    shared.fetching = true;
    co_await rt::sleep(std::min(self.fetch_ns, self.allowed_ns), RT_HERE);
    if (self.fetch_ns > self.allowed_ns) {
        shared.give_up(shared);
        co_return;
    }
    shared.fetching = false;
    shared.here = true;
    wake_all(shared);
}

static rt::coroutine
configure(rt::frames &frames, flight &shared, caller &self)
{
    co_await rt::sleep(self.begin_ns, RT_HERE);
    if (shared.fetching) {
        co_await rt::until([&](rt_cx *cx) {
            if (shared.here || !shared.fetching) {
                return RT_READY;
            }
            rt_slot_replace(&shared.waiters[self.number], cx, "the configuration");
            return RT_PENDING;
        });
    }
    if (!shared.here && !shared.fetching) {
        co_await fetch(frames, shared, self);
    }
}

template <typename T, typename... Arguments>
static T *
make(sim_world *world, Arguments &&...arguments)
{
    return new (sim_alloc(world, sizeof(T))) T(std::forward<Arguments>(arguments)...);
}

static void
setup_flight(sim_world *world, void (*how)(flight &))
{
    static const char *const names[callers] = {"router", "logger", "cache"};
    sim_rt *rt = sim_rt_new(world, nullptr);
    flight &shared = *make<flight>(world);
    shared.give_up = how;
    for (int i = 0; i < callers; i++) {
        constexpr unsigned size = 4096;
        std::span<std::byte> memory(static_cast<std::byte *>(sim_alloc(world, size)), size);
        rt::frames &in = *make<rt::frames>(world, memory);
        caller &self = *make<caller>(world);
        self.number = i;
        self.begin_ns = sim_range(world, 1 * RT_MS, 2 * RT_MS);
        self.fetch_ns = sim_range(world, 2 * RT_MS, 6 * RT_MS);
        self.allowed_ns = sim_range(world, 5 * RT_MS, 8 * RT_MS);
        rt_slot_init(&shared.waiters[i]);
        sim_spawn(rt, make<rt::task>(world, configure(in, shared, self), names[i])->raw());
    }
}

static void
setup_broken(sim_world *world)
{
    setup_flight(world, give_up);
}

static void
setup_fixed(sim_world *world)
{
    setup_flight(world, give_up_and_tell);
}

SIM_SCENARIO(flight_broken, .name = "flight/broken", .about = "One fetches, the others wait.",
        .setup = setup_broken);
SIM_SCENARIO(flight_fixed, .name = "flight/fixed", .about = "One fetches, the others wait.",
        .setup = setup_fixed);
