/*
 * atomic_waker_test.c -- the three states, each overlap made by hand, then two threads for real.
 *
 * A foreign waker's clone is called while REGISTERING is set, so a test can wake
 * from in there: that is the race, without a race.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "runtime/task/atomic_waker.h"

#include <pthread.h>
#include <sched.h>

#include "runtime/tests/bed.h"
#include "runtime/tests/spy.h"

/* Holds W10. */
TEST(atomic_waker_woken_before_a_register_does_nothing)
{
    struct rt_atomic_waker atomic;
    rt_atomic_waker_init(&atomic);
    EXPECT(!rt_atomic_waker_wake(&atomic));
    struct spy spy = {0};
    struct rt_waker waker = spy_waker(&spy);
    rt_atomic_waker_register(&atomic, &waker);
    EXPECT_EQ(spy.wakes + spy.by_ref, 0);
    EXPECT(rt_atomic_waker_wake(&atomic));
    EXPECT_EQ(spy.wakes, 1);
    EXPECT(!rt_atomic_waker_wake(&atomic));
    EXPECT(spy_balanced(&spy));
    rt_atomic_waker_fini(&atomic);
}

/* Holds W10, W11. */
TEST(atomic_waker_registered_later_replaces)
{
    struct rt_atomic_waker atomic;
    rt_atomic_waker_init(&atomic);
    struct spy first = {0};
    struct spy last = {0};
    struct rt_waker of_first = spy_waker(&first);
    struct rt_waker of_last = spy_waker(&last);
    rt_atomic_waker_register(&atomic, &of_first);
    rt_atomic_waker_register(&atomic, &of_first);
    EXPECT_EQ(first.clones, 1);
    rt_atomic_waker_register(&atomic, &of_last);
    EXPECT_EQ(first.drops, 1);
    EXPECT(rt_atomic_waker_wake(&atomic));
    EXPECT_EQ(first.wakes, 0);
    EXPECT_EQ(last.wakes, 1);
    EXPECT(spy_balanced(&first));
    EXPECT(spy_balanced(&last));
}

struct overlap {
    struct rt_atomic_waker *atomic;
    unsigned state;
    bool woken;
};

static void
wake_while_cloned(struct spy *spy, char what)
{
    struct overlap *overlap = spy->argument;
    if (what == 'c') {
        overlap->state = atomic_load(&overlap->atomic->state);
        overlap->woken = rt_atomic_waker_wake(overlap->atomic);
        EXPECT(!rt_atomic_waker_wake(overlap->atomic));
    }
}

/* Holds W10. */
TEST(atomic_waker_woken_while_registering_is_woken_by_the_registering_side)
{
    struct rt_atomic_waker atomic;
    rt_atomic_waker_init(&atomic);
    struct overlap overlap = {&atomic, 0, true};
    struct spy old = {0};
    struct spy spy = {.hook = wake_while_cloned, .argument = &overlap};
    struct rt_waker of_old = spy_waker(&old);
    struct rt_waker waker = spy_waker(&spy);
    rt_atomic_waker_register(&atomic, &of_old);
    rt_atomic_waker_register(&atomic, &waker);
    EXPECT_EQ(overlap.state, RT_ATOMIC_WAKER_REGISTERING);
    EXPECT(!overlap.woken);
    EXPECT_EQ(spy.wakes, 1);
    EXPECT_EQ(old.wakes, 0);
    EXPECT(spy_balanced(&spy));
    EXPECT(spy_balanced(&old));
    /* Nothing is left, and the way is free again. */
    EXPECT_EQ(atomic_load(&atomic.state), RT_ATOMIC_WAKER_WAITING);
    EXPECT(!rt_atomic_waker_wake(&atomic));
    rt_atomic_waker_register(&atomic, &of_old);
    EXPECT(rt_atomic_waker_wake(&atomic));
}

/* Holds W10. The other side holds WAKING while it takes the old waker out. */
TEST(atomic_waker_registered_while_waking_is_woken_at_once)
{
    struct rt_atomic_waker atomic;
    rt_atomic_waker_init(&atomic);
    struct spy old = {0};
    struct rt_waker of_old = spy_waker(&old);
    rt_atomic_waker_register(&atomic, &of_old);
    atomic_store(&atomic.state, RT_ATOMIC_WAKER_WAKING);
    struct spy spy = {0};
    struct rt_waker waker = spy_waker(&spy);
    rt_atomic_waker_register(&atomic, &waker);
    EXPECT_EQ(spy.by_ref, 1);
    EXPECT_EQ(spy.clones, 0);
    EXPECT_EQ(atomic_load(&atomic.state), RT_ATOMIC_WAKER_WAKING);
    /* A third side leaves the old one to the second, which is at it. */
    EXPECT(!rt_atomic_waker_wake(&atomic));
    EXPECT_EQ(old.wakes, 0);
}

