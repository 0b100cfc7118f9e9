/*
 * programs.h -- small random programs, to be enumerated.
 *
 * A program is made from one number: two or three tasks of two to four operations over two cells,
 * two slots, a channel of one place, a notify and timers, of which each program uses some. One
 * operation is one or two polls; then the task gives way. Nothing else is shared (`.declared`).
 *
 *      for (int64_t program = 0; program < 500; program++) {
 *          struct sim_options options;
 *          program_options(&options, program);
 *          every_init(&every);
 *          do {
 *              sim_world_run(world, &program_scenario, &options, 1, &every.strategy, ...);
 *              ... outcome.verdict, program_end_of(world) ...
 *          } while (every_next(&every));
 *      }
 *
 * How they end. A run passes, fails an assertion in the midst (`invariant`, one line for each
 * operation), fails the one about the end (a mix of all cells and of what each task has read, in
 * one of 2 to 6 ways), or comes to rest with a task asleep (raw verdict `deadlock`; judged, mostly
 * `lost-wakeup`). Of two programs one passes in some orders and fails in others; program_end_of
 * tells ends apart that have one verdict.
 *
 * How many orders. With program_options nothing is decided but who runs: no false alarms, no
 * slow steps, no audits. A program then has at most PROGRAM_RUNS_MAX orders, 600 in the mean
 * (programs_are_small_and_various holds the former). Timers are a millisecond apart and longer
 * than any run of steps, so they come due only when all are asleep.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#pragma once

#include "sim/core/decide/choice.h"
#include "sim/core/world.h"
#include "sim/rewake.h"

#define PROGRAM_RUNS_MAX 20000u

/* Its parameter `program` says which. Not registered: `rewake list` knows nothing of it. */
extern const struct sim_scenario program_scenario;

/* The options with which `program` (0 and up) decides nothing but who runs. */
void program_options(struct sim_options *options, int64_t program);

/* After a run, before the next: a number for how things stood at its end, whatever the verdict. */
uint64_t program_end_of(const struct sim_world *world);

/* "set 0,3; park 1,2\n...", a line for each task; verb, object, value: for who has to find out why.
 * At most `size` bytes with the end. */
void program_put(int64_t program, char *text, size_t size);

/* ---- Every order of a program, the dumbest way. ---------------------------------------------- */

#define EVERY_CHOICES_MAX 256u

/* Answers every choice in every way: depth first, baseline first. */
struct every {
    struct sim_strategy strategy; /* First. */
    struct {
        uint8_t index;
        uint8_t n;
    } choices[EVERY_CHOICES_MAX];
    uint32_t depth; /* Choices that are set for the next run; those behind are answered 0. */
    uint32_t asked; /* In this run. */
};

void every_init(struct every *every);

/* Sets up the next run. False: that was the last. */
bool every_next(struct every *every);
