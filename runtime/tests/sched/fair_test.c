/*
 * fair_test.c -- fair shares: what is promised, and an array that does the same sums.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "runtime/sched/fair.h"

#include "runtime/tests/bed.h"

#define IDS 12

struct shared {
    struct rt_sched_fair fair;
    struct rt_sched_heap_entry entries[IDS];
    struct rt_sched_share shares[IDS];
};

static struct rt_sched *
shared_init(struct shared *shared)
{
    memset(shared, 0xa5, sizeof(*shared));
    rt_sched_fair_init(&shared->fair, shared->entries, shared->shares, IDS);
    return &shared->fair.sched;
}

static void
start(struct rt_sched *sched, uint32_t id, uint64_t weight)
{
    sched->ops->admit(sched, id, weight);
    sched->ops->push(sched, id);
}

/* Pops `times` times, and pushes each again: tasks that never rest. Counts them by number. */
static void
go_round(struct rt_sched *sched, uint32_t times, uint32_t *counts)
{
    for (uint32_t i = 0; i < times; i++) {
        uint32_t id = sched->ops->pop(sched);
        EXPECT(id < IDS);
        counts[id]++;
        sched->ops->push(sched, id);
    }
}

/* Holds D1. Of 700 polls, weights 1, 2 and 4 get 100, 200 and 400, to within one. */
TEST(fair_shares_are_by_weight)
{
    struct shared shared;
    struct rt_sched *sched = shared_init(&shared);
    uint32_t counts[IDS] = {0};
    start(sched, 0, 1);
    start(sched, 1, 2);
    start(sched, 2, 4);
    go_round(sched, 700, counts);
    EXPECT(counts[0] >= 99 && counts[0] <= 101);
    EXPECT(counts[1] >= 199 && counts[1] <= 201);
    EXPECT(counts[2] >= 399 && counts[2] <= 401);
}

/* Holds D1. A task that has slept for long gets its share from now on, and nothing for the past. */
TEST(fair_waiter_has_saved_up_nothing)
{
    struct shared shared;
    struct rt_sched *sched = shared_init(&shared);
    uint32_t counts[IDS] = {0};
    start(sched, 0, 1);
    start(sched, 1, 1);
    EXPECT_EQ(sched->ops->pop(sched), 0);
    go_round(sched, 1000, counts);
    EXPECT_EQ(counts[1], 1000);
    sched->ops->push(sched, 0);
    memset(counts, 0, sizeof(counts));
    go_round(sched, 10, counts);
    EXPECT_EQ(counts[0], 5);
    EXPECT_EQ(counts[1], 5);
}

/* No task starves, whatever the weights: the lightest waits for 1 + w polls of the heaviest. */
TEST(fair_lightest_comes_round)
{
    struct shared shared;
    struct rt_sched *sched = shared_init(&shared);
    uint32_t counts[IDS] = {0};
    start(sched, 0, 100);
    start(sched, 1, 0);
    go_round(sched, 102, counts);
    EXPECT(counts[1] >= 1);
    go_round(sched, 10100, counts);
    EXPECT(counts[1] >= 100 && counts[1] <= 102);
}

/* Weights are 1 at least and a quantum at most. */
TEST(fair_weight_beyond_the_ends_is_the_end)
{
    struct shared shared;
    struct rt_sched *sched = shared_init(&shared);
    sched->ops->admit(sched, 0, 0);
    EXPECT_EQ(shared.shares[0].step, RT_SCHED_QUANTUM);
    sched->ops->admit(sched, 0, RT_SCHED_QUANTUM);
    EXPECT_EQ(shared.shares[0].step, 1);
    sched->ops->rank(sched, 0, UINT64_MAX);
    EXPECT_EQ(shared.shares[0].step, 1);
}

/* Goal: a task has no debt of another that had the same number; a changed weight does not
 * cancel a debt. */
TEST(fair_new_task_inherits_no_debt)
{
    struct shared shared;
    struct rt_sched *sched = shared_init(&shared);
    start(sched, 0, 1);
    start(sched, 1, 1000);
    EXPECT_EQ(sched->ops->pop(sched), 0);
    sched->ops->rank(sched, 0, 1000);
    sched->ops->push(sched, 0);
    EXPECT_EQ(sched->ops->pop(sched), 1);
    sched->ops->push(sched, 1);
    EXPECT_EQ(sched->ops->pop(sched), 1);
    sched->ops->remove(sched, 0);
    sched->ops->admit(sched, 0, 1);
    sched->ops->push(sched, 0);
    sched->ops->push(sched, 1);
    EXPECT_EQ(sched->ops->pop(sched), 0);
}

/* ---- The model: an array, whose virtual time is never reduced. ------------------------------- */

struct model {
    struct {
        bool in;
        uint64_t start;
        uint64_t finish;
        uint64_t ticket;
        uint64_t weight;
    } ids[IDS];
    uint64_t now;
    uint64_t tickets;
};

static void
model_push(struct model *model, uint32_t id)
{
    bool late = model->ids[id].finish > model->now;
    model->ids[id].in = true;
    model->ids[id].start = late ? model->ids[id].finish : model->now;
    model->ids[id].finish = model->ids[id].start + RT_SCHED_QUANTUM / model->ids[id].weight;
    model->ids[id].ticket = model->tickets++;
}

static bool
sooner(const struct model *model, uint32_t a, uint32_t b)
{
    if (model->ids[a].start != model->ids[b].start) {
        return model->ids[a].start < model->ids[b].start;
    }
    return model->ids[a].ticket < model->ids[b].ticket;
}

static uint32_t
model_pop(struct model *model)
{
    uint32_t best = RT_SCHED_NONE;
    for (uint32_t id = 0; id < IDS; id++) {
        if (model->ids[id].in && (best == RT_SCHED_NONE || sooner(model, id, best))) {
            best = id;
        }
    }
    if (best != RT_SCHED_NONE) {
        model->ids[best].in = false;
        model->now = model->ids[best].start;
    }
    return best;
}

static void
agree(struct shared *shared, struct model *model, uint64_t random)
{
    struct rt_sched *sched = &shared->fair.sched;
    for (uint32_t id = 0; id < IDS; id++) {
        model->ids[id].weight = 1 + bed_below(&random, 9);
        sched->ops->admit(sched, id, model->ids[id].weight);
    }
    for (int step = 0; step < 50000; step++) {
        uint32_t id = bed_below(&random, IDS);
        switch (bed_below(&random, 5)) {
        case 0:
        case 1:
            if (!model->ids[id].in) {
                sched->ops->push(sched, id);
                model_push(model, id);
            }
            break;
        case 2:
            sched->ops->remove(sched, id);
            model->ids[id].in = false;
            break;
        default:
            EXPECT_EQ(sched->ops->pop(sched), model_pop(model));
            break;
        }
    }
}

/* Holds D1, T16. Method: 50,000 random pushes, pops and removals; once more from a virtual time
 * just before the end, so that it begins again on the way. */
TEST(fair_agrees_with_an_array)
{
    struct shared shared;
    struct model model = {.now = 0};
    (void)shared_init(&shared);
    agree(&shared, &model, 1);
    const uint64_t late = (UINT64_C(1) << 62) - 100 * RT_SCHED_QUANTUM;
    model = (struct model){.now = late};
    (void)shared_init(&shared);
    shared.fair.virtual_time = late;
    agree(&shared, &model, 2);
    EXPECT(shared.fair.virtual_time < UINT64_C(1) << 61);
}
