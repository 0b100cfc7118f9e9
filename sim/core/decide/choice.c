/*
 * choice.c -- names of the kinds of choices.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "sim/core/decide/choice.h"

const char *
sim_kind_name(uint32_t kind)
{
    static const char *const names[] = {
#define SIM_KIND_NAME(name, text, meaning) text,
            SIM_KIND_LIST(SIM_KIND_NAME)
#undef SIM_KIND_NAME
    };
    return kind < SIM_KINDS ? names[kind] : "?";
}
