// Cause: a2_stop.cc:33 the stop callback notifies without the mutex, so between the look at stop_requested and the wait it wakes nobody
// SPDX-License-Identifier: Apache-2.0
// clang-format off
#include <atomic>
#include <cassert>
#include <condition_variable>
#include <deque>
#include <mutex>
#include <optional>
#include <stop_token>
#include <string>
#include <thread>
#include <vector>

class mailbox {
  public:
    void send(std::string text)
    {
        {
            std::lock_guard guard(mutex_);
            letters_.push_back(std::move(text));
        }
        arrived_.notify_one();
    }

    // The next letter; none after a stop, when all have been taken.
    std::optional<std::string> receive(std::stop_token stop)
    {
        std::stop_callback wake(stop, [this] {
#ifdef FIXED
            std::lock_guard guard(mutex_);
#endif
            arrived_.notify_all();
        });
        std::unique_lock guard(mutex_);
        arrived_.wait(guard, [&] { return !letters_.empty() || stop.stop_requested(); });
        if (letters_.empty())
            return std::nullopt;
        auto letter = std::move(letters_.front());
        letters_.pop_front();
        return letter;
    }

  private:
    std::mutex mutex_;
    std::condition_variable arrived_;
    std::deque<std::string> letters_;
};

int main()
{
    mailbox box;
    std::atomic<int> read{0};
    {
        std::vector<std::jthread> readers;
        for (int i = 0; i < 2; i++)
            readers.emplace_back([&](std::stop_token stop) {
                while (auto letter = box.receive(stop))
                    read += static_cast<int>(letter->size());
            });
        for (auto text : {"one", "two", "three"})
            box.send(text);
    } // stops the readers, and joins them
    assert(read == 11);
    return 0;
}