static void
register_while_cloned(struct spy *spy, char what)
{
    struct rt_atomic_waker *atomic = spy->argument;
    struct rt_waker waker = spy_waker(spy);
    if (what == 'c') {
        rt_atomic_waker_register(atomic, &waker);
    }
}

/* Holds W10. */
TEST(atomic_waker_registered_by_two_at_once_is_a_fault)
{
    struct rt_atomic_waker atomic;
    rt_atomic_waker_init(&atomic);
    struct spy spy = {.hook = register_while_cloned, .argument = &atomic};
    struct rt_waker waker = spy_waker(&spy);
    EXPECT_FAULT(RT_E_BUSY, rt_atomic_waker_register(&atomic, &waker));
}

/* Holds W1, W10. */
TEST(atomic_waker_taken_belongs_to_the_taker)
{
    struct rt_atomic_waker atomic;
    rt_atomic_waker_init(&atomic);
    struct spy spy = {0};
    struct rt_waker waker = spy_waker(&spy);
    rt_atomic_waker_register(&atomic, &waker);
    struct rt_waker taken = rt_atomic_waker_take(&atomic);
    EXPECT(rt_waker_will_wake(&taken, &waker));
    struct rt_waker nothing = rt_atomic_waker_take(&atomic);
    EXPECT(rt_waker_is_null(&nothing));
    rt_waker_drop(&taken);
    rt_atomic_waker_register(&atomic, &waker);
    rt_atomic_waker_fini(&atomic);
    EXPECT_EQ(spy.drops, 2);
    EXPECT(spy_balanced(&spy));
}

/* A waker that two threads may use: it counts how often it was woken. */
struct shared {
    struct rt_atomic_waker atomic;
    atomic_uint published; /* What the waiting side waits for: this many rounds. */
    atomic_uint seen;      /* The rounds that it has seen. */
    atomic_uint woken;
    atomic_int references;
};

static struct rt_waker
shared_clone(const struct rt_waker *waker, const struct rt_site *await)
{
    (void)await;
    atomic_fetch_add(&((struct shared *)waker->data)->references, 1);
    return *waker;
}

static void
shared_drop(struct rt_waker waker, const struct rt_site *await)
{
    (void)await;
    atomic_fetch_sub(&((struct shared *)waker.data)->references, 1);
}

static void
shared_wake_by_ref(const struct rt_waker *waker, const struct rt_site *await)
{
    (void)await;
    atomic_fetch_add(&((struct shared *)waker->data)->woken, 1);
}

static void
shared_wake(struct rt_waker waker, const struct rt_site *await)
{
    shared_wake_by_ref(&waker, await);
    shared_drop(waker, await);
}

static const struct rt_waker_vt shared_vt = {
        shared_clone, shared_wake, shared_wake_by_ref, shared_drop};

#define ROUNDS 5000u

/* Publishes, then wakes, once a round: no second wake could make up for a lost one. */
static void *
producer(void *argument)
{
    struct shared *shared = argument;
    for (unsigned round = 1; round <= ROUNDS; round++) {
        atomic_store(&shared->published, round);
        (void)rt_atomic_waker_wake(&shared->atomic);
        while (atomic_load(&shared->seen) != round) {
            (void)sched_yield();
        }
    }
    return NULL;
}

/* Registers, checks, sleeps: until `woken` moves, which is forever when a wake was lost. */
static void
wait_for_change(struct shared *shared, const struct rt_waker *waker, unsigned seen)
{
    unsigned woken = atomic_load(&shared->woken);
    rt_atomic_waker_register(&shared->atomic, waker);
    if (atomic_load(&shared->published) != seen) {
        return;
    }
    while (atomic_load(&shared->woken) == woken) {
        (void)sched_yield();
    }
}

/*
 * Holds W4, W10: a waker may be woken from any thread.
 * Goal: a waiter that registers before its last check is never left asleep. Method: a producer that
 * wakes once a round and waits for the waiter to see it; a lost wake stops both, and Check's time
 * limit ends the test. At the end every reference was given back.
 */
TEST(atomic_waker_between_two_threads_loses_no_wake)
{
    static struct shared shared;
    rt_atomic_waker_init(&shared.atomic);
    atomic_init(&shared.published, 0);
    atomic_init(&shared.seen, 0);
    atomic_init(&shared.woken, 0);
    atomic_init(&shared.references, 1);
    struct rt_waker waker = {&shared_vt, (uintptr_t)&shared};
    pthread_t thread;
    ck_assert_int_eq(pthread_create(&thread, NULL, producer, &shared), 0);
    for (unsigned seen = 0; seen < ROUNDS;) {
        wait_for_change(&shared, &waker, seen);
        seen = atomic_load(&shared.published);
        atomic_store(&shared.seen, seen);
    }
    ck_assert_int_eq(pthread_join(thread, NULL), 0);
    rt_atomic_waker_fini(&shared.atomic);
    EXPECT_EQ(atomic_load(&shared.references), 1);
}
