/*
 * waker_test.c -- two words: what they wake, their reference counts, and a target that is gone.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "runtime/tests/bed.h"
#include "runtime/tests/spy.h"

/* Holds W1. */
TEST(waker_woken_or_dropped_is_gone_from_its_holder)
{
    struct spy spy = {0};
    struct rt_waker a = spy_waker(&spy);
    struct rt_waker b = rt_waker_clone(&a);
    struct rt_waker c = rt_waker_clone(&a);
    rt_waker_wake_by_ref(&b);
    EXPECT(!rt_waker_is_null(&b));
    rt_waker_wake(&b);
    EXPECT(rt_waker_is_null(&b));
    rt_waker_drop(&c);
    EXPECT(rt_waker_is_null(&c));
    rt_waker_wake(&b);
    rt_waker_drop(&c);
    rt_waker_drop(&a);
    EXPECT_EQ(spy.clones, 2);
    EXPECT_EQ(spy.by_ref, 1);
    EXPECT_EQ(spy.clones + 1, spy.wakes + spy.drops);
}

/* Holds W1. */
TEST(waker_call_passes_the_callers_line_on)
{
    static const struct rt_site line = {"here.c", "here", 1, 0, 0, 0, 0};
    struct spy spy = {0};
    struct rt_waker a = spy_waker(&spy);
    struct rt_waker b = rt_waker_clone_at(&a, &line);
    EXPECT(spy.await == &line);
    spy.await = NULL;
    rt_waker_wake_by_ref_at(&b, &line);
    EXPECT(spy.await == &line);
    spy.await = NULL;
    rt_waker_wake_at(&b, &line);
    EXPECT(spy.await == &line);
    spy.await = NULL;
    rt_waker_drop_at(&a, &line);
    EXPECT(spy.await == &line);
}

/* Holds W1. */
TEST(waker_of_a_task_is_balanced_in_the_executors_counts)
{
    struct bed bed;
    bed_init(&bed);
    struct actor a;
    actor_start(&a, &bed, "a", "k.k.!");
    (void)bed_run(&bed);
    EXPECT_EQ(a.task.target.clones, 1);
    struct rt_waker second = rt_waker_clone(&a.waker);
    EXPECT_EQ(a.task.target.clones, 2);
    rt_waker_drop(&second);
    EXPECT_EQ(a.task.target.clones, 1);
    rt_waker_wake(&a.waker);
    EXPECT_EQ(a.task.target.clones, 0);
    (void)bed_run(&bed);
    rt_waker_wake(&a.waker);
    (void)bed_run(&bed);
    EXPECT_EQ(bed.executor.counters.clones, 3);
    EXPECT_EQ(bed.executor.counters.returned, 3);
    EXPECT_STR(bed.log, "a a a ~a");
}

/* Holds W1. */
TEST(waker_given_back_twice_is_a_fault)
{
    struct bed bed;
    bed_init(&bed);
    struct actor a;
    actor_start(&a, &bed, "a", "sk.");
    (void)bed_run(&bed);
    struct rt_waker copy = a.waker;
    rt_waker_drop(&a.waker);
    EXPECT_FAULT(RT_E_INVALID, rt_waker_drop(&copy));
}

/* Holds W2. */
TEST(waker_will_wake_compares_target_and_table)
{
    struct bed bed;
    struct bed elsewhere;
    bed_init(&bed);
    bed_init(&elsewhere);
    struct actor a;
    struct actor b;
    struct actor c;
    actor_start(&a, &bed, "a", "!");
    actor_start(&b, &bed, "b", "!");
    actor_start(&c, &elsewhere, "c", "!");
    struct rt_waker of_a = rt_target_waker(&a.task.target);
    struct rt_waker of_b = rt_target_waker(&b.task.target);
    struct rt_waker of_c = rt_target_waker(&c.task.target);
    struct rt_waker clone = rt_waker_clone(&of_a);
    EXPECT(rt_waker_will_wake(&of_a, &clone));
    EXPECT(!rt_waker_will_wake(&of_a, &of_b));
    /* The same key, in another executor. */
    EXPECT_EQ(of_a.data, of_c.data);
    EXPECT(!rt_waker_will_wake(&of_a, &of_c));
    rt_waker_drop(&clone);
}

/* Holds W2, T8. */
TEST(waker_of_a_task_posted_again_is_another)
{
    struct bed bed;
    bed_init(&bed);
    struct actor a;
    actor_start(&a, &bed, "a", "k!!");
    (void)bed_run(&bed);
    EXPECT_EQ(rt_post(&bed.executor, &a.task), RT_OK);
    struct rt_waker now = rt_target_waker(&a.task.target);
    EXPECT(!rt_waker_will_wake(&a.waker, &now));
    EXPECT(rt_waker_target(&a.waker) == NULL);
    EXPECT(rt_waker_target(&now) == &a.task.target);
    rt_waker_drop(&a.waker);
}

/* Holds W3. */
TEST(waker_wake_is_followed_by_a_poll)
{
    struct bed bed;
    bed_init(&bed);
    struct actor a;
    struct actor b;
    actor_start(&a, &bed, "a", "k.k.k.!");
    actor_start(&b, &bed, "b", "s.");
    (void)bed_run(&bed);
    for (unsigned i = 0; i < 3; i++) {
        uint64_t before = a.task.polls;
        rt_waker_wake(&a.waker);
        EXPECT_EQ(bed_run(&bed), 1);
        EXPECT_EQ(a.task.polls, before + 1);
    }
    EXPECT_STR(bed.log, "a b a a a ~a");
}

