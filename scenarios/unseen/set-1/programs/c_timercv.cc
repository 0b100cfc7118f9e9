/*
 * c_timercv.cc -- Asio's idiom of a timer as a condition variable: a consumer awaits a timer
 * that never expires, and producers cancel it after pushing.
 *
 * Cause: The consumer checks the queue, then awaits the write of its log, and only then waits on
 * the timer without checking again; a push during the write cancels a timer that no one waits
 * for.
 * Where: consumer
 * Kind: check, then wait
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <new>

#include "sim/rewake.h"
#include <runtime/cpp/coroutine.hpp>

static bool fixed;

/* A steady_timer at time_point::max(). */
class signal_timer
{
  public:
    signal_timer()
    {
        rt_slot_init(&slot);
    }
    void cancel()
    {
        cancelled++;
        rt_slot_wake(&slot);
    }
    unsigned cancels() const
    {
        return cancelled;
    }
    template <typename Stop> auto async_wait(Stop stop)
    {
        return rt::until([this, stop](rt_cx *cx) {
            if (stop()) {
                return RT_READY;
            }
            rt_slot_replace(&slot, cx, "the timer to be cancelled");
            return RT_PENDING;
        });
    }

  private:
    rt_slot slot;
    unsigned cancelled = 0;
};

struct channel {
    signal_timer timer;
    int queued = 0;
    int taken = 0;
    int messages = 0;
    uint64_t gap = 0;
    uint64_t log_ns = 0;
};

static rt::coroutine
consumer(rt::frames &, channel &ch)
{
    while (ch.taken < ch.messages) {
        while (ch.queued > 0) {
            ch.queued--;
            ch.taken++;
            SIM_PROGRESS();
        }
        if (ch.taken == ch.messages) {
            break;
        }
        co_await rt::sleep(ch.log_ns, RT_HERE); /* Writes "idle" to the log. */
        if (fixed && ch.queued > 0) {
            continue;
        }
        unsigned seen = ch.timer.cancels();
        co_await ch.timer.async_wait(
                [&ch, seen] { return ch.timer.cancels() != seen; }); /* Where. */
    }
}

static rt::coroutine
producer(rt::frames &, channel &ch)
{
    for (int i = 0; i < ch.messages; i++) {
        co_await rt::sleep(ch.gap, RT_HERE);
        ch.queued++;
        ch.timer.cancel();
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
    channel &ch = *make<channel>(world);
    ch.messages = 3;
    ch.gap = 2 * RT_MS - sim_range(world, 0, 19) * 100 * RT_US;
    ch.log_ns = 50 * RT_US + sim_range(world, 0, 4) * 100 * RT_US;
    sim_spawn(rt, make<rt::task>(world, consumer(in, ch), "consumer")->raw());
    sim_spawn(rt, make<rt::task>(world, producer(in, ch), "producer")->raw());
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

SIM_SCENARIO(form_broken, .name = "unseen/c-timercv/broken",
        .about = "A timer that is used as a condition variable.", .setup = setup_broken,
        .expect = SIM_VERDICT_DEADLOCK, .expect_also = SIM_VERDICT_LOST_WAKEUP);
SIM_SCENARIO(form_fixed, .name = "unseen/c-timercv/fixed",
        .about = "A timer that is used as a condition variable.", .setup = setup_fixed);
