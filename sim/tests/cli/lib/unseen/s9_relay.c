// Cause: on_in() fills the buffer, stops reading (watch_in false), and write_out() then empties it at once. Reading is
// resumed only in on_out(), and OUT is watched only while something is left: so nobody calls on_out() and reading
// stays stopped. write_out() must resume reading itself when there is space again (after_write is read_later, which
// does nothing).
// SPDX-License-Identifier: Apache-2.0
// clang-format off
/* A relay between two connections, a loop over epoll: what `up` sends goes through a buffer to
 * `down`. While the buffer is full nothing is read. */
#include <sim/rewake.h>

#define SPACE 48
#define TOTAL 192
#define PIECE 24

struct relay {
    struct sim_fds *fds;
    int epoll;
    int in;
    int out;
    char buffer[SPACE];
    uint32_t used;
    bool paused;
    bool ended;
    bool wants_out;
    void (*after_write)(struct relay *relay);
};

struct end {
    struct relay *relay;
    int fd;
};

static void
watch_in(struct relay *relay, bool on)
{
    SIM_ALWAYS(sim_sys_epoll_modify(relay->fds, relay->epoll, relay->in, on ? SIM_FD_IN : 0, 0) == 0);
    relay->paused = !on;
}

static void
watch_out(struct relay *relay, bool on)
{
    if (relay->wants_out != on) {
        relay->wants_out = on;
        SIM_ALWAYS(sim_sys_epoll_modify(
                           relay->fds, relay->epoll, relay->out, on ? SIM_FD_OUT : 0, 1) == 0);
    }
}

static void
write_out(struct relay *relay)
{
    while (relay->used > 0) {
        int64_t size =
                sim_sys_write(relay->fds, relay->out, relay->buffer, relay->used, 0, RT_HERE);
        if (size <= 0) {
            break;
        }
        relay->used -= (uint32_t)size;
        for (uint32_t i = 0; i < relay->used; i++) {
            relay->buffer[i] = relay->buffer[(uint32_t)size + i];
        }
    }
    relay->after_write(relay);
    watch_out(relay, relay->used > 0);
}

static void
read_on(struct relay *relay)
{
    if (relay->paused && relay->used < SPACE && !relay->ended) {
        watch_in(relay, true);
    }
}

static void
read_later(struct relay *relay)
{
    (void)relay;
}

static void
on_in(struct relay *relay)
{
    int64_t size = sim_sys_read(
            relay->fds, relay->in, relay->buffer + relay->used, SPACE - relay->used, 0, RT_HERE);
    if (size == 0) {
        relay->ended = true;
        watch_in(relay, false);
        return;
    }
    if (size < 0) {
        return;
    }
    relay->used += (uint32_t)size;
    if (relay->used == SPACE) {
        watch_in(relay, false);
    }
    write_out(relay);
}

static void
on_out(struct relay *relay)
{
    write_out(relay);
    read_on(relay);
}

static void
relay_main(struct sim_world *world, void *argument)
{
    struct relay *relay = argument;
    (void)world;
    while (!relay->ended || relay->used > 0) {
        struct sim_fd_event events[2];
        int count = sim_sys_epoll_wait(relay->fds, relay->epoll, events, 2, SIM_NEVER, RT_HERE);
        for (int i = 0; i < count; i++) {
            if (events[i].data == 1) {
                on_out(relay);
            } else if (!relay->paused) {
                on_in(relay);
            }
        }
    }
    (void)sim_sys_close(relay->fds, relay->out);
    (void)sim_sys_close(relay->fds, relay->in);
}

static void
source_main(struct sim_world *world, void *argument)
{
    struct end *end = argument;
    char piece[PIECE] = {0};
    for (uint32_t sent = 0; sent < TOTAL; sent += PIECE) {
        sim_sleep(world, sim_range(world, 20 * RT_US, 60 * RT_US));
        SIM_ALWAYS(sim_sys_write(end->relay->fds, end->fd, piece, PIECE, 0, RT_HERE) == PIECE);
    }
    (void)sim_sys_close(end->relay->fds, end->fd);
}

static void
sink_main(struct sim_world *world, void *argument)
{
    struct end *end = argument;
    char piece[64];
    for (;;) {
        int64_t size =
                sim_sys_read(end->relay->fds, end->fd, piece, sizeof(piece), 0, RT_HERE);
        if (size == 0) {
            break;
        }
        sim_sleep(world, sim_range(world, 10 * RT_US, 80 * RT_US));
    }
    (void)sim_sys_close(end->relay->fds, end->fd);
}

static void
setup_relay(struct sim_world *world, void (*after_write)(struct relay *))
{
    struct sim_host *host = sim_host_new(world, NULL, SIM_PROFILE_FD);
    struct relay *relay = sim_new(world, struct relay);
    struct end *source = sim_new(world, struct end);
    struct end *sink = sim_new(world, struct end);
    int up[2];
    int down[2];
    relay->fds = sim_fds_new(host, 3);
    relay->after_write = after_write;
    SIM_ALWAYS(sim_sys_socketpair(relay->fds, "up", SIM_SYS_STREAM, up) == 0);
    SIM_ALWAYS(sim_sys_socketpair(relay->fds, "down", SIM_SYS_STREAM, down) == 0);
    relay->epoll = sim_sys_epoll(relay->fds, "epoll");
    relay->in = up[1];
    relay->out = down[0];
    (void)sim_sys_set_status(relay->fds, relay->in, SIM_SYS_NONBLOCK);
    (void)sim_sys_set_status(relay->fds, relay->out, SIM_SYS_NONBLOCK);
    (void)sim_sys_set_buffer(relay->fds, relay->out, SIM_SYS_SHUT_WRITE, 4608);
    SIM_ALWAYS(sim_sys_epoll_add(relay->fds, relay->epoll, relay->in, SIM_FD_IN, 0) == 0);
    SIM_ALWAYS(sim_sys_epoll_add(relay->fds, relay->epoll, relay->out, 0, 1) == 0);
    source->relay = sink->relay = relay;
    source->fd = up[0];
    sink->fd = down[1];
    (void)sim_loop_new(world, "relay", relay_main, relay);
    (void)sim_loop_new(world, "source", source_main, source);
    (void)sim_loop_new(world, "sink", sink_main, sink);
}

static void
setup_broken(struct sim_world *world)
{
    setup_relay(world, read_later);
}

static void
setup_fixed(struct sim_world *world)
{
    setup_relay(world, read_on);
}

SIM_SCENARIO(relay_broken, .name = "relay/broken", .about = "A relay with a small buffer.",
        .setup = setup_broken);
SIM_SCENARIO(relay_fixed, .name = "relay/fixed", .about = "A relay with a small buffer.",
        .setup = setup_fixed);
