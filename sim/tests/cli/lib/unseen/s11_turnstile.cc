/*
 * s11_turnstile.cc -- an asynchronous lock for coroutines, passed from one holder to the next in the
 * order in which they asked. A request that takes too long is cancelled with all that it has begun.
 *
 * Cause: ~pass() (line 116) takes a pass that waits out of the queue, and forgets one that was handed over and not looked at yet
 */
#include <new>

#include <runtime/cpp/coroutine.hpp>
#include <sim/rewake.h>

class turnstile;

/* One request for the lock; whoever holds it ends it. */
class pass
{
  public:
    explicit pass(turnstile &at) : at_(at)
    {
        rt_slot_init(&slot_);
    }
    pass(const pass &) = delete;
    pass &operator=(const pass &) = delete;
    ~pass();

    rt_poll poll(rt_cx *cx);

  private:
    friend class turnstile;

    enum state { NEW, QUEUED, HANDED, INSIDE };

    turnstile &at_;
    rt_slot slot_;
    state state_ = NEW;
    pass *next_ = nullptr;
};

class turnstile
{
  public:
    explicit turnstile(bool returns) : returns_(returns)
    {
    }

    bool enter()
    {
        bool free = !taken_;
        taken_ = true;
        return free;
    }

    void leave()
    {
        pass *next = first_;
        if (next == nullptr) {
            taken_ = false;
            return;
        }
        first_ = next->next_;
        next->state_ = pass::HANDED;
        rt_slot_wake(&next->slot_);
    }

    void append(pass &waiting)
    {
        pass **end = &first_;
        while (*end != nullptr) {
            end = &(*end)->next_;
        }
        *end = &waiting;
    }

    void remove(pass &waiting)
    {
        for (pass **at = &first_; *at != nullptr; at = &(*at)->next_) {
            if (*at == &waiting) {
                *at = waiting.next_;
                return;
            }
        }
    }

    bool returns() const
    {
        return returns_;
    }

  private:
    bool taken_ = false;
    bool returns_;
    pass *first_ = nullptr;
};

rt_poll
pass::poll(rt_cx *cx)
{
    if (state_ == NEW) {
        state_ = at_.enter() ? INSIDE : QUEUED;
        if (state_ == QUEUED) {
            at_.append(*this);
        }
    }
    if (state_ == QUEUED) {
        rt_slot_replace(&slot_, cx, "the turnstile");
        return RT_PENDING;
    }
    state_ = INSIDE;
    return RT_READY;
}

pass::~pass()
{
    if (state_ == QUEUED) {
        at_.remove(*this);
    } else if (state_ == INSIDE || (state_ == HANDED && at_.returns())) {
        at_.leave();
    }
    rt_slot_fini(&slot_);
}

rt::coroutine
visit(rt::frames &, turnstile &at, std::uint64_t before_ns, std::uint64_t inside_ns)
{
    co_await rt::sleep(before_ns, RT_HERE);
    pass mine(at);
    co_await mine;
    co_await rt::sleep(inside_ns, RT_HERE);
}

rt::coroutine
limit(rt::frames &, rt::task &visitor, std::uint64_t ns)
{
    co_await rt::sleep(ns, RT_HERE);
    visitor.cancel(RT_HERE);
}

template <typename T, typename... Arguments>
T *
make(sim_world *world, Arguments &&...arguments)
{
    return new (sim_alloc(world, sizeof(T))) T(std::forward<Arguments>(arguments)...);
}

static void
setup_with(sim_world *world, bool returns)
{
    static const char *const names[] = {"family", "group", "guide"};
    constexpr std::size_t size = 8192;
    sim_rt *rt = sim_rt_new(world, nullptr);
    std::span<std::byte> memory(static_cast<std::byte *>(sim_alloc(world, size)), size);
    rt::frames &in = *make<rt::frames>(world, memory);
    turnstile &gate = *make<turnstile>(world, returns);
    for (unsigned i = 0; i < 3; i++) {
        std::uint64_t before = sim_range(world, 0, 2 * RT_MS), inside = sim_range(world, RT_MS, 3 * RT_MS);
        rt::task &visitor = *make<rt::task>(world, visit(in, gate, before, inside), names[i]);
        sim_spawn(rt, visitor.raw());
        if (i == 1) {
            std::uint64_t patience = sim_range(world, 2 * RT_MS, 5 * RT_MS);
            sim_spawn(rt, make<rt::task>(world, limit(in, visitor, patience), "limit")->raw());
        }
    }
}

static void
setup_broken(sim_world *world)
{
    setup_with(world, false);
}

static void
setup_fixed(sim_world *world)
{
    setup_with(world, true);
}

SIM_SCENARIO(turnstile_broken, .name = "s11_turnstile/broken",
        .about = "A lock for coroutines, and a visitor who may be called away.", .setup = setup_broken);
SIM_SCENARIO(turnstile_fixed, .name = "s11_turnstile/fixed",
        .about = "A lock for coroutines, and a visitor who may be called away.", .setup = setup_fixed);
// SPDX-License-Identifier: Apache-2.0
