/* Cause: Scanner::publish(), line 37-44: it copies the list of subscribers (38), gives the lock back (40), and calls the callbacks of the copy (42-44). Order: the scanning thread has copied the list with the letter room in it and unlocked; main destroys the letter room (letters.reset(); ~ReadingRoom 65-71 unsubscribes from the list, which is possible as the lock is free, and the memory is freed); then the scanning thread calls the copied callback, on_page (80), which locks the freed mutex. Harm: the lock at 82 (use after free), or assert(open_) 83. Fix: the lock is held during the calls, so unsubscribe returns only when no call is under way. */
#include <algorithm>
#include <cassert>
#include <cstdio>
#include <functional>
#include <memory>
#include <mutex>
#include <thread>
#include <unistd.h>
#include <vector>

struct Page {
    int number;
    int words;
};

class Scanner {
public:
    using Callback = std::function<void(const Page &)>;

    int subscribe(Callback callback)
    {
        std::lock_guard guard(mutex_);
        subscribers_.push_back({++last_id_, std::move(callback)});
        return last_id_;
    }

    /* The callback is not called any more. */
    void unsubscribe(int id)
    {
        std::lock_guard guard(mutex_);
        std::erase_if(subscribers_, [id](const Subscriber &one) { return one.id == id; });
    }

    void publish(const Page &page)
    {
        std::unique_lock lock(mutex_);
        std::vector<Subscriber> current = subscribers_;
#ifndef FIXED
        lock.unlock();
#endif
        for (Subscriber &one : current) {
            one.callback(page);
        }
    }

private:
    struct Subscriber {
        int id;
        Callback callback;
    };

    std::mutex mutex_;
    std::vector<Subscriber> subscribers_;
    int last_id_ = 0;
};

class ReadingRoom {
public:
    ReadingRoom(Scanner &scanner, const char *name) : scanner_(scanner), name_(name)
    {
        id_ = scanner_.subscribe([this](const Page &page) { on_page(page); });
    }

    ~ReadingRoom()
    {
        scanner_.unsubscribe(id_);
        std::lock_guard guard(mutex_);
        open_ = false;
        std::printf("%s closes\n", name_);
    }

    int words()
    {
        std::lock_guard guard(mutex_);
        return words_;
    }

private:
    void on_page(const Page &page)
    {
        std::lock_guard guard(mutex_);
        assert(open_);
        words_ += page.words;
    }

    Scanner &scanner_;
    const char *name_;
    std::mutex mutex_;
    bool open_ = true;
    int words_ = 0;
    int id_ = 0;
};

int main()
{
    Scanner scanner;
    auto maps = std::make_unique<ReadingRoom>(scanner, "the map room");
    auto letters = std::make_unique<ReadingRoom>(scanner, "the letter room");
    std::thread scanning([&scanner] {
        for (int number = 1; number <= 5; number++) {
            scanner.publish({number, 100 * number});
            usleep(1000);
        }
    });
    usleep(2500);
    int seen = letters->words();
    letters.reset();
    scanning.join();
    int all = maps->words();
    assert(all == 1500 && seen <= all);
    maps.reset();
    return 0;
}
