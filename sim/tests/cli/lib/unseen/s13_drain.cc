/* A thread pool whose owner waits until everything that was submitted has been done.
 * Cause: Pool::work() line 71: a job counts as running only after it has left the queue and the lock was
 * given back, so wait_idle may see neither; repair: count it while the queue is still locked. */
#include <atomic>
#include <cassert>
#include <condition_variable>
#include <deque>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

class Pool
{
  public:
    using Job = std::function<void()>;

    explicit Pool(unsigned threads)
    {
        for (unsigned i = 0; i < threads; i++)
            workers.emplace_back([this] { work(); });
    }

    ~Pool()
    {
        {
            std::lock_guard lock(mutex);
            stopping = true;
        }
        posted.notify_all();
        for (std::thread &worker : workers)
            worker.join();
    }

    void submit(Job job)
    {
        {
            std::lock_guard lock(mutex);
            queue.push_back(std::move(job));
        }
        posted.notify_one();
    }

    /* Returns once the queue is empty and no job runs. */
    void wait_idle()
    {
        std::unique_lock lock(mutex);
        idle.wait(lock, [this] { return queue.empty() && running == 0; });
    }

    unsigned done() const
    {
        return finished;
    }

  private:
    void work()
    {
        std::unique_lock lock(mutex);
        for (;;) {
            posted.wait(lock, [this] { return stopping || !queue.empty(); });
            if (queue.empty())
                return;
            Job job = std::move(queue.front());
            queue.pop_front();
#ifdef FIXED
            running++;
            lock.unlock();
#else
            lock.unlock();
            begin_job();
#endif
            trace(1);
            job();
            trace(-1);

            lock.lock();
            running--;
            finished++;
            if (queue.empty() && running == 0)
                idle.notify_all();
        }
    }

    void begin_job()
    {
        std::lock_guard lock(mutex);
        running++;
    }

    void trace(int change)
    {
        std::lock_guard lock(trace_mutex);
        depth += change;
        if (depth > deepest)
            deepest = depth;
    }

    std::mutex mutex;
    std::condition_variable posted;
    std::condition_variable idle;
    std::deque<Job> queue;
    unsigned running = 0;
    std::atomic<unsigned> finished{0};
    bool stopping = false;

    std::mutex trace_mutex;
    int depth = 0;
    int deepest = 0;

    std::vector<std::thread> workers;
};

/* Thumbnails of an album: one job for each picture, then an index of all. */
struct Album {
    std::mutex mutex;
    std::vector<int> thumbnails;

    void add(int picture)
    {
        std::lock_guard lock(mutex);
        thumbnails.push_back(picture * 10);
    }

    std::size_t index()
    {
        std::lock_guard lock(mutex);
        return thumbnails.size();
    }
};

int main()
{
    constexpr int pictures = 4;
    Album album;
    {
        Pool pool(2);
        for (int picture = 0; picture < pictures; picture++)
            pool.submit([&album, picture] { album.add(picture); });
        pool.wait_idle();
        assert(album.index() == pictures);
        assert(pool.done() == pictures);
    }
    return 0;
}
/* SPDX-License-Identifier: Apache-2.0 */
