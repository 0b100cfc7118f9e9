/* Cause: clear(), line 30: the number of the locker is looked at and taken out of the visit without the lock in between, so the visitor and the guard may both give it back, and the second one opens the locker of the next visitor; repair: take it out under the lock. */
#include <atomic>
#include <cassert>
#include <condition_variable>
#include <cstdio>
#include <mutex>
#include <thread>

namespace {

constexpr int NONE = -1;

struct Visit {
    int who;
    std::atomic<int> locker{NONE};
};

class Wall {
  public:
    void take(Visit &visit)
    {
        std::unique_lock<std::mutex> guard(mutex_);
        given_back_.wait(guard, [this] { return owner_ == 0; });
        owner_ = visit.who;
        visit.locker = 0;
    }

    void clear(Visit &visit)
    {
        if (visit.locker == NONE) {
            return;
        }
        std::lock_guard<std::mutex> guard(mutex_);
#ifdef FIXED
        if (visit.locker == NONE) {
            return;
        }
#endif
        visit.locker = NONE;
        owner_ = 0;
        given_back_.notify_one();
    }

    int owner()
    {
        std::lock_guard<std::mutex> guard(mutex_);
        return owner_;
    }

  private:
    std::mutex mutex_;
    std::condition_variable given_back_;
    int owner_ = 0;
};

} // namespace

int
main()
{
    Wall wall;
    Visit first{1}, second{2};
    std::thread one([&] {
        wall.take(first);
        wall.clear(first);
        wall.take(second);
    });
    std::thread guard([&] { wall.clear(first); });
    one.join();
    guard.join();
    assert(wall.owner() == 2);
    std::puts("one locker, one owner");
    return 0;
}
