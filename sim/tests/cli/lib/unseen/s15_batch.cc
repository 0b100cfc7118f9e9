/* Cause: flusher(), line 59: when it finds that the batch has been sent for its size already, it waits again but
 * leaves `timing` set, so the next first item starts no timer; repair: reset `timing` there as well. */
#include <new>

#include <runtime/cpp/coroutine.hpp>
#include <sim/rewake.h>

/* A batcher for metrics: a batch is sent when it has three items, or 2 ms after its first. */

constexpr std::uint32_t full = 3;
constexpr std::uint32_t items = 7;

struct batcher {
    sim_world *world;
    bool fixed;
    std::uint32_t batch = 0; /* Items in it. */
    std::uint32_t sent = 0;
    bool timing = false;  /* The flusher sleeps, or is about to. */
    bool started = false; /* It is asked to. */
    rt_slot flush{};
    rt_slot acknowledged{};

    void
    send()
    {
        sent += batch;
        batch = 0;
        (void)rt_slot_wake(&acknowledged);
    }

    void
    add()
    {
        if (++batch == full) {
            send();
            return;
        }
        if (!timing) {
            timing = started = true;
            (void)rt_slot_wake(&flush);
        }
    }
};

static rt::coroutine
flusher(rt::frames &, batcher &of)
{
    while (of.sent < items) {
        co_await rt::until([&](rt_cx *cx) {
            if (of.started) {
                return RT_READY;
            }
            rt_slot_replace(&of.flush, cx, "the first item of a batch");
            return RT_PENDING;
        });
        of.started = false;
        co_await rt::sleep(2 * RT_MS, RT_HERE);
        if (of.batch == 0) {
            of.timing = !of.fixed;
            continue;
        }
        of.timing = false;
        of.send();
    }
}

static rt::coroutine
meter(rt::frames &, batcher &to)
{
    for (std::uint32_t i = 0; i < items; i++) {
        co_await rt::sleep(sim_range(to.world, 200 * RT_US, 2500 * RT_US), RT_HERE);
        to.add();
    }
    co_await rt::until([&](rt_cx *cx) {
        if (to.sent == items) {
            return RT_READY;
        }
        rt_slot_replace(&to.acknowledged, cx, "the last batch to be sent");
        return RT_PENDING;
    });
}

template <typename T, typename... Arguments>
static T *
make(sim_world *world, Arguments &&...arguments)
{
    return new (sim_alloc(world, sizeof(T))) T{std::forward<Arguments>(arguments)...};
}

static void
begin(sim_world *world, bool fixed)
{
    sim_rt *rt = sim_rt_new(world, nullptr);
    constexpr std::size_t size = 4096;
    std::span<std::byte> memory(static_cast<std::byte *>(sim_alloc(world, size)), size);
    rt::frames &in = *new (sim_alloc(world, sizeof(rt::frames))) rt::frames(memory);
    batcher &shared = *make<batcher>(world, world, fixed);
    rt_slot_init(&shared.flush);
    rt_slot_init(&shared.acknowledged);
    void *first = sim_alloc(world, sizeof(rt::task));
    void *second = sim_alloc(world, sizeof(rt::task));
    sim_spawn(rt, (new (first) rt::task(meter(in, shared), "meter"))->raw());
    sim_spawn_background(rt, (new (second) rt::task(flusher(in, shared), "flusher"))->raw());
}

static void
broken(sim_world *world)
{
    begin(world, false);
}

static void
fixed(sim_world *world)
{
    begin(world, true);
}

SIM_SCENARIO(s15_batch_b, .name = "s15/batch/broken", .about = "A batch without a timer.",
        .setup = broken);
SIM_SCENARIO(s15_batch_f, .name = "s15/batch/fixed", .about = "The timer can be started again.",
        .setup = fixed);
/* SPDX-License-Identifier: Apache-2.0 */
