// Cause: s2_mask.c:67 "resume" sets the interest of the connection to reading alone: if a page is only half written at that time its interest in writing is gone, and the rest of the page is never sent.
// SPDX-License-Identifier: Apache-2.0
// clang-format off
#include <sim/rewake.h>

#define PAGE 6000u /* more than a connection takes at once */

enum { CONNECTION, BROWSER, CONTROL };

struct server {
    struct sim_fds *fds;
    int connection[2]; /* the server's end, the browser's end */
    int bell;
    bool fixed, paused, command, console_over;
    uint32_t pending;  /* bytes of the page still to be written */
    uint32_t received; /* by the browser */
    bool asked;
    int watchers[3];
};

static void interest(struct server *server, uint32_t events)
{
    SIM_ALWAYS(sim_fd_modify(server->fds, server->connection[0], events, CONNECTION) == RT_OK);
}

static uint32_t wanted(const struct server *server)
{
    return (server->paused ? 0 : SIM_FD_IN) | (server->pending > 0 ? SIM_FD_OUT : 0);
}

static void on_connection(struct server *server)
{
    static const char bytes[1024];
    char request;
    if (!server->paused && sim_fd_read(server->fds, server->connection[0], &request, 1) == 1)
        server->pending = PAGE;
    while (server->pending > 0) {
        size_t size = server->pending < sizeof bytes ? server->pending : sizeof bytes;
        int64_t n = sim_fd_write(server->fds, server->connection[0], bytes, size);
        if (n <= 0)
            break;
        server->pending -= (uint32_t)n;
    }
    interest(server, wanted(server));
}

static void on_browser(struct server *server)
{
    char bytes[1024];
    for (;;) {
        int64_t n = sim_fd_read(server->fds, server->connection[1], bytes, sizeof bytes);
        if (n <= 0)
            break;
        server->received += (uint32_t)n;
    }
}

static void on_control(struct server *server)
{
    uint64_t rings;
    if (sim_fd_read(server->fds, server->bell, &rings, sizeof rings) != sizeof rings)
        return;
    server->paused = server->command;
    if (server->paused || server->fixed)
        interest(server, wanted(server));
    else
        interest(server, SIM_FD_IN);
}

static void call(struct server *server, uint64_t which)
{
    sim_foreign_poll(&server->watchers[which]);
    if (which == CONNECTION)
        on_connection(server);
    else if (which == BROWSER)
        on_browser(server);
    else
        on_control(server);
    sim_foreign_polled(&server->watchers[which], false);
}

static void again(void *argument, void *watcher)
{
    struct server *server = argument;
    call(server, (uint64_t)((int *)watcher - server->watchers));
}

static void loop_main(struct sim_world *world, void *argument)
{
    struct server *server = argument;
    while (server->received < PAGE) {
        struct sim_fd_event events[4];
        uint32_t count = sim_fd_wait(server->fds, events, 4, SIM_NEVER);
        for (uint32_t i = 0; i < count; i++)
            call(server, events[i].data);
    }
    while (!server->console_over) /* joins the console */
        sim_sleep(world, 100 * RT_US);
    SIM_ALWAYS(sim_fd_close(server->fds, server->connection[0]) == RT_OK);
    SIM_ALWAYS(sim_fd_close(server->fds, server->connection[1]) == RT_OK);
    SIM_ALWAYS(sim_fd_close(server->fds, server->bell) == RT_OK);
}

/* An operator pauses new requests for a while. */
static void console_main(struct sim_world *world, void *argument)
{
    struct server *server = argument;
    sim_sleep(world, sim_range(world, 20 * RT_MS, 24 * RT_MS) - sim_range(world, 0, 20 * RT_MS));
    server->command = true;
    SIM_ALWAYS(sim_fd_notify(server->fds, server->bell) == RT_OK);
    sim_sleep(world, sim_range(world, RT_MS, 2 * RT_MS));
    server->command = false;
    SIM_ALWAYS(sim_fd_notify(server->fds, server->bell) == RT_OK);
    server->console_over = true;
}

static void setup(struct sim_world *world, bool fixed)
{
    static const char *const names[3] = {"connection", "browser", "control"};
    static const char *const events[3] = {"a request, or space", "the page", "a command"};
    struct server *server = sim_new(world, struct server);
    struct sim_fds *fds = sim_fds_new(sim_host_new(world, NULL, SIM_PROFILE_FD), 3);
    server->fds = fds;
    server->fixed = fixed;
    SIM_ALWAYS(sim_fd_pair(fds, "connection", 100 * RT_US, 2 * RT_MS, server->connection) == RT_OK);
    SIM_ALWAYS(sim_fd_event_open(fds, "console", &server->bell) == RT_OK);
    SIM_ALWAYS(sim_fd_add(fds, server->connection[0], SIM_FD_IN, CONNECTION) == RT_OK);
    SIM_ALWAYS(sim_fd_add(fds, server->connection[1], SIM_FD_IN, BROWSER) == RT_OK);
    SIM_ALWAYS(sim_fd_add(fds, server->bell, SIM_FD_IN, CONTROL) == RT_OK);
    SIM_ALWAYS(sim_fd_write(fds, server->connection[1], "G", 1) == 1);
    struct sim_loop *loop = sim_loop_new(world, "server", loop_main, server);
    struct sim_foreign *foreign = sim_foreign_new(loop, again, server);
    for (int i = 0; i < 3; i++)
        sim_foreign_watch(foreign, &server->watchers[i], names[i], events[i]);
    (void)sim_loop_new(world, "console", console_main, server);
}

static void setup_broken(struct sim_world *world) { setup(world, false); }
static void setup_fixed(struct sim_world *world) { setup(world, true); }

SIM_SCENARIO(broken, .name = "set2/mask/broken", .about = "A command overwrites the interest in writing.",
        .setup = setup_broken, .expect = SIM_VERDICT_LOST_WAKEUP);
SIM_SCENARIO(fixed, .name = "set2/mask/fixed", .about = "The interest is always computed from the state.",
        .setup = setup_fixed);
