/*
 * budget_test.c -- the units of a poll: taken, given back, and what happens at none.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "runtime/task/budget.h"

#include "runtime/tests/io/dumb_host.h"

#define UNITS 3u
#define LINE 4u

struct purse {
    struct dumb_runtime dumb;
    struct rt_waker line[LINE];
};

/* Takes what is always there, `items` times; polls `empty` sources before each. */
struct eater {
    struct rt_task task;
    struct purse *purse;
    uint32_t items;
    uint32_t empty;
    bool keeps; /* What it took for an empty source: the bug of tokio#2549. */
    uint32_t polls;
    uint32_t left; /* At the end of the last poll. */
};

static void
purse_init(struct purse *purse, uint32_t budget)
{
    dumb_init(&purse->dumb);
    struct rt_runtime_config config = dumb_config(&purse->dumb);
    config.executor.budget = budget;
    config.deferred = purse->line;
    config.deferred_capacity = LINE;
    rt_runtime_init(&purse->dumb.runtime, &config);
}

static rt_poll
eater_poll(struct rt_task *task, struct rt_cx *cx)
{
    struct eater *eater = rt_container_of(task, struct eater, task);
    eater->polls++;
    dumb_log(&eater->purse->dumb, task->name);
    while (eater->items > 0) {
        for (uint32_t i = 0; i < eater->empty; i++) {
            RT_AWAIT(rt_budget_take(cx));
            if (!eater->keeps) {
                rt_budget_restore(cx);
            }
        }
        RT_AWAIT(rt_budget_take(cx));
        eater->items--;
        eater->left = rt_budget_left(cx);
    }
    return RT_READY;
}

static void
eater_start(struct eater *eater, struct purse *purse, const char *name, uint32_t items)
{
    *eater = (struct eater){.purse = purse, .items = items};
    rt_task_init(&eater->task, eater_poll, NULL, name);
    EXPECT_EQ(rt_post(&purse->dumb.runtime.executor, &eater->task), RT_OK);
}

/* Holds D12. Goal: at zero an operation answers PENDING, its waker waits for a turn, and the next
 * poll has a full budget. */
TEST(budget_used_up_makes_way_and_is_full_in_the_next_poll)
{
    struct purse purse;
    struct eater a;
    struct eater b;
    purse_init(&purse, UNITS);
    eater_start(&a, &purse, "a", 7);
    eater_start(&b, &purse, "b", 2);
    EXPECT_EQ(rt_run_to_completion(&purse.dumb.runtime), RT_OK);
    EXPECT_STR(purse.dumb.log, "a b a a");
    EXPECT_EQ(a.left, 2);
    EXPECT_EQ(purse.dumb.runtime.turns, 2);
    dumb_fini(&purse.dumb);
}

/* Holds D12. The budget is a poll's, not a task's or a round's: each begins with all of it. */
TEST(budget_is_separate_for_each_poll)
{
    struct purse purse;
    struct eater eaters[4];
    purse_init(&purse, UNITS);
    for (int i = 0; i < 4; i++) {
        eater_start(&eaters[i], &purse, "e", UNITS);
    }
    EXPECT_EQ(rt_run_to_completion(&purse.dumb.runtime), RT_OK);
    for (int i = 0; i < 4; i++) {
        EXPECT_EQ(eaters[i].polls, 1);
    }
    dumb_fini(&purse.dumb);
}

/* Holds D12. No progress costs nothing: ten empty sources and then the full one, with three
 * units. The eater that keeps them never reaches it. */
TEST(budget_is_given_back_where_nothing_was_got)
{
    struct purse purse;
    struct eater a;
    struct eater keeper;
    purse_init(&purse, UNITS);
    eater_start(&a, &purse, "a", 1);
    a.empty = 10;
    dumb_run(&purse.dumb);
    EXPECT_EQ(a.task.end, RT_TASK_DONE);
    EXPECT_EQ(a.left, UNITS - 1);
    eater_start(&keeper, &purse, "k", 1);
    keeper.empty = 10;
    keeper.keeps = true;
    for (int i = 0; i < 20; i++) {
        dumb_run(&purse.dumb);
        EXPECT_EQ(rt_runtime_turn(&purse.dumb.runtime, RT_TURN_POLL, NULL), RT_OK);
    }
    EXPECT(rt_task_posted(&keeper.task));
    rt_task_cancel(&keeper.task);
    dumb_fini(&purse.dumb);
}

/* Without a budget nothing is counted, and giving back is no gain. */
TEST(budget_that_is_not_wanted_counts_nothing)
{
    struct purse purse;
    struct eater a;
    purse_init(&purse, 0);
    eater_start(&a, &purse, "a", 1000);
    a.empty = 3;
    EXPECT_EQ(rt_run_to_completion(&purse.dumb.runtime), RT_OK);
    EXPECT_EQ(a.polls, 1);
    EXPECT(a.left == RT_BUDGET_UNCONSTRAINED);
    dumb_fini(&purse.dumb);
}

