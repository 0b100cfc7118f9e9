/*
 * worker.h -- processes that run scenarios, so that this one never does.
 *
 * A worker is forked from the parent, which has run nothing: every worker starts from
 * the same memory. It is given jobs, a batch of run indices of one scenario each, and
 * answers when a batch is done. Whatever happens in a run ends at the process:
 *
 *   a crash, or a call of exit   The process dies. The parent reads the mapping: verdict `crash`.
 *   a step that never returns    The step counter stands still for `hang_ms`; the parent kills the
 *                                process: verdict `hang`.
 *   a write into the mapping     The mapping is not valid: verdict `crash`.
 *   killed between two runs      Another process continues; after some without a run done, no
 *                                more.
 *
 * A process that ended so is never used again. If it had made other runs before, one of these may
 * have done the damage, so that its end is no verdict yet (reap.c):
 *
 *   1. The run is repeated in a new process, as its first. If that one dies as well, or hangs,
 *      this is the run's verdict: it happened to that run alone.
 *   2. Otherwise an earlier run has damaged the process. What the job has of it is dropped, and all
 *      runs of the job are repeated, a process for each. The suspect run is `diverged`, if it
 *      passes there, with the seeds that ran before it.
 *   3. The same when the mapping is not valid, as it is not known which run has written there.
 *
 * What earlier jobs of the process have reported stays: a run of theirs that failed in another way
 * is confirmed alone when it is the first of its kind (sweep/failures.c).
 *
 * So a job always ends with a verdict for every run.
 *
 * Replicas. `arena` and `fill` say where a run's memory lies and what fresh memory holds; a
 * replica gets another pair (and a stack that begins elsewhere), so that a run which depends on
 * addresses, or on memory that it never wrote, differs there.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#pragma once

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "sim/engine/worker/shared.h"

#define SIM_HANG_MS 10000u
/* … after an interrupt, while the user waits for the end. */
#define SIM_HURRY_MS 500u

struct sim_worker_kind {
    void *arena; /* Where the arena should lie. */
    uint8_t fill;
    uint32_t stack_bytes; /* The stack begins so much lower. */
    bool sets_up_always;  /* No run starts from the saved setup of one before it. */
};

extern const struct sim_worker_kind sim_worker_usual;
extern const struct sim_worker_kind sim_worker_replica;

/* A run that ended with its process, which had made other runs before it. */
struct sim_suspect {
    bool any;
    struct sim_outcome seen; /* How it ended. */
    uint64_t since;          /* Seed of the first run of the process. */
};

struct sim_worker {
    struct sim_shared *shared;
    struct sim_shared_parts parts; /* Of the mapping, as a run cannot have written them. */
    struct sim_job job; /* As it was given: what is in the mapping a run may have changed. */
    uint64_t serial;    /* Jobs that it was given. */
    uint32_t asked;     /* Runs of it; job.count is less while one is repeated, … */
    bool keeps_all;     /* … and that one always has a row. */
    const struct sim_epochs *epochs; /* Its processes read it; NULL: none. Borrowed. */
    uint32_t alone;    /* So many of the next runs are made one by one, a process for each. */
    bool used;         /* The process has made runs before those that it was given last, … */
    uint32_t begun_at; /* … and the job had so many then. */
    const struct sim_scenario *since_of; /* What the process runs now, … */
    uint64_t since;                      /* … and the first seed that it was given of it. */
    struct sim_suspect suspect;          /* The run that is being repeated. */
    struct sim_suspect
            refuted;       /* One that did not end so alone, while all of its job is repeated. */
    bool reports_diverged; /* Such a run is called `diverged`; else it is as it was alone. */
    uint32_t deaths;       /* Processes that ended between two runs since one was done. */
    uint32_t deaths_done;
    struct sim_worker_kind kind;
    uint32_t hang_ms;
    /* Not 0 there: a step that stands still is given no more than SIM_HURRY_MS. NULL: never so. For
     * a run that has hung before. Borrowed. */
    const volatile sig_atomic_t *hurry;
    bool loud;    /* What a run writes to stderr is let through. */
    bool core;    /* A process that crashes may leave a core. */
    pid_t dumped; /* The last process that left one; 0: none. */
    pid_t pid;    /* 0: no process. */
    int fd;       /* To the process. */
    /* An unnamed file, to which a run writes its tape as it is made, so that it is known also when
     * the run has written over the mapping; -1: none. */
    int tape_fd;
    /* What edges of code each run of the job has reached (sim/search/cover/edges.h), shared with
     * the process; NULL: this build counts none. */
    uint64_t *edges;
    bool busy;        /* It has a job. */
    bool failed;      /* It cannot work: see `error`. */
    bool line_closed; /* The process closed its end of the line, but lives. */
    bool reaped;      /* The process is gone, and `status` is how. */
    int status;
    uint64_t seen_progress;
    uint64_t seen_ms; /* When the counter was last seen to move. */
    char error[128];
};

/* Makes the mapping; no process yet. */
void sim_worker_init(struct sim_worker *worker, const struct sim_worker_kind *kind,
        const struct sim_shared_sizes *sizes, uint32_t hang_ms);

/* Kills the process, if any, and gives the mapping back. Zeroed workers are fine. */
void sim_worker_fini(struct sim_worker *worker);

/* Starts on worker->shared->job; the worker must not be busy. It may do less than that at once. The
 * job's tape is copied into the mapping, for each process again: it must stay until the job is
 * done. False: see worker->error. */
bool sim_worker_give(struct sim_worker *worker);

/*
 * Waits until one of `workers` is done with its job (busy no more), at most `timeout_ms` (-1: as
 * long as it takes). Returns the index, or -1 after the time, after a signal, or when none is
 * busy. A worker that failed is done too.
 */
int sim_workers_wait(struct sim_worker *workers, uint32_t count, int timeout_ms);

/*
 * Ends the process in the middle of its run, which counts as never begun, as its end is unknown.
 * What the job has done before stays in the mapping, unless the run has written over it.
 * A worker that is not busy is left alone.
 */
void sim_worker_abandon(struct sim_worker *worker);

/*
 * Does the worker's job, of one run, in this very process, for a debugger (it stops as `trap`
 * says). No parent watches it: a run that crashes or hangs does so to the caller. Then it
 * is as after sim_worker_give and the wait. False: see worker->error.
 */
bool sim_worker_here(struct sim_worker *worker, struct sim_trap *trap);

/* Its part in serve.c. False: no memory. */
bool sim__worker_serve_here(struct sim_worker *worker, struct sim_trap *trap);

/* What the worker's process does (serve.c): takes jobs from `fd` until it is closed. */
__attribute__((noreturn)) void sim__worker_serve(struct sim_worker *worker, int fd, pid_t parent);
