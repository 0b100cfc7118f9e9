/* Cause: wake(), line 55: a wake of a task that is just being polled is dropped, as if the poll that runs were sure to see its reason; a reading that comes after the poll's last look leaves the task idle; repair: the task is marked, and queued again when the poll has returned. */
/*
 * s16_exec.c -- an executor of our own, which polls averaging filters of two sensors.
 *
 * The executor has one thread; readings come from another.
 */
#include <sim/rewake.h>

#define FILTERS 2u
#define READINGS 4u

enum state { IDLE, QUEUED, RUNNING, RUNNING_AGAIN };

struct executor {
    struct sim_world *world;
    struct sim_loop *loop;
    struct filter *queue[16];
    unsigned head;
    unsigned tail;
    unsigned alive;
    bool sleeps;
    bool fixed;
};

struct filter {
    struct executor *executor;
    enum state state;
    unsigned arrived; /* Readings so far … */
    unsigned taken;   /* … and how many were taken into account. */
    unsigned sum;
    unsigned inbox[READINGS];
};

static void
enqueue(struct executor *executor, struct filter *filter)
{
    filter->state = QUEUED;
    executor->queue[executor->tail++ % 16] = filter;
    if (executor->sleeps) {
        executor->sleeps = false;
        sim_loop_wake(executor->loop);
    }
}

/* Any thread: there is something to do for `filter`. */
static void
wake(struct filter *filter)
{
    sim_foreign_fire(filter);
    switch (filter->state) {
    case IDLE:
        enqueue(filter->executor, filter);
        break;
    case RUNNING:
        filter->state = filter->executor->fixed ? RUNNING_AGAIN : RUNNING;
        break;
    case QUEUED:
    case RUNNING_AGAIN:
        break;
    }
}

/* True when the filter has all its readings. */
static bool
filter_poll(struct filter *filter)
{
    struct sim_world *world = filter->executor->world;
    sim_foreign_store(filter, filter, "a reading");
    while (filter->taken < filter->arrived) {
        filter->sum += filter->inbox[filter->taken++];
        sim_work(world, 200);
        sim_loop_pause(world); /* Others run meanwhile: this takes its time. */
    }
    return filter->taken == READINGS;
}

static void
run(struct executor *executor, struct filter *filter)
{
    filter->state = RUNNING;
    sim_foreign_poll(filter);
    bool finished = filter_poll(filter);
    sim_loop_pause(executor->world);
    bool again = filter->state == RUNNING_AGAIN;
    filter->state = IDLE;
    if (finished) {
        executor->alive--;
    } else if (again) {
        enqueue(executor, filter);
    }
    sim_foreign_polled(filter, finished);
}

/* For the judge: polls it once more. */
static void
again(void *runtime, void *task)
{
    struct filter *filter = task;
    (void)runtime;
    sim_foreign_poll(filter);
    bool finished = filter_poll(filter);
    filter->executor->alive -= finished;
    sim_foreign_polled(filter, finished);
}

static void
executor_main(struct sim_world *world, void *argument)
{
    struct executor *executor = argument;
    while (executor->alive > 0) {
        if (executor->head == executor->tail) {
            executor->sleeps = true;
            sim_loop_block(world, 0, "woken filters", RT_HERE);
            executor->sleeps = false;
            continue;
        }
        run(executor, executor->queue[executor->head++ % 16]);
    }
}

static void
sensor_main(struct sim_world *world, void *argument)
{
    struct filter *filter = argument;
    for (unsigned i = 0; i < READINGS; i++) {
        sim_sleep(world, sim_range(world, 1 * RT_US, 50 * RT_US));
        filter->inbox[filter->arrived] = 20 + i;
        filter->arrived++;
        wake(filter);
    }
}

static void
set_up(struct sim_world *world, bool fixed)
{
    static const char *const names[FILTERS] = {"temperature", "pressure"};
    static const char *const sensors[FILTERS] = {"thermometer", "barometer"};
    struct executor *executor = sim_new(world, struct executor);
    executor->world = world;
    executor->fixed = fixed;
    executor->loop = sim_loop_new(world, "executor", executor_main, executor);
    struct sim_foreign *foreign = sim_foreign_new(executor->loop, again, executor);
    for (unsigned i = 0; i < FILTERS; i++) {
        struct filter *filter = sim_new(world, struct filter);
        filter->executor = executor;
        executor->alive++;
        sim_foreign_spawn(foreign, filter, names[i]);
        enqueue(executor, filter);
        sim_loop_new(world, sensors[i], sensor_main, filter);
    }
}

static void
set_up_broken(struct sim_world *world)
{
    set_up(world, false);
}

static void
set_up_fixed(struct sim_world *world)
{
    set_up(world, true);
}

SIM_SCENARIO(broken, .name = "s16/exec/broken", .about = "Filters on an executor of our own.",
        .setup = set_up_broken, .expect = SIM_VERDICT_LOST_WAKEUP);
SIM_SCENARIO(fixed, .name = "s16/exec/fixed", .about = "Filters on an executor of our own.",
        .setup = set_up_fixed);

/* SPDX-License-Identifier: Apache-2.0 */
