// Cause: latch_wait::await_suspend(): await_ready() has found the latch unset, then await_suspend() reads the clock
// and stores the handle without looking at the latch again. When the other thread calls open() in between, it finds
// no waiter, and the coroutine that is stored afterwards is never resumed.
// SPDX-License-Identifier: Apache-2.0
// clang-format off
#include <coroutine>
#include <utility>

#include <sim/rewake.h>

namespace
{

struct program;

/* A coroutine that begins when the loop resumes it; its frame is the world's. */
struct job {
    struct promise_type {
        static void *operator new(std::size_t size, program &of);
        static void operator delete(void *, std::size_t)
        {
        }
        job get_return_object()
        {
            return {std::coroutine_handle<promise_type>::from_promise(*this)};
        }
        std::suspend_always initial_suspend() noexcept
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
    std::coroutine_handle<promise_type> handle;
};

struct program {
    sim_world *world;
    rt_host *host;
    rt_pollable bell;
    std::coroutine_handle<> ready; /* To be resumed by the loop; one is enough here. */
    std::coroutine_handle<> waiter;
    std::coroutine_handle<> main;
    bool is_open;
    bool finished;
    uint64_t waits_since;
    bool looks_again;
};

void *
job::promise_type::operator new(std::size_t size, program &of)
{
    return sim_alloc(of.world, size);
}

struct latch_wait {
    program &of;

    bool await_ready() const
    {
        return of.is_open;
    }
    bool await_suspend(std::coroutine_handle<> handle);
    void await_resume() const
    {
    }
};

bool
latch_wait::await_suspend(std::coroutine_handle<> handle)
{
    if (!of.looks_again) {
        of.waits_since = rt_host_now(of.host);
        of.waiter = handle;
        sim_foreign_store(&of, &of.waiter, "the latch");
        return true;
    }
    of.waiter = handle;
    sim_foreign_store(&of, &of.waiter, "the latch");
    of.waits_since = rt_host_now(of.host);
    if (of.is_open && of.waiter) {
        of.waiter = nullptr;
        sim_foreign_erase(&of.waiter);
        return false;
    }
    return true;
}

/* On any thread. */
void
open_latch(program &of)
{
    of.is_open = true;
    std::coroutine_handle<> waiter = std::exchange(of.waiter, nullptr);
    if (waiter) {
        sim_foreign_fire(&of.waiter);
        of.ready = waiter;
        rt_host_notify(of.host);
    }
}

job
work(program &of)
{
    co_await latch_wait{of};
    of.finished = true;
}

void
resume(program &of, std::coroutine_handle<> handle)
{
    sim_foreign_poll(&of);
    handle.resume();
    sim_foreign_polled(&of, of.finished);
}

void
loop_main(sim_world *, void *argument)
{
    program &of = *static_cast<program *>(argument);
    of.ready = of.main;
    while (!of.finished) {
        std::coroutine_handle<> next = std::exchange(of.ready, nullptr);
        if (next) {
            resume(of, next);
            continue;
        }
        rt_pollable *list[1] = {&of.bell};
        uint32_t ready[1];
        uint32_t count = 0;
        SIM_ALWAYS(rt_host_poll(of.host, list, 1, ready, &count) == RT_OK);
    }
    rt_pollable_drop(&of.bell);
}

void
thread_main(sim_world *world, void *argument)
{
    sim_sleep(world, sim_range(world, 0, 2 * RT_US));
    open_latch(*static_cast<program *>(argument));
}

/* A spurious resume: nothing happens unless the latch is open. */
void
again(void *argument, void *)
{
    program &of = *static_cast<program *>(argument);
    sim_foreign_poll(&of);
    if (of.is_open && of.waiter) {
        std::exchange(of.waiter, nullptr).resume();
    }
    sim_foreign_polled(&of, of.finished);
}

void
begin(sim_world *world, bool looks_again)
{
    program &of = *sim_new(world, program);
    of.world = world;
    of.host = sim_host_seam(sim_host_new(world, nullptr, SIM_PROFILE_DEFAULT));
    of.looks_again = looks_again;
    SIM_ALWAYS(rt_host_subscribe(of.host, RT_SUBSCRIBE_NOTIFY, 0, &of.bell) == RT_OK);
    of.main = work(of).handle;
    sim_loop *loop = sim_loop_new(world, "loop", loop_main, &of);
    sim_foreign *foreign = sim_foreign_new(loop, again, &of);
    sim_foreign_spawn(foreign, &of, "work");
    sim_loop_new(world, "thread", thread_main, &of);
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

SIM_SCENARIO(event_broken, .name = "set7/s7_event/broken",
        .about = "A coroutine waits for a latch that a thread opens.", .setup = setup_broken);
SIM_SCENARIO(event_fixed, .name = "set7/s7_event/fixed",
        .about = "A coroutine waits for a latch that a thread opens.", .setup = setup_fixed);
