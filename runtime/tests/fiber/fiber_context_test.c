/*
 * fiber_context_test.c -- switching to another stack and back, and the states of a fiber.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <stdlib.h>

#include "runtime/fiber/fiber.h"
#include "runtime/tests/fiber/fiber_bed.h"

/* ---- Contexts. ------------------------------------------------------------------------------- */

struct ping {
    struct rt_context context;
    struct rt_context *inner; /* Resumed from inside. */
    char *log;
    char letter;
};

static void
note(struct ping *ping)
{
    size_t length = strlen(ping->log);
    ping->log[length] = ping->letter;
    ping->log[length + 1] = '\0';
}

static void
ping_main(void *argument)
{
    struct ping *ping = argument;
    note(ping);
    rt_context_suspend(&ping->context);
    note(ping);
    if (ping->inner != NULL) {
        EXPECT(rt_context_resume(ping->inner));
        note(ping);
    }
    rt_context_suspend(&ping->context);
    note(ping);
}

static char *
stack_new(void)
{
    return aligned_alloc(64, FIBER_STACK_SIZE);
}

/*
 * Goal: two stacks take turns, each continues where it suspended.
 * Method: two contexts that write a letter at each step; the order is the order of resumes. Holds
 * F2.
 */
TEST(context_resumed_continues_where_it_suspended)
{
    char log[32] = "";
    struct ping a = {.log = log, .letter = 'a'};
    struct ping b = {.log = log, .letter = 'b'};
    char *stacks[2] = {stack_new(), stack_new()};
    rt_context_init(&a.context, stacks[0], FIBER_STACK_SIZE, ping_main, &a);
    rt_context_init(&b.context, stacks[1], FIBER_STACK_SIZE, ping_main, &b);
    EXPECT(rt_context_resume(&a.context));
    EXPECT(rt_context_resume(&b.context));
    EXPECT(rt_context_resume(&b.context));
    EXPECT(rt_context_resume(&a.context));
    EXPECT(!rt_context_resume(&a.context));
    EXPECT(!rt_context_resume(&b.context));
    EXPECT_STR(log, "abbaab");
    EXPECT(a.context.finished && b.context.finished);
    free(stacks[0]);
    free(stacks[1]);
}

/*
 * Goal: a context that is resumed by another returns to that one.
 * Method: a resumes b in its second step; b's suspend leads into a, not to the test.
 */
TEST(context_nested_returns_to_its_resumer)
{
    char log[32] = "";
    struct ping b = {.log = log, .letter = 'b'};
    struct ping a = {.log = log, .letter = 'a', .inner = &b.context};
    char *stacks[2] = {stack_new(), stack_new()};
    rt_context_init(&a.context, stacks[0], FIBER_STACK_SIZE, ping_main, &a);
    rt_context_init(&b.context, stacks[1], FIBER_STACK_SIZE, ping_main, &b);
    EXPECT(rt_context_resume(&a.context));
    EXPECT(rt_context_resume(&a.context));
    EXPECT_STR(log, "aaba");
    EXPECT(rt_context_resume(&b.context));
    EXPECT(!rt_context_resume(&a.context));
    EXPECT(!rt_context_resume(&b.context));
    EXPECT_STR(log, "aababab");
    free(stacks[0]);
    free(stacks[1]);
}

struct quitter {
    struct rt_context context;
    jmp_buf home;
};

static void
go_home(void *argument)
{
    struct quitter *quitter = argument;
    longjmp(quitter->home, 1);
}

static void
quitter_main(void *argument)
{
    struct quitter *quitter = argument;
    rt_context_abandon(&quitter->context, go_home, quitter);
}

/*
 * Goal: a stack can be left for good from its middle, and used again.
 * Method: twenty times the same stack is entered and abandoned; the exit function runs on the
 * stack of its resumer.
 */
TEST(context_abandoned_runs_its_exit_function_outside)
{
    static unsigned homecomings;
    struct quitter quitter;
    char *stack = stack_new();
    for (unsigned i = 0; i < 20; i++) {
        rt_context_init(&quitter.context, stack, FIBER_STACK_SIZE, quitter_main, &quitter);
        if (setjmp(quitter.home) == 0) {
            (void)rt_context_resume(&quitter.context);
            ck_abort_msg("this is never reached");
        }
        EXPECT(!rt_context_here(&quitter.context));
        homecomings++;
    }
    EXPECT_EQ(homecomings, 20);
    free(stack);
}

