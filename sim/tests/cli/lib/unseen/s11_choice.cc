/*
 * s11_choice.cc -- a small executor for C++20 coroutines, with channels that hand an item to whoever
 * waits for it; a receiver may wait for two channels at once.
 *
 * Cause: send() (line 166) hands an item to a receiver that has been given one by its other channel and has not run since
 */
#include <coroutine>
#include <deque>
#include <new>
#include <utility>

#include <sim/rewake.h>

struct executor;
struct task;

/* What a suspended task waits for. */
struct awaited {
    virtual bool ready() = 0;

  protected:
    ~awaited() = default;
};

struct coroutine {
    struct promise_type {
        task *self = nullptr;
        awaited *waits = nullptr;

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

struct task {
    executor *in;
    std::coroutine_handle<coroutine::promise_type> body;
    bool queued = false;

    bool run();
    void wake();
};

struct feed {
    sim_source *source;
    rt_pollable readable;
    task *reader = nullptr;
};

struct executor {
    rt_host *host;
    std::deque<task *> ready;
    feed feeds[2];
    unsigned tasks = 0;

    void spawn(sim_world *world, sim_foreign *foreign, coroutine made, const char *name);
    void wait();
};

/* False: it has not moved. */
bool
task::run()
{
    queued = false;
    sim_foreign_poll(this);
    coroutine::promise_type &promise = body.promise();
    if (promise.waits == nullptr || promise.waits->ready()) {
        promise.waits = nullptr;
        body.resume();
    }
    bool finished = body.done();
    if (finished) {
        body.destroy();
        in->tasks--;
    }
    sim_foreign_polled(this, finished);
    return finished;
}

void
task::wake()
{
    if (!queued) {
        queued = true;
        in->ready.push_back(this);
    }
}

void
executor::spawn(sim_world *world, sim_foreign *foreign, coroutine made, const char *name)
{
    task *spawned = new (sim_alloc(world, sizeof(task))) task{this, made.handle};
    made.handle.promise().self = spawned;
    sim_foreign_spawn(foreign, spawned, name);
    tasks++;
    spawned->wake();
}

/* Base of the awaitables. */
struct wait_base : awaited {
    bool await_ready()
    {
        return ready();
    }
    void await_suspend(std::coroutine_handle<coroutine::promise_type> handle)
    {
        handle.promise().waits = this;
        begin(handle.promise().self);
    }
    virtual void begin(task *self) = 0;

  protected:
    ~wait_base() = default;
};

struct next_of final : wait_base {
    explicit next_of(feed &of) : from(of)
    {
    }
    bool ready() override
    {
        return sim_source_take(from.source) == RT_OK;
    }
    void begin(task *self) override
    {
        from.reader = self;
        sim_foreign_store(self, &from.readable, "the feed");
    }
    void await_resume()
    {
    }

    feed &from;
};

struct receiver {
    task *self = nullptr;
    int item = 0;
};

struct channel {
    std::deque<int> items;
    receiver *waiting = nullptr;
    bool looks = false;

    void send(int item)
    {
        receiver *to = std::exchange(waiting, nullptr);
        if (to != nullptr && !(looks && to->item != 0)) {
            to->item = item;
            sim_foreign_fire(this);
            to->self->wake();
        } else {
            items.push_back(item);
        }
    }
};

struct from_either final : wait_base, receiver {
    from_either(channel &first, channel &second) : channels{&first, &second}
    {
    }
    bool ready() override
    {
        for (channel *from : channels) {
            if (item == 0 && !from->items.empty()) {
                item = from->items.front();
                from->items.pop_front();
            }
        }
        return item != 0;
    }
    void begin(task *task) override
    {
        self = task;
        for (channel *from : channels) {
            from->waiting = this;
            sim_foreign_store(task, from, "an item of either channel");
        }
    }
    int await_resume()
    {
        for (channel *from : channels) {
            if (from->waiting == this) {
                from->waiting = nullptr;
                sim_foreign_erase(from);
            }
        }
        return item;
    }

    channel *channels[2];
};

static coroutine
forward(feed &from, channel &to, int count)
{
    for (int i = 1; i <= count; i++) {
        co_await next_of(from);
        to.send(i);
    }
}

static coroutine
collect(channel &first, channel &second, int count)
{
    for (int i = 0; i < count; i++) {
        co_await from_either(first, second);
    }
}

void
executor::wait()
{
    rt_pollable *list[2];
    feed *whose[2];
    uint32_t indices[2], count = 0;
    for (feed &from : feeds) {
        list[count] = &from.readable;
        whose[count++] = &from;
    }
    SIM_ALWAYS(rt_host_poll(host, list, count, indices, &count) == RT_OK);
    for (uint32_t i = 0; i < count; i++) {
        feed *from = whose[indices[i]];
        if (from->reader != nullptr) {
            sim_foreign_fire(&from->readable);
            std::exchange(from->reader, nullptr)->wake();
        }
    }
}

struct program {
    executor loop;
    channel channels[2];
};

static void
executor_main(sim_world *, void *argument)
{
    program *all = static_cast<program *>(argument);
    executor *self = &all->loop;
    while (self->tasks > 0) {
        while (!self->ready.empty()) {
            task *next = self->ready.front();
            self->ready.pop_front();
            next->run();
        }
        if (self->tasks > 0) {
            self->wait();
        }
    }
    for (feed &from : self->feeds) {
        rt_pollable_drop(&from.readable);
    }
    all->~program();
}

/* The oracle's question. */
static void
executor_again(void *, void *asked)
{
    static_cast<task *>(asked)->run();
}

static void
setup_with(sim_world *world, bool looks)
{
    static const char *const names[] = {"wire", "radio"};
    sim_host *host = sim_host_new(world, nullptr, SIM_PROFILE_DEFAULT);
    program *all = new (sim_alloc(world, sizeof(program))) program();
    executor *self = &all->loop;
    channel *channels = all->channels;
    sim_loop *loop = sim_loop_new(world, "executor", executor_main, all);
    sim_foreign *foreign = sim_foreign_new(loop, executor_again, self);
    self->host = sim_host_seam(host);
    for (unsigned i = 0; i < 2; i++) {
        channels[i].looks = looks;
        self->feeds[i].source = sim_source_new(host, names[i]);
        SIM_ALWAYS(sim_source_subscribe(self->feeds[i].source, &self->feeds[i].readable) == RT_OK);
        for (unsigned j = 0; j < 2; j++) {
            sim_source_event_in(self->feeds[i].source, (2 * j + i + 1) * RT_MS, (2 * j + i + 3) * RT_MS);
        }
        self->spawn(world, foreign, forward(self->feeds[i], channels[i], 2), names[i]);
    }
    self->spawn(world, foreign, collect(channels[0], channels[1], 4), "reader");
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

SIM_SCENARIO(choice_broken, .name = "s11_choice/broken", .about = "A reader of two channels.",
        .setup = setup_broken);
SIM_SCENARIO(choice_fixed, .name = "s11_choice/fixed", .about = "A reader of two channels.",
        .setup = setup_fixed);
// SPDX-License-Identifier: Apache-2.0
