/*
 * Frames of a length and a body, read by a coroutine that also says every two milliseconds, to the end, that it is there.
 * Cause: serve() (line 95) begins a new read_frame() after a beat, and the length that the dropped one had taken is gone.
 */
#include <new>
#include <optional>

#include <runtime/cpp/coroutine.hpp>
#include <sim/rewake.h>

namespace
{

constexpr unsigned frame_count = 3;
constexpr unsigned body_size = 5;

struct wire {
    rt_slot reader;
    unsigned char bytes[64];
    unsigned head = 0, tail = 0;
    bool ended = false;
};

struct frame {
    unsigned length = 0;
    unsigned char body[255];
};

struct server {
    bool fixed;
    unsigned frames = 0;
    unsigned beats = 0;
};

void
wire_put(wire &to, unsigned char byte)
{
    to.bytes[to.tail++ % sizeof to.bytes] = byte;
}

/* Ready with a byte. */
auto
take(wire &from, unsigned char &byte)
{
    return rt::until([&](rt_cx *cx) {
        if (from.head == from.tail) {
            rt_slot_replace(&from.reader, cx, "a byte");
            return RT_PENDING;
        }
        byte = from.bytes[from.head++ % sizeof from.bytes];
        SIM_PROGRESS();
        return RT_READY;
    });
}

rt::coroutine
read_frame(rt::frames &, wire &from, frame &to)
{
    unsigned char length;
    co_await take(from, length);
    for (unsigned i = 0; i < length; i++) {
        co_await take(from, to.body[i]);
    }
    to.length = length;
}

rt::coroutine
serve(rt::frames &in, wire &from, server &state)
{
    std::optional<rt::coroutine> reading;
    frame next;
    reading.emplace(read_frame(in, from, next));
    while (state.frames < frame_count) {
        bool complete = false;
        {
            rt::sleep beat(2 * RT_MS, RT_HERE);
            co_await rt::until([&](rt_cx *cx) {
                if (reading->poll(cx) == RT_READY) {
                    complete = true;
                    return RT_READY;
                }
                return from.ended ? RT_PENDING : beat.poll(cx);
            });
        }
        if (complete) {
            SIM_ALWAYS(next.length == body_size);
            state.frames++;
        } else {
            state.beats++;
            if (state.fixed) {
                continue;
            }
        }
        reading.reset();
        reading.emplace(read_frame(in, from, next));
    }
}

/* The length of a frame is sent when the frame is announced, its body when it is there. */
rt::coroutine
send(rt::frames &, wire &to, sim_world *world)
{
    for (unsigned i = 0; i < frame_count; i++) {
        co_await rt::sleep(sim_range(world, 100 * RT_US, 3 * RT_MS), RT_HERE);
        wire_put(to, body_size);
        rt_slot_wake(&to.reader);
        co_await rt::sleep(sim_range(world, 100 * RT_US, 1 * RT_MS), RT_HERE);
        for (unsigned n = 0; n < body_size; n++) {
            wire_put(to, static_cast<unsigned char>('a' + n));
        }
        to.ended = i + 1 == frame_count;
        rt_slot_wake(&to.reader);
    }
}

template <typename T, typename... Arguments>
T *
make(sim_world *world, Arguments &&...arguments)
{
    return new (sim_alloc(world, sizeof(T))) T(std::forward<Arguments>(arguments)...);
}

void
setup(sim_world *world, bool fixed)
{
    sim_rt *rt = sim_rt_new(world, nullptr);
    constexpr unsigned size = 8192;
    std::span<std::byte> sending(static_cast<std::byte *>(sim_alloc(world, size)), size);
    std::span<std::byte> serving(static_cast<std::byte *>(sim_alloc(world, size)), size);
    wire &shared = *make<wire>(world);
    server &state = *make<server>(world, fixed);
    rt_slot_init(&shared.reader);
    sim_spawn(rt,
            make<rt::task>(world, serve(*make<rt::frames>(world, serving), shared, state), "server")
                    ->raw());
    sim_spawn(rt,
            make<rt::task>(world, send(*make<rt::frames>(world, sending), shared, world), "sender")
                    ->raw());
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

} /* namespace */

SIM_SCENARIO(broken, .name = "s12-framed/broken", .about = "Three frames and a heartbeat.",
        .setup = setup_broken);
SIM_SCENARIO(fixed, .name = "s12-framed/fixed", .about = "Three frames and a heartbeat.",
        .setup = setup_fixed);
// SPDX-License-Identifier: Apache-2.0
