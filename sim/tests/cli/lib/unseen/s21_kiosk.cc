/* Cause: counter::announce(), line 50: bakers (23) and customers (31) wait on one condition variable for different conditions, and notify_one may wake one of the same kind as the caller, who waits again; the wake is used up, and the one that could go on sleeps for ever. Harm: hang (lost-wakeup / deadlock); no assert. Fix: notify_all. */
#include <cassert>
#include <condition_variable>
#include <cstdio>
#include <deque>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

struct roll {
    int baker;
    int number;
};

class counter {
public:
    explicit counter(std::size_t places) : places_(places) {}

    void put(roll fresh)
    {
        std::unique_lock lock(mutex_);
        changed_.wait(lock, [&] { return rolls_.size() < places_; });
        rolls_.push_back(fresh);
        announce();
    }

    roll take()
    {
        std::unique_lock lock(mutex_);
        changed_.wait(lock, [&] { return !rolls_.empty(); });
        roll oldest = rolls_.front();
        rolls_.pop_front();
        announce();
        return oldest;
    }

    std::size_t left()
    {
        std::lock_guard lock(mutex_);
        return rolls_.size();
    }

private:
    void announce()
    {
#ifdef FIXED
        changed_.notify_all();
#else
        changed_.notify_one();
#endif
    }

    std::mutex mutex_;
    std::condition_variable changed_;
    std::deque<roll> rolls_;
    std::size_t places_;
};

class baker {
public:
    baker(counter &to, int number, int rolls) : to_(to), number_(number), rolls_(rolls) {}

    void operator()()
    {
        for (int i = 0; i < rolls_; i++) {
            to_.put({number_, i});
        }
    }

private:
    counter &to_;
    int number_;
    int rolls_;
};

class customer {
public:
    customer(counter &from, int hunger, std::vector<roll> &eaten)
        : from_(from), hunger_(hunger), eaten_(eaten)
    {
    }

    void operator()()
    {
        while (hunger_-- > 0) {
            eaten_.push_back(from_.take());
        }
    }

private:
    counter &from_;
    int hunger_;
    std::vector<roll> &eaten_;
};

int main()
{
    counter shelf(1);
    std::vector<roll> eaten[2];
    {
        std::vector<std::jthread> people;
        people.emplace_back(customer(shelf, 3, eaten[0]));
        people.emplace_back(customer(shelf, 3, eaten[1]));
        people.emplace_back(baker(shelf, 0, 3));
        people.emplace_back(baker(shelf, 1, 3));
    }
    assert(shelf.left() == 0);
    for (auto &one : eaten) {
        int last[2] = {-1, -1};
        for (const roll &each : one) {
            assert(each.number > last[each.baker]);
            last[each.baker] = each.number;
        }
    }
    std::printf("%zu and %zu rolls eaten\n", eaten[0].size(), eaten[1].size());
    return 0;
}
