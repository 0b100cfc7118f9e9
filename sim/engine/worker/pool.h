/*
 * pool.h -- the workers of a command.
 *
 * They live as long as the command and serve one scenario after the other. One more of
 * another kind, the replica, is made when digests are to be checked.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#pragma once

#include "sim/engine/worker/worker.h"

#define SIM_JOBS_MAX 256u

struct sim_pool {
    struct sim_worker *workers;
    uint32_t count;
    uint32_t hang_ms;
    struct sim_epochs epochs;  /* What runs teach: the workers read it. */
    struct sim_worker replica; /* No mapping: not made yet. */
    char error[160];
};

void sim_pool_init(struct sim_pool *pool, uint32_t jobs, uint32_t hang_ms);
void sim_pool_fini(struct sim_pool *pool);

/* Ends the processes of the workers, none of which may be busy: the next job of each begins in a
 * new process. */
void sim_pool_end_processes(struct sim_pool *pool);

/* The digest of one run, which is no search, in the replica, which has run others before. False:
 * the system refused. */
bool sim_pool_replica_digest(
        struct sim_pool *pool, const struct sim_run_spec *spec, uint64_t *ret_digest);

/* Processors that this process may use. */
uint32_t sim_processors(void);
