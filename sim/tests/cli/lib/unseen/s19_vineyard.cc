/* Cause: harvest() keeps the index at (91) across the co_await (92); another row that finishes meanwhile erases its vat from the vector (98), and the index then denotes another vat or is beyond the end (96, 97). */
#include <cassert>
#include <condition_variable>
#include <coroutine>
#include <cstdio>
#include <deque>
#include <exception>
#include <mutex>
#include <thread>
#include <vector>

class Cellar
{
  public:
    void post(std::coroutine_handle<> handle)
    {
        std::lock_guard lock(mutex_);
        ready_.push_back(handle);
        filled_.notify_one();
    }

    void run(const int &rows_left)
    {
        while (rows_left > 0) {
            std::unique_lock lock(mutex_);
            filled_.wait(lock, [this] { return !ready_.empty(); });
            auto handle = ready_.front();
            ready_.pop_front();
            lock.unlock();
            handle.resume();
        }
    }

  private:
    std::mutex mutex_;
    std::condition_variable filled_;
    std::deque<std::coroutine_handle<>> ready_;
};

struct Row {
    struct promise_type {
        Row get_return_object() { return {}; }
        std::suspend_never initial_suspend() noexcept { return {}; }
        std::suspend_never final_suspend() noexcept { return {}; }
        void return_void() {}
        void unhandled_exception() { std::terminate(); }
    };
};

struct Vat {
    int row;
    int litres;
};

// Presses in a thread of its own, and continues the coroutine in the cellar.
struct Press {
    Cellar &cellar;
    std::vector<std::thread> &threads;
    int litres;

    bool await_ready() const noexcept { return false; }
    void await_suspend(std::coroutine_handle<> handle)
    {
        threads.emplace_back([this, handle] {
            std::this_thread::sleep_for(std::chrono::milliseconds(litres / 10));
            cellar.post(handle);
        });
    }
    int await_resume() const noexcept { return litres * 7 / 10; }
};

struct Estate {
    Cellar cellar;
    std::vector<std::thread> threads;
    std::vector<Vat> vats;
    std::vector<Vat> bottled;
    int rows_left = 0;

    std::size_t find(int row) const
    {
        std::size_t at = 0;
        while (at < vats.size() && vats[at].row != row)
            at++;
        return at;
    }
};

Row harvest(Estate &estate, int row, int litres)
{
    estate.vats.push_back({row, litres});
    std::size_t at = estate.find(row);
    int juice = co_await Press{estate.cellar, estate.threads, litres};
#ifdef FIXED
    at = estate.find(row);
#endif
    assert(at < estate.vats.size());
    Vat vat = estate.vats[at];
    estate.vats.erase(estate.vats.begin() + static_cast<std::ptrdiff_t>(at));
    estate.bottled.push_back({vat.row, juice});
    estate.rows_left--;
}

int main()
{
    Estate estate;
    const int litres[3] = {50, 40, 20};
    estate.rows_left = 3;
    for (int row = 2; row >= 0; row--)
        harvest(estate, row, litres[2 - row] * (row + 1) / 2);
    estate.cellar.run(estate.rows_left);
    for (auto &thread : estate.threads)
        thread.join();
    int seen = 0;
    for (const Vat &vat : estate.bottled)
        seen |= 1 << vat.row;
    std::printf("%zu vats\n", estate.bottled.size());
    assert(seen == 7);
    return 0;
}
