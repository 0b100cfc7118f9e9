/*
 * invented-timer.c -- one timer for all sessions is armed again for the wrong one.
 *
 * A relative of E21 and A16, invented: no public issue.
 *
 * The bug. Idle sessions expire. They are in a list, the least recently used first, and one timer
 * is armed for the first. When that one is used it moves to the end of the list and the timer must
 * be armed again; it is armed for the same session's new deadline, and not for that of the session
 * that is first now. That one lives until then.
 *
 * The fix. The timer is armed for the first of the list: session_use() below.
 *
 * Here. Three clients use a session each, four times, with pauses, and then wait for its end. The
 * reaper ends all expired sessions when it is polled; with the bug it is polled too late.
 *
 * Cause: never-fired in session_use or replaced in session_use
 * Must end in: late-wakeup of the reaper. Fails on the baseline run: no.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "sim/rewake.h"

#define IDLE_NS RT_MS

enum { CLIENTS = 3, PAUSES = 3 };

/* ---- The sessions, and the task that ends them. ---------------------------------------------- */

struct reaper {
    struct rt_task task;
    struct rt_list sessions; /* By deadline: all have the same limit. */
    struct rt_timer timer;
    uint32_t ended;
    bool broken;
};

struct session {
    struct rt_list node;
    struct reaper *reaper;
    uint64_t deadline_ns;
    bool over;
    struct rt_slot end;
};

/* The list is not empty. */
static struct session *
first_session(const struct reaper *reaper)
{
    return rt_container_of(reaper->sessions.next, struct session, node);
}

/* Called when a session is opened or used. */
static void
session_use(struct session *session, struct rt_cx *cx)
{
    struct reaper *reaper = session->reaper;
    bool was_first = rt_list_empty(&reaper->sessions) || first_session(reaper) == session;
    session->deadline_ns = rt_cx_now(cx) + IDLE_NS;
    rt_list_unlink(&session->node);
    rt_list_push_back(&reaper->sessions, &session->node);
    if (was_first) {
        const struct session *next = reaper->broken ? session : first_session(reaper);
        rt_timer_start(&cx->runtime->timers, &reaper->timer, next->deadline_ns);
    }
}

static rt_poll
session_end_poll(struct session *session, struct rt_cx *cx)
{
    if (session->over) {
        return RT_READY;
    }
    rt_slot_replace(&session->end, cx, "the end of its session");
    return RT_PENDING;
}

static bool
any_over(const struct reaper *reaper, const struct rt_cx *cx)
{
    return !rt_list_empty(&reaper->sessions) && first_session(reaper)->deadline_ns <= rt_cx_now(cx);
}

static rt_poll
reaper_poll(struct rt_task *task, struct rt_cx *cx)
{
    struct reaper *reaper = rt_container_of(task, struct reaper, task);
    struct rt_timers *timers = &cx->runtime->timers;
    while (any_over(reaper, cx)) {
        struct session *first = first_session(reaper);
        rt_list_unlink(&first->node);
        first->over = true;
        reaper->ended++;
        rt_slot_wake(&first->end);
    }
    if (reaper->ended == CLIENTS) {
        rt_timer_cancel(timers, &reaper->timer);
        return RT_READY;
    }
    rt_slot_replace(&reaper->timer.slot, cx, "an idle session");
    if (!rt_list_empty(&reaper->sessions)) {
        rt_timer_start(timers, &reaper->timer, first_session(reaper)->deadline_ns);
    }
    return RT_PENDING;
}

/* ---- The clients. ---------------------------------------------------------------------------- */

struct client {
    struct rt_task task;
    uint32_t at;
    uint32_t used;
    struct session session;
    struct rt_sleep arrival;
    struct rt_sleep pause;
    uint64_t pauses[PAUSES];
};

static rt_poll
client_poll(struct rt_task *task, struct rt_cx *cx)
{
    struct client *client = rt_container_of(task, struct client, task);
    RT_BEGIN(client->at);
    RT_AWAIT_HERE(client->at, rt_sleep_poll(&client->arrival, cx));
    session_use(&client->session, cx);
    for (client->used = 0; client->used < PAUSES; client->used++) {
        rt_sleep_init(&client->pause, client->pauses[client->used]);
        RT_AWAIT_HERE(client->at, rt_sleep_poll(&client->pause, cx));
        if (!client->session.over) {
            session_use(&client->session, cx);
        }
    }
    RT_AWAIT_HERE(client->at, session_end_poll(&client->session, cx));
    RT_END(client->at);
}

static void
begin(struct sim_world *world, bool broken)
{
    static const char *const names[CLIENTS] = {"ann", "bob", "cem"};
    struct sim_rt *rt = sim_rt_new(world, NULL);
    struct reaper *reaper = sim_new(world, struct reaper);
    reaper->broken = broken;
    rt_list_init(&reaper->sessions);
    rt_timer_init(&reaper->timer);
    rt_task_init(&reaper->task, reaper_poll, NULL, "reaper");
    sim_spawn(rt, &reaper->task);
    for (uint32_t i = 0; i < CLIENTS; i++) {
        struct client *client = sim_new(world, struct client);
        client->session.reaper = reaper;
        rt_list_init(&client->session.node);
        rt_slot_init(&client->session.end);
        rt_sleep_init(&client->arrival, sim_range(world, 0, RT_MS));
        for (uint32_t k = 0; k < PAUSES; k++) {
            client->pauses[k] = sim_range(world, 0, RT_MS);
        }
        rt_task_init(&client->task, client_poll, NULL, names[i]);
        sim_spawn(rt, &client->task);
    }
}

static void
setup_broken(struct sim_world *world)
{
    begin(world, true);
}

static void
setup_fixed(struct sim_world *world)
{
    begin(world, false);
}

SIM_SCENARIO(zoo_invented_timer_broken, .name = "zoo/invented-timer/broken", .bug = "R04",
        .reference = "relative of E21, A16",
        .about = "The timer for the first deadline follows a session that was used.",
        .setup = setup_broken, .expect = SIM_VERDICT_LATE_WAKEUP);
SIM_SCENARIO(zoo_invented_timer_fixed, .name = "zoo/invented-timer/fixed",
        .about = "The timer is armed for the first deadline.", .setup = setup_fixed);
