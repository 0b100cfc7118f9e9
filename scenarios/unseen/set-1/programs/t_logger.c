/*
 * t_logger.c -- A background logger task: requests append lines and wake it; it writes at most
 * when two lines are there, or on a flush.
 *
 * Cause: The request that appends the second line wakes the logger only if the buffer was empty
 * before, so a buffer that reaches two lines wakes no one.
 * Where: log_line
 * Kind: wake-up condition by a transition
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "sim/rewake.h"

#define REQUESTS 4

static bool fixed;

struct logger {
    struct rt_task task;
    struct rt_slot lines;
    uint32_t buffered;
    uint32_t written;
};

struct request {
    struct rt_task task;
    struct logger *logger;
    struct rt_sleep work;
    uint64_t takes;
    uint32_t at;
};

static void
log_line(struct logger *logger)
{
    logger->buffered++;
    if (fixed ? logger->buffered >= 2 : logger->buffered == 1) { /* Where. */
        rt_slot_wake(&logger->lines);
    }
}

static rt_poll
logger_poll(struct rt_task *task, struct rt_cx *cx)
{
    struct logger *logger = rt_container_of(task, struct logger, task);
    while (logger->buffered >= 2) {
        logger->buffered -= 2;
        logger->written += 2;
    }
    rt_slot_replace(&logger->lines, cx, "two lines");
    return RT_PENDING;
}

static rt_poll
request_poll(struct rt_task *task, struct rt_cx *cx)
{
    struct request *request = rt_container_of(task, struct request, task);
    RT_BEGIN(request->at);
    rt_sleep_init(&request->work, request->takes);
    RT_AWAIT_HERE(request->at, rt_sleep_poll(&request->work, cx));
    log_line(request->logger);
    RT_END(request->at);
}

static void
setup(struct sim_world *world)
{
    static const char *const names[REQUESTS] = {"GET /1", "GET /2", "GET /3", "GET /4"};
    struct sim_rt *rt = sim_rt_new(world, NULL);
    struct logger *logger = sim_new(world, struct logger);
    rt_slot_init(&logger->lines);
    rt_task_init(&logger->task, logger_poll, NULL, "logger");
    sim_spawn_background(rt, &logger->task);
    for (int i = 0; i < REQUESTS; i++) {
        struct request *request = sim_new(world, struct request);
        request->logger = logger;
        request->takes = sim_range(world, RT_MS, 5 * RT_MS);
        rt_task_init(&request->task, request_poll, NULL, names[i]);
        sim_spawn(rt, &request->task);
    }
}

static void
setup_broken(struct sim_world *world)
{
    fixed = false;
    setup(world);
}

static void
setup_fixed(struct sim_world *world)
{
    fixed = true;
    setup(world);
}

SIM_SCENARIO(form_broken, .name = "unseen/t-logger/broken",
        .about = "A background logger that writes two lines at a time.", .setup = setup_broken,
        .expect = SIM_VERDICT_LOST_WAKEUP);
SIM_SCENARIO(form_fixed, .name = "unseen/t-logger/fixed",
        .about = "A background logger that writes two lines at a time.", .setup = setup_fixed);
