// Cause: user_poll(), the branch that says "the load has failed": it sets the cell back to EMPTY and returns
// without waking one of the queued users. When a user begins to wait while another one loads, and that load
// fails, nobody is left who loads the value or wakes the queue, so the waiting users sleep forever.
// SPDX-License-Identifier: Apache-2.0
// clang-format off
#include <sim/rewake.h>

#define USERS 3u

struct cell {
    enum { EMPTY, LOADING, FULL } state;
    struct rt_wait_queue users;
    struct rt_wait_queue_entry entries[USERS];
    bool passes_on;
};

struct user {
    struct rt_task task;
    struct sim_world *world;
    struct cell *cell;
    struct rt_sleep load;
    bool loads;
};

/* The load is over: true when it has brought the value. */
static bool
load_worked(struct user *user)
{
    return sim_pick(user->world, 4) != 3;
}

static rt_poll
user_poll(struct rt_task *task, struct rt_cx *cx)
{
    struct user *user = rt_container_of(task, struct user, task);
    struct cell *cell = user->cell;
    if (!user->loads) {
        if (cell->state == LOADING) {
            SIM_ALWAYS(rt_wait_queue_store(&cell->users, cx, "the value") == RT_OK);
            return RT_PENDING;
        }
        (void)rt_wait_queue_leave(&cell->users, cx);
        if (cell->state == FULL) {
            return RT_READY;
        }
        cell->state = LOADING;
        user->loads = true;
        rt_sleep_init(&user->load, sim_range(user->world, 100 * RT_US, RT_MS));
    }
    RT_AWAIT(rt_sleep_poll(&user->load, cx));
    user->loads = false;
    if (!load_worked(user)) {
        cell->state = EMPTY; /* The load has failed: this user gives up. */
        if (cell->passes_on) {
            (void)rt_wait_queue_wake(&cell->users, 1);
        }
        return RT_READY;
    }
    cell->state = FULL;
    (void)rt_wait_queue_wake(&cell->users, UINT32_MAX);
    return RT_READY;
}

static void
begin(struct sim_world *world, bool passes_on)
{
    static const char *const names[USERS] = {"user 1", "user 2", "user 3"};
    struct sim_rt *rt = sim_rt_new(world, NULL);
    struct cell *cell = sim_new(world, struct cell);
    rt_wait_queue_init(&cell->users, cell->entries, USERS);
    cell->passes_on = passes_on;
    for (uint32_t i = 0; i < USERS; i++) {
        struct user *user = sim_new(world, struct user);
        user->world = world;
        user->cell = cell;
        rt_task_init(&user->task, user_poll, NULL, names[i]);
        sim_spawn(rt, &user->task);
    }
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

SIM_SCENARIO(once_broken, .name = "set7/s7_once/broken", .about = "A value that is loaded once.",
        .setup = setup_broken);
SIM_SCENARIO(once_fixed, .name = "set7/s7_once/fixed", .about = "A value that is loaded once.",
        .setup = setup_fixed);
