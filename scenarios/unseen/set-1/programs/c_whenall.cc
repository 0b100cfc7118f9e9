/*
 * c_whenall.cc -- when_all over two fetches: the parent coroutine awaits a shared counter that
 * each child decrements.
 *
 * Cause: A child that finishes wakes the parent only if its decrement brings the counter to
 * zero, but a failed child returns early without counting down, so the parent waits forever.
 * Where: fetch
 * Kind: missing wake on the error path
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <new>

#include "sim/rewake.h"
#include <runtime/cpp/coroutine.hpp>

static bool fixed;

struct when_all {
    rt_slot parent;
    int left = 2;
    bool failed = false;

    when_all()
    {
        rt_slot_init(&parent);
    }
    void done()
    {
        if (--left == 0) {
            rt_slot_wake(&parent);
        }
    }
    rt_poll poll(rt_cx *cx)
    {
        if (left == 0 || failed) {
            return RT_READY;
        }
        rt_slot_replace(&parent, cx, "both fetches");
        return RT_PENDING;
    }
};

static rt::coroutine
fetch(rt::frames &, when_all &all, uint64_t latency_ns, bool fails)
{
    co_await rt::sleep(latency_ns, RT_HERE);
    if (fails) {
        all.failed = true;
        if (fixed) {
            rt_slot_wake(&all.parent);
        }
        co_return; /* Where. */
    }
    all.done();
}

static rt::coroutine
page(rt::frames &, when_all &all)
{
    co_await rt::until([&](rt_cx *cx) { return all.poll(cx); });
}

template <typename T, typename... Arguments>
static T *
make(sim_world *world, Arguments &&...arguments)
{
    return new (sim_alloc(world, sizeof(T))) T(std::forward<Arguments>(arguments)...);
}

static void
setup(sim_world *world)
{
    sim_rt *rt = sim_rt_new(world, nullptr);
    constexpr unsigned size = 8192;
    std::span<std::byte> memory(static_cast<std::byte *>(sim_alloc(world, size)), size);
    rt::frames &in = *make<rt::frames>(world, memory);
    when_all &all = *make<when_all>(world);
    bool fails = sim_pick(world, 8) == 7;
    uint64_t first = sim_range(world, RT_MS, 5 * RT_MS);
    uint64_t second = sim_range(world, RT_MS, 5 * RT_MS);
    sim_spawn(rt, make<rt::task>(world, page(in, all), "page")->raw());
    sim_spawn(rt, make<rt::task>(world, fetch(in, all, first, fails), "fetch-1")->raw());
    sim_spawn(rt, make<rt::task>(world, fetch(in, all, second, false), "fetch-2")->raw());
}

static void
setup_broken(struct sim_world *world)
{
    fixed = false;
    setup(world);
}

static void
setup_fixed(struct sim_world *world)
{
    fixed = true;
    setup(world);
}

SIM_SCENARIO(form_broken, .name = "unseen/c-whenall/broken",
        .about = "A when_all whose child may fail.", .setup = setup_broken,
        .expect = SIM_VERDICT_LOST_WAKEUP);
SIM_SCENARIO(form_fixed, .name = "unseen/c-whenall/fixed",
        .about = "A when_all whose child may fail.", .setup = setup_fixed);
