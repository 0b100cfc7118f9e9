// Cause: s5_logger.cc:27 the destructor notifies before it requests the stop: a worker that wakes in between finds the queue empty and no stop, waits again, and nothing notifies it any more, so the join never returns.
// SPDX-License-Identifier: Apache-2.0
// clang-format off
#include <chrono>
#include <condition_variable>
#include <cstdio>
#include <deque>
#include <mutex>
#include <string>
#include <thread>

using namespace std::chrono_literals;

class async_logger {
  public:
    async_logger() : worker_([this](std::stop_token stop) { run(stop); }) {}

    ~async_logger()
    {
#ifdef FIXED
        {
            std::lock_guard lock(mutex_);
            worker_.request_stop();
        }
        more_.notify_all();
#else
        more_.notify_all();
        {
            std::lock_guard lock(mutex_);
            worker_.request_stop();
        }
#endif
    } // ~jthread joins

    void log(std::string line)
    {
        {
            std::lock_guard lock(mutex_);
            lines_.push_back(std::move(line));
        }
        more_.notify_one();
    }

  private:
    void run(std::stop_token stop)
    {
        std::unique_lock lock(mutex_);
        for (;;) {
            more_.wait(lock, [&] { return !lines_.empty() || stop.stop_requested(); });
            if (lines_.empty())
                return;
            std::deque<std::string> batch;
            batch.swap(lines_);
            lock.unlock();
            for (auto &line : batch)
                std::printf("%s\n", line.c_str());
            std::this_thread::sleep_for(200us); // to the disk
            lock.lock();
        }
    }

    std::mutex mutex_;
    std::condition_variable more_;
    std::deque<std::string> lines_;
    std::jthread worker_;
};

static void serve(async_logger &log, int id)
{
    for (int request = 0; request < 3; request++) {
        std::this_thread::sleep_for(300us); // the request
        log.log("thread " + std::to_string(id) + " request " + std::to_string(request));
    }
}

int main()
{
    async_logger log;
    std::thread other(serve, std::ref(log), 1);
    serve(log, 2);
    other.join();
    log.log("bye");
    return 0;
}
