/* Cause: Carillon::run() copies the first stroke (61), drops the lock to strike (65-67) and then erases whatever is first (69); strike_at() may have inserted an earlier stroke at the front meanwhile, which is erased unstruck, and the one struck is struck again. */
#include <algorithm>
#include <cassert>
#include <chrono>
#include <condition_variable>
#include <cstdio>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

using Clock = std::chrono::steady_clock;
using namespace std::chrono_literals;

class Carillon
{
  public:
    Carillon() : ringer_([this] { run(); }) {}

    ~Carillon()
    {
        {
            std::lock_guard lock(mutex_);
            closing_ = true;
        }
        changed_.notify_one();
        ringer_.join();
    }

    void strike_at(Clock::time_point when, std::function<void()> strike)
    {
        {
            std::lock_guard lock(mutex_);
            Stroke stroke{when, std::move(strike)};
            auto place = std::upper_bound(strokes_.begin(), strokes_.end(), stroke,
                    [](const Stroke &a, const Stroke &b) { return a.when < b.when; });
            strokes_.insert(place, std::move(stroke));
        }
        changed_.notify_one();
    }

  private:
    struct Stroke {
        Clock::time_point when;
        std::function<void()> strike;
    };

    void run()
    {
        std::unique_lock lock(mutex_);
        while (!closing_ || !strokes_.empty()) {
            if (strokes_.empty()) {
                changed_.wait(lock);
                continue;
            }
            auto when = strokes_.front().when;
            if (when > Clock::now()) {
                changed_.wait_until(lock, when);
                continue;
            }
            auto strike = strokes_.front().strike;
#ifdef FIXED
            strokes_.erase(strokes_.begin());
#endif
            lock.unlock();
            strike();
            lock.lock();
#ifndef FIXED
            strokes_.erase(strokes_.begin());
#endif
        }
    }

    std::mutex mutex_;
    std::condition_variable changed_;
    std::vector<Stroke> strokes_;
    bool closing_ = false;
    std::thread ringer_;
};

int main()
{
    std::mutex mutex;
    int struck[4] = {0, 0, 0, 0};
    auto bell = [&](int number) {
        return [&, number] {
            std::lock_guard lock(mutex);
            struck[number]++;
        };
    };
    {
        Carillon carillon;
        auto start = Clock::now();
        carillon.strike_at(start + 6ms, bell(0));
        carillon.strike_at(start + 4ms, bell(1));
        std::thread sexton([&] {
            std::this_thread::sleep_for(3ms);
            carillon.strike_at(start + 3ms, bell(2));
            carillon.strike_at(start + 5ms, bell(3));
        });
        sexton.join();
    }
    for (int number = 0; number < 4; number++) {
        std::printf("bell %d: %d\n", number, struck[number]);
        assert(struck[number] == 1);
    }
    return 0;
}
