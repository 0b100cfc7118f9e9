/*
 * player.h -- tasks that follow a script, for the tests of the loops.
 *
 * One letter at a time, up to the next answer:
 *
 *      answers   .  PENDING      !  READY       p  PARKED
 *      w  wake itself            o  wake the other task     +  post the other
 *      m  give the other another waker
 *      r  store in its slot      x  cancel the other        n  run the loop from inside
 *      0..9  wait for that source, and continue when it was ready
 *      t  sleep 100 ns           k  clone its waker and keep it
 *      e  source 0 has an event  c  the clock advances by 100 ns
 *      *  from here on, "w." forever
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef RT_TESTS_PLAYER_H
#define RT_TESTS_PLAYER_H

#include "runtime/runtime.h"
#include "runtime/tests/io/dumb_host.h"

struct player {
    struct rt_task task;
    struct dumb_runtime *dumb;
    const char *script; /* What is left of it. */
    struct player *other;
    struct rt_pollable pollable;
    struct rt_wait wait;
    struct rt_slot slot;
    struct rt_timer timer;
    struct rt_waker kept;
    uint64_t deadline_ns; /* 0: no sleep is going on. */
    rt_err nested;        /* What 'n' was answered. */
};

/* Makes a task that is not posted; `script` is borrowed. player_start posts it, too. */
void player_init(
        struct player *player, struct dumb_runtime *dumb, const char *name, const char *script);
void player_start(
        struct player *player, struct dumb_runtime *dumb, const char *name, const char *script);

/* What a player does when it has ended. */
void player_cleanup(struct rt_task *task);

/* Checks that everything is as it should be, and ends the runtime. */
void player_finish(struct dumb_runtime *dumb);

/* For dumb_host.blocked: a failure. */
void player_must_not_block(struct dumb_host *host);

/* Likewise: each time the host blocks, the next source becomes ready: 0, 1, 2 … */
void player_next_source(struct dumb_host *host);

#endif
