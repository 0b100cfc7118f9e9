/*
 * options.c -- defaults, names and places of the options of a run.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#define XXH_INLINE_ALL
#include "sim/core/decide/options.h"

#include <stddef.h>
#include <string.h>
#include <xxhash.h>

#include "runtime/base/assert.h"
#include "sim/core/scenario.h"

_Static_assert(offsetof(struct sim_options, params) == SIM_OPTIONS * sizeof(uint64_t),
        "an option is found by its index");

const struct sim_option sim_option_table[SIM_OPTIONS] = {
#define OPTION_ROW(name, value, least, most, about) {#name, about, value, least, most},
        SIM_OPTION_LIST(OPTION_ROW)
#undef OPTION_ROW
};

const char *const sim_fault_names[SIM_FAULTS] = {"cancel", "clock", "capacity", "eintr", "migrate",
        "reentrancy", "net", "calls", "partition"};

void
sim_options_init(struct sim_options *options, const struct sim_scenario *scenario)
{
    memset(options, 0, sizeof(*options));
    for (uint32_t i = 0; i < SIM_OPTIONS; i++) {
        *sim_option_at(options, i) = sim_option_table[i].value;
    }
    if (scenario == NULL || scenario->params == NULL) {
        return;
    }
    for (uint32_t i = 0; i < SIM_PARAMS_MAX && scenario->params[i].name != NULL; i++) {
        options->params[i] = scenario->params[i].value;
    }
}

const char *
sim_option_word(uint32_t index, uint64_t value)
{
    static const char *const orders[SIM_ORDER_LAST + 1] = {
            "scenario", "any", "fifo", "lifo-slot", "priority", "edf", "fair"};
    static const char *const profiles[SIM_PROFILE_FD + 1] = {"scenario", "wasi", "hostile", "fd"};
    if (index == SIM_OPTION_order && value <= SIM_ORDER_LAST) {
        return orders[value];
    }
    return index == SIM_OPTION_profile && value <= SIM_PROFILE_FD ? profiles[value] : NULL;
}

static bool
is_word(const char *word, const char *text, size_t length)
{
    return word != NULL && strlen(word) == length && memcmp(word, text, length) == 0;
}

/* The bit of one fault; 0: there is none of that name. */
static uint64_t
fault_by_name(const char *text, size_t length)
{
    for (uint32_t i = 0; i < SIM_FAULTS; i++) {
        if (is_word(sim_fault_names[i], text, length)) {
            return UINT64_C(1) << i;
        }
    }
    return 0;
}

static bool
faults_by_names(const char *text, size_t length, uint64_t *ret_mask)
{
    uint64_t mask = 0;
    for (size_t at = 0; at <= length;) {
        const char *comma = memchr(text + at, ',', length - at);
        size_t end = comma != NULL ? (size_t)(comma - text) : length;
        uint64_t fault = fault_by_name(text + at, end - at);
        if (fault == 0) {
            return false;
        }
        mask |= fault;
        at = end + 1;
    }
    *ret_mask = mask;
    return true;
}

bool
sim_option_by_word(uint32_t index, const char *text, size_t length, uint64_t *ret_value)
{
    if (index == SIM_OPTION_faults) {
        return faults_by_names(text, length, ret_value);
    }
    for (uint64_t value = 0; sim_option_word(index, value) != NULL; value++) {
        if (is_word(sim_option_word(index, value), text, length)) {
            *ret_value = value;
            return true;
        }
    }
    return false;
}

bool
sim_option_valid(uint32_t index, uint64_t value)
{
    if (index == SIM_OPTION_faults && value == SIM_FAULT_FROM_SCENARIO) {
        return true;
    }
    return value >= sim_option_table[index].least && value <= sim_option_table[index].most;
}

/* The options are the first members, in the order of the list. */
uint64_t *
sim_option_at(struct sim_options *options, uint32_t index)
{
    rt_assert(index < SIM_OPTIONS);
    return (uint64_t *)(void *)options + index;
}

uint64_t
sim_option_get(const struct sim_options *options, uint32_t index)
{
    rt_assert(index < SIM_OPTIONS);
    return ((const uint64_t *)(const void *)options)[index];
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
        hash_text(&state, sim_option_table[i].name);
        (void)XXH32_update(&state, &sim_option_table[i].value, sizeof(sim_option_table[i].value));
    }
    const struct sim_param *param = scenario != NULL ? scenario->params : NULL;
    for (; param != NULL && param->name != NULL; param++) {
        hash_text(&state, param->name);
        (void)XXH32_update(&state, &param->value, sizeof(param->value));
    }
    return XXH32_digest(&state);
}
