// Cause: s3_pulse.cc:63 the publisher lowers the flag after a short while, and a watcher waits for the flag and not for a version that it does not have: one that applies the version before meanwhile finds the flag down again and waits for a change that has already come.
// SPDX-License-Identifier: Apache-2.0
// clang-format off
#include <new>
#include <utility>

#include <runtime/cpp/coroutine.hpp>
#include <sim/rewake.h>

namespace
{

constexpr unsigned WATCHERS = 3;
constexpr unsigned VERSIONS = 3;

struct config {
    bool fixed;
    bool changed = false;
    unsigned version = 0;
    rt_slot waiting[WATCHERS] = {};
};

struct watcher {
    config &of;
    unsigned number;
    unsigned applied = 0;
    std::uint64_t takes_ns[VERSIONS + 1] = {};
};

rt_poll
next_change(watcher &self, rt_cx *cx)
{
    config &of = self.of;
    if (of.fixed ? of.version != self.applied : of.changed) {
        return RT_READY;
    }
    rt_slot_replace(&of.waiting[self.number], cx, "a change of the configuration");
    return RT_PENDING;
}

rt::coroutine
watch(rt::frames &, watcher &self)
{
    while (self.applied < VERSIONS) {
        co_await rt::until([&](rt_cx *cx) { return next_change(self, cx); });
        unsigned version = self.of.version;
        co_await rt::sleep(self.takes_ns[version], RT_HERE);
        self.applied = version;
    }
}

rt::coroutine
publish(rt::frames &, config &of)
{
    for (unsigned i = 0; i < VERSIONS; i++) {
        co_await rt::sleep(2 * RT_MS, RT_HERE);
        of.version++;
        of.changed = true;
        for (rt_slot &slot : of.waiting) {
            rt_slot_wake(&slot);
        }
        co_await rt::sleep(RT_MS / 2, RT_HERE);
        of.changed = false;
    }
}

template <typename T, typename... Arguments>
T *
make(sim_world *world, Arguments &&...arguments)
{
    return new (sim_alloc(world, sizeof(T))) T{std::forward<Arguments>(arguments)...};
}

void
spawn(sim_world *world, sim_rt *rt, rt::coroutine &&body, const char *name)
{
    void *memory = sim_alloc(world, sizeof(rt::task));
    sim_spawn(rt, (new (memory) rt::task(std::move(body), name))->raw());
}

void
setup(sim_world *world, bool fixed)
{
    static const char *const names[WATCHERS] = {"router", "cache", "logger"};
    constexpr unsigned size = 16384;
    sim_rt *rt = sim_rt_new(world, nullptr);
    std::span<std::byte> memory(static_cast<std::byte *>(sim_alloc(world, size)), size);
    rt::frames &in = *new (sim_alloc(world, sizeof(rt::frames))) rt::frames(memory);
    config &of = *make<config>(world, fixed);
    for (unsigned i = 0; i < WATCHERS; i++) {
        rt_slot_init(&of.waiting[i]);
        watcher &self = *make<watcher>(world, of, i);
        for (std::uint64_t &ns : self.takes_ns) {
            ns = sim_range(world, RT_MS, 4 * RT_MS);
        }
        spawn(world, rt, watch(in, self), names[i]);
    }
    spawn(world, rt, publish(in, of), "publisher");
}

void setup_broken(sim_world *world) { setup(world, false); }
void setup_fixed(sim_world *world) { setup(world, true); }

} /* namespace */

SIM_SCENARIO(broken, .name = "set3/s3_pulse/broken", .about = "Watchers of a configuration.",
        .setup = setup_broken);
SIM_SCENARIO(fixed, .name = "set3/s3_pulse/fixed", .about = "Watchers of a configuration.",
        .setup = setup_fixed);
