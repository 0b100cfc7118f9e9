/* Cause: host_lookup(), line 44: the resolver has one place for a request, and a further guest that asks while it
 * works on another overwrites the one that waits there, which is never answered; repair: a list of requests. */
#include <sim/rewake.h>

/* Guests on fibers look names up; a resolver task answers one after the other. */

#define GUESTS 3
#define NAMES 2

struct plugin {
    struct rt_task task;
    struct state *state;
    struct plugin *next; /* Among the requests. */
    struct rt_sleep start; /* It is loaded at some time. */
    bool started;
    struct rt_store store;
    struct rt_call call;
    struct rt_reply reply;
    uint64_t name;
    uint64_t sum; /* What the guest returns. */
    enum rt_trap trap;
};

struct state {
    struct sim_world *world;
    bool fixed;
    struct rt_engine *engine;
    struct plugin plugins[GUESTS];
    struct rt_task resolver;
    struct rt_slot asked;
    struct rt_sleep lookup;
    struct plugin *requests;
    struct plugin *current;
    uint32_t at;
};

static void
host_lookup(struct rt_host_call *host)
{
    struct plugin *plugin = host->guest->store->data;
    struct state *state = plugin->state;
    rt_reply_begin(&plugin->reply, host);
    plugin->name = host->arguments[0];
    plugin->next = state->fixed ? state->requests : NULL;
    state->requests = plugin;
    (void)rt_slot_wake(&state->asked);
}

static void
plugin_guest(struct rt_guest *guest, const uint64_t *arguments, uint64_t *results)
{
    (void)arguments;
    for (uint64_t name = 1; name <= NAMES; name++) {
        uint64_t address = 0;
        if (!rt_guest_check(guest, 100 * name) ||
                !rt_guest_host(guest, host_lookup, &name, &address)) {
            return;
        }
        results[0] += address;
    }
}

static rt_poll
next_request(struct state *state, struct rt_cx *cx)
{
    if (state->requests != NULL) {
        state->current = state->requests;
        state->requests = state->current->next;
        return RT_READY;
    }
    rt_slot_replace(&state->asked, cx, "a name to look up");
    return RT_PENDING;
}

static rt_poll
resolver_poll(struct rt_task *task, struct rt_cx *cx)
{
    struct state *state = rt_container_of(task, struct state, resolver);
    RT_BEGIN(state->at);
    for (;;) {
        RT_AWAIT_HERE(state->at, next_request(state, cx));
        rt_sleep_init(&state->lookup, sim_range(state->world, 100 * RT_US, 1 * RT_MS));
        RT_AWAIT_HERE(state->at, rt_sleep_poll(&state->lookup, cx));
        uint64_t address = state->current->name * 10;
        (void)rt_reply_complete(&state->current->reply, &address, 1);
    }
    RT_END(state->at);
}

static void
resolver_cleanup(struct rt_task *task)
{
    rt_sleep_cancel(&rt_container_of(task, struct state, resolver)->lookup);
}

static rt_poll
plugin_poll(struct rt_task *task, struct rt_cx *cx)
{
    struct plugin *plugin = rt_container_of(task, struct plugin, task);
    if (!plugin->started) {
        RT_AWAIT(rt_sleep_poll(&plugin->start, cx));
        plugin->started = true;
    }
    RT_AWAIT(rt_call_drive(&plugin->call, cx));
    SIM_ALWAYS(plugin->trap == RT_TRAP_NONE && plugin->sum == 30);
    return RT_READY;
}

static void
plugin_cleanup(struct rt_task *task)
{
    struct plugin *plugin = rt_container_of(task, struct plugin, task);
    rt_sleep_cancel(&plugin->start);
    rt_call_delete(&plugin->call);
    rt_store_fini(&plugin->store);
}

static void
begin(struct sim_world *world, bool fixed)
{
    static const char *const names[GUESTS] = {"mail", "news", "chat"};
    struct sim_rt *rt = sim_rt_new(world, NULL);
    struct state *state = sim_new(world, struct state);
    state->world = world;
    state->fixed = fixed;
    state->engine = sim_engine_new(world, NULL);
    rt_slot_init(&state->asked);
    for (uint32_t i = 0; i < GUESTS; i++) {
        struct plugin *plugin = &state->plugins[i];
        struct rt_call_config config = {.guest = plugin_guest,
                .results = &plugin->sum,
                .result_count = 1,
                .trap = &plugin->trap,
                .name = names[i]};
        plugin->state = state;
        rt_sleep_init(&plugin->start, i * 2 * RT_MS + sim_range(world, 0, 3 * RT_MS));
        rt_reply_init(&plugin->reply, "an address");
        rt_store_init(&plugin->store, state->engine, plugin);
        SIM_ALWAYS(rt_call_init(&plugin->call, &plugin->store, &config) == RT_OK);
        rt_task_init(&plugin->task, plugin_poll, plugin_cleanup, names[i]);
        sim_spawn(rt, &plugin->task);
    }
    rt_task_init(&state->resolver, resolver_poll, resolver_cleanup, "resolver");
    sim_spawn_background(rt, &state->resolver);
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

SIM_SCENARIO(s15_guest_b, .name = "s15/guest/broken", .about = "A request is overwritten.",
        .setup = broken);
SIM_SCENARIO(s15_guest_f, .name = "s15/guest/fixed", .about = "Requests queue.", .setup = fixed);
/* SPDX-License-Identifier: Apache-2.0 */