TEST(waker_null_does_nothing)
{
    struct rt_waker null = RT_WAKER_NULL;
    EXPECT(rt_waker_is_null(&null));
    rt_waker_wake(&null);
    rt_waker_wake_by_ref(&null);
    rt_waker_drop(&null);
    struct rt_waker clone = rt_waker_clone(&null);
    EXPECT(rt_waker_is_null(&clone));
    EXPECT(rt_waker_target(&null) == NULL);
}

TEST(waker_noop_does_nothing_but_is_not_null)
{
    struct rt_waker noop = rt_waker_noop();
    EXPECT(!rt_waker_is_null(&noop));
    struct rt_waker clone = rt_waker_clone(&noop);
    EXPECT(rt_waker_will_wake(&noop, &clone));
    EXPECT(rt_waker_target(&noop) == NULL);
    rt_waker_wake_by_ref(&noop);
    rt_waker_wake(&clone);
    EXPECT(rt_waker_is_null(&clone));
    rt_waker_drop(&noop);
    EXPECT(rt_waker_is_null(&noop));
}

/* A target that is no task: what a combinator has for each child. */
struct bell {
    struct rt_target target;
    unsigned rings;
    const struct rt_site *await;
};

static void
bell_woken(struct rt_target *target, const struct rt_site *await)
{
    struct bell *bell = rt_container_of(target, struct bell, target);
    bell->rings++;
    bell->await = await;
}

TEST(target_open_is_woken_and_closed_is_not)
{
    static const struct rt_site line = {"here.c", "here", 1, 0, 0, 0, 0};
    struct bed bed;
    bed_init(&bed);
    struct bell bell = {0};
    EXPECT_EQ(rt_target_open(&bell.target, &bed.executor, bell_woken), RT_OK);
    struct rt_waker borrowed = rt_target_waker(&bell.target);
    struct rt_waker clone = rt_waker_clone(&borrowed);
    struct rt_waker other = rt_waker_clone(&borrowed);
    EXPECT_EQ(bell.target.clones, 2);
    EXPECT(rt_waker_target(&clone) == &bell.target);
    rt_waker_wake_at(&clone, &line);
    EXPECT_EQ(bell.rings, 1);
    EXPECT(bell.await == &line);
    rt_target_close(&bell.target);
    rt_target_close(&bell.target);
    EXPECT(rt_waker_target(&other) == NULL);
    rt_waker_wake(&other);
    EXPECT_EQ(bell.rings, 1);
    EXPECT_EQ(bed.executor.counters.clones, 2);
    EXPECT_EQ(bed.executor.counters.returned, 2);
    EXPECT_EQ(rt_target_open(&bell.target, &bed.executor, bell_woken), RT_OK);
    rt_target_close(&bell.target);
    rt_executor_fini(&bed.executor);
}

static void
bell_closes_itself(struct rt_target *target, const struct rt_site *await)
{
    bell_woken(target, await);
    rt_target_close(target);
    memset(target, 0, sizeof(*target));
}

/* Holds W1, W7. The reference is given back before other code runs. */
TEST(target_that_is_closed_by_its_wake_is_not_touched_again)
{
    struct bed bed;
    bed_init(&bed);
    struct bell bell = {0};
    EXPECT_EQ(rt_target_open(&bell.target, &bed.executor, bell_closes_itself), RT_OK);
    struct rt_waker borrowed = rt_target_waker(&bell.target);
    struct rt_waker clone = rt_waker_clone(&borrowed);
    rt_waker_wake(&clone);
    EXPECT_EQ(bell.rings, 1);
    EXPECT_EQ(bed.executor.counters.returned, 1);
}

TEST(target_without_capacity_is_refused_and_stays_closed)
{
    struct bed bed;
    bed_init(&bed);
    struct bell bells[BED_CAPACITY + 1];
    memset(bells, 0, sizeof(bells));
    for (int i = 0; i < BED_CAPACITY; i++) {
        EXPECT_EQ(rt_target_open(&bells[i].target, &bed.executor, bell_woken), RT_OK);
    }
    struct rt_target *late = &bells[BED_CAPACITY].target;
    EXPECT_EQ(rt_target_open(late, &bed.executor, bell_woken), RT_E_FULL);
    EXPECT_EQ(late->key.generation, 0);
    rt_target_close(late);
    rt_target_close(&bells[3].target);
    EXPECT_EQ(rt_target_open(late, &bed.executor, bell_woken), RT_OK);
}

/* The holder of the waker that is being called, by the spy's hook. */
static void
expect_gone(struct spy *spy, char what)
{
    const struct rt_waker *held = spy->argument;
    EXPECT(what == 'w' || what == 'd');
    EXPECT(rt_waker_is_null(held));
}

/* Holds W7. Goal: code that runs because of a wake or a drop finds the waker gone already, and can
 * neither wake nor drop it a second time. */
TEST(waker_is_null_before_the_woken_task_runs)
{
    struct rt_waker held;
    struct spy spy = {.hook = expect_gone, .argument = &held};
    held = spy_waker(&spy);
    rt_waker_wake(&held);
    held = spy_waker(&spy);
    rt_waker_drop(&held);
    EXPECT_EQ(spy.wakes, 1);
    EXPECT_EQ(spy.drops, 1);
}
