/* A client that sends a request again when no answer has come for a while, with growing pauses; answers
 * may be lost, doubled or late: correct, as requests have numbers and the last attempts are reliable. */
#include <cassert>
#include <chrono>
#include <condition_variable>
#include <cstdio>
#include <deque>
#include <mutex>
#include <optional>
#include <set>
#include <thread>
#include <vector>

using namespace std::chrono_literals;

struct Request {
    unsigned number;
    unsigned attempt;
};

template <typename T> class Channel
{
  public:
    void send(T item)
    {
        {
            std::lock_guard lock(mutex);
            items.push_back(item);
        }
        changed.notify_one(); /* Outside of the lock, where the waiter can run at once. */
    }

    void close()
    {
        {
            std::lock_guard lock(mutex);
            closed = true;
        }
        changed.notify_all();
    }

    std::optional<T> receive()
    {
        std::unique_lock lock(mutex);
        changed.wait(lock, [this] { return closed || !items.empty(); });
        return take();
    }

    template <typename D> std::optional<T> receive_for(D duration)
    {
        std::unique_lock lock(mutex);
        changed.wait_for(lock, duration, [this] { return closed || !items.empty(); });
        return take();
    }

  private:
    std::optional<T> take()
    {
        if (items.empty())
            return std::nullopt;
        T item = items.front();
        items.pop_front();
        return item;
    }

    std::mutex mutex;
    std::condition_variable changed;
    std::deque<T> items;
    bool closed = false;
};

static Channel<Request> requests;
static Channel<unsigned> answers;

/* Loses the first attempt of every second request, and answers the others twice. */
static void server(unsigned &ret_work)
{
    std::set<unsigned> seen;
    while (std::optional<Request> request = requests.receive()) {
        if (request->number % 2 == 0 && request->attempt == 0)
            continue;
        std::this_thread::sleep_for(1ms);
        if (seen.insert(request->number).second)
            ret_work++;
        answers.send(request->number);
        if (request->number % 2 == 1)
            answers.send(request->number);
    }
}

static unsigned call(unsigned number)
{
    auto pause = 4ms;
    for (unsigned attempt = 0;; attempt++) {
        requests.send({number, attempt});
        auto until = std::chrono::steady_clock::now() + pause;
        for (;;) {
            auto left = until - std::chrono::steady_clock::now();
            if (left <= 0ms)
                break;
            std::optional<unsigned> answer = answers.receive_for(left);
            if (answer == number)
                return attempt;
            /* None yet, or one of a former request, which is dropped. */
        }
        pause = std::min(pause * 2, 64ms);
    }
}

int main()
{
    unsigned work = 0;
    unsigned attempts = 0;
    std::thread serving([&] { server(work); });
    for (unsigned number = 0; number < 4; number++)
        attempts += call(number);
    requests.close();
    serving.join();
    assert(work == 4);
    assert(attempts >= 2);
    std::printf("%u requests\n", work);
    return 0;
}
/* SPDX-License-Identifier: Apache-2.0 */
