// Cause: s6_cache.cc:36 a load that fails takes its entry out of the cache and notifies nobody: who waits for that entry sleeps on, although it could load it itself.
// SPDX-License-Identifier: Apache-2.0
// clang-format off
#include <condition_variable>
#include <cstdio>
#include <map>
#include <mutex>
#include <stdexcept>
#include <string>
#include <thread>
#include <unistd.h>
#include <vector>

class cache
{
  public:
    std::string get(int key)
    {
        std::unique_lock lock(mutex);
        for (;;) {
            auto found = entries.find(key);
            if (found == entries.end())
                break;
            if (found->second.ready)
                return found->second.text;
            changed.wait(lock);
        }
        entries[key];
        int attempt = ++attempts[key];
        lock.unlock();
        std::string text;
        try {
            text = load(key, attempt);
        } catch (...) {
            lock.lock();
            entries.erase(key);
#ifdef FIXED
            changed.notify_all();
#endif
            throw;
        }
        lock.lock();
        entries[key] = {true, text};
        changed.notify_all();
        return text;
    }

  private:
    struct entry {
        bool ready = false;
        std::string text;
    };

    /* The server refuses the first request for each odd key. */
    static std::string load(int key, int attempt)
    {
        usleep(200);
        if (key % 2 == 1 && attempt == 1)
            throw std::runtime_error("refused");
        return "page " + std::to_string(key);
    }

    std::mutex mutex;
    std::condition_variable changed;
    std::map<int, entry> entries;
    std::map<int, int> attempts;
};

int main()
{
    constexpr int keys = 4;
    cache pages;
    std::mutex counting;
    int read = 0;
    int refused = 0;
    std::vector<std::thread> threads;
    for (int i = 0; i < 3; i++) {
        threads.emplace_back([&, i] {
            for (int j = 0; j < keys; j++) {
                bool ok = true;
                try {
                    pages.get(i == 0 ? j : (j + i - 1) % keys);
                } catch (const std::runtime_error &) {
                    ok = false;
                }
                std::lock_guard lock(counting);
                ++(ok ? read : refused);
            }
        });
    }
    for (std::thread &thread : threads)
        thread.join();
    std::printf("%d read or refused\n", read + refused);
    return read + refused == 3 * keys ? 0 : 1;
}
