/* Cause: emit(), line 61: the observers were copied under the lock and are called without it; one that has unsubscribed in between, and whose owner is deleted already, is still called and uses freed memory; repair: each observer has its own lock and mark, which emit() checks, and unsubscribe() sets. */
// s16_signal.cc -- price ticks are sent to observers; charts come and go while ticks arrive.

#include <algorithm>
#include <cassert>
#include <chrono>
#include <functional>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

using namespace std::chrono_literals;

struct observer {
    std::function<void(int)> call;
    std::mutex mutex;
    bool subscribed = true;
};

class ticker
{
  public:
    std::shared_ptr<observer> subscribe(std::function<void(int)> call)
    {
        auto added = std::make_shared<observer>();
        added->call = std::move(call);
        std::lock_guard guard(mutex);
        observers.push_back(added);
        return added;
    }

    // When it returns, the observer is not called any more.
    void unsubscribe(const std::shared_ptr<observer> &gone)
    {
        {
            std::lock_guard guard(mutex);
            observers.erase(std::remove(observers.begin(), observers.end(), gone), observers.end());
        }
#ifdef FIXED
        std::lock_guard guard(gone->mutex);
        gone->subscribed = false;
#endif
    }

    // Observers may subscribe others, so they are called without the lock.
    void emit(int price)
    {
        std::vector<std::shared_ptr<observer>> copy;
        {
            std::lock_guard guard(mutex);
            copy = observers;
        }
        for (const auto &each : copy) {
#ifdef FIXED
            std::lock_guard guard(each->mutex);
            if (!each->subscribed) {
                continue;
            }
#endif
            each->call(price);
        }
    }

  private:
    std::mutex mutex;
    std::vector<std::shared_ptr<observer>> observers;
};

class chart
{
  public:
    explicit chart(ticker &of) : source(of)
    {
        subscription = source.subscribe([this](int price) { draw(price); });
    }

    void close()
    {
        source.unsubscribe(subscription);
    }

  private:
    void draw(int price)
    {
        points[next++ % points.size()] = price;
    }

    ticker &source;
    std::shared_ptr<observer> subscription;
    std::vector<int> points = std::vector<int>(32);
    std::size_t next = 0;
};

// The user looks at a chart for a while.
static void
look(ticker &prices, std::chrono::microseconds time)
{
    auto shown = std::make_unique<chart>(prices);
    std::this_thread::sleep_for(time);
    shown->close();
}

int
main()
{
    ticker prices;
    int last = 0;
    auto total = prices.subscribe([&](int price) { last = price; });
    std::thread market([&] {
        for (int price = 1; price <= 6; price++) {
            prices.emit(price);
            std::this_thread::sleep_for(400us);
        }
    });
    std::thread user([&] {
        look(prices, 500us);
        look(prices, 700us);
    });
    user.join();
    market.join();
    prices.unsubscribe(total);
    assert(last == 6);
    return 0;
}

/* SPDX-License-Identifier: Apache-2.0 */
