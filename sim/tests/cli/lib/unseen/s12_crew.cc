/*
 * A crew that works in rounds: main opens a round, and waits until every member has reported.
 * Cause: Crew::retire() (line 61) takes a member off the crew and does not notify finished_, although the round may be complete with that.
 */
#include <condition_variable>
#include <cstdio>
#include <mutex>
#include <optional>
#include <stop_token>
#include <thread>
#include <vector>

class Crew
{
  public:
    explicit Crew(unsigned size) : members_(size)
    {
    }

    void round(std::vector<int> pieces)
    {
        std::unique_lock lock(mutex_);
        pieces_ = std::move(pieces);
        reported_ = 0;
        round_++;
        opened_.notify_all();
        finished_.wait(lock, [this] { return reported_ == members_; });
    }

    /* The number of the next round; none when there is no more. */
    std::optional<unsigned> next(std::stop_token stop, unsigned seen)
    {
        std::unique_lock lock(mutex_);
        if (!opened_.wait(lock, stop, [&] { return round_ != seen; }))
            return std::nullopt;
        return round_;
    }

    std::optional<int> piece()
    {
        std::lock_guard lock(mutex_);
        if (pieces_.empty())
            return std::nullopt;
        int last = pieces_.back();
        pieces_.pop_back();
        return last;
    }

    void report(int sum)
    {
        std::lock_guard lock(mutex_);
        total_ += sum;
        if (++reported_ == members_)
            finished_.notify_one();
    }

    void retire(int sum)
    {
        std::lock_guard lock(mutex_);
        total_ += sum;
        members_--;
#ifdef FIXED
        if (reported_ == members_)
            finished_.notify_one();
#endif
    }

    int total() const
    {
        return total_;
    }

  private:
    std::mutex mutex_;
    std::condition_variable_any opened_;
    std::condition_variable_any finished_;
    std::vector<int> pieces_;
    unsigned members_;
    unsigned reported_ = 0;
    unsigned round_ = 0;
    int total_ = 0;
};

/* A member takes pieces as long as there are any; with `quota` of them it has done enough. */
static void member(std::stop_token stop, Crew &crew, int quota)
{
    unsigned seen = 0;
    int done = 0;
    for (;;) {
        auto round = crew.next(stop, seen);
        if (!round)
            return;
        seen = *round;
        int sum = 0;
        while (auto piece = crew.piece()) {
            sum += *piece;
            done++;
        }
        if (done >= quota) {
            crew.retire(sum);
            return;
        }
        crew.report(sum);
    }
}

int main()
{
    Crew crew(3);
    {
        std::vector<std::jthread> members;
        for (int i = 0; i < 3; i++)
            members.emplace_back(member, std::ref(crew), i == 2 ? 1000 : 4);
        for (int i = 0; i < 3; i++)
            crew.round({1, 2, 3, 4});
    }
    std::printf("total %d\n", crew.total());
    return crew.total() == 30 ? 0 : 1;
}
// SPDX-License-Identifier: Apache-2.0
