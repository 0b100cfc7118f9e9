/*
 * ranked_test.c -- priority and earliest deadline first, by examples and against an array.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "runtime/sched/ranked.h"

#include "runtime/tests/bed.h"

#define IDS 12

struct ordered {
    struct rt_sched_ranked ranked;
    struct rt_sched_heap_entry entries[IDS];
    uint64_t keys[IDS];
};

static struct rt_sched *
priority_init(struct ordered *ordered)
{
    memset(ordered, 0xa5, sizeof(*ordered));
    rt_sched_priority_init(&ordered->ranked, ordered->entries, ordered->keys, IDS);
    return &ordered->ranked.sched;
}

static struct rt_sched *
edf_init(struct ordered *ordered)
{
    memset(ordered, 0xa5, sizeof(*ordered));
    rt_sched_edf_init(&ordered->ranked, ordered->entries, ordered->keys, IDS);
    return &ordered->ranked.sched;
}

static void
admit_all(struct rt_sched *sched, const uint64_t *ranks, uint32_t count)
{
    for (uint32_t id = 0; id < count; id++) {
        sched->ops->admit(sched, id, ranks[id]);
        sched->ops->push(sched, id);
    }
}

/* Pops all there are and compares. */
static void
expect_pops(struct rt_sched *sched, const char *expected)
{
    char got[64] = "";
    size_t used = 0;
    uint32_t id = sched->ops->pop(sched);
    while (id != RT_SCHED_NONE) {
        got[used++] = (char)('a' + id);
        id = sched->ops->pop(sched);
    }
    got[used] = '\0';
    EXPECT_STR(got, expected);
}

/* Holds D1. Greater first, equal ones in the order of their wakes, 0 last. */
TEST(ranked_priority_gives_the_greatest_first_and_equals_in_order)
{
    struct ordered ordered;
    struct rt_sched *sched = priority_init(&ordered);
    const uint64_t ranks[] = {0, 7, UINT64_MAX, 7, 1, 0, 7};
    admit_all(sched, ranks, 7);
    expect_pops(sched, "cbdgeaf");
}

/* Holds D1. The earliest first; no deadline is later than any. */
TEST(ranked_edf_gives_the_earliest_first_and_none_last)
{
    struct ordered ordered;
    struct rt_sched *sched = edf_init(&ordered);
    const uint64_t ranks[] = {0, 500, 1, 500, UINT64_MAX, 0};
    admit_all(sched, ranks, 6);
    expect_pops(sched, "cbdeaf");
}

/* Holds D1. A changed rank counts at once, and puts the task after its new equals. */
TEST(ranked_whose_rank_changes_goes_where_it_belongs)
{
    struct ordered ordered;
    struct rt_sched *sched = priority_init(&ordered);
    const uint64_t ranks[] = {5, 4, 3, 2};
    admit_all(sched, ranks, 4);
    sched->ops->rank(sched, 3, 4);
    sched->ops->rank(sched, 0, 1);
    sched->ops->rank(sched, 9, 9);
    expect_pops(sched, "bdca");
}

/* Holds D1, T4. */
TEST(ranked_that_is_given_a_number_twice_panics)
{
    struct ordered ordered;
    struct rt_sched *sched = priority_init(&ordered);
    sched->ops->push(sched, 3);
    EXPECT_PANIC(sched->ops->push(sched, 3));
    EXPECT_PANIC(sched->ops->push(sched, IDS));
}

/* ---- The model: an array in which the best is searched. -------------------------------------- */

struct model {
    struct {
        bool in;
        uint64_t rank;
        uint64_t ticket;
    } ids[IDS];
    uint64_t tickets;
    bool edf;
};

static bool
better(const struct model *model, uint32_t a, uint32_t b)
{
    uint64_t x = model->ids[a].rank;
    uint64_t y = model->ids[b].rank;
    if (x == y) {
        return model->ids[a].ticket < model->ids[b].ticket;
    }
    if (!model->edf) {
        return x > y;
    }
    return y == 0 || (x != 0 && x < y);
}

static uint32_t
model_pop(struct model *model)
{
    uint32_t best = RT_SCHED_NONE;
    for (uint32_t id = 0; id < IDS; id++) {
        if (model->ids[id].in && (best == RT_SCHED_NONE || better(model, id, best))) {
            best = id;
        }
    }
    if (best != RT_SCHED_NONE) {
        model->ids[best].in = false;
    }
    return best;
}

static void
model_push(struct model *model, uint32_t id)
{
    model->ids[id].in = true;
    model->ids[id].ticket = model->tickets++;
}

