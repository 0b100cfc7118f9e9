/* Cause: play(), line 47: a player who was given up as absent has been counted already, and counts once more when he comes late, so the concert begins without another; repair: count only those who were not given up. */
#include <new>
#include <utility>

#include <runtime/cpp/coroutine.hpp>
#include <sim/rewake.h>

namespace
{

constexpr unsigned PLAYERS = 3;
constexpr unsigned ROOM = 8192;

struct player {
    bool tuned = false;
    bool absent = false;
};

struct hall {
    sim_world *world;
    player players[PLAYERS];
    int missing = PLAYERS;
    rt_slot conductor;
    bool counts_once;

    hall(sim_world *in, bool once) : world(in), counts_once(once)
    {
        rt_slot_init(&conductor);
    }
};

void
count_down(hall &in)
{
    in.missing--;
    if (in.missing <= 0) {
        rt_slot_wake(&in.conductor);
    }
}

rt::coroutine
play(rt::frames &, hall &in, player &self)
{
    co_await rt::sleep(sim_range(in.world, 2 * RT_MS, 12 * RT_MS), RT_HERE);
    self.tuned = true;
    if (!in.counts_once || !self.absent) {
        count_down(in);
    }
}

/* Goes round once, and gives up the first one who is not there. */
rt::coroutine
attend(rt::frames &, hall &in)
{
    co_await rt::sleep(sim_range(in.world, 4 * RT_MS, 8 * RT_MS), RT_HERE);
    for (player &each : in.players) {
        if (!each.tuned) {
            each.absent = true;
            count_down(in);
            break;
        }
    }
}

rt::coroutine
conduct(rt::frames &, hall &in)
{
    co_await rt::until([&](rt_cx *cx) {
        if (in.missing <= 0) {
            return RT_READY;
        }
        rt_slot_replace(&in.conductor, cx, "the players");
        return RT_PENDING;
    });
    for (const player &each : in.players) {
        SIM_ALWAYS(each.tuned || each.absent);
    }
}

template <typename T, typename... Arguments>
T *
make(sim_world *world, Arguments &&...arguments)
{
    return new (sim_alloc(world, sizeof(T))) T(std::forward<Arguments>(arguments)...);
}

void
set_up(sim_world *world, bool counts_once)
{
    sim_rt *rt = sim_rt_new(world, nullptr);
    std::span<std::byte> memory(static_cast<std::byte *>(sim_alloc(world, ROOM)), ROOM);
    rt::frames &frames = *make<rt::frames>(world, memory);
    hall &in = *make<hall>(world, world, counts_once);
    sim_spawn(rt, make<rt::task>(world, conduct(frames, in), "conductor")->raw());
    sim_spawn(rt, make<rt::task>(world, attend(frames, in), "attendant")->raw());
    for (player &each : in.players) {
        sim_spawn(rt, make<rt::task>(world, play(frames, in, each), "player")->raw());
    }
}

void
set_up_broken(sim_world *world)
{
    set_up(world, false);
}

void
set_up_fixed(sim_world *world)
{
    set_up(world, true);
}

SIM_SCENARIO(broken, .name = "s18/orchestra/broken", .about = "A concert begins when all are there.",
        .setup = set_up_broken);
SIM_SCENARIO(fixed, .name = "s18/orchestra/fixed", .about = "A concert begins when all are there.",
        .setup = set_up_fixed);

} /* namespace */
