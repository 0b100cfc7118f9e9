/* Cause: Orchestra::seat(), line 85-89: each player is counted by its own thread (86), not before it is started. Order: conduct (95) waits for a count of 0 before a thread has come to add, or while those that have are all done; it returns although a player has not tuned. Harm: assert 97. Fix: add before the thread is made (79). */
#include <cassert>
#include <condition_variable>
#include <cstdio>
#include <mutex>
#include <string>
#include <thread>
#include <unistd.h>
#include <vector>

/* Counts what is going on, and waits until nothing is. */
class Group {
public:
    void add()
    {
        std::lock_guard guard(mutex_);
        count_++;
    }

    void done()
    {
        std::lock_guard guard(mutex_);
        if (--count_ == 0) {
            none_.notify_all();
        }
    }

    void wait()
    {
        std::unique_lock lock(mutex_);
        none_.wait(lock, [this] { return count_ == 0; });
    }

private:
    std::mutex mutex_;
    std::condition_variable none_;
    unsigned count_ = 0;
};

class Player {
public:
    Player(std::string instrument, useconds_t tuning) : instrument_(std::move(instrument)), tuning_(tuning) {}

    void tune()
    {
        usleep(tuning_);
        std::lock_guard guard(mutex_);
        in_tune_ = true;
    }

    bool in_tune()
    {
        std::lock_guard guard(mutex_);
        return in_tune_;
    }

    const std::string &instrument() const { return instrument_; }

private:
    std::string instrument_;
    useconds_t tuning_;
    std::mutex mutex_;
    bool in_tune_ = false;
};

class Orchestra {
public:
    ~Orchestra()
    {
        for (std::thread &thread : threads_) {
            thread.join();
        }
    }

    void seat(Player &player)
    {
        players_.push_back(&player);
#ifdef FIXED
        tuning_.add();
        threads_.emplace_back([this, &player] {
            player.tune();
            tuning_.done();
        });
#else
        threads_.emplace_back([this, &player] {
            tuning_.add();
            player.tune();
            tuning_.done();
        });
#endif
    }

    void conduct()
    {
        tuning_.wait();
        for (Player *player : players_) {
            assert(player->in_tune());
            std::printf("%s plays\n", player->instrument().c_str());
        }
    }

private:
    Group tuning_;
    std::vector<Player *> players_;
    std::vector<std::thread> threads_;
};

int main()
{
    Player violin("violin", 1000);
    Player oboe("oboe", 500);
    Player horn("horn", 1500);
    Orchestra orchestra;
    orchestra.seat(violin);
    orchestra.seat(oboe);
    orchestra.seat(horn);
    orchestra.conduct();
    return 0;
}
