// Cause: look() finds no letter and posts sleep(), which begins async_wait later, in another handler of the strand. A
// letter that is pushed in between has its rung() (timer.cancel) run before sleep(): it cancels nothing, and sleep()
// then waits without looking again. The look and the async_wait must be one handler, with letters pushed (and the
// cancel) on the strand.
// SPDX-License-Identifier: Apache-2.0
// clang-format off
/* libs: -lboost_system */
/* A mailbox of an io_context that two threads run: a reader takes letters, and waits by a timer
 * that never expires and is cancelled by who posts one. */
#include <utility>

#include <boost/asio.hpp>
#include <cstdio>
#include <deque>
#include <mutex>
#include <thread>
#include <vector>

namespace asio = boost::asio;

constexpr int letters = 4;

class mailbox
{
  public:
    explicit mailbox(asio::io_context &context)
        : strand(asio::make_strand(context)), timer(strand), guard(asio::make_work_guard(context))
    {
        timer.expires_at(asio::steady_timer::time_point::max());
    }

    void post(int letter)
    {
#ifdef FIXED
        asio::post(strand, [this, letter] {
            {
                std::lock_guard hold(lock);
                inside.push_back(letter);
            }
            timer.cancel();
        });
#else
        {
            std::lock_guard hold(lock);
            inside.push_back(letter);
        }
        asio::post(strand, [this] { rung(); });
#endif
    }

    void read()
    {
        asio::post(strand, [this] { look(); });
    }

    int count() const
    {
        return taken;
    }

  private:
#ifndef FIXED
    void rung()
    {
        timer.cancel();
    }
#endif

    bool take()
    {
        std::lock_guard hold(lock);
        if (inside.empty()) {
            return false;
        }
        inside.pop_front();
        return true;
    }

    void look()
    {
        while (take()) {
            if (++taken == letters) {
                guard.reset();
                return;
            }
        }
#ifdef FIXED
        timer.async_wait([this](boost::system::error_code) { look(); });
#else
        asio::post(strand, [this] { sleep(); });
#endif
    }

#ifndef FIXED
    void sleep()
    {
        timer.async_wait([this](boost::system::error_code) { look(); });
    }
#endif

    asio::strand<asio::io_context::executor_type> strand;
    asio::steady_timer timer;
    asio::executor_work_guard<asio::io_context::executor_type> guard;
    std::mutex lock;
    std::deque<int> inside;
    int taken = 0;
};

int
main()
{
    asio::io_context context(2);
    mailbox box(context);
    box.read();
    std::vector<std::thread> runners;
    for (int i = 0; i < 2; i++) {
        runners.emplace_back([&context] { context.run(); });
    }
    for (int i = 0; i < letters; i++) {
        box.post(i);
    }
    for (std::thread &runner : runners) {
        runner.join();
    }
    std::printf("%d letters\n", box.count());
}
