/*
 * artifact.c -- reads and writes the first line of a fuzzer's input.
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sim/base/page.h"
#include "sim/cli/subject/subject.h"

__attribute__((format(printf, 3, 4))) static int
refuse(int status, char *error, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    (void)vsnprintf(error, SIM_ARTIFACT_ERROR_MAX, format, arguments);
    va_end(arguments);
    return status;
}

/* ---- Reading. -------------------------------------------------------------------------------- */

/* The first line as a string in `line`; 0 when there is none, else its length with the end. */
static size_t
take_line(const uint8_t *bytes, size_t size, char line[SIM_ARTIFACT_LINE_MAX])
{
    size_t most = size < SIM_ARTIFACT_LINE_MAX ? size : SIM_ARTIFACT_LINE_MAX;
    const uint8_t *end = most > 0 ? memchr(bytes, '\n', most) : NULL;
    if (end == NULL) {
        return 0;
    }
    size_t length = (size_t)(end - bytes);
    for (size_t i = 0; i < length; i++) {
        if (bytes[i] < ' ' || bytes[i] > '~') {
            return 0;
        }
        line[i] = (char)bytes[i];
    }
    line[length] = '\0';
    return length + 1;
}

/* The next word of *at, cut off; NULL: there is none. */
static char *
next_word(char **at)
{
    char *word = *at;
    if (*word == '\0') {
        return NULL;
    }
    char *end = word + strcspn(word, " ");
    *at = end + (*end == ' ');
    *end = '\0';
    return word;
}

/* One "-D name=value" or "-O name=value". */
static int
assign(const char *flag, const char *value, struct sim_artifact *artifact, char *error)
{
    bool param = strcmp(flag, "-D") == 0;
    const char *equals = value != NULL ? strchr(value, '=') : NULL;
    if ((!param && strcmp(flag, "-O") != 0) || equals == NULL) {
        return refuse(SIM_EXIT_USAGE, error,
                "is not an artifact: after the scenario its first line has -D NAME=N and -O "
                "NAME=N");
    }
    const struct sim_assignment assignment = {value, (size_t)(equals - value), equals + 1};
    const struct sim_scenario *scenario = artifact->entry->scenario;
    const char *wrong = NULL;
    if (!sim_options_assign(scenario, &artifact->options, param, &assignment, &wrong)) {
        return refuse(SIM_EXIT_CAN_NOT_JUDGE, error, "sets %s %.*s, which '%s' does not have here",
                flag, (int)assignment.name_length, value, scenario->name);
    }
    if (wrong != NULL) {
        return refuse(SIM_EXIT_CAN_NOT_JUDGE, error, "sets %s %.*s, and '%s' %s", flag,
                (int)assignment.name_length, value, equals + 1, wrong);
    }
    return 0;
}

int
sim_artifact_read(const struct sim_registry *registry, const uint8_t *bytes, size_t size,
        struct sim_artifact *ret, char error[SIM_ARTIFACT_ERROR_MAX])
{
    char line[SIM_ARTIFACT_LINE_MAX];
    char *at = line;
    size_t length = take_line(bytes, size, line);
    const char *name = length > 0 ? next_word(&at) : NULL;
    if (name == NULL || *name == '\0') {
        return refuse(SIM_EXIT_USAGE, error,
                "is not an artifact of a fuzzer: its first line names no scenario");
    }
    ret->entry = sim_registry_find(registry, name);
    if (ret->entry == NULL) {
        return refuse(SIM_EXIT_CAN_NOT_JUDGE, error,
                "is of scenario '%.96s', which is not here: give its library as the first argument",
                name);
    }
    sim_options_init(&ret->options, ret->entry->scenario);
    int status = 0;
    for (char *flag = next_word(&at); flag != NULL && status == 0; flag = next_word(&at)) {
        status = assign(flag, next_word(&at), ret, error);
    }
    ret->bytes = bytes + length;
    ret->size = size - length;
    return status;
}

/* ---- Writing. -------------------------------------------------------------------------------- */

char *
sim_artifact_line(const struct sim_scenario *scenario, const struct sim_options *options)
{
    struct sim_options usual;
    struct sim_page page;
    sim_options_init(&usual, scenario);
    sim_page_init(&page, false);
    sim_page_put(&page, scenario->name);
    for (uint32_t i = 0; i < sim_scenario_params(scenario); i++) {
        if (options->params[i] != usual.params[i]) {
            sim_page_printf(
                    &page, " -D %s=%lld", scenario->params[i].name, (long long)options->params[i]);
        }
    }
    for (uint32_t i = 0; i < SIM_OPTIONS; i++) {
        uint64_t value = sim_option_get(options, i);
        if (value != sim_option_get(&usual, i)) {
            sim_page_printf(&page, " -O %s=%llu", sim_option_name(i), (unsigned long long)value);
        }
    }
    sim_page_put(&page, "\n");
    return page.bytes;
}
