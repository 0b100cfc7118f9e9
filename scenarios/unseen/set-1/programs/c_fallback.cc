/*
 * c_fallback.cc -- A coroutine waits for a cache entry, and polls it every 20 ms as a fallback;
 * another coroutine fills the entry.
 *
 * Cause: fill() wakes the slot before it sets the value and yields in between (it writes to
 * disk), so the woken reader finds nothing and is helped only by its fallback timer.
 * Where: filler
 * Kind: late wake: woken before the change
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <new>

#include "sim/rewake.h"
#include <runtime/cpp/coroutine.hpp>

static bool fixed;

struct entry {
    rt_slot waiter;
    bool filled = false;
    uint64_t compute_ns = 0;
    uint64_t write_ns = 0;
};

class wait_or_fallback
{
  public:
    explicit wait_or_fallback(entry &of) : e(of), fallback(20 * RT_MS, RT_HERE)
    {
    }
    rt_poll poll(rt_cx *cx)
    {
        if (e.filled || fallback.poll(cx) == RT_READY) {
            return RT_READY;
        }
        rt_slot_replace(&e.waiter, cx, "the entry to be filled");
        return RT_PENDING;
    }

  private:
    entry &e;
    rt::sleep fallback;
};

static rt::coroutine
reader(rt::frames &, entry &e)
{
    while (!e.filled) {
        co_await wait_or_fallback(e);
    }
}

static rt::coroutine
filler(rt::frames &, entry &e)
{
    co_await rt::sleep(e.compute_ns, RT_HERE);
    if (!fixed) {
        rt_slot_wake(&e.waiter); /* Where. */
    }
    co_await rt::sleep(e.write_ns, RT_HERE); /* Writes it to the disk. */
    e.filled = true;
    if (fixed) {
        rt_slot_wake(&e.waiter);
    }
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
    entry &e = *make<entry>(world);
    rt_slot_init(&e.waiter);
    e.compute_ns = sim_range(world, RT_MS, 5 * RT_MS);
    e.write_ns = sim_range(world, 0, RT_MS);
    sim_spawn(rt, make<rt::task>(world, reader(in, e), "reader")->raw());
    sim_spawn(rt, make<rt::task>(world, filler(in, e), "filler")->raw());
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

SIM_SCENARIO(form_broken, .name = "unseen/c-fallback/broken",
        .about = "A cache entry with a fallback poll.", .setup = setup_broken,
        .expect = SIM_VERDICT_LATE_WAKEUP);
SIM_SCENARIO(form_fixed, .name = "unseen/c-fallback/fixed",
        .about = "A cache entry with a fallback poll.", .setup = setup_fixed);
