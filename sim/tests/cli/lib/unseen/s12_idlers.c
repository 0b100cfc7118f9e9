/*
 * Workers with an inbox each: a request is done in two halves, and one is for another worker that is idle.
 * Cause: worker_main() (line 115) goes on to its connection with its bit still in `idle`, so that crew_share() may give its half to a worker that waits itself.
 */
#include <sim/rewake.h>

#define WORKERS 2u
#define REQUESTS 2u

struct half {
    struct half *next;
    int answer; /* An eventfd of the worker that waits. */
};

struct worker {
    struct crew *crew;
    struct half *inbox;
    uint32_t number;
    int epoll, bell, answer, connection;
};

struct crew {
    struct sim_fds *fds;
    struct worker workers[WORKERS];
    uint32_t idle; /* A bit for each worker that waits for work. */
    uint32_t left; /* Requests that were not answered yet. */
    bool fixed;
};

struct client {
    struct sim_fds *fds;
    int fd;
    uint64_t min_ns;
};

static void
ring(struct crew *crew, int bell)
{
    const uint64_t one = 1;
    (void)sim_sys_write(crew->fds, bell, &one, sizeof one, 0, RT_HERE);
}

static void
half_do(struct sim_world *world)
{
    sim_sleep(world, 200 * RT_US);
}

/* Gives `half` to a worker that is idle; false: all have something to do. */
static bool
crew_share(struct crew *crew, struct worker *from, struct half *half)
{
    uint32_t others = crew->idle & ~(1u << from->number);
    if (others == 0) {
        return false;
    }
    uint32_t to = (uint32_t)__builtin_ctz(others);
    struct worker *worker = &crew->workers[to];
    crew->idle &= ~(1u << to);
    half->next = worker->inbox;
    worker->inbox = half;
    ring(crew, worker->bell);
    return true;
}

static void
worker_inbox(struct sim_world *world, struct worker *worker)
{
    while (worker->inbox != NULL) {
        struct half *half = worker->inbox;
        worker->inbox = half->next;
        half_do(world);
        ring(worker->crew, half->answer);
    }
}

static void
worker_request(struct sim_world *world, struct worker *worker)
{
    struct crew *crew = worker->crew;
    struct half half = {.answer = worker->answer};
    char request;
    if (sim_sys_read(crew->fds, worker->connection, &request, 1, SIM_SYS_DONTWAIT, RT_HERE) != 1) {
        return;
    }
    bool shared = crew_share(crew, worker, &half);
    half_do(world);
    if (shared) {
        uint64_t count;
        (void)sim_sys_read(crew->fds, worker->answer, &count, sizeof count, 0, RT_HERE);
    } else {
        half_do(world);
    }
    SIM_ALWAYS(sim_sys_write(crew->fds, worker->connection, "k", 1, 0, RT_HERE) == 1);
    if (--crew->left == 0) {
        for (uint32_t i = 0; i < WORKERS; i++) {
            ring(crew, crew->workers[i].bell);
        }
    }
}

static void
worker_main(struct sim_world *world, void *argument)
{
    struct worker *worker = argument;
    struct crew *crew = worker->crew;
    while (crew->left > 0) {
        struct sim_fd_event events[2];
        uint64_t rings;
        crew->idle |= 1u << worker->number;
        int n = sim_sys_epoll_wait(crew->fds, worker->epoll, events, 2, SIM_NEVER, RT_HERE);
        if (crew->fixed) {
            crew->idle &= ~(1u << worker->number);
        }
        worker_inbox(world, worker);
        for (int i = 0; i < n; i++) {
            if (events[i].data == 1) {
                worker_request(world, worker);
            } else {
                (void)sim_sys_read(crew->fds, worker->bell, &rings, sizeof rings,
                        SIM_SYS_DONTWAIT, RT_HERE);
            }
        }
        worker_inbox(world, worker);
    }
}

static void
client_main(struct sim_world *world, void *argument)
{
    struct client *client = argument;
    char answer;
    for (uint32_t i = 0; i < REQUESTS; i++) {
        sim_sleep(world, sim_range(world, client->min_ns, 4 * RT_MS));
        SIM_ALWAYS(sim_sys_write(client->fds, client->fd, "r", 1, 0, RT_HERE) == 1);
        SIM_ALWAYS(sim_sys_read(client->fds, client->fd, &answer, 1, 0, RT_HERE) == 1);
    }
}

static void
setup(struct sim_world *world, bool fixed)
{
    static const char *const workers[WORKERS] = {"worker 1", "worker 2"};
    static const char *const clients[WORKERS] = {"client 1", "client 2"};
    struct crew *crew = sim_new(world, struct crew);
    crew->fds = sim_fds_new(sim_host_new(world, NULL, SIM_PROFILE_DEFAULT), 3);
    crew->left = WORKERS * REQUESTS;
    crew->fixed = fixed;
    for (uint32_t i = 0; i < WORKERS; i++) {
        struct worker *worker = &crew->workers[i];
        struct client *client = sim_new(world, struct client);
        int pair[2];
        SIM_ALWAYS(sim_sys_socketpair(crew->fds, clients[i], SIM_SYS_STREAM, pair) == 0);
        *worker = (struct worker){.crew = crew, .number = i, .connection = pair[0]};
        worker->epoll = sim_sys_epoll(crew->fds, workers[i]);
        worker->bell = sim_sys_eventfd(crew->fds, "bell", 0, false);
        worker->answer = sim_sys_eventfd(crew->fds, "answer", 0, false);
        sim_sys_epoll_add(crew->fds, worker->epoll, worker->bell, SIM_FD_IN, 0);
        sim_sys_epoll_add(crew->fds, worker->epoll, worker->connection, SIM_FD_IN, 1);
        *client = (struct client){crew->fds, pair[1], (1 + i) * RT_MS};
        sim_loop_new(world, workers[i], worker_main, worker);
        sim_loop_new(world, clients[i], client_main, client);
    }
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

SIM_SCENARIO(broken, .name = "s12-idlers/broken", .about = "Two workers that help each other.",
        .setup = setup_broken);
SIM_SCENARIO(fixed, .name = "s12-idlers/fixed", .about = "Two workers that help each other.",
        .setup = setup_fixed);
// SPDX-License-Identifier: Apache-2.0
