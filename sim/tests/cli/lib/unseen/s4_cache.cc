// Cause: s4_cache.cc:81 a load that fails removes its entry from the cache and returns without telling those who wait for this entry, so that they wait forever.
// SPDX-License-Identifier: Apache-2.0
// clang-format off
#include <atomic>
#include <cassert>
#include <condition_variable>
#include <cstdio>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <shared_mutex>
#include <string>
#include <thread>
#include <unistd.h>
#include <vector>

// A cache that is mostly read. Of those who miss the same key one loads it, the others wait.

class backend {
public:
    // Serves one query at a time, and refuses others.
    std::optional<int> query(const std::string &key)
    {
        if (busy_.exchange(true)) {
            usleep(100);
            return std::nullopt;
        }
        usleep(300);
        int value = static_cast<int>(key.size());
        busy_ = false;
        return value;
    }

private:
    std::atomic<bool> busy_{false};
};

class cache {
public:
    explicit cache(backend &source) : source_(source) {}

    std::optional<int> get(const std::string &key)
    {
        std::shared_ptr<entry> found;
        {
            std::shared_lock<std::shared_mutex> lock(mutex_);
            auto at = entries_.find(key);
            if (at != entries_.end())
                found = at->second;
        }
        if (!found) {
            std::unique_lock<std::shared_mutex> lock(mutex_);
            auto [at, inserted] = entries_.try_emplace(key, std::make_shared<entry>());
            found = at->second;
            lock.unlock();
            if (inserted)
                return load(key, *found);
        }
        std::unique_lock<std::mutex> lock(found->mutex);
        found->loaded.wait(lock, [&] { return found->state != entry::loading; });
        return found->value;
    }

private:
    struct entry {
        enum { loading, ready, failed } state = loading;
        std::mutex mutex;
        std::condition_variable loaded;
        std::optional<int> value;
    };

    std::optional<int> load(const std::string &key, entry &mine)
    {
        auto value = source_.query(key);
        std::shared_ptr<entry> removed;
        if (!value) {
            std::unique_lock<std::shared_mutex> lock(mutex_);
            removed = std::move(entries_.extract(key).mapped());
#ifndef FIXED
            return std::nullopt;
#endif
        }
        std::lock_guard<std::mutex> guard(mine.mutex);
        mine.value = value;
        mine.state = value ? entry::ready : entry::failed;
        mine.loaded.notify_all();
        return value;
    }

    backend &source_;
    std::shared_mutex mutex_;
    std::map<std::string, std::shared_ptr<entry>> entries_;
};

int main()
{
    backend source;
    cache names(source);
    std::atomic<int> served{0}, refused{0};
    auto reader = [&](useconds_t start, std::vector<std::string> keys) {
        usleep(start);
        for (auto &key : keys) {
            auto value = names.get(key);
            assert(!value || *value == static_cast<int>(key.size()));
            (value ? served : refused)++;
            usleep(200);
        }
    };
    std::thread first(reader, 0, std::vector<std::string>{"alice", "bob"});
    std::thread second(reader, 9900, std::vector<std::string>{"bob", "alice"});
    std::thread third(reader, 10000, std::vector<std::string>{"bob", "alice", "bob"});
    first.join();
    second.join();
    third.join();
    assert(served + refused == 7);
    std::printf("%d\n", served + refused);
    return 0;
}
