/* A carousel: riders queue at the turnstile; the operator lets them in round by round. */
#include <cassert>
#include <condition_variable>
#include <cstdio>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <thread>
#include <unistd.h>
#include <vector>

struct Rider {
    int number;
    int rides = 0;
};

class Turnstile {
public:
    /* False: the carousel has closed. */
    bool push(std::shared_ptr<Rider> rider)
    {
        bool was_empty;
        {
            std::lock_guard guard(mutex_);
            if (closed_) {
                return false;
            }
            was_empty = queue_.empty();
            queue_.push_back(std::move(rider));
        }
        if (was_empty) {
            filled_.notify_one();
        }
        return true;
    }

    /* All that queue now, at most `seats`; none: closed. */
    std::vector<std::shared_ptr<Rider>> admit(size_t seats)
    {
        std::unique_lock lock(mutex_);
        while (queue_.empty() && !closed_) {
            filled_.wait(lock);
        }
        std::vector<std::shared_ptr<Rider>> admitted;
        while (!queue_.empty() && admitted.size() < seats) {
            admitted.push_back(std::move(queue_.front()));
            queue_.pop_front();
        }
        return admitted;
    }

    void close()
    {
        {
            std::lock_guard guard(mutex_);
            closed_ = true;
        }
        filled_.notify_one();
    }

private:
    std::mutex mutex_;
    std::condition_variable filled_;
    std::deque<std::shared_ptr<Rider>> queue_;
    bool closed_ = false;
};

/* Calls back what is subscribed to the end of rounds; a display may go at any time. */
class Bell {
public:
    using Listener = std::function<void(int)>;

    void add(std::weak_ptr<Listener> listener)
    {
        std::lock_guard guard(mutex_);
        listeners_.push_back(std::move(listener));
    }

    void ring(int round)
    {
        std::unique_lock lock(mutex_);
        auto current = listeners_;
        lock.unlock();
        for (auto &weak : current) {
            if (auto listener = weak.lock()) {
                (*listener)(round);
            }
        }
    }

private:
    std::mutex mutex_;
    std::vector<std::weak_ptr<Listener>> listeners_;
};

struct Display {
    std::mutex mutex;
    int last = 0;
};

int main()
{
    Turnstile turnstile;
    Bell bell;
    int rides = 0;
    std::thread operating([&] {
        int round = 0;
        for (;;) {
            auto riders = turnstile.admit(2);
            if (riders.empty()) {
                return;
            }
            usleep(500);
            for (auto &rider : riders) {
                rider->rides++;
                rides++;
            }
            bell.ring(++round);
        }
    });
    std::vector<std::thread> families;
    for (int family = 0; family < 2; family++) {
        families.emplace_back([&turnstile, family] {
            for (int i = 0; i < 3; i++) {
                bool admitted = turnstile.push(std::make_shared<Rider>(Rider{10 * family + i}));
                assert(admitted);
                usleep(300);
            }
        });
    }
    {
        auto display = std::make_shared<Display>();
        auto listener = std::make_shared<Bell::Listener>([display](int round) {
            std::lock_guard guard(display->mutex);
            assert(round > display->last);
            display->last = round;
        });
        bell.add(listener);
        usleep(700);
    }
    for (std::thread &family : families) {
        family.join();
    }
    turnstile.close();
    operating.join();
    assert(rides == 6);
    std::printf("%d rides\n", rides);
    return 0;
}
