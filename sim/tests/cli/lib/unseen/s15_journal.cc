/* Cause: journal::write_loop(), line 68: after the write it declares durable what is requested by now, not what
 * it took before it let go of the lock, so commit() returns too early; repair: durable = upto. */
#include <cassert>
#include <condition_variable>
#include <cstdio>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

/* A journal with group commit: one thread writes what several sessions have appended. */
class journal
{
  public:
    journal() : writer([this] { write_loop(); })
    {
    }

    ~journal()
    {
        {
            std::lock_guard guard(lock);
            closing = true;
            work.notify_one();
        }
        writer.join();
    }

    /* Returns when `record` is on the disk. */
    void commit(const std::string &record)
    {
        std::unique_lock guard(lock);
        pending.push_back(record);
        unsigned mine = ++appended;
        work.notify_one();
        written.wait(guard, [&] { return durable >= mine; });
    }

    bool on_disk(const std::string &record)
    {
        std::lock_guard guard(disk_lock);
        for (const std::string &each : disk) {
            if (each == record) {
                return true;
            }
        }
        return false;
    }

  private:
    void write_loop()
    {
        std::unique_lock guard(lock);
        for (;;) {
            work.wait(guard, [&] { return closing || !pending.empty(); });
            if (pending.empty()) {
                return;
            }
            std::vector<std::string> batch;
            batch.swap(pending);
            [[maybe_unused]] unsigned upto = appended;
            guard.unlock();
            write(batch);
            guard.lock();
#ifdef FIXED
            durable = upto;
#else
            durable = appended;
#endif
            written.notify_all();
        }
    }

    void write(const std::vector<std::string> &batch)
    {
        std::lock_guard guard(disk_lock);
        disk.insert(disk.end(), batch.begin(), batch.end());
    }

    std::mutex lock;
    std::condition_variable work;
    std::condition_variable written;
    std::vector<std::string> pending;
    unsigned appended = 0;
    unsigned durable = 0;
    bool closing = false;
    std::mutex disk_lock;
    std::vector<std::string> disk;
    std::thread writer;
};

static void
session(journal &to, const std::string &name)
{
    for (int i = 0; i < 2; i++) {
        std::string record = name + " pays " + std::to_string(i);
        to.commit(record);
        assert(to.on_disk(record));
    }
}

int
main()
{
    journal shared;
    std::thread ann([&] { session(shared, "ann"); });
    std::thread bob([&] { session(shared, "bob"); });
    ann.join();
    bob.join();
    std::printf("all paid\n");
    return 0;
}
/* SPDX-License-Identifier: Apache-2.0 */
