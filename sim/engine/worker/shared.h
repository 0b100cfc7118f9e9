/*
 * shared.h -- the mapping between the parent and one worker.
 *
 *      parent ── job ──▶ worker        runs seeds first .. first+count-1 of one scenario
 *             ◀─ results ─┘            totals, runs worth keeping, digests to be checked
 *
 * Made before the fork, at one address for both, and never moved: pointers in it to
 * the mapping itself, to scenarios, and to what the parent had before the fork hold on
 * both sides. The worker's whole `struct sim_world` lies here, and so does
 * the recorder's memory; the parent can therefore read how far a run had come when its
 * process died in the middle of it.
 *
 * Writers. The parent writes while the worker waits for a job or is dead, the worker
 * while it has one. `stop` and `progress` cross meanwhile.
 *
 * Damage. A run may write anywhere, also here. So the parent reads nothing before
 * sim_shared_is_valid; if that is false, it lays the mapping out again and has only
 * its own copies (worker.c). It has its own copy of the parts, so no pointer that it follows is
 * one that a run can have written.
 *
 * Killed in the middle. A run is over when `done` says so, which is written last.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "sim/engine/spec.h"
#include "sim/engine/worker/crash.h"
#include "sim/engine/worker/hang.h"
#include "sim/search/cover/observe.h"
#include "sim/search/learn/observe.h"
#include "sim/store/store.h"

#define SIM_JOB_RUNS_MAX 1024u
/* Facts of a job: space for many runs. It ends early when one more run might not fit, so that no
 * run is cut short because of those before it. */
#define SIM_JOB_FACTS_MAX (1u << 15)
/* Of one run, at most: what it is observed for, what it covers, what its strategy says of it. */
#define SIM_RUN_FACTS_MAX (SIM_OBSERVE_MAX + SIM_COVER_ELEMENTS_MAX + 2 * SIM_CHECKED_MAX + 256u)

/* What a worker is to do: the runs with seeds spec.seed, spec.seed + 1, …. */
struct sim_job {
    struct sim_run_spec spec;          /* A worker reads its tape in `incoming`. */
    uint32_t count;                    /* 1 .. SIM_JOB_RUNS_MAX */
    uint64_t serial;                   /* Of the worker's jobs: the parent counts them. */
    const struct sim_learned *learned; /* What a search may know; sealed, shared by all workers. */
    uint64_t index;                    /* Of the first run, in the sweep. */
    bool search_begins;                /* Sequential: this is the first job of the sweep. */
    bool keeps_tape;                   /* The tape is written to a file as well, as it is made. */
    bool teaches;                      /* What runs teach is noted. */
    bool covers;            /* What runs cover is noted; the first to cover something are kept. */
    uint32_t check_percent; /* Of the runs, digests to be compared with a replica's. */
    bool keep_all;          /* Every run is kept. */
    bool stop_at_failure;
    uint64_t analysis_steps; /* Steps of all replays after which it begins no more; 0: no bound. */
};

/* What a run came to. */
struct sim_run_result {
    uint64_t seed;
    uint64_t digest;
    uint64_t steps;
    uint64_t sim_ns;
    uint64_t order;      /* Its partial-order hash; 0: not known. */
    uint64_t tapes_used; /* With this run: bytes of tapes, … */
    uint32_t kept_count; /* … runs that are kept, … */
    uint32_t failures;   /* … and runs that did not pass. */
    uint32_t arm;        /* The strategy that drew it, in a search: its place in the table. */
    uint32_t fresh;      /* How much it covered that no run before it had; when it is merged. */
    uint32_t verdict;
    uint32_t idle; /* 1: a pass whose program was idle at its end. */
    uint64_t sum; /* Checksum of it and of what is kept, so that a run that writes here is found. */
};

/* A run that is kept: it failed, covered something new, or is to be checked. */
struct sim_kept {
    struct sim_outcome outcome;
    uint32_t tape_offset; /* Into `tapes`. */
    uint32_t tape_length;
    uint32_t arm;  /* As in its result. */
    bool reported; /* The first of its kind: confirmed and stored by itself. */
};

enum sim_stage {
    SIM_STAGE_IDLE,
    SIM_STAGE_RUN,
    SIM_STAGE_MISSING_WAKE, /* The run is in the results; this and what follows explain it. */
    SIM_STAGE_FIFO,
    SIM_STAGE_ANALYSIS,
    SIM_STAGE_PAST /* Another run, so that the process has a past. */
};

