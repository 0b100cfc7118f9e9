/*
 * element.c -- names of coverage points.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "sim/search/cover/element.h"

#include <stddef.h>

struct words {
    const char *name;
    const char *first;
    const char *second;
    const char *meaning;
};

static const struct words words[SIM_ELEMENT_KINDS] = {[SIM_ELEMENT_NONE] = {"?", NULL, NULL, "?"},
#define SIM_ELEMENT_WORDS(name, text, first, second, meaning) \
    [SIM_ELEMENT_##name] = {text, first, second, meaning},
        SIM_ELEMENT_LIST(SIM_ELEMENT_WORDS)
#undef SIM_ELEMENT_WORDS
};

static const struct words *
words_of(uint32_t kind)
{
    return &words[kind < SIM_ELEMENT_KINDS ? kind : SIM_ELEMENT_NONE];
}

const char *
sim_element_name(uint32_t kind)
{
    return words_of(kind)->name;
}

const char *
sim_element_meaning(uint32_t kind)
{
    return words_of(kind)->meaning;
}

const char *
sim_element_first(uint32_t kind)
{
    return words_of(kind)->first;
}

const char *
sim_element_second(uint32_t kind)
{
    return words_of(kind)->second;
}
