/* Cause: desk_quote(), line 81: the answer of rt_reply_complete is not looked at; if the guest of the oldest request was deleted meanwhile (its driver has run out of patience), the quote is given to nobody and lost; repair: when it was not wanted, the next request gets the quote, or it goes back to the desk. */
/*
 * Guests ask an exchange for quotes. A quote that nobody waits for is kept at the desk. Drivers
 * are of different patience, and delete a guest that takes too long.
 */
#include <sim/rewake.h>

#define GUESTS 2
#define QUOTES 3
#define ASKS_MAX 2u

struct desk {
    struct rt_reply *waiting[GUESTS * ASKS_MAX]; /* The oldest first. */
    uint32_t waiting_count;
    uint64_t kept[QUOTES];
    uint32_t kept_count;
    uint32_t quoted;
    uint32_t told; /* To guests. */
    bool fixed;
};

struct client {
    struct rt_task task;
    struct desk *desk;
    struct rt_store store;
    struct rt_call call;
    struct rt_timeout timeout;
    struct rt_reply replies[ASKS_MAX];
    uint32_t asked;
    uint64_t asks;
    uint64_t result;
    uint64_t patience_ns;
    uint32_t at;
};

struct feed {
    struct rt_task task;
    struct desk *desk;
    struct rt_sleep sleep;
    uint64_t pause_ns[QUOTES];
    uint32_t next;
    uint32_t at;
};

/* The host function. */
static void
ask(struct rt_host_call *host)
{
    struct client *client = host->guest->store->data;
    struct desk *desk = client->desk;
    if (desk->kept_count > 0) {
        host->results[0] = desk->kept[--desk->kept_count];
        host->continuation = (struct rt_continuation){.callback = rt_answered};
        desk->told++;
        return;
    }
    struct rt_reply *reply = &client->replies[client->asked++];
    rt_reply_init(reply, "a quote");
    rt_reply_begin(reply, host);
    desk->waiting[desk->waiting_count++] = reply;
}

static struct rt_reply *
desk_oldest(struct desk *desk)
{
    struct rt_reply *reply = desk->waiting[0];
    desk->waiting_count--;
    for (uint32_t i = 0; i < desk->waiting_count; i++) {
        desk->waiting[i] = desk->waiting[i + 1];
    }
    return reply;
}

static void
desk_quote(struct desk *desk, uint64_t quote)
{
    desk->quoted++;
    while (desk->waiting_count > 0) {
        bool wanted = rt_reply_complete(desk_oldest(desk), &quote, 1);
        desk->told += wanted;
        if (wanted || !desk->fixed) {
            return;
        }
    }
    desk->kept[desk->kept_count++] = quote;
}

/* Adds some quotes. */
static void
guest_main(struct rt_guest *guest, const uint64_t *arguments, uint64_t *results)
{
    for (uint64_t i = 0; i < arguments[0]; i++) {
        uint64_t quote = 0;
        if (!rt_guest_check(guest, 1) || !rt_guest_host(guest, ask, NULL, &quote)) {
            return;
        }
        results[0] += quote;
    }
}

static rt_poll
client_poll(struct rt_task *task, struct rt_cx *cx)
{
    struct client *client = rt_container_of(task, struct client, task);
    RT_BEGIN(client->at);
    SIM_ALWAYS(rt_call_init(&client->call, &client->store,
                       &(struct rt_call_config){.guest = guest_main,
                               .arguments = &client->asks,
                               .results = &client->result,
                               .result_count = 1}) == RT_OK);
    rt_timeout_init(&client->timeout, &client->call.future, client->patience_ns);
    RT_AWAIT_HERE(client->at, rt_timeout_poll(&client->timeout, cx));
    if (!client->timeout.expired) { /* It has deleted the call then. */
        rt_call_delete(&client->call);
    }
    rt_store_fini(&client->store);
    RT_END(client->at);
}

static rt_poll
feed_poll(struct rt_task *task, struct rt_cx *cx)
{
    struct feed *feed = rt_container_of(task, struct feed, task);
    RT_BEGIN(feed->at);
    for (feed->next = 0; feed->next < QUOTES; feed->next++) {
        rt_sleep_init(&feed->sleep, feed->pause_ns[feed->next]);
        RT_AWAIT_HERE(feed->at, rt_sleep_poll(&feed->sleep, cx));
        desk_quote(feed->desk, 10 + feed->next);
    }
    RT_END(feed->at);
}

/* Each quote was told to a guest or is at the desk. */
static void
check(struct sim_world *world, void *state)
{
    struct desk *desk = state;
    (void)world;
    SIM_ALWAYS(desk->told + desk->kept_count == desk->quoted);
}

static void
client_new(struct sim_world *world, struct sim_rt *rt, struct desk *desk, const char *name,
        uint64_t asks, uint64_t patience_ns)
{
    struct client *client = sim_new(world, struct client);
    client->desk = desk;
    client->asks = asks;
    client->patience_ns = patience_ns;
    rt_store_init(&client->store, sim_engine_new(world, NULL), client);
    rt_task_init(&client->task, client_poll, NULL, name);
    sim_spawn(rt, &client->task);
}

static void
set_up(struct sim_world *world, bool fixed)
{
    struct sim_rt *rt = sim_rt_new(world, NULL);
    struct desk *desk = sim_new(world, struct desk);
    struct feed *feed = sim_new(world, struct feed);
    desk->fixed = fixed;
    sim_set_state(world, desk);
    client_new(world, rt, desk, "hasty", 1, 5 * RT_MS);
    client_new(world, rt, desk, "patient", 2, 40 * RT_MS);
    feed->desk = desk;
    for (uint32_t i = 0; i < QUOTES; i++) {
        feed->pause_ns[i] = sim_range(world, 3 * RT_MS, 7 * RT_MS);
    }
    rt_task_init(&feed->task, feed_poll, NULL, "feed");
    sim_spawn(rt, &feed->task);
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

SIM_SCENARIO(broken, .name = "s17/exchange/broken", .about = "The first form.",
        .setup = set_up_broken, .check = check);
SIM_SCENARIO(fixed, .name = "s17/exchange/fixed", .about = "The repaired form.",
        .setup = set_up_fixed, .check = check);

/* SPDX-License-Identifier: Apache-2.0 */
