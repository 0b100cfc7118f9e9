// Cause: s2_permit.c:73 a job whose time is over leaves the limiter without passing on the permit that was handed to it just before: the permit is lost, and the jobs that wait without a limit never get it.
// SPDX-License-Identifier: Apache-2.0
// clang-format off
#include <sim/rewake.h>

#define WAITERS 3

struct waiter {
    struct rt_slot slot;
    bool queued;
    bool granted;
};

/* One permit, first come, first served. */
struct limiter {
    bool taken;
    bool fixed;
    uint32_t count;
    struct waiter *queue[WAITERS];
};

struct job {
    struct rt_task task;
    struct limiter *limiter;
    struct waiter waiter;
    struct rt_sleep sleep;
    uint64_t start_ns, patience_ns, work_ns;
    bool got;
    uint32_t at;
};

static rt_poll acquire(struct limiter *limiter, struct waiter *waiter, struct rt_cx *cx)
{
    if (waiter->granted) {
        waiter->granted = false;
        return RT_READY;
    }
    if (!waiter->queued && !limiter->taken) {
        limiter->taken = true;
        return RT_READY;
    }
    if (!waiter->queued) {
        waiter->queued = true;
        limiter->queue[limiter->count++] = waiter;
    }
    rt_slot_replace(&waiter->slot, cx, "a permit");
    return RT_PENDING;
}

static void release(struct limiter *limiter)
{
    if (limiter->count == 0) {
        limiter->taken = false;
        return;
    }
    struct waiter *first = limiter->queue[0];
    limiter->count--;
    for (uint32_t i = 0; i < limiter->count; i++)
        limiter->queue[i] = limiter->queue[i + 1];
    first->queued = false;
    first->granted = true;
    rt_slot_wake(&first->slot);
}

static void give_up(struct limiter *limiter, struct waiter *waiter)
{
    uint32_t kept = 0;
    for (uint32_t i = 0; i < limiter->count; i++)
        if (limiter->queue[i] != waiter)
            limiter->queue[kept++] = limiter->queue[i];
    limiter->count = kept;
    rt_slot_clear(&waiter->slot);
    if (limiter->fixed && waiter->granted)
        release(limiter);
    waiter->queued = waiter->granted = false;
}

static rt_poll acquire_in_time(struct job *job, struct rt_cx *cx)
{
    if (rt_sleep_poll(&job->sleep, cx) == RT_READY) {
        give_up(job->limiter, &job->waiter);
        return RT_READY;
    }
    if (acquire(job->limiter, &job->waiter, cx) != RT_READY)
        return RT_PENDING;
    job->got = true;
    rt_sleep_cancel(&job->sleep);
    return RT_READY;
}

static rt_poll job_poll(struct rt_task *task, struct rt_cx *cx)
{
    struct job *job = rt_container_of(task, struct job, task);
    RT_BEGIN(job->at);
    rt_sleep_init(&job->sleep, job->start_ns);
    RT_AWAIT_HERE(job->at, rt_sleep_poll(&job->sleep, cx));
    rt_sleep_init(&job->sleep, job->patience_ns);
    RT_AWAIT_HERE(job->at, acquire_in_time(job, cx));
    if (job->got) {
        rt_sleep_init(&job->sleep, job->work_ns);
        RT_AWAIT_HERE(job->at, rt_sleep_poll(&job->sleep, cx));
        release(job->limiter);
    }
    RT_END(job->at);
}

static void setup(struct sim_world *world, bool fixed)
{
    static const char *const names[WAITERS] = {"export", "search", "backup"};
    struct sim_rt *rt = sim_rt_new(world, NULL);
    struct limiter *limiter = sim_new(world, struct limiter);
    limiter->fixed = fixed;
    for (uint32_t i = 0; i < WAITERS; i++) {
        struct job *job = sim_new(world, struct job);
        job->limiter = limiter;
        job->start_ns = (i + 1) * 100 * RT_US;
        job->patience_ns = i == 1 ? 2 * RT_MS : RT_NEVER; /* a user waits for the search */
        job->work_ns = sim_range(world, RT_MS, 4 * RT_MS);
        rt_slot_init(&job->waiter.slot);
        rt_task_init(&job->task, job_poll, NULL, names[i]);
        sim_spawn(rt, &job->task);
    }
}

static void setup_broken(struct sim_world *world) { setup(world, false); }
static void setup_fixed(struct sim_world *world) { setup(world, true); }

SIM_SCENARIO(broken, .name = "set2/permit/broken", .about = "A limiter loses a permit to a job that gives up.",
        .setup = setup_broken, .expect = SIM_VERDICT_DEADLOCK, .expect_also = SIM_VERDICT_LOST_WAKEUP);
SIM_SCENARIO(fixed, .name = "set2/permit/fixed", .about = "A job that gives up passes its permit on.",
        .setup = setup_fixed);
