/* Cause: handle_buy(), line 54: the seller's shard trusts the number that the buyer read in an earlier message;
 * another buyer may have taken the last seat since, so one is sold twice; repair: look at `left` here again. */
#include <sim/rewake.h>

/* Tickets on shards: shard 0 owns the seats; buyers on the others ask how many are left, then buy. */

#define SHARDS 3
#define BUYERS 3
#define SEATS 2

struct state;

struct buyer {
    struct rt_task task;
    struct state *state;
    struct rt_shard *shard;
    struct rt_submit submit;
    struct rt_sleep thinking;
    uint64_t arrives_ns;
    uint64_t thinking_ns;
    uint32_t at;
    int32_t seen; /* Seats that were left. */
    bool bought;
};

struct state {
    bool fixed;
    struct sim_shard_group *group;
    struct sim_loop *box_office;
    struct buyer buyers[BUYERS];
    int32_t left; /* Of shard 0, as the next two. */
    int32_t sold;
    uint32_t gone;
};

static void
handle_look(struct rt_message *message, struct rt_shard *shard)
{
    struct buyer *buyer = rt_container_of(message, struct buyer, submit.message);
    SIM_ALWAYS(shard->number == 0);
    buyer->seen = buyer->state->left;
    rt_message_answer(message, shard, RT_OK);
}

static void
handle_buy(struct rt_message *message, struct rt_shard *shard)
{
    struct buyer *buyer = rt_container_of(message, struct buyer, submit.message);
    struct state *state = buyer->state;
    if (state->fixed && state->left == 0) {
        rt_message_answer(message, shard, RT_E_FULL);
        return;
    }
    state->left = state->fixed ? state->left - 1 : buyer->seen - 1;
    state->sold++;
    rt_message_answer(message, shard, RT_OK);
}

static void
handle_leave(struct rt_message *message, struct rt_shard *shard)
{
    struct buyer *buyer = rt_container_of(message, struct buyer, submit.message);
    struct state *state = buyer->state;
    if (++state->gone == BUYERS) {
        sim_loop_wake(state->box_office);
    }
    rt_message_answer(message, shard, RT_OK);
}

static rt_poll
buyer_poll(struct rt_task *task, struct rt_cx *cx)
{
    struct buyer *buyer = rt_container_of(task, struct buyer, task);
    RT_BEGIN(buyer->at);
    rt_sleep_init(&buyer->thinking, buyer->arrives_ns);
    RT_AWAIT_HERE(buyer->at, rt_sleep_poll(&buyer->thinking, cx));
    rt_submit_to(&buyer->submit, buyer->shard, 0, handle_look);
    RT_AWAIT_HERE(buyer->at, rt_future_poll(&buyer->submit.future, cx));
    if (buyer->seen > 0) {
        rt_sleep_init(&buyer->thinking, buyer->thinking_ns);
        RT_AWAIT_HERE(buyer->at, rt_sleep_poll(&buyer->thinking, cx));
        rt_submit_to(&buyer->submit, buyer->shard, 0, handle_buy);
        RT_AWAIT_HERE(buyer->at, rt_future_poll(&buyer->submit.future, cx));
        buyer->bought = buyer->submit.message.result == RT_OK;
    }
    rt_submit_to(&buyer->submit, buyer->shard, 0, handle_leave);
    RT_AWAIT_HERE(buyer->at, rt_future_poll(&buyer->submit.future, cx));
    RT_END(buyer->at);
}

static void
box_office_main(struct sim_world *world, void *argument)
{
    struct state *state = argument;
    while (state->gone < BUYERS) {
        sim_loop_block(world, 0, "the last buyer to leave", RT_HERE);
    }
    SIM_ALWAYS(state->sold <= SEATS);
    rt_shards_close(sim_shard_group_shards(state->group));
}

static void
begin(struct sim_world *world, bool fixed)
{
    static const char *const names[BUYERS] = {"anna", "boris", "clara"};
    struct state *state = sim_new(world, struct state);
    struct sim_shard_group_options options = {.count = SHARDS, .lane_capacity = 2};
    state->fixed = fixed;
    state->left = SEATS;
    state->group = sim_shard_group_new(world, &options);
    for (uint32_t i = 0; i < BUYERS; i++) {
        struct buyer *buyer = &state->buyers[i];
        uint32_t shard = 1 + i % (SHARDS - 1);
        buyer->state = state;
        buyer->shard = sim_shard_group_shard(state->group, shard);
        buyer->arrives_ns = i * 2 * RT_MS + sim_range(world, 0, 1500 * RT_US);
        buyer->thinking_ns = sim_range(world, 500 * RT_US, 2500 * RT_US);
        rt_task_init(&buyer->task, buyer_poll, NULL, names[i]);
        sim_spawn_background(sim_shard_group_rt(state->group, shard), &buyer->task);
    }
    state->box_office = sim_loop_new(world, "box office", box_office_main, state);
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

SIM_SCENARIO(s15_tickets_b, .name = "s15/tickets/broken", .about = "A seat is sold twice.",
        .setup = broken);
SIM_SCENARIO(s15_tickets_f, .name = "s15/tickets/fixed", .about = "The owner decides.",
        .setup = fixed);
/* SPDX-License-Identifier: Apache-2.0 */
