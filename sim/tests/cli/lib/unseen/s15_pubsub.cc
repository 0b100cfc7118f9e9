/* Cause: topic::publish(), line 70: it lets go of the lock for each call, and a subscriber that leaves
 * meanwhile erases the node that the walk stands on; repair: walk a copy of the shared pointers. */
#include <cassert>
#include <condition_variable>
#include <cstdio>
#include <list>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

/* Publish and subscribe: a publisher calls each subscriber, a subscriber may leave at any time. */

struct inbox {
    std::mutex lock;
    std::condition_variable filled;
    std::vector<int> letters;
    bool closed = false;

    void put(int letter)
    {
        std::lock_guard guard(lock);
        if (!closed) {
            letters.push_back(letter);
            filled.notify_one();
        }
    }

    /* Waits until there are `count`, and takes no more from then on. */
    int read(std::size_t count)
    {
        std::unique_lock guard(lock);
        filled.wait(guard, [&] { return letters.size() >= count; });
        closed = true;
        int sum = 0;
        for (std::size_t i = 0; i < count; i++) {
            sum += letters[i];
        }
        return sum;
    }
};

class topic
{
  public:
    using place = std::list<std::shared_ptr<inbox>>::iterator;

    place subscribe()
    {
        std::lock_guard guard(lock);
        return subscribers.insert(subscribers.end(), std::make_shared<inbox>());
    }

    void leave(place who)
    {
        std::lock_guard guard(lock);
        subscribers.erase(who);
    }

    void publish(int letter)
    {
        std::unique_lock guard(lock);
#ifdef FIXED
        std::vector<std::shared_ptr<inbox>> all(subscribers.begin(), subscribers.end());
        guard.unlock();
        for (const std::shared_ptr<inbox> &each : all) {
            each->put(letter);
        }
#else
        for (place at = subscribers.begin(); at != subscribers.end(); ++at) {
            guard.unlock(); /* An inbox may call back. */
            (*at)->put(letter);
            guard.lock();
        }
#endif
    }

    bool deserted()
    {
        std::lock_guard guard(lock);
        return subscribers.empty();
    }

  private:
    std::mutex lock;
    std::list<std::shared_ptr<inbox>> subscribers;
};

static void
follow(topic &news, topic::place mine, std::size_t count, int wanted)
{
    std::shared_ptr<inbox> box = *mine;
    int sum = box->read(count);
    assert(sum == wanted);
    news.leave(mine);
}

int
main()
{
    topic news;
    topic::place hasty = news.subscribe();
    topic::place steady = news.subscribe();
    std::thread first([&] { follow(news, hasty, 1, 1); });
    std::thread second([&] { follow(news, steady, 3, 6); });
    for (int letter = 1; letter <= 3; letter++) {
        news.publish(letter);
    }
    first.join();
    second.join();
    assert(news.deserted());
    std::printf("all read\n");
    return 0;
}
/* SPDX-License-Identifier: Apache-2.0 */
