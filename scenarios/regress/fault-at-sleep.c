/*
 * fault-at-sleep.c -- a run of articles/s3/three-tasks, kept by `rewake promote`.
 *
 * A false alarm of ours: a fault gave a task another waker, and woke it, after its loop had polled
 * everybody and asked the host. That was nobody's doing, on no thread, so nobody could tell the
 * loop; yet it was blamed for sleeping on. Two decisions: a fault strikes task 2 as it goes to
 * sleep, and the quiescence behind it is audited.
 *
 * It ended in late-wakeup (oracle audit-quiet): 'task 2' slept on at 50000500 ns although it could
 * go on, waiting for: something it did not name; everything was quiet and the clock was about to
 * move.
 *
 * Fixed: such a fault waits until the loop is back from its host (sim/bind/disturb.c).
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "sim/core/choice.h"
#include "sim/core/tape.h"
#include "sim/rewake.h"

/* Stream, ordinal, id, kind, n, index. */
static const struct sim_deviation decisions[] = {
        {0xaf084111, 1, 0x00000000, SIM_KIND_FAULT, 2, 1, 0},
        {0x9e3779ba, 1, 0x00000000, SIM_KIND_AUDIT, 2, 1, 0},
};

static const struct sim_regression run = {
        .scenario = "articles/s3/three-tasks",
        .options = "-O fault_free_after=256",
        .decisions = decisions,
        .count = sizeof(decisions) / sizeof(*decisions),
};

SIM_SCENARIO(regression, .name = "regress/fault-at-sleep", .regression = &run,
        .about = "A fault that finds the loop asleep waits until it is back.");
