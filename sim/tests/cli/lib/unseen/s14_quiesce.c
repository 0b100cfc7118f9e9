/* Two threads with a mailbox and an eventfd each, and a third that ends them when all work is done.
 * Cause: all_idle() (line 96): it looks at one thread after the other, so that work which one sends to another that it
 * has passed is not seen. Repair: believe it only where no message was sent or is under way before and after the look. */
#include <sim/rewake.h>

#define WORKERS 2
#define MAIL_MAX 16
#define STOP UINT32_MAX

struct worker {
    struct pool *pool;
    uint32_t number;
    int bell;
    uint32_t mail[MAIL_MAX];
    uint32_t head, tail;
    bool idle;
};

struct pool {
    struct sim_world *world;
    struct sim_fds *fds[WORKERS];
    struct worker workers[WORKERS];
    struct sim_fds *control;
    int status; /* An eventfd: someone has become idle. */
    uint32_t sent, handled;
    bool repaired;
};

static void
post(struct pool *pool, uint32_t to, uint32_t work)
{
    struct worker *worker = &pool->workers[to];
    SIM_ALWAYS(worker->tail < MAIL_MAX);
    if (work != STOP) {
        pool->sent++;
    }
    worker->mail[worker->tail++] = work;
    SIM_ALWAYS(sim_fd_notify(pool->fds[to], worker->bell) == RT_OK);
}

static void
handle(struct worker *worker, uint32_t work)
{
    struct pool *pool = worker->pool;
    /* A piece of work of size n has one of size n - 1 for the other thread. */
    if (work > 1) {
        post(pool, 1 - worker->number, work - 1);
    }
    pool->handled++;
    SIM_PROGRESS();
}

static void
worker_main(struct sim_world *world, void *argument)
{
    struct worker *worker = argument;
    struct pool *pool = worker->pool;
    struct sim_fds *fds = pool->fds[worker->number];
    (void)world;
    for (;;) {
        struct sim_fd_event event;
        uint64_t count;
        (void)sim_fd_wait(fds, &event, 1, SIM_NEVER);
        worker->idle = false;
        (void)sim_fd_read(fds, worker->bell, &count, sizeof count);
        while (worker->head < worker->tail) {
            uint32_t work = worker->mail[worker->head++];
            if (work == STOP) {
                SIM_ALWAYS(worker->head == worker->tail);
                return;
            }
            handle(worker, work);
        }
        worker->idle = true;
        SIM_ALWAYS(sim_fd_notify(pool->control, pool->status) == RT_OK);
    }
}

/* Asks one thread. */
static bool
is_idle(struct pool *pool, uint32_t number)
{
    sim_loop_pause(pool->world);
    return pool->workers[number].idle;
}

static bool
all_idle(struct pool *pool)
{
    uint32_t sent = pool->sent;
    for (uint32_t i = 0; i < WORKERS; i++) {
        if (!is_idle(pool, i)) {
            return false;
        }
    }
    return !pool->repaired || (sent == pool->sent && pool->sent == pool->handled);
}

static void
control_main(struct sim_world *world, void *argument)
{
    struct pool *pool = argument;
    (void)world;
    post(pool, 0, 3);
    post(pool, 1, 2);
    do {
        struct sim_fd_event event;
        uint64_t count;
        (void)sim_fd_wait(pool->control, &event, 1, SIM_NEVER);
        (void)sim_fd_read(pool->control, pool->status, &count, sizeof count);
    } while (!all_idle(pool));
    for (uint32_t i = 0; i < WORKERS; i++) {
        post(pool, i, STOP);
    }
}

static void
setup(struct sim_world *world, bool repaired)
{
    static const char *const names[WORKERS] = {"worker 0", "worker 1"};
    struct pool *pool = sim_new(world, struct pool);
    struct sim_host *host = sim_host_new(world, NULL, SIM_PROFILE_FD);
    pool->world = world;
    pool->repaired = repaired;
    pool->control = sim_fds_new(host, 3);
    SIM_ALWAYS(sim_fd_event_open(pool->control, "status", &pool->status) == RT_OK);
    SIM_ALWAYS(sim_fd_add(pool->control, pool->status, SIM_FD_IN, 0) == RT_OK);
    for (uint32_t i = 0; i < WORKERS; i++) {
        struct worker *worker = &pool->workers[i];
        worker->pool = pool;
        worker->number = i;
        pool->fds[i] = sim_fds_new(host, 3);
        SIM_ALWAYS(sim_fd_event_open(pool->fds[i], names[i], &worker->bell) == RT_OK);
        SIM_ALWAYS(sim_fd_add(pool->fds[i], worker->bell, SIM_FD_IN, 0) == RT_OK);
        (void)sim_loop_new(world, names[i], worker_main, worker);
    }
    (void)sim_loop_new(world, "control", control_main, pool);
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

SIM_SCENARIO(quiesce_broken, .name = "s14_quiesce/broken", .about = "The end of all work.",
        .setup = setup_broken);
SIM_SCENARIO(quiesce_fixed, .name = "s14_quiesce/fixed", .about = "The end of all work, repaired.",
        .setup = setup_fixed);
/* SPDX-License-Identifier: Apache-2.0 */
