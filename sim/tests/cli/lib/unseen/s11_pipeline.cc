/*
 * s11_pipeline.cc -- a decoder and a player with a short queue between them, each a std::jthread;
 * the user may stop in the middle of a song, and a song may end by itself.
 *
 * Cause: push() (line 37) waits for space without regard to the stop, and whoever makes space has stopped
 */
#include <chrono>
#include <condition_variable>
#include <cstdio>
#include <deque>
#include <mutex>
#include <optional>
#include <stop_token>
#include <thread>

struct block {
    unsigned number = 0;
    int level = 0;
};

class block_queue
{
  public:
    explicit block_queue(std::size_t limit) : limit_(limit)
    {
    }

    /* False: stopped before there was space. */
    bool push(std::stop_token stop, const block &block)
    {
        std::unique_lock lock(mutex_);
#ifdef FIXED
        if (!space_.wait(lock, stop, [this] { return blocks_.size() < limit_; })) {
            return false;
        }
#else
        space_.wait(lock, [this] { return blocks_.size() < limit_; });
        if (stop.stop_requested()) {
            return false;
        }
#endif
        blocks_.push_back(block);
        filled_.notify_one();
        return true;
    }

    /* Empty: stopped, or at the end. */
    std::optional<block> pop(std::stop_token stop)
    {
        std::unique_lock lock(mutex_);
        filled_.wait(lock, stop, [this] { return !blocks_.empty() || ended_; });
        if (stop.stop_requested() || blocks_.empty()) {
            return std::nullopt;
        }
        block block = blocks_.front();
        blocks_.pop_front();
        space_.notify_one();
        return block;
    }

    void end()
    {
        std::scoped_lock lock(mutex_);
        ended_ = true;
        filled_.notify_all();
    }

  private:
    std::mutex mutex_;
    std::condition_variable_any space_, filled_;
    std::deque<block> blocks_;
    std::size_t limit_;
    bool ended_ = false;
};

class song
{
  public:
    explicit song(unsigned blocks)
        : blocks_(blocks), player_([this](std::stop_token stop) { play(stop); }),
          decoder_([this](std::stop_token stop) { decode(stop); })
    {
    }

    void stop()
    {
        decoder_.request_stop();
        player_.request_stop();
    }

    unsigned join()
    {
        player_.join();
        decoder_.join();
        return played_;
    }

  private:
    void decode(std::stop_token stop)
    {
        for (unsigned i = 0; i < blocks_; i++) {
            if (!queue_.push(stop, block{i, static_cast<int>(i * 7 % 5)})) {
                return;
            }
        }
        queue_.end();
    }

    void play(std::stop_token stop)
    {
        while (auto block = queue_.pop(stop)) {
            std::this_thread::sleep_for(std::chrono::microseconds(500 + 100 * block->level));
            played_++;
        }
    }

    unsigned blocks_;
    unsigned played_ = 0;
    block_queue queue_{2};
    std::jthread player_, decoder_;
};

int
main()
{
    unsigned total = 0;
    for (unsigned blocks : {4u, 6u}) {
        song song(blocks);
        std::this_thread::sleep_for(std::chrono::microseconds(2800));
        song.stop();
        total += song.join();
    }
    std::printf("%s\n", total > 0 ? "played" : "nothing");
    return 0;
}
// SPDX-License-Identifier: Apache-2.0
