/*
 * program.h -- an unchanged executable as a scenario.
 *
 *      rewake run ./prog -- --jobs 4
 *
 * The program is loaded once (load.h), before workers are made. Each run enters its _start on the
 * first thread of the world: constructors, main(argc, argv, envp), then exit() with what main
 * returned (start.h). Its calls are played by sim/thread, sim/posix, core/memory/malloc.h and
 * end.c; what nothing plays is refused (refuse.h). All that it may have changed is put back before
 * the next run: README.md has the list.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "sim/core/scenario.h"
#include "sim/program/load.h"
#include "sim/program/peer.h"

/* What a run of the program depends on beside seed and decisions. */
struct sim_program_input {
    char *const *arguments; /* After the program's name. */
    uint32_t argument_count;
    const char *const
            *environment; /* NAME=VALUE, in addition to the fixed list; the later one wins. */
    uint32_t peer_count;
    const char *const *peers; /* Its clients, as peer.h has them; borrowed for all runs. */
    /* For each peer the scenario that it is, without parameters; NULL: it is one of peer.h. */
    const struct sim_scenario *const *scenarios;
    uint32_t environment_count;
};

/* Around the dlopen of anything: what its constructors register for the end of the process is
 * called at the end of each run of a program. */
void sim_program_load_begin(void);
void sim_program_load_end(void);

/*
 * Makes `program`, which is loaded, the one of this process, and returns its scenario: called as
 * the file is. Before the images of its modules are taken (core/memory/image.h). NULL: the system
 * forbids it.
 */
const struct sim_scenario *sim_program_make(const struct sim_program *program);

/* Claims memory for the thread-local variables of `program`, in each thread (sim/thread/tcb.h).
 * False: they are too large. */
bool sim_program_claim_locals(const struct sim_program *program);

/* What the runs of workers made from now on get. Copied, but for the peers. NULL, or what is wrong
 * with the peer *ret_peer, and nothing is set. */
const char *sim_program_set_input(const struct sim_program_input *input, const char **ret_peer);

/* What was set last. `environment` is only a hash here: that of all entries in force. */
const struct sim_program_input *sim_program_input(void);
uint32_t sim_program_environment(void);

/* Whether `scenario` is the program's. */
bool sim_program_is(const struct sim_scenario *scenario);

/* The program of this process; NULL: none is loaded. */
const struct sim_program *sim_program_loaded(void);

/* Parameters that its scenario declares; the index in struct sim_options.params. */
#define SIM_PROGRAM_PARAM_LIST(X) \
    X(LEAKS, leaks, "1: memory that is not freed at the end is a leak") \
    X(SLOW_STEPS, slow_steps, "1: slow steps are as long as in scenarios") \
    X(LATE_TIMEOUTS, late_timeouts, "1: what only a wait's own time-out brings is a late wake-up")

enum sim_program_param {
#define SIM_PROGRAM_PARAM_ENUM(name, word, about) SIM_PROGRAM_##name,
    SIM_PROGRAM_PARAM_LIST(SIM_PROGRAM_PARAM_ENUM)
#undef SIM_PROGRAM_PARAM_ENUM
            SIM_PROGRAM_PARAMS
};
