/* Cause: change_poll(), line 41: the follower compared the version, then waited for the printer, and listens only
 * now: a change in between is heard by nobody; repair: compare again between the first poll and the wait. */
#include <sim/rewake.h>

/* Followers apply each new configuration; a broadcast says that there is one. A printer is shared. */

#define FOLLOWERS 2
#define LAST 3

struct config {
    bool fixed;
    uint32_t version;
    struct rt_broadcast changed;
    struct rt_mutex printer;
};

struct follower {
    struct rt_task task;
    struct config *config;
    struct rt_lock lock;
    struct rt_sleep printing;
    struct rt_heard heard;
    uint64_t printing_ns;
    uint32_t at;
    uint32_t applied;
};

struct editor {
    struct rt_task task;
    struct config *config;
    struct rt_sleep pause;
    uint64_t pause_ns[LAST + 1];
    uint32_t at;
};

/* Listens from its first poll on; what was changed before that it must see by itself. */
static rt_poll
change_poll(struct follower *follower, struct rt_cx *cx)
{
    rt_poll answer = rt_heard_poll(&follower->heard, cx);
    bool look = follower->config->fixed;
    if (answer != RT_READY && look && follower->applied < follower->config->version) {
        rt_heard_drop(&follower->heard);
        return RT_READY;
    }
    return answer;
}

static rt_poll
follower_poll(struct rt_task *task, struct rt_cx *cx)
{
    struct follower *follower = rt_container_of(task, struct follower, task);
    struct config *config = follower->config;
    RT_BEGIN(follower->at);
    while (follower->applied < LAST) {
        follower->applied = config->version;
        rt_lock_init(&follower->lock, &config->printer);
        RT_AWAIT_HERE(follower->at, rt_lock_poll(&follower->lock, cx));
        rt_sleep_init(&follower->printing, follower->printing_ns);
        RT_AWAIT_HERE(follower->at, rt_sleep_poll(&follower->printing, cx));
        rt_mutex_unlock(&config->printer);
        if (follower->applied == LAST) {
            break;
        }
        rt_heard_init(&follower->heard, &config->changed);
        RT_AWAIT_HERE(follower->at, change_poll(follower, cx));
    }
    RT_END(follower->at);
}

static rt_poll
editor_poll(struct rt_task *task, struct rt_cx *cx)
{
    struct editor *editor = rt_container_of(task, struct editor, task);
    struct config *config = editor->config;
    RT_BEGIN(editor->at);
    while (config->version < LAST) {
        rt_sleep_init(&editor->pause, editor->pause_ns[config->version]);
        RT_AWAIT_HERE(editor->at, rt_sleep_poll(&editor->pause, cx));
        config->version++;
        (void)rt_broadcast_fire(&config->changed);
    }
    RT_END(editor->at);
}

static void
begin(struct sim_world *world, bool fixed)
{
    static const char *const names[FOLLOWERS] = {"router", "firewall"};
    struct sim_rt *rt = sim_rt_new(world, NULL);
    struct config *config = sim_new(world, struct config);
    struct editor *editor = sim_new(world, struct editor);
    config->fixed = fixed;
    rt_broadcast_init(&config->changed);
    rt_mutex_init(&config->printer);
    for (uint32_t i = 0; i < FOLLOWERS; i++) {
        struct follower *follower = sim_new(world, struct follower);
        follower->config = config;
        follower->printing_ns = sim_range(world, 300 * RT_US, 2 * RT_MS);
        rt_task_init(&follower->task, follower_poll, NULL, names[i]);
        sim_spawn(rt, &follower->task);
    }
    editor->config = config;
    for (uint32_t i = 0; i <= LAST; i++) {
        editor->pause_ns[i] = sim_range(world, 2 * RT_MS, 5 * RT_MS);
    }
    rt_task_init(&editor->task, editor_poll, NULL, "editor");
    sim_spawn(rt, &editor->task);
}

static void
broken(struct sim_world *world)
{
    begin(world, false);
}

static void
fixed(struct sim_world *world)
{
    begin(world, true);
}

SIM_SCENARIO(s15_config_b, .name = "s15/config/broken", .about = "A change while it prints.",
        .setup = broken);
SIM_SCENARIO(s15_config_f, .name = "s15/config/fixed", .about = "It looks again when it listens.",
        .setup = fixed);
/* SPDX-License-Identifier: Apache-2.0 */
