/* Cause: sort_letters(), line 94: the flag that letters are there is taken down after the walk to the shelf, and with it what has come meanwhile; repair: take it down before the box is emptied. */
#include <coroutine>
#include <cstddef>
#include <new>

#include <sim/rewake.h>

namespace
{

constexpr unsigned LETTERS = 3;
constexpr unsigned ROOM = 8;

struct office;

/* A coroutine of this program's own runtime: begun by the loop, resumed when it is in the queue. */
struct job {
    struct promise_type {
        static void *operator new(std::size_t size, office &in);
        static void operator delete(void *) {}
        job get_return_object() { return {std::coroutine_handle<promise_type>::from_promise(*this)}; }
        std::suspend_always initial_suspend() noexcept { return {}; }
        std::suspend_always final_suspend() noexcept { return {}; }
        void return_void() {}
        void unhandled_exception() {}
    };
    std::coroutine_handle<promise_type> handle;
};

struct flag {
    bool up = false;
    std::coroutine_handle<> waiter;
};

struct office {
    sim_world *world;
    sim_fds *fds;
    int bell = -1;
    int walk = -1;
    std::coroutine_handle<> queue[ROOM];
    unsigned queued = 0;
    std::coroutine_handle<> walker; /* Who waits for the walk. */
    flag letters_there;
    unsigned box = 0;
    unsigned sorted = 0;
    bool lowers_first;

    void wake(std::coroutine_handle<> &waiter)
    {
        if (waiter) {
            queue[queued++] = waiter;
            waiter = nullptr;
        }
    }
};

void *
job::promise_type::operator new(std::size_t size, office &in)
{
    return sim_alloc(in.world, size);
}

struct until_up {
    flag &on;
    bool await_ready() { return on.up; }
    void await_suspend(std::coroutine_handle<> who) { on.waiter = who; }
    void await_resume() {}
};

struct walked {
    office &in;
    bool await_ready() { return false; }
    void await_suspend(std::coroutine_handle<> who)
    {
        in.walker = who;
        sim_sys_timer timer = {sim_now(in.world) + 2 * RT_MS, 0};
        SIM_ALWAYS(sim_sys_timerfd_set(in.fds, in.walk, &timer, nullptr) == 0);
    }
    void await_resume() {}
};

job
sort_letters(office &in)
{
    while (in.sorted < LETTERS) {
        co_await until_up{in.letters_there};
        if (in.lowers_first) {
            in.letters_there.up = false;
        }
        in.sorted += in.box;
        in.box = 0;
        co_await walked{in};
        if (!in.lowers_first) {
            in.letters_there.up = false;
        }
    }
}

void
office_main(sim_world *, void *argument)
{
    office &in = *static_cast<office *>(argument);
    job sorter = sort_letters(in);
    in.queue[in.queued++] = sorter.handle;
    int epoll = sim_sys_epoll(in.fds, "office");
    SIM_ALWAYS(sim_sys_epoll_add(in.fds, epoll, in.bell, SIM_FD_IN, 0) == 0);
    SIM_ALWAYS(sim_sys_epoll_add(in.fds, epoll, in.walk, SIM_FD_IN, 1) == 0);
    while (!sorter.handle.done()) {
        while (in.queued > 0) {
            in.queue[--in.queued].resume();
        }
        if (sorter.handle.done()) {
            break;
        }
        sim_fd_event event;
        if (sim_sys_epoll_wait(in.fds, epoll, &event, 1, SIM_NEVER, RT_HERE) == 1) {
            std::uint64_t count = 0;
            int fd = event.data == 0 ? in.bell : in.walk;
            if (sim_sys_read(in.fds, fd, &count, sizeof count, SIM_SYS_DONTWAIT, RT_HERE) < 0) {
                continue;
            }
            if (event.data == 0) {
                in.box += static_cast<unsigned>(count);
                in.letters_there.up = true;
                in.wake(in.letters_there.waiter);
            } else {
                in.wake(in.walker);
            }
        }
    }
    sorter.handle.destroy();
}

void
postman_main(sim_world *world, void *argument)
{
    office &in = *static_cast<office *>(argument);
    for (unsigned i = 0; i < LETTERS; i++) {
        sim_sleep(world, sim_range(world, 3 * RT_MS, 6 * RT_MS) - sim_range(world, 0, 2 * RT_MS));
        std::uint64_t one = 1;
        SIM_ALWAYS(sim_sys_write(in.fds, in.bell, &one, sizeof one, 0, RT_HERE) == sizeof one);
    }
}

void
set_up(sim_world *world, bool lowers_first)
{
    office *in = new (sim_alloc(world, sizeof(office))) office{};
    in->world = world;
    in->fds = sim_fds_new(sim_host_new(world, "town", SIM_PROFILE_FD), 3);
    in->bell = sim_sys_eventfd(in->fds, "bell", 0, false);
    in->walk = sim_sys_timerfd(in->fds, "walk");
    in->lowers_first = lowers_first;
    (void)sim_loop_new(world, "office", office_main, in);
    (void)sim_loop_new(world, "postman", postman_main, in);
}

void set_up_broken(sim_world *world) { set_up(world, false); }
void set_up_fixed(sim_world *world) { set_up(world, true); }

SIM_SCENARIO(broken, .name = "s18/postroom/broken", .about = "Letters, a flag and a walk.",
        .setup = set_up_broken);
SIM_SCENARIO(fixed, .name = "s18/postroom/fixed", .about = "Letters, a flag and a walk.",
        .setup = set_up_fixed);

} /* namespace */
