/*
 * turn.h -- turns of a reactor taken by hand, and what they woke.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef RT_TESTS_IO_TURN_H
#define RT_TESTS_IO_TURN_H

#include "runtime/io/reactor.h"
#include "runtime/tests/io/dumb_host.h"

/* One turn; how many waits it woke. Audits. */
static inline uint32_t
turn(struct dumb_runtime *dumb, enum rt_turn_mode mode)
{
    uint32_t woken = 77;
    EXPECT_EQ(rt_reactor_turn(&dumb->runtime.reactor, mode, NULL, 0, &woken), RT_OK);
    rt_reactor_audit(&dumb->runtime.reactor);
    return woken;
}

/* Forgets what was logged, polls what is woken, and returns the log of that. */
static inline const char *
run(struct dumb_runtime *dumb)
{
    dumb->log[0] = '\0';
    dumb_run(dumb);
    return dumb->log;
}

static inline void
finish(struct dumb_runtime *dumb)
{
    rt_terminate(&dumb->runtime.executor);
    dumb_fini(dumb);
}

#endif
