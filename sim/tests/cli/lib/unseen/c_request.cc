// Cause: c_request.cc:44 finish() notifies after it has unlocked: the client may have seen done, returned and freed the request with its condition variable
// SPDX-License-Identifier: Apache-2.0
// clang-format off
#include <condition_variable>
#include <cstdio>
#include <deque>
#include <memory>
#include <mutex>
#include <thread>

struct Request {
    std::mutex lock;
    std::condition_variable finished;
    bool done = false;
    int in = 0, out = 0;
};

class Server {
public:
    Server() : thread_([this] { work(); }) {}
    ~Server()
    {
        post(nullptr);
        thread_.join();
    }

    void post(Request *r)
    {
        std::lock_guard<std::mutex> hold(lock_);
        queue_.push_back(r);
        some_.notify_one();
    }

private:
    static void finish(Request *r, int out)
    {
        std::unique_lock<std::mutex> hold(r->lock);
        r->out = out;
        r->done = true;
#ifdef FIXED
        r->finished.notify_one();
#else
        hold.unlock();
        r->finished.notify_one();
#endif
    }

    void work()
    {
        for (;;) {
            Request *r;
            {
                std::unique_lock<std::mutex> hold(lock_);
                some_.wait(hold, [this] { return !queue_.empty(); });
                r = queue_.front();
                queue_.pop_front();
            }
            if (!r)
                return;
            finish(r, r->in * 2);
        }
    }

    std::mutex lock_;
    std::condition_variable some_;
    std::deque<Request *> queue_;
    std::thread thread_;
};

static int call(Server &server, int in)
{
    auto r = std::make_unique<Request>();
    r->in = in;
    server.post(r.get());
    std::unique_lock<std::mutex> hold(r->lock);
    r->finished.wait(hold, [&] { return r->done; });
    int out = r->out;
    hold.unlock();
    return out;
}

int main()
{
    Server server;
    int a = 0;
    std::thread other([&] { a = call(server, 1); });
    int b = call(server, 2);
    other.join();
    std::printf("%d %d\n", a, b);
    return a == 2 && b == 4 ? 0 : 1;
}
