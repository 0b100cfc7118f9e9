/*
 * t_session.c -- A chat session waits for messages or for shutdown, whichever comes first; a
 * room posts messages.
 *
 * Cause: The session stores its waker for messages only at its first poll; the first message
 * empties the slot, it is never armed again, and later messages wake no one.
 * Where: session_poll
 * Kind: missing re-arm
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "sim/rewake.h"

#define MESSAGES 3

static bool fixed;

struct session {
    struct rt_task task;
    struct rt_slot message;
    struct rt_slot shutdown;
    bool registered;
    bool closing;
    uint32_t queued;
    uint32_t seen;
};

struct room {
    struct rt_task task;
    struct session *session;
    struct rt_sleep pause;
    uint32_t at;
    uint32_t i;
    uint64_t gap;
};

static rt_poll
session_poll(struct rt_task *task, struct rt_cx *cx)
{
    struct session *session = rt_container_of(task, struct session, task);
    while (session->queued > 0) {
        session->queued--;
        session->seen++;
        SIM_PROGRESS();
    }
    if (session->seen == MESSAGES || session->closing) {
        return RT_READY;
    }
    if (fixed || !session->registered) { /* Where. */
        rt_slot_replace(&session->message, cx, "a message");
        session->registered = true;
    }
    rt_slot_replace(&session->shutdown, cx, "shutdown");
    return RT_PENDING;
}

static rt_poll
room_poll(struct rt_task *task, struct rt_cx *cx)
{
    struct room *room = rt_container_of(task, struct room, task);
    RT_BEGIN(room->at);
    for (room->i = 0; room->i < MESSAGES; room->i++) {
        rt_sleep_init(&room->pause, room->gap);
        RT_AWAIT_HERE(room->at, rt_sleep_poll(&room->pause, cx));
        room->session->queued++;
        rt_slot_wake(&room->session->message);
    }
    RT_END(room->at);
}

static void
setup(struct sim_world *world)
{
    struct sim_rt *rt = sim_rt_new(world, NULL);
    struct session *session = sim_new(world, struct session);
    struct room *room = sim_new(world, struct room);
    rt_slot_init(&session->message);
    rt_slot_init(&session->shutdown);
    room->session = session;
    room->gap = sim_range(world, 0, RT_MS);
    rt_task_init(&session->task, session_poll, NULL, "session");
    rt_task_init(&room->task, room_poll, NULL, "room");
    sim_spawn(rt, &session->task);
    sim_spawn(rt, &room->task);
}

static void
setup_broken(struct sim_world *world)
{
    fixed = false;
    setup(world);
}

static void
setup_fixed(struct sim_world *world)
{
    fixed = true;
    setup(world);
}

SIM_SCENARIO(form_broken, .name = "unseen/t-session/broken",
        .about = "A session waits for messages or shutdown.", .setup = setup_broken,
        .expect = SIM_VERDICT_LOST_WAKEUP);
SIM_SCENARIO(form_fixed, .name = "unseen/t-session/fixed",
        .about = "A session waits for messages or shutdown.", .setup = setup_fixed);
