/* Cause: kiln_round(), line 74: `queued` is taken back only after the poll, so a wake that comes while the poll ends finds the task queued and does nothing; repair: take it back before the poll. */
#include <sim/rewake.h>

#define JOBS 2

struct job {
    struct kiln *kiln;
    const char *name;
    unsigned pots; /* Handed in and not yet fired. */
    unsigned fired;
    unsigned wanted;
    bool queued;
    bool finished;
    struct job *next;
};

struct kiln {
    struct sim_fds *fds;
    int bell;
    struct job jobs[JOBS];
    struct job *first, **last;
    bool early;
};

static void
push(struct kiln *kiln, struct job *job)
{
    job->queued = true;
    job->next = NULL;
    *kiln->last = job;
    kiln->last = &job->next;
}

/* From any thread. */
static void
job_wake(struct job *job)
{
    if (!job->queued && !job->finished) {
        push(job->kiln, job);
        SIM_ALWAYS(sim_fd_notify(job->kiln->fds, job->kiln->bell) == RT_OK);
    }
}

static void
job_poll(struct job *job)
{
    sim_foreign_poll(job);
    while (job->pots > 0) {
        job->pots--;
        job->fired++;
        SIM_PROGRESS();
    }
    job->finished = job->fired == job->wanted;
    if (!job->finished) {
        sim_foreign_store(job, &job->pots, "a pot");
    }
    sim_foreign_polled(job, job->finished);
}

static void
kiln_round(struct kiln *kiln)
{
    while (kiln->first != NULL) {
        struct job *job = kiln->first;
        kiln->first = job->next;
        if (kiln->first == NULL) {
            kiln->last = &kiln->first;
        }
        if (kiln->early) {
            job->queued = false;
            job_poll(job);
        } else {
            job_poll(job);
            job->queued = false;
        }
    }
}

static void
kiln_main(struct sim_world *world, void *argument)
{
    struct kiln *kiln = argument;
    (void)world;
    while (!(kiln->jobs[0].finished && kiln->jobs[1].finished)) {
        struct sim_fd_event event;
        kiln_round(kiln);
        if (kiln->jobs[0].finished && kiln->jobs[1].finished) {
            break;
        }
        if (sim_fd_wait(kiln->fds, &event, 1, SIM_NEVER) == 1) {
            uint64_t rings;
            (void)sim_fd_read(kiln->fds, kiln->bell, &rings, sizeof rings);
        }
    }
}

static void
potter_main(struct sim_world *world, void *argument)
{
    struct job *job = argument;
    for (unsigned i = 0; i < job->wanted; i++) {
        sim_sleep(world, sim_range(world, 1 * RT_MS, 2 * RT_MS));
        job->pots++;
        sim_foreign_fire(&job->pots);
        job_wake(job);
    }
}

static void
again(void *runtime, void *task)
{
    (void)runtime;
    job_poll(task);
}

static void
set_up(struct sim_world *world, bool early)
{
    struct kiln *kiln = sim_new(world, struct kiln);
    kiln->fds = sim_fds_new(sim_host_new(world, "studio", SIM_PROFILE_FD), 3);
    kiln->early = early;
    kiln->last = &kiln->first;
    SIM_ALWAYS(sim_fd_event_open(kiln->fds, "bell", &kiln->bell) == RT_OK);
    SIM_ALWAYS(sim_fd_add(kiln->fds, kiln->bell, SIM_FD_IN, 0) == RT_OK);
    struct sim_loop *loop = sim_loop_new(world, "kiln", kiln_main, kiln);
    struct sim_foreign *foreign = sim_foreign_new(loop, again, kiln);
    for (unsigned i = 0; i < JOBS; i++) {
        struct job *job = &kiln->jobs[i];
        *job = (struct job){.kiln = kiln, .name = i == 0 ? "bowls" : "cups", .wanted = 2};
        sim_foreign_spawn(foreign, job, job->name);
        push(kiln, job);
        (void)sim_loop_new(world, i == 0 ? "bowl potter" : "cup potter", potter_main, job);
    }
}

static void set_up_broken(struct sim_world *world) { set_up(world, false); }
static void set_up_fixed(struct sim_world *world) { set_up(world, true); }

SIM_SCENARIO(broken, .name = "s18/kiln/broken", .about = "Pots for a kiln with its own executor.",
        .setup = set_up_broken);
SIM_SCENARIO(fixed, .name = "s18/kiln/fixed", .about = "Pots for a kiln with its own executor.",
        .setup = set_up_fixed);
