/*
 * wait_queue_test.c -- the longest waiter is woken first, once, and no wake is lost.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "runtime/task/wait_queue.h"
#include "runtime/tests/bed.h"
#include "runtime/tests/spy.h"

#define ENTRIES 3

/* A task that waits in the queue whenever it is polled. */
struct waiter {
    struct rt_task task;
    struct bed *bed;
    struct rt_wait_queue *queue;
    rt_err err;
};

static rt_poll
waiter_poll(struct rt_task *task, struct rt_cx *cx)
{
    struct waiter *waiter = rt_container_of(task, struct waiter, task);
    bed_log(waiter->bed, "", task->name);
    waiter->err = rt_wait_queue_store(waiter->queue, cx, "its turn");
    return waiter->err == RT_OK ? RT_PENDING : RT_READY;
}

static void
waiter_start(struct waiter *waiter, struct bed *bed, struct rt_wait_queue *queue, const char *name)
{
    *waiter = (struct waiter){.bed = bed, .queue = queue};
    rt_task_init(&waiter->task, waiter_poll, NULL, name);
    EXPECT_EQ(rt_post(&bed->executor, &waiter->task), RT_OK);
}

struct fixture {
    struct bed bed;
    struct rt_wait_queue queue;
    struct rt_wait_queue_entry entries[ENTRIES];
    struct waiter waiters[4];
};

/* An empty queue, and `count` tasks a, b, c, d that have queued in this order. */
static void
fixture_init(struct fixture *fixture, int count)
{
    static const char *const names[] = {"a", "b", "c", "d"};
    bed_init(&fixture->bed);
    rt_wait_queue_init(&fixture->queue, fixture->entries, ENTRIES);
    for (int i = 0; i < count; i++) {
        waiter_start(&fixture->waiters[i], &fixture->bed, &fixture->queue, names[i]);
    }
    (void)bed_run(&fixture->bed);
    fixture->bed.log[0] = '\0';
}

/* Holds W9. */
TEST(wait_queue_wakes_in_the_order_of_the_first_store)
{
    struct fixture fixture;
    fixture_init(&fixture, 3);
    EXPECT_EQ(rt_wait_queue_length(&fixture.queue), 3);
    EXPECT_EQ(rt_wait_queue_wake(&fixture.queue, 1), 1);
    (void)bed_run(&fixture.bed);
    EXPECT_STR(fixture.bed.log, "a");
    EXPECT_EQ(rt_wait_queue_wake(&fixture.queue, 2), 2);
    (void)bed_run(&fixture.bed);
    EXPECT_STR(fixture.bed.log, "a b c");
    EXPECT_EQ(rt_wait_queue_wake(&fixture.queue, UINT32_MAX), 3);
    (void)bed_run(&fixture.bed);
    EXPECT_STR(fixture.bed.log, "a b c a b c");
    EXPECT_EQ(rt_wait_queue_wake(&fixture.queue, 0), 0);
}

/* Holds W9. */
TEST(wait_queue_keeps_one_entry_for_one_task)
{
    struct fixture fixture;
    fixture_init(&fixture, 3);
    rt_task_wake(&fixture.waiters[0].task);
    rt_task_wake(&fixture.waiters[0].task);
    (void)bed_run(&fixture.bed);
    EXPECT_EQ(fixture.waiters[0].err, RT_OK);
    EXPECT_EQ(rt_wait_queue_length(&fixture.queue), 3);
    fixture.bed.log[0] = '\0';
    EXPECT_EQ(rt_wait_queue_wake(&fixture.queue, 1), 1);
    (void)bed_run(&fixture.bed);
    EXPECT_STR(fixture.bed.log, "a");
}

/* Holds W9. */
TEST(wait_queue_full_refuses_and_keeps_all_entries)
{
    struct fixture fixture;
    fixture_init(&fixture, 4);
    EXPECT_EQ(fixture.waiters[3].err, RT_E_FULL);
    EXPECT_EQ(rt_wait_queue_length(&fixture.queue), 3);
    EXPECT_EQ(rt_wait_queue_wake(&fixture.queue, UINT32_MAX), 3);
    (void)bed_run(&fixture.bed);
    EXPECT_STR(fixture.bed.log, "a b c");
}

