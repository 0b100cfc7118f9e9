/*
 * s11_reception.c -- a server on a completion ring: one operation accepts all connections, one after
 * the other; each connection reads its request piece by piece.
 *
 * Cause: server_accepted() (line 101) takes a connection and does not begin to accept again where the host says that the operation has ended with it
 */
#include <sim/rewake.h>

#define VISITS 4
#define REQUEST "GET /index.html"
#define PIECE 8u
#define ACCEPTS VISITS /* user_data of the accept; below it are the visits. */

struct visit {
    struct server *server;
    int32_t device;
    char buffer[PIECE];
    uint32_t bytes;
    int32_t result;
    bool answered, woken, finished;
};

struct server {
    struct rt_host *host;
    struct rt_completion_host *ring;
    struct rt_pollable completions;
    int32_t listener;
    struct visit visits[VISITS];
    uint32_t accepted, ended;
    struct rt_submission waiting[VISITS + 1]; /* Those for which the queue had no space. */
    uint32_t waiting_count;
    bool dirty; /* The queue has something for the host. */
    bool rearms;
    struct sim_foreign *foreign;
};

static const char *const names[VISITS] = {"ada", "bill", "cleo", "dan"};

static void
server_submit(struct server *server, const struct rt_submission *submission)
{
    if (server->waiting_count > 0 ||
            server->ring->ops->push(server->ring, submission) != RT_OK) {
        server->waiting[server->waiting_count++] = *submission;
    } else {
        server->dirty = true;
    }
}

static void
server_accept(struct server *server)
{
    struct rt_submission submission = {.opcode = RT_OPCODE_ACCEPT,
            .multi = true,
            .target = server->listener,
            .user_data = ACCEPTS};
    server_submit(server, &submission);
}

static void
visit_read(struct visit *visit)
{
    struct rt_submission submission = {.opcode = RT_OPCODE_READ,
            .target = visit->device,
            .size = PIECE,
            .buffer = visit->buffer,
            .user_data = (uint64_t)(visit - visit->server->visits)};
    visit->answered = false;
    server_submit(visit->server, &submission);
}

static void
visit_run(struct visit *visit)
{
    visit->woken = false;
    sim_foreign_poll(visit);
    if (visit->answered && visit->result > 0) {
        visit->bytes += (uint32_t)visit->result;
        if (visit->bytes < sizeof REQUEST - 1) {
            visit_read(visit);
        }
    }
    visit->finished = visit->bytes == sizeof REQUEST - 1;
    visit->server->ended += visit->finished;
    if (!visit->finished) {
        sim_foreign_store(visit, &visit->result, "its request");
    }
    sim_foreign_polled(visit, visit->finished);
}

static void
server_accepted(struct server *server, const struct rt_completion *completion)
{
    if (completion->result >= 0) {
        struct visit *visit = &server->visits[server->accepted++];
        *visit = (struct visit){.server = server, .device = completion->result};
        sim_foreign_spawn(server->foreign, visit, names[visit - server->visits]);
        sim_foreign_store(visit, &visit->result, "its request");
        visit_read(visit);
    }
    if (!completion->more && server->rearms && server->accepted < VISITS) {
        server_accept(server);
    }
}

static void
server_complete(struct server *server, const struct rt_completion *completion)
{
    if (completion->user_data == ACCEPTS) {
        server_accepted(server, completion);
        return;
    }
    struct visit *visit = &server->visits[completion->user_data];
    visit->result = completion->result;
    visit->answered = visit->woken = true;
    sim_foreign_fire(&visit->result);
}

static void
server_flush(struct server *server)
{
    rt_err err = RT_OK;
    do {
        uint32_t count = server->waiting_count;
        server->waiting_count = 0;
        for (uint32_t i = 0; i < count; i++) {
            struct rt_submission submission = server->waiting[i];
            server_submit(server, &submission);
        }
        if (server->dirty || server->ring->ops->overflowed(server->ring)) {
            err = server->ring->ops->enter(server->ring);
            server->dirty = err == RT_E_AGAIN;
        }
    } while (err == RT_OK && server->waiting_count > 0);
}

static void
server_reap(struct server *server)
{
    struct rt_pollable *list[] = {&server->completions};
    struct rt_completion batch[2];
    uint32_t index, count;
    SIM_ALWAYS(rt_host_poll(server->host, list, 1, &index, &count) == RT_OK);
    while ((count = server->ring->ops->reap(server->ring, batch, 2)) > 0) {
        for (uint32_t i = 0; i < count; i++) {
            server_complete(server, &batch[i]);
        }
    }
}

static void
server_main(struct sim_world *world, void *argument)
{
    struct server *server = argument;
    (void)world;
    server_accept(server);
    while (server->ended < VISITS) {
        server_flush(server);
        server_reap(server);
        for (uint32_t i = 0; i < server->accepted; i++) {
            if (server->visits[i].woken) {
                visit_run(&server->visits[i]);
            }
        }
    }
    rt_pollable_drop(&server->completions);
}

/* The oracle's question. */
static void
server_again(void *server, void *visit)
{
    (void)server;
    visit_run(visit);
}

static void
setup_with(struct sim_world *world, bool rearms)
{
    struct sim_host *host = sim_host_new(world, NULL, SIM_PROFILE_DEFAULT);
    struct sim_ring *ring = sim_ring_new(host, "ring", NULL);
    struct server *server = sim_new(world, struct server);
    struct sim_loop *loop = sim_loop_new(world, "server", server_main, server);
    server->foreign = sim_foreign_new(loop, server_again, server);
    server->host = sim_host_seam(host);
    server->ring = sim_ring_seam(ring);
    server->rearms = rearms;
    server->listener = sim_ring_listener(ring, "door", VISITS, REQUEST, RT_US, 2 * RT_MS);
    SIM_ALWAYS(server->ring->ops->subscribe(server->ring, &server->completions) == RT_OK);
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

SIM_SCENARIO(reception_broken, .name = "s11_reception/broken",
        .about = "Connections accepted by one operation of a ring.", .setup = setup_broken);
SIM_SCENARIO(reception_fixed, .name = "s11_reception/fixed",
        .about = "Connections accepted by one operation of a ring.", .setup = setup_fixed);
// SPDX-License-Identifier: Apache-2.0
