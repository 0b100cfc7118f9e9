/* A cache in front of a slow store: concurrent lookups of a key share one load, writers invalidate.
 * Cause: Cache::get() line 63: the version that tells whether a load is outdated is read after the load
 * and not before it, so a value from before an invalidation is kept; repair: read it before. */
#include <cassert>
#include <condition_variable>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

class Store
{
  public:
    int read(const std::string &key)
    {
        std::lock_guard lock(mutex);
        return rows[key];
    }

    void write(const std::string &key, int value)
    {
        std::lock_guard lock(mutex);
        rows[key] = value;
    }

  private:
    std::mutex mutex;
    std::map<std::string, int> rows;
};

class Cache
{
  public:
    explicit Cache(Store &behind) : store(behind)
    {
    }

    int get(const std::string &key)
    {
        std::unique_lock lock(mutex);
        std::shared_ptr<Entry> &place = entries[key];
        if (!place)
            place = std::make_shared<Entry>();
        std::shared_ptr<Entry> entry = place;
        for (;;) {
            if (entry->filled)
                return entry->value;
            if (!entry->loading)
                break;
            entry->loaded.wait(lock);
        }

        entry->loading = true;
#ifdef FIXED
        unsigned version = entry->version;
#endif
        lock.unlock();
        int value = store.read(key);
        lock.lock();
#ifndef FIXED
        unsigned version = entry->version;
#endif
        loads++;
        entry->loading = false;
        if (version == entry->version) {
            entry->value = value;
            entry->filled = true;
        }
        entry->loaded.notify_all();
        return value;
    }

    void invalidate(const std::string &key)
    {
        std::lock_guard lock(mutex);
        auto found = entries.find(key);
        if (found == entries.end())
            return;
        found->second->version++;
        found->second->filled = false;
    }

    unsigned load_count()
    {
        std::lock_guard lock(mutex);
        return loads;
    }

  private:
    struct Entry {
        std::condition_variable loaded;
        bool loading = false;
        bool filled = false;
        int value = 0;
        unsigned version = 0;
    };

    Store &store;
    std::mutex mutex;
    std::map<std::string, std::shared_ptr<Entry>> entries;
    unsigned loads = 0;
};

/* Read your writes: after `put` has returned, a `get` has its value or a newer one. */
class Service
{
  public:
    void put(const std::string &key, int value)
    {
        store.write(key, value);
        cache.invalidate(key);
    }

    int get(const std::string &key)
    {
        return cache.get(key);
    }

    Store store;
    Cache cache{store};
};

int main()
{
    Service service;
    service.put("limit", 1);

    std::vector<std::thread> readers;
    for (int i = 0; i < 2; i++) {
        readers.emplace_back([&] {
            int seen = 0;
            for (int round = 0; round < 3; round++) {
                int value = service.get("limit");
                assert(value >= 1 && value <= 3);
                seen += value;
            }
            assert(seen >= 3);
        });
    }
    std::thread writer([&] {
        for (int value = 2; value <= 3; value++) {
            service.put("limit", value);
            assert(service.get("limit") == value);
        }
    });
    for (std::thread &reader : readers)
        reader.join();
    writer.join();
    assert(service.get("limit") == 3);
    assert(service.cache.load_count() >= 1);
    return 0;
}
/* SPDX-License-Identifier: Apache-2.0 */
