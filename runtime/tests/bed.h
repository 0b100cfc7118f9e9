/*
 * bed.h -- an executor to test on, and actors: tasks that do what a script says.
 *
 * A script is a string; each poll runs it up to the next answer.
 *
 *      answers   .  PENDING      !  READY       p  PARKED
 *      s  store in the own slot        w  wake itself          c  cancel itself
 *      k  clone the waker and keep it  o  wake the other       x  cancel the other
 *      +  post the other               f  wake the other's slot
 *
 * So "s.w.!" stores a waker and sleeps; woken, it wakes itself; polled again, it
 * is ready. What happens is written into the bed's log: "a" for a poll of actor
 * a, "~a" for its cleanup. After each run call the executor is audited.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef RT_TESTS_BED_H
#define RT_TESTS_BED_H

#include <string.h>

#include "runtime/task/executor.h"
#include "runtime/tests/test.h"

#define BED_CAPACITY 16

struct bed {
    struct rt_executor executor;
    struct rt_slab_entry entries[BED_CAPACITY];
    struct rt_sched_link links[BED_CAPACITY];
    struct rt_sched_lifo_slot lifo;
    unsigned notifies;
    char log[512];
};

struct actor {
    struct rt_task task;
    struct bed *bed;
    const char *script; /* What is left of it. */
    struct rt_slot slot;
    struct rt_waker waker;
    struct actor *other;
    unsigned cleanups;
};

static inline void
bed_notify(void *argument)
{
    struct bed *bed = argument;
    bed->notifies++;
}

static inline struct rt_executor_config
bed_config(struct bed *bed)
{
    return (struct rt_executor_config){
            .entries = bed->entries,
            .capacity = BED_CAPACITY,
            .links = bed->links,
            .notify = bed_notify,
            .notify_argument = bed,
    };
}

static inline void
bed_init(struct bed *bed)
{
    memset(bed, 0xa5, sizeof(*bed));
    bed->log[0] = '\0';
    bed->notifies = 0;
    struct rt_executor_config config = bed_config(bed);
    rt_executor_init(&bed->executor, &config);
}

static inline void
bed_init_self_wake(struct bed *bed, enum rt_self_wake self_wake)
{
    bed_init(bed);
    struct rt_executor_config config = bed_config(bed);
    config.self_wake = self_wake;
    rt_executor_init(&bed->executor, &config);
}

/* Appends a word to the log. */
static inline void
bed_log(struct bed *bed, const char *prefix, const char *word)
{
    size_t used = strlen(bed->log);
    size_t left = sizeof(bed->log) - used;
    ck_assert(strlen(prefix) + strlen(word) + 2 <= left);
    if (used != 0) {
        bed->log[used++] = ' ';
    }
    memcpy(bed->log + used, prefix, strlen(prefix));
    used += strlen(prefix);
    memcpy(bed->log + used, word, strlen(word) + 1);
}

/* Runs until nothing is woken; how many polls that took. */
static inline uint64_t
bed_run(struct bed *bed)
{
    struct rt_run_result result;
    EXPECT_EQ(rt_run_until_stalled(&bed->executor, 1000, &result), RT_OK);
    EXPECT(result.stall != RT_STALL_LIMIT);
    rt_executor_audit(&bed->executor);
    return result.polled;
}

static inline struct actor *
actor_of(struct rt_task *task)
{
    return rt_container_of(task, struct actor, task);
}

static inline void
actor_do(struct actor *actor, struct rt_cx *cx, char what)
{
    switch (what) {
    case 's':
        EXPECT_EQ(rt_slot_store(&actor->slot, cx, "its slot"), RT_OK);
        return;
    case 'w':
        rt_cx_reenqueue(cx);
        return;
    case 'c':
        rt_task_cancel(&actor->task);
        return;
    case 'k':
        actor->waker = rt_waker_clone(rt_cx_waker(cx));
        return;
    case 'o':
        rt_task_wake(&actor->other->task);
        return;
    case 'x':
        rt_task_cancel(&actor->other->task);
        return;
    case '+':
        EXPECT_EQ(rt_post(&actor->bed->executor, &actor->other->task), RT_OK);
        return;
    case 'f':
        (void)rt_slot_wake(&actor->other->slot);
        return;
    default:
        ck_abort_msg("no such letter in a script: '%c'", what);
    }
}

static inline rt_poll
actor_poll(struct rt_task *task, struct rt_cx *cx)
{
    struct actor *actor = actor_of(task);
    bed_log(actor->bed, "", task->name);
    for (;;) {
        char what = *actor->script;
        ck_assert_msg(what != '\0', "%s was polled past the end of its script", task->name);
        actor->script++;
        switch (what) {
        case '.':
            return RT_PENDING;
        case '!':
            return RT_READY;
        case 'p':
            return rt_cx_park(cx);
        default:
            actor_do(actor, cx, what);
        }
    }
}

static inline void
actor_cleanup(struct rt_task *task)
{
    struct actor *actor = actor_of(task);
    actor->cleanups++;
    bed_log(actor->bed, "~", task->name);
}

static inline void
actor_init(struct actor *actor, struct bed *bed, const char *name, const char *script)
{
    memset(actor, 0x5a, sizeof(*actor));
    rt_task_init(&actor->task, actor_poll, actor_cleanup, name);
    rt_slot_init(&actor->slot);
    actor->bed = bed;
    actor->script = script;
    actor->waker = RT_WAKER_NULL;
    actor->other = NULL;
    actor->cleanups = 0;
}

/* An actor that is posted. */
static inline void
actor_start(struct actor *actor, struct bed *bed, const char *name, const char *script)
{
    actor_init(actor, bed, name, script);
    EXPECT_EQ(rt_post(&bed->executor, &actor->task), RT_OK);
}

/* SplitMix64: the same histories in every run of a test. */
static inline uint64_t
bed_random(uint64_t *state)
{
    *state += UINT64_C(0x9e3779b97f4a7c15);
    uint64_t mixed = *state;
    mixed = (mixed ^ (mixed >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    mixed = (mixed ^ (mixed >> 27)) * UINT64_C(0x94d049bb133111eb);
    return mixed ^ (mixed >> 31);
}

static inline uint32_t
bed_below(uint64_t *state, uint32_t end)
{
    return (uint32_t)(bed_random(state) % end);
}

#endif
