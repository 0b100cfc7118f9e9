/*
 * s11_relay.c -- a relay between two connections: an epoll loop reads from one into a buffer and
 * writes it to the other. It stops reading while the buffer is full.
 *
 * Cause: on_source() (line 76) stops reading by how full the buffer was before it was written out, and nothing starts reading again when that empties it
 */
#include <errno.h>
#include <sim/rewake.h>
#include <string.h>

#define TOTAL 160u
#define FULL 48u

struct relay {
    struct sim_fds *fds;
    int poller;
    int source, sink; /* The relay's ends; */
    int from, to;     /* the peers'. */
    char buffer[64];
    size_t used;
    size_t passed;
    bool reading, writing;
    bool flushes_first;
};

static void
relay_read(struct relay *relay, bool on)
{
    if (on != relay->reading) {
        relay->reading = on;
        int err = on ? sim_sys_epoll_add(relay->fds, relay->poller, relay->source, SIM_FD_IN, 1)
                     : sim_sys_epoll_remove(relay->fds, relay->poller, relay->source);
        SIM_ALWAYS(err == 0);
    }
}

static void
relay_write(struct relay *relay, bool on)
{
    if (on != relay->writing) {
        relay->writing = on;
        int err = on ? sim_sys_epoll_add(relay->fds, relay->poller, relay->sink, SIM_FD_OUT, 2)
                     : sim_sys_epoll_remove(relay->fds, relay->poller, relay->sink);
        SIM_ALWAYS(err == 0);
    }
}

static void
relay_flush(struct relay *relay)
{
    int64_t n = 0;
    while (relay->used > 0 && n >= 0) {
        n = sim_sys_write(relay->fds, relay->sink, relay->buffer, relay->used, 0, RT_HERE);
        if (n > 0) {
            relay->used -= (size_t)n;
            relay->passed += (size_t)n;
            memmove(relay->buffer, relay->buffer + n, relay->used);
        }
    }
    relay_write(relay, relay->used > 0);
}

static void
on_source(struct relay *relay)
{
    size_t space = sizeof relay->buffer - relay->used;
    int64_t n = sim_sys_read(
            relay->fds, relay->source, relay->buffer + relay->used, space, 0, RT_HERE);
    if (n > 0) {
        relay->used += (size_t)n;
    }
    if (relay->flushes_first) {
        relay_flush(relay);
        relay_read(relay, relay->used < FULL);
    } else {
        relay_read(relay, relay->used < FULL);
        relay_flush(relay);
    }
}

static void
on_sink(struct relay *relay)
{
    relay_flush(relay);
    if (relay->used < FULL) {
        relay_read(relay, true);
    }
}

static void
relay_main(struct sim_world *world, void *argument)
{
    struct relay *relay = argument;
    (void)world;
    relay_read(relay, true);
    while (relay->passed < TOTAL) {
        struct sim_fd_event events[2];
        int count = sim_sys_epoll_wait(relay->fds, relay->poller, events, 2, SIM_NEVER, RT_HERE);
        for (int i = 0; i < count; i++) {
            if (events[i].data == 1 && relay->reading) {
                on_source(relay);
            } else if (events[i].data == 2 && relay->writing) {
                on_sink(relay);
            }
        }
    }
}

static void
sender_main(struct sim_world *world, void *argument)
{
    struct relay *relay = argument;
    const char line[] = "0123456789abcdef0123456789abcdef";
    for (size_t sent = 0; sent < TOTAL;) {
        size_t size = sim_range(world, 16, 32);
        size = size < TOTAL - sent ? size : TOTAL - sent;
        int64_t n = sim_sys_write(relay->fds, relay->from, line, size, 0, RT_HERE);
        SIM_ALWAYS(n > 0);
        sent += (size_t)n;
        sim_sleep(world, sim_range(world, RT_MS, RT_MS / 2 * 3));
    }
}

static void
receiver_main(struct sim_world *world, void *argument)
{
    struct relay *relay = argument;
    char buffer[32];
    (void)world;
    for (size_t received = 0; received < TOTAL;) {
        int64_t n = sim_sys_read(relay->fds, relay->to, buffer, sizeof buffer, 0, RT_HERE);
        received += n > 0 ? (size_t)n : 0;
    }
}

static void
setup_with(struct sim_world *world, bool flushes_first)
{
    struct relay *relay = sim_new(world, struct relay);
    int in[2], out[2];
    relay->fds = sim_fds_new(sim_host_new(world, NULL, SIM_PROFILE_FD), 3);
    relay->flushes_first = flushes_first;
    relay->poller = sim_sys_epoll(relay->fds, "poller");
    SIM_ALWAYS(sim_sys_socketpair(relay->fds, "upstream", SIM_SYS_STREAM, in) == 0);
    SIM_ALWAYS(sim_sys_socketpair(relay->fds, "downstream", SIM_SYS_STREAM, out) == 0);
    relay->from = in[0];
    relay->source = in[1];
    relay->sink = out[0];
    relay->to = out[1];
    SIM_ALWAYS(sim_sys_set_status(relay->fds, relay->source, SIM_SYS_NONBLOCK) == 0);
    SIM_ALWAYS(sim_sys_set_status(relay->fds, relay->sink, SIM_SYS_NONBLOCK) == 0);
    (void)sim_loop_new(world, "relay", relay_main, relay);
    (void)sim_loop_new(world, "sender", sender_main, relay);
    (void)sim_loop_new(world, "receiver", receiver_main, relay);
}

static void
setup_broken(struct sim_world *world)
{
    setup_with(world, false);
}

static void
setup_fixed(struct sim_world *world)
{
    setup_with(world, true);
}

SIM_SCENARIO(relay_broken, .name = "s11_relay/broken",
        .about = "A relay that stops reading while its buffer is full.", .setup = setup_broken);
SIM_SCENARIO(relay_fixed, .name = "s11_relay/fixed",
        .about = "A relay that stops reading while its buffer is full.", .setup = setup_fixed);
// SPDX-License-Identifier: Apache-2.0
