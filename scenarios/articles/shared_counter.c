/*
 * shared_counter.c -- read, wait, write back: a counter that needs its mutex across a suspension.
 *
 * Each task adds one, several times, and sleeps between reading and writing. A task that is
 * cancelled in between has added nothing and unlocks; one that was handed the mutex and is
 * cancelled before its poll hands it on. At the end each task reports through a oneshot to an
 * auditor how often it added; a cancelled task reports nothing.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "runtime/sync/mutex.h"
#include "runtime/sync/oneshot.h"
#include "sim/rewake.h"

#define ADDERS 3
#define TIMES 3

struct account;

struct adder {
    struct rt_task task;
    struct account *account;
    struct rt_lock lock;
    struct rt_sleep think;
    struct rt_oneshot report;
    uint64_t think_ns;
    uint32_t read;
    uint32_t added;
    enum { ADDER_IDLE, ADDER_LOCKS, ADDER_THINKS } stage;
};

struct account {
    struct rt_mutex mutex;
    uint32_t counter;
    uint32_t added;    /* By tasks that were not cancelled. */
    bool all_reported; /* No task was cancelled. */
    struct adder adders[ADDERS];
    struct rt_task auditor;
    struct rt_oneshot_wait wait;
    uint32_t reports;
    bool waiting;
};

static rt_poll
adder_poll(struct rt_task *task, struct rt_cx *cx)
{
    struct adder *adder = rt_container_of(task, struct adder, task);
    struct account *account = adder->account;
    while (adder->added < TIMES) {
        if (adder->stage == ADDER_IDLE) {
            rt_lock_init(&adder->lock, &account->mutex);
            adder->stage = ADDER_LOCKS;
        }
        if (adder->stage == ADDER_LOCKS) {
            RT_AWAIT(rt_lock_poll(&adder->lock, cx));
            adder->read = account->counter;
            rt_sleep_init(&adder->think, adder->think_ns);
            adder->stage = ADDER_THINKS;
        }
        RT_AWAIT(rt_sleep_poll(&adder->think, cx));
        account->counter = adder->read + 1;
        adder->added++;
        adder->stage = ADDER_IDLE;
        rt_mutex_unlock(&account->mutex);
    }
    (void)!rt_oneshot_send(&adder->report, &adder->added); /* The auditor may have ended. */
    return RT_READY;
}

static void
adder_cleanup(struct rt_task *task)
{
    struct adder *adder = rt_container_of(task, struct adder, task);
    if (adder->stage == ADDER_LOCKS) {
        rt_lock_drop(&adder->lock);
    } else if (adder->stage == ADDER_THINKS) {
        rt_sleep_cancel(&adder->think);
        adder->stage = ADDER_IDLE;
        rt_mutex_unlock(&adder->account->mutex);
    }
    rt_oneshot_drop_sender(&adder->report);
}

static rt_poll
auditor_poll(struct rt_task *task, struct rt_cx *cx)
{
    struct account *account = rt_container_of(task, struct account, auditor);
    while (account->reports < ADDERS) {
        if (!account->waiting) {
            rt_oneshot_wait_init(&account->wait, &account->adders[account->reports].report);
            account->waiting = true;
        }
        RT_AWAIT(rt_oneshot_poll(&account->wait, cx));
        account->waiting = false;
        account->reports++;
        if (account->wait.err == RT_OK) {
            account->added += *(uint32_t *)account->wait.value;
        } else {
            SIM_ALWAYS(account->wait.err == RT_E_CANCELLED);
            account->all_reported = false;
        }
    }
    SIM_ALWAYS(account->counter >= account->added);
    SIM_ALWAYS(!account->all_reported || account->counter == ADDERS * TIMES);
    return RT_READY;
}

static void
auditor_cleanup(struct rt_task *task)
{
    struct account *account = rt_container_of(task, struct account, auditor);
    if (account->waiting) {
        rt_oneshot_wait_drop(&account->wait);
        account->waiting = false;
    }
    for (uint32_t i = account->reports; i < ADDERS; i++) {
        (void)rt_oneshot_drop_receiver(&account->adders[i].report);
    }
}

static void
setup(struct sim_world *world)
{
    static const char *const names[ADDERS] = {"anna", "bert", "carl"};
    struct sim_rt *rt = sim_rt_new(world, NULL);
    struct account *account = sim_new(world, struct account);
    account->all_reported = true;
    rt_mutex_init(&account->mutex);
    for (uint32_t i = 0; i < ADDERS; i++) {
        struct adder *adder = &account->adders[i];
        adder->account = account;
        adder->think_ns = sim_range(world, 0, RT_MS);
        rt_oneshot_init(&adder->report);
        rt_task_init(&adder->task, adder_poll, adder_cleanup, names[i]);
        sim_spawn(rt, &adder->task);
    }
    rt_task_init(&account->auditor, auditor_poll, auditor_cleanup, "auditor");
    sim_spawn(rt, &account->auditor);
    sim_set_state(world, account);
}

/* All tasks have ended: nothing is locked, no task waits. */
static void
check(struct sim_world *world, void *state)
{
    struct account *account = state;
    (void)world;
    rt_mutex_fini(&account->mutex);
}

SIM_SCENARIO(seed_shared_counter, .name = "articles/sync/shared-counter",
        .about = "A counter behind a mutex, across suspensions; reports through oneshots.",
        .setup = setup, .check = check, .survives = SIM_FAULT_ALL);
