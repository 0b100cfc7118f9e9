/* A proxy: a loop of callbacks that copies from one descriptor to another through a buffer, and passes the end on.
 * Cause: on_readable() (line 92): an end that comes while bytes are buffered is noted nowhere, and the callback that
 * writes them does not know that it has to close. Repair: note it, and close when the buffer is empty. */
#include <sim/rewake.h>

#define TOTAL 12
#define BUFFER 4

struct proxy {
    struct sim_fds *fds;
    int epoll;
    int in, out;
    char buffer[BUFFER];
    size_t used;
    bool in_open, out_open, ended;
    bool wants_in, wants_out;
    int source, target;
    uint32_t received;
    bool repaired;
};

static void
set_interest(struct proxy *proxy, int fd, bool *now, bool wanted, uint32_t events)
{
    if (*now == wanted) {
        return;
    }
    *now = wanted;
    SIM_ALWAYS((wanted ? sim_sys_epoll_add(proxy->fds, proxy->epoll, fd, events, events)
                       : sim_sys_epoll_remove(proxy->fds, proxy->epoll, fd)) == 0);
}

static void
update(struct proxy *proxy)
{
    if (proxy->in_open) {
        set_interest(proxy, proxy->in, &proxy->wants_in, proxy->used < BUFFER, SIM_FD_IN);
    }
    if (proxy->out_open) {
        set_interest(proxy, proxy->out, &proxy->wants_out, proxy->used > 0, SIM_FD_OUT);
    }
}

static void
close_out(struct proxy *proxy)
{
    set_interest(proxy, proxy->out, &proxy->wants_out, false, 0);
    SIM_ALWAYS(sim_sys_close(proxy->fds, proxy->out) == 0);
    proxy->out_open = false;
}

static void
on_writable(struct proxy *proxy)
{
    sim_foreign_poll(&proxy->out);
    while (proxy->out_open && proxy->used > 0) {
        int64_t n = sim_sys_write(proxy->fds, proxy->out, proxy->buffer, proxy->used, SIM_SYS_DONTWAIT, RT_HERE);
        if (n <= 0) {
            break;
        }
        proxy->used -= (size_t)n;
        for (size_t i = 0; i < proxy->used; i++) {
            proxy->buffer[i] = proxy->buffer[i + (size_t)n];
        }
    }
    if (proxy->ended && proxy->out_open && proxy->used == 0) {
        close_out(proxy);
    }
    update(proxy);
    sim_foreign_polled(&proxy->out, !proxy->out_open);
}

static void
on_readable(struct proxy *proxy)
{
    sim_foreign_poll(&proxy->in);
    while (proxy->in_open && proxy->used < BUFFER) {
        int64_t n = sim_sys_read(proxy->fds, proxy->in, proxy->buffer + proxy->used, BUFFER - proxy->used,
                SIM_SYS_DONTWAIT, RT_HERE);
        if (n < 0) {
            break;
        }
        if (n > 0) {
            proxy->used += (size_t)n;
            continue;
        }
        set_interest(proxy, proxy->in, &proxy->wants_in, false, 0);
        SIM_ALWAYS(sim_sys_close(proxy->fds, proxy->in) == 0);
        proxy->in_open = false;
        if (proxy->used == 0) {
            close_out(proxy);
        } else {
            proxy->ended = proxy->repaired;
        }
    }
    update(proxy);
    sim_foreign_polled(&proxy->in, !proxy->in_open);
}

static void
loop_main(struct sim_world *world, void *argument)
{
    struct proxy *proxy = argument;
    (void)world;
    update(proxy);
    while (proxy->in_open || proxy->out_open) {
        struct sim_fd_event events[2];
        int count = sim_sys_epoll_wait(proxy->fds, proxy->epoll, events, 2, SIM_NEVER, RT_HERE);
        for (int i = 0; i < count; i++) {
            if (events[i].data == SIM_FD_IN) {
                on_readable(proxy);
            } else {
                on_writable(proxy);
            }
        }
    }
}

static void
again(void *argument, void *watcher)
{
    struct proxy *proxy = argument;
    if (watcher == &proxy->in) {
        on_readable(proxy);
    } else {
        on_writable(proxy);
    }
}

static void
source_main(struct sim_world *world, void *argument)
{
    struct proxy *proxy = argument;
    for (uint32_t i = 0; i < TOTAL;) {
        uint64_t part = sim_range(world, 2, 6);
        for (uint64_t j = 0; j < part && i < TOTAL; j++, i++) {
            char byte = (char)('a' + i);
            SIM_ALWAYS(sim_sys_write(proxy->fds, proxy->source, &byte, 1, 0, RT_HERE) == 1);
        }
        sim_sleep(world, sim_range(world, 1 * RT_MS, 2 * RT_MS));
    }
    SIM_ALWAYS(sim_sys_close(proxy->fds, proxy->source) == 0);
}

static void
target_main(struct sim_world *world, void *argument)
{
    struct proxy *proxy = argument;
    for (;;) {
        char bytes[BUFFER];
        int64_t n = sim_sys_read(proxy->fds, proxy->target, bytes, sizeof bytes, 0, RT_HERE);
        if (n == 0) {
            break;
        }
        for (int64_t i = 0; i < n; i++) {
            SIM_ALWAYS(bytes[i] == (char)('a' + proxy->received));
            proxy->received++;
        }
    }
    SIM_ALWAYS(proxy->received == TOTAL);
}

static void
setup(struct sim_world *world, bool repaired)
{
    struct proxy *proxy = sim_new(world, struct proxy);
    int pair[2];
    proxy->repaired = repaired;
    proxy->fds = sim_fds_new(sim_host_new(world, NULL, SIM_PROFILE_FD), 3);
    proxy->epoll = sim_sys_epoll(proxy->fds, "epoll");
    SIM_ALWAYS(sim_sys_socketpair(proxy->fds, "source", SIM_SYS_STREAM, pair) == 0);
    proxy->in = pair[0];
    proxy->source = pair[1];
    SIM_ALWAYS(sim_sys_socketpair(proxy->fds, "target", SIM_SYS_STREAM, pair) == 0);
    proxy->out = pair[0];
    proxy->target = pair[1];
    proxy->in_open = proxy->out_open = true;
    struct sim_loop *loop = sim_loop_new(world, "proxy", loop_main, proxy);
    struct sim_foreign *foreign = sim_foreign_new(loop, again, proxy);
    sim_foreign_watch(foreign, &proxy->in, "reader", "bytes to copy");
    sim_foreign_watch(foreign, &proxy->out, "writer", "room for bytes");
    (void)sim_loop_new(world, "source", source_main, proxy);
    (void)sim_loop_new(world, "target", target_main, proxy);
}

static void
setup_broken(struct sim_world *world)
{
    setup(world, false);
}

static void
setup_fixed(struct sim_world *world)
{
    setup(world, true);
}

SIM_SCENARIO(proxy_broken, .name = "s14_proxy/broken", .about = "A proxy that passes the end on.",
        .setup = setup_broken);
SIM_SCENARIO(proxy_fixed, .name = "s14_proxy/fixed", .about = "A proxy that passes the end on, repaired.",
        .setup = setup_fixed);
/* SPDX-License-Identifier: Apache-2.0 */
