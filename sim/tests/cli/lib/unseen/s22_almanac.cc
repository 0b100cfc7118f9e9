/* Cause: A retry that duplicates. buy() sends the order again when no confirmation has come within 15 ms (83-85); press::print() carries out each order that it takes (66) though the same id was done before. Order: an order takes long (3 ms each for two orders, and delays of the printer or late sleeps), confirmed() times out (32), the order is queued a second time, the first one is done later (or is being printed at this moment), then the second. Harm: assertion line 96 (stock == 50; 20 or 30 copies too many have gone). Fix: lines 63-64, an id that was answered is not done again. */
#include <cassert>
#include <chrono>
#include <condition_variable>
#include <deque>
#include <map>
#include <mutex>
#include <set>
#include <thread>

using namespace std::chrono_literals;

struct order {
    int id;
    int copies;
};

class press {
public:
    explicit press(int stock) : stock_(stock), printer_([this] { print(); }) {}

    void send(const order &order)
    {
        std::lock_guard guard(mutex_);
        orders_.push_back(order);
        arrived_.notify_one();
    }
    // Whether the order was confirmed within `patience`.
    bool confirmed(int id, std::chrono::milliseconds patience)
    {
        std::unique_lock lock(mutex_);
        return answered_.wait_for(lock, patience, [&] { return answers_.contains(id); });
    }
    int stock()
    {
        std::lock_guard guard(mutex_);
        return stock_;
    }
    void close()
    {
        {
            std::lock_guard guard(mutex_);
            closed_ = true;
            arrived_.notify_one();
        }
        printer_.join();
    }

private:
    void print()
    {
        std::unique_lock lock(mutex_);
        for (;;) {
            arrived_.wait(lock, [&] { return closed_ || !orders_.empty(); });
            if (orders_.empty())
                return;
            order next = orders_.front();
            orders_.pop_front();
            lock.unlock();
            std::this_thread::sleep_for(3ms); // Set, ink, bind.
            lock.lock();
#ifdef FIXED
            if (answers_.contains(next.id))
                continue; // Asked again, and done already.
#endif
            stock_ -= next.copies;
            answers_[next.id] = stock_;
            answered_.notify_all();
        }
    }

    std::mutex mutex_;
    std::condition_variable arrived_, answered_;
    std::deque<order> orders_;
    std::map<int, int> answers_;
    int stock_;
    bool closed_ = false;
    std::thread printer_;
};

static void buy(press &from, order what)
{
    do
        from.send(what);
    while (!from.confirmed(what.id, 15ms));
}

int main()
{
    press of(100);
    {
        std::jthread north([&] { buy(of, {1, 30}); });
        std::jthread south([&] { buy(of, {2, 20}); });
    }
    of.close();
    assert(of.stock() == 50);
    return 0;
}
