// Cause: mailbox_rest() sets scheduled = false after mailbox_run() has seen the mailbox empty, and does not look
// again. A letter that was put in between found scheduled true (mailbox_send) and did not schedule the actor: nobody
// handles it. After scheduled = false the mailbox must be looked at once more, and the actor scheduled if there is a
// letter.
// SPDX-License-Identifier: Apache-2.0
// clang-format off
/* An actor with a mailbox, run by a pool of two threads: the first letter that finds the actor at
 * rest puts it into the pool's run queue. */
#include <sim/rewake.h>

#define WORKERS 2
#define SENDERS 2
#define EACH 2

struct pool {
    struct sim_fds *fds;
    int tokens; /* An eventfd: one for each entry of the run queue. */
    struct mailbox *runnable;
    uint32_t quits;
};

struct mailbox {
    struct pool *pool;
    uint32_t letters;
    bool scheduled;
    uint32_t handled;
    void (*rest)(struct sim_world *world, struct mailbox *mailbox);
};

static void
pool_token(struct pool *pool)
{
    const uint64_t one = 1;
    SIM_ALWAYS(sim_sys_write(pool->fds, pool->tokens, &one, sizeof(one), 0, RT_HERE) == 8);
}

static void
schedule(struct mailbox *mailbox)
{
    mailbox->pool->runnable = mailbox;
    pool_token(mailbox->pool);
}

static void
mailbox_send(struct sim_world *world, struct mailbox *mailbox)
{
    mailbox->letters++;
    sim_loop_pause(world);
    if (!mailbox->scheduled) {
        mailbox->scheduled = true;
        schedule(mailbox);
    }
}

static void
mailbox_rest(struct sim_world *world, struct mailbox *mailbox)
{
    sim_loop_pause(world);
    mailbox->scheduled = false;
}

static void
mailbox_rest_or_run(struct sim_world *world, struct mailbox *mailbox)
{
    sim_loop_pause(world);
    mailbox->scheduled = false;
    sim_loop_pause(world);
    if (mailbox->letters > 0 && !mailbox->scheduled) {
        mailbox->scheduled = true;
        schedule(mailbox);
    }
}

static void
mailbox_run(struct sim_world *world, struct mailbox *mailbox)
{
    struct pool *pool = mailbox->pool;
    while (mailbox->letters > 0) {
        mailbox->letters--;
        sim_work(world, 10 * RT_US);
        SIM_PROGRESS();
        if (++mailbox->handled == SENDERS * EACH) {
            pool->quits = WORKERS;
            for (uint32_t i = 0; i < WORKERS; i++) {
                pool_token(pool);
            }
        }
    }
    mailbox->rest(world, mailbox);
}

static void
worker_main(struct sim_world *world, void *argument)
{
    struct pool *pool = argument;
    for (;;) {
        uint64_t token;
        int64_t size =
                sim_sys_read(pool->fds, pool->tokens, &token, sizeof(token), 0, RT_HERE);
        if (size != (int64_t)sizeof(token)) {
            continue;
        }
        struct mailbox *mailbox = pool->runnable;
        pool->runnable = NULL;
        if (mailbox != NULL) {
            mailbox_run(world, mailbox);
        } else if (pool->quits > 0) {
            pool->quits--;
            return;
        }
    }
}

static void
sender_main(struct sim_world *world, void *argument)
{
    struct mailbox *mailbox = argument;
    for (uint32_t i = 0; i < EACH; i++) {
        sim_sleep(world, sim_range(world, 50 * RT_US, 150 * RT_US));
        mailbox_send(world, mailbox);
    }
}

static void
setup_mailbox(struct sim_world *world, void (*rest)(struct sim_world *, struct mailbox *))
{
    static const char *const workers[WORKERS] = {"worker 0", "worker 1"};
    static const char *const senders[SENDERS] = {"sender 0", "sender 1"};
    struct sim_host *host = sim_host_new(world, NULL, SIM_PROFILE_FD);
    struct pool *pool = sim_new(world, struct pool);
    struct mailbox *mailbox = sim_new(world, struct mailbox);
    pool->fds = sim_fds_new(host, 3);
    pool->tokens = sim_sys_eventfd(pool->fds, "tokens", 0, true);
    mailbox->pool = pool;
    mailbox->rest = rest;
    for (uint32_t i = 0; i < WORKERS; i++) {
        (void)sim_loop_new(world, workers[i], worker_main, pool);
    }
    for (uint32_t i = 0; i < SENDERS; i++) {
        (void)sim_loop_new(world, senders[i], sender_main, mailbox);
    }
}

static void
setup_broken(struct sim_world *world)
{
    setup_mailbox(world, mailbox_rest);
}

static void
setup_fixed(struct sim_world *world)
{
    setup_mailbox(world, mailbox_rest_or_run);
}

SIM_SCENARIO(mailbox_broken, .name = "mailbox/broken", .about = "An actor on a pool of threads.",
        .setup = setup_broken);
SIM_SCENARIO(mailbox_fixed, .name = "mailbox/fixed", .about = "An actor on a pool of threads.",
        .setup = setup_fixed);
