// exceptions.cpp -- exceptions and thread-local objects of C++ in an ordinary program: `exceptions
// WHAT` ends with 0 if all is as the standard says.
//
// SPDX-License-Identifier: Apache-2.0
#include <pthread.h>

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdio>
#include <cstring>
#include <exception>
#include <future>
#include <memory>
#include <mutex>
#include <shared_mutex>
#include <stdexcept>
#include <stop_token>
#include <string>
#include <thread>
#include <vector>

namespace
{

struct Base {
    virtual ~Base() = default;
};
struct Own : Base, std::runtime_error {
    explicit Own(int number) : std::runtime_error("own " + std::to_string(number)), number(number)
    {
    }
    int number;
};

std::atomic<int> destroyed;
struct Counted {
    ~Counted() { destroyed++; }
};

int
thrown_and_caught(int number)
{
    Counted counted;
    try {
        throw Own(number);
    } catch (const std::exception &error) {
        return error.what() == "own " + std::to_string(number) ? number : -1;
    }
}

// Each thread has its own exceptions in flight, also while it waits in a handler.
bool
in_threads()
{
    std::mutex mutex;
    std::atomic<int> sum{0};
    auto work = [&](int number) {
        try {
            throw Own(number);
        } catch (const Base &base) {
            std::lock_guard<std::mutex> lock(mutex);
            const Own &own = dynamic_cast<const Own &>(base);
            sum += own.number == thrown_and_caught(own.number) ? own.number : -100;
            try {
                std::rethrow_exception(std::current_exception());
            } catch (const Own &again) {
                sum += again.number;
            }
        }
        if (std::uncaught_exceptions() != 0) {
            sum = -1000;
        }
    };
    std::thread a(work, 1);
    std::thread b(work, 2);
    a.join();
    b.join();
    return sum == 6 && destroyed == 2;
}

// An exception leaves a call that rewake plays.
bool
through_calls()
{
    std::once_flag flag;
    int calls = 0;
    auto first = [&] {
        if (++calls == 1) {
            throw Own(1);
        }
    };
    int caught = 0;
    auto work = [&] {
        try {
            std::call_once(flag, first);
        } catch (const Own &) {
            caught++;
        }
    };
    std::thread a(work);
    std::thread b(work);
    a.join();
    b.join();
    return calls == 2 && caught == 1;
}

thread_local std::unique_ptr<std::string> text;
thread_local Counted counted;

// Objects of a thread are made in it, and end with it.
bool
locals()
{
    auto work = [](int number) {
        text = std::make_unique<std::string>(std::to_string(number));
        (void)&counted;
        std::this_thread::yield();
        if (*text != std::to_string(number)) {
            std::terminate();
        }
    };
    std::thread a(work, 1);
    std::thread b(work, 2);
    a.join();
    b.join();
    return destroyed == 2 && text == nullptr;
}

bool
futures()
{
    auto value = std::async(std::launch::async, thrown_and_caught, 5);
    std::future<int> error = std::async(std::launch::async, []() -> int { throw Own(3); });
    std::promise<int> promise;
    std::thread broken([&promise] {
        try {
            throw Own(4);
        } catch (...) {
            promise.set_exception(std::current_exception());
        }
    });
    int sum = value.get();
    for (auto *future : {&error}) {
        try {
            (void)future->get();
        } catch (const Own &own) {
            sum += own.number;
        }
    }
    try {
        (void)promise.get_future().get();
    } catch (const Own &own) {
        sum += own.number;
    }
    broken.join();
    return sum == 12;
}

bool
waits()
{
    std::shared_mutex mutex;
    std::condition_variable_any changed;
    int items = 0;
    int taken = 0;
    {
        std::jthread taker([&](const std::stop_token &stop) {
            std::unique_lock<std::shared_mutex> lock(mutex);
            while (changed.wait(lock, stop, [&] { return items > 0; })) {
                items--;
                taken++;
            }
        });
        std::jthread giver([&] {
            for (int i = 0; i < 2; i++) {
                std::unique_lock<std::shared_mutex> lock(mutex);
                items++;
                changed.notify_one();
            }
        });
        giver.join();
        for (bool empty = false; !empty;) {
            std::shared_lock<std::shared_mutex> lock(mutex);
            empty = items == 0;
            lock.unlock();
            std::this_thread::sleep_for(std::chrono::milliseconds(1));
        }
    }
    return taken == 2;
}

// pthread_exit and cancellation end the objects on the stack, and pass catch (...) that rethrows.
bool
forced(bool cancel, bool swallow)
{
    struct Waits {
        pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
        pthread_cond_t never = PTHREAD_COND_INITIALIZER;
        bool cancel = false;
        bool swallow = false;
        int passed = 0;
    } waits;
    waits.cancel = cancel;
    waits.swallow = swallow;
    auto main = [](void *argument) -> void * {
        auto *waits = static_cast<Waits *>(argument);
        Counted counted;
        try {
            Counted inner;
            if (!waits->cancel) {
                pthread_exit(waits);
            }
            std::lock_guard<std::mutex> lock(*reinterpret_cast<std::mutex *>(&waits->mutex));
            for (;;) {
                pthread_cond_wait(&waits->never, &waits->mutex);
            }
        } catch (...) {
            waits->passed++;
            if (!waits->swallow) {
                throw;
            }
        }
        return nullptr;
    };
    pthread_t id;
    void *result = nullptr;
    if (pthread_create(&id, nullptr, main, &waits) != 0) {
        return false;
    }
    if (cancel) {
        (void)pthread_cancel(id);
    }
    (void)pthread_join(id, &result);
    bool begun = !cancel || destroyed != 0;
    return result == (cancel ? PTHREAD_CANCELED : &waits) &&
           (!begun || (waits.passed == 1 && destroyed == 2)) &&
           pthread_mutex_trylock(&waits.mutex) == 0;
}

bool
uncaught(bool in_thread)
{
    auto work = [] { throw Own(7); };
    if (!in_thread) {
        work();
    }
    std::thread(work).join();
    return true;
}

} // namespace

int
main(int argc, char **argv)
{
    std::string what = argc > 1 ? argv[1] : "threads";
    bool good = what == "threads"    ? in_threads()
                : what == "calls"    ? through_calls()
                : what == "locals"   ? locals()
                : what == "futures"  ? futures()
                : what == "waits"    ? waits()
                : what == "exit"     ? forced(false, false)
                : what == "swallow"  ? forced(false, true)
                : what == "cancel"   ? forced(true, false)
                : what == "uncaught" ? uncaught(false)
                                     : uncaught(true);
    std::printf("%s %d\n", what.c_str(), destroyed.load());
    return good ? 0 : 1;
}
