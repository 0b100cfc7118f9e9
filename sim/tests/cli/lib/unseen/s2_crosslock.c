// Cause: s2_crosslock.c:74 each transfer takes the lock of its own shard first: two transfers in opposite directions each hold one lock and wait for the other, and neither is answered.
// SPDX-License-Identifier: Apache-2.0
// clang-format off
#include <sim/rewake.h>

#define SHARDS 2

/* Lives on its shard; others ask by message. */
struct lock {
    bool held;
    uint32_t count;
    struct rt_message *waiting[SHARDS];
};

struct bank {
    struct sim_shard_group *group;
    struct lock locks[SHARDS];
    uint32_t running;
    bool fixed;
};

struct call {
    struct rt_submit submit;
    struct lock *lock;
};

struct transfer {
    struct rt_task task;
    struct bank *bank;
    uint32_t home, first, second;
    struct call calls[2];
    struct rt_sleep sleep;
    uint64_t start_ns, work_ns;
    uint32_t at;
};

static void lock_call(struct rt_message *message, struct rt_shard *shard)
{
    struct lock *lock = rt_container_of(message, struct call, submit.message)->lock;
    if (lock->held) {
        lock->waiting[lock->count++] = message;
    } else {
        lock->held = true;
        rt_message_answer(message, shard, RT_OK);
    }
}

static void unlock_call(struct rt_message *message, struct rt_shard *shard)
{
    struct lock *lock = rt_container_of(message, struct call, submit.message)->lock;
    if (lock->count > 0) {
        struct rt_message *next = lock->waiting[0];
        lock->waiting[0] = lock->waiting[--lock->count];
        rt_message_answer(next, shard, RT_OK); /* stays held */
    } else {
        lock->held = false;
    }
    rt_message_answer(message, shard, RT_OK);
}

static void ask(struct transfer *transfer, uint32_t which, uint32_t shard, rt_message_fn fn)
{
    struct call *call = &transfer->calls[which];
    call->lock = &transfer->bank->locks[shard];
    rt_submit_to(&call->submit, sim_shard_group_shard(transfer->bank->group, transfer->home), shard, fn);
}

static rt_poll transfer_poll(struct rt_task *task, struct rt_cx *cx)
{
    struct transfer *transfer = rt_container_of(task, struct transfer, task);
    RT_BEGIN(transfer->at);
    rt_sleep_init(&transfer->sleep, transfer->start_ns);
    RT_AWAIT_HERE(transfer->at, rt_sleep_poll(&transfer->sleep, cx));
    transfer->first = transfer->bank->fixed ? 0 : transfer->home;
    transfer->second = 1 - transfer->first;
    ask(transfer, 0, transfer->first, lock_call);
    RT_AWAIT_HERE(transfer->at, rt_future_poll(&transfer->calls[0].submit.future, cx));
    rt_sleep_init(&transfer->sleep, transfer->work_ns); /* reads the balance */
    RT_AWAIT_HERE(transfer->at, rt_sleep_poll(&transfer->sleep, cx));
    ask(transfer, 1, transfer->second, lock_call);
    RT_AWAIT_HERE(transfer->at, rt_future_poll(&transfer->calls[1].submit.future, cx));
    ask(transfer, 1, transfer->second, unlock_call);
    RT_AWAIT_HERE(transfer->at, rt_future_poll(&transfer->calls[1].submit.future, cx));
    ask(transfer, 0, transfer->first, unlock_call);
    RT_AWAIT_HERE(transfer->at, rt_future_poll(&transfer->calls[0].submit.future, cx));
    if (--transfer->bank->running == 0)
        rt_shards_close(sim_shard_group_shards(transfer->bank->group));
    RT_END(transfer->at);
}

static void setup(struct sim_world *world, bool fixed)
{
    static const char *const names[SHARDS] = {"A to B", "B to A"};
    struct bank *bank = sim_new(world, struct bank);
    bank->group = sim_shard_group_new(world, NULL);
    bank->fixed = fixed;
    bank->running = SHARDS;
    for (uint32_t i = 0; i < SHARDS; i++) {
        struct transfer *transfer = sim_new(world, struct transfer);
        transfer->bank = bank;
        transfer->home = i;
        transfer->start_ns = sim_pick(world, 4) == 0 ? (1 + 3 * i) * RT_MS : sim_range(world, RT_MS, 4 * RT_MS);
        transfer->work_ns = sim_range(world, 100 * RT_US, RT_MS);
        rt_task_init(&transfer->task, transfer_poll, NULL, names[i]);
        sim_spawn(sim_shard_group_rt(bank->group, i), &transfer->task);
    }
}

static void setup_broken(struct sim_world *world) { setup(world, false); }
static void setup_fixed(struct sim_world *world) { setup(world, true); }

SIM_SCENARIO(broken, .name = "set2/crosslock/broken", .about = "Two locks on two shards, taken in both orders.",
        .setup = setup_broken, .expect = SIM_VERDICT_DEADLOCK);
SIM_SCENARIO(fixed, .name = "set2/crosslock/fixed", .about = "Two locks on two shards, taken in one order.",
        .setup = setup_fixed);
