/* Cause: sail(), line 27: a deadline that has expired is already queued, cancel() does not take it back, and its handler (no error) strands the next crossing; repair: give each crossing a number and compare it in the handler. */
#include <utility>

#include <boost/asio.hpp>
#include <cassert>
#include <chrono>
#include <cstdio>
#include <thread>

namespace asio = boost::asio;
using boost::system::error_code;
using namespace std::chrono_literals;

namespace {

class Ferry {
  public:
    explicit Ferry(asio::io_context &context) : context_(context), deadline_(context)
    {
    }

    void sail()
    {
        crossing_++;
        stranded_ = false;
        aboard_ = true;
        deadline_.cancel();
        deadline_.expires_after(crossing_ == 1 ? 4ms : 60s);
#ifndef FIXED
        deadline_.async_wait([this](const error_code &error) {
            if (!error) {
#else
        deadline_.async_wait([this, mine = crossing_](const error_code &error) {
            if (!error && mine == crossing_) {
#endif
                strand();
            }
        });
    }

    /* Called from the quay's thread. */
    void landed()
    {
        asio::post(context_, [this] {
            if (!aboard_) {
                return;
            }
            arrivals_++;
            if (crossing_ < 2) {
                sail();
            } else {
                aboard_ = false;
                deadline_.cancel();
            }
        });
    }

    int arrivals() const
    {
        return arrivals_;
    }
    bool lost_second() const
    {
        return crossing_ == 2 && stranded_;
    }

  private:
    void strand()
    {
        stranded_ = true;
        aboard_ = false;
        deadline_.cancel();
    }

    asio::io_context &context_;
    asio::steady_timer deadline_;
    int crossing_ = 0;
    int arrivals_ = 0;
    bool aboard_ = false;
    bool stranded_ = false;
};

} // namespace

int
main()
{
    asio::io_context context;
    Ferry ferry(context);
    ferry.sail();
    auto work = asio::make_work_guard(context);
    std::thread quay([&] {
        std::this_thread::sleep_for(3ms);
        ferry.landed();
        std::this_thread::sleep_for(2ms);
        ferry.landed();
        asio::post(context, [&work] { work.reset(); });
    });
    context.run();
    quay.join();
    assert(!ferry.lost_second());
    std::printf("%d arrivals\n", ferry.arrivals());
    return 0;
}