/* ---- Fibers. --------------------------------------------------------------------------------- */

struct diver {
    struct rt_fiber fiber;
    struct rt_stack stack;
    unsigned depth; /* How deep it dives before it suspends. */
    unsigned suspends;
    rt_err heard; /* From the last suspend. */
    unsigned unwound;
    struct rt_fiber *other; /* Misused from inside. */
    void (*misuse)(struct diver *diver);
};

/* `volatile`: each call is to have a frame. */
static unsigned
dive(struct diver *diver, unsigned depth)
{
    volatile unsigned mark = depth;
    unsigned sum = 0;
    if (depth > 0) {
        sum = dive(diver, depth - 1);
    } else {
        while (diver->suspends > 0 && diver->heard == RT_OK) {
            diver->suspends--;
            diver->heard = rt_fiber_suspend(&diver->fiber, RT_SUSPEND_USER);
        }
        if (diver->misuse != NULL) {
            diver->misuse(diver);
        }
    }
    diver->unwound++;
    return sum + mark;
}

static void
diver_main(void *argument)
{
    struct diver *diver = argument;
    unsigned depth = diver->depth;
    EXPECT_EQ(dive(diver, depth), depth * (depth + 1) / 2);
}

static void
diver_init(struct diver *diver, unsigned depth, unsigned suspends)
{
    *diver = (struct diver){.depth = depth, .suspends = suspends};
    diver->stack = (struct rt_stack){stack_new(), FIBER_STACK_SIZE};
    rt_fiber_init(&diver->fiber, &diver->stack, diver_main, diver);
}

static void
diver_fini(struct diver *diver)
{
    free(diver->stack.base);
}

/*
 * Goal: frames survive any number of suspends.
 * Method: dive twenty calls deep, suspend five times there; the sum of all frames is right. Holds
 * F2.
 */
TEST(fiber_suspended_deep_keeps_its_frames)
{
    struct diver diver;
    diver_init(&diver, 20, 5);
    for (unsigned i = 0; i < 5; i++) {
        EXPECT(!rt_fiber_resume(&diver.fiber));
        EXPECT_EQ(diver.fiber.state, RT_FIBER_SUSPENDED);
    }
    EXPECT(rt_fiber_resume(&diver.fiber));
    EXPECT_EQ(diver.fiber.state, RT_FIBER_FINISHED);
    EXPECT_EQ(diver.unwound, 21);
    diver_fini(&diver);
}

/*
 * Goal: a fiber that is dropped ends by itself.
 * Method: drop one that is twenty calls deep; it gets RT_E_CANCELLED there, and each frame has
 * been left. Holds F12.
 */
TEST(fiber_dropped_is_resumed_until_it_has_returned)
{
    struct diver diver;
    diver_init(&diver, 20, 5);
    EXPECT(!rt_fiber_resume(&diver.fiber));
    rt_fiber_drop(&diver.fiber);
    EXPECT_EQ(diver.heard, RT_E_CANCELLED);
    EXPECT_EQ(diver.unwound, 21);
    EXPECT_EQ(diver.fiber.state, RT_FIBER_FINISHED);
    rt_fiber_drop(&diver.fiber);
    EXPECT_EQ(diver.unwound, 21);
    diver_fini(&diver);
}

/*
 * Goal: nothing runs of a fiber that is dropped before its first resume.
 * Method: drop a new one.
 */
TEST(fiber_dropped_new_never_runs)
{
    struct diver diver;
    diver_init(&diver, 0, 1);
    rt_fiber_drop(&diver.fiber);
    EXPECT_EQ(diver.unwound, 0);
    EXPECT_FAULT(RT_E_FINISHED, (void)rt_fiber_resume(&diver.fiber));
    diver_fini(&diver);
}

static void
suspend_again(struct diver *diver)
{
    (void)!rt_fiber_suspend(&diver->fiber, RT_SUSPEND_USER);
}

/*
 * Goal: a fiber that is being dropped may not stay.
 * Method: one that suspends once more after RT_E_CANCELLED. Holds F12.
 */
