/* Cause: pass(), line 35: all runners wait on one atomic for different values, and one waiter is woken; when it is not the one whose turn it is, it waits again and the next runner sleeps on with the baton; repair: notify_all. */
/*
 * A relay: runners of a team run their legs in turn, each several times. Whose turn it is, is one
 * atomic number on which the others wait.
 */
#include <atomic>
#include <cassert>
#include <cstdio>
#include <thread>
#include <vector>

namespace
{

constexpr int RUNNERS = 3;
constexpr int LAPS = 2;

class baton
{
  public:
    /* Waits until `runner` has the baton. */
    void await(int runner)
    {
        for (int holder = turn.load(); holder != runner; holder = turn.load())
            turn.wait(holder);
    }

    /* Hands it to the next one. */
    void pass(int runner)
    {
        turn.store((runner + 1) % RUNNERS);
#ifdef FIXED
        turn.notify_all();
#else
        turn.notify_one();
#endif
    }

  private:
    std::atomic<int> turn{0};
};

struct track {
    baton stick;
    std::vector<int> legs; /* Who ran, in order: written with the baton only. */
};

void run(track &track, int runner)
{
    for (int lap = 0; lap < LAPS; lap++) {
        track.stick.await(runner);
        track.legs.push_back(runner);
        track.stick.pass(runner);
    }
}

} /* namespace */

int main()
{
    track track;
    track.legs.reserve(RUNNERS * LAPS);
    std::vector<std::thread> runners;
    for (int i = 0; i < RUNNERS; i++)
        runners.emplace_back(run, std::ref(track), i);
    for (auto &runner : runners)
        runner.join();
    for (int i = 0; i < RUNNERS * LAPS; i++)
        assert(track.legs[i] == i % RUNNERS);
    std::puts("finished");
    return 0;
}

/* SPDX-License-Identifier: Apache-2.0 */
