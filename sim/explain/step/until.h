/*
 * until.h -- a run up to one of its steps, in the words of `show`.
 *
 * As columns, nothing folded; or (`verbose`) every event on a line of its own:
 *
 *      step      time  who                 what
 *         4     300ns  operator            starts timer 1, due at 2ms     tokio-4497.c:118 in …
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#pragma once

#include "sim/base/page.h"
#include "sim/core/record/recorder.h"

/* Adds the events of the steps up to `step`, and of the clock's moves before it. */
void sim_until_print(
        struct sim_page *page, const struct sim_recorder *recorder, uint64_t step, bool verbose);
