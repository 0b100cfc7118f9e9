/*
 * watch.c -- what a watchdog costs: the processor's time to check one blocked task.
 *
 * Tasks wait for bytes from pipes in which nothing comes, and the watchdog scans them as often as
 * it can. The time is the process's, with sleeps, turns and all; divided by the tasks checked.
 * 10,000 of them, each checked once a second as by default, are 1 % of a processor where a check
 * takes 1,000 ns.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#define _GNU_SOURCE

#include <stdlib.h>

#include "runtime/host/epoll.h"
#include "runtime/host/machine.h"
#include "runtime/host/watchdog.h"
#include "runtime/io/local.h"
#include "runtime/tests/bench/stopwatch.h"

#define READERS 400u
#define SCANS 20u
#define ROUNDS 31u

struct reader {
    struct rt_task task;
    struct rt_tcp_stream from;
    struct rt_tcp_stream to;
    struct rt_io_wait wait;
    char buffer[64];
};

static struct rt_epoll epoll;
static struct rt_machine machine;
static struct rt_watchdog watchdog;
static struct rt_watchdog_seen seen[READERS + 8];
static struct reader readers[READERS];

static rt_poll
reader_poll(struct rt_task *task, struct rt_cx *cx)
{
    struct reader *reader = rt_container_of(task, struct reader, task);
    struct rt_tcp_moved moved;
    return rt_tcp_read(
            &reader->from, &reader->wait, cx, reader->buffer, sizeof(reader->buffer), &moved);
}

static void
expect(bool condition)
{
    if (!condition) {
        abort();
    }
}

static void
on_report(void *argument, const struct rt_watchdog_report *report)
{
    (void)argument;
    (void)report;
    abort();
}

static double
processor_ns(void)
{
    struct timespec time;
    (void)clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
    return (double)time.tv_sec * 1e9 + (double)time.tv_nsec;
}

static double
round_ns(void *argument)
{
    uint64_t before = watchdog.checked;
    double start_ns = processor_ns();
    (void)argument;
    while (watchdog.checked < before + READERS * SCANS) {
        rt_runtime_poll_woken(&machine.runtime);
        expect(rt_runtime_turn(&machine.runtime, RT_TURN_BLOCK, NULL) == RT_OK);
    }
    return (processor_ns() - start_ns) / (double)(watchdog.checked - before);
}

static void
begin(void)
{
    struct rt_machine_config config = {.host = &epoll.base.host,
            .net = &epoll.base.net,
            .tasks = READERS + 8,
            .sockets = 2 * READERS + 8};
    struct rt_watchdog_config watches = {
            .runtime = &machine.runtime, .idle_ns = RT_MS, .seen = seen, .report = on_report};
    expect(rt_epoll_init(&epoll, NULL) == RT_OK);
    expect(rt_machine_init(&machine, &config) == RT_OK);
    expect(rt_watchdog_start(&watchdog, &watches) == RT_OK);
    for (uint32_t i = 0; i < READERS; i++) {
        struct reader *reader = &readers[i];
        rt_tcp_stream_init(&reader->from);
        rt_tcp_stream_init(&reader->to);
        rt_io_wait_init(&reader->wait);
        expect(rt_pipe_open(&machine.runtime.io, &reader->from, &reader->to) == RT_OK);
        rt_task_init(&reader->task, reader_poll, NULL, "reader");
        expect(rt_post(&machine.runtime.executor, &reader->task) == RT_OK);
    }
}

int
main(void)
{
    begin();
    struct stopwatch_figure figure = stopwatch_measure_few(round_ns, NULL, ROUNDS);
    stopwatch_head("watchdog: 400 blocked tasks, scanned without a pause; ns of the processor");
    stopwatch_say("check of a task (1,000: 1 % for 10,000 tasks a second)", figure, 1000);
    return 0;
}
