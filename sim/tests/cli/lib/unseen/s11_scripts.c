/*
 * s11_scripts.c -- scripts as guests: a script asks its host for a document, and scripts that ask for
 * the same one share a fetch. A script that takes too long is deleted.
 *
 * Cause: fetch_finish() (line 78) drops a fetch when the script that began it has gone, and forgets the others that share it
 */
#include <sim/rewake.h>

#define SCRIPTS 3

struct script;

struct fetch {
    struct script *readers[SCRIPTS]; /* The first began it. */
    uint32_t count;
};

struct archive {
    struct fetch fetch;
    bool present;
    uint32_t running; /* Scripts. */
    struct rt_slot fetcher;
    bool asks_all;
};

struct script {
    struct rt_task task;
    struct archive *archive;
    struct rt_store store;
    struct rt_call call;
    struct rt_reply reply;
    uint64_t arguments[1], results[1];
    struct rt_sleep start, patience;
    uint32_t at;
};

struct fetcher {
    struct rt_task task;
    struct archive *archive;
    struct rt_sleep travel;
    uint32_t at;
};

static void
archive_get(struct rt_host_call *host)
{
    struct script *script = host->guest->store->data;
    struct archive *archive = script->archive;
    rt_reply_begin(&script->reply, host);
    if (archive->present) {
        uint64_t size = 100;
        (void)rt_reply_complete(&script->reply, &size, 1);
        return;
    }
    archive->fetch.readers[archive->fetch.count++] = script;
    if (archive->fetch.count == 1) {
        rt_slot_wake(&archive->fetcher);
    }
}

static bool
fetch_wanted(const struct fetch *fetch, bool by_any)
{
    uint32_t most = by_any ? fetch->count : 1;
    for (uint32_t i = 0; i < most; i++) {
        if (rt_reply_wanted(&fetch->readers[i]->reply)) {
            return true;
        }
    }
    return false;
}

static void
fetch_finish(struct archive *archive)
{
    struct fetch *fetch = &archive->fetch;
    uint64_t size = 100;
    if (fetch_wanted(fetch, archive->asks_all)) {
        archive->present = true;
        for (uint32_t i = 0; i < fetch->count; i++) {
            (void)rt_reply_complete(&fetch->readers[i]->reply, &size, 1);
        }
    }
    fetch->count = 0;
}

static rt_poll
fetcher_next(struct fetcher *fetcher, struct rt_cx *cx)
{
    struct archive *archive = fetcher->archive;
    if (archive->fetch.count > 0 || archive->running == 0) {
        return RT_READY;
    }
    rt_slot_replace(&archive->fetcher, cx, "something to fetch");
    return RT_PENDING;
}

static rt_poll
fetcher_poll(struct rt_task *task, struct rt_cx *cx)
{
    struct fetcher *fetcher = rt_container_of(task, struct fetcher, task);
    RT_BEGIN(fetcher->at);
    while (fetcher->archive->running > 0) {
        RT_AWAIT_HERE(fetcher->at, fetcher_next(fetcher, cx));
        if (fetcher->archive->fetch.count > 0) {
            rt_sleep_init(&fetcher->travel, 2 * RT_MS);
            RT_AWAIT_HERE(fetcher->at, rt_sleep_poll(&fetcher->travel, cx));
            fetch_finish(fetcher->archive);
        }
    }
    RT_END(fetcher->at);
}

/* The guest's code. */
static void
script_code(struct rt_guest *guest, const uint64_t *arguments, uint64_t *results)
{
    uint64_t size = 0;
    if (!rt_guest_check(guest, 10) || !rt_guest_host(guest, archive_get, arguments, &size)) {
        return;
    }
    results[0] = size * arguments[0];
}

static rt_poll
script_wait(struct script *script, struct rt_cx *cx)
{
    if (rt_call_drive(&script->call, cx) == RT_READY) {
        rt_sleep_cancel(&script->patience);
        return RT_READY;
    }
    return rt_sleep_poll(&script->patience, cx);
}

static rt_poll
script_poll(struct rt_task *task, struct rt_cx *cx)
{
    struct script *script = rt_container_of(task, struct script, task);
    RT_BEGIN(script->at);
    RT_AWAIT_HERE(script->at, rt_sleep_poll(&script->start, cx));
    RT_AWAIT_HERE(script->at, script_wait(script, cx));
    rt_call_delete(&script->call);
    rt_store_fini(&script->store);
    script->archive->running--;
    rt_slot_wake(&script->archive->fetcher);
    RT_END(script->at);
}

static void
setup_with(struct sim_world *world, bool asks_all)
{
    static const char *const names[SCRIPTS] = {"menu", "search", "banner"};
    struct sim_rt *rt = sim_rt_new(world, NULL);
    struct rt_engine *engine = sim_engine_new(world, NULL);
    struct archive *archive = sim_new(world, struct archive);
    struct fetcher *fetcher = sim_new(world, struct fetcher);
    archive->asks_all = asks_all;
    archive->running = SCRIPTS;
    rt_slot_init(&archive->fetcher);
    fetcher->archive = archive;
    rt_task_init(&fetcher->task, fetcher_poll, NULL, "fetcher");
    sim_spawn(rt, &fetcher->task);
    for (uint32_t i = 0; i < SCRIPTS; i++) {
        struct script *script = sim_new(world, struct script);
        struct rt_call_config config = {.guest = script_code,
                .arguments = script->arguments,
                .results = script->results,
                .result_count = 1,
                .name = names[i]};
        script->archive = archive;
        script->arguments[0] = i + 1;
        rt_reply_init(&script->reply, "a document");
        rt_store_init(&script->store, engine, script);
        SIM_ALWAYS(rt_call_init(&script->call, &script->store, &config) == RT_OK);
        rt_sleep_init(&script->start, sim_range(world, RT_MS, 3 * RT_MS));
        rt_sleep_until(&script->patience,
                i == 1 ? sim_range(world, 4 * RT_MS, 7 * RT_MS) : RT_NEVER);
        rt_task_init(&script->task, script_poll, NULL, names[i]);
        sim_spawn(rt, &script->task);
    }
}

static void
setup_broken(struct sim_world *world)
{
    setup_with(world, false);
}

static void
setup_fixed(struct sim_world *world)
{
    setup_with(world, true);
}

SIM_SCENARIO(scripts_broken, .name = "s11_scripts/broken",
        .about = "Guests that share what they ask their host for.", .setup = setup_broken);
SIM_SCENARIO(scripts_fixed, .name = "s11_scripts/fixed",
        .about = "Guests that share what they ask their host for.", .setup = setup_fixed);
// SPDX-License-Identifier: Apache-2.0
