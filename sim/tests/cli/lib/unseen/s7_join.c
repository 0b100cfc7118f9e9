// Cause: child_completes(): it wakes the joiner first and publishes `finished` after that. If the parent's executor
// polls the parent between the wake and the line `handle->finished = true`, the parent sees an unfinished child,
// stores itself as joiner again, and nobody wakes it any more.
// SPDX-License-Identifier: Apache-2.0
// clang-format off
#include <sim/rewake.h>

struct parent;

struct handle {
    struct parent *joiner; /* NULL: none. */
    bool finished;
    uint64_t took_ns;
    bool publishes_first;
};

struct parent {
    struct handle *handle;
    struct rt_host *host;
    struct rt_pollable bell;
    bool woken;
    bool finished;
};

struct child {
    struct handle *handle;
    struct rt_host *clock;
    uint64_t began_ns;
};

static bool
join(struct parent *parent)
{
    if (parent->handle->finished) {
        return true;
    }
    parent->handle->joiner = parent;
    sim_foreign_store(parent, &parent->handle->joiner, "the end of the child");
    return false;
}

static void
parent_run(struct parent *parent)
{
    parent->woken = false;
    sim_foreign_poll(parent);
    parent->finished = join(parent);
    sim_foreign_polled(parent, parent->finished);
}

static void
wake_joiner(struct handle *handle)
{
    struct parent *joiner = handle->joiner;
    handle->joiner = NULL;
    if (joiner != NULL) {
        sim_foreign_fire(&handle->joiner);
        joiner->woken = true;
        rt_host_notify(joiner->host);
    }
}

/* On the other executor's thread. */
static void
child_completes(struct child *child)
{
    struct handle *handle = child->handle;
    if (handle->publishes_first) {
        handle->finished = true;
        wake_joiner(handle);
        handle->took_ns = rt_host_now(child->clock) - child->began_ns;
        return;
    }
    wake_joiner(handle);
    handle->took_ns = rt_host_now(child->clock) - child->began_ns;
    handle->finished = true;
}

static void
parent_main(struct sim_world *world, void *argument)
{
    struct parent *parent = argument;
    struct rt_pollable *list[1] = {&parent->bell};
    uint32_t ready[1];
    uint32_t count = 1;
    (void)world;
    for (;;) {
        while (parent->woken && !parent->finished) {
            parent_run(parent);
        }
        if (parent->finished) {
            break;
        }
        SIM_ALWAYS(rt_host_poll(parent->host, list, 1, ready, &count) == RT_OK);
    }
    rt_pollable_drop(&parent->bell);
}

static void
child_main(struct sim_world *world, void *argument)
{
    struct child *child = argument;
    child->began_ns = rt_host_now(child->clock);
    sim_sleep(world, sim_range(world, 1 * RT_US, 10 * RT_US));
    child_completes(child);
}

static void
parent_again(void *runtime, void *task)
{
    (void)runtime;
    parent_run(task);
}

static void
begin(struct sim_world *world, bool publishes_first)
{
    struct handle *handle = sim_new(world, struct handle);
    struct parent *parent = sim_new(world, struct parent);
    struct child *child = sim_new(world, struct child);
    handle->publishes_first = publishes_first;
    parent->handle = child->handle = handle;
    parent->host = sim_host_seam(sim_host_new(world, "first host", SIM_PROFILE_DEFAULT));
    child->clock = sim_host_seam(sim_host_new(world, "second host", SIM_PROFILE_DEFAULT));
    parent->woken = true;
    SIM_ALWAYS(rt_host_subscribe(parent->host, RT_SUBSCRIBE_NOTIFY, 0, &parent->bell) == RT_OK);
    struct sim_loop *loop = sim_loop_new(world, "first executor", parent_main, parent);
    struct sim_foreign *foreign = sim_foreign_new(loop, parent_again, NULL);
    sim_foreign_spawn(foreign, parent, "parent");
    (void)sim_loop_new(world, "second executor", child_main, child);
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

SIM_SCENARIO(join_broken, .name = "set7/s7_join/broken",
        .about = "A task on one executor joins a task on another.", .setup = setup_broken);
SIM_SCENARIO(join_fixed, .name = "set7/s7_join/fixed",
        .about = "A task on one executor joins a task on another.", .setup = setup_fixed);
