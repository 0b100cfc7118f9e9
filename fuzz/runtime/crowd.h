/*
 * crowd.h -- who polls: a few people with wakers that write down that they were woken.
 *
 * Each person has three wakers: two of the runtime's own, whose target may go away at any time and
 * come back as another (what a task does that ends, a combinator that is dropped), and one from
 * outside, which counts its references. A waker's number is written into `heard` when it is woken;
 * a model writes whom it would wake into `owed`, and both must be the same after each operation:
 * nobody is forgotten, nobody woken in vain or twice, and the order is kept.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef FUZZ_RUNTIME_CROWD_H
#define FUZZ_RUNTIME_CROWD_H

#include "fuzz/fuzz.h"
#include "runtime/task/executor.h"

FUZZ_UNSEEN_BEGIN

#define PEOPLE 6u
#define LOCAL 2u            /* Wakers of the runtime that a person has. */
#define WAKERS (LOCAL + 1u) /* The last one is foreign. */
#define NOBODY UINT8_MAX    /* No waker, or a dead one. */

/* Who was woken, in order. */
struct crowd_log {
    uint8_t numbers[PEOPLE * WAKERS];
    uint32_t count;
};

struct person_waker {
    struct rt_target target;
    struct crowd *crowd;
    uint8_t number;
};

struct crowd {
    struct rt_executor executor;
    struct rt_slab_entry entries[PEOPLE * LOCAL];
    struct rt_sched_link links[PEOPLE * LOCAL];
    struct rt_task task; /* On whose behalf all poll; never posted. */
    struct rt_cx cx;
    struct person_waker wakers[PEOPLE * WAKERS];
    struct crowd_log heard;
    struct crowd_log owed;
    /* Called by whoever is woken; NULL: nobody does anything. */
    void (*on_wake)(struct crowd *crowd, uint32_t number);
    uint32_t foreign_held; /* References to foreign wakers that are out. */
};

static inline void
crowd_write(struct crowd_log *log, uint32_t number)
{
    fuzz_check(log->count < PEOPLE * WAKERS);
    log->numbers[log->count++] = (uint8_t)number;
}

static inline void
crowd_hear(struct person_waker *waker)
{
    struct crowd *crowd = waker->crowd;
    crowd_write(&crowd->heard, waker->number);
    if (crowd->on_wake != 0) {
        crowd->on_wake(crowd, waker->number);
    }
}

static inline void
crowd_target_woken(struct rt_target *target, const struct rt_site *await)
{
    (void)await;
    crowd_hear(rt_container_of(target, struct person_waker, target));
}

static inline struct rt_waker
crowd_foreign_clone(const struct rt_waker *waker, const struct rt_site *await)
{
    (void)await;
    ((struct person_waker *)waker->data)->crowd->foreign_held += 1;
    return *waker;
}

static inline void
crowd_foreign_drop(struct rt_waker waker, const struct rt_site *await)
{
    (void)await;
    struct crowd *crowd = ((struct person_waker *)waker.data)->crowd;
    fuzz_check(crowd->foreign_held > 0);
    crowd->foreign_held -= 1;
}

static inline void
crowd_foreign_look(const struct rt_waker *waker, const struct rt_site *await)
{
    (void)await;
    crowd_hear((struct person_waker *)waker->data);
}

static inline void
crowd_foreign_wake(struct rt_waker waker, const struct rt_site *await)
{
    crowd_foreign_drop(waker, await);
    crowd_foreign_look(&waker, await);
}

static const struct rt_waker_vt crowd_foreign = {
        crowd_foreign_clone, crowd_foreign_wake, crowd_foreign_look, crowd_foreign_drop};

static inline rt_poll
crowd_task_poll(struct rt_task *task, struct rt_cx *cx)
{
    (void)task;
    (void)cx;
    return RT_READY;
}

static inline void
crowd_init(struct crowd *crowd)
{
    struct rt_executor_config config = {
            .entries = crowd->entries, .capacity = PEOPLE * LOCAL, .links = crowd->links};
    rt_executor_init(&crowd->executor, &config);
    rt_task_init(&crowd->task, crowd_task_poll, 0, "crowd");
    for (uint32_t i = 0; i < PEOPLE * WAKERS; i++) {
        crowd->wakers[i].target = (struct rt_target){.key = {0, 0}};
        crowd->wakers[i].crowd = crowd;
        crowd->wakers[i].number = (uint8_t)i;
    }
    crowd->heard.count = 0;
    crowd->owed.count = 0;
    crowd->on_wake = 0;
    crowd->foreign_held = 0;
}

/* The context of a poll with waker `number`, which belongs to person number / WAKERS. */
static inline struct rt_cx *
crowd_cx(struct crowd *crowd, uint32_t number)
{
    struct person_waker *person = &crowd->wakers[number];
    struct rt_waker waker = {&crowd_foreign, (uintptr_t)person};
    if (number % WAKERS < LOCAL) {
        if (person->target.key.generation == 0) {
            fuzz_check(rt_target_open(&person->target, &crowd->executor, crowd_target_woken) == 0);
        }
        waker = rt_target_waker(&person->target);
    }
    rt_cx_init(&crowd->cx, &crowd->executor, &crowd->task, waker);
    return &crowd->cx;
}

/* Waker `number` wakes nobody from now on. False for a foreign one, which lives on. */
static inline bool
crowd_end(struct crowd *crowd, uint32_t number)
{
    if (number % WAKERS >= LOCAL) {
        return false;
    }
    rt_target_close(&crowd->wakers[number].target);
    return true;
}

/* After each operation: those were woken whom the model woke, in its order. */
static inline void
crowd_compare(struct crowd *crowd)
{
    fuzz_check(crowd->heard.count == crowd->owed.count);
    for (uint32_t i = 0; i < crowd->heard.count; i++) {
        fuzz_check(crowd->heard.numbers[i] == crowd->owed.numbers[i]);
    }
    crowd->heard.count = 0;
    crowd->owed.count = 0;
}

/* After the input, when nobody waits any more: no waker is left anywhere. */
static inline void
crowd_fini(struct crowd *crowd)
{
    crowd_compare(crowd);
    fuzz_check(rt_list_empty(&crowd->task.slots));
    fuzz_check(crowd->foreign_held == 0);
    fuzz_check(crowd->executor.counters.clones == crowd->executor.counters.returned);
    rt_executor_audit(&crowd->executor);
    for (uint32_t i = 0; i < PEOPLE * WAKERS; i++) {
        (void)crowd_end(crowd, i);
    }
    rt_task_fini(&crowd->task);
    rt_executor_fini(&crowd->executor);
}

FUZZ_UNSEEN_END

#endif
