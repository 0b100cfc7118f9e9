/*
 * player.c -- scripts, letter by letter.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "runtime/tests/player.h"

#include <string.h>

static void
player_do(struct player *player, struct rt_cx *cx, char what)
{
    switch (what) {
    case 'w':
        rt_cx_reenqueue(cx);
        return;
    case 'o':
        rt_task_wake(&player->other->task);
        return;
    case '+':
        EXPECT_EQ(rt_post(cx->executor, &player->other->task), RT_OK);
        return;
    case 'e':
        player->dumb->host.ready[0] = true;
        return;
    case 'c':
        player->dumb->host.now_ns += 100;
        return;
    case 'k':
        player->kept = rt_waker_clone(rt_cx_waker(cx));
        return;
    case 'r':
        rt_slot_replace(&player->slot, cx, "its slot");
        return;
    case 'x':
        rt_task_cancel(&player->other->task);
        return;
    case 'm':
        EXPECT_EQ(rt_task_migrate(&player->other->task), RT_OK);
        return;
    case 'n':
        player->nested = rt_block_on(cx->runtime, &player->other->task);
        EXPECT_EQ(rt_run_to_completion(cx->runtime), RT_E_REENTERED);
        EXPECT_EQ(rt_runtime_turn(cx->runtime, RT_TURN_POLL, NULL), RT_E_REENTERED);
        return;
    default:
        ck_abort_msg("no such letter in a script: '%c'", what);
    }
}

/* Waits for source `source`, and takes it. */
static rt_poll
player_wait(struct player *player, struct rt_cx *cx, uint32_t source)
{
    if (player->pollable.host == NULL) {
        dumb_subscribe(&player->dumb->host, source, &player->pollable);
    }
    RT_AWAIT(rt_wait_for(&player->wait, &player->pollable, cx));
    player->dumb->host.ready[source] = false;
    rt_pollable_drop(&player->pollable);
    return RT_READY;
}

static rt_poll
player_sleep(struct player *player, struct rt_cx *cx)
{
    if (player->deadline_ns == 0) {
        player->deadline_ns = rt_cx_now(cx) + 100;
        rt_slot_replace(&player->timer.slot, cx, "sleep");
        rt_timer_start(&cx->runtime->timers, &player->timer, player->deadline_ns);
        return RT_PENDING;
    }
    if (rt_cx_now(cx) < player->deadline_ns) {
        rt_slot_replace(&player->timer.slot, cx, "sleep");
        return RT_PENDING;
    }
    player->deadline_ns = 0;
    return RT_READY;
}

static rt_poll
player_poll(struct rt_task *task, struct rt_cx *cx)
{
    struct player *player = rt_container_of(task, struct player, task);
    dumb_log(player->dumb, task->name);
    for (;; player->script++) {
        char what = *player->script;
        ck_assert_msg(what != '\0', "%s was polled past the end of its script", task->name);
        if (what == '!') {
            return RT_READY;
        }
        if (what == '.' || what == 'p') {
            player->script++;
            return what == '.' ? RT_PENDING : rt_cx_park(cx);
        }
        if (what == '*') {
            rt_cx_reenqueue(cx);
            return RT_PENDING;
        }
        if (what == 't') {
            RT_AWAIT(player_sleep(player, cx));
        } else if (what >= '0' && what <= '9') {
            RT_AWAIT(player_wait(player, cx, (uint32_t)(what - '0')));
        } else {
            player_do(player, cx, what);
        }
    }
}

void
player_cleanup(struct rt_task *task)
{
    struct player *player = rt_container_of(task, struct player, task);
    rt_wait_cancel(&player->wait);
    rt_pollable_drop(&player->pollable);
    (void)rt_timer_cancel(&player->dumb->runtime.timers, &player->timer);
    rt_waker_drop(&player->kept);
}

void
player_init(struct player *player, struct dumb_runtime *dumb, const char *name, const char *script)
{
    memset(player, 0, sizeof(*player));
    rt_task_init(&player->task, player_poll, player_cleanup, name);
    rt_wait_init(&player->wait);
    rt_slot_init(&player->slot);
    rt_timer_init(&player->timer);
    player->dumb = dumb;
    player->script = script;
}

void
player_start(struct player *player, struct dumb_runtime *dumb, const char *name, const char *script)
{
    player_init(player, dumb, name, script);
    EXPECT_EQ(rt_post(&dumb->runtime.executor, &player->task), RT_OK);
}

void
player_finish(struct dumb_runtime *dumb)
{
    rt_executor_audit(&dumb->runtime.executor);
    rt_reactor_audit(&dumb->runtime.reactor);
    rt_timers_audit(&dumb->runtime.timers);
    rt_terminate(&dumb->runtime.executor);
    dumb_fini(dumb);
}

void
player_must_not_block(struct dumb_host *host)
{
    (void)host;
    ck_abort_msg("the host was asked to block");
}

void
player_next_source(struct dumb_host *host)
{
    host->ready[host->blocks - 1] = true;
}
