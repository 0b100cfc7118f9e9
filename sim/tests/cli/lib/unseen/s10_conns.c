// SPDX-License-Identifier: Apache-2.0
/* Cause: leave(), line 56: a request that gives up at the head of the queue is only unlinked, and
 * the smaller one behind it, for which enough is free, stays asleep. repair: grant(limit) there. */
#include <sim/rewake.h>

struct request {
    struct request *next;
    struct rt_slot slot;
    uint32_t wanted;
    bool queued;
    bool granted;
};

struct limit {
    struct request *head;
    uint32_t free;
    bool regrants;
};

struct user {
    struct rt_task task;
    struct limit *limit;
    struct request request;
    struct rt_sleep delay;
    struct rt_sleep patience;
    struct user *other; /* The listener: whose query it waits for. */
    struct rt_slot listener;
    uint32_t at;
    bool done;
};

static void
grant(struct limit *limit)
{
    while (limit->head && limit->head->wanted <= limit->free) {
        struct request *request = limit->head;
        limit->head = request->next;
        limit->free -= request->wanted;
        request->queued = false;
        request->granted = true;
        rt_slot_wake(&request->slot);
    }
}

static void
leave(struct limit *limit, struct request *request)
{
    struct request **link = &limit->head;
    if (!request->queued) {
        return;
    }
    while (*link != request) {
        link = &(*link)->next;
    }
    *link = request->next;
    request->queued = false;
    if (limit->regrants) {
        grant(limit);
    }
}

static rt_poll
acquire(struct limit *limit, struct request *request, struct rt_cx *cx)
{
    if (!request->queued && !request->granted) {
        struct request **link = &limit->head;
        while (*link) {
            link = &(*link)->next;
        }
        *link = request;
        request->queued = true;
        grant(limit);
    }
    if (request->granted) {
        return RT_READY;
    }
    rt_slot_replace(&request->slot, cx, "a connection");
    return RT_PENDING;
}

static void
release(struct limit *limit, struct request *request)
{
    limit->free += request->wanted;
    request->granted = false;
    grant(limit);
}

static rt_poll
listener_poll(struct rt_task *task, struct rt_cx *cx)
{
    struct user *user = rt_container_of(task, struct user, task);
    RT_AWAIT(acquire(user->limit, &user->request, cx));
    if (!user->other->done) {
        rt_slot_replace(&user->other->listener, cx, "the query's notification");
        return RT_PENDING;
    }
    release(user->limit, &user->request);
    return RT_READY;
}

static rt_poll
query_poll(struct rt_task *task, struct rt_cx *cx)
{
    struct user *user = rt_container_of(task, struct user, task);
    RT_BEGIN(user->at);
    RT_AWAIT_HERE(user->at, rt_sleep_poll(&user->delay, cx));
    RT_AWAIT_HERE(user->at, acquire(user->limit, &user->request, cx));
    user->done = true;
    rt_slot_wake(&user->listener);
    release(user->limit, &user->request);
    RT_END(user->at);
}

/* Wants both connections, or none. */
static rt_poll
backup_poll(struct rt_task *task, struct rt_cx *cx)
{
    struct user *user = rt_container_of(task, struct user, task);
    if (!user->done) {
        RT_AWAIT(rt_sleep_poll(&user->delay, cx));
        user->done = true;
    }
    if (acquire(user->limit, &user->request, cx) == RT_READY) {
        rt_sleep_cancel(&user->patience);
        release(user->limit, &user->request);
        return RT_READY;
    }
    RT_AWAIT(rt_sleep_poll(&user->patience, cx));
    leave(user->limit, &user->request);
    rt_slot_clear(&user->request.slot);
    return RT_READY;
}

static void
begin(struct sim_world *world, bool regrants)
{
    static const char *const names[3] = {"listener", "query", "backup"};
    static const rt_poll_fn polls[3] = {listener_poll, query_poll, backup_poll};
    static const uint32_t wanted[3] = {1, 1, 2};
    struct sim_rt *rt = sim_rt_new(world, NULL);
    struct limit *limit = sim_new(world, struct limit);
    struct user *users[3];
    limit->free = 2;
    limit->regrants = regrants;
    for (uint32_t i = 0; i < 3; i++) {
        users[i] = sim_new(world, struct user);
        users[i]->limit = limit;
        users[i]->request.wanted = wanted[i];
        rt_slot_init(&users[i]->request.slot);
        rt_slot_init(&users[i]->listener);
        rt_sleep_init(&users[i]->delay, sim_range(world, 0, 3 * RT_MS));
        rt_sleep_init(&users[i]->patience, 1 * RT_MS);
        rt_task_init(&users[i]->task, polls[i], NULL, names[i]);
        sim_spawn(rt, &users[i]->task);
    }
    users[0]->other = users[1];
}

static void
setup_broken(struct sim_world *world)
{
    begin(world, false);
}

static void
setup_fixed(struct sim_world *world)
{
    begin(world, true);
}

SIM_SCENARIO(conns_broken, .name = "conns/broken", .about = "Two connections for three users.",
        .setup = setup_broken);
SIM_SCENARIO(
        conns_fixed, .name = "conns/fixed", .about = "The same, repaired.", .setup = setup_fixed);
