/*
 * fault-at-sleep.c -- a run of articles/s3/three-tasks, kept by `rewake promote`.
 *
 * A false alarm of ours: a fault gave a task another waker, and woke it, after its loop had polled
 * all tasks and the host. No task or thread had sent that wake, so the loop was not notified; yet
 * the verdict held the loop responsible. Two decisions: a fault strikes task 2 when it goes to
 * sleep, and the quiescence after it is audited.
 *
 * It ended in late-wakeup (oracle audit-quiet) of 'task 2' at 50000500 ns.
 *
 * Fixed: such a fault waits until the loop is back from its host (sim/bind/perturb.c).
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "sim/core/decide/choice.h"
#include "sim/core/decide/tape.h"
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
