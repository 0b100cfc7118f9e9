/* Cause: take(), line 40: a wait that has timed out is taken for "not served" without a look at `served`; a ticket that give() has handed to this visitor between the time-out and the lock is lost, as it is neither used nor returned; repair: give up only if wait_for has timed out and the visitor has not been served. */
/*
 * A desk with a few audio guides. Visitors queue for one, and leave when it takes too long; a guide
 * that comes back goes to the first in the queue.
 */
#include <algorithm>
#include <cassert>
#include <chrono>
#include <condition_variable>
#include <cstdio>
#include <deque>
#include <mutex>
#include <thread>
#include <vector>

using namespace std::chrono_literals;

class desk
{
  public:
    explicit desk(int guides) : free(guides)
    {
    }

    /* False: it has taken longer than `patience`. */
    bool take(std::chrono::milliseconds patience)
    {
        std::unique_lock lock(mutex);
        if (free > 0) {
            free--;
            return true;
        }
        visitor self;
        queue.push_back(&self);
        while (!self.served) {
            auto status = self.called.wait_for(lock, patience);
#ifdef FIXED
            if (status == std::cv_status::timeout && !self.served) {
#else
            if (status == std::cv_status::timeout) {
#endif
                leave(&self);
                return false;
            }
        }
        return true;
    }

    void give()
    {
        std::lock_guard lock(mutex);
        if (queue.empty()) {
            free++;
            return;
        }
        visitor *first = queue.front();
        queue.pop_front();
        first->served = true;
        first->called.notify_one();
    }

    int at_hand()
    {
        std::lock_guard lock(mutex);
        return free;
    }

  private:
    struct visitor {
        std::condition_variable called;
        bool served = false;
    };

    void leave(visitor *self)
    {
        auto at = std::find(queue.begin(), queue.end(), self);
        if (at != queue.end())
            queue.erase(at);
    }

    std::mutex mutex;
    std::deque<visitor *> queue;
    int free;
};

static void visit(desk &desk, int &tours)
{
    if (desk.take(4ms)) {
        std::this_thread::sleep_for(3ms);
        tours++;
        desk.give();
    }
}

int main()
{
    desk desk(1);
    int tours[3] = {};
    std::vector<std::thread> visitors;
    for (int &count : tours)
        visitors.emplace_back([&] { visit(desk, count); });
    for (auto &visitor : visitors)
        visitor.join();
    assert(desk.at_hand() == 1);
    std::puts("the museum closes");
    return 0;
}

/* SPDX-License-Identifier: Apache-2.0 */
