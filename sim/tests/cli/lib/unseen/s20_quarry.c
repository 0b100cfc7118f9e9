/* Cause: on_chute(), line 57-60: HUP is looked at before IN. Order: the crew throws the last stones and closes its end while stones are still in the pipe (the yard takes two at a time); the next event has IN and HUP, and the chute is closed with the stones in it. Harm: SIM_ALWAYS 80. Fix: IN first (48-51); the end is found by a read of 0, or by HUP alone. */
#include <errno.h>

#include <sim/rewake.h>

#define CARTS 3
#define TAKEN_AT_ONCE 2

struct quarry {
    struct sim_fds *fds;
    int epoll;
    int top;
    int foot;
    uint32_t thrown;
    uint32_t stacked;
    bool closed;
};

static void
chute_close(struct quarry *quarry)
{
    SIM_ALWAYS(sim_sys_epoll_remove(quarry->fds, quarry->epoll, quarry->foot) == 0);
    SIM_ALWAYS(sim_sys_close(quarry->fds, quarry->foot) == 0);
    quarry->closed = true;
}

static void
chute_take(struct quarry *quarry)
{
    char stones[TAKEN_AT_ONCE];
    int64_t count =
            sim_sys_read(quarry->fds, quarry->foot, stones, sizeof stones, SIM_SYS_DONTWAIT, RT_HERE);
    if (count == -EAGAIN) {
        return;
    }
    SIM_ALWAYS(count >= 0);
    if (count == 0) {
        chute_close(quarry);
        return;
    }
    quarry->stacked += (uint32_t)count;
}

static void
on_chute(struct quarry *quarry, uint32_t events)
{
#ifdef FIXED
    if (events & SIM_FD_IN) {
        chute_take(quarry);
        return;
    }
    if (events & SIM_FD_HUP) {
        chute_close(quarry);
        return;
    }
#else
    if (events & SIM_FD_HUP) {
        chute_close(quarry);
        return;
    }
    if (events & SIM_FD_IN) {
        chute_take(quarry);
        return;
    }
#endif
}

static void
yard_main(struct sim_world *world, void *argument)
{
    struct quarry *quarry = argument;
    while (!quarry->closed) {
        struct sim_fd_event event;
        int count = sim_sys_epoll_wait(quarry->fds, quarry->epoll, &event, 1, SIM_NEVER, RT_HERE);
        if (count == 1) {
            on_chute(quarry, event.events);
        }
    }
    sim_log(world, "%u stones stacked", quarry->stacked);
    SIM_ALWAYS(quarry->stacked == quarry->thrown);
}

static void
crew_main(struct sim_world *world, void *argument)
{
    struct quarry *quarry = argument;
    for (uint32_t cart = 0; cart < CARTS; cart++) {
        uint64_t stones = sim_range(world, 1, 4);
        sim_sleep(world, 2 * RT_MS);
        quarry->thrown += (uint32_t)stones;
        int64_t size = sim_sys_write(quarry->fds, quarry->top, "ssss", stones, 0, RT_HERE);
        SIM_ALWAYS(size == (int64_t)stones);
    }
    sim_sleep(world, RT_MS);
    SIM_ALWAYS(sim_sys_close(quarry->fds, quarry->top) == 0);
}

static void
setup(struct sim_world *world)
{
    struct quarry *quarry = sim_new(world, struct quarry);
    struct sim_host *host = sim_host_new(world, NULL, SIM_PROFILE_FD);
    quarry->fds = sim_fds_new(host, 3);
    quarry->epoll = sim_sys_epoll(quarry->fds, "yard");
    int ends[2];
    SIM_ALWAYS(sim_sys_pipe(quarry->fds, "chute", ends) == 0);
    quarry->foot = ends[0];
    quarry->top = ends[1];
    SIM_ALWAYS(sim_sys_epoll_add(quarry->fds, quarry->epoll, quarry->foot, SIM_FD_IN, 0) == 0);
    (void)sim_loop_new(world, "yard", yard_main, quarry);
    (void)sim_loop_new(world, "crew", crew_main, quarry);
}

#ifdef FIXED
#define FORM "fixed"
#else
#define FORM "broken"
#endif
SIM_SCENARIO(quarry, .name = "s20/quarry/" FORM, .about = "Stones come by a pipe, until it is closed.",
        .setup = setup);
