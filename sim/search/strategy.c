/*
 * strategy.c -- the table of strategies, and reading their names.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "sim/search/strategy.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/base/assert.h"

static const struct sim_strategy_kind *const kinds[] = {
        &sim_strategy_portfolio,
        &sim_strategy_random,
        &sim_strategy_guided,
        &sim_strategy_baseline,
        &sim_strategy_exhaustive,
        &sim_strategy_delay,
        &sim_strategy_rf,
        &sim_strategy_surw,
        &sim_strategy_pos,
        &sim_strategy_pct,
        &sim_strategy_urw,
        &sim_strategy_dpor,
        &sim_strategy_relay,
};

uint32_t
sim_strategy_count(void)
{
    return sizeof(kinds) / sizeof(*kinds);
}

const struct sim_strategy_kind *
sim_strategy_at(uint32_t index)
{
    rt_assert(index < sim_strategy_count());
    return kinds[index];
}

static bool
is_name(const char *name, const char *text, size_t length)
{
    return strlen(name) == length && memcmp(name, text, length) == 0;
}

/* The index of the strategy whose name is the first `length` bytes of `name`. */
static uint32_t
find(const char *name, size_t length)
{
    for (uint32_t i = 0; i < sim_strategy_count(); i++) {
        if (is_name(kinds[i]->name, name, length)) {
            return i;
        }
    }
    return UINT32_MAX;
}

size_t
sim_strategy_size(uint32_t index)
{
    const struct sim_strategy_kind *kind = sim_strategy_at(index);
    size_t size = kind->measure != NULL ? kind->measure() : kind->size;
    rt_assert(size <= SIM_STRATEGY_BYTES_MAX);
    return size;
}

struct sim_strategy *
sim_strategy_make(void *memory, const struct sim_strategy_setting *setting)
{
    const struct sim_strategy_kind *kind = sim_strategy_at(setting->search->kind);
    struct sim_strategy *strategy = memory;
    strategy->ops = &kind->ops;
    if (kind->init != NULL) {
        kind->init(memory, setting);
    }
    return strategy;
}

uint32_t
sim_strategy_find(const char *name)
{
    return find(name, strlen(name));
}

/* ---- Parameters. ----------------------------------------------------------------------------- */

#define SWARM "swarm"

void
sim_search_init(struct sim_search *search, uint32_t index)
{
    const struct sim_strategy_kind *kind = sim_strategy_at(index);
    *search = (struct sim_search){.kind = index, .swarm = kind->swarms};
    for (uint32_t i = 0; i < SIM_STRATEGY_PARAMS_MAX && kind->params[i].name != NULL; i++) {
        search->params[i] = kind->params[i].value;
    }
}

/* The place of the parameter whose name is the first `length` bytes of `name`; UINT32_MAX: none. */
static uint32_t
find_param(const struct sim_strategy_kind *kind, const char *name, size_t length)
{
    for (uint32_t i = 0; i < SIM_STRATEGY_PARAMS_MAX && kind->params[i].name != NULL; i++) {
        if (is_name(kind->params[i].name, name, length)) {
            return i;
        }
    }
    return UINT32_MAX;
}

uint64_t
sim_search_param(const struct sim_search *search, const char *name)
{
    uint32_t place = find_param(sim_strategy_at(search->kind), name, strlen(name));
    rt_assert(place != UINT32_MAX);
    return search->params[place];
}

/* ---- Parsing. -------------------------------------------------------------------------------- */

/* Appends to a text of `size` bytes; what does not fit is left out. */
__attribute__((format(printf, 3, 4))) static void
append(char *text, size_t size, const char *format, ...)
{
    size_t used = strlen(text);
    va_list arguments;
    va_start(arguments, format);
    if (used + 1 < size) {
        (void)vsnprintf(text + used, size - used, format, arguments);
    }
    va_end(arguments);
}

static bool
fail_unknown(char error[SIM_STRATEGY_ERROR_MAX])
{
    (void)snprintf(error, SIM_STRATEGY_ERROR_MAX, "is no strategy: there are");
    for (uint32_t i = 0; i < sim_strategy_count(); i++) {
        append(error, SIM_STRATEGY_ERROR_MAX, "%s %s", i == 0 ? "" : ",", kinds[i]->name);
    }
    return false;
}

