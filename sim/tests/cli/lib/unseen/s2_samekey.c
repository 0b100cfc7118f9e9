// Cause: s2_samekey.c:55 the cache keeps one reply for a record that is being loaded: a second guest that asks for it meanwhile takes the place of the first, whose reply is never completed.
// SPDX-License-Identifier: Apache-2.0
// clang-format off
#include <sim/rewake.h>

#define GUESTS 2

struct cache {
    bool fixed;
    bool loaded, asked;
    uint64_t value;
    uint32_t count;
    struct rt_reply *waiting[GUESTS];
    struct rt_slot request; /* the loader's */
};

struct caller {
    struct rt_task task;
    struct cache *cache;
    struct rt_engine *engine;
    struct rt_store store;
    struct rt_call call;
    struct rt_reply reply;
    struct rt_sleep sleep;
    uint64_t start_ns, result;
    enum rt_trap trap;
    uint32_t at;
};

struct loader {
    struct rt_task task;
    struct cache *cache;
    struct rt_sleep sleep;
    uint64_t load_ns;
    uint32_t at;
};

static void nothing(void *env)
{
    (void)env;
}

/* The host function: the record, from the cache or when it has been loaded. */
static void get_record(struct rt_host_call *host)
{
    struct caller *caller = host->guest->store->data;
    struct cache *cache = caller->cache;
    if (cache->loaded) {
        host->results[0] = cache->value;
        host->continuation = (struct rt_continuation){rt_answered, nothing, NULL};
        return;
    }
    rt_reply_begin(&caller->reply, host);
    if (!cache->fixed)
        cache->count = 0;
    cache->waiting[cache->count++] = &caller->reply;
    cache->asked = true;
    rt_slot_wake(&cache->request);
}

static void guest_main(struct rt_guest *guest, const uint64_t *arguments, uint64_t *results)
{
    uint64_t record[1] = {0};
    (void)arguments;
    for (int i = 0; i < 100; i++)
        if (!rt_guest_check(guest, 10))
            return;
    if (rt_guest_host(guest, get_record, NULL, record))
        results[0] = record[0];
}

static rt_poll caller_poll(struct rt_task *task, struct rt_cx *cx)
{
    struct caller *caller = rt_container_of(task, struct caller, task);
    RT_BEGIN(caller->at);
    rt_sleep_init(&caller->sleep, caller->start_ns);
    RT_AWAIT_HERE(caller->at, rt_sleep_poll(&caller->sleep, cx));
    SIM_ALWAYS(rt_call_init(&caller->call, &caller->store,
            &((struct rt_call_config){.guest = guest_main, .results = &caller->result,
                    .result_count = 1, .trap = &caller->trap, .name = caller->task.name})) == RT_OK);
    RT_AWAIT_HERE(caller->at, rt_call_drive(&caller->call, cx));
    SIM_ALWAYS(caller->trap == RT_TRAP_NONE && caller->result == 7);
    rt_call_delete(&caller->call);
    rt_store_fini(&caller->store);
    RT_END(caller->at);
}

static rt_poll asked(struct cache *cache, struct rt_cx *cx)
{
    if (cache->asked)
        return RT_READY;
    rt_slot_replace(&cache->request, cx, "a request");
    return RT_PENDING;
}

static rt_poll loader_poll(struct rt_task *task, struct rt_cx *cx)
{
    struct loader *loader = rt_container_of(task, struct loader, task);
    RT_BEGIN(loader->at);
    RT_AWAIT_HERE(loader->at, asked(loader->cache, cx));
    rt_sleep_init(&loader->sleep, loader->load_ns);
    RT_AWAIT_HERE(loader->at, rt_sleep_poll(&loader->sleep, cx));
    loader->cache->value = 7;
    loader->cache->loaded = true;
    for (uint32_t i = 0; i < loader->cache->count; i++)
        (void)rt_reply_complete(loader->cache->waiting[i], &loader->cache->value, 1);
    RT_END(loader->at);
}

static void setup(struct sim_world *world, bool fixed)
{
    static const char *const names[GUESTS] = {"guest A", "guest B"};
    struct sim_rt *rt = sim_rt_new(world, NULL);
    struct rt_engine *engine = sim_engine_new(world, NULL);
    struct cache *cache = sim_new(world, struct cache);
    struct loader *loader = sim_new(world, struct loader);
    cache->fixed = fixed;
    rt_slot_init(&cache->request);
    for (uint32_t i = 0; i < GUESTS; i++) {
        struct caller *caller = sim_new(world, struct caller);
        caller->cache = cache;
        caller->engine = engine;
        caller->start_ns = (1 + 9 * i) * RT_MS - sim_range(world, 0, 9 * RT_MS * i);
        rt_store_init(&caller->store, engine, caller);
        rt_reply_init(&caller->reply, "the record");
        rt_task_init(&caller->task, caller_poll, NULL, names[i]);
        sim_spawn(rt, &caller->task);
    }
    loader->cache = cache;
    loader->load_ns = sim_range(world, 2 * RT_MS, 4 * RT_MS);
    rt_task_init(&loader->task, loader_poll, NULL, "loader");
    sim_spawn(rt, &loader->task);
}

static void setup_broken(struct sim_world *world) { setup(world, false); }
static void setup_fixed(struct sim_world *world) { setup(world, true); }

SIM_SCENARIO(broken, .name = "set2/samekey/broken", .about = "Two guests ask for a record that is being loaded.",
        .setup = setup_broken, .expect = SIM_VERDICT_DEADLOCK, .expect_also = SIM_VERDICT_LOST_WAKEUP);
SIM_SCENARIO(fixed, .name = "set2/samekey/fixed", .about = "All guests that ask are answered.",
        .setup = setup_fixed);
