/*
 * root-migrates.c -- a run of articles/s1/two-requests, kept by `rewake promote`.
 *
 * A bug of our runtime: rt_block_on used the root's key to check whether the root has ended. A root
 * that is given another waker has another key, so the loop took it for ended and returned RT_OK in
 * the middle. One decision is enough: the first possible fault strikes the root.
 *
 * It ended in lost-wakeup (oracle rewake) of 'block_on'.
 *
 * Fixed: the key that is checked changes with the waker (B1, rt_task_migrate). The same bug is
 * planted by runtime/tests/mutants/b1_root_that_migrates_has_ended.patch, with which this fails.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "sim/core/decide/choice.h"
#include "sim/core/decide/tape.h"
#include "sim/rewake.h"

/* Stream, ordinal, id, kind, n, index. */
static const struct sim_deviation decisions[] = {
        {0x5e12bb86, 0, 0x00000000, SIM_KIND_FAULT, 2, 1, 0},
};

static const struct sim_regression run = {
        .scenario = "articles/s1/two-requests",
        .options = "-O fault_free_after=2048",
        .decisions = decisions,
        .count = sizeof(decisions) / sizeof(*decisions),
};

SIM_SCENARIO(regression, .name = "regress/root-migrates", .regression = &run,
        .about = "The root of block_on gets another waker, and is still waited for.");
