/*
 * options.c -- defaults, names and places of the options of a run.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#define XXH_INLINE_ALL
#include "sim/core/decide/options.h"

#include <string.h>
#include <xxhash.h>

#include "runtime/base/assert.h"
#include "sim/core/scenario.h"

static const struct {
    const char *name;
    const char *about;
    uint64_t value;
} declared[] = {
#define OPTION_ROW(name, value, about) {#name, about, value},
        SIM_OPTION_LIST(OPTION_ROW)
#undef OPTION_ROW
};

void
sim_options_init(struct sim_options *options, const struct sim_scenario *scenario)
{
    memset(options, 0, sizeof(*options));
    for (uint32_t i = 0; i < SIM_OPTIONS; i++) {
        *sim_option_at(options, i) = declared[i].value;
    }
    if (scenario == NULL || scenario->params == NULL) {
        return;
    }
    for (uint32_t i = 0; i < SIM_PARAMS_MAX && scenario->params[i].name != NULL; i++) {
        options->params[i] = scenario->params[i].value;
    }
}

const char *
sim_option_name(uint32_t index)
{
    rt_assert(index < SIM_OPTIONS);
    return declared[index].name;
}

const char *
sim_option_about(uint32_t index)
{
    rt_assert(index < SIM_OPTIONS);
    return declared[index].about;
}

uint64_t
sim_option_default(uint32_t index)
{
    rt_assert(index < SIM_OPTIONS);
    return declared[index].value;
}

uint64_t
sim_option_min(uint32_t index)
{
    switch ((enum sim_option_index)index) {
    case SIM_OPTION_livelock_steps:
        return SIM_LIVELOCK_STEPS_MIN;
    case SIM_OPTION_starvation_steps:
        return SIM_STARVATION_STEPS_MIN;
    case SIM_OPTION_steps_max:
    case SIM_OPTION_time_ns_max:
        return 1;
    case SIM_OPTION_step_ns:
    case SIM_OPTION_order:
    case SIM_OPTION_profile:
    case SIM_OPTION_faults:
    case SIM_OPTION_spurious_one_in:
    case SIM_OPTION_late_one_in:
    case SIM_OPTION_slow_one_in:
    case SIM_OPTION_fault_one_in:
    case SIM_OPTION_audit_one_in:
    case SIM_OPTION_slack_ns:
    case SIM_OPTION_fair_steps:
    case SIM_OPTION_cancel_at:
    case SIM_OPTION_fault_free_after:
    case SIM_OPTION_converge_steps:
    case SIM_OPTION_converge_ns:
    case SIM_OPTIONS:
        break;
    }
    return 0;
}

uint64_t
sim_option_max(uint32_t index)
{
    switch ((enum sim_option_index)index) {
    case SIM_OPTION_order:
        return SIM_ORDER_LAST;
    case SIM_OPTION_profile:
        return SIM_PROFILE_FD;
    case SIM_OPTION_faults:
        return SIM_FAULT_ALL;
    case SIM_OPTION_spurious_one_in:
    case SIM_OPTION_late_one_in:
    case SIM_OPTION_slow_one_in:
    case SIM_OPTION_fault_one_in:
    case SIM_OPTION_audit_one_in:
        return UINT16_MAX;
    case SIM_OPTION_step_ns:
        return SIM_STEP_NS_MAX;
    case SIM_OPTION_fair_steps:
        return SIM_FAIR_STEPS_MAX;
    case SIM_OPTION_slack_ns:
    case SIM_OPTION_time_ns_max:
    case SIM_OPTION_converge_ns:
        /* Sums of these do not overflow. */
        return UINT64_C(1) << 60;
    case SIM_OPTION_livelock_steps:
    case SIM_OPTION_starvation_steps:
    case SIM_OPTION_steps_max:
    case SIM_OPTION_cancel_at:
    case SIM_OPTION_fault_free_after:
    case SIM_OPTION_converge_steps:
    case SIM_OPTIONS:
        break;
    }
    /* The largest step number in an event. */
    return UINT32_MAX;
}

bool
sim_option_valid(uint32_t index, uint64_t value)
{
    if (index == SIM_OPTION_faults && value == SIM_FAULT_FROM_SCENARIO) {
        return true;
    }
    return value >= sim_option_min(index) && value <= sim_option_max(index);
}

uint64_t *
sim_option_at(struct sim_options *options, uint32_t index)
{
    switch ((enum sim_option_index)index) {
#define OPTION_PLACE(name, value, about) \
    case SIM_OPTION_##name: \
        return &options->name;
        SIM_OPTION_LIST(OPTION_PLACE)
#undef OPTION_PLACE
    case SIM_OPTIONS:
        break;
    }
    rt_unreached("an unknown option");
}

uint64_t
sim_option_get(const struct sim_options *options, uint32_t index)
{
    struct sim_options copy = *options;
    return *sim_option_at(&copy, index);
}

static void
hash_text(XXH32_state_t *state, const char *text)
{
    (void)XXH32_update(state, text, strlen(text) + 1);
}

uint32_t
sim_options_hash(const struct sim_scenario *scenario)
{
    XXH32_state_t state;
    (void)XXH32_reset(&state, 0);
    for (uint32_t i = 0; i < SIM_OPTIONS; i++) {
        hash_text(&state, declared[i].name);
        (void)XXH32_update(&state, &declared[i].value, sizeof(declared[i].value));
    }
    const struct sim_param *param = scenario != NULL ? scenario->params : NULL;
    for (; param != NULL && param->name != NULL; param++) {
        hash_text(&state, param->name);
        (void)XXH32_update(&state, &param->value, sizeof(param->value));
    }
    return XXH32_digest(&state);
}
