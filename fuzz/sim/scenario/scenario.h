/*
 * scenario.h -- what the target and its mutator share.
 *
 *   ../scenario.c   an input is run and judged
 *   counters.c      what it covered of schedules, for libFuzzer
 *   mutate.c        inputs made of inputs, decision by decision
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef FUZZ_SIM_SCENARIO_SCENARIO_H
#define FUZZ_SIM_SCENARIO_SCENARIO_H

#include "sim/cli/subject/subject.h"
#include "sim/core/decide/answers.h"
#include "sim/core/record/recorder.h"

/* Answers of one input that are used. */
#define SCENARIO_ANSWERS 4096u

/* Reads the environment, loads the library; once, at the first call. */
void scenario_init(void);

/* Whether `data` is a run that this process makes: its line is valid, and its scenario is that
 * of FUZZ_SCENARIO, or without it one that must pass. */
bool scenario_takes(const uint8_t *data, size_t size, struct sim_artifact *ret);

/* A first line for an input without a valid one: that of FUZZ_SCENARIO, or of the scenario that
 * `number` picks. Valid until the next call. */
const char *scenario_line(uint64_t number);

/* Choices of the last run, by kind: those with something to answer. */
extern uint32_t scenario_asked[SIM_KINDS];

/* Reports the coverage of the run in `recorder`, which is over, to libFuzzer. */
void scenario_count(const struct sim_recorder *recorder);

#endif
