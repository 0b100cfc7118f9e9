// Cause: s3_rearm.c:57 the interest with which the one-shot registration is armed again is computed before the request is handled; a reply that does not fit then is not in it, and the connection is never told that it may write on.
// SPDX-License-Identifier: Apache-2.0
// clang-format off
#include <sim/rewake.h>

#define REQUESTS 3
#define REPLY 3000

enum { SERVER, CLIENT };

struct program {
    struct sim_fds *fds;
    int server;
    int client;
    uint32_t requests; /* That the server has read. */
    uint32_t owed;     /* Bytes of replies not yet written. */
    uint32_t sent;
    uint32_t received;
    char reply[REPLY];
    char place[512];
    bool fixed;
};

static bool
server_is_done(const struct program *program)
{
    return program->sent == REQUESTS * REPLY;
}

static uint32_t
server_interest(const struct program *program)
{
    return SIM_FD_IN | SIM_FD_ONESHOT | (program->owed > 0 ? SIM_FD_OUT : 0);
}

static void
server_write(struct program *program)
{
    while (program->owed > 0) {
        uint32_t size = program->owed < REPLY ? program->owed : REPLY;
        int64_t written = sim_fd_write(program->fds, program->server, program->reply, size);
        if (written <= 0) {
            return;
        }
        program->owed -= (uint32_t)written;
        program->sent += (uint32_t)written;
    }
}

static void
server_event(struct program *program)
{
    if (server_is_done(program)) {
        return;
    }
    sim_foreign_poll(&program->server);
    uint32_t interest = server_interest(program);
    char request;
    while (sim_fd_read(program->fds, program->server, &request, 1) == 1) {
        program->requests++;
        program->owed += REPLY;
    }
    server_write(program);
    if (program->fixed) {
        interest = server_interest(program);
    }
    if (!server_is_done(program)) {
        SIM_ALWAYS(sim_fd_modify(program->fds, program->server, interest, SERVER) == RT_OK);
    }
    sim_foreign_polled(&program->server, server_is_done(program));
}

static void
client_event(struct program *program)
{
    if (program->received == REQUESTS * REPLY) {
        return;
    }
    sim_foreign_poll(&program->client);
    int64_t size = sim_fd_read(program->fds, program->client, program->place, sizeof program->place);
    if (size > 0) {
        program->received += (uint32_t)size;
    }
    sim_foreign_polled(&program->client, program->received == REQUESTS * REPLY);
}

static void
watcher_again(void *runtime, void *watcher)
{
    struct program *program = runtime;
    if (watcher == &program->server) {
        server_event(program);
    } else {
        client_event(program);
    }
}

static void
loop_main(struct sim_world *world, void *argument)
{
    struct program *program = argument;
    struct sim_fd_event events[2];
    (void)world;
    while (program->received < REQUESTS * REPLY) {
        uint32_t count = sim_fd_wait(program->fds, events, 2, SIM_NEVER);
        for (uint32_t i = 0; i < count; i++) {
            if (events[i].data == SERVER) {
                server_event(program);
            } else {
                client_event(program);
            }
        }
    }
}

/* The user at the client's keyboard: a separate thread. */
static void
user_main(struct sim_world *world, void *argument)
{
    struct program *program = argument;
    for (uint32_t i = 0; i < REQUESTS; i++) {
        sim_sleep(world, sim_range(world, 8 * RT_MS, 12 * RT_MS) * (sim_pick(world, 2) == 0));
        SIM_ALWAYS(sim_fd_write(program->fds, program->client, "?", 1) == 1);
    }
}

static void
setup(struct sim_world *world, bool fixed)
{
    struct program *program = sim_new(world, struct program);
    struct sim_host *host = sim_host_new(world, NULL, SIM_PROFILE_FD);
    struct sim_loop *loop = sim_loop_new(world, "loop", loop_main, program);
    struct sim_foreign *foreign = sim_foreign_new(loop, watcher_again, program);
    int pair[2];
    program->fds = sim_fds_new(host, 3);
    program->fixed = fixed;
    SIM_ALWAYS(sim_fd_pair(program->fds, "socket", 10 * RT_US, RT_MS, pair) == RT_OK);
    program->server = pair[0];
    program->client = pair[1];
    SIM_ALWAYS(sim_fd_add(program->fds, pair[0], server_interest(program), SERVER) == RT_OK);
    SIM_ALWAYS(sim_fd_add(program->fds, pair[1], SIM_FD_IN, CLIENT) == RT_OK);
    sim_foreign_watch(foreign, &program->server, "server", "a request, or space for the reply");
    sim_foreign_watch(foreign, &program->client, "client", "the replies");
    (void)sim_loop_new(world, "user", user_main, program);
}

static void setup_broken(struct sim_world *world) { setup(world, false); }
static void setup_fixed(struct sim_world *world) { setup(world, true); }

SIM_SCENARIO(broken, .name = "set3/s3_rearm/broken", .about = "Replies larger than the socket.",
        .setup = setup_broken);
SIM_SCENARIO(fixed, .name = "set3/s3_rearm/fixed", .about = "Replies larger than the socket.",
        .setup = setup_fixed);