/* Holds W9. */
TEST(wait_queue_without_entries_refuses_every_task)
{
    struct bed bed;
    bed_init(&bed);
    struct rt_wait_queue queue;
    rt_wait_queue_init(&queue, NULL, 0);
    struct waiter waiter;
    waiter_start(&waiter, &bed, &queue, "w");
    (void)bed_run(&bed);
    EXPECT_EQ(waiter.err, RT_E_FULL);
    EXPECT_EQ(rt_wait_queue_wake(&queue, UINT32_MAX), 0);
}

/* Holds W9, T8: the entry of a task that has ended is reused, and takes no wake. */
TEST(wait_queue_passes_over_a_task_that_has_ended)
{
    struct fixture fixture;
    fixture_init(&fixture, 3);
    rt_task_cancel(&fixture.waiters[0].task);
    EXPECT_EQ(rt_wait_queue_length(&fixture.queue), 2);
    EXPECT_EQ(rt_wait_queue_wake(&fixture.queue, 1), 1);
    (void)bed_run(&fixture.bed);
    EXPECT_STR(fixture.bed.log, "b");
    waiter_start(&fixture.waiters[3], &fixture.bed, &fixture.queue, "d");
    (void)bed_run(&fixture.bed);
    EXPECT_EQ(fixture.waiters[3].err, RT_OK);
    EXPECT_EQ(rt_wait_queue_length(&fixture.queue), 3);
    fixture.bed.log[0] = '\0';
    (void)rt_wait_queue_wake(&fixture.queue, UINT32_MAX);
    (void)bed_run(&fixture.bed);
    EXPECT_STR(fixture.bed.log, "c b d");
}

struct bell {
    struct rt_target target;
    unsigned rings;
};

static void
bell_woken(struct rt_target *target, const struct rt_site *await)
{
    (void)await;
    rt_container_of(target, struct bell, target)->rings++;
}

/* Holds W9, C3, J4: two children of one task are two waiters; one that is gone is passed over. */
TEST(wait_queue_distinguishes_the_children_of_one_task)
{
    struct fixture fixture;
    fixture_init(&fixture, 0);
    struct actor a;
    actor_start(&a, &fixture.bed, "a", "s.");
    (void)bed_run(&fixture.bed);
    struct bell bells[2];
    memset(bells, 0, sizeof(bells));
    for (int i = 0; i < 2; i++) {
        struct rt_cx cx;
        EXPECT_EQ(rt_target_open(&bells[i].target, &fixture.bed.executor, bell_woken), RT_OK);
        rt_cx_init(&cx, &fixture.bed.executor, &a.task, rt_target_waker(&bells[i].target));
        EXPECT_EQ(rt_wait_queue_store(&fixture.queue, &cx, "x"), RT_OK);
        EXPECT_EQ(rt_wait_queue_store(&fixture.queue, &cx, "x"), RT_OK);
    }
    EXPECT_EQ(rt_wait_queue_length(&fixture.queue), 2);
    rt_target_close(&bells[0].target);
    EXPECT_EQ(rt_wait_queue_length(&fixture.queue), 1);
    EXPECT_EQ(rt_wait_queue_wake(&fixture.queue, 1), 1);
    EXPECT_EQ(bells[0].rings, 0);
    EXPECT_EQ(bells[1].rings, 1);
}

/* A foreign waker that works on the queue while it is woken. */
struct meddler {
    struct spy spy;
    struct rt_wait_queue *queue;
    struct rt_cx cx;
    char does; /* 's' stores again, 'w' wakes one, 'c' clears. */
    uint32_t woken;
};

static void
meddle(struct spy *spy, char what)
{
    struct meddler *meddler = spy->argument;
    if (what != 'w') {
        return;
    }
    switch (meddler->does) {
    case 's':
        EXPECT_EQ(rt_wait_queue_store(meddler->queue, &meddler->cx, "again"), RT_OK);
        return;
    case 'w':
        meddler->woken = rt_wait_queue_wake(meddler->queue, 1);
        return;
    default:
        rt_wait_queue_clear_at(meddler->queue, NULL);
    }
}

static void
meddler_store(struct meddler *meddler, struct fixture *fixture, struct rt_task *task, char does)
{
    *meddler = (struct meddler){.queue = &fixture->queue, .does = does};
    meddler->spy.hook = meddle;
    meddler->spy.argument = meddler;
    rt_cx_init(&meddler->cx, &fixture->bed.executor, task, spy_waker(&meddler->spy));
    EXPECT_EQ(rt_wait_queue_store(&fixture->queue, &meddler->cx, "meddling"), RT_OK);
}

