/*
 * meanwhile.h -- what others do while a decision keeps an actor from continuing.
 *
 * A failing run that was made smaller has few choices that differ from the default schedule: an
 * actor is kept from continuing, or its step lasts longer, and another runs in its place. Where it
 * stands then, what others change until it continues, and where it has read that before or reads it
 * after, is where a race is.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#pragma once

#include "sim/explain/cause/fate.h"

#define SIM_CONFLICTS_MAX 2u
#define SIM_MEANWHILE_MAX 3u

/* Memory that another changes meanwhile. */
struct sim_conflict {
    struct sim_location change;
    struct sim_location before; /* Where the one that is held has read it last; step 0: nowhere. */
    struct sim_location after;  /* Where it reads or writes it next; step 0: nowhere. */
    char name[SIM_FATE_NAME_MAX];
};

struct sim_meanwhile {
    struct sim_location held; /* Where it stands; step 0: that is not known. */
    uint64_t until;           /* The step in which it continues; 0: it does not. */
    struct sim_conflict all[SIM_CONFLICTS_MAX];
    uint32_t count;
};

/* Of the actor `part`, which is held from step `step` on, of the failing run. */
void sim_meanwhile_find(const struct sim_fate_evidence *evidence, uint32_t part, uint64_t step,
        struct sim_meanwhile *ret);
