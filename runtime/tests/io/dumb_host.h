/*
 * dumb_host.h -- a host without an outside: flags for sources, and a clock moved by hand.
 *
 * A source is a number below DUMB_SOURCES and is ready while its flag is set. What
 * happens while the host is blocked is the test's: `blocked` is called, over and
 * over, until something in the list is ready; without it the clock moves to the
 * earliest deadline in the list. A poll that nothing can end fails the test.
 *
 * An honest answer is every ready entry in list order. `at_most`, `backwards` and
 * `last_first` make it another legal one, `lie` an illegal one.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef RT_TESTS_IO_DUMB_HOST_H
#define RT_TESTS_IO_DUMB_HOST_H

#include "runtime/runtime.h"
#include "runtime/tests/spy.h"
#include "runtime/tests/test.h"

#ifdef __cplusplus
extern "C" {
#endif

#define DUMB_SOURCES 64u
#define DUMB_POLLABLES 160u

enum dumb_kind { DUMB_FREE, DUMB_SOURCE, DUMB_INSTANT, DUMB_NOTIFY };

struct dumb_entry {
    enum dumb_kind kind;
    uint32_t source;
    uint64_t instant_ns;
};

struct dumb_host {
    struct rt_host seam;
    struct rt_host_ops ops; /* A copy, so that a test can replace one. */
    uint64_t now_ns;
    bool ready[DUMB_SOURCES];
    bool notified;
    struct dumb_entry entries[DUMB_POLLABLES]; /* By handle. */
    uint32_t capacity;                         /* Pollables that fit; subscribe is full then. */
    uint32_t alive;

    void (*blocked)(struct dumb_host *host);
    void *argument;   /* For `blocked` and `lie`. */
    uint32_t at_most; /* Of an answer; 0: all. */
    bool backwards;   /* The answer from the end of the list to its beginning … */
    bool last_first;  /* … or only its last moved to the front. */
    rt_err (*lie)(struct dumb_host *host, uint32_t *indices, uint32_t *ready);

    /* What has been asked so far. */
    uint32_t polls;
    uint32_t empty_polls; /* With nothing in the list: no runtime does that (P3, R5). */
    uint32_t blocks;      /* Polls that found nothing ready. */
    uint32_t notifies;
    uint32_t readies;
    uint32_t subscribes;
    uint32_t list_count; /* The last list. */
    struct rt_pollable *list[DUMB_POLLABLES];
};

void dumb_host_init(struct dumb_host *host);

/* Interest in source number `source`. */
void dumb_subscribe(struct dumb_host *host, uint32_t source, struct rt_pollable *pollable);

/* How often the last list holds an interest in `source`, or a deadline, or the notify. */
uint32_t dumb_listed(const struct dumb_host *host, uint32_t source);
uint32_t dumb_listed_kind(const struct dumb_host *host, enum dumb_kind kind);

/* ---- A runtime over it, with memory for all of it. ------------------------------------------- */

#define DUMB_TASKS 64u
#define DUMB_WAITS 32u

struct dumb_runtime {
    struct dumb_host host;
    struct rt_runtime runtime;
    struct rt_slab_entry tasks[DUMB_TASKS];
    struct rt_sched_link links[DUMB_TASKS];
    struct rt_list *slots[RT_TIMERS_SLOTS(RT_TIMERS_LEVELS, RT_TIMERS_BITS)];
    struct rt_slab_entry pollables[DUMB_WAITS];
    struct rt_pollable *list[DUMB_WAITS + RT_POLLER_EXTRA];
    struct rt_key list_keys[DUMB_WAITS + RT_POLLER_EXTRA];
    uint32_t ready[DUMB_WAITS + RT_POLLER_EXTRA];
    struct rt_key keys[DUMB_WAITS];
    char log[1024]; /* Words, in the order in which things happened. */
};

/* Everything it borrows, for tests that want to change something. */
struct rt_runtime_config dumb_config(struct dumb_runtime *dumb);

/* Fills all memory with rubbish first. */
void dumb_init(struct dumb_runtime *dumb);

/* Ends the runtime; nothing of the host is alive afterwards (P9). */
void dumb_fini(struct dumb_runtime *dumb);

/* Appends a word. */
void dumb_log(struct dumb_runtime *dumb, const char *word);

/* Polls what is woken until all sleep. */
void dumb_run(struct dumb_runtime *dumb);

/* ---- Readers: tasks that wait for one source, take it, and wait again. ----------------------- */

struct reader {
    struct rt_task task;
    struct dumb_runtime *dumb;
    struct rt_pollable pollable;
    struct rt_pollable *shared; /* Whose pollable it waits for; its own unless changed. */
    struct rt_wait wait;
    uint32_t source;
    uint32_t times;  /* READY after having found its source ready this often. */
    bool keeps;      /* Leaves the source ready. */
    struct spy *spy; /* Waits through a waker from outside, whose hook must wake the task. */
    void (*then)(struct reader *reader, struct rt_cx *cx); /* At each time; may be NULL. */
    struct reader *other;                                  /* For `then`. */
};

/* A reader of `source` that is done after `times`; its name is logged at each poll. Not posted. */
void reader_init(struct reader *reader, struct dumb_runtime *dumb, const char *name,
        uint32_t source, uint32_t times);

/* As reader_init, and posted. */
void reader_start(struct reader *reader, struct dumb_runtime *dumb, const char *name,
        uint32_t source, uint32_t times);

#ifdef __cplusplus
}
#endif
#endif
