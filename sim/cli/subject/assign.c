/*
 * assign.c -- options and parameters by name.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "sim/cli/subject/subject.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/base/assert.h"
#include "sim/base/json.h"

char *
sim_options_json(const struct sim_scenario *scenario, const struct sim_options *options)
{
    struct sim_options usual;
    struct sim_json json;
    char *text = NULL;
    size_t size = 0;
    FILE *file = open_memstream(&text, &size);
    rt_assert(file != NULL);
    sim_options_init(&usual, scenario);
    sim_json_begin(&json, file, NULL);
    for (uint32_t i = 0; i < SIM_OPTIONS; i++) {
        uint64_t value = sim_option_get(options, i);
        if (value != sim_option_get(&usual, i)) {
            SIM_JSON_PUT(&json, SIM_LONG(sim_option_name(i), value));
        }
    }
    for (uint32_t i = 0; i < sim_scenario_params(scenario); i++) {
        if (options->params[i] != usual.params[i]) {
            sim_json_signed(&json, scenario->params[i].name, options->params[i]);
        }
    }
    (void)fputc('}', file);
    (void)fclose(file);
    return text;
}

static uint32_t
find_param(const struct sim_scenario *scenario, const char *name, size_t length)
{
    uint32_t count = sim_scenario_params(scenario);
    for (uint32_t i = 0; i < count; i++) {
        if (strlen(scenario->params[i].name) == length &&
                strncmp(scenario->params[i].name, name, length) == 0) {
            return i;
        }
    }
    return count;
}

uint32_t
sim_options_find(const struct sim_assignment *assignment)
{
    for (uint32_t i = 0; i < SIM_OPTIONS; i++) {
        if (strlen(sim_option_name(i)) == assignment->name_length &&
                strncmp(sim_option_name(i), assignment->name, assignment->name_length) == 0) {
            return i;
        }
    }
    return SIM_OPTIONS;
}

static const char *
assign_param(const struct sim_param *param, const char *value, int64_t *place)
{
    char *end = NULL;
    errno = 0;
    long long number = strtoll(value, &end, 0);
    if (errno != 0 || end == value || *end != '\0') {
        return "is not a number";
    }
    if (number < param->min || number > param->max) {
        return "is outside the range that the scenario declares (rewake list has it)";
    }
    *place = number;
    return NULL;
}

/* A word where the option has none of that name. */
static const char *
wrong_word(uint32_t index)
{
    static char message[160];
    bool faults = index == SIM_OPTION_faults;
    uint64_t count = faults ? SIM_FAULTS : sim_option_max(index) + 1;
    if (!faults && sim_option_word(index, 0) == NULL) {
        return "is not a number";
    }
    int used = snprintf(message, sizeof(message), "is none of");
    for (uint64_t i = 0; i < count && used > 0 && (size_t)used < sizeof(message); i++) {
        used += snprintf(message + used, sizeof(message) - (size_t)used, "%s %s", i == 0 ? "" : ",",
                faults ? sim_fault_names[i] : sim_option_word(index, i));
    }
    return message;
}

static const char *
assign_option(uint32_t index, const char *value, uint64_t *place)
{
    /* The last message. */
    static char outside[80];
    uint64_t number = 0;
    if (!sim_number_parse(value, UINT64_MAX, &number) &&
            !sim_option_by_word(index, value, strlen(value), &number)) {
        return wrong_word(index);
    }
    if (!sim_option_valid(index, number)) {
        (void)snprintf(outside, sizeof(outside), "is outside its range, %llu to %llu",
                (unsigned long long)sim_option_min(index),
                (unsigned long long)sim_option_max(index));
        return outside;
    }
    *place = number;
    return NULL;
}

bool
sim_options_assign(const struct sim_scenario *scenario, struct sim_options *options, bool param,
        const struct sim_assignment *assignment, const char **ret_wrong)
{
    if (param) {
        uint32_t index = find_param(scenario, assignment->name, assignment->name_length);
        if (index == sim_scenario_params(scenario)) {
            return false;
        }
        *ret_wrong =
                assign_param(&scenario->params[index], assignment->value, &options->params[index]);
        return true;
    }
    uint32_t index = sim_options_find(assignment);
    if (index == SIM_OPTIONS) {
        return false;
    }
    *ret_wrong = assign_option(index, assignment->value, sim_option_at(options, index));
    return true;
}

/* Takes one "name":value or "name":"value" at *at, and the comma after it. */
static bool
take_member(const struct sim_scenario *scenario, const char **at, struct sim_options *options)
{
    const char *name = *at + 1;
    size_t length = strcspn(name, "\"");
    const char *value = name + length + 2;
    if (**at != '"' || name[length] != '"' || name[length + 1] != ':') {
        return false;
    }
    value += *value == '"';
    char number[24] = "";
    size_t digits = strspn(value, "-0123456789");
    if (digits == 0 || digits >= sizeof(number)) {
        return false;
    }
    memcpy(number, value, digits);
    const struct sim_assignment assignment = {name, length, number};
    const char *wrong = NULL;
    if ((!sim_options_assign(scenario, options, false, &assignment, &wrong) &&
                !sim_options_assign(scenario, options, true, &assignment, &wrong)) ||
            wrong != NULL) {
        return false;
    }
    *at = value + digits + (value[digits] == '"');
    *at += **at == ',' ? 1 : 0;
    return true;
}

bool
sim_options_from_json(
        const struct sim_scenario *scenario, const char *json, struct sim_options *ret_options)
{
    struct sim_options options;
    sim_options_init(&options, scenario);
    if (*json++ != '{') {
        return false;
    }
    while (*json != '}') {
        if (!take_member(scenario, &json, &options)) {
            return false;
        }
    }
    *ret_options = options;
    return true;
}
