/*
 * scope_test.c -- clean-ups: the newest first, exactly once, whatever they do.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "runtime/task/scope.h"

#include <string.h>

#include "runtime/tests/bed.h"

#define THINGS 6

/* A thing that logs a letter when it is cleaned up, and then does what a test wants. */
struct thing {
    struct rt_defer defer;
    char letter;
    char *log;
    struct rt_scope *scope;
    struct thing *other;
    enum { JUST_LOG, DEFER_OTHER, UNDEFER_OTHER, END_SCOPE } does;
};

static void
clean_up(struct rt_defer *defer)
{
    struct thing *thing = rt_container_of(defer, struct thing, defer);
    size_t length = strlen(thing->log);
    thing->log[length] = thing->letter;
    thing->log[length + 1] = '\0';
    if (thing->does == DEFER_OTHER) {
        rt_scope_defer(thing->scope, &thing->other->defer);
    } else if (thing->does == UNDEFER_OTHER) {
        EXPECT(rt_undefer(&thing->other->defer));
    } else if (thing->does == END_SCOPE) {
        rt_scope_end(thing->scope);
    }
}

struct box {
    struct rt_scope scope;
    struct thing things[THINGS];
    char log[64];
};

static void
box_init(struct box *box)
{
    memset(box, 0xa5, sizeof(*box));
    box->log[0] = '\0';
    rt_scope_init(&box->scope);
    for (uint32_t i = 0; i < THINGS; i++) {
        struct thing *thing = &box->things[i];
        rt_defer_init(&thing->defer, clean_up);
        thing->letter = (char)('a' + i);
        thing->log = box->log;
        thing->scope = &box->scope;
        thing->other = NULL;
        thing->does = JUST_LOG;
    }
}

/* Holds G10: last in, first out, each once, and a second end finds nothing. */
TEST(scope_ends_with_the_newest_first_and_once)
{
    struct box box;
    box_init(&box);
    for (uint32_t i = 0; i < 4; i++) {
        rt_scope_defer(&box.scope, &box.things[i].defer);
    }
    EXPECT(rt_undefer(&box.things[2].defer));
    EXPECT(!rt_undefer(&box.things[2].defer));
    EXPECT(rt_defer_now(&box.things[0].defer));
    EXPECT(!rt_defer_now(&box.things[0].defer));
    rt_scope_end(&box.scope);
    EXPECT_STR(box.log, "adb");
    EXPECT(rt_scope_ended(&box.scope));
    rt_scope_end(&box.scope);
    EXPECT_STR(box.log, "adb");
}

/* Holds G10: what an inner scope holds goes before what was there when it began. */
TEST(scope_inside_another_ends_in_its_turn)
{
    struct box box;
    box_init(&box);
    struct rt_scope inner;
    rt_scope_init(&inner);
    rt_scope_defer(&box.scope, &box.things[0].defer);
    rt_scope_enter(&inner, &box.scope);
    rt_scope_defer(&inner, &box.things[1].defer);
    rt_scope_defer(&box.scope, &box.things[2].defer);
    rt_scope_defer(&inner, &box.things[3].defer);
    rt_scope_end(&box.scope);
    EXPECT_STR(box.log, "cdba");
    EXPECT(rt_scope_ended(&inner));
}

/* Holds G10: an inner scope that has ended is off the outer one's stack. */
TEST(scope_that_ended_before_the_outer_one_is_left_alone)
{
    struct box box;
    box_init(&box);
    {
        struct rt_scope inner;
        rt_scope_init(&inner);
        rt_scope_enter(&inner, &box.scope);
        rt_scope_defer(&inner, &box.things[1].defer);
        rt_scope_end(&inner);
        memset(&inner, 0x5a, sizeof(inner));
    }
    rt_scope_end(&box.scope);
    EXPECT_STR(box.log, "b");
}

/* Holds G10: clean-ups that defer, take back, and end the scope from inside. */
TEST(scope_survives_what_its_cleanups_do)
{
    struct box box;
    box_init(&box);
    for (uint32_t i = 0; i < 5; i++) {
        rt_scope_defer(&box.scope, &box.things[i].defer);
    }
    box.things[4].does = DEFER_OTHER; /* f runs next */
    box.things[4].other = &box.things[5];
    box.things[5].does = UNDEFER_OTHER; /* c does not run */
    box.things[5].other = &box.things[2];
    box.things[3].does = END_SCOPE; /* b, a run inside it */
    rt_scope_end(&box.scope);
    EXPECT_STR(box.log, "efdba");
}

TEST(scope_misuse_is_a_fault)
{
    struct box box;
    box_init(&box);
    rt_scope_defer(&box.scope, &box.things[0].defer);
    EXPECT_FAULT(RT_E_IN_USE, rt_scope_defer(&box.scope, &box.things[0].defer));
    rt_scope_end(&box.scope);
    EXPECT_FAULT(RT_E_FINISHED, rt_scope_defer(&box.scope, &box.things[1].defer));
    rt_scope_init(&box.scope);
    rt_scope_defer(&box.scope, &box.things[1].defer);
    rt_scope_end(&box.scope);
    EXPECT_STR(box.log, "ab");
}

/* Holds G10. Long random histories against a plain array. */
TEST(scope_does_what_an_array_does)
{
    uint64_t seed = 7;
    for (uint32_t round = 0; round < 500; round++) {
        struct box box;
        box_init(&box);
        char expected[THINGS + 1] = "";
        size_t count = 0;
        for (uint32_t step = 0; step < 30; step++) {
            struct thing *thing = &box.things[bed_below(&seed, THINGS)];
            char *at = memchr(expected, thing->letter, count);
            if (at == NULL) {
                rt_scope_defer(&box.scope, &thing->defer);
                expected[count++] = thing->letter;
            } else {
                EXPECT(rt_undefer(&thing->defer));
                memmove(at, at + 1, (size_t)(expected + count - at - 1));
                count--;
            }
        }
        rt_scope_end(&box.scope);
        EXPECT_EQ(strlen(box.log), count);
        for (size_t i = 0; i < count; i++) {
            EXPECT_EQ(box.log[i], expected[count - 1 - i]);
        }
    }
}
