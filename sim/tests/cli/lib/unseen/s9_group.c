// Cause: log_tell() stops at the first waiter whose number is not durable yet, as if the line were sorted by number.
// It is in order of arrival (commit_wait appends), so a transaction behind a larger number is not woken although its
// number is durable; only a later write wakes it. log_tell() must look at every waiter (or the line be sorted by
// number).
// SPDX-License-Identifier: Apache-2.0
// clang-format off
/* Group commit: transactions take a number, prepare, and wait until the log is durable up to their
 * number. One task writes the log, at most two numbers at a time. */
#include <sim/rewake.h>

#define TRANSACTIONS 4
#define BATCH 2

struct commit {
    struct rt_task task;
    uint32_t at;
    struct log *log;
    struct commit *next; /* In the line of those that wait. */
    bool waits;
    uint32_t number;
    struct rt_slot slot;
    struct rt_sleep sleep;
    uint64_t prepare_ns;
};

struct log {
    struct rt_task task;
    uint32_t at;
    uint32_t last;    /* Number that was taken last. */
    uint32_t wanted;  /* The largest that a transaction waits for. */
    uint32_t upto;    /* Being written. */
    uint32_t durable;
    struct commit *line;
    struct rt_slot work;
    struct rt_sleep sleep;
    uint64_t write_ns;
    void (*tell)(struct log *log);
};

static void
log_tell(struct log *log)
{
    while (log->line != NULL && log->line->number <= log->durable) {
        struct commit *commit = log->line;
        log->line = commit->next;
        commit->waits = false;
        rt_slot_wake(&commit->slot);
    }
}

static void
log_tell_each(struct log *log)
{
    struct commit **at = &log->line;
    while (*at != NULL) {
        struct commit *commit = *at;
        if (commit->number <= log->durable) {
            *at = commit->next;
            commit->waits = false;
            rt_slot_wake(&commit->slot);
        } else {
            at = &commit->next;
        }
    }
}

static rt_poll
log_wait(struct log *log, struct rt_cx *cx)
{
    if (log->wanted > log->durable) {
        return RT_READY;
    }
    rt_slot_replace(&log->work, cx, "something to write");
    return RT_PENDING;
}

static rt_poll
log_poll(struct rt_task *task, struct rt_cx *cx)
{
    struct log *log = rt_container_of(task, struct log, task);
    RT_BEGIN(log->at);
    while (log->durable < TRANSACTIONS) {
        RT_AWAIT_HERE(log->at, log_wait(log, cx));
        log->upto = log->durable + BATCH < log->wanted ? log->durable + BATCH : log->wanted;
        rt_sleep_init(&log->sleep, log->write_ns);
        RT_AWAIT_HERE(log->at, rt_sleep_poll(&log->sleep, cx));
        log->durable = log->upto;
        log->tell(log);
    }
    RT_END(log->at);
}

static rt_poll
commit_wait(struct commit *commit, struct rt_cx *cx)
{
    struct log *log = commit->log;
    if (log->durable >= commit->number) {
        return RT_READY;
    }
    if (!commit->waits) {
        struct commit **end = &log->line;
        while (*end != NULL) {
            end = &(*end)->next;
        }
        commit->next = NULL;
        commit->waits = true;
        *end = commit;
        if (log->wanted < commit->number) {
            log->wanted = commit->number;
            rt_slot_wake(&log->work);
        }
    }
    rt_slot_replace(&commit->slot, cx, "its number durable");
    return RT_PENDING;
}

/* One that finds its number durable in a poll of its own leaves the line. */
static void
commit_leave(struct commit *commit)
{
    struct commit **at = &commit->log->line;
    while (*at != NULL && *at != commit) {
        at = &(*at)->next;
    }
    if (*at != NULL) {
        *at = commit->next;
    }
    commit->waits = false;
}

static rt_poll
commit_poll(struct rt_task *task, struct rt_cx *cx)
{
    struct commit *commit = rt_container_of(task, struct commit, task);
    RT_BEGIN(commit->at);
    commit->number = ++commit->log->last;
    rt_sleep_init(&commit->sleep, commit->prepare_ns);
    RT_AWAIT_HERE(commit->at, rt_sleep_poll(&commit->sleep, cx));
    RT_AWAIT_HERE(commit->at, commit_wait(commit, cx));
    commit_leave(commit);
    RT_END(commit->at);
}

static void
setup_log(struct sim_world *world, void (*tell)(struct log *))
{
    static const char *const names[] = {"first", "second", "third", "fourth"};
    struct sim_rt *rt = sim_rt_new(world, NULL);
    struct log *log = sim_new(world, struct log);
    log->tell = tell;
    log->write_ns = 2 * RT_MS;
    rt_slot_init(&log->work);
    rt_task_init(&log->task, log_poll, NULL, "log");
    sim_spawn(rt, &log->task);
    for (uint32_t i = 0; i < TRANSACTIONS; i++) {
        struct commit *commit = sim_new(world, struct commit);
        commit->log = log;
        commit->prepare_ns = sim_range(world, 1 * RT_MS, 4 * RT_MS);
        rt_slot_init(&commit->slot);
        rt_task_init(&commit->task, commit_poll, NULL, names[i]);
        sim_spawn(rt, &commit->task);
    }
}

static void
setup_broken(struct sim_world *world)
{
    setup_log(world, log_tell);
}

static void
setup_fixed(struct sim_world *world)
{
    setup_log(world, log_tell_each);
}

SIM_SCENARIO(group_broken, .name = "group/broken", .about = "Transactions commit in groups.",
        .setup = setup_broken);
SIM_SCENARIO(group_fixed, .name = "group/fixed", .about = "Transactions commit in groups.",
        .setup = setup_fixed);
