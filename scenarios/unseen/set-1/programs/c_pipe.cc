/*
 * c_pipe.cc -- An in-memory pipe between coroutines with room for two messages: two writers, one
 * reader.
 *
 * Cause: read() wakes a waiting writer only when the pipe was full before the read; a second
 * read before the woken writer has run finds it not full and leaves the second writer asleep.
 * Where: message_pipe::take
 * Kind: wake-up condition by a transition
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <new>

#include "sim/rewake.h"
#include <runtime/cpp/coroutine.hpp>

static bool fixed;

struct message_pipe {
    rt_wait_queue writers;
    rt_wait_queue_entry entries[2];
    rt_slot reader;
    int length = 0;
    int to_read = 0;

    message_pipe()
    {
        rt_wait_queue_init(&writers, entries, 2);
        rt_slot_init(&reader);
    }
    rt_poll take(rt_cx *cx)
    {
        if (length == 0) {
            rt_slot_replace(&reader, cx, "a message");
            return RT_PENDING;
        }
        bool was_full = length == 2;
        length--;
        SIM_PROGRESS();
        if (fixed || was_full) { /* Where. */
            rt_wait_queue_wake(&writers, 1);
        }
        return RT_READY;
    }
    rt_poll put(rt_cx *cx)
    {
        if (length == 2) {
            SIM_ALWAYS(rt_wait_queue_store(&writers, cx, "room in the pipe") == RT_OK);
            return RT_PENDING;
        }
        rt_wait_queue_leave(&writers, cx);
        length++;
        rt_slot_wake(&reader);
        return RT_READY;
    }
};

static rt::coroutine
writer(rt::frames &, message_pipe &to, int count)
{
    for (int i = 0; i < count; i++) {
        co_await rt::until([&](rt_cx *cx) { return to.put(cx); });
    }
}

static rt::coroutine
reader(rt::frames &, message_pipe &from)
{
    co_await rt::sleep(RT_MS, RT_HERE); /* Opens its file. */
    for (int i = 0; i < from.to_read; i++) {
        co_await rt::until([&](rt_cx *cx) { return from.take(cx); });
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
    message_pipe &p = *make<message_pipe>(world);
    int first = 2 + static_cast<int>(sim_pick(world, 2));
    int second = 1 + static_cast<int>(sim_pick(world, 2));
    p.to_read = first + second;
    sim_spawn(rt, make<rt::task>(world, writer(in, p, first), "writer-1")->raw());
    sim_spawn(rt, make<rt::task>(world, writer(in, p, second), "writer-2")->raw());
    sim_spawn(rt, make<rt::task>(world, reader(in, p), "reader")->raw());
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

SIM_SCENARIO(form_broken, .name = "unseen/c-pipe/broken", .about = "A pipe with two writers.",
        .setup = setup_broken, .expect = SIM_VERDICT_LOST_WAKEUP);
SIM_SCENARIO(form_fixed, .name = "unseen/c-pipe/fixed", .about = "A pipe with two writers.",
        .setup = setup_fixed);
