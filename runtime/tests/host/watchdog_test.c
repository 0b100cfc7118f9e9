/*
 * watchdog_test.c -- tasks that lose their wake, and tasks that do not.
 *
 * The dumb host moves its clock to the next deadline when all tasks are blocked, so each sleep of
 * the watchdog passes at once.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "runtime/host/watchdog.h"

#include <string.h>

#include "runtime/sync/channel.h"
#include "runtime/tests/io/dumb_host.h"
#include "runtime/tests/test.h"

#define PERIODS 5u

/* A counter that one task adds to and another takes from; `forgets` loses the wake. */
struct mailbox {
    struct rt_slot slot;
    uint32_t letters;
    uint32_t taken;
    bool forgets;
};

struct bench {
    struct dumb_runtime dumb;
    struct rt_watchdog watchdog;
    struct rt_watchdog_seen seen[DUMB_TASKS];
    struct rt_task reader;
    struct rt_task writer;
    struct rt_task clock;
    struct rt_sleep sleep;
    struct rt_sleep span;
    struct rt_slot other;
    struct mailbox mailbox;
    bool reads_once;
    bool remakes; /* The reader stores its waker into a new slot in each poll. */
    uint32_t reports;
    struct rt_watchdog_report report;
};

static struct bench bench;

static void
on_report(void *argument, const struct rt_watchdog_report *report)
{
    EXPECT(argument == &bench);
    bench.reports++;
    bench.report = *report;
}

static rt_poll
reader_poll(struct rt_task *task, struct rt_cx *cx)
{
    struct mailbox *mailbox = &bench.mailbox;
    (void)task;
    while (mailbox->letters > 0) {
        mailbox->letters--;
        mailbox->taken++;
        (void)rt_slot_clear(&mailbox->slot);
        if (bench.reads_once) {
            return RT_READY;
        }
    }
    if (bench.remakes) {
        (void)rt_slot_clear(&mailbox->slot);
    }
    rt_slot_replace(&mailbox->slot, cx, "a letter");
    return RT_PENDING;
}

/* After a third of a period, one letter. */
static rt_poll
writer_poll(struct rt_task *task, struct rt_cx *cx)
{
    (void)task;
    RT_AWAIT(rt_sleep_poll(&bench.sleep, cx));
    bench.mailbox.letters++;
    if (!bench.mailbox.forgets) {
        (void)rt_slot_wake(&bench.mailbox.slot);
    }
    return RT_READY;
}

/* The only foreground task: ends the loop. */
static rt_poll
clock_poll(struct rt_task *task, struct rt_cx *cx)
{
    (void)task;
    return rt_sleep_poll(&bench.span, cx);
}

static void
post(struct rt_task *task, rt_poll_fn poll, const char *name, bool background)
{
    rt_task_init(task, poll, NULL, name);
    task->background = background;
    EXPECT_EQ(rt_post(&bench.dumb.runtime.executor, task), RT_OK);
}

static void
begin(void)
{
    memset(&bench, 0, sizeof(bench));
    dumb_init(&bench.dumb);
    rt_slot_init(&bench.mailbox.slot);
    rt_slot_init(&bench.other);
    rt_sleep_init(&bench.sleep, RT_SECOND / 3);
    rt_sleep_init(&bench.span, PERIODS * RT_SECOND + RT_SECOND / 2);
    EXPECT_EQ(rt_watchdog_start(
                      &bench.watchdog, &(struct rt_watchdog_config){.runtime = &bench.dumb.runtime,
                                               .seen = bench.seen,
                                               .report = on_report,
                                               .argument = &bench}),
            RT_OK);
    post(&bench.reader, reader_poll, "reader", true);
    post(&bench.writer, writer_poll, "writer", true);
    post(&bench.clock, clock_poll, "clock", false);
}

static void
run_and_end(void)
{
    EXPECT_EQ(rt_run_to_completion(&bench.dumb.runtime), RT_OK);
    rt_watchdog_stop(&bench.watchdog);
    rt_task_cancel(&bench.reader);
    dumb_fini(&bench.dumb);
}

