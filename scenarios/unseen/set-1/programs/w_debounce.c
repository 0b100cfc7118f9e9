/*
 * w_debounce.c -- An editor's spell checker is debounced: it runs when no key was pressed for 2
 * ms; each key restarts the delay.
 *
 * Cause: After a key the checker makes its delay again but goes back to sleep without polling it,
 * so the new delay is never armed and only another key would wake the task.
 * Where: checker_poll
 * Kind: missing re-arm
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "sim/rewake.h"

#define KEYS 3

static bool fixed;

struct editor {
    struct rt_task checker;
    struct rt_task user;
    struct rt_slot key;
    struct rt_sleep quiet;
    struct rt_sleep types;
    uint64_t gaps[KEYS];
    uint32_t pressed;
    uint32_t seen;
    uint32_t checked;
    uint32_t i;
    uint32_t at;
    bool delayed;
};

static rt_poll
checker_poll(struct rt_task *task, struct rt_cx *cx)
{
    struct editor *editor = rt_container_of(task, struct editor, checker);
    if (editor->seen < editor->pressed) {
        editor->seen = editor->pressed;
        rt_sleep_cancel(&editor->quiet);
        rt_sleep_init(&editor->quiet, 2 * RT_MS);
        if (editor->delayed && !fixed) {
            rt_slot_replace(&editor->key, cx, "a key, or two quiet milliseconds");
            return RT_PENDING; /* Where. */
        }
        editor->delayed = true;
    }
    if (editor->delayed && rt_sleep_poll(&editor->quiet, cx) == RT_READY) {
        editor->checked = editor->seen;
        editor->delayed = false;
    }
    if (editor->checked == KEYS) {
        return RT_READY;
    }
    rt_slot_replace(&editor->key, cx, "a key, or two quiet milliseconds");
    return RT_PENDING;
}

static rt_poll
user_poll(struct rt_task *task, struct rt_cx *cx)
{
    struct editor *editor = rt_container_of(task, struct editor, user);
    RT_BEGIN(editor->at);
    for (editor->i = 0; editor->i < KEYS; editor->i++) {
        rt_sleep_init(&editor->types, editor->gaps[editor->i]);
        RT_AWAIT_HERE(editor->at, rt_sleep_poll(&editor->types, cx));
        editor->pressed++;
        rt_slot_wake(&editor->key);
    }
    RT_END(editor->at);
}

static void
setup(struct sim_world *world)
{
    struct sim_rt *rt = sim_rt_new(world, NULL);
    struct editor *editor = sim_new(world, struct editor);
    rt_slot_init(&editor->key);
    rt_sleep_init(&editor->quiet, 0);
    for (int i = 0; i < KEYS; i++) {
        editor->gaps[i] = 4 * RT_MS - sim_range(world, 0, 7) * 500 * RT_US;
    }
    rt_task_init(&editor->checker, checker_poll, NULL, "checker");
    rt_task_init(&editor->user, user_poll, NULL, "user");
    sim_spawn(rt, &editor->checker);
    sim_spawn(rt, &editor->user);
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

SIM_SCENARIO(form_broken, .name = "unseen/w-debounce/broken", .about = "A debounced spell checker.",
        .setup = setup_broken, .expect = SIM_VERDICT_LOST_WAKEUP);
SIM_SCENARIO(form_fixed, .name = "unseen/w-debounce/fixed", .about = "A debounced spell checker.",
        .setup = setup_fixed);
