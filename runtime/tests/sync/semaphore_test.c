/*
 * semaphore_test.c -- permits go to the first waiters, and past those that left.
 *
 * What is common to all queues (waiters.h) is tested here, on the simplest of them.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "runtime/sync/semaphore.h"
#include "runtime/tests/spy.h"
#include "runtime/tests/sync/crowd.h"

struct rig {
    struct crowd crowd;
    struct rt_semaphore semaphore;
    struct rt_acquire acquires[CROWD];
};

static void
rig_init(struct rig *rig, uint32_t permits)
{
    crowd_init(&rig->crowd);
    rt_semaphore_init(&rig->semaphore, permits);
}

static rt_poll
again(struct rig *rig, int i)
{
    return rt_acquire_poll(&rig->acquires[i], crowd_cx(&rig->crowd, i));
}

/* Task i asks for `permits`. */
static rt_poll
ask(struct rig *rig, int i, uint32_t permits)
{
    rt_acquire_init(&rig->acquires[i], &rig->semaphore, permits);
    return again(rig, i);
}

static void
release(struct rig *rig, uint32_t permits)
{
    EXPECT_EQ(rt_semaphore_release(&rig->semaphore, permits), RT_OK);
}

static void
leave(struct rig *rig, int i)
{
    rt_acquire_drop(&rig->acquires[i]);
}

/* Holds K10. */
TEST(semaphore_serves_in_the_order_of_coming)
{
    struct rig rig;
    rig_init(&rig, 1);
    EXPECT_EQ(ask(&rig, 0, 1), RT_READY);
    EXPECT_EQ(rig.acquires[0].err, RT_OK);
    EXPECT_EQ(ask(&rig, 1, 1), RT_PENDING);
    EXPECT_EQ(ask(&rig, 2, 1), RT_PENDING);
    EXPECT_EQ(rt_semaphore_try_acquire(&rig.semaphore, 1), RT_E_AGAIN);
    release(&rig, 1);
    EXPECT_STR(crowd_woken(&rig.crowd), "b");
    /* Granted is gone: a new waiter finds nothing between the grant and the poll. */
    EXPECT_EQ(rt_semaphore_free(&rig.semaphore), 0);
    EXPECT_EQ(rt_semaphore_try_acquire(&rig.semaphore, 1), RT_E_AGAIN);
    EXPECT_EQ(ask(&rig, 3, 1), RT_PENDING);
    EXPECT_EQ(again(&rig, 1), RT_READY);
    release(&rig, 2);
    EXPECT_STR(crowd_woken(&rig.crowd), "c d");
    EXPECT_EQ(again(&rig, 3), RT_READY);
    EXPECT_EQ(again(&rig, 2), RT_READY);
    rt_semaphore_fini(&rig.semaphore);
}

/* Holds K10. */
TEST(semaphore_large_request_at_the_head_blocks_small_ones)
{
    struct rig rig;
    rig_init(&rig, 1);
    EXPECT_EQ(ask(&rig, 0, 3), RT_PENDING);
    EXPECT_EQ(rt_semaphore_free(&rig.semaphore), 0); /* Collected by the head. */
    EXPECT_EQ(ask(&rig, 1, 1), RT_PENDING);
    release(&rig, 1);
    EXPECT_STR(crowd_woken(&rig.crowd), "");
    EXPECT_EQ(again(&rig, 1), RT_PENDING);
    release(&rig, 2);
    EXPECT_STR(crowd_woken(&rig.crowd), "a b");
    EXPECT_EQ(again(&rig, 0), RT_READY);
    EXPECT_EQ(again(&rig, 1), RT_READY);
    EXPECT_EQ(rt_semaphore_free(&rig.semaphore), 0);
}

/* Holds K10, K6: what the head had collected goes to those after it. */
TEST(semaphore_head_that_leaves_gives_on_what_it_collected)
{
    struct rig rig;
    rig_init(&rig, 2);
    EXPECT_EQ(ask(&rig, 0, 5), RT_PENDING);
    EXPECT_EQ(ask(&rig, 1, 1), RT_PENDING);
    EXPECT_EQ(ask(&rig, 2, 1), RT_PENDING);
    leave(&rig, 0);
    EXPECT_STR(crowd_woken(&rig.crowd), "b c");
    EXPECT_EQ(again(&rig, 1), RT_READY);
    EXPECT_EQ(again(&rig, 2), RT_READY);
}