/* Goal: what a lost wake-up looks like: once, with what it waited for and where. */
TEST(watchdog_reports_a_lost_wake_with_its_ledger)
{
    char text[512];
    begin();
    bench.mailbox.forgets = true;
    run_and_end();
    EXPECT_EQ(bench.reports, 1);
    EXPECT_EQ(bench.mailbox.taken, 1);
    EXPECT_STR(bench.report.task, "reader");
    EXPECT(!bench.report.finished);
    EXPECT(!bench.report.foreign);
    EXPECT_EQ(bench.report.wait_count, 1);
    EXPECT(bench.report.waits[0].slot == &bench.mailbox.slot);
    EXPECT_STR(bench.report.waits[0].reason, "a letter");
    EXPECT_STR(bench.report.waits[0].site->function, "reader_poll");
    rt_watchdog_describe(&bench.report, text, sizeof(text));
    EXPECT(strstr(text, "task 'reader' made progress") != NULL);
    EXPECT(strstr(text, "after 1000 ms without a wake") != NULL);
    EXPECT(strstr(text, "waited for \"a letter\"; waker stored in reader_poll() (") != NULL);
    EXPECT(strstr(text, "watchdog_test.c:") != NULL);
}

TEST(watchdog_reports_a_task_that_finishes)
{
    begin();
    bench.mailbox.forgets = true;
    bench.reads_once = true;
    run_and_end();
    EXPECT_EQ(bench.reports, 1);
    EXPECT(bench.report.finished);
    EXPECT_EQ(bench.reader.end, RT_TASK_DONE);
}

TEST(watchdog_reports_no_correct_task)
{
    begin();
    run_and_end();
    EXPECT_EQ(bench.mailbox.taken, 1);
    EXPECT_EQ(bench.reports, 0);
    EXPECT(bench.watchdog.checked >= PERIODS);
}

/* A task that makes its futures again in each poll looks different after each. */
TEST(watchdog_reports_no_task_that_stores_again_in_each_poll)
{
    begin();
    bench.remakes = true;
    run_and_end();
    EXPECT_EQ(bench.reports, 0);
    EXPECT(bench.watchdog.checked >= PERIODS);
}

/* The clock task sleeps until the middle of a period, and its check finds no time passed. */
TEST(watchdog_checks_tasks_at_the_time_of_the_timers)
{
    begin();
    run_and_end();
    EXPECT_EQ(bench.clock.end, RT_TASK_DONE);
    EXPECT_EQ(bench.reports, 0);
}

#define WAITERS 40u

struct waiter {
    struct rt_task task;
    struct rt_sleep sleep;
};

static rt_poll
waiter_poll(struct rt_task *task, struct rt_cx *cx)
{
    return rt_sleep_poll(&rt_container_of(task, struct waiter, task)->sleep, cx);
}

/* Time that is no multiple of a tick. */
static void
pass_time(struct dumb_host *host)
{
    host->now_ns += 37 * RT_MS;
}

/*
 * Goal: a deadline that has passed by less than a tick belongs to the next tick: it is not due.
 * Method: coarse ticks, and sleeps that end at all times between them.
 */
TEST(watchdog_reports_no_sleep_that_ends_within_a_tick)
{
    static struct waiter waiters[WAITERS];
    memset(&bench, 0, sizeof(bench));
    dumb_init(&bench.dumb);
    rt_runtime_fini(&bench.dumb.runtime);
    struct rt_runtime_config config = dumb_config(&bench.dumb);
    config.timers.tick_ns = 100 * RT_MS;
    rt_runtime_init(&bench.dumb.runtime, &config);
    bench.dumb.host.blocked = pass_time;
    struct rt_watchdog_config watch = {.runtime = &bench.dumb.runtime,
            .idle_ns = 150 * RT_MS,
            .seen = bench.seen,
            .report = on_report,
            .argument = &bench};
    EXPECT_EQ(rt_watchdog_start(&bench.watchdog, &watch), RT_OK);
    for (uint32_t i = 0; i < WAITERS; i++) {
        rt_sleep_init(&waiters[i].sleep, 2 * RT_SECOND + i * 53 * RT_MS);
        post(&waiters[i].task, waiter_poll, "waiter", false);
    }
    EXPECT_EQ(rt_run_to_completion(&bench.dumb.runtime), RT_OK);
    EXPECT_EQ(bench.reports, 0);
    EXPECT(bench.watchdog.checked > WAITERS);
    rt_watchdog_stop(&bench.watchdog);
    dumb_fini(&bench.dumb);
}

/* A pollable that became ready after the last turn belongs to the next one. */
static rt_poll
pollable_poll(struct rt_task *task, struct rt_cx *cx)
{
    struct reader *reader = rt_container_of(task, struct reader, task);
    bench.dumb.host.ready[reader->source] = bench.watchdog.checked > 0;
    return rt_wait_for(&reader->wait, &reader->pollable, cx);
}

