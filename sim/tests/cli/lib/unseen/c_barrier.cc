// Cause: c_barrier.cc:27 the barrier has no generation: a fast thread that arrives for the next phase raises the count before a slow one has seen it at 0
// SPDX-License-Identifier: Apache-2.0
// clang-format off
#include <condition_variable>
#include <cstdio>
#include <mutex>
#include <thread>
#include <vector>

class Barrier {
public:
    explicit Barrier(int parties) : parties_(parties) {}

    void arrive_and_wait()
    {
        std::unique_lock<std::mutex> hold(lock_);
        if (++count_ == parties_) {
            count_ = 0;
            ++generation_;
            all_here_.notify_all();
            return;
        }
#ifdef FIXED
        unsigned mine = generation_;
        all_here_.wait(hold, [&] { return generation_ != mine; });
#else
        all_here_.wait(hold, [&] { return count_ == 0; });
#endif
    }

private:
    std::mutex lock_;
    std::condition_variable all_here_;
    const int parties_;
    int count_ = 0;
    unsigned generation_ = 0;
};

class Simulation {
public:
    explicit Simulation(int threads) : barrier_(threads), cells_(threads, 1) {}

    void run(int self)
    {
        for (int phase = 0; phase < 2; phase++) {
            int left = cells_[(self + 1) % cells_.size()];
            barrier_.arrive_and_wait();
            cells_[self] += left;
            barrier_.arrive_and_wait();
        }
    }

    long sum() const
    {
        long s = 0;
        for (int c : cells_)
            s += c;
        return s;
    }

private:
    Barrier barrier_;
    std::vector<int> cells_;
};

int main()
{
    constexpr int threads = 3;
    Simulation simulation(threads);
    std::vector<std::thread> all;
    for (int i = 0; i < threads; i++)
        all.emplace_back([&simulation, i] { simulation.run(i); });
    for (auto &t : all)
        t.join();
    std::printf("sum %ld\n", simulation.sum());
    return simulation.sum() == 12 ? 0 : 1;
}
