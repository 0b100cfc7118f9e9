/*
 * yield_test.c -- yielding: after the others and after a turn, and when the quota is used up.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "runtime/task/yield.h"

#include <stdlib.h>

#include "runtime/tests/bed.h"
#include "runtime/tests/io/dumb_host.h"

#define LINE 4u

/* A runtime with a line of 4. */
struct yard {
    struct dumb_runtime dumb;
    struct rt_waker line[LINE];
    uint32_t chosen; /* What a choice is answered. */
    uint64_t work_ns;
    struct worker *spare; /* Of the test of a full backlog. */
};

/* Yields `times` times, and is logged at each poll. */
struct worker {
    struct rt_task task;
    struct yard *yard;
    struct rt_yield yield;
    uint32_t times;
    bool maybe; /* rt_maybe_yield, after 100 ns of work … */
    uint64_t work_ns;
    bool busy; /* … or it wakes itself and never yields. */
    uint32_t polls;
};

static uint32_t
chosen(void *argument, uint32_t n)
{
    const struct yard *yard = argument;
    return yard->chosen < n ? yard->chosen : 0;
}

static void
yard_init(struct yard *yard, uint64_t quota_ns, uint32_t line)
{
    dumb_init(&yard->dumb);
    struct rt_runtime_config config = dumb_config(&yard->dumb);
    config.task_quota_ns = quota_ns;
    config.deferred = yard->line;
    config.deferred_capacity = line;
    config.executor.choose = chosen;
    config.executor.choose_argument = yard;
    yard->chosen = 0;
    rt_runtime_init(&yard->dumb.runtime, &config);
}

static rt_poll
worker_poll(struct rt_task *task, struct rt_cx *cx)
{
    struct worker *worker = rt_container_of(task, struct worker, task);
    worker->polls++;
    dumb_log(&worker->yard->dumb, task->name);
    while (worker->times > 0) {
        if (worker->busy) {
            worker->times--;
            worker->yard->dumb.host.now_ns += worker->work_ns;
            rt_cx_reenqueue(cx);
            return RT_PENDING;
        }
        RT_AWAIT(worker->maybe ? rt_maybe_yield(&worker->yield, cx)
                               : rt_yield_now(&worker->yield, cx));
        worker->times--;
        worker->yard->dumb.host.now_ns += worker->work_ns;
    }
    return RT_READY;
}

static void
worker_start(struct worker *worker, struct yard *yard, const char *name, uint32_t times)
{
    *worker = (struct worker){.yard = yard, .times = times};
    rt_task_init(&worker->task, worker_poll, NULL, name);
    EXPECT_EQ(rt_post(&yard->dumb.runtime.executor, &worker->task), RT_OK);
}

static void
turn(struct yard *yard)
{
    EXPECT_EQ(rt_runtime_turn(&yard->dumb.runtime, RT_TURN_POLL, NULL), RT_OK);
    dumb_log(&yard->dumb, "|");
}

/*
 * Holds D13. Goal: a task that yields continues after the ready tasks, and after a turn. Method: a
 * yields, b wakes itself twice; turns are logged as bars.
 */
TEST(yield_continues_after_the_ready_tasks_and_one_turn)
{
    struct yard yard;
    struct worker a;
    struct worker b;
    yard_init(&yard, 0, LINE);
    worker_start(&a, &yard, "a", 1);
    worker_start(&b, &yard, "b", 2);
    b.busy = true;
    dumb_run(&yard.dumb);
    EXPECT_STR(yard.dumb.log, "a b b b");
    EXPECT(rt_runtime_turn_useful(&yard.dumb.runtime));
    turn(&yard);
    dumb_run(&yard.dumb);
    EXPECT_STR(yard.dumb.log, "a b b b | a");
    dumb_fini(&yard.dumb);
}

/* Holds D13. Tasks that yielded continue in that order, after those the turn itself has woken. */
TEST(yield_releases_in_order_after_tasks_the_turn_woke)
{
    struct yard yard;
    struct worker a;
    struct worker b;
    struct reader reader;
    yard_init(&yard, 0, LINE);
    worker_start(&a, &yard, "a", 1);
    worker_start(&b, &yard, "b", 1);
    reader_start(&reader, &yard.dumb, "io", 0, 1);
    dumb_run(&yard.dumb);
    yard.dumb.host.ready[0] = true;
    turn(&yard);
    dumb_run(&yard.dumb);
    EXPECT_STR(yard.dumb.log, "a b io | io a b");
    dumb_fini(&yard.dumb);
}

/* Holds D13, W11. A spurious poll does not end the wait, nor does it queue twice. */
TEST(yield_polled_spuriously_keeps_waiting)
{
    struct yard yard;
    struct worker a;
    yard_init(&yard, 0, LINE);
    worker_start(&a, &yard, "a", 1);
    dumb_run(&yard.dumb);
    for (int i = 0; i < 10; i++) {
        rt_task_wake(&a.task);
        dumb_run(&yard.dumb);
    }
    EXPECT(rt_task_posted(&a.task));
    EXPECT_EQ(yard.dumb.runtime.deferred_count, 1);
    turn(&yard);
    dumb_run(&yard.dumb);
    EXPECT_EQ(a.task.end, RT_TASK_DONE);
    EXPECT_EQ(a.polls, 12);
    dumb_fini(&yard.dumb);
}