TEST(watchdog_sees_no_pollable_that_becomes_ready_during_the_check)
{
    struct reader reader = {.source = 3};
    begin();
    dumb_subscribe(&bench.dumb.host, 3, &reader.pollable);
    rt_wait_init(&reader.wait);
    post(&reader.task, pollable_poll, "pollable", true);
    EXPECT_EQ(rt_run_to_completion(&bench.dumb.runtime), RT_OK);
    EXPECT_EQ(bench.reports, 0);
    EXPECT_EQ(reader.task.end, RT_TASK_DONE);
    rt_pollable_drop(&reader.pollable);
    run_and_end();
}

/* Runs until the watchdog has chosen the reader: its next poll is the check. */
static void
run_until_the_reader_is_chosen(void)
{
    struct rt_runtime *runtime = &bench.dumb.runtime;
    while (bench.watchdog.watched != &bench.reader) {
        if (!rt_run_one(&runtime->executor)) {
            EXPECT_EQ(rt_runtime_turn(runtime, RT_TURN_BLOCK, NULL), RT_OK);
        }
    }
}

/* Goal: a task that is woken after it was chosen and before it is polled has lost nothing: a loop
 * whose quota is used up asks the host in between. */
TEST(watchdog_reports_no_task_that_is_woken_before_its_check)
{
    begin();
    run_until_the_reader_is_chosen();
    bench.mailbox.letters++;
    (void)rt_slot_wake(&bench.mailbox.slot);
    run_and_end();
    EXPECT_EQ(bench.mailbox.taken, 2);
    EXPECT_EQ(bench.reports, 0);
}

static const struct rt_host_ops *ops_of_the_host;

static rt_poll
ops_poll(struct rt_task *task, struct rt_cx *cx)
{
    (void)task;
    EXPECT(bench.dumb.runtime.host->ops == ops_of_the_host);
    rt_slot_replace(&bench.other, cx, "nothing");
    return RT_PENDING;
}

/* Goal: other threads notify through the host's table at any time, so a check leaves it alone. */
TEST(watchdog_leaves_the_host_as_other_threads_see_it)
{
    struct rt_task task;
    begin();
    ops_of_the_host = bench.dumb.runtime.host->ops;
    post(&task, ops_poll, "never", true);
    EXPECT_EQ(rt_run_to_completion(&bench.dumb.runtime), RT_OK);
    EXPECT(bench.watchdog.checked >= PERIODS);
    EXPECT(task.polls > 1);
    rt_task_cancel(&task);
    run_and_end();
}

/* While other threads may wake, a report waits whether one does. */
TEST(watchdog_drops_a_report_when_a_thread_wakes_the_task_late)
{
    begin();
    EXPECT_EQ(rt_runtime_hold(&bench.dumb.runtime), RT_OK);
    bench.mailbox.forgets = true;
    rt_sleep_init(&bench.span, RT_SECOND * 2 + RT_SECOND / 2);
    EXPECT_EQ(rt_run_to_completion(&bench.dumb.runtime), RT_OK);
    EXPECT_EQ(bench.mailbox.taken, 1);
    EXPECT_EQ(bench.reports, 0);
    for (uint32_t i = 0; i < 2; i++) { /* Its wakes: one explains nothing, the second does. */
        rt_task_wake(&bench.reader);
        dumb_run(&bench.dumb);
    }
    rt_runtime_release(&bench.dumb.runtime);
    rt_watchdog_stop(&bench.watchdog);
    EXPECT_EQ(bench.reports, 0);
    rt_task_cancel(&bench.reader);
    dumb_fini(&bench.dumb);
}

TEST(watchdog_reports_after_a_period_what_no_thread_wakes)
{
    begin();
    EXPECT_EQ(rt_runtime_hold(&bench.dumb.runtime), RT_OK);
    bench.mailbox.forgets = true;
    EXPECT_EQ(rt_run_to_completion(&bench.dumb.runtime), RT_OK);
    EXPECT_EQ(bench.reports, 1);
    EXPECT(bench.report.foreign);
    rt_runtime_release(&bench.dumb.runtime);
    rt_watchdog_stop(&bench.watchdog);
    rt_task_cancel(&bench.reader);
    dumb_fini(&bench.dumb);
}