static bool
fail_param(const struct sim_strategy_kind *kind, const char *text, size_t length,
        char error[SIM_STRATEGY_ERROR_MAX])
{
    (void)snprintf(error, SIM_STRATEGY_ERROR_MAX,
            "cannot be: %s has no parameter '%.*s'; it has " SWARM, kind->name, (int)length, text);
    for (uint32_t i = 0; i < SIM_STRATEGY_PARAMS_MAX && kind->params[i].name != NULL; i++) {
        append(error, SIM_STRATEGY_ERROR_MAX, ", %s", kind->params[i].name);
    }
    return false;
}

/* A whole decimal number, all of [text, text + length). */
static bool
read_number(const char *text, size_t length, uint64_t min, uint64_t max, uint64_t *ret)
{
    errno = 0;
    *ret = strtoull(text, NULL, 10);
    return length > 0 && strspn(text, "0123456789") >= length && errno == 0 && *ret >= min &&
           *ret <= max;
}

/* One "key=value" of `length` bytes. */
static bool
read_param(struct sim_search *search, const char *text, size_t length,
        char error[SIM_STRATEGY_ERROR_MAX])
{
    const struct sim_strategy_kind *kind = sim_strategy_at(search->kind);
    const struct sim_strategy_param swarm = {SWARM, "", 0, 0, 1};
    const char *equals = memchr(text, '=', length);
    size_t name = equals != NULL ? (size_t)(equals - text) : length;
    uint32_t place = find_param(kind, text, name);
    bool is_swarm = is_name(SWARM, text, name);
    if (place == UINT32_MAX && !is_swarm) {
        return fail_param(kind, text, name, error);
    }
    const struct sim_strategy_param *param = is_swarm ? &swarm : &kind->params[place];
    uint64_t value = 0;
    if (equals == NULL ||
            !read_number(equals + 1, length - name - 1, param->min, param->max, &value)) {
        (void)snprintf(error, SIM_STRATEGY_ERROR_MAX,
                "cannot be: %s is a number from %llu to %llu, as in %s:%s=%llu", param->name,
                (unsigned long long)param->min, (unsigned long long)param->max, kind->name,
                param->name, (unsigned long long)param->max);
        return false;
    }
    if (is_swarm && value != 0 && kind->sequential) {
        (void)snprintf(error, SIM_STRATEGY_ERROR_MAX,
                "cannot be: %s enumerates the runs of one set of options, and swarm draws others",
                kind->name);
        return false;
    }
    if (is_swarm) {
        search->swarm = (uint32_t)value;
    } else {
        search->params[place] = value;
    }
    return true;
}

bool
sim_search_parse(
        const char *text, struct sim_search *ret_search, char error[SIM_STRATEGY_ERROR_MAX])
{
    size_t length = strcspn(text, ":");
    uint32_t index = find(text, length);
    struct sim_search search;
    if (index == UINT32_MAX) {
        return fail_unknown(error);
    }
    sim_search_init(&search, index);
    const char *at = text + length;
    while (*at != '\0') {
        at++;
        size_t part = strcspn(at, ",");
        if (!read_param(&search, at, part, error)) {
            return false;
        }
        at += part;
    }
    *ret_search = search;
    return true;
}

void
sim_search_text(const struct sim_search *search, char *text, size_t size)
{
    const struct sim_strategy_kind *kind = sim_strategy_at(search->kind);
    const char *before = ":";
    rt_assert(size > 0);
    text[0] = '\0';
    append(text, size, "%s", kind->name);
    for (uint32_t i = 0; i < SIM_STRATEGY_PARAMS_MAX && kind->params[i].name != NULL; i++) {
        if (search->params[i] != kind->params[i].value) {
            append(text, size, "%s%s=%llu", before, kind->params[i].name,
                    (unsigned long long)search->params[i]);
            before = ",";
        }
    }
    if (search->swarm != kind->swarms) {
        append(text, size, "%s" SWARM "=%u", before, search->swarm);
    }
}
