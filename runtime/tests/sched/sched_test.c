/*
 * sched_test.c -- run orders, by examples and each against the dumbest thing that could be right.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "runtime/task/sched.h"
#include "runtime/tests/bed.h"

#define IDS 8

static void
push(struct rt_sched *sched, uint32_t id)
{
    sched->ops->push(sched, id);
}

static uint32_t
pop(struct rt_sched *sched)
{
    return sched->ops->pop(sched);
}

/* Holds D1. */
TEST(sched_fifo_gives_back_in_the_order_of_pushes)
{
    struct rt_sched_link links[IDS];
    struct rt_sched_fifo fifo;
    rt_sched_fifo_init(&fifo, links, IDS);
    EXPECT(pop(&fifo.sched) == RT_SCHED_NONE);
    push(&fifo.sched, 3);
    push(&fifo.sched, 0);
    push(&fifo.sched, 7);
    fifo.sched.ops->remove(&fifo.sched, 0);
    fifo.sched.ops->remove(&fifo.sched, 0);
    fifo.sched.ops->remove(&fifo.sched, 5);
    EXPECT_EQ(pop(&fifo.sched), 3);
    push(&fifo.sched, 0);
    EXPECT_EQ(pop(&fifo.sched), 7);
    EXPECT_EQ(pop(&fifo.sched), 0);
    EXPECT(pop(&fifo.sched) == RT_SCHED_NONE);
}

/* Holds D1, T4. */
TEST(sched_that_is_given_a_number_twice_panics)
{
    struct rt_sched_link links[IDS];
    struct rt_sched_fifo fifo;
    rt_sched_fifo_init(&fifo, links, IDS);
    push(&fifo.sched, 3);
    EXPECT_PANIC(push(&fifo.sched, 3));
    struct rt_sched_lifo_slot lifo;
    rt_sched_lifo_slot_init(&lifo, links, IDS);
    push(&lifo.sched, 3);
    EXPECT_PANIC(push(&lifo.sched, 3));
    push(&lifo.sched, 4);
    EXPECT_PANIC(push(&lifo.sched, 3));
}

/* Holds D1. */
TEST(sched_lifo_slot_gives_the_last_first_and_the_others_in_order)
{
    struct rt_sched_link links[IDS];
    struct rt_sched_lifo_slot lifo;
    rt_sched_lifo_slot_init(&lifo, links, IDS);
    EXPECT(pop(&lifo.sched) == RT_SCHED_NONE);
    for (uint32_t id = 0; id < 4; id++) {
        push(&lifo.sched, id);
    }
    EXPECT_EQ(pop(&lifo.sched), 3);
    EXPECT_EQ(pop(&lifo.sched), 0);
    EXPECT_EQ(pop(&lifo.sched), 1);
    EXPECT_EQ(pop(&lifo.sched), 2);
    EXPECT(pop(&lifo.sched) == RT_SCHED_NONE);
}

/* Holds D1. Two tasks that wake each other, and a third that waits after them. */
TEST(sched_lifo_slot_is_used_three_times_in_a_row_at_most)
{
    struct rt_sched_link links[IDS];
    struct rt_sched_lifo_slot lifo;
    rt_sched_lifo_slot_init(&lifo, links, IDS);
    push(&lifo.sched, 5);
    push(&lifo.sched, 0);
    EXPECT_EQ(pop(&lifo.sched), 0);
    push(&lifo.sched, 1);
    EXPECT_EQ(pop(&lifo.sched), 1);
    push(&lifo.sched, 0);
    EXPECT_EQ(pop(&lifo.sched), 0);
    push(&lifo.sched, 1);
    EXPECT_EQ(pop(&lifo.sched), 5);
    EXPECT_EQ(pop(&lifo.sched), 1);
}

/* Holds D1. With an empty queue, the slot may be used forever; a new task is next. */
TEST(sched_lifo_slot_used_alone_does_not_starve_a_new_task)
{
    struct rt_sched_link links[IDS];
    struct rt_sched_lifo_slot lifo;
    rt_sched_lifo_slot_init(&lifo, links, IDS);
    for (int i = 0; i < 10; i++) {
        push(&lifo.sched, 0);
        EXPECT_EQ(pop(&lifo.sched), 0);
    }
    push(&lifo.sched, 1);
    push(&lifo.sched, 0);
    EXPECT_EQ(pop(&lifo.sched), 1);
    EXPECT_EQ(pop(&lifo.sched), 0);
}

