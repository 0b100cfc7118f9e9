/* Cause: thread-pool starvation: a job waits for a job of its own pool. commission() submits the frame (95) and blocks in future.get() (90, by 97). Order: both workers take a commission (jobs of 103 and 105) before either frame is taken by a worker: both workers wait for frames that stand in the queue behind nobody. Needs that the first commission is not yet done when the second is taken (1 ms apart). Harm: hang: both workers in get (90), main in get (106). Fix: while the future is not ready, help with queued jobs (82-86). */
#include <cassert>
#include <chrono>
#include <condition_variable>
#include <deque>
#include <functional>
#include <future>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

class pool {
public:
    explicit pool(unsigned count)
    {
        for (unsigned i = 0; i < count; i++)
            threads_.emplace_back([this] { work(); });
    }

    ~pool()
    {
        {
            std::lock_guard hold(lock_);
            over_ = true;
        }
        more_.notify_all();
        for (auto &thread : threads_)
            thread.join();
    }

    template <typename F> auto submit(F &&what)
    {
        using result = std::invoke_result_t<F>;
        auto task = std::make_shared<std::packaged_task<result()>>(std::forward<F>(what));
        auto future = task->get_future();
        {
            std::lock_guard hold(lock_);
            jobs_.emplace_back([task] { (*task)(); });
        }
        more_.notify_one();
        return future;
    }

    // Runs one job that is queued, if there is one.
    bool help()
    {
        std::unique_lock hold(lock_);
        if (jobs_.empty())
            return false;
        auto job = std::move(jobs_.front());
        jobs_.pop_front();
        hold.unlock();
        job();
        return true;
    }

private:
    void work()
    {
        for (;;) {
            std::unique_lock hold(lock_);
            more_.wait(hold, [this] { return over_ || !jobs_.empty(); });
            if (jobs_.empty())
                return;
            auto job = std::move(jobs_.front());
            jobs_.pop_front();
            hold.unlock();
            job();
        }
    }

    std::mutex lock_;
    std::condition_variable more_;
    std::deque<std::function<void()>> jobs_;
    std::vector<std::thread> threads_;
    bool over_ = false;
};

template <typename T> static T result_of(pool &painters, std::future<T> &of)
{
#ifdef FIXED
    using namespace std::chrono_literals;
    while (of.wait_for(0s) != std::future_status::ready)
        if (!painters.help())
            break; // it runs on the other thread
#else
    (void)painters;
#endif
    return of.get();
}

static int commission(pool &painters, int size)
{
    auto frame = painters.submit([size] { return size * 4; });
    int sketch = size * size;
    return sketch + result_of(painters, frame);
}

int main()
{
    pool painters(2);
    auto lake = painters.submit([&] { return commission(painters, 3); });
    std::this_thread::sleep_for(std::chrono::milliseconds(1)); // the next letter comes
    auto wood = painters.submit([&] { return commission(painters, 5); });
    int both = lake.get() + wood.get();
    assert(both == 9 + 12 + 25 + 20);
}
