// Cause: s3_flight.c:50 hand_over() makes the head of the queue the loader and ignores that its slot holds no waker any more (that user was cancelled while it queued), so the role goes to nobody and the users behind it are never woken.
// SPDX-License-Identifier: Apache-2.0
// clang-format off
#include <sim/rewake.h>

#define USERS 4

struct user;

/* One page that many want: the first one loads it, the others queue. */
struct flight {
    bool fixed;
    bool loading;
    bool loaded;
    struct user *queue[USERS];
    uint32_t head;
    uint32_t tail;
};

struct user {
    struct rt_task task;
    struct flight *flight;
    struct rt_slot turn;
    struct rt_sleep sleep;
    uint64_t start_ns;
    uint64_t load_ns;
    uint32_t at;
    bool leader;
    bool queued;
};

struct reaper {
    struct rt_task task;
    struct user *users;
    struct rt_sleep sleep;
    uint64_t first_ns;
    uint64_t second_ns;
    uint32_t at;
};

static void
hand_over(struct flight *flight)
{
    flight->loading = false;
    while (flight->head != flight->tail) {
        struct user *next = flight->queue[flight->head++ % USERS];
        next->queued = false;
        next->leader = true;
        flight->loading = true;
        bool heard = rt_slot_wake(&next->turn);
        if (heard || !flight->fixed) {
            return;
        }
        next->leader = false;
        flight->loading = false;
    }
}

static rt_poll
user_turn(struct user *user, struct rt_cx *cx)
{
    struct flight *flight = user->flight;
    if (flight->loaded || user->leader) {
        return RT_READY;
    }
    if (!flight->loading) {
        flight->loading = true;
        user->leader = true;
        return RT_READY;
    }
    if (!user->queued) {
        user->queued = true;
        flight->queue[flight->tail++ % USERS] = user;
    }
    rt_slot_replace(&user->turn, cx, "the page");
    return RT_PENDING;
}

static rt_poll
user_poll(struct rt_task *task, struct rt_cx *cx)
{
    struct user *user = rt_container_of(task, struct user, task);
    struct flight *flight = user->flight;
    RT_BEGIN(user->at);
    rt_sleep_init(&user->sleep, user->start_ns);
    RT_AWAIT_HERE(user->at, rt_sleep_poll(&user->sleep, cx));
    RT_AWAIT_HERE(user->at, user_turn(user, cx));
    if (user->leader) {
        rt_sleep_init(&user->sleep, user->load_ns);
        RT_AWAIT_HERE(user->at, rt_sleep_poll(&user->sleep, cx));
        flight->loaded = true;
        flight->loading = false;
        user->leader = false;
        while (flight->head != flight->tail) {
            struct user *next = flight->queue[flight->head++ % USERS];
            next->queued = false;
            rt_slot_wake(&next->turn);
        }
    }
    RT_END(user->at);
}

static void
user_cleanup(struct rt_task *task)
{
    struct user *user = rt_container_of(task, struct user, task);
    rt_sleep_cancel(&user->sleep);
    if (user->leader) {
        user->leader = false;
        hand_over(user->flight);
    }
}

/* Users who close their window. */
static rt_poll
reaper_poll(struct rt_task *task, struct rt_cx *cx)
{
    struct reaper *reaper = rt_container_of(task, struct reaper, task);
    RT_BEGIN(reaper->at);
    rt_sleep_init(&reaper->sleep, reaper->first_ns);
    RT_AWAIT_HERE(reaper->at, rt_sleep_poll(&reaper->sleep, cx));
    rt_task_cancel(&reaper->users[1].task);
    rt_sleep_init(&reaper->sleep, reaper->second_ns);
    RT_AWAIT_HERE(reaper->at, rt_sleep_poll(&reaper->sleep, cx));
    rt_task_cancel(&reaper->users[0].task);
    RT_END(reaper->at);
}

static void
setup(struct sim_world *world, bool fixed)
{
    static const char *const names[USERS] = {"user 0", "user 1", "user 2", "user 3"};
    struct sim_rt *rt = sim_rt_new(world, NULL);
    struct flight *flight = sim_new(world, struct flight);
    struct user *users = sim_zalloc(world, USERS * sizeof *users);
    struct reaper *reaper = sim_new(world, struct reaper);
    flight->fixed = fixed;
    for (uint32_t i = 0; i < USERS; i++) {
        users[i].flight = flight;
        users[i].start_ns = i * RT_MS / 10 + sim_range(world, 0, RT_MS / 2);
        users[i].load_ns = sim_range(world, RT_MS, 5 * RT_MS);
        rt_slot_init(&users[i].turn);
        rt_task_init(&users[i].task, user_poll, user_cleanup, names[i]);
        sim_spawn(rt, &users[i].task);
    }
    reaper->users = users;
    reaper->first_ns = sim_range(world, 3 * RT_MS / 2, 4 * RT_MS);
    reaper->second_ns = sim_range(world, RT_MS / 2, 2 * RT_MS);
    rt_task_init(&reaper->task, reaper_poll, NULL, "reaper");
    sim_spawn(rt, &reaper->task);
}

static void setup_broken(struct sim_world *world) { setup(world, false); }
static void setup_fixed(struct sim_world *world) { setup(world, true); }

SIM_SCENARIO(broken, .name = "set3/s3_flight/broken", .about = "One loads a page, others queue.",
        .setup = setup_broken);
SIM_SCENARIO(fixed, .name = "set3/s3_flight/fixed", .about = "One loads a page, others queue.",
        .setup = setup_fixed);
