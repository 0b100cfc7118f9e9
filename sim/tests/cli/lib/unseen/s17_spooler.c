/* Cause: job_wait(), line 69: the time limit is looked at before the grant; a job whose time is up in the same poll in which it finds that the printer was handed to it gives up and keeps the grant, so the printer is neither used nor released and the job behind it waits forever; repair: give up only if the printer was not granted. */
/*
 * Jobs queue for one printer. A letter gives up when it has waited too long; a print for the
 * archive waits as long as it takes.
 */
#include <sim/rewake.h>

struct job {
    struct rt_task task;
    struct spooler *spooler;
    struct job *behind; /* In the queue. */
    struct rt_slot slot;
    struct rt_sleep patience;
    struct rt_sleep printing;
    uint64_t patience_ns;
    uint64_t printing_ns;
    uint32_t at;
    bool granted;
    bool gave_up;
};

struct spooler {
    struct job *first;
    bool idle;
    bool fixed;
};

static void
spooler_queue(struct spooler *spooler, struct job *job)
{
    struct job **end = &spooler->first;
    while (*end != NULL) {
        end = &(*end)->behind;
    }
    job->behind = NULL;
    *end = job;
}

static void
spooler_leave(struct spooler *spooler, struct job *job)
{
    for (struct job **at = &spooler->first; *at != NULL; at = &(*at)->behind) {
        if (*at == job) {
            *at = job->behind;
            return;
        }
    }
}

/* Hands the printer to the first in the queue. */
static void
spooler_release(struct spooler *spooler)
{
    struct job *job = spooler->first;
    if (job == NULL) {
        spooler->idle = true;
        return;
    }
    spooler->first = job->behind;
    job->granted = true;
    rt_slot_wake(&job->slot);
}

/* READY when it has the printer, or has given up. */
static rt_poll
job_wait(struct job *job, struct rt_cx *cx)
{
    bool late = rt_sleep_poll(&job->patience, cx) == RT_READY;
    if (late && !(job->spooler->fixed && job->granted)) {
        spooler_leave(job->spooler, job);
        rt_slot_clear(&job->slot);
        job->gave_up = true;
        return RT_READY;
    }
    if (job->granted) {
        rt_sleep_cancel(&job->patience);
        return RT_READY;
    }
    rt_slot_replace(&job->slot, cx, "the printer");
    return RT_PENDING;
}

static rt_poll
job_poll(struct rt_task *task, struct rt_cx *cx)
{
    struct job *job = rt_container_of(task, struct job, task);
    RT_BEGIN(job->at);
    if (job->spooler->idle) {
        job->spooler->idle = false;
    } else {
        spooler_queue(job->spooler, job);
        rt_sleep_init(&job->patience, job->patience_ns);
        RT_AWAIT_HERE(job->at, job_wait(job, cx));
        if (job->gave_up) {
            return RT_READY;
        }
    }
    rt_sleep_init(&job->printing, job->printing_ns);
    RT_AWAIT_HERE(job->at, rt_sleep_poll(&job->printing, cx));
    spooler_release(job->spooler);
    RT_END(job->at);
}

static void
job_new(struct sim_world *world, struct sim_rt *rt, struct spooler *spooler, const char *name,
        uint64_t patience_ns)
{
    struct job *job = sim_new(world, struct job);
    job->spooler = spooler;
    job->patience_ns = patience_ns;
    job->printing_ns = sim_range(world, 2 * RT_MS, 5 * RT_MS);
    rt_slot_init(&job->slot);
    rt_task_init(&job->task, job_poll, NULL, name);
    sim_spawn(rt, &job->task);
}

static void
set_up(struct sim_world *world, bool fixed)
{
    struct sim_rt *rt = sim_rt_new(world, NULL);
    struct spooler *spooler = sim_new(world, struct spooler);
    spooler->idle = true;
    spooler->fixed = fixed;
    job_new(world, rt, spooler, "letter 1", 3 * RT_MS);
    job_new(world, rt, spooler, "letter 2", 3 * RT_MS);
    job_new(world, rt, spooler, "archive", RT_NEVER);
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

SIM_SCENARIO(broken, .name = "s17/spooler/broken", .about = "The first form.", .setup = set_up_broken);
SIM_SCENARIO(fixed, .name = "s17/spooler/fixed", .about = "The repaired form.", .setup = set_up_fixed);

/* SPDX-License-Identifier: Apache-2.0 */
