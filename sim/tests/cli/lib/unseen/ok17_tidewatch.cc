/*
 * A tide watch: gauges put readings into a list and ring an eventfd, but only if the watch has
 * said that it is idle. The watch says so, looks once more, and waits; the eventfd is read after
 * the list was looked at.
 */
#include <atomic>
#include <cassert>
#include <cstdint>
#include <cstdio>
#include <mutex>
#include <poll.h>
#include <sys/eventfd.h>
#include <thread>
#include <unistd.h>
#include <utility>
#include <vector>

class tide
{
  public:
    tide() : bell(eventfd(0, EFD_NONBLOCK))
    {
    }
    ~tide()
    {
        close(bell);
    }

    void put(int level)
    {
        {
            std::lock_guard lock(mutex);
            readings.push_back(level);
        }
        if (idle.exchange(false)) {
            std::uint64_t one = 1;
            (void)!write(bell, &one, sizeof(one));
        }
    }

    /* Waits until there are readings, and takes all. */
    std::vector<int> take()
    {
        for (;;) {
            auto taken = take_now();
            if (!taken.empty())
                return taken;
            idle.store(true);
            taken = take_now();
            if (!taken.empty()) {
                idle.store(false); /* A ring that comes all the same is only one wake too many. */
                return taken;
            }
            pollfd waits{bell, POLLIN, 0};
            poll(&waits, 1, -1);
            std::uint64_t rings;
            (void)!read(bell, &rings, sizeof(rings));
        }
    }

  private:
    std::vector<int> take_now()
    {
        std::lock_guard lock(mutex);
        return std::exchange(readings, {});
    }

    int bell;
    std::atomic<bool> idle{false};
    std::mutex mutex;
    std::vector<int> readings;
};

static void gauge(tide &to, int first)
{
    for (int i = 0; i < 3; i++)
        to.put(first + i);
}

int main()
{
    tide tide;
    std::jthread north(gauge, std::ref(tide), 100);
    std::jthread south(gauge, std::ref(tide), 200);
    int seen = 0, sum = 0;
    while (seen < 6) {
        for (int level : tide.take()) {
            seen++;
            sum += level;
        }
    }
    assert(sum == 906);
    std::printf("%d readings\n", seen);
    return 0;
}

/* SPDX-License-Identifier: Apache-2.0 */
