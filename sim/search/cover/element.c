/*
 * element.c -- names of coverage points.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "sim/search/cover/element.h"

static const struct {
    const char *name;
    const char *meaning;
} words[SIM_ELEMENT_KINDS] = {[SIM_ELEMENT_NONE] = {"?", "?"},
#define SIM_ELEMENT_WORDS(name, text, meaning) [SIM_ELEMENT_##name] = {text, meaning},
        SIM_ELEMENT_LIST(SIM_ELEMENT_WORDS)
#undef SIM_ELEMENT_WORDS
};

const char *
sim_element_name(uint32_t kind)
{
    return words[kind < SIM_ELEMENT_KINDS ? kind : SIM_ELEMENT_NONE].name;
}

const char *
sim_element_meaning(uint32_t kind)
{
    return words[kind < SIM_ELEMENT_KINDS ? kind : SIM_ELEMENT_NONE].meaning;
}
