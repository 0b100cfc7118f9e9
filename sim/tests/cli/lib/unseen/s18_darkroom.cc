/* Cause: develop(), line 21: `ready` is set and notified without the mutex, so both can fall between the predicate and the wait of printer_main(), which then sleeps for good; repair: store under the mutex. */
#include <atomic>
#include <cassert>
#include <condition_variable>
#include <cstdio>
#include <mutex>
#include <thread>
#include <vector>

namespace {

class Tray {
  public:
    void develop(int plate)
    {
        {
            std::lock_guard<std::mutex> guard(mutex_);
            plates_.push_back(plate);
        }
#ifndef FIXED
        ready_.store(true);
#else
        {
            std::lock_guard<std::mutex> guard(mutex_);
            ready_.store(true);
        }
#endif
        changed_.notify_one();
    }

    std::vector<int> take()
    {
        std::unique_lock<std::mutex> guard(mutex_);
        while (!ready_.load()) {
            changed_.wait(guard);
        }
        return std::move(plates_);
    }

  private:
    std::mutex mutex_;
    std::condition_variable changed_;
    std::atomic<bool> ready_{false};
    std::vector<int> plates_;
};

void
printer_main(Tray &tray, int &printed)
{
    printed = static_cast<int>(tray.take().size());
}

} // namespace

int
main()
{
    Tray tray;
    int printed = 0;
    std::thread printer(printer_main, std::ref(tray), std::ref(printed));
    std::thread developer([&tray] { tray.develop(7); });
    developer.join();
    printer.join();
    assert(printed == 1);
    std::printf("printed %d\n", printed);
    return 0;
}
