/* Cause: pass_on(), line 43: notify_one wakes some runner who waits at the baton, not the one whose turn it is; another one looks, and waits again; repair: notify_all. */
#include <atomic>
#include <cassert>
#include <cstdio>
#include <thread>
#include <vector>

namespace {

constexpr int RUNNERS = 3;
constexpr int LAPS = 2;

class Race {
  public:
    void run(int number)
    {
        for (int lap = 0; lap < LAPS; lap++) {
            await_turn(lap * RUNNERS + number);
            metres_ += 400;
            pass_on();
        }
    }

    int metres() const
    {
        return metres_;
    }

  private:
    void await_turn(int turn)
    {
        int now = turn_.load();
        while (now != turn) {
            turn_.wait(now);
            now = turn_.load();
        }
    }

    void pass_on()
    {
        turn_.fetch_add(1);
#ifndef FIXED
        turn_.notify_one();
#else
        turn_.notify_all();
#endif
    }

    std::atomic<int> turn_{0};
    int metres_ = 0;
};

} // namespace

int
main()
{
    Race race;
    std::vector<std::thread> runners;
    for (int i = 0; i < RUNNERS; i++) {
        runners.emplace_back([&race, i] { race.run(i); });
    }
    for (std::thread &runner : runners) {
        runner.join();
    }
    assert(race.metres() == RUNNERS * LAPS * 400);
    std::printf("%d metres\n", race.metres());
    return 0;
}
