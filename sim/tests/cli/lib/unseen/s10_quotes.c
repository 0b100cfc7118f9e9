// SPDX-License-Identifier: Apache-2.0
/* Cause: publish() line 69: one asker that has given up ends the loop, and those before it in
 * the list never get the answer. Repair: go on with the next one (as with `to_all`). */
#include "runtime/fiber/call.h"
#include "runtime/fiber/reply.h"
#include <sim/rewake.h>

#define SESSIONS 3

struct session {
    struct rt_task task;
    struct market *market;
    struct rt_store store;
    struct rt_call call;
    struct rt_reply reply;
    struct rt_sleep arrival;
    struct rt_sleep patience;
    uint64_t arrival_ns;
    uint64_t patience_ns; /* 0: without end. */
    uint64_t quote;
    enum rt_trap trap;
    uint32_t at;
    bool begun;
};

/* Asks one upstream for a quote; who asks meanwhile gets the same answer. */
struct market {
    struct rt_engine *engine;
    struct session sessions[SESSIONS];
    struct session *askers[SESSIONS];
    uint32_t asker_count;
    struct rt_task fetcher;
    struct rt_slot asked;
    struct rt_sleep upstream;
    uint64_t upstream_ns;
    uint32_t at;
    bool to_all;
};

/* ---- The guest. ------------------------------------------------------------------------------ */

static void
host_quote(struct rt_host_call *host)
{
    struct session *session = host->guest->store->data;
    struct market *market = session->market;
    rt_reply_begin(&session->reply, host);
    market->askers[market->asker_count++] = session;
    (void)rt_slot_wake(&market->asked);
}

static void
buy(struct rt_guest *guest, const uint64_t *arguments, uint64_t *results)
{
    uint64_t quote = 0;
    (void)arguments;
    if (rt_guest_check(guest, 100) && rt_guest_host(guest, host_quote, NULL, &quote)) {
        results[0] = quote + 1;
    }
}

/* ---- The upstream. --------------------------------------------------------------------------- */

static void
publish(struct market *market, uint64_t quote)
{
    while (market->asker_count > 0) {
        struct session *session = market->askers[--market->asker_count];
        if (!rt_reply_complete(&session->reply, &quote, 1) && !market->to_all) {
            return; /* No one is interested any more. */
        }
    }
}

static rt_poll
is_asked(struct market *market, struct rt_cx *cx)
{
    if (market->asker_count > 0) {
        return RT_READY;
    }
    rt_slot_replace(&market->asked, cx, "a question");
    return RT_PENDING;
}

static rt_poll
next_question(struct market *market, struct rt_cx *cx)
{
    if (rt_slot_empty(&market->asked) && market->asker_count > 0) {
        return RT_READY;
    }
    rt_slot_replace(&market->asked, cx, "a question");
    return RT_PENDING;
}

static rt_poll
fetcher_poll(struct rt_task *task, struct rt_cx *cx)
{
    struct market *market = rt_container_of(task, struct market, fetcher);
    RT_BEGIN(market->at);
    RT_AWAIT_HERE(market->at, is_asked(market, cx));
    for (;;) {
        rt_sleep_init(&market->upstream, market->upstream_ns);
        RT_AWAIT_HERE(market->at, rt_sleep_poll(&market->upstream, cx));
        publish(market, 41);
        rt_slot_replace(&market->asked, cx, "a question");
        RT_AWAIT_HERE(market->at, next_question(market, cx));
    }
    RT_END(market->at);
}

static void
fetcher_cleanup(struct rt_task *task)
{
    rt_sleep_cancel(&rt_container_of(task, struct market, fetcher)->upstream);
}

/* ---- The sessions. --------------------------------------------------------------------------- */

static rt_poll
buy_in_time(struct session *session, struct rt_cx *cx)
{
    if (rt_call_drive(&session->call, cx) == RT_READY) {
        return RT_READY;
    }
    return session->patience_ns == 0 ? RT_PENDING : rt_sleep_poll(&session->patience, cx);
}

static rt_poll
session_poll(struct rt_task *task, struct rt_cx *cx)
{
    struct session *session = rt_container_of(task, struct session, task);
    struct rt_call_config config = {.guest = buy,
            .results = &session->quote,
            .result_count = 1,
            .trap = &session->trap,
            .name = "buy"};
    RT_BEGIN(session->at);
    rt_sleep_init(&session->arrival, session->arrival_ns);
    RT_AWAIT_HERE(session->at, rt_sleep_poll(&session->arrival, cx));
    SIM_ALWAYS(rt_call_init(&session->call, &session->store, &config) == RT_OK);
    session->begun = true;
    rt_sleep_init(&session->patience, session->patience_ns);
    RT_AWAIT_HERE(session->at, buy_in_time(session, cx));
    RT_END(session->at);
}

static void
session_cleanup(struct rt_task *task)
{
    struct session *session = rt_container_of(task, struct session, task);
    rt_sleep_cancel(&session->arrival);
    if (session->begun) {
        rt_sleep_cancel(&session->patience);
        rt_call_delete(&session->call);
    }
    rt_store_fini(&session->store);
}

static void
begin(struct sim_world *world, bool to_all)
{
    static const char *const names[SESSIONS] = {"alice", "bob", "carol"};
    struct sim_rt *rt = sim_rt_new(world, NULL);
    struct market *market = sim_new(world, struct market);
    market->engine = sim_engine_new(world, NULL);
    market->to_all = to_all;
    market->upstream_ns = sim_range(world, 1 * RT_MS, 3 * RT_MS);
    rt_slot_init(&market->asked);
    rt_task_init(&market->fetcher, fetcher_poll, fetcher_cleanup, "fetcher");
    sim_spawn_background(rt, &market->fetcher);
    for (uint32_t i = 0; i < SESSIONS; i++) {
        struct session *session = &market->sessions[i];
        session->market = market;
        session->arrival_ns = sim_range(world, 0, 3 * RT_MS);
        session->patience_ns = i == 2 ? sim_range(world, 2 * RT_MS, 3 * RT_MS) : 0;
        rt_reply_init(&session->reply, "a quote");
        rt_store_init(&session->store, market->engine, session);
        rt_task_init(&session->task, session_poll, session_cleanup, names[i]);
        sim_spawn(rt, &session->task);
    }
}

static void
setup_broken(struct sim_world *world)
{
    begin(world, false);
}

static void
setup_fixed(struct sim_world *world)
{
    begin(world, true);
}

SIM_SCENARIO(quotes_broken, .name = "s10/quotes/broken",
        .about = "Guests that share the answer of one request.", .setup = setup_broken);
SIM_SCENARIO(quotes_fixed, .name = "s10/quotes/fixed",
        .about = "Guests that share the answer of one request.", .setup = setup_fixed);
