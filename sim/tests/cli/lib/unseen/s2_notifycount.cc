// Cause: s2_notifycount.cc:33 the consumer takes one item for each notification, but rt_notify keeps at most one permit: of two items that come while it is at work one has no permit of its own, and in the end the consumer waits beside an item.
// SPDX-License-Identifier: Apache-2.0
// clang-format off
#include <new>
#include <utility>

#include <runtime/cpp/coroutine.hpp>
#include <sim/rewake.h>

namespace
{

constexpr unsigned items_total = 4;

struct shelf {
    rt_notify filled;
    unsigned items = 0;
    bool fixed = false;
};

rt::coroutine consumer(rt::frames &, shelf &from)
{
    for (unsigned taken = 0; taken < items_total;) {
        rt_notified notified;
        rt_notified_init(&notified, &from.filled);
        co_await notified.future;
        while (from.items > 0) {
            from.items--;
            taken++;
            SIM_PROGRESS();
            co_await rt::sleep(500 * RT_US, RT_HERE); // packs it
            if (!from.fixed)
                break;
        }
    }
}

rt::coroutine producer(rt::frames &, sim_world *world, shelf &to)
{
    for (unsigned i = 0; i < items_total / 2; i++) {
        co_await rt::sleep(sim_pick(world, 2) == 0 ? 1500 * RT_US : 200 * RT_US, RT_HERE);
        to.items++;
        rt_notify_one(&to.filled);
    }
}

template <typename T, typename... Arguments>
T *make(sim_world *world, Arguments &&...arguments)
{
    return new (sim_alloc(world, sizeof(T))) T(std::forward<Arguments>(arguments)...);
}

void setup(sim_world *world, bool fixed)
{
    sim_rt *rt = sim_rt_new(world, nullptr);
    constexpr unsigned size = 8192;
    std::span<std::byte> memory(static_cast<std::byte *>(sim_alloc(world, size)), size);
    rt::frames &in = *make<rt::frames>(world, memory);
    shelf &shared = *make<shelf>(world);
    rt_notify_init(&shared.filled);
    shared.fixed = fixed;
    sim_spawn(rt, make<rt::task>(world, consumer(in, shared), "consumer")->raw());
    sim_spawn(rt, make<rt::task>(world, producer(in, world, shared), "producer 1")->raw());
    sim_spawn(rt, make<rt::task>(world, producer(in, world, shared), "producer 2")->raw());
}

void setup_broken(sim_world *world) { setup(world, false); }
void setup_fixed(sim_world *world) { setup(world, true); }

} // namespace

SIM_SCENARIO(broken, .name = "set2/notifycount/broken", .about = "One item for each notification.",
        .setup = setup_broken, .expect = SIM_VERDICT_DEADLOCK, .expect_also = SIM_VERDICT_LOST_WAKEUP);
SIM_SCENARIO(fixed, .name = "set2/notifycount/fixed", .about = "All items at each notification.",
        .setup = setup_fixed);
