// Correct.
// SPDX-License-Identifier: Apache-2.0
// clang-format off
/* Leader and followers: the task that came last waits for the next event, in a slot that it takes
 * over from the one before. Who takes an event wakes one that still waits. */
#include <sim/rewake.h>

#define MEMBERS 3

struct crew {
    struct rt_task poster;
    uint32_t poster_at;
    struct rt_sleep sleep;
    uint64_t pauses[MEMBERS];
    uint32_t posted;
    uint32_t events;
    struct rt_slot leader;
    struct member *members;
};

struct member {
    struct rt_task task;
    uint32_t at;
    struct rt_sleep sleep;
    uint64_t begin_ns;
    struct crew *crew;
    struct rt_slot follower;
    bool waits;
};

static rt_poll
poster_poll(struct rt_task *task, struct rt_cx *cx)
{
    struct crew *crew = rt_container_of(task, struct crew, poster);
    RT_BEGIN(crew->poster_at);
    while (crew->posted < MEMBERS) {
        rt_sleep_init(&crew->sleep, crew->pauses[crew->posted]);
        RT_AWAIT_HERE(crew->poster_at, rt_sleep_poll(&crew->sleep, cx));
        crew->posted++;
        crew->events++;
        rt_slot_wake(&crew->leader);
    }
    RT_END(crew->poster_at);
}

static rt_poll
member_wait(struct member *member, struct rt_cx *cx)
{
    struct crew *crew = member->crew;
    if (crew->events == 0) {
        member->waits = true;
        rt_slot_replace(&member->follower, cx, "its turn");
        rt_slot_replace(&crew->leader, cx, "an event");
        return RT_PENDING;
    }
    crew->events--;
    member->waits = false;
    for (uint32_t i = 0; i < MEMBERS; i++) {
        if (crew->members[i].waits) {
            rt_slot_wake(&crew->members[i].follower);
            break;
        }
    }
    return RT_READY;
}

static rt_poll
member_poll(struct rt_task *task, struct rt_cx *cx)
{
    struct member *member = rt_container_of(task, struct member, task);
    RT_BEGIN(member->at);
    rt_sleep_init(&member->sleep, member->begin_ns);
    RT_AWAIT_HERE(member->at, rt_sleep_poll(&member->sleep, cx));
    RT_AWAIT_HERE(member->at, member_wait(member, cx));
    RT_END(member->at);
}

static void
setup(struct sim_world *world)
{
    static const char *const names[MEMBERS] = {"ann", "ben", "cleo"};
    struct sim_rt *rt = sim_rt_new(world, NULL);
    struct crew *crew = sim_new(world, struct crew);
    rt_slot_init(&crew->leader);
    crew->members = sim_zalloc(world, MEMBERS * sizeof(struct member));
    for (uint32_t i = 0; i < MEMBERS; i++) {
        struct member *member = &crew->members[i];
        member->crew = crew;
        member->begin_ns = sim_range(world, 10 * RT_US, 500 * RT_US);
        crew->pauses[i] = sim_range(world, 10 * RT_US, 400 * RT_US);
        rt_slot_init(&member->follower);
        rt_task_init(&member->task, member_poll, NULL, names[i]);
        sim_spawn(rt, &member->task);
    }
    rt_task_init(&crew->poster, poster_poll, NULL, "poster");
    sim_spawn(rt, &crew->poster);
}

SIM_SCENARIO(leader, .name = "leader/ok", .about = "A leader waits, and followers take over.",
        .setup = setup);
