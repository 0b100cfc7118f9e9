/* Cause: atlas::get(), lines 91-93, and cache::insert(), line 68: a reader misses the cache and loads the tile from the store (92); before it inserts, a surveyor saves a newer tile (99) and invalidates the cache (100), which has nothing to erase yet; then the reader inserts the old tile (93, 68), and it stays. Harm: assert(shown.revision == stored.revision), line 108 (109 behind it). Fix: insert refuses what was loaded before an invalidation (the age differs). */
#include <cassert>
#include <cstdio>
#include <map>
#include <mutex>
#include <optional>
#include <shared_mutex>
#include <string>
#include <thread>
#include <vector>

using key = int;

struct tile {
    unsigned revision = 0;
    std::string ink;
};

class store {
public:
    tile load(key which)
    {
        std::shared_lock lock(mutex_);
        return tiles_[which];
    }

    void save(key which, std::string ink)
    {
        std::unique_lock lock(mutex_);
        tile &into = tiles_[which];
        into.revision++;
        into.ink = std::move(ink);
    }

private:
    std::shared_mutex mutex_;
    std::map<key, tile> tiles_{{0, {1, "sea"}}, {1, {1, "coast"}}, {2, {1, "hills"}}};
};

class cache {
public:
    std::optional<tile> find(key which)
    {
        std::lock_guard lock(mutex_);
        auto at = tiles_.find(which);
        if (at == tiles_.end()) {
            return std::nullopt;
        }
        return at->second;
    }

    unsigned long age(key which)
    {
        std::lock_guard lock(mutex_);
        return ages_[which];
    }

    void insert(key which, const tile &what, unsigned long age)
    {
        std::lock_guard lock(mutex_);
#ifdef FIXED
        if (ages_[which] != age) {
            return;
        }
#else
        (void)age;
#endif
        tiles_[which] = what;
    }

    void invalidate(key which)
    {
        std::lock_guard lock(mutex_);
        ages_[which]++;
        tiles_.erase(which);
    }

private:
    std::mutex mutex_;
    std::map<key, tile> tiles_;
    std::map<key, unsigned long> ages_; // How often each was invalidated.
};

class atlas {
public:
    tile get(key which)
    {
        if (auto found = cache_.find(which)) {
            return *found;
        }
        unsigned long age = cache_.age(which);
        tile loaded = store_.load(which);
        cache_.insert(which, loaded, age);
        return loaded;
    }

    void survey(key which, std::string ink)
    {
        store_.save(which, std::move(ink));
        cache_.invalidate(which);
    }

    // Nothing is under way: what readers get is what the surveyors have drawn.
    void verify(key which)
    {
        tile shown = get(which);
        tile stored = store_.load(which);
        assert(shown.revision == stored.revision);
        assert(shown.ink == stored.ink);
    }

private:
    store store_;
    cache cache_;
};

int main()
{
    atlas world;
    std::vector<std::jthread> threads;
    threads.emplace_back([&] {
        for (key which : {0, 1, 2, 1}) {
            (void)world.get(which);
        }
    });
    threads.emplace_back([&] {
        for (key which : {2, 1, 0}) {
            (void)world.get(which);
        }
    });
    threads.emplace_back([&] {
        world.survey(1, "dunes");
        world.survey(2, "quarry");
    });
    threads.clear();
    for (key which : {0, 1, 2}) {
        world.verify(which);
    }
    std::puts("the atlas is up to date");
    return 0;
}
