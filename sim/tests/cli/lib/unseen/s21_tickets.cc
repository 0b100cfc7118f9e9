/* Cause: office::deliver(), lines 89-93: a customer whose patience is over leaves the window (74); the next customer takes the same window (64); the ticket of the first order arrives, and to.taken is true, so it is handed to the wrong customer. Harm: assert(*ticket == show), line 130. Fix: compare the visit of the order with that of the window. */
#include <array>
#include <cassert>
#include <condition_variable>
#include <cstdio>
#include <deque>
#include <mutex>
#include <optional>
#include <semaphore>
#include <string>
#include <thread>
#include <vector>

struct order {
    int window;
    unsigned visit; // Of the window.
    std::string show;
};

class printer {
public:
    void print(order what)
    {
        std::lock_guard lock(mutex_);
        orders_.push_back(std::move(what));
        some_.notify_one();
    }

    void close()
    {
        std::lock_guard lock(mutex_);
        closed_ = true;
        some_.notify_one();
    }

    std::optional<order> next()
    {
        std::unique_lock lock(mutex_);
        some_.wait(lock, [&] { return closed_ || !orders_.empty(); });
        if (orders_.empty()) {
            return std::nullopt;
        }
        order what = std::move(orders_.front());
        orders_.pop_front();
        return what;
    }

private:
    std::mutex mutex_;
    std::condition_variable some_;
    std::deque<order> orders_;
    bool closed_ = false;
};

class office {
public:
    // A customer waits until the ticket is there, or until the own patience is over.
    std::optional<std::string> buy(const std::string &show, std::chrono::milliseconds patience)
    {
        free_.acquire();
        std::unique_lock lock(mutex_);
        int at = windows_[0].taken ? 1 : 0;
        window &here = windows_[at];
        here.taken = true;
        here.visit++;
        here.ticket.reset();
        unsigned visit = here.visit;
        lock.unlock();
        device.print({at, visit, show});
        lock.lock();
        printed_.wait_for(lock, patience, [&] { return here.ticket.has_value(); });
        std::optional<std::string> ticket = std::move(here.ticket);
        here.ticket.reset();
        here.taken = false;
        lock.unlock();
        free_.release();
        return ticket;
    }

    void deliver(const order &what)
    {
        std::lock_guard lock(mutex_);
        window &to = windows_[what.window];
#ifdef FIXED
        if (!to.taken || to.visit != what.visit) {
            return;
        }
#else
        if (!to.taken) {
            return;
        }
#endif
        to.ticket = what.show;
        printed_.notify_all();
    }

    printer device;

private:
    struct window {
        bool taken = false;
        unsigned visit = 0;
        std::optional<std::string> ticket;
    };

    std::mutex mutex_;
    std::condition_variable printed_;
    std::counting_semaphore<2> free_{2};
    std::array<window, 2> windows_;
};

int main()
{
    using namespace std::chrono_literals;
    office here;
    int sold = 0;
    std::mutex sold_mutex;
    std::thread worker([&] {
        while (std::optional<order> what = here.device.next()) {
            std::this_thread::sleep_for(1ms);
            here.deliver(*what);
        }
    });
    {
        std::vector<std::jthread> customers;
        for (std::string show : {"Faust", "Medea", "Tosca"}) {
            customers.emplace_back([&, show] {
                std::optional<std::string> ticket = here.buy(show, 6ms);
                if (ticket) {
                    assert(*ticket == show);
                    std::lock_guard lock(sold_mutex);
                    sold++;
                }
            });
        }
    }
    here.device.close();
    worker.join();
    assert(sold <= 3);
    std::printf("%d tickets sold\n", sold);
    return 0;
}
