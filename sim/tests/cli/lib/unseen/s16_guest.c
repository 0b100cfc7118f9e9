/* Cause: host_wait(), line 62: it begins to wait without a look at the mailbox; the guest has seen it empty before it computed and gave way, and a letter that came in between was announced to nobody; repair: host_wait() answers at once where there is a letter. */
/*
 * s16_guest.c -- two plugins on stacks of their own, each with a mailbox that the host fills.
 *
 * A plugin without a letter tidies its index first, and then waits.
 */
#include <sim/rewake.h>

#define PLUGINS 2u
#define LETTERS 3u

struct plugin {
    struct rt_task task;
    struct sim_world *world;
    struct rt_store store;
    struct rt_call call;
    struct rt_reply reply;
    uint64_t results[1];
    enum rt_trap trap;
    unsigned letters; /* In the mailbox. */
    bool waits;
    bool fixed;
};

struct postman {
    struct rt_task task;
    struct sim_world *world;
    struct plugin *plugins;
    struct rt_sleep walk;
    unsigned delivered;
    uint32_t at;
};

static struct plugin *
plugin_of(struct rt_host_call *host)
{
    return host->guest->store->data;
}

/* Host function: how many letters are there? */
static void
host_look(struct rt_host_call *host)
{
    host->results[0] = plugin_of(host)->letters;
    host->continuation.callback = rt_answered;
}

/* Host function: takes a letter. */
static void
host_take(struct rt_host_call *host)
{
    plugin_of(host)->letters--;
    SIM_PROGRESS();
    host->continuation.callback = rt_answered;
}

/* Host function: returns when a letter has come. */
static void
host_wait(struct rt_host_call *host)
{
    struct plugin *plugin = plugin_of(host);
    if (plugin->fixed && plugin->letters > 0) {
        host->continuation.callback = rt_answered;
        return;
    }
    plugin->waits = true;
    rt_reply_begin(&plugin->reply, host);
}

static void
deliver(struct plugin *plugin)
{
    plugin->letters++;
    if (plugin->waits) {
        plugin->waits = false;
        rt_reply_complete(&plugin->reply, NULL, 0);
    }
}

static bool
tidy_index(struct rt_guest *guest)
{
    for (unsigned i = 0; i < 40; i++) {
        if (!rt_guest_check(guest, 2000)) {
            return false;
        }
    }
    return true;
}

static void
plugin_main(struct rt_guest *guest, const uint64_t *arguments, uint64_t *results)
{
    uint64_t count = 0;
    uint64_t nothing = 0;
    while (results[0] < arguments[0]) {
        if (!rt_guest_check(guest, 10) || !rt_guest_host(guest, host_look, NULL, &count)) {
            return;
        }
        if (count == 0) {
            if (!tidy_index(guest) || !rt_guest_host(guest, host_wait, NULL, &nothing)) {
                return;
            }
            continue;
        }
        if (!rt_guest_host(guest, host_take, NULL, &nothing)) {
            return;
        }
        results[0]++;
    }
}

static rt_poll
plugin_poll(struct rt_task *task, struct rt_cx *cx)
{
    struct plugin *plugin = rt_container_of(task, struct plugin, task);
    RT_AWAIT(rt_call_drive(&plugin->call, cx));
    rt_call_delete(&plugin->call);
    SIM_ALWAYS(plugin->trap == RT_TRAP_NONE && plugin->results[0] == LETTERS);
    return RT_READY;
}

static rt_poll
postman_poll(struct rt_task *task, struct rt_cx *cx)
{
    struct postman *postman = rt_container_of(task, struct postman, task);
    RT_BEGIN(postman->at);
    for (postman->delivered = 0; postman->delivered < PLUGINS * LETTERS; postman->delivered++) {
        rt_sleep_init(&postman->walk, sim_range(postman->world, 150 * RT_US, 400 * RT_US));
        RT_AWAIT_HERE(postman->at, rt_sleep_poll(&postman->walk, cx));
        deliver(&postman->plugins[postman->delivered % PLUGINS]);
    }
    RT_END(postman->at);
}

static void
set_up(struct sim_world *world, bool fixed)
{
    static const char *const names[PLUGINS] = {"plugin A", "plugin B"};
    static const uint64_t wanted[1] = {LETTERS};
    struct sim_rt_options options = {.task_quota_ns = 20 * RT_US};
    struct sim_rt *rt = sim_rt_new(world, &options);
    struct rt_engine *engine = sim_engine_new(world, NULL);
    struct plugin *plugins = sim_zalloc(world, PLUGINS * sizeof *plugins);
    struct postman *postman = sim_new(world, struct postman);
    for (unsigned i = 0; i < PLUGINS; i++) {
        struct plugin *plugin = &plugins[i];
        plugin->world = world;
        plugin->fixed = fixed;
        rt_store_init(&plugin->store, engine, plugin);
        rt_fuel_yield_interval(&plugin->store, 4000);
        rt_reply_init(&plugin->reply, "a letter");
        rt_err err = rt_call_init(&plugin->call, &plugin->store,
                &(struct rt_call_config){.guest = plugin_main,
                        .arguments = wanted,
                        .results = plugin->results,
                        .result_count = 1,
                        .trap = &plugin->trap,
                        .name = names[i]});
        SIM_ALWAYS(err == RT_OK);
        rt_task_init(&plugin->task, plugin_poll, NULL, names[i]);
        sim_spawn(rt, &plugin->task);
    }
    postman->world = world;
    postman->plugins = plugins;
    rt_task_init(&postman->task, postman_poll, NULL, "postman");
    sim_spawn(rt, &postman->task);
}

static void
set_up_broken(struct sim_world *world)
{
    set_up(world, false);
}

static void
set_up_fixed(struct sim_world *world)
{
    set_up(world, true);
}

SIM_SCENARIO(broken, .name = "s16/guest/broken", .about = "Plugins that wait for letters.",
        .setup = set_up_broken, .expect = SIM_VERDICT_DEADLOCK);
SIM_SCENARIO(fixed, .name = "s16/guest/fixed", .about = "Plugins that wait for letters.",
        .setup = set_up_fixed);

/* SPDX-License-Identifier: Apache-2.0 */