/* Holds K6. */
TEST(semaphore_granted_and_dropped_before_its_poll_passes_on)
{
    struct rig rig;
    rig_init(&rig, 0);
    for (int i = 0; i < 3; i++) {
        EXPECT_EQ(ask(&rig, i, 1), RT_PENDING);
    }
    release(&rig, 1);
    leave(&rig, 0);
    EXPECT_STR(crowd_woken(&rig.crowd), "a b");
    leave(&rig, 1);
    leave(&rig, 1);
    EXPECT_STR(crowd_woken(&rig.crowd), "c");
    EXPECT_EQ(again(&rig, 2), RT_READY);
    leave(&rig, 2); /* After READY: nothing. */
    EXPECT_EQ(rt_semaphore_free(&rig.semaphore), 0);
    rt_semaphore_fini(&rig.semaphore);
}

/* Holds K6: with no waiter left to pass it on to, it is free. */
TEST(semaphore_grant_of_the_last_waiter_becomes_free)
{
    struct rig rig;
    rig_init(&rig, 0);
    EXPECT_EQ(ask(&rig, 0, 2), RT_PENDING);
    release(&rig, 2);
    leave(&rig, 0);
    EXPECT_EQ(rt_semaphore_free(&rig.semaphore), 2);
    EXPECT_EQ(rt_semaphore_try_acquire(&rig.semaphore, 2), RT_OK);
}

/* Holds K6, T9: a waiter whose task has ended and dropped nothing is passed over. */
TEST(semaphore_passes_over_a_task_that_has_ended)
{
    struct rig rig;
    rig_init(&rig, 1);
    EXPECT_EQ(ask(&rig, 0, 2), RT_PENDING); /* Has one of two. */
    EXPECT_EQ(ask(&rig, 1, 1), RT_PENDING);
    EXPECT_EQ(ask(&rig, 2, 1), RT_PENDING);
    crowd_end(&rig.crowd, 0);
    release(&rig, 1);
    EXPECT_STR(crowd_woken(&rig.crowd), "b c");
    EXPECT_EQ(again(&rig, 1), RT_READY);
    EXPECT_EQ(again(&rig, 2), RT_READY);
    rt_semaphore_fini(&rig.semaphore); /* The dead one is in no list any more. */
}

/* Holds K6: the head is dead and has what the next one wants; no release follows. */
TEST(semaphore_spurious_poll_finds_what_a_dead_head_had)
{
    struct rig rig;
    rig_init(&rig, 1);
    EXPECT_EQ(ask(&rig, 0, 2), RT_PENDING);
    EXPECT_EQ(ask(&rig, 1, 1), RT_PENDING);
    crowd_end(&rig.crowd, 0);
    EXPECT_EQ(again(&rig, 1), RT_READY);
}

/* Holds K7: a waiter that was passed over and is polled after all has its old position, once. */
TEST(semaphore_passed_over_and_polled_again_has_its_old_position)
{
    struct rig rig;
    rig_init(&rig, 0);
    for (int i = 0; i < 3; i++) {
        EXPECT_EQ(ask(&rig, i, 1), RT_PENDING);
    }
    crowd_end(&rig.crowd, 0);
    release(&rig, 1);
    EXPECT_STR(crowd_woken(&rig.crowd), "b");
    /* The future has moved to another task: c's slot is not touched by d's. */
    EXPECT_EQ(rt_acquire_poll(&rig.acquires[0], crowd_cx(&rig.crowd, 3)), RT_PENDING);
    EXPECT_EQ(rt_acquire_poll(&rig.acquires[0], crowd_cx(&rig.crowd, 3)), RT_PENDING);
    release(&rig, 1);
    EXPECT_STR(crowd_woken(&rig.crowd), "d");
    release(&rig, 1);
    EXPECT_STR(crowd_woken(&rig.crowd), "c");
}

/*
 * Holds K7, K10.
 * Goal: only one collects, also when the head was passed over and returns; two that each have
 * some would wait for each other. Method: a has two of three, b takes them over, a returns as d.
 */
