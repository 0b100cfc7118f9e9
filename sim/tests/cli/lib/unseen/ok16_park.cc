/* ok16_park.cc -- a worker parks on an atomic word; unpark notifies only where it was parked.
 *
 * Correct: park() goes from EMPTY to PARKED by an exchange that fails where a token has come, and
 * unpark() puts the token by one exchange, which tells whether the worker was parked. Tokens that
 * come together count as one, and the worker looks at its whole list after each.
 */
#include <atomic>
#include <cassert>
#include <chrono>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

namespace
{

class parker
{
  public:
    void park()
    {
        if (state.exchange(EMPTY) == TOKEN) {
            return;
        }
        int expected = EMPTY;
        if (!state.compare_exchange_strong(expected, PARKED)) {
            state.store(EMPTY); // Only unpark can have come in between: its token is taken.
            return;
        }
        while (state.load() == PARKED) {
            state.wait(PARKED);
        }
        state.store(EMPTY);
    }

    void unpark()
    {
        if (state.exchange(TOKEN) == PARKED) {
            state.notify_one();
        }
    }

  private:
    enum { EMPTY, TOKEN, PARKED };
    std::atomic<int> state{EMPTY};
};

struct inbox {
    std::mutex mutex;
    std::vector<int> letters;
    parker owner;

    void send(int letter)
    {
        {
            std::lock_guard guard(mutex);
            letters.push_back(letter);
        }
        owner.unpark();
    }

    std::vector<int> take()
    {
        std::lock_guard guard(mutex);
        return std::exchange(letters, {});
    }
};

constexpr int SENDERS = 2;
constexpr int LETTERS = 3;

} // namespace

int
main()
{
    inbox box;
    int sum = 0;
    std::jthread reader([&] {
        for (int got = 0; got < SENDERS * LETTERS;) {
            std::vector<int> letters = box.take();
            if (letters.empty()) {
                box.owner.park();
                continue;
            }
            got += static_cast<int>(letters.size());
            for (int letter : letters) {
                sum += letter;
            }
        }
    });
    {
        std::vector<std::jthread> senders;
        for (int i = 0; i < SENDERS; i++) {
            senders.emplace_back([&box] {
                for (int letter = 1; letter <= LETTERS; letter++) {
                    box.send(letter);
                    std::this_thread::sleep_for(std::chrono::microseconds(100));
                }
            });
        }
    }
    reader.join();
    assert(sum == SENDERS * LETTERS * (LETTERS + 1) / 2);
    return 0;
}

/* SPDX-License-Identifier: Apache-2.0 */
