/* Cause: A lock held over callbacks, ABBA. gauge::rise() calls the listeners with the gauge's mutex held (42-45); gate::on_level() locks the gate's mutex (84). gate::pass() holds the gate's mutex (67) and calls water_.level() (70), which locks the gauge's (25). Order: spring is in rise with the gauge's mutex, before 84; barge is in pass with the gate's mutex, before 25. Harm: deadlock: spring waits for the gate's mutex, barge for the gauge's; main waits for the join. Fix: lines 30-40: the listeners are copied, and called without the lock. */
#include <cassert>
#include <functional>
#include <map>
#include <mutex>
#include <thread>
#include <vector>

class gauge {
public:
    using listener = std::function<void(int)>;
    int listen(listener call)
    {
        std::lock_guard guard(mutex_);
        listeners_[++last_] = std::move(call);
        return last_;
    }
    void forget(int id)
    {
        std::lock_guard guard(mutex_);
        listeners_.erase(id);
    }
    int level()
    {
        std::lock_guard guard(mutex_);
        return level_;
    }
    void rise(int by)
    {
#ifdef FIXED
        std::vector<listener> calls;
        int level;
        {
            std::lock_guard guard(mutex_);
            level = level_ += by;
            for (auto &[id, call] : listeners_)
                calls.push_back(call);
        }
        for (auto &call : calls)
            call(level);
#else
        std::lock_guard guard(mutex_);
        level_ += by;
        for (auto &[id, call] : listeners_)
            call(level_);
#endif
    }

private:
    std::mutex mutex_;
    std::map<int, listener> listeners_;
    int last_ = 0;
    int level_ = 0;
};

class gate {
public:
    explicit gate(gauge &water) : water_(water)
    {
        id_ = water_.listen([this](int level) { on_level(level); });
    }
    ~gate() { water_.forget(id_); }

    // A boat wants to pass.
    bool pass()
    {
        std::lock_guard guard(mutex_);
        if (closed_for_flood_)
            return false;
        if (water_.level() < 1)
            return false;
        passed_++;
        return true;
    }
    int passed()
    {
        std::lock_guard guard(mutex_);
        return passed_;
    }

private:
    void on_level(int level)
    {
        std::lock_guard guard(mutex_);
        closed_for_flood_ = level > 6;
    }

    gauge &water_;
    std::mutex mutex_;
    int id_;
    bool closed_for_flood_ = false;
    int passed_ = 0;
};

int main()
{
    gauge water;
    gate lower(water);
    int boats = 0;
    {
        std::jthread spring([&] {
            for (int i = 0; i < 4; i++)
                water.rise(2);
        });
        std::jthread barge([&] {
            for (int i = 0; i < 3; i++)
                boats += lower.pass();
        });
    }
    assert(boats == lower.passed());
    assert(water.level() == 8);
    return 0;
}
