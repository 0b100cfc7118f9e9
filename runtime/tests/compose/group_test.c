/*
 * group_test.c -- a group of streams: polling, yielding, and members that come and go.
 *
 * A source logs its name when it is polled; a capital is an item, a minus a drop, a slash
 * the end. A bar is where the task's poll began.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "runtime/compose/group.h"
#include "runtime/compose/internal.h"
#include "runtime/tests/compose/kids.h"

#define SOURCES 4u

struct source {
    struct rt_stream stream;
    struct rt_group_member member;
    struct rt_key key;
    struct rt_slot slot;
    char name;
    uint32_t items;                      /* It has this many now. */
    bool ends;                           /* After them it ends; otherwise it sleeps. */
    bool gives_way;                      /* It wakes itself instead of sleeping. */
    void (*then)(struct source *source); /* During its next poll. */
};

struct crowd {
    struct rt_task task;
    bool done;
    struct rt_group group;
    struct rt_slab_entry entries[SOURCES];
    struct source sources[SOURCES];
};

static struct crowd crowd;

static rt_poll
source_poll(struct rt_stream *stream, struct rt_cx *cx, void **ret_item)
{
    struct source *source = rt_container_of(stream, struct source, stream);
    void (*then)(struct source * source) = source->then;
    source->then = NULL;
    if (source->items > 0) {
        source->items -= 1;
        say((char)(source->name - 'a' + 'A'));
        *ret_item = source;
        return RT_READY;
    }
    say(source->ends ? '/' : source->name);
    if (then != NULL) {
        then(source);
    }
    if (source->ends) {
        return RT_READY;
    }
    if (source->gives_way) {
        rt_cx_reenqueue(cx);
    } else {
        rt_slot_replace(&source->slot, cx, "source");
    }
    return RT_PENDING;
}

/* Wakes what it can when it is dropped. */
static void
source_drop(struct rt_stream *stream)
{
    struct source *source = rt_container_of(stream, struct source, stream);
    say('-');
    say(source->name);
    (void)rt_slot_wake(&source->slot);
}

static void
source_init(struct source *source, char name)
{
    *source = (struct source){.name = name};
    rt_slot_init(&source->slot);
    rt_stream_init(&source->stream, source_poll, source_drop, "source");
}

/* Takes items until there are none; a number is the index of the key that came with one. */
static rt_poll
crowd_poll(struct rt_task *task, struct rt_cx *cx)
{
    struct crowd *one = rt_container_of(task, struct crowd, task);
    say('|');
    void *item = NULL;
    do {
        struct rt_key key = {77, 77};
        RT_AWAIT(rt_group_poll(&one->group, cx, &key, &item));
        const struct source *source = item;
        EXPECT_EQ(key.index, source != NULL ? source->key.index : 0);
        EXPECT_EQ(key.generation, source != NULL ? source->key.generation : 0);
    } while (item != NULL);
    one->done = true;
    return RT_READY;
}

static void
insert(uint32_t i)
{
    struct source *source = &crowd.sources[i];
    EXPECT_EQ(rt_group_insert(&crowd.group, &source->member, &source->stream, &source->key), RT_OK);
}

/* A crowd of sources a, b, c …, `count` of them in the group. */
static void
crowd_init(uint32_t count)
{
    clockwork_init(&clockwork, 0);
    said[0] = 0;
    crowd = (struct crowd){.done = false};
    rt_group_init(&crowd.group, crowd.entries, SOURCES);
    for (uint32_t i = 0; i < SOURCES; i++) {
        source_init(&crowd.sources[i], (char)('a' + (int)i));
    }
    for (uint32_t i = 0; i < count; i++) {
        insert(i);
    }
    rt_task_init(&crowd.task, crowd_poll, NULL, "crowd");
}

static uint32_t
run(void)
{
    uint32_t polls = clockwork_run(&clockwork);
    EXPECT(rt__group_audit(&crowd.group.parent.object) == NULL);
    return polls;
}

static uint32_t
post(void)
{
    EXPECT_EQ(rt_post(&clockwork.runtime.executor, &crowd.task), RT_OK);
    return run();
}

static void
give(uint32_t i, uint32_t items)
{
    crowd.sources[i].items += items;
    (void)rt_slot_wake(&crowd.sources[i].slot);
}

static void
end(uint32_t i)
{
    crowd.sources[i].ends = true;
    (void)rt_slot_wake(&crowd.sources[i].slot);
}

