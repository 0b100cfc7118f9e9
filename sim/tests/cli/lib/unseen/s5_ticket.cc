// Cause: s5_ticket.cc:33 unlock() wakes one of the threads that wait for the number shown, whichever it is: if that is not the one whose ticket has come up it sleeps again, the right one is never woken, and all others queue behind it.
// SPDX-License-Identifier: Apache-2.0
// clang-format off
#include <atomic>
#include <chrono>
#include <cstdio>
#include <mutex>
#include <thread>
#include <vector>

using namespace std::chrono_literals;

// A fair lock: who comes first is served first.
class ticket_lock {
  public:
    void lock()
    {
        const int mine = next_.fetch_add(1);
        for (;;) {
            const int shown = serving_.load();
            if (shown == mine)
                return;
            serving_.wait(shown);
        }
    }

    void unlock()
    {
        serving_.fetch_add(1);
#ifdef FIXED
        serving_.notify_all();
#else
        serving_.notify_one();
#endif
    }

  private:
    std::atomic<int> next_{0};
    std::atomic<int> serving_{0};
};

struct account {
    ticket_lock lock;
    long balance = 0;
    std::vector<int> journal;
};

static void teller(account &a, int id)
{
    for (int i = 0; i < 3; i++) {
        {
            std::lock_guard guard(a.lock);
            a.balance += id;
            a.journal.push_back(id);
            std::this_thread::sleep_for(150us); // prints the slip
        }
        std::this_thread::sleep_for(100us * id); // calls the next customer
    }
}

int main()
{
    account shared;
    std::vector<std::thread> tellers;
    for (int id = 1; id <= 3; id++)
        tellers.emplace_back(teller, std::ref(shared), id);
    for (auto &t : tellers)
        t.join();
    std::printf("balance %ld after %zu entries\n", shared.balance, shared.journal.size());
    return shared.balance == 18 ? 0 : 1;
}