TEST(fiber_suspending_while_dropped_is_a_fault)
{
    static struct diver diver;
    diver_init(&diver, 3, 1);
    diver.misuse = suspend_again;
    EXPECT(!rt_fiber_resume(&diver.fiber));
    EXPECT_FAULT_ON(&diver.fiber.context, RT_E_CANCELLED, rt_fiber_drop(&diver.fiber));
    diver_fini(&diver);
}

static void
suspend_other(struct diver *diver)
{
    (void)!rt_fiber_suspend(diver->other, RT_SUSPEND_USER);
}

static void
resume_other(struct diver *diver)
{
    (void)rt_fiber_resume(diver->other);
}

/*
 * Goal: a fiber is suspended from its own stack only.
 * Method: from the test's own stack, of a new, a suspended and a finished one. Holds F13.
 */
TEST(fiber_suspended_from_outside_is_a_fault)
{
    struct diver diver;
    diver_init(&diver, 0, 1);
    EXPECT_FAULT(RT_E_INVALID, (void)!rt_fiber_suspend(&diver.fiber, RT_SUSPEND_USER));
    EXPECT(!rt_fiber_resume(&diver.fiber));
    EXPECT_FAULT(RT_E_INVALID, (void)!rt_fiber_suspend(&diver.fiber, RT_SUSPEND_USER));
    EXPECT(rt_fiber_resume(&diver.fiber));
    EXPECT_FAULT(RT_E_INVALID, (void)!rt_fiber_suspend(&diver.fiber, RT_SUSPEND_USER));
    diver_fini(&diver);
}

static void
resume_inner(struct diver *diver)
{
    EXPECT(rt_fiber_resume(diver->other));
}

/*
 * Goal: a fiber that has resumed another is RUNNING and still cannot be suspended by it.
 * Method: the inner one suspends the outer one; then, apart, it resumes it. Holds F13.
 */
TEST(fiber_nested_does_not_touch_the_outer_one)
{
    static struct diver outer;
    static struct diver inner;
    for (unsigned i = 0; i < 2; i++) {
        diver_init(&outer, 2, 0);
        diver_init(&inner, 2, 0);
        outer.other = &inner.fiber;
        outer.misuse = resume_inner;
        inner.other = &outer.fiber;
        inner.misuse = i == 0 ? suspend_other : resume_other;
        rt_err expected = i == 0 ? RT_E_INVALID : RT_E_REENTERED;
        /* From the inner stack past the outer one straight to this. */
        EXPECT_FAULT_ON(&outer.fiber.context, expected, (void)rt_fiber_resume(&outer.fiber));
        diver_fini(&outer);
        diver_fini(&inner);
    }
}

/*
 * Goal: fibers nest.
 * Method: one resumes another to its end from twenty calls deep. Holds F13.
 */
TEST(fiber_nested_runs_to_its_end)
{
    struct diver outer;
    struct diver inner;
    diver_init(&outer, 20, 0);
    diver_init(&inner, 20, 0);
    outer.other = &inner.fiber;
    outer.misuse = resume_inner;
    EXPECT(rt_fiber_resume(&outer.fiber));
    EXPECT_EQ(inner.fiber.state, RT_FIBER_FINISHED);
    EXPECT_EQ(inner.unwound, 21);
    EXPECT_EQ(outer.unwound, 21);
    diver_fini(&outer);
    diver_fini(&inner);
}

/*
 * Goal: a finished fiber is not resumed, a running one not once more.
 * Method: after its end; and by itself, from inside. Holds F13.
 */
TEST(fiber_resumed_at_the_wrong_time_is_a_fault)
{
    static struct diver diver;
    diver_init(&diver, 0, 0);
    EXPECT(rt_fiber_resume(&diver.fiber));
    EXPECT_FAULT(RT_E_FINISHED, (void)rt_fiber_resume(&diver.fiber));
    diver_fini(&diver);
    diver_init(&diver, 0, 0);
    diver.other = &diver.fiber;
    diver.misuse = resume_other;
    EXPECT_FAULT_ON(&diver.fiber.context, RT_E_REENTERED, (void)rt_fiber_resume(&diver.fiber));
    diver_fini(&diver);
}
