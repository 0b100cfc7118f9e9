// Cause: s6_phase.cc:36 a worker waits for the phase to differ from the one it has seen, and the phase has two values only: after two changes that it has slept through it is the same again, and the worker waits for one that has been.
// SPDX-License-Identifier: Apache-2.0
// clang-format off
#include <atomic>
#include <cstdio>
#include <mutex>
#include <string>
#include <thread>
#include <unistd.h>
#include <vector>

constexpr int versions = 4;

/* The settings of a program, of which there is always one version. */
class settings
{
  public:
    void publish(const std::string &text)
    {
        {
            std::lock_guard lock(mutex);
            version++;
            value = text;
        }
#ifdef FIXED
        phase.fetch_add(1);
#else
        phase.fetch_xor(1);
#endif
        phase.notify_all();
    }

    /* The next one: returns its version. */
    int next(int &seen, std::string &text)
    {
        phase.wait(seen);
        seen = phase.load();
        std::lock_guard lock(mutex);
        text = value;
        return version;
    }

  private:
    std::mutex mutex;
    int version = 0;
    std::string value;
    std::atomic<int> phase = 0;
};

static void apply(const std::string &text)
{
    usleep(50 + 100 * static_cast<unsigned>(text.size() % 2));
}

int main()
{
    settings current;
    std::atomic<int> applied = 0;
    std::vector<std::thread> workers;
    for (int i = 0; i < 2; i++) {
        workers.emplace_back([&] {
            int seen = 0;
            int version = 0;
            std::string text;
            while (version < versions) {
                version = current.next(seen, text);
                apply(text);
                applied++;
            }
        });
    }
    for (int i = 1; i <= versions; i++) {
        usleep(100);
        current.publish("colour " + std::string(static_cast<std::size_t>(i), '#'));
    }
    for (std::thread &worker : workers)
        worker.join();
    std::printf("the last one is applied\n");
    return applied.load() >= 2 ? 0 : 1;
}