TEST(semaphore_head_that_returns_has_its_collected_units_again)
{
    struct rig rig;
    rig_init(&rig, 2);
    EXPECT_EQ(ask(&rig, 0, 3), RT_PENDING);
    crowd_end(&rig.crowd, 0);
    EXPECT_EQ(ask(&rig, 1, 3), RT_PENDING);
    EXPECT_EQ(rt_acquire_poll(&rig.acquires[0], crowd_cx(&rig.crowd, 3)), RT_PENDING);
    release(&rig, 1);
    EXPECT_STR(crowd_woken(&rig.crowd), "d");
    EXPECT_EQ(rt_acquire_poll(&rig.acquires[0], crowd_cx(&rig.crowd, 3)), RT_READY);
    EXPECT_EQ(again(&rig, 1), RT_PENDING);
    release(&rig, 3);
    EXPECT_STR(crowd_woken(&rig.crowd), "b");
}

/* Holds K7, K10: what is too much for the one that returned goes to the next. */
TEST(semaphore_head_that_returns_leaves_the_rest_to_the_next)
{
    struct rig rig;
    rig_init(&rig, 0);
    EXPECT_EQ(ask(&rig, 0, 1), RT_PENDING);
    EXPECT_EQ(ask(&rig, 1, 3), RT_PENDING);
    crowd_end(&rig.crowd, 0);
    release(&rig, 2); /* a is passed over; b has two of three. */
    EXPECT_EQ(rt_acquire_poll(&rig.acquires[0], crowd_cx(&rig.crowd, 3)), RT_READY);
    EXPECT_EQ(rt_semaphore_free(&rig.semaphore), 0);
    release(&rig, 2);
    EXPECT_STR(crowd_woken(&rig.crowd), "b");
}

/* Holds W11, K6: only the task that polled last is woken. */
TEST(semaphore_waiter_that_moves_takes_its_wake_along)
{
    struct rig rig;
    rig_init(&rig, 0);
    EXPECT_EQ(ask(&rig, 0, 1), RT_PENDING);
    EXPECT_EQ(rt_acquire_poll(&rig.acquires[0], crowd_cx(&rig.crowd, 4)), RT_PENDING);
    crowd_end(&rig.crowd, 0);
    release(&rig, 1);
    EXPECT_STR(crowd_woken(&rig.crowd), "e");
    EXPECT_EQ(rt_acquire_poll(&rig.acquires[0], crowd_cx(&rig.crowd, 4)), RT_READY);
}

/* What is promised where a granted future is kept alive and never polled: its units are gone, and
 * those only. */
TEST(semaphore_granted_and_never_polled_keeps_its_units_and_no_more)
{
    struct rig rig;
    rig_init(&rig, 0);
    EXPECT_EQ(ask(&rig, 0, 1), RT_PENDING);
    EXPECT_EQ(ask(&rig, 1, 1), RT_PENDING);
    release(&rig, 1);
    release(&rig, 1);
    EXPECT_STR(crowd_woken(&rig.crowd), "a b");
    EXPECT_EQ(again(&rig, 1), RT_READY);
    EXPECT_FAULT(RT_E_IN_USE, rt_semaphore_fini(&rig.semaphore));
}

/* Holds K10. */
TEST(semaphore_close_fails_queued_and_granted_waiters)
{
    struct rig rig;
    rig_init(&rig, 1);
    EXPECT_EQ(ask(&rig, 0, 3), RT_PENDING);
    EXPECT_EQ(ask(&rig, 1, 1), RT_PENDING);
    release(&rig, 2);
    rt_semaphore_close(&rig.semaphore);
    rt_semaphore_close(&rig.semaphore);
    EXPECT_STR(crowd_woken(&rig.crowd), "a b");
    for (int i = 0; i < 2; i++) {
        EXPECT_EQ(again(&rig, i), RT_READY);
        EXPECT_EQ(rig.acquires[i].err, RT_E_CLOSED);
    }
    EXPECT_EQ(rt_semaphore_free(&rig.semaphore), 3); /* Nothing is lost, nothing is given out. */
    EXPECT_EQ(rt_semaphore_try_acquire(&rig.semaphore, 1), RT_E_CLOSED);
    EXPECT_EQ(ask(&rig, 2, 1), RT_READY);
    EXPECT_EQ(rig.acquires[2].err, RT_E_CLOSED);
    rt_semaphore_fini(&rig.semaphore);
}

