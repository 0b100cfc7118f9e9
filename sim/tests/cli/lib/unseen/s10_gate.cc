// SPDX-License-Identifier: Apache-2.0
/* Cause: reader() line 57: the producer and the checkpointer wait for the same counter, and one
 * notification may wake the one that has to wait on; the other sleeps for ever. Repair: notify_all. */
/* atomics */
#include <array>
#include <atomic>
#include <cstdio>
#include <latch>
#include <thread>

namespace
{

constexpr int slots = 1;
constexpr int items = 6;
constexpr int checkpoint_every = 3;

std::array<int, slots> ring;
std::atomic<int> produced{0};
std::atomic<int> consumed{0};
std::atomic<long> sum{0};
std::latch ready(3);

/* Returns when `counter` is at least `value`. */
void
wait_for(std::atomic<int> &counter, int value)
{
    int seen = counter.load();
    while (seen < value) {
        counter.wait(seen);
        seen = counter.load();
    }
}

void
writer()
{
    ready.arrive_and_wait();
    for (int i = 0; i < items; i++) {
        wait_for(consumed, i - slots + 1);
        ring[static_cast<std::size_t>(i % slots)] = i;
        produced.store(i + 1);
        produced.notify_one();
    }
}

void
reader()
{
    ready.arrive_and_wait();
    for (int i = 0; i < items; i++) {
        wait_for(produced, i + 1);
        sum += ring[static_cast<std::size_t>(i % slots)];
        consumed.store(i + 1);
#ifdef FIXED
        consumed.notify_all();
#else
        consumed.notify_one();
#endif
    }
}

/* Notes how far the reader is, now and then. */
void
checkpointer()
{
    ready.arrive_and_wait();
    for (int mark = checkpoint_every; mark <= items; mark += checkpoint_every) {
        wait_for(consumed, mark);
        std::printf("checkpoint %d\n", mark);
    }
}

} /* namespace */

int
main()
{
    {
        std::jthread a(writer);
        std::jthread b(reader);
        std::jthread c(checkpointer);
    }
    std::printf("sum %ld\n", sum.load());
    return sum == items * (items - 1) / 2 ? 0 : 1;
}
