/*
 * executor.cc -- a C++20 executor of one's own: coroutines, a run queue, a thread that wakes them.
 *
 * Nothing here is of rewake's runtime. The executor sleeps in the simulated epoll; the calls
 * sim_foreign_... name its tasks and wakers for reports. Another thread puts a letter into a box
 * and wakes the reader: it queues the task, and writes to an eventfd if the executor sleeps.
 *
 * The bug: the executor looks at its queue, and only then notes that it sleeps. A wake in between
 * is queued, and writes nothing. The fix: note it first, then look.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <coroutine>
#include <exception>
#include <new>
#include <utility>

#include <sim/rewake.h>

namespace
{

constexpr unsigned LETTERS = 2;
constexpr unsigned TASKS_MAX = 4;

/* ---- The executor. --------------------------------------------------------------------------- */

/* A coroutine that the executor runs. */
struct task {
    struct promise_type {
        std::coroutine_handle<promise_type> next = nullptr; /* In the run queue, while `queued`. */
        bool queued = false;

        task get_return_object()
        {
            return {std::coroutine_handle<promise_type>::from_promise(*this)};
        }
        std::suspend_always initial_suspend()
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
            std::terminate();
        }
    };
    std::coroutine_handle<promise_type> handle;
};

using handle = std::coroutine_handle<task::promise_type>;

class executor
{
  public:
    executor(sim_world *world, bool broken) : m_world(world), m_broken(broken)
    {
        m_fds = sim_fds_new(sim_host_new(world, nullptr, SIM_PROFILE_FD), 3);
        SIM_ALWAYS(sim_fd_event_open(m_fds, "bell", &m_bell) == RT_OK);
        SIM_ALWAYS(sim_fd_add(m_fds, m_bell, SIM_FD_IN, 0) == RT_OK);
        m_loop = sim_loop_new(world, "executor", loop_main, this);
        m_foreign = sim_foreign_new(m_loop, poll_again, this);
    }

    void spawn(task made, const char *name)
    {
        SIM_ALWAYS(m_count < TASKS_MAX);
        m_tasks[m_count++] = made.handle;
        sim_foreign_spawn(m_foreign, made.handle.address(), name);
        push(made.handle);
    }

    /* From any thread. */
    void wake(handle woken)
    {
        push(woken);
        sim_loop_pause(m_world); /* Where another thread could run. */
        if (m_asleep) {
            SIM_ALWAYS(sim_fd_notify(m_fds, m_bell) == RT_OK);
        }
    }

  private:
    void push(handle woken)
    {
        if (!woken.promise().queued) {
            handle *end = &m_queue;
            while (*end) {
                end = &end->promise().next;
            }
            *end = woken;
            woken.promise().queued = true;
        }
    }

    handle pop()
    {
        handle first = m_queue;
        m_queue = std::exchange(first.promise().next, nullptr);
        first.promise().queued = false;
        return first;
    }

    void poll(handle polled)
    {
        sim_foreign_poll(polled.address());
        if (!polled.done()) {
            polled.resume();
            m_finished += polled.done();
        }
        sim_foreign_polled(polled.address(), polled.done());
    }

    void sleep()
    {
        m_asleep = !m_broken;
        bool any = m_queue != nullptr;
        sim_loop_pause(m_world);
        m_asleep = true;
        if (!any) {
            sim_fd_event event;
            uint64_t times = 0;
            if (sim_fd_wait(m_fds, &event, 1, SIM_NEVER) > 0) {
                (void)sim_fd_read(m_fds, m_bell, &times, sizeof times);
            }
        }
        m_asleep = false;
    }

    void run()
    {
        while (m_finished < m_count) {
            sleep();
            while (m_queue) {
                poll(pop());
            }
        }
        for (unsigned i = 0; i < m_count; i++) {
            m_tasks[i].destroy(); /* Not before: one that has ended may still be queued. */
        }
    }

    static void loop_main(sim_world *, void *argument)
    {
        static_cast<executor *>(argument)->run();
    }

    /* The oracle's question: does this task make progress if it is polled once more? */
    static void poll_again(void *argument, void *polled)
    {
        static_cast<executor *>(argument)->poll(handle::from_address(polled));
    }

    sim_world *m_world;
    sim_fds *m_fds;
    sim_loop *m_loop;
    sim_foreign *m_foreign;
    int m_bell;
    handle m_queue = nullptr; /* The first of those to be polled. */
    handle m_tasks[TASKS_MAX];
    unsigned m_count = 0;
    unsigned m_finished = 0;
    bool m_asleep = false;
    bool m_broken;
};

/* ---- What a task can wait for. --------------------------------------------------------------- */

class box
{
  public:
    void put(executor &home)
    {
        m_letters++;
        if (m_reader) {
            sim_foreign_fire(this); /* Before the wake itself. */
            home.wake(std::exchange(m_reader, nullptr));
        }
    }

    bool take()
    {
        bool any = m_letters > 0;
        m_letters -= any;
        return any;
    }

    /* Suspends until a wake, which may be spurious: `while (!box.take()) co_await box.letter(...)`.
     * Reports name the line that is passed, RT_HERE. */
    auto letter(const rt_site *line)
    {
        struct awaiter : std::suspend_always {
            box &from;
            const rt_site *line;

            awaiter(box &waits_for, const rt_site *at) : from(waits_for), line(at)
            {
            }
            void await_suspend(handle reader)
            {
                from.m_reader = reader;
                sim_foreign_store_at(reader.address(), &from, "a letter", line);
            }
        };
        return awaiter(*this, line);
    }

  private:
    handle m_reader = nullptr; /* The waker: none, or the task that waits. */
    unsigned m_letters = 0;
};

/* ---- A program for it. ----------------------------------------------------------------------- */

struct program {
    sim_world *world;
    executor home;
    box letters;

    program(sim_world *in, bool broken) : world(in), home(in, broken)
    {
    }
};

task
read_letters(box &from)
{
    for (unsigned i = 0; i < LETTERS; i++) {
        while (!from.take()) {
            co_await from.letter(RT_HERE);
        }
    }
}

/* A separate thread. */
void
writer_main(sim_world *world, void *argument)
{
    auto *of = static_cast<program *>(argument);
    for (unsigned i = 0; i < LETTERS; i++) {
        sim_sleep(world, sim_range(world, 0, 2 * RT_US));
        of->letters.put(of->home);
    }
}

void
set_up(sim_world *world, bool broken)
{
    auto *made = new (sim_new(world, program)) program(world, broken);
    made->home.spawn(read_letters(made->letters), "reader");
    (void)sim_loop_new(world, "writer", writer_main, made);
}

void
set_up_broken(sim_world *world)
{
    set_up(world, true);
}

void
set_up_fixed(sim_world *world)
{
    set_up(world, false);
}

SIM_SCENARIO(broken, .name = "executor/broken", .about = "It looks, and then notes that it sleeps.",
        .setup = set_up_broken, .expect = SIM_VERDICT_LOST_WAKEUP);
SIM_SCENARIO(fixed, .name = "executor/fixed", .about = "It notes that it sleeps, and then looks.",
        .setup = set_up_fixed);

} /* namespace */