/* Holds D13, W11: the waker of the last poll is the one that is woken. */
TEST(yield_polled_with_another_waker_wakes_that_one)
{
    struct yard yard;
    yard_init(&yard, 0, LINE);
    struct worker a;
    worker_start(&a, &yard, "a", 1);
    struct spy first = {0};
    struct spy second = {0};
    struct rt_executor *executor = &yard.dumb.runtime.executor;
    struct rt_yield yield = {0};
    struct rt_cx cx;
    rt_cx_init(&cx, executor, &a.task, spy_waker(&first));
    EXPECT_EQ(rt_yield_now(&yield, &cx), RT_PENDING);
    rt_cx_init(&cx, executor, &a.task, spy_waker(&second));
    EXPECT_EQ(rt_yield_now(&yield, &cx), RT_PENDING);
    turn(&yard);
    EXPECT_EQ(second.wakes, 1);
    EXPECT_EQ(rt_yield_now(&yield, &cx), RT_READY);
    dumb_run(&yard.dumb);
    turn(&yard);
    dumb_run(&yard.dumb);
    dumb_fini(&yard.dumb);
}

/* Holds T8. A task that is cancelled in the queue, and whose memory goes, is not woken. */
TEST(yield_of_a_cancelled_task_wakes_no_task)
{
    struct yard yard;
    struct worker a;
    yard_init(&yard, 0, LINE);
    worker_start(&a, &yard, "a", 1);
    dumb_run(&yard.dumb);
    rt_task_cancel(&a.task);
    memset(&a, 0x5a, sizeof(a));
    turn(&yard);
    dumb_run(&yard.dumb);
    EXPECT_STR(yard.dumb.log, "a |");
    dumb_fini(&yard.dumb);
}

/* What is left in the queue when the runtime ends is dropped (W1). */
TEST(yield_left_in_the_line_of_a_runtime_that_ends_is_dropped)
{
    struct yard yard;
    struct worker a;
    yard_init(&yard, 0, LINE);
    worker_start(&a, &yard, "a", 1);
    dumb_run(&yard.dumb);
    rt_task_cancel(&a.task);
    struct rt_executor_counters *counters = &yard.dumb.runtime.executor.counters;
    dumb_fini(&yard.dumb);
    EXPECT_EQ(counters->clones, 1);
    EXPECT_EQ(counters->returned, 1);
}

/* Holds D13. The queue is full: to the tail of the run queue, and nothing is lost. */
TEST(yield_without_capacity_goes_to_the_tail)
{
    struct yard yard;
    struct worker a;
    struct worker b;
    yard_init(&yard, 0, 1);
    worker_start(&a, &yard, "a", 1);
    worker_start(&b, &yard, "b", 1);
    dumb_run(&yard.dumb);
    EXPECT_STR(yard.dumb.log, "a b b");
    turn(&yard);
    dumb_run(&yard.dumb);
    EXPECT_STR(yard.dumb.log, "a b b | a");
    dumb_fini(&yard.dumb);
}

/* A bare executor has no turns: the task goes to the end of the queue. */
TEST(yield_on_a_bare_executor_goes_to_the_tail)
{
    struct bed bed;
    struct actor other;
    bed_init(&bed);
    struct rt_yield yield = {0};
    actor_start(&other, &bed, "a", "s.!");
    struct rt_cx cx;
    rt_cx_init(&cx, &bed.executor, &other.task, other.task.target.executor->cx.waker);
    struct spy spy = {0};
    struct rt_cx child = rt_cx_for_child(&cx, spy_waker(&spy));
    EXPECT(!rt_need_preempt(&child));
    EXPECT_EQ(rt_maybe_yield(&yield, &child), RT_READY);
    EXPECT_EQ(rt_yield_now(&yield, &child), RT_PENDING);
    EXPECT_EQ(spy.by_ref, 1);
    EXPECT_EQ(rt_yield_now(&yield, &child), RT_READY);
    (void)bed_run(&bed);
    rt_slot_wake(&other.slot);
    (void)bed_run(&bed);
}

/* Holds D13: two tasks that only yield do not keep the loop from its deadline, nor forever. */
TEST(yield_in_a_loop_lets_the_host_have_its_turns)
{
    struct yard yard;
    struct worker a;
    struct worker b;
    yard_init(&yard, 0, LINE);
    worker_start(&a, &yard, "a", 3);
    worker_start(&b, &yard, "b", 3);
    EXPECT_EQ(rt_run_to_completion(&yard.dumb.runtime), RT_OK);
    EXPECT_STR(yard.dumb.log, "a b a b a b a b");
    EXPECT_EQ(yard.dumb.runtime.turns, 3);
    EXPECT_EQ(yard.dumb.host.blocks, 0);
    dumb_fini(&yard.dumb);
}

