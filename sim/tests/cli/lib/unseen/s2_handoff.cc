// Cause: s2_handoff.cc:88 a receive that ends by its time limit withdraws without giving back an item that a sender has put into its hands meanwhile: the item is lost, and the receiver waits for one too many.
// SPDX-License-Identifier: Apache-2.0
// clang-format off
#include <new>
#include <utility>

#include <runtime/cpp/coroutine.hpp>
#include <sim/rewake.h>

namespace
{

constexpr unsigned items_total = 3;

struct receive;

struct channel {
    receive *receiver = nullptr; // who waits
    unsigned items[items_total] = {};
    unsigned count = 0;
    bool fixed = false;
};

// Asks for one item, for at most `limit`. Ends with `given`, or without.
struct receive {
    channel &from;
    rt_slot slot;
    rt_sleep limit;
    bool given = false;
    bool taken = false;
    unsigned item = 0;

    receive(channel &asked, std::uint64_t limit_ns) : from(asked)
    {
        rt_slot_init(&slot);
        rt_sleep_init(&limit, limit_ns);
    }
    receive(const receive &) = delete;
    ~receive();
    rt_poll poll(rt_cx *cx);
};

void push_front(channel &to, unsigned item)
{
    for (unsigned i = to.count++; i > 0; i--)
        to.items[i] = to.items[i - 1];
    to.items[0] = item;
}

void send(channel &to, unsigned item)
{
    if (to.receiver != nullptr) {
        receive &waits = *to.receiver;
        to.receiver = nullptr;
        waits.item = item;
        waits.given = true;
        rt_slot_wake(&waits.slot);
    } else {
        to.items[to.count++] = item;
    }
}

rt_poll receive::poll(rt_cx *cx)
{
    if (!given && from.count > 0) {
        item = from.items[0];
        from.count--;
        for (unsigned i = 0; i < from.count; i++)
            from.items[i] = from.items[i + 1];
        given = true;
    }
    if (rt_sleep_poll(&limit, cx) == RT_READY)
        return RT_READY; // the caller looks at `taken`
    if (given) {
        taken = true;
        return RT_READY;
    }
    from.receiver = this;
    rt_slot_replace(&slot, cx, "an item");
    return RT_PENDING;
}

receive::~receive()
{
    rt_sleep_cancel(&limit);
    if (from.receiver == this)
        from.receiver = nullptr;
    if (from.fixed && given && !taken)
        push_front(from, item);
    rt_slot_clear(&slot);
}

rt::coroutine consumer(rt::frames &, channel &from)
{
    bool idle = false; // has said so already: no limit any more
    for (unsigned got = 0; got < items_total;) {
        receive next(from, idle ? RT_NEVER : 2 * RT_MS);
        co_await next;
        if (next.taken) {
            got++;
            idle = false;
            SIM_PROGRESS();
        } else {
            idle = true; // sends a keep-alive
        }
    }
}

rt::coroutine producer(rt::frames &, sim_world *world, channel &to)
{
    for (unsigned i = 0; i < items_total; i++) {
        co_await rt::sleep(sim_range(world, 500 * RT_US, 4 * RT_MS), RT_HERE);
        send(to, i);
    }
}

template <typename T, typename... Arguments>
T *make(sim_world *world, Arguments &&...arguments)
{
    return new (sim_alloc(world, sizeof(T))) T(std::forward<Arguments>(arguments)...);
}

void setup(sim_world *world, bool fixed)
{
    sim_rt *rt = sim_rt_new(world, nullptr);
    constexpr unsigned size = 8192;
    std::span<std::byte> memory(static_cast<std::byte *>(sim_alloc(world, size)), size);
    rt::frames &in = *make<rt::frames>(world, memory);
    channel &shared = *make<channel>(world);
    shared.fixed = fixed;
    sim_spawn(rt, make<rt::task>(world, consumer(in, shared), "consumer")->raw());
    sim_spawn(rt, make<rt::task>(world, producer(in, world, shared), "producer")->raw());
}

void setup_broken(sim_world *world) { setup(world, false); }
void setup_fixed(sim_world *world) { setup(world, true); }

} // namespace

SIM_SCENARIO(broken, .name = "set2/handoff/broken", .about = "A receive whose time is over keeps what it was given.",
        .setup = setup_broken, .expect = SIM_VERDICT_DEADLOCK, .expect_also = SIM_VERDICT_LOST_WAKEUP);
SIM_SCENARIO(fixed, .name = "set2/handoff/fixed", .about = "A receive whose time is over gives back what it was given.",
        .setup = setup_fixed);
