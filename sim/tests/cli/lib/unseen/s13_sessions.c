/* A loop over epoll with one timerfd for all its sessions, which is set to the earliest of their ends.
 * Cause: on_timer() line 65: when the last session has ended, `armed_ns` keeps the time that is past, so the next
 * session seems to have a timer already; repair: nothing is armed any more, SIM_NEVER. */
#include <sim/rewake.h>

#define SESSIONS 4

struct loop {
    struct sim_fds *fds;
    struct sim_world *world;
    int epoll;
    int timer;
    int commands[2];
    uint64_t armed_ns; /* When the timerfd is due; SIM_NEVER: not armed. */
    uint64_t ends_ns[SESSIONS];
    unsigned live;
    unsigned begun;
    unsigned ended;
    bool fixed;
};

enum { EVENT_TIMER, EVENT_COMMAND };

static void
arm(struct loop *loop, uint64_t due_ns)
{
    SIM_ALWAYS(sim_sys_timerfd_set(loop->fds, loop->timer,
                       &(struct sim_sys_timer){.due_ns = due_ns}, NULL) == 0);
    loop->armed_ns = due_ns;
}

static void
session_begin(struct loop *loop, uint64_t duration_ns)
{
    uint64_t end_ns = sim_now(loop->world) + duration_ns;
    SIM_ALWAYS(loop->live < SESSIONS);
    loop->ends_ns[loop->live++] = end_ns;
    loop->begun++;
    if (end_ns < loop->armed_ns) {
        arm(loop, end_ns);
    }
}

static void
on_timer(struct loop *loop)
{
    uint64_t count;
    if (sim_sys_read(loop->fds, loop->timer, &count, sizeof(count), 0, RT_HERE) < 0) {
        return;
    }
    uint64_t now_ns = sim_now(loop->world);
    uint64_t next_ns = SIM_NEVER;
    for (unsigned i = 0; i < loop->live;) {
        if (loop->ends_ns[i] <= now_ns) {
            loop->ends_ns[i] = loop->ends_ns[--loop->live];
            loop->ended++;
            SIM_PROGRESS();
            continue;
        }
        if (loop->ends_ns[i] < next_ns) {
            next_ns = loop->ends_ns[i];
        }
        i++;
    }
    if (next_ns != SIM_NEVER) {
        arm(loop, next_ns);
    } else if (loop->fixed) {
        loop->armed_ns = SIM_NEVER;
    }
}

static void
on_command(struct loop *loop)
{
    unsigned char command;
    int64_t size = sim_sys_read(loop->fds, loop->commands[0], &command, 1, 0, RT_HERE);
    if (size == 1) {
        SIM_PROGRESS();
        session_begin(loop, command * 100 * RT_US);
    }
}

static void
loop_main(struct sim_world *world, void *argument)
{
    struct loop *loop = argument;
    (void)world;
    while (loop->ended < SESSIONS) {
        struct sim_fd_event events[2];
        int count = sim_sys_epoll_wait(loop->fds, loop->epoll, events, 2, SIM_NEVER, RT_HERE);
        for (int i = 0; i < count; i++) {
            if (events[i].data == EVENT_TIMER) {
                on_timer(loop);
            } else {
                on_command(loop);
            }
        }
    }
}

static void
client_main(struct sim_world *world, void *argument)
{
    struct loop *loop = argument;
    for (unsigned i = 0; i < SESSIONS; i++) {
        unsigned char command = (unsigned char)sim_range(world, 30, 50);
        SIM_ALWAYS(sim_sys_write(loop->fds, loop->commands[1], &command, 1, 0, RT_HERE) == 1);
        sim_sleep(world, sim_range(world, 1 * RT_MS, 5 * RT_MS));
    }
}

static void
set_up(struct sim_world *world, bool fixed)
{
    struct loop *loop = sim_new(world, struct loop);
    loop->fds = sim_fds_new(sim_host_new(world, NULL, SIM_PROFILE_FD), 3);
    loop->world = world;
    loop->fixed = fixed;
    loop->armed_ns = SIM_NEVER;
    loop->epoll = sim_sys_epoll(loop->fds, "epoll");
    loop->timer = sim_sys_timerfd(loop->fds, "timer");
    SIM_ALWAYS(sim_sys_pipe(loop->fds, "commands", loop->commands) == 0);
    SIM_ALWAYS(sim_sys_set_status(loop->fds, loop->timer, SIM_SYS_NONBLOCK) == 0);
    SIM_ALWAYS(sim_sys_set_status(loop->fds, loop->commands[0], SIM_SYS_NONBLOCK) == 0);
    SIM_ALWAYS(sim_sys_epoll_add(loop->fds, loop->epoll, loop->timer, SIM_FD_IN, EVENT_TIMER) == 0);
    SIM_ALWAYS(sim_sys_epoll_add(
                       loop->fds, loop->epoll, loop->commands[0], SIM_FD_IN, EVENT_COMMAND) == 0);
    (void)sim_loop_new(world, "loop", loop_main, loop);
    (void)sim_loop_new(world, "client", client_main, loop);
}

static void
set_up_broken(struct sim_world *world)
{
    set_up(world, false);
}

static void
set_up_fixed(struct sim_world *world)
{
    set_up(world, true);
}

SIM_SCENARIO(broken, .name = "s13_sessions/broken", .about = "One timer for all, broken.",
        .setup = set_up_broken, .expect = SIM_VERDICT_DEADLOCK,
        .expect_also = SIM_VERDICT_LOST_WAKEUP);
SIM_SCENARIO(fixed, .name = "s13_sessions/fixed", .about = "One timer for all.",
        .setup = set_up_fixed);
/* SPDX-License-Identifier: Apache-2.0 */