/* The parts of a mapping, after the struct below. */
struct sim_shared_parts {
    struct sim_world_memory memory;
    struct sim_tape incoming; /* The job's, put here again for each process that takes it. */
    uint8_t *tapes;
    size_t tapes_size;
    uint32_t *sorted;           /* For lenient tapes. */
    struct sim_deviation *copy; /* For a run's tape while others are made. */
    void *facts;
    uint8_t *strategy_memory; /* A strategy's memory: it outlives the process. */
    size_t size;              /* Of the whole mapping. */
};

struct sim_shared {
    struct sim_job job;

    struct sim_shared_parts parts;

    /* Results. */
    volatile uint32_t done; /* Runs of the job that are over. */
    struct sim_run_result results[SIM_JOB_RUNS_MAX];
    struct sim_kept kept[SIM_JOB_RUNS_MAX];
    struct sim_recorder recorder; /* As it stood after the job's last run. */
    enum sim_store_fifo fifo;
    char mismatch[192];     /* What did not fit a strict tape; "": all of it did. */
    uint32_t ignored;       /* Deviations of a lenient tape that fitted nowhere. */
    bool exhausted;         /* The strategy has nothing left to do. */
    struct sim_facts facts; /* What the job's runs taught. */

    /* Now. */
    volatile uint64_t progress; /* Moves with each step. */
    volatile uint32_t stage;
    volatile bool stop;     /* The parent wants no more runs of this job. */
    bool ready;             /* The worker has got its memory. */
    uint64_t seed;          /* Of the run in progress. */
    uint32_t arm;           /* The strategy that draws it, in a search. */
    uint64_t order;         /* Its partial-order hash, when it is over; 0: not known. */
    bool covers_more;       /* … and whether the job's runs before it have covered less. */
    struct sim_crash crash; /* A hang: where it spins, without a signal. */
    struct sim_hang hang;
    struct sim_world world;
};

/* How much a mapping holds. */
struct sim_shared_sizes {
    uint32_t events; /* A power of two. */
    uint32_t texts;
    uint32_t text_bytes;
    uint32_t deviations; /* Of one run. */
};

extern const struct sim_shared_sizes sim_shared_for_sweeps;
extern const struct sim_shared_sizes sim_shared_for_reading;
extern const struct sim_shared_sizes sim_shared_for_candidates; /* Events, but no texts. */

/* Pages are touched only as they are used. *ret_parts is the parent's copy. */
struct sim_shared *sim_shared_new(
        const struct sim_shared_sizes *sizes, struct sim_shared_parts *ret_parts);
void sim_shared_free(struct sim_shared **shared, const struct sim_shared_parts *parts);

/* Gives back its pages and lays it out again, with `job` and no results, whatever was in it. */
void sim_shared_renew(
        struct sim_shared *shared, const struct sim_shared_parts *parts, const struct sim_job *job);

/* Whether a worker that was given `job` can have left all of it so: numbers in range, results with
 * their checksums (valid.c). Pointers that the parent follows are set again. */
bool sim_shared_is_valid(
        struct sim_shared *shared, const struct sim_shared_parts *parts, const struct sim_job *job);

/* Zeroes `size` bytes of a mapping. Whole pages go back to the system, which has them zeroed when
 * they are used: of megabytes few are. */
void sim_shared_clear(void *memory, size_t size);

/* Forgets the results. */
void sim_shared_begin(struct sim_shared *shared);

/* Adds a run that is over to the results; its tape is the world's. `arm`: the strategy that
 * drew it, in a search, else 0. */
void sim_shared_add(struct sim_shared *shared, const struct sim_outcome *outcome, uint32_t arm);

/* The last result; zeros before the first. */
const struct sim_run_result *sim_shared_last(const struct sim_shared *shared);

/* Whether the result of run `nth` is as sim_shared_add left it, with what is kept of it. */
bool sim_shared_sum_holds(const struct sim_shared *shared, uint32_t nth);

/* The last run that was kept; there is one. */
const struct sim_outcome *sim_shared_last_kept(const struct sim_shared *shared);

/* Gives the one run of the job the stack and the message of `outcome`. */
void sim_shared_explained(struct sim_shared *shared, const struct sim_outcome *outcome);

/* Replaces its outcome. In the parent, while no process is at work. */
void sim_shared_replace_last(struct sim_shared *shared, const struct sim_outcome *outcome);

/* False when the job has to end early: no more results fit, or there are enough. */
bool sim_shared_continues(const struct sim_shared *shared);

/* Hash of one run, as it is summed over a sweep. */
uint64_t sim_run_hash(uint64_t seed, uint64_t digest);

/* Whether the run with `seed` is one of the `percent` that a replica checks: a hash of the seed. */
bool sim_seed_is_checked(uint64_t seed, uint32_t percent);
