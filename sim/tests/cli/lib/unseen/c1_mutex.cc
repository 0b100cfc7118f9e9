// Cause: c1_mutex.cc:123 unlock() resumes the next coroutine with guard_ held; when that one unlocks without suspending, it takes guard_ again
// SPDX-License-Identifier: Apache-2.0
// clang-format off
#include <cassert>
#include <condition_variable>
#include <coroutine>
#include <deque>
#include <latch>
#include <mutex>
#include <thread>
#include <vector>

class pool {
  public:
    explicit pool(int threads)
    {
        for (int i = 0; i < threads; i++)
            threads_.emplace_back([this] { run(); });
    }
    ~pool()
    {
        {
            std::lock_guard lock(mutex_);
            stop_ = true;
        }
        changed_.notify_all();
        for (auto &thread : threads_)
            thread.join();
    }
    void post(std::coroutine_handle<> h)
    {
        {
            std::lock_guard lock(mutex_);
            ready_.push_back(h);
        }
        changed_.notify_one();
    }
    auto schedule()
    {
        struct awaiter {
            pool &p;
            bool await_ready() { return false; }
            void await_suspend(std::coroutine_handle<> h) { p.post(h); }
            void await_resume() {}
        };
        return awaiter{*this};
    }

  private:
    void run()
    {
        std::unique_lock lock(mutex_);
        for (;;) {
            changed_.wait(lock, [this] { return stop_ || !ready_.empty(); });
            if (ready_.empty())
                return;
            auto h = ready_.front();
            ready_.pop_front();
            lock.unlock();
            h.resume();
            lock.lock();
        }
    }
    std::mutex mutex_;
    std::condition_variable changed_;
    std::deque<std::coroutine_handle<>> ready_;
    bool stop_ = false;
    std::vector<std::thread> threads_;
};

struct detached {
    struct promise_type {
        detached get_return_object() { return {}; }
        std::suspend_never initial_suspend() { return {}; }
        std::suspend_never final_suspend() noexcept { return {}; }
        void return_void() {}
        void unhandled_exception() { std::terminate(); }
    };
};

class async_mutex {
  public:
    explicit async_mutex(pool &p) : pool_(p) {}
    auto lock()
    {
        struct awaiter {
            async_mutex &m;
            bool await_ready() { return false; }
            bool await_suspend(std::coroutine_handle<> h)
            {
                std::lock_guard guard(m.guard_);
                if (!m.locked_) {
                    m.locked_ = true;
                    return false;
                }
                m.waiters_.push_back(h);
                return true;
            }
            void await_resume() {}
        };
        return awaiter{*this};
    }
    void unlock()
    {
#ifdef FIXED
        std::coroutine_handle<> next;
        {
            std::lock_guard guard(guard_);
            locked_ = !waiters_.empty();
            if (!locked_)
                return;
            next = waiters_.front();
            waiters_.pop_front();
        }
        pool_.post(next);
#else
        std::lock_guard guard(guard_);
        locked_ = !waiters_.empty();
        if (!locked_)
            return;
        auto next = waiters_.front();
        waiters_.pop_front();
        next.resume();
#endif
    }

  private:
    pool &pool_;
    std::mutex guard_;
    bool locked_ = false;
    std::deque<std::coroutine_handle<>> waiters_;
};

struct account {
    async_mutex mutex;
    int balance = 0, audits = 0;
};

static detached deposit(pool &p, account &a, int amount, std::latch &done)
{
    co_await p.schedule();
    co_await a.mutex.lock();
    a.balance += amount;
    a.mutex.unlock();
    done.count_down();
}

static detached audit(pool &p, account &a, std::latch &done)
{
    co_await p.schedule();
    co_await a.mutex.lock();
    int before = a.balance;
    co_await p.schedule(); // lets others work meanwhile
    assert(a.balance == before);
    a.audits++;
    a.mutex.unlock();
    done.count_down();
}

int main()
{
    std::latch done(3);
    pool workers(2);
    account shared{async_mutex(workers)};
    deposit(workers, shared, 5, done);
    audit(workers, shared, done);
    deposit(workers, shared, 7, done);
    done.wait();
    assert(shared.balance == 12 && shared.audits == 1);
    return 0;
}
