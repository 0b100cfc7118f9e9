// lantern: lamps along a quay report over pipes; a lamp is replaced while its reports are under way.
#include <atomic>
#include <algorithm>
#include <cassert>
#include <chrono>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <fcntl.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <thread>
#include <unistd.h>
#include <vector>

using namespace std::chrono_literals;

class Quay
{
  public:
    Quay() : epoll_(epoll_create1(0)), bell_(eventfd(0, EFD_NONBLOCK))
    {
        watch(bell_, EPOLLIN, BELL);
    }

    // Returns the end that the lamp writes to.
    int hang(std::uint32_t place)
    {
        int ends[2];
        assert(pipe(ends) == 0);
        fcntl(ends[0], F_SETFL, O_NONBLOCK);
        lamps_.resize(std::max<std::size_t>(lamps_.size(), place + 1));
        lamps_[place].fd = ends[0];
        lamps_[place].life++;
        watch(ends[0], EPOLLIN | EPOLLET, std::uint64_t{lamps_[place].life} << 32 | place);
        return ends[1];
    }

    // Any thread.
    void ask_to_replace()
    {
        replace_ = true;
        if (!rung_.exchange(true)) {
            std::uint64_t one = 1;
            assert(write(bell_, &one, sizeof one) == sizeof one);
        }
    }

    void run(int replacements)
    {
        while (replaced < replacements || sparks < 2 * replacements) {
            epoll_event events[8];
            int count = epoll_wait(epoll_, events, 8, -1);
            for (int i = 0; i < count; i++) {
                if (events[i].data.u64 == BELL)
                    on_bell();
                else
                    on_lamp(events[i].data.u64);
            }
        }
    }

    int replaced = 0;
    int sparks = 0;
    int stale = 0;

  private:
    static constexpr std::uint64_t BELL = ~std::uint64_t{0};

    struct Lamp {
        int fd = -1;
        std::uint32_t life = 0;
    };

    void watch(int fd, std::uint32_t interest, std::uint64_t data)
    {
        epoll_event event{};
        event.events = interest;
        event.data.u64 = data;
        assert(epoll_ctl(epoll_, EPOLL_CTL_ADD, fd, &event) == 0);
    }

    void on_bell()
    {
        std::uint64_t strokes;
        if (read(bell_, &strokes, sizeof strokes) < 0)
            return;
        rung_ = false;
        if (!replace_.exchange(false))
            return;
        close(lamps_[0].fd);
        int lamp = hang(0);
        replaced++;
        assert(write(lamp, "**", 2) == 2);
    }

    void on_lamp(std::uint64_t data)
    {
        Lamp &lamp = lamps_[static_cast<std::uint32_t>(data)];
        if (lamp.life != data >> 32) {
            stale++;
            return;
        }
        char spark;
        while (read(lamp.fd, &spark, 1) == 1)
            if (spark == '*')
                sparks++;
    }

    int epoll_, bell_;
    std::atomic<bool> rung_{false}, replace_{false};
    std::vector<Lamp> lamps_;
};

int main()
{
    Quay quay;
    int old = quay.hang(0);
    std::signal(SIGPIPE, SIG_IGN);
    std::thread keeper([&] {
        std::this_thread::sleep_for(1ms);
        quay.ask_to_replace();
    });
    std::thread lamp([&] {
        std::this_thread::sleep_for(1ms);
        [[maybe_unused]] ssize_t n = write(old, ".", 1);
    });
    quay.run(1);
    keeper.join();
    lamp.join();
    std::printf("%d sparks\n", quay.sparks);
    return quay.sparks == 2 ? 0 : 1;
}