/* Checks a deadline after everything was eaten, and whether units are left then. */
static rt_poll
late_poll(struct rt_task *task, struct rt_cx *cx)
{
    (void)task;
    for (uint32_t i = 0; i < UNITS; i++) {
        EXPECT_EQ(rt_budget_take(cx), RT_READY);
    }
    uint32_t outer = rt_budget_suspend(cx);
    EXPECT_EQ(outer, 0);
    for (uint32_t i = 0; i < 2 * UNITS; i++) {
        EXPECT_EQ(rt_budget_take(cx), RT_READY);
    }
    rt_budget_restore(cx);
    uint32_t inner = rt_budget_suspend(cx);
    rt_budget_resume(cx, inner);
    EXPECT_EQ(rt_budget_take(cx), RT_READY);
    rt_budget_resume(cx, outer);
    EXPECT_EQ(rt_budget_left(cx), 0);
    EXPECT_EQ(rt_budget_take(cx), RT_PENDING);
    return RT_READY;
}

/* Holds D12: what is done in an unconstrained scope is neither counted nor refused. */
TEST(budget_suspended_counts_nothing_until_it_is_resumed)
{
    struct purse purse;
    struct rt_task task;
    purse_init(&purse, UNITS);
    rt_task_init(&task, late_poll, NULL, "late");
    EXPECT_EQ(rt_post(&purse.dumb.runtime.executor, &task), RT_OK);
    EXPECT_EQ(rt_run_to_completion(&purse.dumb.runtime), RT_OK);
    dumb_fini(&purse.dumb);
}

/* More given back than was taken is a mistake of the primitive. */
static rt_poll
generous_poll(struct rt_task *task, struct rt_cx *cx)
{
    (void)task;
    EXPECT_PANIC(rt_budget_restore(cx));
    return RT_READY;
}

TEST(budget_restored_without_having_been_taken_panics)
{
    struct purse purse;
    struct rt_task task;
    purse_init(&purse, UNITS);
    rt_task_init(&task, generous_poll, NULL, "generous");
    EXPECT_EQ(rt_post(&purse.dumb.runtime.executor, &task), RT_OK);
    EXPECT_EQ(rt_run_to_completion(&purse.dumb.runtime), RT_OK);
    dumb_fini(&purse.dumb);
}

/* A future that takes units as long as there are any, and never ends. */
struct glutton {
    struct rt_future future;
    uint32_t units;
};

static rt_poll
glutton_poll(struct rt_future *future, struct rt_cx *cx)
{
    struct glutton *glutton = rt_container_of(future, struct glutton, future);
    for (;;) {
        RT_AWAIT(rt_budget_take(cx));
        glutton->units++;
    }
}

struct guarded {
    struct rt_task task;
    struct glutton glutton;
    struct rt_timeout timeout;
    struct rt_sleep sleep; /* Of a poll that is counted. */
    bool late;
};

static rt_poll
guarded_poll(struct rt_task *task, struct rt_cx *cx)
{
    struct guarded *guarded = rt_container_of(task, struct guarded, task);
    if (!guarded->late) {
        RT_AWAIT(rt_timeout_poll(&guarded->timeout, cx));
        guarded->late = true;
        EXPECT_EQ(rt_budget_left(cx), 0);
    }
    RT_AWAIT(rt_sleep_poll(&guarded->sleep, cx));
    return RT_READY;
}

/*
 * Holds D12. Goal: a timeout whose inner future uses up every budget still comes (tokio#4314), and
 * a sleep that is no deadline of that kind waits for the next poll's budget.
 */
TEST(budget_used_up_inside_a_timeout_does_not_keep_it_from_its_deadline)
{
    struct purse purse;
    struct guarded guarded = {.late = false};
    purse_init(&purse, UNITS);
    rt_future_init(&guarded.glutton.future, glutton_poll, NULL, "glutton");
    rt_timeout_init(&guarded.timeout, &guarded.glutton.future, 100);
    rt_sleep_init(&guarded.sleep, 0);
    rt_task_init(&guarded.task, guarded_poll, NULL, "guarded");
    EXPECT_EQ(rt_post(&purse.dumb.runtime.executor, &guarded.task), RT_OK);
    dumb_run(&purse.dumb);
    purse.dumb.host.now_ns = 100;
    EXPECT_EQ(rt_runtime_turn(&purse.dumb.runtime, RT_TURN_POLL, NULL), RT_OK);
    dumb_run(&purse.dumb);
    EXPECT(guarded.timeout.expired);
    EXPECT(guarded.late);
    EXPECT(rt_task_posted(&guarded.task));
    EXPECT_EQ(guarded.glutton.units, 2 * UNITS);
    EXPECT_EQ(rt_run_to_completion(&purse.dumb.runtime), RT_OK);
    dumb_fini(&purse.dumb);
}