static void
rank_both(struct rt_sched *sched, struct model *model, uint32_t id, uint64_t rank)
{
    bool in = model->ids[id].in;
    model->ids[id].rank = rank;
    if (in) {
        model_push(model, id);
        sched->ops->rank(sched, id, rank);
    } else {
        sched->ops->admit(sched, id, rank);
    }
}

static void
agree(struct rt_sched *sched, struct model *model, uint64_t random)
{
    for (uint32_t id = 0; id < IDS; id++) {
        sched->ops->admit(sched, id, 0);
    }
    for (int step = 0; step < 50000; step++) {
        uint32_t id = bed_below(&random, IDS);
        switch (bed_below(&random, 6)) {
        case 0:
        case 1:
        case 2:
            if (!model->ids[id].in) {
                sched->ops->push(sched, id);
                model_push(model, id);
            }
            break;
        case 3:
            sched->ops->remove(sched, id);
            model->ids[id].in = false;
            break;
        case 4:
            rank_both(sched, model, id, bed_below(&random, 4));
            break;
        default:
            EXPECT_EQ(sched->ops->pop(sched), model_pop(model));
            break;
        }
    }
}

/* Holds D1, T16. Method: 50,000 random pushes, pops, removals and changes of rank each. */
TEST(ranked_agrees_with_an_array)
{
    struct ordered ordered;
    struct model priority = {.edf = false};
    struct model edf = {.edf = true};
    agree(priority_init(&ordered), &priority, 1);
    agree(edf_init(&ordered), &edf, 2);
}

/* ---- Below an executor. ---------------------------------------------------------------------- */

static void
ranked_bed_init(struct bed *bed, struct rt_sched *sched)
{
    bed_init(bed);
    struct rt_executor_config config = bed_config(bed);
    config.sched = sched;
    rt_executor_init(&bed->executor, &config);
}

static void
post_ranked(
        struct actor *actor, struct bed *bed, const char *name, const char *script, uint64_t rank)
{
    actor_init(actor, bed, name, script);
    actor->task.rank = rank;
    EXPECT_EQ(rt_post(&bed->executor, &actor->task), RT_OK);
}

/* Holds D1, T10. The rank is the task's and counts for each of its lives: posted again, it is what
 * was set meanwhile, whichever index it gets. */
TEST(ranked_task_is_polled_by_the_rank_of_this_life)
{
    struct ordered ordered;
    struct bed bed;
    struct actor a;
    struct actor b;
    ranked_bed_init(&bed, priority_init(&ordered));
    post_ranked(&a, &bed, "a", "!!", 1);
    post_ranked(&b, &bed, "b", "!!", 2);
    (void)bed_run(&bed);
    EXPECT_STR(bed.log, "b ~b a ~a");
    rt_task_set_rank(&a.task, 3);
    EXPECT_EQ(rt_post(&bed.executor, &b.task), RT_OK);
    EXPECT_EQ(rt_post(&bed.executor, &a.task), RT_OK);
    (void)bed_run(&bed);
    EXPECT_STR(bed.log, "b ~b a ~a a ~a b ~b");
}

/* Holds D1. The rank of a woken task may change; under a policy without ranks that does nothing. */
TEST(ranked_task_that_is_woken_may_change_its_rank)
{
    struct ordered ordered;
    struct bed bed;
    struct actor a;
    struct actor b;
    ranked_bed_init(&bed, edf_init(&ordered));
    post_ranked(&a, &bed, "a", "!", 100);
    post_ranked(&b, &bed, "b", "!", 200);
    rt_task_set_rank(&b.task, 50);
    (void)bed_run(&bed);
    EXPECT_STR(bed.log, "b ~b a ~a");
    bed_init(&bed);
    post_ranked(&a, &bed, "a", "!", 100);
    post_ranked(&b, &bed, "b", "!", 200);
    rt_task_set_rank(&b.task, 50);
    (void)bed_run(&bed);
    EXPECT_STR(bed.log, "a ~a b ~b");
}

/* What ranked.h says that it does not promise: a busy task of higher priority starves the rest. */
TEST(ranked_priority_starves_lower_priorities)
{
    struct ordered ordered;
    struct bed bed;
    struct actor busy;
    struct actor low;
    ranked_bed_init(&bed, priority_init(&ordered));
    post_ranked(&low, &bed, "l", "!", 0);
    post_ranked(&busy, &bed, "h", "w.w.w.w.w.!", 1);
    (void)bed_run(&bed);
    EXPECT_STR(bed.log, "h h h h h h ~h l ~l");
}
