// Cause: ~indexer() calls request_stop() and notify_all() without holding `lock`. If both happen after run() has
// evaluated the predicate (stop not requested) and before it waits, the notification is lost and join() never returns.
// request_stop() must be called with the mutex held (or condition_variable_any be given the stop token).
// SPDX-License-Identifier: Apache-2.0
// clang-format off
/* An indexer with a background thread (std::jthread): documents are queued, and the destructor ends
 * the thread after what is queued. */
#include <condition_variable>
#include <cstdio>
#include <deque>
#include <mutex>
#include <string>
#include <thread>

class indexer
{
  public:
    indexer() : worker([this](std::stop_token stop) { run(stop); })
    {
    }

    ~indexer()
    {
#ifdef FIXED
        {
            std::lock_guard hold(lock);
            worker.request_stop();
        }
#else
        worker.request_stop();
#endif
        work.notify_all();
        worker.join();
        std::printf("%zu letters\n", letters);
    }

    void add(std::string text)
    {
        {
            std::lock_guard hold(lock);
            texts.push_back(std::move(text));
        }
        work.notify_one();
    }

  private:
    void run(std::stop_token stop)
    {
        std::unique_lock hold(lock);
        for (;;) {
            work.wait(hold, [&] { return !texts.empty() || stop.stop_requested(); });
            if (texts.empty()) {
                return;
            }
            std::string text = std::move(texts.front());
            texts.pop_front();
            hold.unlock();
            letters += text.size();
            hold.lock();
        }
    }

    std::mutex lock;
    std::condition_variable work;
    std::deque<std::string> texts;
    std::size_t letters = 0;
    std::jthread worker;
};

int
main()
{
    indexer one;
    one.add("the quick brown fox");
    one.add("jumps over the lazy dog");
    return 0;
}
