/*
 * spec.c -- the options of one run, and names.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "sim/engine/spec.h"

#include "runtime/base/assert.h"
#include "sim/search/swarm.h"

const char *
sim_how_name(uint32_t how)
{
    static const char *const names[] = {
            "random", "baseline", "tape", "tape", "search", "tape", "tape", "tape", "tape"};
    rt_assert(how < sizeof(names) / sizeof(*names));
    return names[how];
}

void
sim_run_spec_options(
        const struct sim_run_spec *spec, uint64_t seed, struct sim_options *ret_options)
{
    rt_assert(seed >= spec->seed);
    rt_assert(spec->scenario != NULL);
    *ret_options = spec->options;
    if (spec->how == SIM_HOW_SEARCH && spec->search.swarm != 0) {
        sim_swarm_draw(seed, spec->scenario, &spec->options, spec->given, ret_options);
    }
}
