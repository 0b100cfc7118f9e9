/* Cause: destruction of a condition variable that is still to be notified. receipt::sign() unlocks (end of the block at 24) and then calls changed_.notify_all() (25). The sender owns the receipt (unique_ptr in sender(), 88) and destroys it when wait() returns. Order: the courier sets signed_ and unlocks; the sender takes the lock, sees signed_ (32) (it need not have been waiting), returns and frees the receipt; the courier notifies freed memory (25). Harm: use after free. Fix: notify with the lock held (14-18). */
#include <cassert>
#include <condition_variable>
#include <deque>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

class receipt {
public:
    void sign(int where)
    {
#ifdef FIXED
        std::lock_guard hold(lock_);
        where_ = where;
        signed_ = true;
        changed_.notify_all();
#else
        {
            std::lock_guard hold(lock_);
            where_ = where;
            signed_ = true;
        }
        changed_.notify_all();
#endif
    }

    int wait()
    {
        std::unique_lock hold(lock_);
        changed_.wait(hold, [this] { return signed_; });
        return where_;
    }

private:
    std::mutex lock_;
    std::condition_variable changed_;
    bool signed_ = false;
    int where_ = 0;
};

struct parcel {
    int number;
    receipt *slip;
};

class depot {
public:
    void hand_in(parcel what)
    {
        std::lock_guard hold(lock_);
        waiting_.push_back(what);
        more_.notify_one();
    }

    void close()
    {
        std::lock_guard hold(lock_);
        closed_ = true;
        more_.notify_all();
    }

    void courier()
    {
        for (;;) {
            std::unique_lock hold(lock_);
            more_.wait(hold, [this] { return closed_ || !waiting_.empty(); });
            if (waiting_.empty())
                return;
            parcel next = waiting_.front();
            waiting_.pop_front();
            hold.unlock();
            next.slip->sign(next.number * 10);
        }
    }

private:
    std::mutex lock_;
    std::condition_variable more_;
    std::deque<parcel> waiting_;
    bool closed_ = false;
};

static void sender(depot &to, int first)
{
    for (int i = 0; i < 3; i++) {
        auto slip = std::make_unique<receipt>();
        to.hand_in({first + i, slip.get()});
        int where = slip->wait();
        assert(where == (first + i) * 10);
    }
}

int main()
{
    depot central;
    std::thread one([&] { central.courier(); });
    std::thread two([&] { central.courier(); });
    std::vector<std::thread> senders;
    senders.emplace_back([&] { sender(central, 1); });
    senders.emplace_back([&] { sender(central, 100); });
    for (auto &thread : senders)
        thread.join();
    central.close();
    one.join();
    two.join();
}
