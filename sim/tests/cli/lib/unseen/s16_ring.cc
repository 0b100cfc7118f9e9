/* Cause: reserve(), line 37: whether the reader has to be notified is decided before the record is filled and published; the reader takes the last record meanwhile and goes to sleep, and commit() notifies nobody; repair: commit() looks at the reader's position after it has published. */
// s16_ring.cc -- trace records go through a ring from one thread to one other: waits of atomics.

#include <array>
#include <atomic>
#include <cassert>
#include <chrono>
#include <cstdint>
#include <thread>
#include <time.h>

namespace
{

constexpr unsigned SIZE = 8;
constexpr unsigned RECORDS = 5;

struct record {
    std::int64_t time_ns;
    unsigned number;
};

struct place {
    record *at;
    unsigned position;
    bool notify;
};

class trace_ring
{
  public:
    // A place for one record; the ring is large enough.
    place reserve()
    {
        unsigned position = tail.load();
        assert(position - head.load() < SIZE);
        bool notify = head.load() == position; // The reader may be asleep only if it has all.
        return {&records[position % SIZE], position, notify};
    }

    void commit(const place &filled)
    {
        tail.store(filled.position + 1);
#ifdef FIXED
        bool notify = head.load() >= filled.position;
#else
        bool notify = filled.notify;
#endif
        if (notify) {
            tail.notify_one();
        }
    }

    record take()
    {
        unsigned position = head.load();
        while (tail.load() == position) {
            tail.wait(position);
        }
        record taken = records[position % SIZE];
        head.store(position + 1);
        return taken;
    }

  private:
    std::array<record, SIZE> records{};
    std::atomic<unsigned> head{0};
    std::atomic<unsigned> tail{0};
};

std::int64_t
clock_ns()
{
    timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec * INT64_C(1000000000) + now.tv_nsec;
}

void
trace(trace_ring &ring, unsigned number)
{
    place free = ring.reserve();
    *free.at = record{clock_ns(), number};
    std::this_thread::yield(); // Tracing must not slow down those that work.
    ring.commit(free);
}

void
writer(trace_ring &ring)
{
    for (unsigned i = 1; i <= RECORDS; i++) {
        trace(ring, i);
        if (i % 2 == 0) {
            std::this_thread::sleep_for(std::chrono::microseconds(300));
        }
    }
}

void
reader(trace_ring &ring)
{
    std::int64_t last_ns = 0;
    for (unsigned i = 1; i <= RECORDS; i++) {
        record taken = ring.take();
        assert(taken.number == i && taken.time_ns >= last_ns);
        last_ns = taken.time_ns;
        std::this_thread::yield();
    }
}

} // namespace

int
main()
{
    trace_ring ring;
    std::thread reads([&] { reader(ring); });
    std::thread writes([&] { writer(ring); });
    writes.join();
    reads.join();
    return 0;
}

/* SPDX-License-Identifier: Apache-2.0 */
