/*
 * names.h -- tables of names and meanings, from an X-macro list.
 *
 *      static const struct sim_name verdicts[] = {SIM_VERDICT_LIST(SIM_NAME_ROW)};
 *      sim_name_at(verdicts, SIM_VERDICTS, verdict)->name
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#pragma once

#include <stdint.h>

struct sim_name {
    const char *name;
    const char *meaning; /* One line. */
};

#define SIM_NAME_ROW(number, name, meaning) {name, meaning},

/* Row `index`; "?" for one that the table does not have. */
static inline const struct sim_name *
sim_name_at(const struct sim_name *names, uint32_t count, uint32_t index)
{
    static const struct sim_name unknown = {"?", "?"};
    return index < count ? &names[index] : &unknown;
}
