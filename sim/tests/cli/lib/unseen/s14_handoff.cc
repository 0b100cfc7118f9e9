/* Coroutines that receive from a mailbox which hands items to the one that waits, in a race with a time limit.
 * Cause: receive::~receive() (line 89): a wait that loses the race after an item was handed to it ends with the item.
 * Repair: put an item that was handed over, and not taken, back to the front of the mailbox. */
#include <new>

#include <runtime/cpp/coroutine.hpp>
#include <sim/rewake.h>

namespace
{

constexpr int items = 3;

class receive;

struct mailbox {
    int stored[items + 1] = {};
    int count = 0;
    receive *waiting = nullptr;
    bool repaired = false;
};

class receive
{
  public:
    receive(mailbox &from, int &item) : box(from), into(item)
    {
        rt_slot_init(&slot);
    }
    receive(const receive &) = delete;
    receive &operator=(const receive &) = delete;
    ~receive();

    rt_poll poll(rt_cx *cx)
    {
        if (handed == 0 && box.count > 0 && box.waiting == nullptr) {
            handed = box.stored[0];
            box.count--;
            for (int i = 0; i < box.count; i++) {
                box.stored[i] = box.stored[i + 1];
            }
        }
        if (handed != 0) {
            into = handed;
            handed = 0;
            return RT_READY;
        }
        box.waiting = this;
        store(cx);
        return RT_PENDING;
    }

    void hand(int item);

  private:
    void store(rt_cx *cx);

    mailbox &box;
    int &into;
    int handed = 0;
    rt_slot slot;
};

void
receive::store(rt_cx *cx)
{
    rt_slot_replace(&slot, cx, "an item");
}

void
receive::hand(int item)
{
    handed = item;
    box.waiting = nullptr;
    rt_slot_wake(&slot);
}

receive::~receive()
{
    if (box.waiting == this) {
        box.waiting = nullptr;
    }
    if (handed != 0 && box.repaired) {
        for (int i = box.count++; i > 0; i--) {
            box.stored[i] = box.stored[i - 1];
        }
        box.stored[0] = handed;
    }
    rt_slot_fini(&slot);
}

void
send(mailbox &to, int item)
{
    if (to.waiting != nullptr) {
        to.waiting->hand(item);
    } else {
        to.stored[to.count++] = item;
    }
}

struct heartbeat {
    mailbox *box;
    std::uint64_t limit_ns;
    int received = 0;
    unsigned beats = 0;
};

rt::coroutine
take(rt::frames &, mailbox &from, int &item)
{
    receive waits(from, item);
    co_await rt::until([&](rt_cx *cx) { return waits.poll(cx); });
}

/* Receives, and beats when nothing has come for a while, until it has all. */
rt::coroutine
consumer(rt::frames &, rt::frames &parts, heartbeat &self)
{
    while (self.received < items) {
        int item = 0;
        rt::future part(take(parts, *self.box, item), "take");
        rt_sleep_future limit;
        rt_child children[2] = {};
        rt_race race;
        rt_sleep_future_init(&limit, self.beats < 5 ? self.limit_ns : RT_NEVER);
        children[0].future = part.raw();
        children[1].future = &limit.future;
        SIM_ALWAYS(rt_race_init(&race, children, 2) == RT_OK);
        co_await race.future;
        if (race.winner == 0) {
            SIM_ALWAYS(item == ++self.received);
            SIM_PROGRESS();
        } else {
            self.beats++;
        }
    }
}

rt::coroutine
producer(rt::frames &, mailbox &to, std::uint64_t pause_ns)
{
    for (int i = 1; i <= items; i++) {
        co_await rt::sleep(pause_ns, RT_HERE);
        send(to, i);
    }
}

rt::frames &
make_frames(sim_world *world)
{
    constexpr unsigned size = 4096;
    std::span<std::byte> memory(static_cast<std::byte *>(sim_alloc(world, size)), size);
    return *new (sim_alloc(world, sizeof(rt::frames))) rt::frames(memory);
}

void
spawn(sim_world *world, sim_rt *rt, rt::coroutine &&body, const char *name)
{
    rt::task *task = new (sim_alloc(world, sizeof(rt::task))) rt::task(std::move(body), name);
    sim_spawn(rt, task->raw());
}

void
setup(sim_world *world, bool repaired)
{
    sim_rt *rt = sim_rt_new(world, nullptr);
    mailbox *box = new (sim_alloc(world, sizeof(mailbox))) mailbox;
    heartbeat *self = new (sim_alloc(world, sizeof(heartbeat))) heartbeat;
    box->repaired = repaired;
    self->box = box;
    self->limit_ns = 4 * RT_MS - sim_range(world, 0, 2 * RT_MS);
    spawn(world, rt, consumer(make_frames(world), make_frames(world), *self), "consumer");
    spawn(world, rt, producer(make_frames(world), *box, sim_range(world, 1 * RT_MS, 4 * RT_MS)), "producer");
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

} // namespace

SIM_SCENARIO(handoff_broken, .name = "s14_handoff/broken", .about = "Items with a time limit.",
        .setup = setup_broken);
SIM_SCENARIO(handoff_fixed, .name = "s14_handoff/fixed", .about = "Items with a time limit, repaired.",
        .setup = setup_fixed);
/* SPDX-License-Identifier: Apache-2.0 */
