// SPDX-License-Identifier: Apache-2.0
/* Cause: sampler::run() line 43: the wait looks at stop_requested(), but request_stop() of ~jthread notifies
 * no plain condition variable; a sampler that waits then is never joined. Repair: condition_variable_any
 * and its wait with the stop token (FIXED). */
#include <condition_variable>
#include <cstdio>
#include <deque>
#include <mutex>
#include <stop_token>
#include <thread>

class sampler
{
  public:
    sampler() : thread([this](std::stop_token stop) { run(stop); })
    {
    }

    void add(int sample)
    {
        {
            std::lock_guard lock(mutex);
            samples.push_back(sample);
        }
        arrived.notify_one();
    }

    /* Waits for `count` samples to be in the sum. */
    long sum_of(int count)
    {
        std::unique_lock lock(mutex);
        summed.wait(lock, [&] { return done >= count; });
        return sum;
    }

  private:
    void run(std::stop_token stop)
    {
        std::unique_lock lock(mutex);
        while (!stop.stop_requested()) {
#ifdef FIXED
            arrived.wait(lock, stop, [&] { return !samples.empty(); });
#else
            arrived.wait(lock, [&] { return !samples.empty() || stop.stop_requested(); });
#endif
            while (!samples.empty()) {
                int sample = samples.front();
                samples.pop_front();
                lock.unlock();
                long weighed = weigh(sample);
                lock.lock();
                sum += weighed;
                done++;
                summed.notify_all();
            }
        }
    }

    long weigh(int sample)
    {
        std::lock_guard lock(scale_mutex);
        return sample * scale;
    }

    std::mutex mutex;
    std::mutex scale_mutex;
#ifdef FIXED
    std::condition_variable_any arrived;
#else
    std::condition_variable arrived;
#endif
    std::condition_variable summed;
    std::deque<int> samples;
    long scale = 10;
    long sum = 0;
    int done = 0;
    std::jthread thread; /* The last member: it ends first. */
};

int
main()
{
    long total = 0;
    for (int round = 0; round < 2; round++) {
        sampler voltage;
        for (int i = 1; i <= 3; i++)
            voltage.add(i);
        total += voltage.sum_of(3);
    }
    std::printf("%ld\n", total);
    return total == 120 ? 0 : 1;
}
