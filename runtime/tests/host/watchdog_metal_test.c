/*
 * watchdog_metal_test.c -- the watchdog on this machine: over epoll, with a connection, and with a
 * program that loses a wake-up.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "runtime/host/watchdog.h"
#include "runtime/tests/host/metal.h"
#include "runtime/tests/host/worker.h"

#define IDLE_NS (3 * RT_MS)

struct bench {
    struct metal metal;
    struct rt_watchdog watchdog;
    struct rt_watchdog_seen seen[RT_MACHINE_TASKS];
    struct rt_task consumer;
    struct rt_task producer;
    struct rt_slot slot;
    struct rt_sleep sleep;
    bool forgets; /* The producer wakes no task. */
    bool produced;
    uint32_t reports;
};

static struct bench bench;

static void
on_report(void *argument, const struct rt_watchdog_report *report)
{
    (void)argument;
    bench.reports++;
    EXPECT_STR(report->task, "consumer");
    EXPECT_STR(report->waits[0].reason, "what is produced");
}

static rt_poll
consumer_poll(struct rt_task *task, struct rt_cx *cx)
{
    (void)task;
    if (bench.produced) {
        return RT_READY;
    }
    rt_slot_replace(&bench.slot, cx, "what is produced");
    return RT_PENDING;
}

static rt_poll
producer_poll(struct rt_task *task, struct rt_cx *cx)
{
    (void)task;
    RT_AWAIT(rt_sleep_poll(&bench.sleep, cx));
    bench.produced = true;
    if (!bench.forgets) {
        (void)rt_slot_wake(&bench.slot);
    }
    return RT_READY;
}

static void
start(bool forgets)
{
    struct rt_watchdog_config config = {.runtime = &bench.metal.machine.runtime,
            .idle_ns = IDLE_NS,
            .seen = bench.seen,
            .report = on_report};
    memset(&bench, 0, sizeof(bench));
    metal_init(&bench.metal);
    bench.forgets = forgets;
    rt_slot_init(&bench.slot);
    rt_sleep_init(&bench.sleep, 3 * IDLE_NS);
    rt_task_init(&bench.consumer, consumer_poll, NULL, "consumer");
    rt_task_init(&bench.producer, producer_poll, NULL, "producer");
    config.runtime = &bench.metal.machine.runtime;
    EXPECT_EQ(rt_watchdog_start(&bench.watchdog, &config), RT_OK);
    EXPECT_EQ(rt_post(metal_executor(&bench.metal), &bench.consumer), RT_OK);
    EXPECT_EQ(rt_post(metal_executor(&bench.metal), &bench.producer), RT_OK);
}

/* Without the watchdog this program would never end. */
TEST(watchdog_of_a_real_host_reports_a_lost_wake)
{
    start(true);
    EXPECT_EQ(rt_run_to_completion(&bench.metal.machine.runtime), RT_OK);
    EXPECT_EQ(bench.reports, 1);
    rt_watchdog_stop(&bench.watchdog);
    metal_fini(&bench.metal);
}

/* A reader whose bytes come after several periods, and a consumer that is woken: none is reported,
 * though both were checked. */
TEST(watchdog_of_a_real_host_reports_no_correct_task)
{
    struct rt_tcp_stream client;
    struct rt_tcp_stream server;
    struct worker reads;
    struct worker writes;
    start(false);
    metal_connect(&bench.metal, &client, &server);
    worker_start(&reads, &bench.metal, "reads", NULL, &server, "rr");
    worker_start(&writes, &bench.metal, "writes", NULL, &client, "ppppppwppppppw");
    workers_run(&bench.metal);
    EXPECT_EQ(reads.errs[1], RT_OK);
    EXPECT_EQ(bench.reports, 0);
    EXPECT(bench.watchdog.checked > 0);
    rt_watchdog_stop(&bench.watchdog);
    rt_tcp_close(&client);
    rt_tcp_close(&server);
    metal_fini(&bench.metal);
}
