/*
 * mock.h -- time that a test moves by hand (S4: InitializeMockTime, AdvanceMockTime).
 *
 *      sim_mock_time(world);                          once, in setup
 *      ...
 *      rt_run_until_stalled(executor, ...);           in a sim_loop (loop.h)
 *      sim_advance(world, 50 * RT_MS);
 *      rt_runtime_turn(runtime, RT_TURN_POLL, NULL);  fires what is due now
 *
 * Without it a step costs time, and a slow step much. With it the clock moves only by the two
 * calls below, by sim_work, and, when no actor is enabled, to the next due time (M13). So a test
 * controls at which nanosecond what happens.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

struct sim_world;

/* From here to the end of the run steps take no time. A second call: no-op. */
void sim_mock_time(struct sim_world *world);

/*
 * Moves the clock ahead by `ns` at once, whatever is due in between, and yields once: sources that
 * are due by then may report (in an order that is a decision), timers wait for a turn. 0: yields
 * only. An overflow of the clock ends the run with verdict time-limit; a call outside of a loop, or
 * without mock time, with verdict contract.
 */
void sim_advance(struct sim_world *world, uint64_t ns);

/*
 * As sim_advance, to the earliest due time: of a timer of a runtime, an instant or a source of a
 * host, a sleeping loop. True when the clock has moved or something is due already; false, and
 * nothing has happened, when nothing has a due time.
 */
bool sim_advance_to_next(struct sim_world *world);

#ifdef __cplusplus
}
#endif
