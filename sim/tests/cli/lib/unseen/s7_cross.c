// Cause: transfer_poll(): it keeps the mutex of its own vault locked while it waits for the other shard's answer, and
// the deposit there needs the mutex of the other vault. When the transfers of both shards hold their mutex at the
// same time, each deposit waits for a mutex that is given back only after the answer of the other one.
// SPDX-License-Identifier: Apache-2.0
// clang-format off
#include <sim/rewake.h>

#define SHARDS 2u

struct bank;

struct vault {
    struct rt_mutex mutex;
    int64_t balance;
};

struct transfer {
    struct rt_task task; /* On its own shard. */
    struct bank *bank;
    uint32_t from;
    uint32_t at;
    struct rt_sleep pause;
    uint64_t pause_ns;
    struct rt_lock lock;
    struct rt_submit submit;
    struct rt_task deposit; /* On the other shard. */
    struct rt_lock other_lock;
    struct rt_message *message;
    bool deposit_has_begun;
};

struct bank {
    struct sim_shard_group *group;
    struct vault vaults[SHARDS];
    struct transfer transfers[SHARDS];
    struct sim_loop *operator;
    uint32_t open;
    bool unlocks_first;
};

static rt_poll
deposit_poll(struct rt_task *task, struct rt_cx *cx)
{
    struct transfer *transfer = rt_container_of(task, struct transfer, deposit);
    struct bank *bank = transfer->bank;
    uint32_t to = 1 - transfer->from;
    struct vault *vault = &bank->vaults[to];
    RT_AWAIT(rt_lock_poll(&transfer->other_lock, cx));
    vault->balance += 10;
    rt_mutex_unlock(&vault->mutex);
    rt_message_answer(transfer->message, sim_shard_group_shard(bank->group, to), RT_OK);
    return RT_READY;
}

/* On the other shard. */
static void
handle_deposit(struct rt_message *message, struct rt_shard *shard)
{
    struct transfer *transfer = rt_container_of(message, struct transfer, submit.message);
    struct bank *bank = transfer->bank;
    transfer->message = message;
    rt_lock_init(&transfer->other_lock, &bank->vaults[shard->number].mutex);
    rt_task_init(&transfer->deposit, deposit_poll, NULL, "deposit");
    sim_spawn(sim_shard_group_rt(bank->group, shard->number), &transfer->deposit);
}

static rt_poll
transfer_poll(struct rt_task *task, struct rt_cx *cx)
{
    struct transfer *transfer = rt_container_of(task, struct transfer, task);
    struct bank *bank = transfer->bank;
    struct vault *vault = &bank->vaults[transfer->from];
    RT_BEGIN(transfer->at);
    rt_sleep_init(&transfer->pause, transfer->pause_ns);
    RT_AWAIT_HERE(transfer->at, rt_sleep_poll(&transfer->pause, cx));
    rt_lock_init(&transfer->lock, &vault->mutex);
    RT_AWAIT_HERE(transfer->at, rt_lock_poll(&transfer->lock, cx));
    vault->balance -= 10;
    if (bank->unlocks_first) {
        rt_mutex_unlock(&vault->mutex);
    }
    rt_submit_to(&transfer->submit, sim_shard_group_shard(bank->group, transfer->from),
            1 - transfer->from, handle_deposit);
    RT_AWAIT_HERE(transfer->at, rt_future_poll(&transfer->submit.future, cx));
    if (!bank->unlocks_first) {
        rt_mutex_unlock(&vault->mutex);
    }
    if (--bank->open == 0) {
        sim_loop_wake(bank->operator);
    }
    RT_END(transfer->at);
}

static void
operator_main(struct sim_world *world, void *argument)
{
    struct bank *bank = argument;
    while (bank->open > 0) {
        sim_loop_block(world, 0, "the last transfer", RT_HERE);
    }
    rt_shards_close(sim_shard_group_shards(bank->group));
}

static void
begin(struct sim_world *world, bool unlocks_first)
{
    static const char *const names[SHARDS] = {"transfer 0 to 1", "transfer 1 to 0"};
    struct bank *bank = sim_new(world, struct bank);
    bank->group = sim_shard_group_new(world, NULL);
    bank->unlocks_first = unlocks_first;
    bank->open = SHARDS;
    for (uint32_t i = 0; i < SHARDS; i++) {
        struct transfer *transfer = &bank->transfers[i];
        rt_mutex_init(&bank->vaults[i].mutex);
        transfer->bank = bank;
        transfer->from = i;
        transfer->pause_ns = i == 0 ? 0 : 100 * RT_US - sim_range(world, 0, 100 * RT_US);
        rt_task_init(&transfer->task, transfer_poll, NULL, names[i]);
        sim_spawn(sim_shard_group_rt(bank->group, i), &transfer->task);
    }
    bank->operator= sim_loop_new(world, "operator", operator_main, bank);
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

SIM_SCENARIO(cross_broken, .name = "set7/s7_cross/broken",
        .about = "Two shards transfer money to each other.", .setup = setup_broken);
SIM_SCENARIO(cross_fixed, .name = "set7/s7_cross/fixed",
        .about = "Two shards transfer money to each other.", .setup = setup_fixed);
