// SPDX-License-Identifier: Apache-2.0
/* Cause: solve(), line 59: a worker that finds no tile left leaves without arriving, the others wait for it in
   arrive_and_wait(); repair: arrive_and_drop() before leaving. */
#include <barrier>
#include <cassert>
#include <cstdio>
#include <mutex>
#include <optional>
#include <thread>
#include <vector>

constexpr int kWorkers = 3;
constexpr int kTiles = 7;

class TileQueue
{
  public:
    std::optional<int> take()
    {
        std::lock_guard guard(mutex_);
        if (next_ == kTiles)
            return std::nullopt;
        return next_++;
    }

  private:
    std::mutex mutex_;
    int next_ = 0;
};

class Grid
{
  public:
    void smooth(int tile)
    {
        std::lock_guard guard(mutex_);
        sum_ += tile;
        smoothed_++;
    }
    int smoothed() const
    {
        return smoothed_;
    }
    int sum() const
    {
        return sum_;
    }

  private:
    std::mutex mutex_;
    int smoothed_ = 0;
    int sum_ = 0;
};

static void
solve(TileQueue &tiles, Grid &grid, std::barrier<> &sweep)
{
    int sweeps = 0;
    for (;;) {
        auto tile = tiles.take();
        if (!tile) {
#ifdef FIXED
            sweep.arrive_and_drop();
#endif
            break;
        }
        grid.smooth(*tile);
        sweeps++;
        sweep.arrive_and_wait();
    }
    std::printf("worker left after %d sweeps\n", sweeps);
}

int
main()
{
    TileQueue tiles;
    Grid grid;
    std::barrier<> sweep(kWorkers);
    std::vector<std::jthread> workers;
    for (int i = 0; i < kWorkers; i++)
        workers.emplace_back([&] { solve(tiles, grid, sweep); });
    workers.clear();
    assert(grid.smoothed() == kTiles);
    std::printf("sum %d\n", grid.sum());
    return 0;
}
