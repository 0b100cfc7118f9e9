/* Cause: choir::give(), lines 90-93: the loop counts through members_ by index while leave() (92) erases the member that just sang; the next member moves to the index that is done, and does not hear this cue. Only when others have joined behind the soloist before the solo cue. Harm: assert(each.who->heard() == given_ - each.since), line 101. Fix: iterate over a copy of the list. */
#include <cassert>
#include <condition_variable>
#include <cstdio>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

struct cue {
    int number;
    bool solo;
};

class stage {
public:
    void post(std::function<void()> what)
    {
        std::lock_guard lock(mutex_);
        queue_.push_back(std::move(what));
        some_.notify_one();
    }

    void close()
    {
        post([this] { closed_ = true; });
    }

    void run()
    {
        while (!closed_) {
            std::unique_lock lock(mutex_);
            some_.wait(lock, [&] { return !queue_.empty(); });
            std::function<void()> what = std::move(queue_.front());
            queue_.pop_front();
            lock.unlock();
            what();
        }
    }

private:
    std::mutex mutex_;
    std::condition_variable some_;
    std::deque<std::function<void()>> queue_;
    bool closed_ = false;
};

class singer {
public:
    explicit singer(std::string name, bool soloist = false)
        : name_(std::move(name)), soloist_(soloist)
    {
    }

    // False: the singer leaves the choir.
    bool sing(const cue &what)
    {
        heard_++;
        return !(soloist_ && what.solo);
    }

    int heard() const { return heard_; }
    const std::string &name() const { return name_; }

private:
    std::string name_;
    bool soloist_;
    int heard_ = 0;
};

// On the stage thread only.
class choir {
public:
    void join(singer *who) { members_.push_back({who, given_}); }

    void give(const cue &what)
    {
        given_++;
#ifdef FIXED
        std::vector<member> members = members_;
        for (const member &each : members) {
            if (!each.who->sing(what)) {
                leave(each.who);
            }
        }
#else
        for (std::size_t i = 0; i < members_.size(); i++) {
            if (!members_[i].who->sing(what)) {
                leave(members_[i].who);
            }
        }
#endif
    }

    void verify() const
    {
        for (const member &each : members_) {
            assert(each.who->heard() == given_ - each.since);
        }
    }

private:
    struct member {
        singer *who;
        int since;
    };

    void leave(singer *who)
    {
        std::erase_if(members_, [&](const member &each) { return each.who == who; });
    }

    std::vector<member> members_;
    int given_ = 0;
};

int main()
{
    stage here;
    choir voices;
    singer first("Alto", true), second("Bass"), third("Tenor");
    std::thread show([&] { here.run(); });
    std::thread conductor([&] {
        for (int i = 0; i < 3; i++) {
            here.post([&, i] { voices.give({i, i == 1}); });
        }
    });
    std::thread late([&] {
        here.post([&] { voices.join(&second); });
        here.post([&] { voices.join(&third); });
    });
    here.post([&] { voices.join(&first); });
    conductor.join();
    late.join();
    here.close();
    show.join();
    voices.verify();
    std::printf("%s heard %d cues\n", second.name().c_str(), second.heard());
    return 0;
}