/* Holds K10: permits that waiters hold count as well. */
TEST(semaphore_overflow_is_rejected_and_changes_nothing)
{
    struct rig rig;
    rig_init(&rig, RT_SEMAPHORE_PERMITS_MAX - 1);
    EXPECT_EQ(rt_semaphore_release(&rig.semaphore, 2), RT_E_INVALID);
    EXPECT_EQ(rt_semaphore_free(&rig.semaphore), RT_SEMAPHORE_PERMITS_MAX - 1);
    EXPECT_EQ(ask(&rig, 0, RT_SEMAPHORE_PERMITS_MAX), RT_PENDING);
    EXPECT_EQ(rt_semaphore_release(&rig.semaphore, 2), RT_E_INVALID);
    EXPECT_EQ(rt_semaphore_release(&rig.semaphore, UINT32_MAX), RT_E_INVALID);
    EXPECT_STR(crowd_woken(&rig.crowd), "");
    release(&rig, 1);
    EXPECT_STR(crowd_woken(&rig.crowd), "a");
    EXPECT_EQ(again(&rig, 0), RT_READY);
    EXPECT_FAULT(RT_E_INVALID,
            rt_acquire_init(&rig.acquires[1], &rig.semaphore, RT_SEMAPHORE_PERMITS_MAX + 1));
}

/* Holds K10: nothing is always there. */
TEST(semaphore_request_of_zero_is_ready_at_once)
{
    struct rig rig;
    rig_init(&rig, 0);
    EXPECT_EQ(ask(&rig, 0, 1), RT_PENDING);
    EXPECT_EQ(ask(&rig, 1, 0), RT_READY);
    EXPECT_EQ(rt_semaphore_try_acquire(&rig.semaphore, 0), RT_OK);
    release(&rig, 0);
    EXPECT_STR(crowd_woken(&rig.crowd), "");
}

/* Holds T20. */
TEST(semaphore_request_polled_after_its_end_is_a_fault)
{
    struct rig rig;
    rig_init(&rig, 1);
    EXPECT_EQ(ask(&rig, 0, 1), RT_READY);
    EXPECT_FAULT(RT_E_FINISHED, (void)again(&rig, 0));
    EXPECT_EQ(ask(&rig, 1, 1), RT_PENDING);
    leave(&rig, 1);
    EXPECT_FAULT(RT_E_FINISHED, (void)again(&rig, 1));
}

struct meddler {
    struct spy spy;
    struct rig *rig;
};

/* At its wake, the next in the queue is dropped, and two permits are released. */
static void
meddle(struct spy *spy, char what)
{
    struct meddler *meddler = rt_container_of(spy, struct meddler, spy);
    if (what == 'w') {
        leave(meddler->rig, 1);
        release(meddler->rig, 2);
    }
}

/*
 * Holds W7, K6.
 * Goal: a wake may do anything. Method: two are granted by one release; the waker of the first
 * drops the second, whose permit must reach the third, and releases two more, for the fourth and
 * the pool.
 */
TEST(semaphore_release_survives_a_reentrant_waker)
{
    struct rig rig;
    rig_init(&rig, 0);
    struct meddler meddler = {.spy = {.hook = meddle}, .rig = &rig};
    rt_acquire_init(&rig.acquires[0], &rig.semaphore, 1);
    struct rt_cx foreign = rt_cx_for_child(crowd_cx(&rig.crowd, 0), spy_waker(&meddler.spy));
    EXPECT_EQ(rt_acquire_poll(&rig.acquires[0], &foreign), RT_PENDING);
    for (int i = 1; i < 4; i++) {
        EXPECT_EQ(ask(&rig, i, 1), RT_PENDING);
    }
    release(&rig, 2);
    EXPECT_EQ(meddler.spy.wakes, 1);
    EXPECT_STR(crowd_woken(&rig.crowd), "c d");
    EXPECT_EQ(again(&rig, 0), RT_READY);
    EXPECT_EQ(again(&rig, 2), RT_READY);
    EXPECT_EQ(again(&rig, 3), RT_READY);
    EXPECT_EQ(rt_semaphore_free(&rig.semaphore), 1);
    rt_semaphore_fini(&rig.semaphore);
}

