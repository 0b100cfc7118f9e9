// Cause: s3_kick.cc:60 the writer decides that there is nothing to write before the flush and waits for the kick after it: a frame that is queued during the flush kicks a timer on which nobody waits yet.
// SPDX-License-Identifier: Apache-2.0
// clang-format off
#include <new>
#include <utility>

#include <runtime/cpp/coroutine.hpp>
#include <sim/rewake.h>

namespace
{

constexpr unsigned FRAMES = 5;

/* A timer that never expires; to cancel it is to wake who waits on it. */
struct kick_timer {
    rt_slot slot;
    bool waiting = false;
    bool cancelled = false;

    void cancel(const rt_site *site)
    {
        if (waiting) {
            cancelled = true;
            rt_slot_wake_at(&slot, site);
        }
    }
};

struct session {
    bool fixed;
    kick_timer kick;
    unsigned queued = 0;
    unsigned sent = 0;
    std::uint64_t flush_ns = 0;
    std::uint64_t pause_ns[FRAMES] = {};
};

struct kick_wait {
    kick_timer &timer;
    const rt_site *site;

    rt_poll poll(rt_cx *cx)
    {
        if (timer.cancelled) {
            timer.cancelled = false;
            timer.waiting = false;
            return RT_READY;
        }
        timer.waiting = true;
        rt_slot_replace_at(&timer.slot, cx, "the kick", site, site);
        return RT_PENDING;
    }
};

rt::coroutine
write_frames(rt::frames &, session &self)
{
    while (self.sent < FRAMES) {
        const bool idle = self.queued == 0;
        self.sent += std::exchange(self.queued, 0u);
        SIM_PROGRESS();
        co_await rt::sleep(self.flush_ns, RT_HERE);
        if (self.fixed ? self.queued == 0 && self.sent < FRAMES : idle) {
            co_await kick_wait{self.kick, RT_HERE};
        }
    }
}

rt::coroutine
produce(rt::frames &, session &self)
{
    for (unsigned i = 0; i < FRAMES; i++) {
        co_await rt::sleep(self.pause_ns[i], RT_HERE);
        self.queued++;
        self.kick.cancel(RT_HERE);
    }
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
    constexpr unsigned size = 8192;
    sim_rt *rt = sim_rt_new(world, nullptr);
    std::span<std::byte> memory(static_cast<std::byte *>(sim_alloc(world, size)), size);
    rt::frames &in = *new (sim_alloc(world, sizeof(rt::frames))) rt::frames(memory);
    session &self = *new (sim_alloc(world, sizeof(session))) session{.fixed = fixed, .kick = {}};
    rt_slot_init(&self.kick.slot);
    self.flush_ns = sim_range(world, RT_MS / 4, RT_MS);
    for (std::uint64_t &ns : self.pause_ns) {
        ns = sim_range(world, 2 * RT_MS, 4 * RT_MS) - sim_pick(world, 5) * RT_MS / 4;
    }
    spawn(world, rt, write_frames(in, self), "writer");
    spawn(world, rt, produce(in, self), "producer");
}

void setup_broken(sim_world *world) { setup(world, false); }
void setup_fixed(sim_world *world) { setup(world, true); }

} /* namespace */

SIM_SCENARIO(broken, .name = "set3/s3_kick/broken", .about = "A timer used as a condition.",
        .setup = setup_broken);
SIM_SCENARIO(fixed, .name = "set3/s3_kick/fixed", .about = "A timer used as a condition.",
        .setup = setup_fixed);
