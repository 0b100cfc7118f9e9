/*
 * stand.h -- a replay that stands at a stop, and can be put back there.
 *
 * A question changes the run that it is put to, so each is put to a replay that has just arrived at
 * the stop. Where the run can be kept in its middle (core/memory/checkpoint.h) only the first of
 * them is really made: for the next one the world is put back. The last few stops are kept, and a
 * replay continues from the latest of them that lies before its stop. Elsewhere each is a replay
 * from the beginning. The answers are the same.
 *
 * Ownership. Borrows the world, whose run must be over, from sim_stand_init to sim_stand_leave, and
 * the case. In between gains are noted in world->gains.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#pragma once

#include "sim/core/memory/checkpoint.h"
#include "sim/judge/judge.h"

struct sim_stand {
    struct sim_world *world;
    const struct sim_case *what;
    bool standing;  /* The replay is not dropped. */
    uint64_t asked; /* So many answers its strategy has given. */
    /* Nothing was done to it since it stands at `at`: it needs not be put back there. */
    bool untouched;
    struct sim_stop at;
    /* Where it can be put back. */
    struct sim_stood {
        bool kept;
        struct sim_stop stop;
        uint64_t asked;
    } snapshots[SIM_SNAPSHOTS];
};

void sim_stand_init(struct sim_stand *stand, struct sim_world *world, const struct sim_case *what);

/* Makes the world stand at `stop`. Gains on the way are noted in the last journal, which is empty
 * again at the stop. False: the run does not come there. */
bool sim_stand_at(struct sim_stand *stand, struct sim_stop stop);

/* As sim_stand_at, for a caller that only reads the world. */
bool sim_stand_look(struct sim_stand *stand, struct sim_stop stop);

/* Drops the replay. The names of its actors stay readable until the next run. */
void sim_stand_leave(struct sim_stand *stand);
