/*
 * mock.h -- time that a test moves by hand (S4: InitializeMockTime, AdvanceMockTime).
 *
 *      sim_mock_time(world);                          once, in setup
 *      ...
 *      rt_run_until_stalled(executor, ...);           in a sim_loop (loop.h)
 *      sim_advance(world, 50 * RT_MS);
 *      rt_runtime_turn(runtime, RT_TURN_POLL, NULL);  fires what is due now
 *
 * Without it a step costs time, and now and then a lot of it. With it the clock stands still
 * but for the two calls below, for sim_work, and for a moment at which nobody can go on: then it
 * moves to the next thing that is due (M13). So a test may say at which nanosecond what happens.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SIM_CORE_MOCK_H
#define SIM_CORE_MOCK_H

#include <stdbool.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

struct sim_world;

/* From here to the end of the run steps take no time. Twice: no-op. */
void sim_mock_time(struct sim_world *world);

/*
 * Moves the clock ahead by `ns` at once, whatever is due in between, and gives way to the others
 * once: sources that are due by then may report (who is first is decided), timers wait for a turn.
 * 0: gives way only. Too much for the clock ends the run with verdict time-limit. Outside of a
 * loop, or without mock time, the run ends with verdict contract.
 */
void sim_advance(struct sim_world *world, uint64_t ns);

/*
 * As sim_advance, to the earliest moment for which somebody waits: a timer of a runtime, an
 * instant or a source of a host, a loop that sleeps. True when the clock has moved or something is
 * due already; false, and nothing has happened, when nobody waits for any time.
 */
bool sim_advance_to_next(struct sim_world *world);

#ifdef __cplusplus
}
#endif
#endif
