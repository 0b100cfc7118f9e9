/*
 * glob.h -- names of scenarios by shell patterns.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#pragma once

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
