/* Calls over a connection with two places: each call takes a place, and is given up after a time.
 * Cause: call() line 97: a call that times out returns without its place, which nobody gets any more; repair:
 * release the place on that path as well. */
#include <new>

#include <runtime/cpp/coroutine.hpp>
#include <sim/rewake.h>

struct request {
    rt_slot done;
    bool answered = false;
    request *next = nullptr;
};

struct connection {
    rt_semaphore places;
    rt_slot server;
    request *first = nullptr;
    request **last = &first;
    unsigned clients = 0;
    unsigned answered = 0;
    unsigned timed_out = 0;
    std::uint64_t reply_ns = 0;
    bool fixed = false;
};

/* A time limit that is taken back at the end of its scope. */
class limit
{
  public:
    explicit limit(std::uint64_t ns)
    {
        rt_sleep_init(&sleep, ns);
    }
    limit(const limit &) = delete;
    limit &operator=(const limit &) = delete;
    ~limit()
    {
        rt_sleep_cancel(&sleep);
    }

    bool over(rt_cx *cx)
    {
        if (!passed) {
            passed = rt_sleep_poll(&sleep, cx) == RT_READY;
        }
        return passed;
    }

  private:
    rt_sleep sleep;
    bool passed = false;
};

static rt_poll
wait_for_answer(request &asked, limit &patience, rt_cx *cx)
{
    if (asked.answered || patience.over(cx)) {
        return RT_READY;
    }
    rt_slot_replace(&asked.done, cx, "an answer");
    return RT_PENDING;
}

static void
send(connection &to, request &asked)
{
    asked.answered = false;
    asked.next = nullptr;
    *to.last = &asked;
    to.last = &asked.next;
    rt_slot_wake(&to.server);
}

static void
release(connection &to)
{
    SIM_ALWAYS(rt_semaphore_release(&to.places, 1) == RT_OK);
}

static rt::coroutine
call(rt::frames &, connection &to, request &asked, std::uint64_t patience_ns)
{
    rt_acquire acquire;
    rt_acquire_init(&acquire, &to.places, 1);
    co_await acquire.future;
    SIM_ALWAYS(acquire.err == RT_OK);

    send(to, asked);
    limit patience(patience_ns);
    co_await rt::until([&](rt_cx *cx) { return wait_for_answer(asked, patience, cx); });
    if (!asked.answered) {
        to.timed_out++;
        if (to.fixed) {
            release(to);
        }
        co_return;
    }
    to.answered++;
    release(to);
}

static rt::coroutine
client(rt::frames &in, connection &to, request *requests, unsigned count, std::uint64_t patience_ns)
{
    for (unsigned i = 0; i < count; i++) {
        SIM_ALWAYS((co_await call(in, to, requests[i], patience_ns)) == RT_OK);
    }
    to.clients--;
    rt_slot_wake(&to.server);
}

static rt::coroutine
serve(rt::frames &, connection &from)
{
    for (;;) {
        co_await rt::until([&](rt_cx *cx) {
            if (from.first != nullptr || from.clients == 0) {
                return RT_READY;
            }
            rt_slot_replace(&from.server, cx, "a request");
            return RT_PENDING;
        });
        if (from.first == nullptr) {
            co_return;
        }
        request *asked = from.first;
        from.first = asked->next;
        if (from.first == nullptr) {
            from.last = &from.first;
        }
        co_await rt::sleep(from.reply_ns, RT_HERE);
        asked->answered = true;
        rt_slot_wake(&asked->done);
    }
}

template <typename T, typename... Arguments>
T *
make(sim_world *world, Arguments &&...arguments)
{
    return new (sim_alloc(world, sizeof(T))) T(std::forward<Arguments>(arguments)...);
}

static rt::frames &
make_frames(sim_world *world)
{
    constexpr unsigned size = 8192;
    return *make<rt::frames>(
            world, std::span(static_cast<std::byte *>(sim_alloc(world, size)), size));
}

static void
set_up(sim_world *world, bool fixed)
{
    constexpr unsigned clients = 3;
    constexpr unsigned calls = 2;
    static const char *const names[clients] = {"index", "search", "sync"};
    sim_rt *rt = sim_rt_new(world, nullptr);
    connection &to = *make<connection>(world);
    rt_semaphore_init(&to.places, 2);
    rt_slot_init(&to.server);
    to.clients = clients;
    to.fixed = fixed;
    to.reply_ns = sim_range(world, 1 * RT_MS, 3 * RT_MS);
    for (unsigned i = 0; i < clients; i++) {
        auto *requests = static_cast<request *>(sim_alloc(world, calls * sizeof(request)));
        for (unsigned k = 0; k < calls; k++) {
            rt_slot_init(&(new (&requests[k]) request)->done);
        }
        std::uint64_t patience_ns = 6 * RT_MS - sim_range(world, 0, 2 * RT_MS);
        sim_spawn(rt, make<rt::task>(world,
                              client(make_frames(world), to, requests, calls, patience_ns), names[i])
                              ->raw());
    }
    sim_spawn(rt, make<rt::task>(world, serve(make_frames(world), to), "server")->raw());
}

static void
set_up_broken(sim_world *world)
{
    set_up(world, false);
}

static void
set_up_fixed(sim_world *world)
{
    set_up(world, true);
}

SIM_SCENARIO(broken, .name = "s13_calls/broken", .about = "Calls that time out, broken.",
        .setup = set_up_broken, .expect = SIM_VERDICT_DEADLOCK,
        .expect_also = SIM_VERDICT_LOST_WAKEUP);
SIM_SCENARIO(fixed, .name = "s13_calls/fixed", .about = "Calls that time out.",
        .setup = set_up_fixed);
/* SPDX-License-Identifier: Apache-2.0 */