/* The tutorial. Holds J9: items until every member has ended and left; then READY with nothing. */
TEST(group_yields_what_its_members_have_until_all_have_ended)
{
    crowd_init(2);
    EXPECT_EQ(post(), 1);
    EXPECT_SAID("|ab");
    give(1, 2);
    EXPECT_EQ(run(), 1);
    EXPECT_SAID("|BBb");
    end(1);
    EXPECT_EQ(run(), 1);
    EXPECT_SAID("|/");
    EXPECT_EQ(rt_group_size(&crowd.group), 1);
    end(0);
    EXPECT_EQ(run(), 1);
    EXPECT_SAID("|/");
    EXPECT(crowd.done);
    EXPECT_EQ(targets_open(), 0);
}

/* Holds J9: empty is READY with nothing; it yields again after an insert. */
TEST(group_that_is_empty_ends_and_continues_when_filled)
{
    crowd_init(0);
    EXPECT_EQ(post(), 1);
    EXPECT_SAID("|");
    EXPECT(crowd.done);
    insert(0);
    give(0, 1);
    end(0);
    rt_task_init(&crowd.task, crowd_poll, NULL, "crowd");
    EXPECT_EQ(post(), 1);
    EXPECT_SAID("|A/");
}

/* Holds J9: a member that yielded is polled again without being woken. */
TEST(group_member_that_yielded_stays_ready)
{
    crowd_init(1);
    crowd.sources[0].items = 3;
    EXPECT_EQ(post(), 1);
    EXPECT_SAID("|AAAa");
}

/* Holds J10: two that always have something take turns; none shuts the other out. */
TEST(group_continues_after_the_member_that_gave_an_item)
{
    crowd_init(3);
    for (uint32_t i = 0; i < 3; i++) {
        crowd.sources[i].items = 3;
        crowd.sources[i].ends = true;
    }
    EXPECT_EQ(post(), 1);
    EXPECT_SAID("|ABCABCABC///");
}

/* Holds J11: two that yield end the round; the next one continues after them, once others ran. */
TEST(group_continues_after_two_members_that_yielded)
{
    crowd_init(4);
    for (uint32_t i = 0; i < 4; i++) {
        crowd.sources[i].gives_way = true;
    }
    EXPECT_EQ(rt_post(&clockwork.runtime.executor, &crowd.task), RT_OK);
    EXPECT(rt_run_one(&clockwork.runtime.executor));
    EXPECT_SAID("|ab");
    EXPECT_EQ(crowd.task.state, RT_TASK_WOKEN);
    EXPECT(rt_run_one(&clockwork.runtime.executor));
    EXPECT_SAID("|cd");
    EXPECT(rt_run_one(&clockwork.runtime.executor));
    EXPECT_SAID("|ab");
    rt_task_cancel(&crowd.task);
    rt_group_drop(&crowd.group);
}

/* Holds J11: one that yields does not end the round, and is polled once in it. */
TEST(group_polls_each_member_once_in_a_round)
{
    crowd_init(3);
    crowd.sources[0].gives_way = true;
    EXPECT_EQ(rt_post(&clockwork.runtime.executor, &crowd.task), RT_OK);
    for (uint32_t i = 0; i < 3; i++) {
        EXPECT(rt_run_one(&clockwork.runtime.executor));
        EXPECT(rt__group_audit(&crowd.group.parent.object) == NULL);
        EXPECT_SAID(i == 0 ? "|abc" : "|a");
    }
    rt_task_cancel(&crowd.task);
    rt_group_drop(&crowd.group);
}

static void
insert_d(struct source *source)
{
    (void)source;
    insert(3);
}

/* Holds J9, J11: a new member does not lengthen the round, and is not forgotten. */
TEST(group_member_inserted_by_a_poll_is_polled_soon)
{
    crowd_init(3);
    crowd.sources[1].then = insert_d;
    EXPECT_EQ(post(), 2);
    EXPECT_SAID("|abc|d");
    EXPECT_EQ(rt_group_size(&crowd.group), 4);
}

/* Holds J9: a task that sleeps on the group is woken for a new member. */
TEST(group_member_inserted_while_the_task_sleeps_wakes_it)
{
    crowd_init(1);
    EXPECT_EQ(post(), 1);
    EXPECT_SAID("|a");
    insert(1);
    EXPECT_EQ(run(), 1);
    EXPECT_SAID("|b");
}

TEST(group_without_capacity_refuses_a_member)
{
    struct source late;
    struct rt_key key = {7, 7};
    crowd_init(SOURCES);
    source_init(&late, 'z');
    EXPECT_EQ(rt_group_insert(&crowd.group, &late.member, &late.stream, &key), RT_E_FULL);
    EXPECT_EQ(key.index, 7);
    EXPECT_EQ(rt_group_size(&crowd.group), SOURCES);
}

