/*
 * call_fault_test.c -- the table of calls that may fail by decision.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "sim/core/record/call_fault.h"

#include <errno.h>

#include "runtime/tests/test.h"
#include "sim/core/decide/options.h"

TEST(call_fault_is_found_by_name)
{
    EXPECT_EQ(sim_call_fault_find("malloc"), SIM_CALL_FAULT_malloc);
    EXPECT_EQ(sim_call_fault_find("accept4"), SIM_CALL_FAULT_accept4);
    EXPECT_EQ(sim_call_fault_find("close"), SIM_CALL_FAULTS);
}

TEST(call_fault_has_documented_errors)
{
    EXPECT_EQ(sim_call_fault_count(SIM_CALL_FAULT_malloc), 1);
    EXPECT_EQ(sim_call_fault_error(SIM_CALL_FAULT_malloc, 0), ENOMEM);
    EXPECT_EQ(sim_call_fault_count(SIM_CALL_FAULT_accept), 3);
    EXPECT_EQ(sim_call_fault_error(SIM_CALL_FAULT_accept, 1), ECONNABORTED);
}

TEST(call_fault_is_named_by_its_event)
{
    char text[SIM_CALL_FAULT_TEXT_MAX];
    uint64_t argument = sim_call_fault_argument(SIM_CALL_FAULT_accept, 1);
    EXPECT(sim_call_fault_text(argument, text));
    ck_assert_str_eq(text, "accept() fails with ECONNABORTED");
    EXPECT(!sim_call_fault_text(SIM_FAULT_NET, text));
    EXPECT(!sim_call_fault_text(UINT64_MAX, text));
    EXPECT(!sim_call_fault_text(
            SIM_FAULT_CALLS | (uint64_t)SIM_CALL_FAULTS << 16, text)); /* Of a newer version. */
}