/* Holds W7, W9: a task that queues during the wakes waits for the next one. */
TEST(wait_queue_wake_of_all_ends_though_a_waker_stores_again)
{
    struct fixture fixture;
    fixture_init(&fixture, 0);
    struct actor a;
    actor_start(&a, &fixture.bed, "a", "s.");
    (void)bed_run(&fixture.bed);
    struct meddler meddlers[2];
    meddler_store(&meddlers[0], &fixture, &a.task, 's');
    meddler_store(&meddlers[1], &fixture, &a.task, 's');
    EXPECT_EQ(rt_wait_queue_wake(&fixture.queue, UINT32_MAX), 2);
    EXPECT_EQ(meddlers[0].spy.wakes, 1);
    EXPECT_EQ(meddlers[1].spy.wakes, 1);
    EXPECT_EQ(rt_wait_queue_length(&fixture.queue), 2);
    rt_wait_queue_fini(&fixture.queue);
    EXPECT(spy_balanced(&meddlers[0].spy));
    EXPECT(spy_balanced(&meddlers[1].spy));
}

/* Holds W7. */
TEST(wait_queue_wake_survives_a_waker_that_wakes_the_queue)
{
    struct fixture fixture;
    fixture_init(&fixture, 0);
    struct actor a;
    actor_start(&a, &fixture.bed, "a", "s.");
    (void)bed_run(&fixture.bed);
    struct meddler meddlers[3];
    meddler_store(&meddlers[0], &fixture, &a.task, 'w');
    meddler_store(&meddlers[1], &fixture, &a.task, 'w');
    meddler_store(&meddlers[2], &fixture, &a.task, 'w');
    EXPECT_EQ(rt_wait_queue_wake(&fixture.queue, UINT32_MAX), 1);
    for (int i = 0; i < 3; i++) {
        EXPECT_EQ(meddlers[i].spy.wakes, 1);
        EXPECT_EQ(meddlers[i].woken, i < 2 ? 1 : 0);
    }
    EXPECT_EQ(rt_wait_queue_length(&fixture.queue), 0);
}

/* Holds W7. */
TEST(wait_queue_wake_survives_a_waker_that_clears_the_queue)
{
    struct fixture fixture;
    fixture_init(&fixture, 0);
    struct actor a;
    actor_start(&a, &fixture.bed, "a", "s.");
    (void)bed_run(&fixture.bed);
    struct meddler meddlers[2];
    meddler_store(&meddlers[0], &fixture, &a.task, 'c');
    meddler_store(&meddlers[1], &fixture, &a.task, 'c');
    EXPECT_EQ(rt_wait_queue_wake(&fixture.queue, UINT32_MAX), 1);
    EXPECT_EQ(meddlers[1].spy.wakes, 0);
    EXPECT_EQ(meddlers[1].spy.drops, 1);
    EXPECT_EQ(rt_wait_queue_length(&fixture.queue), 0);
}

/* Holds W8, W9. */
TEST(wait_queue_cleared_wakes_no_task_and_can_be_reused)
{
    struct fixture fixture;
    fixture_init(&fixture, 3);
    rt_wait_queue_clear_at(&fixture.queue, NULL);
    EXPECT_EQ(rt_wait_queue_length(&fixture.queue), 0);
    EXPECT_EQ(bed_run(&fixture.bed), 0);
    for (int i = 0; i < 3; i++) {
        EXPECT(rt_list_empty(&fixture.waiters[i].task.slots));
        rt_task_wake(&fixture.waiters[i].task);
    }
    (void)bed_run(&fixture.bed);
    EXPECT_EQ(rt_wait_queue_length(&fixture.queue), 3);
}

/*
 * Holds W9.
 * Goal: no history of stores, wakes and cancels changes the order or loses a wake. Method: an array
 * of the tasks that wait, in the order in which they queued.
 */
