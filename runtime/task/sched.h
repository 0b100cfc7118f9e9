/*
 * sched.h -- in which order woken tasks are polled: the hook, and two policies.
 *
 * A policy sees numbers only (a task's index in the executor's slab), so no
 * order can depend on an address (D1). It holds each number at most once, from
 * push to pop or remove.
 *
 * fifo       first woken, first polled; the default.
 * lifo-slot  the task woken last is polled next, the others in fifo order; the
 *            slot is used at most three times in a row, so that two tasks that
 *            wake each other cannot starve a third.
 *
 * Further ones are in runtime/sched/: priority, earliest deadline first (ranked.h) and fair shares
 * (fair.h). They order tasks by the task's rank, a number whose meaning is the policy's.
 *
 * "any" is the simulator's: it implements this hook, and each pick is a decision.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef RT_TASK_SCHED_H
#define RT_TASK_SCHED_H

#include <stdbool.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define RT_SCHED_NONE UINT32_MAX

struct rt_sched;

struct rt_sched_ops {
    /* `id` is to be polled. It is not in the policy now. */
    void (*push)(struct rt_sched *sched, uint32_t id);
    /* Takes out the task to poll next; RT_SCHED_NONE when there is none, or none that may run: a
     * run call then ends, and the tasks held back stay woken. */
    uint32_t (*pop)(struct rt_sched *sched);
    /* Takes `id` out if it is in (T16): its task was cancelled, or is about to be polled anyway. */
    void (*remove)(struct rt_sched *sched, uint32_t id);
    /* `id` names a task that was just posted, with this rank; before its first push. NULL: this
     * policy uses no rank. */
    void (*admit)(struct rt_sched *sched, uint32_t id, uint64_t rank);
    /* The rank of `id`, which may be in the policy now, has changed. NULL where `admit` is. */
    void (*rank)(struct rt_sched *sched, uint32_t id, uint64_t rank);
};

/* Embedded in a policy's own struct. */
struct rt_sched {
    const struct rt_sched_ops *ops;
};

/* Links of one number; the caller provides one per executor entry. */
struct rt_sched_link {
    uint32_t next;
    uint32_t prev;
    bool queued;
};

struct rt_sched_fifo {
    struct rt_sched sched;
    struct rt_sched_link *links;
    uint32_t capacity;
    uint32_t head;
    uint32_t tail;
};

struct rt_sched_lifo_slot {
    struct rt_sched sched;
    struct rt_sched_fifo queue;
    uint32_t slot;     /* RT_SCHED_NONE while empty. */
    uint32_t in_a_row; /* Polls from the slot since the last one from the queue. */
};

#define RT_SCHED_LIFO_IN_A_ROW_MAX 3u

/* Borrows `links`, one for each number below `capacity`; they need not be initialised. */
void rt_sched_fifo_init(struct rt_sched_fifo *fifo, struct rt_sched_link *links, uint32_t capacity);
void rt_sched_lifo_slot_init(
        struct rt_sched_lifo_slot *lifo, struct rt_sched_link *links, uint32_t capacity);

#ifdef __cplusplus
}
#endif
#endif
