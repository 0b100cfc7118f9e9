/*
 * c_mutex.cc -- An async mutex for coroutines with direct hand-over. A request coroutine that
 * queues for it may be cancelled by its client.
 *
 * Cause: The awaiter's destructor takes itself out of the queue but does not pass the lock on
 * when unlock() has already handed it over to this awaiter.
 * Where: lock_awaiter::~lock_awaiter
 * Kind: hand-over to a cancelled waiter
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <new>

#include "sim/rewake.h"
#include <runtime/cpp/coroutine.hpp>

static bool fixed;

class async_mutex;

class lock_awaiter
{
  public:
    explicit lock_awaiter(async_mutex &of) : mutex(of)
    {
        rt_slot_init(&slot);
    }
    lock_awaiter(const lock_awaiter &) = delete;
    ~lock_awaiter();
    rt_poll poll(rt_cx *cx);

    async_mutex &mutex;
    rt_slot slot;
    lock_awaiter *next = nullptr;
    bool queued = false;
    bool owner = false;
    bool taken = false;
};

class async_mutex
{
  public:
    void unlock()
    {
        lock_awaiter *first = queue;
        if (first == nullptr) {
            locked = false;
            return;
        }
        queue = first->next;
        first->queued = false;
        first->owner = true;
        rt_slot_wake(&first->slot);
    }
    bool locked = false;
    lock_awaiter *queue = nullptr;
};

rt_poll
lock_awaiter::poll(rt_cx *cx)
{
    if (!mutex.locked) {
        mutex.locked = true;
        owner = true;
    }
    if (owner) {
        taken = true;
        return RT_READY;
    }
    if (!queued) {
        lock_awaiter **last = &mutex.queue;
        while (*last != nullptr) {
            last = &(*last)->next;
        }
        *last = this;
        queued = true;
    }
    rt_slot_replace(&slot, cx, "the lock");
    return RT_PENDING;
}

lock_awaiter::~lock_awaiter()
{
    if (queued) {
        lock_awaiter **at = &mutex.queue;
        while (*at != this) {
            at = &(*at)->next;
        }
        *at = next;
    }
    rt_slot_fini(&slot);
    if (fixed && owner && !taken) { /* Where. */
        mutex.unlock();
    }
}

struct lock_guard {
    async_mutex &mutex;
    ~lock_guard()
    {
        mutex.unlock();
    }
};

static rt::coroutine
request(rt::frames &, async_mutex &mutex, uint64_t work_ns)
{
    co_await lock_awaiter(mutex);
    lock_guard guard{mutex};
    co_await rt::sleep(work_ns, RT_HERE);
}

static rt::coroutine
client(rt::frames &, rt::task &request, uint64_t patience_ns)
{
    co_await rt::sleep(patience_ns, RT_HERE);
    request.cancel(RT_HERE);
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
    constexpr unsigned size = 16384;
    std::span<std::byte> memory(static_cast<std::byte *>(sim_alloc(world, size)), size);
    rt::frames &in = *make<rt::frames>(world, memory);
    async_mutex &mutex = *make<async_mutex>(world);
    uint64_t work = 2 * RT_MS;
    rt::task *first = make<rt::task>(world, request(in, mutex, work), "request-1");
    rt::task *second = make<rt::task>(world, request(in, mutex, work), "request-2");
    rt::task *third = make<rt::task>(world, request(in, mutex, work), "request-3");
    uint64_t patience = RT_MS + sim_range(world, 0, 10) * 100 * RT_US;
    sim_spawn(rt, first->raw());
    sim_spawn(rt, second->raw());
    sim_spawn(rt, third->raw());
    sim_spawn(rt, make<rt::task>(world, client(in, *second, patience), "client")->raw());
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

SIM_SCENARIO(form_broken, .name = "unseen/c-mutex/broken",
        .about = "An async mutex with direct hand-over.", .setup = setup_broken,
        .expect = SIM_VERDICT_DEADLOCK, .expect_also = SIM_VERDICT_LOST_WAKEUP);
SIM_SCENARIO(form_fixed, .name = "unseen/c-mutex/fixed",
        .about = "An async mutex with direct hand-over.", .setup = setup_fixed);