/* Holds J9, P1: a key is good for one member, and for none that comes after it. */
TEST(group_key_of_a_member_that_is_gone_names_none)
{
    crowd_init(2);
    EXPECT_EQ(post(), 1);
    EXPECT_SAID("|ab");
    struct rt_key gone = crowd.sources[1].key;
    EXPECT(rt_group_remove(&crowd.group, gone));
    EXPECT_SAID("-b");
    EXPECT(!rt_group_remove(&crowd.group, gone));
    insert(2);
    EXPECT_EQ(crowd.sources[2].key.index, gone.index);
    EXPECT(!rt_group_remove(&crowd.group, gone));
    EXPECT_EQ(run(), 1);
    EXPECT_SAID("|c");
    end(2);
    EXPECT_EQ(run(), 1);
    EXPECT(!rt_group_remove(&crowd.group, crowd.sources[2].key));
    EXPECT_SAID("|/");
}

static void
remove_next(struct source *source)
{
    EXPECT(rt_group_remove(&crowd.group, source[1].key));
}

/* Holds J9: removed by a sibling's poll, woken or not; its drop wakes nothing. */
TEST(group_member_removed_by_a_poll_is_not_polled)
{
    crowd_init(3);
    crowd.sources[0].then = remove_next;
    EXPECT_EQ(post(), 1);
    EXPECT_SAID("|a-bc");
    EXPECT_EQ(rt_group_size(&crowd.group), 2);
}

static void
remove_itself(struct source *source)
{
    EXPECT_FAULT(RT_E_REENTERED, (void)rt_group_remove(&crowd.group, source->key));
}

static void
drop_group(struct source *source)
{
    (void)source;
    EXPECT_FAULT(RT_E_REENTERED, rt_group_drop(&crowd.group));
}

TEST(group_member_that_removes_itself_or_drops_the_group_in_its_poll_is_a_fault)
{
    crowd_init(2);
    crowd.sources[0].then = remove_itself;
    crowd.sources[1].then = drop_group;
    EXPECT_EQ(post(), 1);
    EXPECT_SAID("|ab");
}

/* Holds J4, W1: a waker that a member gave away outlives it, and does nothing. */
TEST(group_member_woken_after_its_end_does_nothing)
{
    crowd_init(2);
    EXPECT_EQ(post(), 1);
    struct rt_waker kept = rt_waker_clone(&crowd.sources[0].slot.waker);
    EXPECT(rt_group_remove(&crowd.group, crowd.sources[0].key));
    EXPECT_SAID("|ab-a");
    rt_waker_wake(&kept);
    EXPECT_EQ(run(), 0);
    EXPECT_EQ(clockwork.runtime.executor.counters.clones,
            clockwork.runtime.executor.counters.returned);
}

/* Holds J4, J9: in the order of the indices; no task is woken, and no member dropped twice. */
TEST(group_dropped_drops_its_members_in_order)
{
    crowd_init(3);
    EXPECT_EQ(post(), 1);
    EXPECT_SAID("|abc");
    end(1);
    EXPECT_EQ(run(), 1);
    EXPECT_SAID("|/");
    rt_group_drop(&crowd.group);
    rt_group_drop(&crowd.group);
    EXPECT_SAID("-a-c");
    EXPECT_EQ(run(), 0);
    EXPECT_EQ(targets_open(), 1); /* The task. */
    EXPECT_FAULT(RT_E_FINISHED, insert(3));
}

static rt_poll
careless_poll(struct rt_task *task, struct rt_cx *cx)
{
    struct crowd *one = rt_container_of(task, struct crowd, task);
    void *item = NULL;
    rt_group_drop(&one->group);
    EXPECT_FAULT(RT_E_FINISHED, rt_group_poll(&one->group, cx, NULL, &item));
    EXPECT_FAULT(RT_E_FINISHED, rt_stream_poll(&one->group.stream, cx, &item));
    return RT_READY;
}

/* Holds T20. */
TEST(group_polled_after_it_was_dropped_is_a_fault)
{
    crowd_init(1);
    rt_task_init(&crowd.task, careless_poll, NULL, "careless");
    EXPECT_EQ(post(), 1);
}

