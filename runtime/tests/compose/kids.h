/*
 * kids.h -- futures for the tests of combinators, which log what happens to them.
 *
 * A kid logs its name when it is polled, in capitals when it answers READY and after a
 * minus when it is dropped, so a test reads as what happened and the word expected.
 * A bar is where the parent's poll began.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef RT_TESTS_COMPOSE_KIDS_H
#define RT_TESTS_COMPOSE_KIDS_H

#include <string.h>

#include "runtime/compose/children.h"
#include "runtime/tests/test.h"
#include "runtime/tests/time/clockwork.h"

static struct clockwork clockwork;
static char said[256];

static inline void
say(char c)
{
    size_t length = strlen(said);
    EXPECT(length + 1 < sizeof(said));
    said[length] = c;
    said[length + 1] = 0;
}

/* Compares what was said since the last time. */
#define EXPECT_SAID(expected) \
    do { \
        EXPECT_STR(said, expected); \
        said[0] = 0; \
    } while (0)

struct kid {
    struct rt_future future;
    struct rt_slot slot;
    char name;
    bool ready;
    rt_err err;           /* How it ends; for those that may fail. */
    struct kid *wakes;    /* Which it wakes during its next poll; NULL: none. */
    bool keeps;           /* It clones its waker at its next poll … */
    struct rt_waker kept; /* … into here. */
};

static inline rt_poll
kid_poll(struct rt_future *future, struct rt_cx *cx)
{
    struct kid *kid = rt_container_of(future, struct kid, future);
    say((char)(kid->ready ? kid->name - 'a' + 'A' : kid->name));
    if (kid->keeps) {
        kid->keeps = false;
        kid->kept = rt_waker_clone(rt_cx_waker(cx));
    }
    rt_slot_replace(&kid->slot, cx, "kid");
    struct kid *other = kid->wakes;
    kid->wakes = NULL;
    if (other != NULL) {
        (void)rt_slot_wake(&other->slot);
    }
    if (kid->ready) {
        (void)rt_slot_clear(&kid->slot);
    }
    return kid->ready ? RT_READY : RT_PENDING;
}

/* Wakes what it can when it is dropped: that must have no effect. */
static inline void
kid_drop(struct rt_future *future)
{
    struct kid *kid = rt_container_of(future, struct kid, future);
    say('-');
    say(kid->name);
    (void)rt_slot_wake(&kid->slot);
}

static inline void
kid_init(struct kid *kid, char name)
{
    *kid = (struct kid){.name = name};
    rt_slot_init(&kid->slot);
    rt_future_init(&kid->future, kid_poll, kid_drop, "kid");
}

/* `count` kids named a, b, c …, as the children of a combinator; forgets all that was before. */
static inline void
kids_init(struct kid *kids, struct rt_child *children, uint32_t count)
{
    clockwork_init(&clockwork, 0);
    said[0] = 0;
    for (uint32_t i = 0; i < count; i++) {
        kid_init(&kids[i], (char)('a' + (int)i));
        children[i].future = &kids[i].future;
    }
}

/* A wake for `kid`, after which it is ready or not. */
static inline void
kid_wake(struct kid *kid, bool ready)
{
    kid->ready = ready;
    (void)rt_slot_wake(&kid->slot);
}

static inline uint64_t
targets_open(void)
{
    return clockwork.runtime.executor.targets.used;
}

#endif
