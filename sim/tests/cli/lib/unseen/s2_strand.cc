// Cause: s2_strand.cc:55 the strand stops running after its flush without a look at its queue: a handler that is posted during the flush finds the strand running and does not start it, so the handler is never called.
// SPDX-License-Identifier: Apache-2.0
// clang-format off
#include <new>
#include <utility>

#include <runtime/cpp/coroutine.hpp>
#include <sim/rewake.h>

namespace
{

constexpr unsigned clients = 3;

struct client_state {
    bool called = false;
    rt_slot done;
};

// Calls handlers one at a time, in the order of posting, as an Asio strand.
struct strand {
    bool running = false;
    bool fixed = false;
    rt_slot start;
    client_state *queue[clients] = {};
    unsigned head = 0, tail = 0;
};

void post(strand &to, client_state &handler)
{
    to.queue[to.tail++] = &handler;
    if (!to.running) {
        to.running = true;
        rt_slot_wake(&to.start);
    }
}

rt::coroutine run(rt::frames &, strand &self)
{
    while (self.head < clients) {
        co_await rt::until([&](rt_cx *cx) {
            if (self.running)
                return RT_READY;
            rt_slot_replace(&self.start, cx, "a start of the strand");
            return RT_PENDING;
        });
        do {
            while (self.head < self.tail) {
                client_state &handler = *self.queue[self.head++];
                co_await rt::sleep(200 * RT_US, RT_HERE); // the handler's work
                handler.called = true;
                rt_slot_wake(&handler.done);
            }
            co_await rt::sleep(300 * RT_US, RT_HERE); // flushes what the handlers have written
        } while (self.fixed && self.head < self.tail);
        self.running = false;
    }
}

rt::coroutine client(rt::frames &, sim_world *world, strand &at, client_state &state, unsigned number)
{
    co_await rt::sleep((3 * number + 1) * RT_MS - sim_range(world, 0, 3 * RT_MS * number), RT_HERE);
    post(at, state);
    co_await rt::until([&](rt_cx *cx) {
        if (state.called)
            return RT_READY;
        rt_slot_replace(&state.done, cx, "its handler");
        return RT_PENDING;
    });
}

template <typename T, typename... Arguments>
T *make(sim_world *world, Arguments &&...arguments)
{
    return new (sim_alloc(world, sizeof(T))) T(std::forward<Arguments>(arguments)...);
}

void setup(sim_world *world, bool fixed)
{
    static const char *const names[clients] = {"client 1", "client 2", "client 3"};
    sim_rt *rt = sim_rt_new(world, nullptr);
    constexpr unsigned size = 16384;
    std::span<std::byte> memory(static_cast<std::byte *>(sim_alloc(world, size)), size);
    rt::frames &in = *make<rt::frames>(world, memory);
    strand &shared = *make<strand>(world);
    shared.fixed = fixed;
    rt_slot_init(&shared.start);
    sim_spawn(rt, make<rt::task>(world, run(in, shared), "strand")->raw());
    for (unsigned i = 0; i < clients; i++) {
        client_state &state = *make<client_state>(world);
        rt_slot_init(&state.done);
        sim_spawn(rt, make<rt::task>(world, client(in, world, shared, state, i), names[i])->raw());
    }
}

void setup_broken(sim_world *world) { setup(world, false); }
void setup_fixed(sim_world *world) { setup(world, true); }

} // namespace

SIM_SCENARIO(broken, .name = "set2/strand/broken", .about = "A strand that stops beside a handler.",
        .setup = setup_broken, .expect = SIM_VERDICT_DEADLOCK, .expect_also = SIM_VERDICT_LOST_WAKEUP);
SIM_SCENARIO(fixed, .name = "set2/strand/fixed", .about = "A strand that looks again before it stops.",
        .setup = setup_fixed);
