/* Lets go of the lock around each callback, while others join and leave. */
#include <cassert>
#include <condition_variable>
#include <cstdio>
#include <functional>
#include <map>
#include <mutex>
#include <thread>

namespace {

class SignalBox {
  public:
    int join(std::function<void(int)> watcher)
    {
        std::lock_guard<std::mutex> guard(mutex_);
        watchers_[++last_] = std::move(watcher);
        return last_;
    }

    /* Returns when the watcher will not be called any more. */
    void leave(int number)
    {
        std::unique_lock<std::mutex> guard(mutex_);
        watchers_.erase(number);
        idle_.wait(guard, [&] { return calling_ != number; });
    }

    void set(int position)
    {
        std::unique_lock<std::mutex> guard(mutex_);
        idle_.wait(guard, [this] { return calling_ == 0; });
        int at = 0;
        for (auto it = watchers_.upper_bound(at); it != watchers_.end();
                it = watchers_.upper_bound(at)) {
            at = it->first;
            std::function<void(int)> watcher = it->second;
            calling_ = at;
            guard.unlock();
            watcher(position);
            guard.lock();
            calling_ = -1;
            idle_.notify_all();
        }
        calling_ = 0;
        idle_.notify_all();
    }

  private:
    std::mutex mutex_;
    std::condition_variable idle_;
    std::map<int, std::function<void(int)>> watchers_;
    int last_ = 0;
    int calling_ = 0; /* 0: nobody sets; -1: between two. */
};

} // namespace

int
main()
{
    SignalBox box;
    std::thread setter([&] {
        for (int position = 1; position <= 2; position++) {
            box.set(position);
        }
    });
    std::thread other([&] { box.set(3); });
    std::thread visitor([&] {
        int seen = 0;
        {
            std::mutex mutex;
            int number = box.join([&](int) {
                std::lock_guard<std::mutex> guard(mutex);
                seen++;
            });
            box.leave(number);
        }
        assert(seen <= 3);
    });
    setter.join();
    other.join();
    visitor.join();
    std::puts("all set");
    return 0;
}
