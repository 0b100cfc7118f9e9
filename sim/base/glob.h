/*
 * glob.h -- names of scenarios by shell patterns.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SIM_BASE_GLOB_H
#define SIM_BASE_GLOB_H

#include <fnmatch.h>
#include <stdbool.h>
#include <stdint.h>

/* Whether all of `name` matches one of `count` shell globs; with none it does. */
static inline bool
sim_glob_matches(const char *name, char *const *patterns, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        if (fnmatch(patterns[i], name, 0) == 0) {
            return true;
        }
    }
    return count == 0;
}

#endif
