/*
 * search_lab.h -- a strategy by name in a lab, and small programs to let it loose on.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#pragma once

#include "sim/search/learn/learned.h"
#include "sim/search/strategy.h"
#include "sim/tests/lab.h"

struct search_lab {
    struct lab lab;
    struct sim_search search;
    struct sim_learned learned;
    struct sim_strategy *strategy;
    void *memory;
    uint64_t runs;
};

/* `text` as in --strategy. Nothing is known yet. */
void search_lab_init(struct search_lab *lab, const char *text);
void search_lab_fini(struct search_lab *lab);

/* From now on it knows what the runs so far have taught. */
void search_lab_learn(struct search_lab *lab);

/* One run; what it teaches is noted when `teaches`. */
struct sim_outcome search_lab_run(
        struct search_lab *lab, const struct sim_scenario *scenario, uint64_t seed, bool teaches);

/* `runs` runs from seed `seed` on, all of which teach, and learns after each of the first, then
 * after 2, 4, 8 … */
void search_lab_school(
        struct search_lab *lab, const struct sim_scenario *scenario, uint64_t seed, uint64_t runs);

/*
 * A script: up to SCRIPT_TASKS tasks, each a word of letters, one a poll:
 *      a b c …  writes cell a, b, c      A B C …  reads it      . ,  nothing, on two lines
 * The test sets `script`, and reads in `script_said` who (task, letter) did what in the last
 * run.
 */
#define SCRIPT_TASKS 6u
#define SCRIPT_POLLS 512u

struct script_doing {
    uint8_t task;
    char letter;
};

extern const char *script[SCRIPT_TASKS + 1]; /* Ends with NULL. */
extern struct script_doing script_said[SCRIPT_POLLS];
extern uint32_t script_polls;
extern const struct sim_scenario script_scenario;

/* The tasks of the doings in the last run whose letter, in either case, is `cell`, as digits;
 * '*': of all. */
void script_order(char cell, char text[SCRIPT_POLLS + 1]);

/* Chi-square, in thousandths, of `n` counts that should all be alike. */
uint64_t chi_square(const uint32_t *counts, uint32_t n);
