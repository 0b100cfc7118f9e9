/* Cause: HarbourMaster::announce() iterates over berths_ by index (40-43) and drops the lock during the call (44-46); unsubscribe() (28-30) erases an earlier berth meanwhile, the others move down, and the next one is skipped and hears nothing. */
#include <algorithm>
#include <cassert>
#include <chrono>
#include <cstdio>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

class HarbourMaster
{
  public:
    using Notice = std::function<void(const std::string &)>;

    int subscribe(Notice notice)
    {
        std::lock_guard lock(mutex_);
        berths_.push_back({++last_id_, std::make_shared<Notice>(std::move(notice))});
        return last_id_;
    }

    void unsubscribe(int id)
    {
        std::lock_guard lock(mutex_);
        berths_.erase(std::remove_if(berths_.begin(), berths_.end(),
                              [id](const Berth &berth) { return berth.id == id; }),
                berths_.end());
    }

    // Called without the lock, as a notice may unsubscribe.
    void announce(const std::string &text)
    {
        std::unique_lock lock(mutex_);
#ifdef FIXED
        const auto berths = berths_;
#else
        const auto &berths = berths_;
#endif
        for (std::size_t i = 0; i < berths.size(); i++) {
            auto notice = berths[i].notice;
            lock.unlock();
            (*notice)(text);
            lock.lock();
        }
    }

  private:
    struct Berth {
        int id;
        std::shared_ptr<Notice> notice;
    };

    std::mutex mutex_;
    std::vector<Berth> berths_;
    int last_id_ = 0;
};

struct Ship {
    std::string name;
    std::mutex mutex;
    int heard = 0;

    void hear(const std::string &)
    {
        std::lock_guard lock(mutex);
        heard++;
    }
};

int main()
{
    using namespace std::chrono_literals;
    HarbourMaster master;
    Ship ferry{"ferry", {}, 0}, tug{"tug", {}, 0}, trawler{"trawler", {}, 0};
    int ferry_id = master.subscribe([&](const std::string &text) { ferry.hear(text); });
    master.subscribe([&](const std::string &text) { tug.hear(text); });
    master.subscribe([&](const std::string &text) { trawler.hear(text); });

    std::thread departure([&] {
        std::this_thread::sleep_for(2ms);
        master.unsubscribe(ferry_id);
    });
    std::thread office([&] {
        for (const char *text : {"fog", "gale", "all clear"}) {
            std::this_thread::sleep_for(1ms);
            master.announce(text);
        }
    });
    departure.join();
    office.join();

    std::printf("tug %d, trawler %d\n", tug.heard, trawler.heard);
    assert(ferry.heard <= 3);
    assert(tug.heard == 3);
    assert(trawler.heard == 3);
    return 0;
}
