/* Cause: Astronomer::turn_to(), line 75-84: the next reply that arrives is taken for the answer to this request. Order: the dome is slower than the astronomer's patience once; turn_to returns nothing (72), the next target is requested (66); the late reply for the former target arrives first and is returned (84). Harm: assert 127. Fix: replies with another number are passed over (80-82). */
#include <cassert>
#include <cerrno>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <optional>
#include <poll.h>
#include <sys/socket.h>
#include <thread>
#include <unistd.h>
#include <vector>

struct Request {
    uint32_t number;
    int32_t target;
};

struct Reply {
    uint32_t number;
    int32_t azimuth;
};

static int32_t azimuth_of(int32_t target)
{
    return target * 37 % 360;
}

/* The motors; slow, and one request at a time. */
class Dome {
public:
    explicit Dome(int fd) : fd_(fd), thread_([this] { serve(); }) {}
    ~Dome()
    {
        thread_.join();
        close(fd_);
    }

private:
    void serve()
    {
        Request request;
        while (recv(fd_, &request, sizeof request, MSG_WAITALL) == (ssize_t)sizeof request) {
            usleep(3000);
            Reply reply{request.number, azimuth_of(request.target)};
            if (send(fd_, &reply, sizeof reply, MSG_NOSIGNAL) != (ssize_t)sizeof reply) {
                return;
            }
        }
    }

    int fd_;
    std::thread thread_;
};

class Astronomer {
public:
    explicit Astronomer(int fd) : fd_(fd) {}

    ~Astronomer() { shutdown(fd_, SHUT_RDWR); close(fd_); }

    /* Nothing: the dome has not answered in time, and the target is left out tonight. */
    std::optional<int32_t> turn_to(int32_t target)
    {
        Request request{++number_, target};
        if (send(fd_, &request, sizeof request, MSG_NOSIGNAL) != (ssize_t)sizeof request) {
            return std::nullopt;
        }
        auto deadline = std::chrono::steady_clock::now() + patience;
        for (;;) {
            if (!readable_before(deadline)) {
                return std::nullopt;
            }
            Reply reply;
            ssize_t size = recv(fd_, &reply, sizeof reply, MSG_WAITALL);
            if (size != (ssize_t)sizeof reply) {
                return std::nullopt;
            }
#ifdef FIXED
            if (reply.number != request.number) {
                continue;
            }
#endif
            return reply.azimuth;
        }
    }

private:
    static constexpr std::chrono::milliseconds patience{12};

    bool readable_before(std::chrono::steady_clock::time_point deadline)
    {
        using namespace std::chrono;
        auto left = duration_cast<milliseconds>(deadline - steady_clock::now()).count();
        pollfd entry{fd_, POLLIN, 0};
        int count;
        do {
            count = poll(&entry, 1, left > 0 ? (int)left : 0);
        } while (count < 0 && errno == EINTR);
        return count == 1;
    }

    int fd_;
    uint32_t number_ = 0;
};

struct Exposure {
    int32_t target;
    int32_t azimuth;
};

int main()
{
    int ends[2];
    if (socketpair(AF_UNIX, SOCK_STREAM, 0, ends) != 0) {
        return 1;
    }
    Dome dome(ends[1]);
    Astronomer astronomer(ends[0]);
    std::vector<Exposure> exposures;
    for (int32_t target : {4, 11, 19, 23}) {
        if (auto azimuth = astronomer.turn_to(target)) {
            exposures.push_back({target, *azimuth});
        }
    }
    for (const Exposure &exposure : exposures) {
        assert(exposure.azimuth == azimuth_of(exposure.target));
    }
    std::printf("exposures taken\n");
    return 0;
}
