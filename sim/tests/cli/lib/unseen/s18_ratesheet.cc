/* Cause: refresh(), line 49: the answer of an older question is written over that of a newer one, as the two lookups may end in either order; repair: keep it only if its version is newer than what the sheet has. */
#include <cassert>
#include <chrono>
#include <cstdio>
#include <future>
#include <mutex>
#include <thread>

namespace {

/* What the exchange says; it changes once while the program runs. */
class Exchange {
  public:
    struct Rate {
        int version;
        int cents;
    };

    Rate ask()
    {
        std::lock_guard<std::mutex> guard(mutex_);
        return rate_;
    }

    void move(int cents)
    {
        std::lock_guard<std::mutex> guard(mutex_);
        rate_.version++;
        rate_.cents = cents;
    }

  private:
    std::mutex mutex_;
    Rate rate_{1, 104};
};

class Sheet {
  public:
    explicit Sheet(Exchange &exchange) : exchange_(exchange)
    {
    }

    std::future<void> refresh()
    {
        return std::async(std::launch::async, [this] {
            Exchange::Rate rate = exchange_.ask();
            std::lock_guard<std::mutex> guard(mutex_);
#ifndef FIXED
            cached_ = rate;
#else
            if (rate.version > cached_.version) {
                cached_ = rate;
            }
#endif
        });
    }

    int cents()
    {
        std::lock_guard<std::mutex> guard(mutex_);
        return cached_.cents;
    }

  private:
    Exchange &exchange_;
    std::mutex mutex_;
    Exchange::Rate cached_{0, 0};
};

} // namespace

int
main()
{
    Exchange exchange;
    Sheet sheet(exchange);
    std::future<void> at_opening = sheet.refresh();
    exchange.move(98);
    std::future<void> after_move = sheet.refresh();
    at_opening.get();
    after_move.get();
    std::printf("%d cents\n", sheet.cents());
    assert(sheet.cents() == 98);
    return 0;
}
