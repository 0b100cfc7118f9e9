/* Cause: Network::on_answer() (99) stores any answer without comparing reading.sequence with sequence_: an answer that comes after ask() gave up (87) is taken for the answer of the next request, and noted for the wrong station (main, 115-117). */
#include <cassert>
#include <chrono>
#include <condition_variable>
#include <cstdio>
#include <deque>
#include <functional>
#include <mutex>
#include <optional>
#include <thread>
#include <vector>

using namespace std::chrono_literals;

struct Reading {
    int sequence;
    int station;
    double magnitude;
};

class Radio
{
  public:
    using Callback = std::function<void(Reading)>;

    Radio() : operator_([this] { run(); })
    {
    }
    ~Radio()
    {
        {
            std::lock_guard lock(mutex_);
            off_ = true;
        }
        changed_.notify_one();
        operator_.join();
    }

    void call(int sequence, int station, Callback done)
    {
        {
            std::lock_guard lock(mutex_);
            calls_.push_back([=] {
                std::this_thread::sleep_for(2ms);
                done({sequence, station, 1.5 + station});
            });
        }
        changed_.notify_one();
    }

  private:
    void run()
    {
        std::unique_lock lock(mutex_);
        for (;;) {
            changed_.wait(lock, [this] { return off_ || !calls_.empty(); });
            if (calls_.empty())
                return;
            auto call = std::move(calls_.front());
            calls_.pop_front();
            lock.unlock();
            call();
            lock.lock();
        }
    }

    std::mutex mutex_;
    std::condition_variable changed_;
    std::deque<std::function<void()>> calls_;
    bool off_ = false;
    std::thread operator_;
};

class Network
{
  public:
    explicit Network(Radio &radio) : radio_(radio)
    {
    }

    std::optional<Reading> ask(int station)
    {
        std::unique_lock lock(mutex_);
        int sequence = ++sequence_;
        answer_.reset();
        radio_.call(sequence, station, [this](Reading reading) { on_answer(reading); });
        arrived_.wait_for(lock, 4ms, [this] { return answer_.has_value(); });
        return answer_;
    }

  private:
    void on_answer(Reading reading)
    {
        std::lock_guard lock(mutex_);
#ifdef FIXED
        if (reading.sequence != sequence_)
            return;
#endif
        answer_ = reading;
        arrived_.notify_one();
    }

    Radio &radio_;
    std::mutex mutex_;
    std::condition_variable arrived_;
    std::optional<Reading> answer_;
    int sequence_ = 0;
};

int main()
{
    std::vector<double> chart(3, 0.0);
    std::optional<Radio> radio(std::in_place);
    Network network(*radio);
    for (int station = 0; station < 3; station++)
        if (auto reading = network.ask(station))
            chart[static_cast<std::size_t>(station)] = reading->magnitude;
    radio.reset();
    for (int station = 0; station < 3; station++) {
        double magnitude = chart[static_cast<std::size_t>(station)];
        assert(magnitude == 0.0 || magnitude == 1.5 + station);
        std::printf("station %d: %.1f\n", station, magnitude);
    }
    return 0;
}
