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

#include "sim/cli/subject/artifact.h"
#include "sim/core/answers.h"
#include "sim/core/recorder.h"

/* Answers of one input that are heard. */
#define SCENARIO_ANSWERS 4096u

/* Reads the environment, loads the library; once, whoever comes first. */
void scenario_init(void);

/* Whether `data` is a run that this process makes: its line is good, and its scenario is the one
 * of FUZZ_SCENARIO, or without that one that is expected to hold. */
bool scenario_takes(const uint8_t *data, size_t size, struct sim_artifact *ret);

/* A first line for an input that has none that is good: that of FUZZ_SCENARIO, or of the scenario
 * that `number` picks. Valid until the next call. */
const char *scenario_line(uint64_t number);

/* How often the last run was asked, by kind: where there is something to be answered. */
extern uint32_t scenario_asked[SIM_KINDS];

/* Tells libFuzzer what the run in `recorder`, which is over, has covered. */
void scenario_count(const struct sim_recorder *recorder);

#endif
