/* Cause: close(), line 44: the end of the day wakes the editors only; a reporter who waits for space in the tray is forgotten, and never joined; repair: notify space_ as well, which submit() then sees. */
#include <cassert>
#include <condition_variable>
#include <cstdio>
#include <deque>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

namespace {

class Tray {
  public:
    bool submit(std::string story)
    {
        std::unique_lock<std::mutex> guard(mutex_);
        space_.wait(guard, [this] { return closed_ || stories_.size() < 2; });
        if (closed_) {
            return false;
        }
        stories_.push_back(std::move(story));
        work_.notify_one();
        return true;
    }

    bool take(std::string &story)
    {
        std::unique_lock<std::mutex> guard(mutex_);
        work_.wait(guard, [this] { return closed_ || !stories_.empty(); });
        if (closed_) {
            return false;
        }
        story = std::move(stories_.front());
        stories_.pop_front();
        space_.notify_one();
        return true;
    }

    void close()
    {
        std::lock_guard<std::mutex> guard(mutex_);
        closed_ = true;
        work_.notify_all();
#ifdef FIXED
        space_.notify_all();
#endif
    }

  private:
    std::mutex mutex_;
    std::condition_variable work_, space_;
    std::deque<std::string> stories_;
    bool closed_ = false;
};

} // namespace

int
main()
{
    Tray tray;
    int printed = 0, refused = 0;
    std::thread editor([&] {
        std::string story;
        while (printed < 3 && tray.take(story)) {
            printed++;
        }
        tray.close();
    });
    std::vector<std::thread> reporters;
    std::mutex count;
    for (int i = 0; i < 3; i++) {
        reporters.emplace_back([&, i] {
            for (int n = 0; n < 2; n++) {
                if (!tray.submit("story " + std::to_string(i * 2 + n))) {
                    std::lock_guard<std::mutex> guard(count);
                    refused++;
                }
            }
        });
    }
    editor.join();
    for (std::thread &reporter : reporters) {
        reporter.join();
    }
    assert(printed <= 3 && refused <= 3);
    std::puts("the paper is out");
    return 0;
}
