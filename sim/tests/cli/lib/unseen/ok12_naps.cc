/*
 * Naps that a stop request ends: a wait for a condition that is never true. The members stop one another, and the last
 * one is stopped by the destructor.
 */
#include <chrono>
#include <condition_variable>
#include <cstdio>
#include <mutex>
#include <optional>
#include <semaphore>
#include <stop_token>
#include <thread>

using namespace std::chrono_literals;

class Nap
{
  public:
    /* True: it was not interrupted. */
    bool take(std::stop_token stop, std::chrono::milliseconds length)
    {
        std::unique_lock lock(mutex_);
        cv_.wait_for(lock, stop, length, [] { return false; });
        return !stop.stop_requested();
    }

  private:
    std::mutex mutex_;
    std::condition_variable_any cv_;
};

static std::counting_semaphore<8> ended(0);

static void sleeper(std::stop_token stop, std::chrono::milliseconds length, std::stop_source next)
{
    Nap nap;
    while (nap.take(stop, length)) {
    }
    next.request_stop();
    ended.release();
}

int main()
{
    std::stop_source none(std::nostopstate);
    std::optional<std::jthread> third(std::in_place, sleeper, 40ms, none);
    std::jthread second(sleeper, 30ms, third->get_stop_source());
    std::jthread first(sleeper, 20ms, second.get_stop_source());
    std::this_thread::sleep_for(10ms);
    first.request_stop();
    for (int i = 0; i < 3; i++)
        ended.acquire();
    third.reset();
    std::puts("all are awake");
}
// SPDX-License-Identifier: Apache-2.0
