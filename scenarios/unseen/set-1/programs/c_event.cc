/*
 * c_event.cc -- An auto-reset event between coroutines: a saver waits for changes, an editor
 * signals each one.
 *
 * Cause: set() wakes the waiter if there is one, and otherwise forgets the signal instead of
 * leaving the event set, so a change that is made while the saver is writing is never saved.
 * Where: auto_event::set
 * Kind: signal without a waiter is lost
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <new>

#include "sim/rewake.h"
#include <runtime/cpp/coroutine.hpp>

static bool fixed;

class auto_event
{
  public:
    auto_event()
    {
        rt_slot_init(&slot);
    }
    void set()
    {
        if (fixed || waiting) { /* Where. */
            signalled = true;
        }
        rt_slot_wake(&slot);
    }
    rt_poll wait(rt_cx *cx)
    {
        if (signalled) {
            signalled = false;
            waiting = false;
            return RT_READY;
        }
        waiting = true;
        rt_slot_replace(&slot, cx, "a change");
        return RT_PENDING;
    }

  private:
    rt_slot slot;
    bool signalled = false;
    bool waiting = false;
};

struct document {
    auto_event changed;
    int version = 0;
    int saved = 0;
    uint64_t gap[3];
    uint64_t write_ns = 0;
};

static rt::coroutine
saver(rt::frames &, document &doc)
{
    while (doc.saved < 3) {
        co_await rt::until([&](rt_cx *cx) {
            /* A spurious poll must not miss what is there. */
            return doc.changed.wait(cx);
        });
        int version = doc.version;
        co_await rt::sleep(doc.write_ns, RT_HERE);
        doc.saved = version;
        SIM_PROGRESS();
    }
}

static rt::coroutine
editor(rt::frames &, document &doc)
{
    for (int i = 0; i < 3; i++) {
        co_await rt::sleep(doc.gap[i], RT_HERE);
        doc.version++;
        doc.changed.set();
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
    document &doc = *make<document>(world);
    for (uint64_t &gap : doc.gap) {
        gap = 3 * RT_MS - sim_range(world, 0, 3 * RT_MS);
    }
    doc.write_ns = 500 * RT_US;
    sim_spawn(rt, make<rt::task>(world, saver(in, doc), "saver")->raw());
    sim_spawn(rt, make<rt::task>(world, editor(in, doc), "editor")->raw());
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

SIM_SCENARIO(form_broken, .name = "unseen/c-event/broken",
        .about = "An auto-reset event between coroutines.", .setup = setup_broken,
        .expect = SIM_VERDICT_DEADLOCK, .expect_also = SIM_VERDICT_LOST_WAKEUP);
SIM_SCENARIO(form_fixed, .name = "unseen/c-event/fixed",
        .about = "An auto-reset event between coroutines.", .setup = setup_fixed);
