/*
 * error_test.c -- each error and each trap has its own name and text.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <string.h>

#include "runtime/base/error.h"
#include "runtime/fiber/guest.h"
#include "runtime/tests/test.h"

static const rt_err errors[] = {RT_OK,
#define VALUE(name, value, text) RT_E_##name,
        RT_ERROR_LIST(VALUE)
#undef VALUE
};

#define ERRORS (sizeof(errors) / sizeof(*errors))

/* Goal: a log of an error has a name that greps and a text that helps. */
TEST(error_has_its_own_name_and_text)
{
    for (size_t i = 0; i < ERRORS; i++) {
        EXPECT(strncmp(rt_err_name(errors[i]), "RT_", 3) == 0);
        EXPECT(strlen(rt_err_text(errors[i])) > 4);
        for (size_t j = 0; j < i; j++) {
            EXPECT(strcmp(rt_err_name(errors[i]), rt_err_name(errors[j])) != 0);
            EXPECT(strcmp(rt_err_text(errors[i]), rt_err_text(errors[j])) != 0);
        }
    }
}

TEST(error_that_is_none_is_named_unknown)
{
    rt_err none = (rt_err)(int)12345;
    EXPECT_STR(rt_err_name(none), "RT_E_?");
    EXPECT_STR(rt_err_text(none), "not an error of this runtime");
}

TEST(trap_has_its_own_name_and_text)
{
    for (uint32_t i = 0; i < RT_TRAPS; i++) {
        const char *name = rt_trap_name((enum rt_trap)i);
        const char *text = rt_trap_text((enum rt_trap)i);
        EXPECT(strncmp(name, "RT_TRAP_", 8) == 0);
        for (uint32_t j = 0; j < i; j++) {
            EXPECT(strcmp(name, rt_trap_name((enum rt_trap)j)) != 0);
            EXPECT(strcmp(text, rt_trap_text((enum rt_trap)j)) != 0);
        }
    }
    EXPECT_STR(rt_trap_name(RT_TRAPS), "RT_TRAP_?");
    EXPECT_STR(rt_trap_text(RT_TRAPS), "there is no such trap");
}
