// Cause: loop_main(), the dispatch of a fetched batch by descriptor number alone: when the callback of `control`
// closes the old upstream and opens a new one, which gets the same number, a hang-up of the old one that is still
// in the batch is given to the new one, on_upstream() closes it, and its answer never arrives.
// SPDX-License-Identifier: Apache-2.0
// clang-format off
#include <sim/rewake.h>

struct proxy {
    struct sim_world *world;
    struct sim_fds *fds;
    int control;
    int control_peer;
    int upstream;
    int upstream_peer;
    uint32_t generation; /* Of the upstream. */
    bool old_is_open;
    bool reconnected;
    bool new_is_open;
    bool answered;
    bool checks_generation;
};

static uint64_t
tag(const struct proxy *proxy, int fd)
{
    return (uint64_t)proxy->generation << 32 | (uint32_t)fd;
}

static void
watch_upstream(struct proxy *proxy)
{
    proxy->generation++;
    SIM_ALWAYS(sim_fd_add(proxy->fds, proxy->upstream, SIM_FD_IN, tag(proxy, proxy->upstream)) ==
               RT_OK);
}

/* The control connection orders a new upstream. */
static void
on_control(struct proxy *proxy)
{
    char order = 0;
    int ends[2];
    if (sim_fd_read(proxy->fds, proxy->control, &order, 1) != 1) {
        return;
    }
    if (proxy->old_is_open) {
        proxy->old_is_open = false;
        SIM_ALWAYS(sim_fd_close(proxy->fds, proxy->upstream) == RT_OK);
    }
    SIM_ALWAYS(sim_fd_pair(proxy->fds, "new upstream", RT_MS, 2 * RT_MS, ends) == RT_OK);
    proxy->upstream = ends[0];
    proxy->upstream_peer = ends[1];
    proxy->reconnected = proxy->new_is_open = true;
    watch_upstream(proxy);
    SIM_ALWAYS(sim_fd_write(proxy->fds, ends[1], "!", 1) == 1); /* Its answer. */
}

static void
on_upstream(struct proxy *proxy, uint32_t events)
{
    char answer = 0;
    if (proxy->new_is_open && sim_fd_read(proxy->fds, proxy->upstream, &answer, 1) == 1) {
        proxy->answered = true;
        return;
    }
    if ((events & (SIM_FD_HUP | SIM_FD_ERR)) != 0) {
        SIM_ALWAYS(sim_fd_close(proxy->fds, proxy->upstream) == RT_OK);
        proxy->old_is_open = proxy->new_is_open = false;
    }
}

static void
dispatch(struct proxy *proxy, const struct sim_fd_event *event)
{
    int fd = (int)(uint32_t)event->data;
    if (fd == proxy->control) {
        on_control(proxy);
        return;
    }
    if (proxy->checks_generation && event->data >> 32 != proxy->generation) {
        return; /* Of a connection that is closed. */
    }
    if (fd == proxy->upstream && (proxy->old_is_open || proxy->new_is_open)) {
        on_upstream(proxy, event->events);
    }
}

static void
loop_main(struct sim_world *world, void *argument)
{
    struct proxy *proxy = argument;
    (void)world;
    while (!proxy->answered) {
        struct sim_fd_event batch[4];
        uint32_t count = sim_fd_wait(proxy->fds, batch, 4, SIM_NEVER);
        for (uint32_t i = 0; i < count; i++) {
            dispatch(proxy, &batch[i]);
        }
    }
}

/* The other side: the old upstream goes away, and the controller notices. */
static void
network_main(struct sim_world *world, void *argument)
{
    struct proxy *proxy = argument;
    sim_sleep(world, RT_MS);
    SIM_ALWAYS(sim_fd_write(proxy->fds, proxy->control_peer, "r", 1) == 1);
    int old_peer = proxy->upstream_peer;
    sim_sleep(world, sim_range(world, 0, 10 * RT_US));
    SIM_ALWAYS(sim_fd_close(proxy->fds, old_peer) == RT_OK);
}

static void
begin(struct sim_world *world, bool checks_generation)
{
    struct proxy *proxy = sim_new(world, struct proxy);
    int ends[2];
    proxy->world = world;
    proxy->checks_generation = checks_generation;
    proxy->fds = sim_fds_new(sim_host_new(world, NULL, SIM_PROFILE_DEFAULT), 3);
    SIM_ALWAYS(sim_fd_pair(proxy->fds, "control", RT_US, RT_MS, ends) == RT_OK);
    proxy->control = ends[0];
    proxy->control_peer = ends[1];
    SIM_ALWAYS(sim_fd_add(proxy->fds, proxy->control, SIM_FD_IN, (uint64_t)proxy->control) == RT_OK);
    SIM_ALWAYS(sim_fd_pair(proxy->fds, "old upstream", RT_US, RT_MS, ends) == RT_OK);
    proxy->upstream = ends[0];
    proxy->upstream_peer = ends[1];
    proxy->old_is_open = true;
    watch_upstream(proxy);
    (void)sim_loop_new(world, "proxy", loop_main, proxy);
    (void)sim_loop_new(world, "network", network_main, proxy);
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

SIM_SCENARIO(reuse_broken, .name = "set7/s7_reuse/broken",
        .about = "A proxy replaces its upstream connection.", .setup = setup_broken,
        .profile = SIM_PROFILE_FD);
SIM_SCENARIO(reuse_fixed, .name = "set7/s7_reuse/fixed",
        .about = "A proxy replaces its upstream connection.", .setup = setup_fixed,
        .profile = SIM_PROFILE_FD);
