/*
 * mine.cc -- a mailbox, broken and fixed: look for a letter, and wait until there is one.
 *
 * Two writers put letters into a box after a while; a reader takes them out; each is a coroutine.
 * In the broken form the reader waits before it has looked: a letter that was there already is
 * never taken.
 *
 *      rewake run ./mine.so mine/broken        finds it, tells it
 *      rewake run ./mine.so --expect           holds each scenario to what it states
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <new>
#include <utility>

#include <runtime/cpp/coroutine.hpp>
#include <sim/rewake.h>

namespace
{

constexpr unsigned LETTERS = 2;
constexpr unsigned ROOM = 4096; /* For the frames of all coroutines. */

struct box {
    rt_slot reader; /* The waker of the task that waits for a letter. */
    unsigned letters = 0;
    bool broken;

    explicit box(bool is_broken) : broken(is_broken)
    {
        rt_slot_init(&reader);
    }
};

rt::coroutine
read_letters(rt::frames &, box &from)
{
    for (unsigned i = 0; i < LETTERS; i++) {
        bool looks = !from.broken;
        co_await rt::until([&](rt_cx *cx) {
            if (looks && from.letters > 0) {
                from.letters--;
                return RT_READY;
            }
            looks = true;
            rt_slot_replace(&from.reader, cx, "a letter");
            return RT_PENDING;
        });
    }
}

rt::coroutine
write_letter(rt::frames &, sim_world *world, box &to)
{
    co_await rt::sleep(sim_range(world, 1 * RT_MS, 9 * RT_MS), RT_HERE);
    to.letters++;
    rt_slot_wake(&to.reader);
}

/* In the memory of the run, as everything. */
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
    sim_spawn(rt, make<rt::task>(world, read_letters(in, shared), "reader")->raw());
    for (unsigned i = 0; i < LETTERS; i++) {
        sim_spawn(rt, make<rt::task>(world, write_letter(in, world, shared), "writer")->raw());
    }
}

void
set_up_broken(sim_world *world)
{
    set_up(world, true);
}

void
set_up_fixed(sim_world *world)
{
    set_up(world, false);
}

SIM_SCENARIO(broken, .name = "mine/broken", .about = "The reader waits before it has looked.",
        .setup = set_up_broken, .expect = SIM_VERDICT_LOST_WAKEUP);
SIM_SCENARIO(fixed, .name = "mine/fixed", .about = "The reader looks, then waits.",
        .setup = set_up_fixed);

} /* namespace */
