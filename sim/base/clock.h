/*
 * clock.h -- the wall clock, in one place.
 *
 * For progress, `--time`, and for noticing that a worker stands still. No decision inside
 * a run may depend on it.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#pragma once

#include <stdint.h>

/* Milliseconds of a clock that only goes forward and stands while the machine sleeps. */
uint64_t sim_clock_ms(void);

/* Milliseconds since 1970, for the database. */
int64_t sim_clock_date_ms(void);
