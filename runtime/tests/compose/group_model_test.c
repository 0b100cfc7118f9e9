/*
 * group_model_test.c -- long random histories of a group, compared with a model.
 *
 * The model is the items left of each source and the members. Each call of rt_group_poll is
 * recorded as the indices that it polled, and checked when it has returned; each time
 * that all members sleep nothing may be left.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "runtime/compose/group.h"
#include "runtime/compose/internal.h"
#include "runtime/tests/bed.h"
#include "runtime/tests/time/clockwork.h"

#define SOURCES 10u
#define MEMBERS 8u
#define STEPS 20000u

static struct clockwork clockwork;

struct source {
    struct rt_stream stream;
    struct rt_group_member member;
    struct rt_key key;
    struct rt_slot slot;
    bool in;
    bool ends;
    uint32_t items;
    uint32_t gives; /* So often it wakes itself before it sleeps. */
};

static struct {
    struct rt_task task;
    struct rt_group group;
    struct rt_slab_entry entries[MEMBERS];
    struct source sources[SOURCES];
    uint64_t random;
    uint32_t taken;
    uint32_t given;
    /* The call under way: */
    uint32_t polled[MEMBERS + 1]; /* indices, in the order in which they were polled */
    uint32_t polls;
    uint32_t yields;
    uint32_t size; /* … of the group when it began */
    bool after;    /* … the one before yielded, and … */
    uint32_t from; /* … this is the index after the member that did. */
} model;

static uint32_t
below(uint32_t end)
{
    return bed_below(&model.random, end);
}

static rt_poll
source_poll(struct rt_stream *stream, struct rt_cx *cx, void **ret_item)
{
    struct source *source = rt_container_of(stream, struct source, stream);
    EXPECT(source->in);
    EXPECT(model.polls < MEMBERS);
    model.polled[model.polls++] = source->key.index;
    if (source->items > 0) {
        source->items--;
        *ret_item = source;
        return RT_READY;
    }
    if (source->ends) {
        source->in = false;
        return RT_READY;
    }
    rt_slot_replace(&source->slot, cx, "source");
    if (source->gives > 0) {
        source->gives--;
        model.yields++;
        rt_cx_reenqueue(cx);
    }
    return RT_PENDING;
}

static void
source_drop(struct rt_stream *stream)
{
    struct source *source = rt_container_of(stream, struct source, stream);
    source->in = false;
    (void)rt_slot_wake(&source->slot);
}

/* J10, J11: once round, from after the last yielder on, each once, at most two that yield. */
static void
check_call(void)
{
    EXPECT(model.polls <= model.size);
    EXPECT(model.yields <= 2);
    for (uint32_t i = 0; i < model.polls && model.after; i++) {
        uint32_t far = (model.polled[i] + MEMBERS - model.from) % MEMBERS;
        uint32_t before = i == 0 ? 0 : (model.polled[i - 1] + MEMBERS - model.from) % MEMBERS;
        EXPECT(i == 0 || far > before);
    }
    for (uint32_t i = 0; i < model.polls; i++) {
        for (uint32_t j = 0; j < i; j++) {
            EXPECT(model.polled[i] != model.polled[j]);
        }
    }
}

static rt_poll
taker_poll(struct rt_task *task, struct rt_cx *cx)
{
    (void)task;
    void *item = NULL;
    do {
        struct rt_key key;
        model.polls = 0;
        model.yields = 0;
        model.size = rt_group_size(&model.group);
        rt_poll answer = rt_group_poll(&model.group, cx, &key, &item);
        check_call();
        model.after = answer == RT_READY && item != NULL;
        RT_AWAIT(answer);
        const struct source *source = item;
        model.from = source != NULL ? source->key.index + 1 : 0;
        model.taken += source != NULL ? 1 : 0;
        EXPECT(source == NULL || source->key.generation == key.generation);
    } while (item != NULL);
    rt_cx_reenqueue(cx);
    return RT_PENDING;
}

static void
insert(struct source *source)
{
    struct rt_key key = source->key;
    *source = (struct source){.key = key};
    rt_slot_init(&source->slot);
    rt_stream_init(&source->stream, source_poll, source_drop, "source");
    bool fits = rt_group_size(&model.group) < MEMBERS;
    rt_err err = rt_group_insert(&model.group, &source->member, &source->stream, &source->key);
    EXPECT_EQ(err, fits ? RT_OK : RT_E_FULL);
    source->in = fits;
}

/* A stale key removes none, whatever member has its entry now. */
static void
remove_it(struct source *source)
{
    bool in = source->in;
    model.given -= in ? source->items : 0;
    EXPECT(rt_group_remove(&model.group, source->key) == in);
    EXPECT(!source->in);
}

static void
perturb(struct source *source)
{
    switch (below(8)) {
    case 0:
        remove_it(source);
        return;
    case 1:
        source->ends = true;
        break;
    case 2:
        source->gives = below(4);
        break;
    case 3:
        rt_task_wake(&model.task);
        return;
    default:
        if (!source->ends) {
            uint32_t more = below(4);
            source->items += more;
            model.given += more;
        }
        break;
    }
    (void)rt_slot_wake(&source->slot);
}

/* All members sleep: nothing was forgotten. */
static void
check_stall(void)
{
    EXPECT_EQ(model.taken, model.given);
    uint32_t in = 0;
    for (uint32_t i = 0; i < SOURCES; i++) {
        const struct source *source = &model.sources[i];
        in += source->in ? 1 : 0;
        EXPECT(!source->in || (source->items == 0 && !source->ends && source->gives == 0));
        EXPECT(!source->in || !rt_slot_empty(&source->slot));
    }
    EXPECT_EQ(rt_group_size(&model.group), in);
}

static void
run(void)
{
    while (rt_run_one(&clockwork.runtime.executor)) {
        EXPECT(rt__group_audit(&model.group.parent.object) == NULL);
        if (rt_group_size(&model.group) == 0) {
            return; /* It would wake itself forever. */
        }
    }
    check_stall();
}

/* Holds J9, J10, J11, P1. */
TEST(group_of_random_streams_forgets_none_and_prefers_none)
{
    clockwork_init(&clockwork, 0);
    rt_group_init(&model.group, model.entries, MEMBERS);
    model.random = 11;
    for (uint32_t i = 0; i < SOURCES; i++) {
        rt_slot_init(&model.sources[i].slot);
    }
    rt_task_init(&model.task, taker_poll, NULL, "taker");
    EXPECT_EQ(rt_post(&clockwork.runtime.executor, &model.task), RT_OK);
    for (uint32_t step = 0; step < STEPS; step++) {
        struct source *source = &model.sources[below(SOURCES)];
        if (!source->in && below(2) == 0) {
            insert(source);
        } else if (source->in) {
            perturb(source);
        } else {
            EXPECT(!rt_group_remove(&model.group, source->key));
        }
        if (below(3) == 0) {
            run();
        }
    }
    EXPECT(model.taken > STEPS / 4);
    rt_task_cancel(&model.task);
    rt_group_drop(&model.group);
}
