/*
 * coroutine.cc -- scenarios in C++: coroutines that share a box, and a box that forgets to look.
 *
 * Two clients put letters into a box after a while; a reader takes them out, each by a coroutine of
 * its own, and the owner joins all three. In the broken form the reader waits for a wake before it
 * has looked once: a letter that was there already is never taken.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <new>

#include "runtime/cpp/coroutine.hpp"
#include "runtime/cpp/waker.hpp"
#include "sim/rewake.h"

/* Of the world outside: g++ keeps its functions once for all files, and their sites as well. */
struct box {
    rt_slot reader;
    unsigned letters = 0;
    bool broken;

    explicit box(bool is_broken) : broken(is_broken)
    {
        rt_slot_init(&reader);
    }

    void put()
    {
        letters++;
        rt_slot_wake(&reader);
    }
};

namespace
{

constexpr unsigned LETTERS = 4;
constexpr unsigned ROOM = 4096;

/* Takes one letter. */
rt::coroutine
take(rt::frames &, box &from)
{
    bool looks = !from.broken;
    co_await rt::until([&](rt_cx *cx) {
        if (looks && from.letters > 0) {
            from.letters--;
            SIM_PROGRESS();
            return RT_READY;
        }
        looks = true;
        rt_slot_replace(&from.reader, cx, "a letter in the box");
        return RT_PENDING;
    });
}

rt::coroutine
read_letters(rt::frames &in, box &from)
{
    for (unsigned i = 0; i < LETTERS; i++) {
        SIM_ALWAYS(co_await take(in, from) == RT_OK);
    }
}

rt::coroutine
write_letters(rt::frames &, sim_world *world, box &to)
{
    for (unsigned i = 0; i < LETTERS / 2; i++) {
        co_await rt::sleep(sim_range(world, 1 * RT_MS, 9 * RT_MS), RT_HERE);
        to.put();
    }
}

rt::coroutine
own(rt::frames &, rt_task *reader, rt_task *first, rt_task *second)
{
    co_await rt::join(first, RT_HERE);
    co_await rt::join(second, RT_HERE);
    co_await rt::join(reader, RT_HERE);
}

/* In the arena, as everything of a run. */
template <typename T, typename... Arguments>
T *
make(sim_world *world, Arguments &&...arguments)
{
    return new (sim_alloc(world, sizeof(T))) T(std::forward<Arguments>(arguments)...);
}

void
set_up(sim_world *world, bool broken)
{
    sim_rt *rt = sim_rt_new(world, nullptr);
    std::span<std::byte> memory(static_cast<std::byte *>(sim_alloc(world, ROOM)), ROOM);
    rt::frames &in = *make<rt::frames>(world, memory);
    box &shared = *make<box>(world, broken);
    rt_task *reader = make<rt::task>(world, read_letters(in, shared), "reader")->raw();
    rt_task *first = make<rt::task>(world, write_letters(in, world, shared), "first")->raw();
    rt_task *second = make<rt::task>(world, write_letters(in, world, shared), "second")->raw();
    rt_task *owner = make<rt::task>(world, own(in, reader, first, second), "owner")->raw();
    sim_spawn(rt, reader);
    sim_spawn(rt, first);
    sim_spawn(rt, second);
    sim_spawn(rt, owner);
}

void
set_up_fixed(sim_world *world)
{
    set_up(world, false);
}

void
set_up_broken(sim_world *world)
{
    set_up(world, true);
}

SIM_SCENARIO(fixed, .name = "cpp/box/fixed", .about = "Coroutines that share a box of letters.",
        .setup = set_up_fixed);
SIM_SCENARIO(broken, .name = "cpp/box/broken", .about = "The reader waits before it has looked.",
        .setup = set_up_broken);

} /* namespace */
