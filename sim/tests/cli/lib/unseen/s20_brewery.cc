/* Cause: ferment(), line 122-126: a reference into the vector batches is kept over co_await (123). Order: two batches are fermenting (the reserve of 2 is used up); the third order arrives before the laboratory has answered for them, emplace_back (122) moves all batches to other memory; the coroutines resume and write measured and bottled (125-126) into the freed block. Harm: assert 155 in main (the batch that is there was never bottled). Fix: keep the index, and take the reference after the wait (117-120). */
#include <cassert>
#include <condition_variable>
#include <coroutine>
#include <cstdio>
#include <cstdlib>
#include <deque>
#include <mutex>
#include <string>
#include <thread>
#include <unistd.h>
#include <vector>

struct Job {
    struct promise_type {
        Job get_return_object() { return {}; }
        std::suspend_never initial_suspend() noexcept { return {}; }
        std::suspend_never final_suspend() noexcept { return {}; }
        void return_void() {}
        void unhandled_exception() { std::abort(); }
    };
};

struct Event {
    std::coroutine_handle<> resume; /* Null: an order has arrived. */
    std::string order;
};

/* Everything that happens in the brewery happens on the thread that runs this. */
class Loop {
public:
    void post(Event event)
    {
        std::lock_guard guard(mutex_);
        events_.push_back(std::move(event));
        arrived_.notify_one();
    }

    Event next()
    {
        std::unique_lock lock(mutex_);
        arrived_.wait(lock, [this] { return !events_.empty(); });
        Event event = std::move(events_.front());
        events_.pop_front();
        return event;
    }

private:
    std::mutex mutex_;
    std::condition_variable arrived_;
    std::deque<Event> events_;
};

/* Measures one sample at a time, on its own thread. */
class Laboratory {
public:
    explicit Laboratory(Loop &loop) : loop_(loop), thread_([this] { work(); }) {}

    ~Laboratory()
    {
        submit(nullptr);
        thread_.join();
    }

    void submit(std::coroutine_handle<> who)
    {
        std::lock_guard guard(mutex_);
        samples_.push_back(who);
        filled_.notify_one();
    }

private:
    void work()
    {
        for (;;) {
            std::unique_lock lock(mutex_);
            filled_.wait(lock, [this] { return !samples_.empty(); });
            std::coroutine_handle<> who = samples_.front();
            samples_.pop_front();
            lock.unlock();
            if (!who) {
                return;
            }
            usleep(1500);
            loop_.post({who, {}});
        }
    }

    Loop &loop_;
    std::mutex mutex_;
    std::condition_variable filled_;
    std::deque<std::coroutine_handle<>> samples_;
    std::thread thread_;
};

struct Measurement {
    Laboratory &laboratory;
    bool await_ready() const { return false; }
    void await_suspend(std::coroutine_handle<> who) { laboratory.submit(who); }
    void await_resume() const {}
};

struct Batch {
    std::string beer;
    int measured;
    bool bottled;
};

struct Brewery {
    std::vector<Batch> batches;
    unsigned finished = 0;
};

static Job ferment(Brewery &brewery, Laboratory &laboratory, std::string beer)
{
#ifdef FIXED
    size_t number = brewery.batches.size();
    brewery.batches.push_back({std::move(beer), 0, false});
    co_await Measurement{laboratory};
    Batch &batch = brewery.batches[number];
#else
    Batch &batch = brewery.batches.emplace_back(Batch{std::move(beer), 0, false});
    co_await Measurement{laboratory};
#endif
    batch.measured++;
    batch.bottled = true;
    brewery.finished++;
}

int main()
{
    const std::vector<std::string> orders = {"stout", "pale ale", "porter"};
    Loop loop;
    Brewery brewery;
    brewery.batches.reserve(2);
    {
        Laboratory laboratory(loop);
        std::thread shop([&] {
            for (const std::string &order : orders) {
                loop.post({nullptr, order});
                usleep(4000);
            }
        });
        while (brewery.finished < orders.size()) {
            Event event = loop.next();
            if (event.resume) {
                event.resume.resume();
            } else {
                ferment(brewery, laboratory, event.order);
            }
        }
        shop.join();
    }
    for (const Batch &batch : brewery.batches) {
        assert(batch.measured == 1 && batch.bottled);
    }
    std::printf("%zu batches bottled\n", brewery.batches.size());
    return 0;
}
