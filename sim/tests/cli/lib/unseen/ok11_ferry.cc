/*
 * ok11_ferry.cc -- a ferry for three leaves when it is full, or a while after the first has come on
 * board, with more than three where they come at once; some lose patience and go ashore, and the
 * ferry may then leave with fewer, or not.
 *
 * Cause: none, it is correct: whoever goes ashore takes his place back, and the ferry's clock stops when it is empty
 */
#include <new>

#include <runtime/cpp/coroutine.hpp>
#include <sim/rewake.h>

class ferry;

/* A place on board; given back when its owner goes. */
class place
{
  public:
    explicit place(ferry &on) : ferry_(on)
    {
        rt_slot_init(&slot_);
    }
    place(const place &) = delete;
    place &operator=(const place &) = delete;
    ~place();

    rt_poll poll(rt_cx *cx);

  private:
    friend class ferry;

    ferry &ferry_;
    rt_slot slot_;
    bool aboard_ = false, across_ = false;
    place *next_ = nullptr;
};

class ferry
{
  public:
    static constexpr unsigned FULL = 3;

    ferry()
    {
        rt_slot_init(&captain_);
        rt_sleep_init(&rest_, RT_NEVER);
    }

    void board(place &passenger)
    {
        passenger.next_ = first_;
        first_ = &passenger;
        count_++;
        rt_slot_wake(&captain_);
    }

    void leave_ship(place &passenger)
    {
        for (place **at = &first_; *at != nullptr; at = &(*at)->next_) {
            if (*at == &passenger) {
                *at = passenger.next_;
                count_--;
                rt_slot_wake(&captain_);
                return;
            }
        }
    }

    /* READY when the ferry may leave; or all have gone home. */
    rt_poll may_leave(rt_cx *cx)
    {
        if (count_ >= FULL || travellers_ == 0) {
            stop_clock();
            return RT_READY;
        }
        if (count_ == 0) {
            stop_clock();
        } else {
            if (!waiting_) {
                waiting_ = true;
                rt_sleep_init(&rest_, 2 * RT_MS);
            }
            if (rt_sleep_poll(&rest_, cx) == RT_READY) {
                waiting_ = false;
                return RT_READY;
            }
        }
        rt_slot_replace(&captain_, cx, "passengers");
        return RT_PENDING;
    }

    void land()
    {
        while (first_ != nullptr) {
            place *passenger = first_;
            first_ = passenger->next_;
            passenger->across_ = true;
            rt_slot_wake(&passenger->slot_);
        }
        count_ = 0;
    }

    void expect()
    {
        travellers_++;
    }

    void traveller_gone()
    {
        travellers_--;
        rt_slot_wake(&captain_);
    }

    bool closed() const
    {
        return travellers_ == 0;
    }

  private:
    void stop_clock()
    {
        if (waiting_) {
            waiting_ = false;
            rt_sleep_cancel(&rest_);
        }
    }

    place *first_ = nullptr;
    unsigned count_ = 0, travellers_ = 0;
    bool waiting_ = false;
    rt_slot captain_;
    rt_sleep rest_;
};

rt_poll
place::poll(rt_cx *cx)
{
    if (across_) {
        return RT_READY;
    }
    if (!aboard_) {
        aboard_ = true;
        ferry_.board(*this);
    }
    rt_slot_replace(&slot_, cx, "the other shore");
    return RT_PENDING;
}

place::~place()
{
    if (aboard_ && !across_) {
        ferry_.leave_ship(*this);
    }
    rt_slot_fini(&slot_);
}

/* Counts as one from the beginning, also where its owner never runs. */
class traveller
{
  public:
    explicit traveller(ferry &with) : on_(&with)
    {
        on_->expect();
    }
    traveller(traveller &&other) noexcept : on_(std::exchange(other.on_, nullptr))
    {
    }
    traveller &operator=(traveller &&) = delete;
    ~traveller()
    {
        if (on_ != nullptr) {
            on_->traveller_gone();
        }
    }

    ferry &on()
    {
        return *on_;
    }

  private:
    ferry *on_;
};

rt::coroutine
travel(rt::frames &, traveller self, std::uint64_t before_ns)
{
    co_await rt::sleep(before_ns, RT_HERE);
    place mine(self.on());
    co_await mine;
}

rt::coroutine
patience(rt::frames &, rt::task &of, std::uint64_t ns)
{
    co_await rt::sleep(ns, RT_HERE);
    of.cancel(RT_HERE);
}

rt::coroutine
sail(rt::frames &, ferry &on)
{
    while (!on.closed()) {
        co_await rt::until([&](rt_cx *cx) { return on.may_leave(cx); });
        on.land();
    }
}

template <typename T, typename... Arguments>
T *
make(sim_world *world, Arguments &&...arguments)
{
    return new (sim_alloc(world, sizeof(T))) T(std::forward<Arguments>(arguments)...);
}

static void
setup(sim_world *world)
{
    static const char *const names[] = {"ada", "bert", "cora", "dora", "emil"};
    constexpr std::size_t size = 16384;
    sim_rt *rt = sim_rt_new(world, nullptr);
    std::span<std::byte> memory(static_cast<std::byte *>(sim_alloc(world, size)), size);
    rt::frames &in = *make<rt::frames>(world, memory);
    ferry &on = *make<ferry>(world);
    for (unsigned i = 0; i < 5; i++) {
        std::uint64_t before = sim_range(world, i * RT_MS, (i + 2) * RT_MS);
        rt::task &task = *make<rt::task>(world, travel(in, traveller(on), before), names[i]);
        sim_spawn(rt, task.raw());
        if (i % 2 == 1) {
            std::uint64_t ns = sim_range(world, 2 * RT_MS, 6 * RT_MS);
            sim_spawn(rt, make<rt::task>(world, patience(in, task, ns), "patience")->raw());
        }
    }
    sim_spawn(rt, make<rt::task>(world, sail(in, on), "captain")->raw());
}

SIM_SCENARIO(ferry, .name = "ok11_ferry", .about = "A ferry that waits for a while, or until it is full.",
        .setup = setup);
// SPDX-License-Identifier: Apache-2.0
