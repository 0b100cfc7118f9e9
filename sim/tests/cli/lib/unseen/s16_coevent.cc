/* Cause: push(), line 85: the event is set only when the queue was empty before; where a second job comes before the woken consumer has run, the other consumer that waits is not woken for it; repair: the event is set for each job. */
/*
 * s16_coevent.cc -- print jobs: coroutines on an executor of our own, which is fed from a thread.
 *
 * Each printer prints one job and is switched off. An event wakes one waiter, or is kept.
 */
#include <coroutine>
#include <new>

#include <sim/rewake.h>

namespace
{

constexpr unsigned PRINTERS = 3;

struct executor {
    sim_world *world;
    sim_loop *loop;
    sim_foreign *foreign;
    unsigned running = 0; /* Printers that have not finished. */
    unsigned head = 0;
    unsigned tail = 0;
    struct printer *ready[64];
    bool sleeps = false;

    void schedule(printer *woken)
    {
        ready[tail++ % 64] = woken;
        if (sleeps) {
            sleeps = false;
            sim_loop_wake(loop);
        }
    }
};

struct waiter {
    waiter *next;
    printer *whose;
    bool queued;
};

/* Wakes one waiter, or lets the next one pass. */
struct event {
    executor *on;
    waiter *first = nullptr;
    bool is_set = false;

    void set()
    {
        if (first == nullptr) {
            is_set = true;
            return;
        }
        waiter *woken = first;
        first = woken->next;
        woken->queued = false;
        sim_foreign_fire(woken);
        on->schedule(woken->whose);
    }

    void forget(waiter *gone)
    {
        for (waiter **at = &first; *at != nullptr; at = &(*at)->next) {
            if (*at == gone) {
                *at = gone->next;
                break;
            }
        }
        gone->queued = false;
    }
};

struct job_queue {
    event *ready;
    unsigned jobs[8];
    unsigned head = 0;
    unsigned tail = 0;
    bool fixed;

    void push(unsigned job)
    {
        bool was_empty = head == tail;
        jobs[tail++ % 8] = job;
        if (was_empty || fixed) {
            ready->set();
        }
    }
};

struct printer {
    executor *on;
    job_queue *queue;
    waiter place = {};
    std::coroutine_handle<> handle;
    unsigned printed = 0;
};

struct coroutine {
    struct promise_type {
        /* Frames are in the memory of the run. */
        static void *operator new(std::size_t size, printer *self)
        {
            return sim_alloc(self->on->world, size);
        }
        static void operator delete(void *, std::size_t)
        {
        }
        coroutine get_return_object()
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

/* co_await of an event. */
struct wait {
    event *what;
    printer *who;

    bool await_ready()
    {
        bool passes = what->is_set;
        what->is_set = false;
        return passes;
    }
    void await_suspend(std::coroutine_handle<>)
    {
        waiter **last = &what->first;
        while (*last != nullptr) {
            last = &(*last)->next;
        }
        who->place = waiter{nullptr, who, true};
        *last = &who->place;
        sim_foreign_store(who, &who->place, "a job");
    }
    void await_resume()
    {
        if (who->place.queued) {
            what->forget(&who->place); /* Resumed for another reason. */
        }
    }
};

coroutine
print_one(printer *self)
{
    job_queue *queue = self->queue;
    while (queue->head == queue->tail) {
        co_await wait{queue->ready, self};
    }
    self->printed = queue->jobs[queue->head++ % 8];
}

void
resume(printer *self)
{
    sim_foreign_poll(self);
    self->handle.resume();
    bool finished = self->handle.done();
    if (finished) {
        self->on->running--;
        self->handle.destroy();
    }
    sim_foreign_polled(self, finished);
}

/* For the judge. */
void
again(void *, void *task)
{
    resume(static_cast<printer *>(task));
}

void
executor_main(sim_world *world, void *argument)
{
    executor *self = static_cast<executor *>(argument);
    while (self->running > 0) {
        if (self->head == self->tail) {
            self->sleeps = true;
            sim_loop_block(world, 0, "ready coroutines", RT_HERE);
            self->sleeps = false;
            continue;
        }
        resume(self->ready[self->head++ % 64]);
    }
}

/* Another thread: documents arrive. */
void
spooler_main(sim_world *world, void *argument)
{
    job_queue *queue = static_cast<job_queue *>(argument);
    for (unsigned job = 1; job <= PRINTERS; job++) {
        sim_sleep(world, sim_range(world, 1 * RT_US, 2 * RT_MS));
        queue->push(job);
    }
}

template <typename T>
T *
make(sim_world *world)
{
    return new (sim_zalloc(world, sizeof(T))) T();
}

void
set_up(sim_world *world, bool fixed)
{
    static const char *const names[PRINTERS] = {"laser", "inkjet", "plotter"};
    executor *on = make<executor>(world);
    event *ready = make<event>(world);
    job_queue *queue = make<job_queue>(world);
    on->world = world;
    on->loop = sim_loop_new(world, "executor", executor_main, on);
    on->foreign = sim_foreign_new(on->loop, again, on);
    ready->on = on;
    queue->ready = ready;
    queue->fixed = fixed;
    for (unsigned i = 0; i < PRINTERS; i++) {
        printer *made = make<printer>(world);
        made->on = on;
        made->queue = queue;
        made->handle = print_one(made).handle;
        on->running++;
        sim_foreign_spawn(on->foreign, made, names[i]);
        on->schedule(made);
    }
    sim_loop_new(world, "spooler", spooler_main, queue);
}

void
set_up_broken(sim_world *world)
{
    set_up(world, false);
}

void
set_up_fixed(sim_world *world)
{
    set_up(world, true);
}

SIM_SCENARIO(broken, .name = "s16/coevent/broken", .about = "Printers wait for jobs.",
        .setup = set_up_broken, .expect = SIM_VERDICT_LOST_WAKEUP);
SIM_SCENARIO(fixed, .name = "s16/coevent/fixed", .about = "Printers wait for jobs.",
        .setup = set_up_fixed);

} /* namespace */

/* SPDX-License-Identifier: Apache-2.0 */