/* Holds T16. */
TEST(sched_lifo_slot_forgets_a_removed_task)
{
    struct rt_sched_link links[IDS];
    struct rt_sched_lifo_slot lifo;
    rt_sched_lifo_slot_init(&lifo, links, IDS);
    push(&lifo.sched, 1);
    push(&lifo.sched, 2);
    push(&lifo.sched, 3);
    lifo.sched.ops->remove(&lifo.sched, 3);
    lifo.sched.ops->remove(&lifo.sched, 1);
    lifo.sched.ops->remove(&lifo.sched, 1);
    EXPECT_EQ(pop(&lifo.sched), 2);
    EXPECT(pop(&lifo.sched) == RT_SCHED_NONE);
}

/* The model: an array, oldest first; and for lifo-slot one number apart from it. */
struct model {
    bool has_slot; /* lifo-slot; else fifo. */
    uint32_t slot;
    uint32_t in_a_row;
    uint32_t queue[IDS];
    uint32_t count;
};

static bool
model_has(const struct model *model, uint32_t id)
{
    for (uint32_t i = 0; i < model->count; i++) {
        if (model->queue[i] == id) {
            return true;
        }
    }
    return model->slot == id;
}

static void
model_push(struct model *model, uint32_t id)
{
    if (!model->has_slot) {
        model->queue[model->count++] = id;
        return;
    }
    if (model->slot != RT_SCHED_NONE) {
        model->queue[model->count++] = model->slot;
    }
    model->slot = id;
}

static void
model_remove(struct model *model, uint32_t id)
{
    uint32_t kept = 0;
    for (uint32_t i = 0; i < model->count; i++) {
        if (model->queue[i] != id) {
            model->queue[kept++] = model->queue[i];
        }
    }
    model->count = kept;
    if (model->slot == id) {
        model->slot = RT_SCHED_NONE;
    }
}

static uint32_t
model_pop(struct model *model)
{
    bool fair = model->in_a_row < 3 || model->count == 0;
    uint32_t id = model->count > 0 ? model->queue[0] : RT_SCHED_NONE;
    if (model->slot != RT_SCHED_NONE && fair) {
        id = model->slot;
        model->in_a_row++;
    } else {
        model->in_a_row = 0;
    }
    if (id != RT_SCHED_NONE) {
        model_remove(model, id);
    }
    return id;
}

static void
agree(struct rt_sched *sched, struct model *model, uint64_t random)
{
    for (int step = 0; step < 50000; step++) {
        uint32_t id = bed_below(&random, IDS);
        switch (bed_below(&random, 5)) {
        case 0:
        case 1:
            if (!model_has(model, id)) {
                push(sched, id);
                model_push(model, id);
            }
            break;
        case 2:
            sched->ops->remove(sched, id);
            model_remove(model, id);
            break;
        default:
            EXPECT_EQ(pop(sched), model_pop(model));
        }
    }
}

/* Holds D1, T16. */
TEST(sched_fifo_long_random_history_agrees_with_an_array)
{
    struct rt_sched_link links[IDS];
    struct rt_sched_fifo fifo;
    rt_sched_fifo_init(&fifo, links, IDS);
    struct model model = {.slot = RT_SCHED_NONE};
    agree(&fifo.sched, &model, 11);
}

/* Holds D1, T16. */
TEST(sched_lifo_slot_long_random_history_agrees_with_an_array)
{
    struct rt_sched_link links[IDS];
    struct rt_sched_lifo_slot lifo;
    rt_sched_lifo_slot_init(&lifo, links, IDS);
    struct model model = {.has_slot = true, .slot = RT_SCHED_NONE};
    agree(&lifo.sched, &model, 12);
}

/* Holds D1: an executor under another policy than its own. */
TEST(sched_lifo_slot_decides_who_is_polled)
{
    struct bed bed;
    bed_init(&bed);
    struct rt_executor_config config = bed_config(&bed);
    rt_sched_lifo_slot_init(&bed.lifo, bed.links, BED_CAPACITY);
    config.links = NULL;
    config.sched = &bed.lifo.sched;
    rt_executor_init(&bed.executor, &config);
    struct actor a;
    struct actor b;
    struct actor c;
    actor_start(&a, &bed, "a", "s.!");
    actor_start(&b, &bed, "b", "s.!");
    actor_start(&c, &bed, "c", "!");
    rt_task_cancel(&c.task);
    (void)bed_run(&bed);
    EXPECT_STR(bed.log, "~c a b");
    rt_task_wake(&a.task);
    rt_task_wake(&b.task);
    (void)bed_run(&bed);
    EXPECT_STR(bed.log, "~c a b b ~b a ~a");
}
