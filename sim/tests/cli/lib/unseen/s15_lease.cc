/* Cause: pool::acquire(), line 49: a waiter whose time is over says "none" without looking whether a connection
 * was handed to it meanwhile, so that one is lost to the pool; repair: only give up when `got` is still empty. */
#include <cassert>
#include <chrono>
#include <condition_variable>
#include <cstdio>
#include <list>
#include <mutex>
#include <thread>
#include <vector>

using namespace std::chrono_literals;

struct connection {
    int number;
    int uses = 0;
};

/* A pool of connections. A returned one goes straight to the first that waits. */
class pool
{
  public:
    explicit pool(std::vector<connection> &all)
    {
        for (connection &each : all) {
            free.push_back(&each);
        }
    }

    connection *acquire(std::chrono::milliseconds patience)
    {
        std::unique_lock guard(lock);
        if (!free.empty()) {
            connection *first = free.front();
            free.pop_front();
            return first;
        }
        waiter self;
        waiters.push_back(&self);
        auto until = std::chrono::steady_clock::now() + patience;
        while (self.got == nullptr) {
            if (self.ready.wait_until(guard, until) == std::cv_status::timeout) {
#ifdef FIXED
                if (self.got != nullptr) {
                    break;
                }
#endif
                waiters.remove(&self);
                return nullptr;
            }
        }
        return self.got;
    }

    void release(connection *back)
    {
        std::unique_lock guard(lock);
        if (waiters.empty()) {
            free.push_back(back);
            return;
        }
        waiter *next = waiters.front();
        waiters.pop_front();
        next->got = back;
        next->ready.notify_one();
    }

    std::size_t idle()
    {
        std::unique_lock guard(lock);
        return free.size();
    }

  private:
    struct waiter {
        std::condition_variable ready;
        connection *got = nullptr;
    };

    std::mutex lock;
    std::list<connection *> free;
    std::list<waiter *> waiters;
};

static void
query(pool &from, int times, std::chrono::milliseconds patience)
{
    for (int i = 0; i < times; i++) {
        connection *mine = from.acquire(patience);
        if (mine == nullptr) {
            std::printf("the database is busy\n");
            continue;
        }
        mine->uses++;
        std::this_thread::sleep_for(20ms);
        from.release(mine);
    }
}

int
main()
{
    std::vector<connection> connections(1);
    pool shared(connections);
    std::thread slow([&] { query(shared, 2, 10s); });
    std::thread hasty([&] { query(shared, 2, 28ms); });
    slow.join();
    hasty.join();
    assert(shared.idle() == connections.size());
    std::printf("%d uses\n", connections[0].uses);
    return 0;
}
/* SPDX-License-Identifier: Apache-2.0 */