/* ---- The model: an array of waiters, searched from end to end. ------------------------------- */

struct row {
    int who;
    uint32_t wanted;
    bool granted;
};

struct model {
    struct row rows[CROWD]; /* In the order of coming. */
    int count;
    uint32_t pool; /* Free, or collected by the next one. */
    char woken[64];
};

static int
model_find(const struct model *model, int who)
{
    int at = 0;
    while (at < model->count && model->rows[at].who != who) {
        at++;
    }
    return at;
}

static void
model_serve(struct model *model)
{
    for (int k = 0; k < model->count; k++) {
        struct row *row = &model->rows[k];
        if (row->granted) {
            continue;
        }
        if (row->wanted > model->pool) {
            return;
        }
        model->pool -= row->wanted;
        row->granted = true;
        model->woken[row->who] = 1;
    }
}

static void
model_remove(struct model *model, int at)
{
    for (int k = at; k + 1 < model->count; k++) {
        model->rows[k] = model->rows[k + 1];
    }
    model->count--;
}

static bool
model_queues(const struct model *model)
{
    for (int k = 0; k < model->count; k++) {
        if (!model->rows[k].granted) {
            return true;
        }
    }
    return false;
}

/* Compares the tasks woken since the last call. */
static void
model_compare(struct model *model, struct rig *rig)
{
    char expected[CROWD + 1] = "";
    char actual[CROWD + 1] = "";
    const char *log = crowd_woken(&rig->crowd);
    for (int i = 0; i < CROWD; i++) {
        char name = (char)('a' + i);
        expected[i] = model->woken[i] ? name : '.';
        actual[i] = strchr(log, name) != NULL ? name : '.';
        model->woken[i] = 0;
    }
    EXPECT_STR(actual, expected);
    EXPECT_EQ(rt_semaphore_free(&rig->semaphore), model_queues(model) ? 0 : model->pool);
}

static void
model_poll(struct model *model, struct rig *rig, int who, uint32_t wanted)
{
    int at = model_find(model, who);
    if (at < model->count) {
        bool ready = model->rows[at].granted;
        EXPECT_EQ(again(rig, who), ready ? RT_READY : RT_PENDING);
        if (ready) {
            model_remove(model, at);
        }
        return;
    }
    bool ready = !model_queues(model) && model->pool >= wanted;
    EXPECT_EQ(ask(rig, who, wanted), ready ? RT_READY : RT_PENDING);
    if (ready) {
        model->pool -= wanted;
    } else {
        model->rows[model->count++] = (struct row){who, wanted, false};
    }
}

static void
model_leave(struct model *model, struct rig *rig, int who)
{
    int at = model_find(model, who);
    if (at == model->count) {
        return;
    }
    leave(rig, who);
    model->pool += model->rows[at].granted ? model->rows[at].wanted : 0;
    model_remove(model, at);
    model_serve(model);
}

/*
 * Holds K6, K7, K10, W11.
 * Goal: no history of polls, releases and drops, at any point, loses a permit, an order or a wake.
 * Method: 50,000 random steps against an array.
 */
TEST(semaphore_long_random_history_agrees_with_an_array)
{
    struct rig rig;
    rig_init(&rig, 2);
    struct model model = {.pool = 2};
    uint64_t random = 10;
    for (int step = 0; step < 50000; step++) {
        int who = (int)bed_below(&random, CROWD);
        switch (bed_below(&random, 4)) {
        case 0:
        case 1:
            model_poll(&model, &rig, who, 1 + bed_below(&random, 3));
            break;
        case 2:
            model_leave(&model, &rig, who);
            break;
        default: {
            uint32_t permits = model.pool < 20 ? bed_below(&random, 3) : 0;
            model.pool += permits;
            release(&rig, permits);
            model_serve(&model);
        }
        }
        model_compare(&model, &rig);
    }
}
