// Cause: ~acquire(): it unlinks a waiter that still queues, but gives nothing back when the permit has been granted
// and not been taken. If release() grants the permit to the impatient caller when its time is up already,
// acquire_for::poll() answers "no" first, the acquire is destroyed with the permit in it, and the next waiter starves.
// SPDX-License-Identifier: Apache-2.0
// clang-format off
#include <new>

#include <runtime/cpp/coroutine.hpp>
#include <sim/rewake.h>

namespace
{

struct waiter {
    waiter *next = nullptr;
    rt_slot slot{};
    bool granted = false;
};

struct semaphore {
    unsigned permits = 1;
    waiter *first = nullptr;
    bool passes_on = false;
};

void
release(semaphore &of)
{
    waiter *next = of.first;
    if (next == nullptr) {
        of.permits++;
        return;
    }
    of.first = next->next;
    next->granted = true;
    rt_slot_wake(&next->slot);
}

class acquire
{
  public:
    explicit acquire(semaphore &from) : of(from)
    {
        rt_slot_init(&node.slot);
    }
    acquire(const acquire &) = delete;
    ~acquire();
    rt_poll poll(rt_cx *cx);

  private:
    semaphore &of;
    waiter node;
    bool queued = false;
    bool taken = false;
};

acquire::~acquire()
{
    if (queued && !node.granted) {
        waiter **link = &of.first;
        while (*link != &node) {
            link = &(*link)->next;
        }
        *link = node.next;
    }
    if (of.passes_on && node.granted && !taken) {
        release(of);
    }
    rt_slot_fini(&node.slot);
}

rt_poll
acquire::poll(rt_cx *cx)
{
    if (node.granted || (!queued && of.permits > 0)) {
        of.permits -= node.granted ? 0 : 1;
        taken = true;
        return RT_READY;
    }
    if (!queued) {
        queued = true;
        waiter **link = &of.first;
        while (*link != nullptr) {
            link = &(*link)->next;
        }
        *link = &node;
    }
    rt_slot_replace(&node.slot, cx, "a permit");
    return RT_PENDING;
}

/* Whether the permit came in time. */
class acquire_for
{
  public:
    acquire_for(semaphore &from, uint64_t ns, const rt_site *line) : permit(from), time(ns, line)
    {
    }
    rt_poll poll(rt_cx *cx)
    {
        if (time.poll(cx) == RT_READY) {
            return RT_READY;
        }
        got = permit.poll(cx) == RT_READY;
        return got ? RT_READY : RT_PENDING;
    }
    bool result() const
    {
        return got;
    }

  private:
    acquire permit;
    rt::sleep time;
    bool got = false;
};

rt::coroutine
patient(rt::frames &, semaphore &of, uint64_t arrives_ns, uint64_t holds_ns)
{
    co_await rt::sleep(arrives_ns, RT_HERE);
    co_await acquire(of);
    co_await rt::sleep(holds_ns, RT_HERE);
    release(of);
}

rt::coroutine
impatient(rt::frames &, semaphore &of, uint64_t arrives_ns, uint64_t waits_ns)
{
    co_await rt::sleep(arrives_ns, RT_HERE);
    if (co_await acquire_for(of, waits_ns, RT_HERE)) {
        co_await rt::sleep(10 * RT_US, RT_HERE);
        release(of);
    }
}

template <typename T, typename... Arguments>
T *
make(sim_world *world, Arguments &&...arguments)
{
    return new (sim_alloc(world, sizeof(T))) T(std::forward<Arguments>(arguments)...);
}

void
begin(sim_world *world, bool passes_on)
{
    sim_rt *rt = sim_rt_new(world, nullptr);
    constexpr unsigned size = 8192;
    std::span<std::byte> memory(static_cast<std::byte *>(sim_alloc(world, size)), size);
    rt::frames &in = *make<rt::frames>(world, memory);
    semaphore &of = *make<semaphore>(world);
    of.passes_on = passes_on;
    uint64_t holds_ns = RT_MS - 100 * RT_US * sim_pick(world, 4);
    sim_spawn(rt, make<rt::task>(world, patient(in, of, 0, holds_ns), "first")->raw());
    sim_spawn(rt, make<rt::task>(world, impatient(in, of, 200 * RT_US, 600 * RT_US), "impatient")->raw());
    sim_spawn(rt, make<rt::task>(world, patient(in, of, 300 * RT_US, 10 * RT_US), "last")->raw());
}

void
setup_broken(sim_world *world)
{
    begin(world, false);
}

void
setup_fixed(sim_world *world)
{
    begin(world, true);
}

} // namespace

SIM_SCENARIO(permit_broken, .name = "set7/s7_permit/broken",
        .about = "Coroutines share one permit; one of them has a time limit.", .setup = setup_broken);
SIM_SCENARIO(permit_fixed, .name = "set7/s7_permit/fixed",
        .about = "Coroutines share one permit; one of them has a time limit.", .setup = setup_fixed);
