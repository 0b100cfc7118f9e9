/* Cause: Office::send(), line 75-77: the wire is taken (75), Key::press throws Busy (48) when the other operator has the key, and the wire is not given back (77 is passed over). Order: an operator sends while the other one presses the key. Each such attempt loses a permit. Harm: assert 112; with both lost, both operators wait forever. Fix: give it back where the exception passes (69-72).
 */
#include <cassert>
#include <cstdio>
#include <mutex>
#include <semaphore.h>
#include <stdexcept>
#include <string>
#include <thread>
#include <unistd.h>
#include <vector>

class Busy : public std::runtime_error {
public:
    Busy() : std::runtime_error("the key is in use") {}
};

class Wires {
public:
    explicit Wires(unsigned count) { sem_init(&free_, 0, count); }
    ~Wires() { sem_destroy(&free_); }
    Wires(const Wires &) = delete;

    void take()
    {
        while (sem_wait(&free_) != 0) {
        }
    }
    void give_back() { sem_post(&free_); }

    int count()
    {
        int value = 0;
        sem_getvalue(&free_, &value);
        return value;
    }

private:
    sem_t free_;
};

class Key {
public:
    void press(const std::string &text)
    {
        std::unique_lock lock(mutex_, std::try_to_lock);
        if (!lock.owns_lock()) {
            throw Busy();
        }
        usleep(200 * text.size());
        letters_ += text.size();
    }

    size_t letters() const { return letters_; }

private:
    std::mutex mutex_;
    size_t letters_ = 0;
};

class Office {
public:
    void send(const std::string &text)
    {
#ifdef FIXED
        wires_.take();
        try {
            key_.press(text);
        } catch (const Busy &) {
            wires_.give_back();
            throw;
        }
        wires_.give_back();
#else
        wires_.take();
        key_.press(text);
        wires_.give_back();
#endif
    }

    int free_wires() { return wires_.count(); }
    size_t letters() const { return key_.letters(); }

private:
    Wires wires_{2};
    Key key_;
};

static void operate(Office &office, std::vector<std::string> telegrams)
{
    for (const std::string &text : telegrams) {
        for (bool sent = false; !sent;) {
            try {
                office.send(text);
                sent = true;
            } catch (const Busy &) {
                usleep(700);
            }
        }
        usleep(1500);
    }
}

int main()
{
    Office office;
    std::thread first(operate, std::ref(office), std::vector<std::string>{"arrive monday", "stop"});
    usleep(2900);
    std::thread second(operate, std::ref(office), std::vector<std::string>{"buy", "sell"});
    first.join();
    second.join();
    assert(office.free_wires() == 2);
    std::printf("%zu letters sent\n", office.letters());
    return 0;
}
