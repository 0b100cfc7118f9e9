/* Cause: on_source(), line 89: reading was paused because the buffer was full, then the flush empties it at once without any wait for the sink; only on_sink() resumes reading, and it is never called, so the rest of the source is not read; repair: on_source() resumes reading itself after a flush that made space. */
/*
 * s16_proxy.c -- a proxy in callbacks: copies from a source to a sink, through a small buffer.
 *
 * A full buffer pauses the source; a sink that takes nothing is waited for.
 */
#include <string.h>

#include <sim/rewake.h>

#define MESSAGE 64u
#define MESSAGES 10u
#define BUFFER (3 * MESSAGE)

struct proxy {
    struct sim_world *world;
    struct sim_fds *fds;
    int source;
    int sink;
    char buffer[BUFFER];
    size_t used;
    size_t copied;
    bool paused;        /* The source is not watched. */
    bool waits_for_sink;
    bool fixed;
    int client; /* The other ends. */
    int server;
};

static void
watch(struct proxy *proxy, int fd, uint32_t events)
{
    rt_err err = sim_fd_modify(proxy->fds, fd, events, (uint64_t)fd);
    SIM_ALWAYS(err == RT_OK);
}

static void
pause_source(struct proxy *proxy)
{
    proxy->paused = true;
    watch(proxy, proxy->source, 0);
}

static void
resume_source(struct proxy *proxy)
{
    proxy->paused = false;
    watch(proxy, proxy->source, SIM_FD_IN);
}

/* Writes as much as the sink takes. */
static void
flush(struct proxy *proxy)
{
    while (proxy->used > 0) {
        int64_t n = sim_fd_write(proxy->fds, proxy->sink, proxy->buffer, proxy->used);
        if (n == RT_E_AGAIN) {
            if (!proxy->waits_for_sink) {
                proxy->waits_for_sink = true;
                watch(proxy, proxy->sink, SIM_FD_OUT);
            }
            return;
        }
        SIM_ALWAYS(n > 0);
        proxy->used -= (size_t)n;
        proxy->copied += (size_t)n;
        memmove(proxy->buffer, proxy->buffer + n, proxy->used);
    }
    if (proxy->waits_for_sink) {
        proxy->waits_for_sink = false;
        watch(proxy, proxy->sink, 0);
    }
}

static void
on_source(struct proxy *proxy)
{
    int64_t n = sim_fd_read(
            proxy->fds, proxy->source, proxy->buffer + proxy->used, BUFFER - proxy->used);
    if (n == RT_E_AGAIN) {
        return;
    }
    SIM_ALWAYS(n > 0);
    proxy->used += (size_t)n;
    if (proxy->used == BUFFER) {
        pause_source(proxy);
    }
    flush(proxy);
    if (proxy->fixed && proxy->paused && proxy->used < BUFFER) {
        resume_source(proxy);
    }
}

static void
on_sink(struct proxy *proxy)
{
    flush(proxy);
    if (proxy->paused && proxy->used < BUFFER) {
        resume_source(proxy);
    }
}

static void
proxy_main(struct sim_world *world, void *argument)
{
    struct proxy *proxy = argument;
    (void)world;
    while (proxy->copied < MESSAGES * MESSAGE) {
        struct sim_fd_event events[2];
        uint32_t n = sim_fd_wait(proxy->fds, events, 2, SIM_NEVER);
        for (uint32_t i = 0; i < n; i++) {
            if ((int)events[i].data == proxy->source) {
                on_source(proxy);
            } else {
                on_sink(proxy);
            }
        }
    }
}

static void
client_main(struct sim_world *world, void *argument)
{
    struct proxy *proxy = argument;
    char message[MESSAGE] = "a line of a log";
    for (unsigned i = 0; i < MESSAGES; i++) {
        for (size_t done = 0; done < MESSAGE;) {
            int64_t n = sim_fd_write(proxy->fds, proxy->client, message + done, MESSAGE - done);
            SIM_ALWAYS(n > 0);
            done += (size_t)n;
        }
        sim_sleep(world, sim_range(world, 300 * RT_US, 900 * RT_US));
    }
}

static void
set_up(struct sim_world *world, bool fixed)
{
    struct sim_host *host = sim_host_new(world, NULL, SIM_PROFILE_FD);
    struct proxy *proxy = sim_new(world, struct proxy);
    int source[2];
    int sink[2];
    proxy->world = world;
    proxy->fixed = fixed;
    proxy->fds = sim_fds_new(host, 3);
    bool ok = sim_fd_pair(proxy->fds, "source", 50 * RT_US, 800 * RT_US, source) == RT_OK &&
              sim_fd_pair(proxy->fds, "sink", 50 * RT_US, 200 * RT_US, sink) == RT_OK;
    proxy->client = source[0];
    proxy->source = source[1];
    proxy->sink = sink[0];
    proxy->server = sink[1];
    ok = ok && sim_fd_add(proxy->fds, proxy->source, SIM_FD_IN, (uint64_t)proxy->source) == RT_OK &&
         sim_fd_add(proxy->fds, proxy->sink, 0, (uint64_t)proxy->sink) == RT_OK;
    SIM_ALWAYS(ok);
    sim_loop_new(world, "proxy", proxy_main, proxy);
    sim_loop_new(world, "client", client_main, proxy);
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

SIM_SCENARIO(broken, .name = "s16/proxy/broken", .about = "A proxy with a small buffer.",
        .setup = set_up_broken, .expect = SIM_VERDICT_DEADLOCK);
SIM_SCENARIO(fixed, .name = "s16/proxy/fixed", .about = "A proxy with a small buffer.",
        .setup = set_up_fixed);

/* SPDX-License-Identifier: Apache-2.0 */
