/*
 * g_trade.c -- A game: a merchant task waits for an offer of a player's script, which runs as a
 * guest on a fiber and waits for the merchant's answer.
 *
 * Cause: The merchant tests for an offer, then goes to its shop (a sleep), and stores its waker
 * afterwards without testing again; an offer that is made meanwhile fires an empty slot.
 * Where: merchant_poll
 * Kind: waker stored too late
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "sim/rewake.h"

static bool fixed;

struct trade {
    struct rt_task merchant;
    struct rt_task player;
    struct rt_store store;
    struct rt_call call;
    struct rt_reply reply;
    struct rt_slot offer;
    struct rt_sleep walk;
    struct rt_sleep dresses;
    uint64_t walk_ns;
    uint64_t dress_ns;
    bool offered;
    bool registered;
    bool woken;
    uint32_t at;
    uint32_t player_at;
    uint64_t result[1];
};

static void
make_offer(struct rt_host_call *host)
{
    struct trade *trade = host->guest->store->data;
    rt_reply_begin(&trade->reply, host);
    trade->offered = true;
    rt_slot_wake(&trade->offer);
}

static void
player_main(struct rt_guest *guest, const uint64_t *arguments, uint64_t *results)
{
    (void)arguments;
    if (rt_guest_check(guest, 10) && !rt_guest_host(guest, make_offer, NULL, results)) {
        return;
    }
}

static rt_poll
player_poll(struct rt_task *task, struct rt_cx *cx)
{
    struct trade *trade = rt_container_of(task, struct trade, player);
    RT_BEGIN(trade->player_at);
    rt_sleep_init(&trade->dresses, trade->dress_ns);
    RT_AWAIT_HERE(trade->player_at, rt_sleep_poll(&trade->dresses, cx));
    RT_AWAIT_HERE(trade->player_at, rt_call_drive(&trade->call, cx));
    rt_call_delete(&trade->call);
    rt_store_fini(&trade->store);
    RT_END(trade->player_at);
}

/* Pending until an offer has been made: tests at each poll but, when broken, the first. */
static rt_poll
wait_for_offer(struct trade *trade, struct rt_cx *cx)
{
    if (trade->offered && (fixed || trade->registered)) {
        return RT_READY;
    }
    trade->registered = true;
    rt_slot_replace(&trade->offer, cx, "an offer");
    return RT_PENDING;
}

static rt_poll
merchant_poll(struct rt_task *task, struct rt_cx *cx)
{
    struct trade *trade = rt_container_of(task, struct trade, merchant);
    uint64_t answer = 1;
    RT_BEGIN(trade->at);
    if (!trade->offered) {
        rt_sleep_init(&trade->walk, trade->walk_ns);
        RT_AWAIT_HERE(trade->at, rt_sleep_poll(&trade->walk, cx));
        RT_AWAIT_HERE(trade->at, wait_for_offer(trade, cx)); /* Where. */
    }
    (void)rt_reply_complete(&trade->reply, &answer, 1);
    RT_END(trade->at);
}

static void
setup(struct sim_world *world)
{
    struct sim_rt *rt = sim_rt_new(world, NULL);
    struct trade *trade = sim_new(world, struct trade);
    rt_slot_init(&trade->offer);
    rt_reply_init(&trade->reply, "the merchant's answer");
    rt_store_init(&trade->store, sim_engine_new(world, NULL), trade);
    trade->walk_ns = 500 * RT_US;
    trade->dress_ns = RT_MS - sim_range(world, 0, 9) * 100 * RT_US;
    struct rt_call_config config = {
            .guest = player_main, .results = trade->result, .result_count = 1, .name = "player"};
    SIM_ALWAYS(rt_call_init(&trade->call, &trade->store, &config) == RT_OK);
    rt_task_init(&trade->merchant, merchant_poll, NULL, "merchant");
    rt_task_init(&trade->player, player_poll, NULL, "player");
    sim_spawn(rt, &trade->merchant);
    sim_spawn(rt, &trade->player);
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

SIM_SCENARIO(form_broken, .name = "unseen/g-trade/broken",
        .about = "A merchant and a player's script.", .setup = setup_broken,
        .expect = SIM_VERDICT_LOST_WAKEUP);
SIM_SCENARIO(form_fixed, .name = "unseen/g-trade/fixed",
        .about = "A merchant and a player's script.", .setup = setup_fixed);
