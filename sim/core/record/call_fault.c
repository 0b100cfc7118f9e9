/*
 * call_fault.c -- the table of calls that may fail by decision.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "sim/core/record/call_fault.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "runtime/base/assert.h"
#include "sim/core/decide/options.h"

struct error {
    int number;
    const char *name;
};

static const struct {
    const char *name;
    struct error errors[SIM_CALL_FAULT_ERRORS];
} calls[SIM_CALL_FAULTS] = {
#define CALL(name, first, second, third) \
    {#name, {{first, #first}, {second, #second}, {third, #third}}},
        SIM_CALL_FAULT_LIST(CALL)
#undef CALL
};

enum sim_call_fault
sim_call_fault_find(const char *name)
{
    uint32_t call = 0;
    while (call < SIM_CALL_FAULTS && strcmp(calls[call].name, name) != 0) {
        call++;
    }
    return (enum sim_call_fault)call;
}

uint32_t
sim_call_fault_count(enum sim_call_fault call)
{
    uint32_t count = 1;
    rt_assert((uint32_t)call < SIM_CALL_FAULTS);
    while (count < SIM_CALL_FAULT_ERRORS && calls[call].errors[count].number != 0) {
        count++;
    }
    return count;
}

int
sim_call_fault_error(enum sim_call_fault call, uint32_t index)
{
    rt_assert(index < sim_call_fault_count(call));
    return calls[call].errors[index].number;
}

/* Bits of the argument above the mask of faults. */
#define CALL_SHIFT 16
#define INDEX_SHIFT 32

uint64_t
sim_call_fault_argument(enum sim_call_fault call, uint32_t index)
{
    rt_assert(index < sim_call_fault_count(call));
    return SIM_FAULT_CALLS | (uint64_t)call << CALL_SHIFT | (uint64_t)index << INDEX_SHIFT;
}

bool
sim_call_fault_text(uint64_t argument, char ret_text[SIM_CALL_FAULT_TEXT_MAX])
{
    uint64_t call = argument >> CALL_SHIFT & UINT16_MAX;
    uint64_t index = argument >> INDEX_SHIFT;
    if ((argument & UINT16_MAX) != SIM_FAULT_CALLS || call >= SIM_CALL_FAULTS ||
            index >= sim_call_fault_count((enum sim_call_fault)call)) {
        return false;
    }
    (void)snprintf(ret_text, SIM_CALL_FAULT_TEXT_MAX, "%s() fails with %s", calls[call].name,
            calls[call].errors[index].name);
    return true;
}
