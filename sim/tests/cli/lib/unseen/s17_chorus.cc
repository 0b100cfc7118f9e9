/* Cause: fire(), line 99: the next waiter is remembered while one is resumed; if that one dismisses the next, its coroutine is destroyed, and the remembered waiter, a part of its frame, is used after that; repair: take each waiter from the head of the list after the one before has returned. */
/*
 * Singers of a chorus are coroutines on a small event of our own, which the conductor fires. The
 * prima donna sends her understudy home when she sings herself.
 */
#include <coroutine>
#include <cstddef>
#include <new>

#include <sim/rewake.h>

namespace
{

/* Frames are memory of the run. */
struct song {
    struct promise_type {
        static void *operator new(std::size_t size, sim_world *world, auto &&...)
        {
            auto *block = static_cast<head *>(sim_alloc(world, sizeof(head) + size));
            block->world = world;
            return block + 1;
        }
        static void operator delete(void *frame)
        {
            head *block = static_cast<head *>(frame) - 1;
            sim_free(block->world, block);
        }
        song get_return_object()
        {
            return {std::coroutine_handle<promise_type>::from_promise(*this)};
        }
        std::suspend_never initial_suspend() noexcept
        {
            return {};
        }
        std::suspend_always final_suspend() noexcept
        {
            return {};
        }
        void return_void()
        {
        }
        void unhandled_exception()
        {
        }
    };
    struct alignas(std::max_align_t) head {
        sim_world *world;
    };

    std::coroutine_handle<promise_type> handle;
};

/* An event on which coroutines wait; a waiter is a part of its coroutine's frame. */
class cue
{
  public:
    struct waiter {
        cue &of;
        waiter *next = nullptr;
        std::coroutine_handle<> singer;

        explicit waiter(cue &event) : of(event)
        {
        }
        waiter(const waiter &) = delete;
        ~waiter()
        {
            of.remove(this);
        }
        bool await_ready() const
        {
            return false;
        }
        void await_suspend(std::coroutine_handle<> who)
        {
            singer = who;
            waiter **end = &of.first;
            while (*end != nullptr) {
                end = &(*end)->next;
            }
            *end = this;
        }
        void await_resume() const
        {
        }
    };

    waiter operator co_await()
    {
        return waiter(*this);
    }

    void fire(bool fixed)
    {
        waiter *following = nullptr;
        for (waiter *one = first; one != nullptr; one = following) {
            following = one->next;
            remove(one);
            one->singer.resume();
            if (fixed) {
                following = first;
            }
        }
    }

  private:
    void remove(waiter *gone)
    {
        for (waiter **at = &first; *at != nullptr; at = &(*at)->next) {
            if (*at == gone) {
                *at = gone->next;
                return;
            }
        }
    }

    waiter *first = nullptr;
};

struct stage {
    cue begin;
    song understudy;
    bool understudy_came = false;
    bool understudy_sang = false;
    bool prima_sang = false;
    bool fixed;
};

song
sing_understudy(sim_world *, stage &on)
{
    co_await on.begin;
    on.understudy_sang = true;
}

song
sing_prima(sim_world *, stage &on)
{
    co_await on.begin;
    on.prima_sang = true;
    if (on.understudy_came && !on.understudy_sang) {
        on.understudy.handle.destroy();
    }
}

void
understudy_arrives(sim_world *world, void *argument)
{
    auto &on = *static_cast<stage *>(argument);
    sim_sleep(world, sim_range(world, 1 * RT_MS, 3 * RT_MS));
    on.understudy = sing_understudy(world, on);
    on.understudy_came = true;
}

void
prima_arrives(sim_world *world, void *argument)
{
    auto &on = *static_cast<stage *>(argument);
    sim_sleep(world, sim_range(world, 2 * RT_MS, 4 * RT_MS));
    sing_prima(world, on);
}

void
conduct(sim_world *world, void *argument)
{
    auto &on = *static_cast<stage *>(argument);
    do {
        sim_sleep(world, sim_range(world, 3 * RT_MS, 6 * RT_MS));
        on.begin.fire(on.fixed);
    } while (!on.prima_sang);
}

void
set_up(sim_world *world, bool fixed)
{
    stage *on = new (sim_zalloc(world, sizeof(stage))) stage{};
    on->fixed = fixed;
    sim_loop_new(world, "understudy", understudy_arrives, on);
    sim_loop_new(world, "prima donna", prima_arrives, on);
    sim_loop_new(world, "conductor", conduct, on);
}

static void
set_up_broken(struct sim_world *world)
{
    set_up(world, false);
}

static void
set_up_fixed(struct sim_world *world)
{
    set_up(world, true);
}

SIM_SCENARIO(broken, .name = "s17/chorus/broken", .about = "The first form.", .setup = set_up_broken);
SIM_SCENARIO(fixed, .name = "s17/chorus/fixed", .about = "The repaired form.", .setup = set_up_fixed);

} /* namespace */

/* SPDX-License-Identifier: Apache-2.0 */
