/*
 * batch_test.c -- the run order in batches.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "runtime/tick/batch.h"

#include "runtime/tests/bed.h"

#define IDS 12u

struct order {
    struct rt_sched_batch batch;
    struct rt_sched_link links[IDS];
};

static void
push_all(struct order *order, const uint32_t *ids, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        order->batch.sched.ops->push(&order->batch.sched, ids[i]);
    }
}

static uint32_t
pop(struct order *order)
{
    return order->batch.sched.ops->pop(&order->batch.sched);
}

/* Holds G1, G2. */
TEST(batch_polls_only_tasks_queued_when_it_began)
{
    static const uint32_t first[] = {3, 1, 2};
    static const uint32_t late[] = {5, 4};
    struct order order;
    rt_sched_batch_init(&order.batch, order.links, IDS);
    push_all(&order, first, 3);
    EXPECT_EQ(pop(&order), RT_SCHED_NONE);
    rt_sched_batch_begin(&order.batch);
    EXPECT_EQ(pop(&order), 3);
    push_all(&order, late, 2);
    EXPECT_EQ(pop(&order), 1);
    EXPECT_EQ(pop(&order), 2);
    EXPECT(rt_sched_batch_done(&order.batch));
    EXPECT_EQ(pop(&order), RT_SCHED_NONE);
    rt_sched_batch_begin(&order.batch);
    EXPECT_EQ(pop(&order), 5);
    EXPECT_EQ(pop(&order), 4);
    EXPECT_EQ(pop(&order), RT_SCHED_NONE);
    rt_sched_batch_begin(&order.batch);
    EXPECT(rt_sched_batch_done(&order.batch));
}

/* Holds G1: the last of the batch leaves, and the new one after it does not join the batch. */
TEST(batch_whose_last_is_removed_ends_before_it)
{
    static const uint32_t first[] = {3, 1};
    static const uint32_t late[] = {5};
    struct order order;
    rt_sched_batch_init(&order.batch, order.links, IDS);
    push_all(&order, first, 2);
    rt_sched_batch_begin(&order.batch);
    push_all(&order, late, 1);
    order.batch.sched.ops->remove(&order.batch.sched, 1);
    order.batch.sched.ops->remove(&order.batch.sched, 1);
    EXPECT_EQ(pop(&order), 3);
    EXPECT_EQ(pop(&order), RT_SCHED_NONE);
    rt_sched_batch_begin(&order.batch);
    order.batch.sched.ops->remove(&order.batch.sched, 5);
    EXPECT(rt_sched_batch_done(&order.batch));
}

/* The model: all in order, and how many of them are of this batch. */
struct model {
    uint32_t ids[IDS];
    uint32_t count;
    uint32_t batch;
};

static void
model_remove(struct model *model, uint32_t id)
{
    for (uint32_t i = 0; i < model->count; i++) {
        if (model->ids[i] == id) {
            memmove(model->ids + i, model->ids + i + 1,
                    (model->count - i - 1) * sizeof(*model->ids));
            model->count--;
            model->batch -= i < model->batch ? 1 : 0;
            return;
        }
    }
}

static bool
model_has(const struct model *model, uint32_t id)
{
    for (uint32_t i = 0; i < model->count; i++) {
        if (model->ids[i] == id) {
            return true;
        }
    }
    return false;
}

/* Holds G1, G2. Long random histories against an array. */
TEST(batch_does_what_an_array_does)
{
    uint64_t seed = 3;
    struct order order;
    struct model model = {.count = 0};
    rt_sched_batch_init(&order.batch, order.links, IDS);
    for (uint32_t step = 0; step < 20000; step++) {
        uint32_t id = bed_below(&seed, IDS);
        uint32_t what = bed_below(&seed, 8);
        if (what < 4 && !model_has(&model, id)) {
            push_all(&order, &id, 1);
            model.ids[model.count++] = id;
        } else if (what == 4) {
            order.batch.sched.ops->remove(&order.batch.sched, id);
            model_remove(&model, id);
        } else if (what == 5 && rt_sched_batch_done(&order.batch)) {
            rt_sched_batch_begin(&order.batch);
            model.batch = model.count;
        } else {
            uint32_t expected = model.batch > 0 ? model.ids[0] : RT_SCHED_NONE;
            EXPECT_EQ(pop(&order), expected);
            model_remove(&model, expected);
        }
        EXPECT_EQ(rt_sched_batch_done(&order.batch), model.batch == 0);
    }
}
