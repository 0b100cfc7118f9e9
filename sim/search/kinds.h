/*
 * kinds.h -- every strategy there is; each is defined in the file of its name.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SIM_SEARCH_KINDS_H
#define SIM_SEARCH_KINDS_H

#include "sim/search/strategy.h"

extern const struct sim_strategy_kind sim_strategy_random;   /* plain.c */
extern const struct sim_strategy_kind sim_strategy_baseline; /* plain.c */
extern const struct sim_strategy_kind sim_strategy_portfolio;
extern const struct sim_strategy_kind sim_strategy_guided;
extern const struct sim_strategy_kind sim_strategy_exhaustive;
extern const struct sim_strategy_kind sim_strategy_delay;
extern const struct sim_strategy_kind sim_strategy_pct;
extern const struct sim_strategy_kind sim_strategy_pos;
extern const struct sim_strategy_kind sim_strategy_rf;
extern const struct sim_strategy_kind sim_strategy_surw;
extern const struct sim_strategy_kind sim_strategy_urw;
extern const struct sim_strategy_kind sim_strategy_dpor;
extern const struct sim_strategy_kind sim_strategy_relay;

#endif