TEST(wait_queue_long_random_history_agrees_with_an_array)
{
    struct fixture fixture;
    fixture_init(&fixture, 0);
    struct rt_task tasks[5];
    struct rt_cx cx[5];
    int line[5];
    int count = 0;
    for (int i = 0; i < 5; i++) {
        rt_task_init(&tasks[i], waiter_poll, NULL, "t");
        EXPECT_EQ(rt_post(&fixture.bed.executor, &tasks[i]), RT_OK);
    }
    uint64_t random = 5;
    for (int step = 0; step < 20000; step++) {
        int i = (int)bed_below(&random, 5);
        int at = 0;
        while (at < count && line[at] != i) {
            at++;
        }
        switch (bed_below(&random, 3)) {
        case 0: {
            rt_cx_init(&cx[i], &fixture.bed.executor, &tasks[i], rt_target_waker(&tasks[i].target));
            rt_err err = rt_wait_queue_store(&fixture.queue, &cx[i], "x");
            EXPECT_EQ(err, at == count && count == ENTRIES ? RT_E_FULL : RT_OK);
            if (at == count && err == RT_OK) {
                line[count++] = i;
            }
            break;
        }
        case 1: {
            /* Ends and is posted again. */
            rt_task_cancel(&tasks[i]);
            EXPECT_EQ(rt_post(&fixture.bed.executor, &tasks[i]), RT_OK);
            for (int k = at; k + 1 < count; k++) {
                line[k] = line[k + 1];
            }
            count -= at < count ? 1 : 0;
            break;
        }
        default: {
            uint64_t before = fixture.bed.executor.counters.coalesced;
            uint32_t want = bed_below(&random, 3);
            uint32_t woken = rt_wait_queue_wake(&fixture.queue, want);
            EXPECT_EQ(woken, (int)want < count ? (int)want : count);
            EXPECT_EQ(fixture.bed.executor.counters.coalesced, before + woken);
            for (int k = (int)woken; k < count; k++) {
                line[k - (int)woken] = line[k];
            }
            count -= (int)woken;
        }
        }
        EXPECT_EQ(rt_wait_queue_length(&fixture.queue), count);
        int k = 0;
        rt_list_each(node, &fixture.queue.waiting)
        {
            struct rt_wait_queue_entry *entry =
                    rt_container_of(node, struct rt_wait_queue_entry, link);
            struct rt_target *target = rt_waker_target(&entry->slot.waker);
            if (target != NULL) {
                EXPECT(target == &tasks[line[k]].target);
                k++;
            }
        }
        EXPECT_EQ(k, count);
    }
}

/* Joins the queue, and leaves it at its second poll, which it did not cause. */
static rt_poll
impatient_poll(struct rt_task *task, struct rt_cx *cx)
{
    struct waiter *waiter = rt_container_of(task, struct waiter, task);
    if (task->polls == 1) {
        EXPECT(!rt_wait_queue_leave(waiter->queue, cx));
        return rt_wait_queue_store(waiter->queue, cx, "its turn") == RT_OK ? RT_PENDING : RT_READY;
    }
    EXPECT(rt_wait_queue_leave(waiter->queue, cx));
    EXPECT(!rt_wait_queue_leave(waiter->queue, cx));
    return RT_READY;
}

/*
 * Goal: a task that stops waiting by itself takes no other's wake.
 * Method: the head of the queue is polled spuriously and leaves; the one wake goes to the second.
 */
TEST(wait_queue_left_by_the_first_wakes_the_second)
{
    struct fixture fixture;
    struct waiter impatient = {0};
    fixture_init(&fixture, 0);
    impatient.bed = &fixture.bed;
    impatient.queue = &fixture.queue;
    rt_task_init(&impatient.task, impatient_poll, NULL, "impatient");
    EXPECT_EQ(rt_post(&fixture.bed.executor, &impatient.task), RT_OK);
    waiter_start(&fixture.waiters[0], &fixture.bed, &fixture.queue, "a");
    (void)bed_run(&fixture.bed);
    EXPECT_EQ(rt_wait_queue_length(&fixture.queue), 2);
    rt_task_wake(&impatient.task);
    (void)bed_run(&fixture.bed);
    fixture.bed.log[0] = '\0';
    EXPECT_EQ(rt_wait_queue_length(&fixture.queue), 1);
    EXPECT_EQ(rt_wait_queue_wake(&fixture.queue, 1), 1);
    (void)bed_run(&fixture.bed);
    EXPECT_STR(fixture.bed.log, "a");
}
