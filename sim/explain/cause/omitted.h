/*
 * omitted.h -- a condition by which an actor does not read what is there.
 *
 * Something is left in a descriptor, and its reader does not come back for it. The conditions that
 * the reader has decided since the last report of it are decided the other way, each in a replay of
 * its own: those of that turn first, the last first, then the later ones. The first with which the
 * run passes is to blame; where there is none, the first with which that descriptor is read again.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#pragma once

#include "sim/explain/cause/fate.h"

/* Of unnotified->silence and ->part. The passing run of `evidence` is not needed. False: none is
 * found. */
bool sim_omission_find(const struct sim_fate_evidence *evidence,
        const struct sim_unnotified *unnotified, struct sim_omission *ret);
