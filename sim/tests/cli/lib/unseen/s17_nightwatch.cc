/* Cause: on_stop(), line 45: the condition variable is notified without the mutex; if the stop comes after the watch has asked stop_requested() and before it waits, the notification finds nobody and the watch sleeps forever, with main() in the join of the jthread; repair: take and release the mutex before notify_all. */
/*
 * A night watch: reports come in from the rooms and are written into a journal by a thread, which
 * ends when it is asked to stop.
 */
#include <cassert>
#include <condition_variable>
#include <cstdio>
#include <deque>
#include <mutex>
#include <stop_token>
#include <string>
#include <thread>
#include <vector>

class watch
{
  public:
    watch() : thread([this](std::stop_token stop) { keep_journal(stop); })
    {
    }

    ~watch()
    {
        thread.request_stop();
        thread.join();
        assert(reports.empty());
        std::printf("%zu reports in the journal\n", journal.size());
    }

    void report(std::string what)
    {
        std::lock_guard lock(mutex);
        reports.push_back(std::move(what));
        changed.notify_one();
    }

  private:
    void on_stop()
    {
#ifdef FIXED
        { std::lock_guard lock(mutex); }
        changed.notify_all();
#else
        changed.notify_all();
#endif
    }

    /* The thread. Reports that came before the stop are written all the same. */
    void keep_journal(std::stop_token stop)
    {
        std::stop_callback callback(stop, [this] { on_stop(); });
        std::unique_lock lock(mutex);
        for (;;) {
            while (reports.empty()) {
                if (stop.stop_requested())
                    return;
                changed.wait(lock);
            }
            std::string what = std::move(reports.front());
            reports.pop_front();
            lock.unlock();
            journal.push_back("seen: " + what);
            lock.lock();
        }
    }

    std::mutex mutex;
    std::condition_variable changed;
    std::deque<std::string> reports;
    std::vector<std::string> journal; /* The thread's own, until it was joined. */
    std::jthread thread;
};

static void patrol(watch &watch, const char *where)
{
    for (int i = 0; i < 2; i++)
        watch.report(std::string(where) + (i == 0 ? " dark" : " quiet"));
}

int main()
{
    watch watch;
    std::thread other(patrol, std::ref(watch), "attic");
    patrol(watch, "cellar");
    other.join();
    return 0;
}

/* SPDX-License-Identifier: Apache-2.0 */
