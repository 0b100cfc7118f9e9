/* Cause: Glassworks::pot() looks with the shared lock (41-44), gives it up, takes the exclusive lock (46) and does not look again before it makes and stores a pot (52-53): the second of two threads replaces the first one's pot, and what was drawn from that is lost from the sum. */
#include <cassert>
#include <chrono>
#include <cstdio>
#include <map>
#include <memory>
#include <mutex>
#include <shared_mutex>
#include <string>
#include <thread>
#include <vector>

class Pot
{
  public:
    explicit Pot(std::string colour) : colour_(std::move(colour)) {}

    void draw(int grams)
    {
        std::lock_guard lock(mutex_);
        drawn_ += grams;
    }
    int drawn() const
    {
        std::lock_guard lock(mutex_);
        return drawn_;
    }

  private:
    std::string colour_;
    mutable std::mutex mutex_;
    int drawn_ = 0;
};

class Glassworks
{
  public:
    std::shared_ptr<Pot> pot(const std::string &colour)
    {
        {
            std::shared_lock lock(mutex_);
            auto found = pots_.find(colour);
            if (found != pots_.end())
                return found->second;
        }
        std::unique_lock lock(mutex_);
#ifdef FIXED
        auto found = pots_.find(colour);
        if (found != pots_.end())
            return found->second;
#endif
        auto melted = std::make_shared<Pot>(colour);
        pots_[colour] = melted;
        return melted;
    }

    int drawn() const
    {
        std::shared_lock lock(mutex_);
        int sum = 0;
        for (const auto &[colour, pot] : pots_)
            sum += pot->drawn();
        return sum;
    }

  private:
    mutable std::shared_mutex mutex_;
    std::map<std::string, std::shared_ptr<Pot>> pots_;
};

int main()
{
    using namespace std::chrono_literals;
    const std::vector<std::vector<std::string>> orders = {
            {"cobalt", "ruby", "amber"}, {"amber", "cobalt"}, {"ruby", "amber"}};
    Glassworks works;
    std::vector<std::thread> blowers;
    int ordered = 0;
    for (std::size_t i = 0; i < orders.size(); i++) {
        ordered += static_cast<int>(orders[i].size()) * 100;
        blowers.emplace_back([&works, &list = orders[i], i] {
            for (const auto &colour : list) {
                std::this_thread::sleep_for(1ms + 300us * i);
                works.pot(colour)->draw(100);
            }
        });
    }
    for (auto &blower : blowers)
        blower.join();
    std::printf("%d of %d grams\n", works.drawn(), ordered);
    return works.drawn() == ordered ? 0 : 1;
}