/* Holds X8. The quota is counted by the host's clock from the beginning of the round. */
TEST(yield_maybe_gives_way_once_the_quota_is_used_up)
{
    struct yard yard;
    struct worker a;
    yard_init(&yard, 300, LINE);
    worker_start(&a, &yard, "a", 7);
    a.maybe = true;
    a.work_ns = 100;
    EXPECT_EQ(rt_run_to_completion(&yard.dumb.runtime), RT_OK);
    /* Three pieces of work a poll, and the last of seven. */
    EXPECT_EQ(a.polls, 3);
    EXPECT_EQ(yard.dumb.host.now_ns, 700);
    dumb_fini(&yard.dumb);
}

/* The usual quota is 500 us. Holds X8. */
TEST(yield_quota_is_500_us_by_default)
{
    struct yard yard;
    struct worker a;
    yard_init(&yard, 0, LINE);
    worker_start(&a, &yard, "a", 12);
    a.maybe = true;
    a.work_ns = 100 * RT_US;
    EXPECT_EQ(rt_run_to_completion(&yard.dumb.runtime), RT_OK);
    EXPECT_EQ(a.polls, 3);
    yard_init(&yard, RT_NEVER, LINE);
    worker_start(&a, &yard, "a", 12);
    a.maybe = true;
    a.work_ns = 100 * RT_US;
    EXPECT_EQ(rt_run_to_completion(&yard.dumb.runtime), RT_OK);
    EXPECT_EQ(a.polls, 1);
}

/* A task may be asked to yield before its quota is used up. Holds X8. */
TEST(yield_may_be_asked_for_early)
{
    struct yard yard;
    struct worker a;
    yard_init(&yard, 300, LINE);
    yard.chosen = 1;
    worker_start(&a, &yard, "a", 2);
    a.maybe = true;
    EXPECT_EQ(rt_run_to_completion(&yard.dumb.runtime), RT_OK);
    EXPECT_EQ(a.polls, 3);
    dumb_fini(&yard.dumb);
}

/*
 * Holds X8. Goal: a round ends when the quota is used up, and has one poll at least. Method: tasks
 * of 200 ns each that wake themselves, a quota of 300, then of 1.
 */
TEST(yield_round_ends_with_the_quota_and_has_one_poll)
{
    const struct {
        uint64_t quota_ns;
        uint64_t turns;
    } cases[] = {{300, 4}, {1, 8}, {RT_NEVER, 0}};
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct yard yard;
        struct worker a;
        struct worker b;
        yard_init(&yard, cases[i].quota_ns, LINE);
        worker_start(&a, &yard, "a", 4);
        worker_start(&b, &yard, "b", 4);
        a.busy = b.busy = true;
        a.work_ns = b.work_ns = 200;
        EXPECT_EQ(rt_run_to_completion(&yard.dumb.runtime), RT_OK);
        EXPECT_EQ(yard.dumb.runtime.turns, cases[i].turns);
        dumb_fini(&yard.dumb);
    }
}

/* ---- A backlog. ------------------------------------------------------------------------------ */

#define CROWD 1200u

struct crowd {
    struct dumb_runtime dumb;
    struct rt_slab_entry entries[CROWD];
    struct rt_sched_link links[CROWD];
    struct rt_task tasks[CROWD];
};

static rt_poll
crowd_poll(struct rt_task *task, struct rt_cx *cx)
{
    (void)task;
    rt_container_of(cx->runtime->host, struct dumb_host, seam)->now_ns += 100;
    return RT_READY;
}

static void
crowd_init(struct crowd *crowd, uint32_t count)
{
    dumb_init(&crowd->dumb);
    struct rt_runtime_config config = dumb_config(&crowd->dumb);
    config.task_quota_ns = 100;
    config.event_interval = CROWD;
    config.executor.entries = crowd->entries;
    config.executor.links = crowd->links;
    config.executor.capacity = CROWD;
    rt_runtime_init(&crowd->dumb.runtime, &config);
    for (uint32_t i = 0; i < count; i++) {
        rt_task_init(&crowd->tasks[i], crowd_poll, NULL, "one of many");
        EXPECT_EQ(rt_post(&crowd->dumb.runtime.executor, &crowd->tasks[i]), RT_OK);
    }
}

/* Holds X8: while more than 1000 are woken, a round does not end for its quota. */
TEST(yield_backlog_of_more_than_1000_overrides_the_quota)
{
    struct crowd *crowd = malloc(sizeof(*crowd));
    ck_assert(crowd != NULL);
    crowd_init(crowd, 1101);
    EXPECT_EQ(rt_run_to_completion(&crowd->dumb.runtime), RT_OK);
    /* 100 polls until 1001 are left, one more leaves 1000 and ends the round; then each one ends
     * its own, and the last one the loop. */
    EXPECT_EQ(crowd->dumb.runtime.turns, 1000);
    dumb_fini(&crowd->dumb);
    free(crowd);
}
