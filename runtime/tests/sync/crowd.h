/*
 * crowd.h -- tasks that sleep until they are woken, on whose behalf a test polls futures by hand.
 *
 * Task a is number 0, b number 1 and so on. `crowd_cx` is the context of a poll of one of them;
 * `crowd_woken` runs the executor and lists the tasks woken since, in the order of polls: "a c".
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef RT_TESTS_SYNC_CROWD_H
#define RT_TESTS_SYNC_CROWD_H

#include "runtime/tests/bed.h"

#define CROWD 8

struct person {
    struct rt_task task;
    struct rt_slot slot;
    struct rt_cx cx;
    struct bed *bed;
};

struct crowd {
    struct bed bed;
    struct person people[CROWD];
};

static inline rt_poll
person_poll(struct rt_task *task, struct rt_cx *cx)
{
    struct person *person = rt_container_of(task, struct person, task);
    bed_log(person->bed, "", task->name);
    rt_slot_replace(&person->slot, cx, "whatever the test does");
    return RT_PENDING;
}

/* Polls all woken tasks, and names them. */
static inline const char *
crowd_woken(struct crowd *crowd)
{
    crowd->bed.log[0] = '\0';
    (void)bed_run(&crowd->bed);
    return crowd->bed.log;
}

static inline void
crowd_post(struct crowd *crowd, int i)
{
    EXPECT_EQ(rt_post(&crowd->bed.executor, &crowd->people[i].task), RT_OK);
    (void)crowd_woken(crowd);
}

static inline void
crowd_init(struct crowd *crowd)
{
    static const char *const names[CROWD] = {"a", "b", "c", "d", "e", "f", "g", "h"};
    bed_init(&crowd->bed);
    for (int i = 0; i < CROWD; i++) {
        struct person *person = &crowd->people[i];
        person->bed = &crowd->bed;
        rt_slot_init(&person->slot);
        rt_task_init(&person->task, person_poll, NULL, names[i]);
        crowd_post(crowd, i);
    }
}

static inline struct rt_cx *
crowd_cx(struct crowd *crowd, int i)
{
    struct person *person = &crowd->people[i];
    rt_cx_init(&person->cx, &crowd->bed.executor, &person->task,
            rt_target_waker(&person->task.target));
    return &person->cx;
}

/* Its task ends, and drops nothing. */
static inline void
crowd_end(struct crowd *crowd, int i)
{
    rt_task_cancel(&crowd->people[i].task);
}

#endif