/* Holds J3, W11: polled spuriously, or by another task, every member is polled. */
TEST(group_polled_spuriously_polls_every_member)
{
    crowd_init(3);
    EXPECT_EQ(post(), 1);
    EXPECT_SAID("|abc");
    rt_task_wake(&crowd.task);
    EXPECT_EQ(run(), 1);
    EXPECT_SAID("|abc");
    give(1, 0);
    rt_task_cancel(&crowd.task);
    rt_task_init(&crowd.task, crowd_poll, NULL, "heir");
    EXPECT_EQ(post(), 1);
    EXPECT_SAID("|abc");
}

/* Holds W11, T9: where the round of a new task ends early, the rest is polled in the next ones. */
TEST(group_that_moved_polls_every_member_although_two_give_way)
{
    crowd_init(4);
    EXPECT_EQ(post(), 1);
    EXPECT_SAID("|abcd");
    crowd.sources[0].gives_way = true;
    crowd.sources[1].gives_way = true;
    rt_task_cancel(&crowd.task);
    rt_task_init(&crowd.task, crowd_poll, NULL, "heir");
    EXPECT_EQ(rt_post(&clockwork.runtime.executor, &crowd.task), RT_OK);
    EXPECT(rt_run_one(&clockwork.runtime.executor));
    EXPECT_SAID("|ab");
    EXPECT(rt_run_one(&clockwork.runtime.executor));
    EXPECT_SAID("|cdab");
    rt_task_cancel(&crowd.task);
    rt_group_drop(&crowd.group);
}

static rt_poll
once_crowd_poll(struct rt_task *task, struct rt_cx *cx)
{
    struct crowd *one = rt_container_of(task, struct crowd, task);
    void *item = NULL;
    do {
        RT_AWAIT(rt_group_poll(&one->group, cx, NULL, &item));
        const struct rt_sleep_future *sleep =
                item != NULL ? rt_container_of(item, struct rt_sleep_future, future) : NULL;
        say(sleep == NULL ? '.' : (char)('0' + (int)sleep->sleep.deadline_ns / 10));
    } while (item != NULL);
    return RT_READY;
}

/* Holds J9: futures in a group come in the order in which they are ready. */
TEST(group_of_futures_yields_them_as_they_become_ready)
{
    static const uint64_t lengths[] = {30, 10, 20};
    struct rt_sleep_future sleeps[3];
    struct rt_once onces[3];
    crowd_init(0);
    for (uint32_t i = 0; i < 3; i++) {
        rt_sleep_future_init(&sleeps[i], lengths[i]);
        rt_once_init(&onces[i], &sleeps[i].future);
        EXPECT_EQ(rt_group_insert(&crowd.group, &crowd.sources[i].member, &onces[i].stream,
                          &crowd.sources[i].key),
                RT_OK);
    }
    rt_task_init(&crowd.task, once_crowd_poll, NULL, "waiters");
    EXPECT_EQ(clockwork_post(&clockwork, &crowd.task), 1);
    EXPECT_EQ(clockwork_at(&clockwork, 10), 1);
    EXPECT_EQ(clockwork_at(&clockwork, 20), 1);
    EXPECT_EQ(clockwork_at(&clockwork, 30), 1);
    EXPECT_SAID("123.");
    rt_timers_fini(&clockwork.runtime.timers);
}

/* Holds J9, C3: a group in a group is a stream like any other, and ends when it is empty. */
TEST(group_in_a_group_is_a_stream_that_ends_when_it_is_empty)
{
    struct rt_group outer;
    struct rt_slab_entry entry;
    struct rt_group_member member;
    struct rt_key key;
    void *item = NULL;
    crowd_init(2);
    crowd.sources[0].items = 1;
    crowd.sources[1].items = 1;
    rt_group_init(&outer, &entry, 1);
    EXPECT_EQ(rt_group_insert(&outer, &member, &crowd.group.stream, &key), RT_OK);
    struct rt_cx cx;
    rt_cx_init(&cx, &clockwork.runtime.executor, &crowd.task, rt_waker_noop());
    for (uint32_t i = 0; i < 2; i++) {
        EXPECT_EQ(rt_group_poll(&outer, &cx, NULL, &item), RT_READY);
        EXPECT(item == &crowd.sources[i]);
    }
    EXPECT_EQ(rt_group_poll(&outer, &cx, NULL, &item), RT_PENDING);
    end(0);
    end(1);
    EXPECT_EQ(rt_group_poll(&outer, &cx, NULL, &item), RT_READY);
    EXPECT(item == NULL);
    rt_cx_poison(&cx);
    EXPECT_SAID("ABab//");
    EXPECT_EQ(targets_open(), 0);
}
