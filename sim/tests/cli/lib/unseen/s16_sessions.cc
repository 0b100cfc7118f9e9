/* Cause: heartbeat(), line 66: the index of the session is looked up before the answer to the ping is awaited; the reaper's swap-remove moves sessions meanwhile, so the time is written to another session and this one looks dead; repair: the index is looked up again after the await. */
/*
 * s16_sessions.cc -- a game server pings its players and removes those that are gone.
 */
#include <new>
#include <utility>

#include <runtime/cpp/coroutine.hpp>
#include <sim/rewake.h>

namespace
{

constexpr unsigned PLAYERS = 3;
constexpr unsigned PINGS = 5;
constexpr unsigned ROOM = 8192;

struct session {
    unsigned player;
    std::uint64_t last_seen;
};

struct server {
    sim_world *world;
    bool fixed;
    session sessions[PLAYERS];
    unsigned count = 0;
    bool connected[PLAYERS] = {};
    unsigned playing = 0;

    void join(unsigned player)
    {
        sessions[count++] = session{player, sim_now(world)};
        connected[player] = true;
        playing++;
    }

    int find(unsigned player) const
    {
        for (unsigned i = 0; i < count; i++) {
            if (sessions[i].player == player) {
                return static_cast<int>(i);
            }
        }
        return -1;
    }

    /* The order of sessions means nothing: the last one fills the gap. */
    void remove(unsigned index)
    {
        sessions[index] = sessions[--count];
    }
};

/* A packet there and back. */
rt::coroutine
ping(rt::frames &, server &of)
{
    co_await rt::sleep(sim_range(of.world, 1 * RT_MS, 3 * RT_MS), RT_HERE);
}

rt::coroutine
heartbeat(rt::frames &in, server &of, unsigned player, unsigned pings)
{
    for (unsigned i = 0; i < pings; i++) {
        int index = of.find(player);
        co_await ping(in, of);
        if (of.fixed) {
            index = of.find(player);
        }
        if (index >= 0) {
            of.sessions[index].last_seen = sim_now(of.world);
        }
        co_await rt::sleep(2 * RT_MS, RT_HERE);
    }
    of.connected[player] = false;
    of.playing--;
}

/* Removes those that were not seen for six milliseconds. */
rt::coroutine
reaper(rt::frames &, server &of)
{
    while (of.playing > 0 || of.count > 0) {
        co_await rt::sleep(3 * RT_MS, RT_HERE);
        for (unsigned i = of.count; i-- > 0;) {
            session &seen = of.sessions[i];
            if (sim_now(of.world) > seen.last_seen + 6 * RT_MS) {
                SIM_ALWAYS(!of.connected[seen.player]);
                of.remove(i);
            }
        }
    }
}

template <typename T, typename... Arguments>
T *
make(sim_world *world, Arguments &&...arguments)
{
    return new (sim_alloc(world, sizeof(T))) T(std::forward<Arguments>(arguments)...);
}

void
set_up(sim_world *world, bool fixed)
{
    static const char *const names[PLAYERS] = {"heartbeat A", "heartbeat B", "heartbeat C"};
    sim_rt_options options = {};
    sim_rt *rt = sim_rt_new(world, &options);
    sim_mock_time(world);
    std::byte *bytes = static_cast<std::byte *>(sim_alloc(world, (PLAYERS + 1) * ROOM));
    server &of = *make<server>(world);
    of.world = world;
    of.fixed = fixed;
    for (unsigned i = 0; i < PLAYERS; i++) {
        rt::frames &in = *make<rt::frames>(world, std::span<std::byte>(bytes + i * ROOM, ROOM));
        of.join(i);
        unsigned pings = i == 0 ? 1 : PINGS;
        sim_spawn(rt, make<rt::task>(world, heartbeat(in, of, i, pings), names[i])->raw());
    }
    rt::frames &in = *make<rt::frames>(world, std::span<std::byte>(bytes + PLAYERS * ROOM, ROOM));
    sim_spawn(rt, make<rt::task>(world, reaper(in, of), "reaper")->raw());
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

SIM_SCENARIO(broken, .name = "s16/sessions/broken", .about = "Players are pinged, and reaped.",
        .setup = set_up_broken, .expect = SIM_VERDICT_INVARIANT);
SIM_SCENARIO(fixed, .name = "s16/sessions/fixed", .about = "Players are pinged, and reaped.",
        .setup = set_up_fixed);

} /* namespace */

/* SPDX-License-Identifier: Apache-2.0 */
