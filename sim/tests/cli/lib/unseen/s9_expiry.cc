// Cause: on_idle_end() takes a call without `aborted` for "nothing has come for idle_ns". When a request and the
// expiry are found in the same turn of the proactor, the timer's handler is queued already; on_request runs first and
// sets a new expiry, whose cancel() does not reach the queued handler, which then closes the session. The handler must
// compare now with the timer's current expiry_ns (as on_idle_check).
// SPDX-License-Identifier: Apache-2.0
// clang-format off
// A proactor in the style of Asio: completion handlers in a queue, timers that can be cancelled. A
// session reads requests, and closes when none has come for a while.
#include <new>

#include <sim/rewake.h>

constexpr std::uint64_t idle_ns = 3 * RT_MS;
constexpr unsigned requests = 3;

enum class error { none, aborted };

class proactor;

struct timer {
    std::uint64_t expiry_ns = SIM_NEVER;
    bool armed = false;
};

class proactor
{
  public:
    using handler = void (*)(void *self, error how);

    explicit proactor(rt_host *on) : host(on)
    {
        SIM_ALWAYS(rt_host_subscribe(host, RT_SUBSCRIBE_NOTIFY, 0, &bell) == RT_OK);
    }

    void post(handler fn, void *self, error how)
    {
        SIM_ALWAYS(count < sizeof(queue) / sizeof(queue[0]));
        queue[count++] = {fn, self, how};
    }

    void expires_after(timer &of, std::uint64_t ns)
    {
        cancel(of);
        of.expiry_ns = now() + ns;
        of.armed = true;
    }

    void async_wait(timer &of, handler fn, void *self)
    {
        waiting = &of;
        on_timer = fn;
        timer_self = self;
    }

    // A wait that has not ended ends with `aborted`.
    void cancel(timer &of)
    {
        if (of.armed && waiting == &of) {
            post(on_timer, timer_self, error::aborted);
            waiting = nullptr;
        }
        of.armed = false;
    }

    void async_read(rt_pollable *pollable, handler fn, void *self)
    {
        readable = pollable;
        on_read = fn;
        read_self = self;
    }

    std::uint64_t now() const
    {
        return rt_host_now(host);
    }

    void run()
    {
        while (waiting != nullptr || readable != nullptr || count > 0) {
            if (count == 0) {
                wait();
            }
            while (count > 0) {
                entry first = queue[0];
                count--;
                for (unsigned i = 0; i < count; i++) {
                    queue[i] = queue[i + 1];
                }
                first.fn(first.self, first.how);
            }
        }
        rt_pollable_drop(&bell);
    }

  private:
    struct entry {
        handler fn;
        void *self;
        error how;
    };

    void wait()
    {
        rt_pollable instant;
        rt_pollable *list[3];
        std::uint32_t ready[3];
        std::uint32_t listed = 0;
        std::uint32_t reported = 0;
        bool timed = waiting != nullptr;
        list[listed++] = &bell;
        if (timed) {
            SIM_ALWAYS(rt_subscribe_instant(host, waiting->expiry_ns, &instant) == RT_OK);
            list[listed++] = &instant;
        }
        if (readable != nullptr) {
            list[listed++] = readable;
        }
        SIM_ALWAYS(rt_host_poll(host, list, listed, ready, &reported) == RT_OK);
        if (timed) {
            rt_pollable_drop(&instant);
        }
        if (readable != nullptr && rt_pollable_ready(readable)) {
            readable = nullptr;
            post(on_read, read_self, error::none);
        }
        if (timed && now() >= waiting->expiry_ns) {
            waiting->armed = false;
            waiting = nullptr;
            post(on_timer, timer_self, error::none);
        }
    }

    rt_host *host;
    rt_pollable bell{};
    entry queue[8];
    unsigned count = 0;
    timer *waiting = nullptr;
    handler on_timer = nullptr;
    void *timer_self = nullptr;
    rt_pollable *readable = nullptr;
    handler on_read = nullptr;
    void *read_self = nullptr;
};

struct session {
    proactor *io;
    timer idle;
    sim_source *requests;
    rt_pollable readable;
    std::uint64_t last_ns;
    unsigned served;
    bool closed;
    proactor::handler on_idle;
};

static void
session_close(session &self)
{
    SIM_ALWAYS(self.io->now() >= self.last_ns + idle_ns || self.served == requests);
    self.closed = true;
    rt_pollable_drop(&self.readable);
    self.io->cancel(self.idle);
}

static void session_read(session &self);

static void
on_request(void *argument, error)
{
    session &self = *static_cast<session *>(argument);
    if (self.closed) {
        return;
    }
    if (sim_source_take(self.requests) == RT_OK) {
        self.last_ns = self.io->now();
        if (++self.served == requests) {
            session_close(self);
            return;
        }
        self.io->expires_after(self.idle, idle_ns);
        self.io->async_wait(self.idle, self.on_idle, &self);
    }
    session_read(self);
}

static void
session_read(session &self)
{
    self.io->async_read(&self.readable, on_request, &self);
}

// Only a wait that was cancelled ends with an error.
static void
on_idle_end(void *argument, error how)
{
    session &self = *static_cast<session *>(argument);
    if (how == error::aborted || self.closed) {
        return;
    }
    self.io->async_read(nullptr, nullptr, nullptr);
    session_close(self);
}

static void
on_idle_check(void *argument, error how)
{
    session &self = *static_cast<session *>(argument);
    if (how == error::aborted || self.closed || self.io->now() < self.idle.expiry_ns) {
        return;
    }
    self.io->async_read(nullptr, nullptr, nullptr);
    session_close(self);
}

static void
io_main(sim_world *, void *argument)
{
    session &self = *static_cast<session *>(argument);
    self.last_ns = self.io->now();
    self.io->expires_after(self.idle, idle_ns);
    self.io->async_wait(self.idle, self.on_idle, &self);
    session_read(self);
    self.io->run();
}

static void
client_main(sim_world *world, void *argument)
{
    session &self = *static_cast<session *>(argument);
    for (unsigned i = 0; i < requests; i++) {
        sim_sleep(world, sim_range(world, 1 * RT_MS, 4 * RT_MS));
        sim_source_event(self.requests);
    }
}

static void
setup_session(sim_world *world, proactor::handler on_idle)
{
    sim_host *host = sim_host_new(world, nullptr, SIM_PROFILE_FD);
    session &self = *new (sim_zalloc(world, sizeof(session))) session();
    self.io = new (sim_zalloc(world, sizeof(proactor))) proactor(sim_host_seam(host));
    self.on_idle = on_idle;
    self.requests = sim_source_new(host, "requests");
    SIM_ALWAYS(sim_source_subscribe(self.requests, &self.readable) == RT_OK);
    (void)sim_loop_new(world, "proactor", io_main, &self);
    (void)sim_loop_new(world, "client", client_main, &self);
}

static void
setup_broken(sim_world *world)
{
    setup_session(world, on_idle_end);
}

static void
setup_fixed(sim_world *world)
{
    setup_session(world, on_idle_check);
}

SIM_SCENARIO(expiry_broken, .name = "expiry/broken", .about = "A session with an idle timer.",
        .setup = setup_broken);
SIM_SCENARIO(expiry_fixed, .name = "expiry/fixed", .about = "A session with an idle timer.",
        .setup = setup_fixed);
