/* Coroutines that follow a value with a version: a publisher changes it, subscribers apply each change they see.
 * Cause: subscriber() (line 68): the version up to which it has seen the value is taken after the change was applied,
 * which takes a while, so a change meanwhile counts as seen. Repair: take it together with the value. */
#include <new>

#include <runtime/cpp/coroutine.hpp>
#include <sim/rewake.h>

namespace
{

constexpr unsigned subscribers = 2;
constexpr int changes = 3;

struct watch {
    rt_slot waiting[subscribers];
    unsigned version = 0;
    int value = 0;
    bool repaired = false;
};

struct view {
    watch *from;
    unsigned number;
    std::uint64_t apply_ns;
    unsigned seen = 0;
    int applied = 0;
};

void
publish(watch &into, int value)
{
    into.value = value;
    into.version++;
    for (rt_slot &slot : into.waiting) {
        rt_slot_wake(&slot);
    }
}

rt_poll
changed(view &viewer, rt_cx *cx)
{
    watch &from = *viewer.from;
    if (from.version != viewer.seen) {
        return RT_READY;
    }
    rt_slot_replace(&from.waiting[viewer.number], cx, "a change");
    return RT_PENDING;
}

rt::coroutine
apply(rt::frames &, view &viewer, int value)
{
    co_await rt::sleep(viewer.apply_ns, RT_HERE);
    SIM_ALWAYS(value > viewer.applied);
    viewer.applied = value;
    SIM_PROGRESS();
}

rt::coroutine
subscriber(rt::frames &frames, view &viewer)
{
    watch &from = *viewer.from;
    while (viewer.applied < changes) {
        co_await rt::until([&](rt_cx *cx) { return changed(viewer, cx); });
        unsigned version = from.version;
        SIM_ALWAYS((co_await apply(frames, viewer, from.value)) == RT_OK);
        viewer.seen = from.repaired ? version : from.version;
    }
}

rt::coroutine
publisher(rt::frames &, watch &into, std::uint64_t pause_ns)
{
    for (int i = 1; i <= changes; i++) {
        publish(into, i);
        co_await rt::sleep(pause_ns, RT_HERE);
    }
}

template <typename T, typename... Arguments>
T *
make(sim_world *world, Arguments &&...arguments)
{
    return new (sim_alloc(world, sizeof(T))) T{std::forward<Arguments>(arguments)...};
}

rt::frames &
make_frames(sim_world *world)
{
    constexpr unsigned size = 4096;
    std::span<std::byte> memory(static_cast<std::byte *>(sim_alloc(world, size)), size);
    return *new (sim_alloc(world, sizeof(rt::frames))) rt::frames(memory);
}

void
spawn(sim_world *world, sim_rt *rt, rt::coroutine &&body, const char *name)
{
    rt::task *task = new (sim_alloc(world, sizeof(rt::task))) rt::task(std::move(body), name);
    sim_spawn(rt, task->raw());
}

void
setup(sim_world *world, bool repaired)
{
    static const char *const names[subscribers] = {"subscriber 1", "subscriber 2"};
    sim_rt *rt = sim_rt_new(world, nullptr);
    watch *shared = make<watch>(world);
    shared->repaired = repaired;
    for (unsigned i = 0; i < subscribers; i++) {
        rt_slot_init(&shared->waiting[i]);
        view *viewer = make<view>(world, shared, i, sim_range(world, 1 * RT_MS, 3 * RT_MS));
        spawn(world, rt, subscriber(make_frames(world), *viewer), names[i]);
    }
    spawn(world, rt, publisher(make_frames(world), *shared, 4 * RT_MS - sim_range(world, 0, 2 * RT_MS)),
            "publisher");
}

void
setup_broken(sim_world *world)
{
    setup(world, false);
}

void
setup_fixed(sim_world *world)
{
    setup(world, true);
}

} // namespace

SIM_SCENARIO(watch_broken, .name = "s14_watch/broken", .about = "A value that is followed.",
        .setup = setup_broken);
SIM_SCENARIO(watch_fixed, .name = "s14_watch/fixed", .about = "A value that is followed, repaired.",
        .setup = setup_fixed);
/* SPDX-License-Identifier: Apache-2.0 */
